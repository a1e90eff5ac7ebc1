// SPDX-License-Identifier: GPL-2.0
/*
 * A double of mlx5's QoS interfaces, on the PFs that igb has: it makes the guest's kernel answer
 * as it would with the vendor's adapter, of which nobody can have one in a VM.
 *
 *   insmod dcbdouble.ko [stubborn=roce_rp/rpg_gd] ...
 *
 * Every netdev whose device has the driver igb gets it, those that come later too. The kernel's own
 * code is in between all the time: net/dcb/dcbnl.c parses the requests, keeps the APP table and
 * puts errors into its replies; sysfs makes the files. What the double does itself:
 *
 * - dcbnl_ops, as in drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c of Linux 6.12:
 *   ETS: a shaper per TC is refused with EOPNOTSUPP; a priority's TC is 7 at most; shares of ETS
 *     TCs make 100; strict and vendor TCs read back as 100 (mlx5e_dbcnl_validate_ets(),
 *     mlx5e_build_tc_tx_bw()); at first, all TCs are the vendor's, and priorities 0 and 1 have
 *     changed places (mlx5e_ets_init()).
 *   PFC: another pfc_en takes the link down and up (mlx5_toggle_port_link()); an equal one does
 *     nothing; delay is the cable's length in metres, taken if neither 0 nor 1000 or more; mbc is
 *     not kept (mlx5e_dcbnl_ieee_setpfc()).
 *   APP: DSCP only, 63 at most, else EINVAL. The first entry turns trust to DSCP, the last one
 *     that goes turns it back. An entry replaces that of the same DSCP; to be deleted it must have
 *     the same priority, else ENOENT (mlx5e_dcbnl_ieee_setapp(), _delapp()). There is no apptrust.
 *   DCBX: the bit HOST is that the host is in charge; 0 gives it to the firmware
 *     (mlx5e_dcbnl_setdcbx()).
 *   Buffers: sizes are kept in cells of 128 bytes, their sum has a limit
 *     (mlx5e_dcbnl_setbuffer(), en/port_buffer.c).
 *
 * - ecn/roce_np and ecn/roce_rp in the netdev's directory, as en_ecn.c and en_sysfs.c of DOCA-OFED
 *   25.10 have them: "%d\n"; of enable only bit 0 counts, and text is refused with EINVAL; the
 *   other files do not look whether there is a number: the vendor's driver then sends what was
 *   on its stack, this one -1. A field of the command has as many bits as in mlx5_ifc.h: the rest
 *   of a number is dropped. Ranges and defaults are those that the vendor documents ("DCQCN CC
 *   parameters"), where it does; outside of them the firmware says EINVAL.
 *
 * - dcbdouble/ in the netdev's directory: what the "hardware" has come to know, for tests to
 *   compare: trust, dscp2prio, setpfc_calls (any), set_calls (of all dcbnl_ops that set
 *   something), ecn_stores (writes below ecn/, also refused ones).
 *
 * Faults are module parameters, writable in /sys/module/dcbdouble/parameters:
 *   faulty         PCI address of the only PF that has them; empty: each has
 *   stubborn       what takes a value, says so, and keeps the old one: files below ecn/, "pfc",
 *                  "ets", separated by commas
 *   empty          files below ecn/ that read as nothing, as those do whose firmware query fails
 *   pfc_errno      with which PFC is refused; 0: it is not
 *   no_setpfc      there is no such operation: net/dcb/dcbnl.c skips the attribute and says nothing
 *   firmware_dcbx  the firmware is in charge of DCBX, and won't let the host be
 *   bounce_ms      for how long the link is down when PFC changes
 */
#include <linux/dcbnl.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <net/dcbnl.h>

#define PRIORITIES 8
#define DSCPS 64
#define BAD_CABLE 1000	    /* metres: MLX5E_MAX_CABLE_LENGTH */
#define USUAL_CABLE 7	    /* MLX5E_DEFAULT_CABLE_LEN */
#define BUFFER_CELL 128	    /* bytes */
#define BUFFER_TOTAL 262144 /* bytes */
#define LINE_RATE 400000    /* Mb/s */
#define U32_BITS 0xffffffffu
#define USUAL_DCBX (DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE)
#define ECN_DIRECTORIES 4
#define STATE_FILES 5

/* One file with a number below ecn/; mask: the bits of its field in the firmware's command. */
struct ecn_param {
	const char *directory;
	const char *name;
	u32 usual, min, max, mask;
};

static const struct ecn_param params[] = {
	{"roce_np", "min_time_between_cnps", 4, 0, U32_BITS, U32_BITS},
	{"roce_np", "cnp_dscp", 48, 0, 63, 0x3f},
	{"roce_np", "cnp_802p_prio", 6, 0, 7, 0x7},
	{"roce_rp", "clamp_tgt_rate", 0, 0, 1, 0x1},
	{"roce_rp", "clamp_tgt_rate_after_time_inc", 1, 0, 1, 0x1},
	{"roce_rp", "rpg_time_reset", 300, 0, U32_BITS, U32_BITS},
	{"roce_rp", "rpg_byte_reset", 32767, 0, U32_BITS, U32_BITS},
	{"roce_rp", "rpg_threshold", 1, 0, U32_BITS, U32_BITS},
	{"roce_rp", "rpg_max_rate", 0, 0, U32_BITS, U32_BITS},
	{"roce_rp", "rpg_ai_rate", 5, 0, U32_BITS, U32_BITS},
	{"roce_rp", "rpg_hai_rate", 50, 0, U32_BITS, U32_BITS},
	{"roce_rp", "rpg_min_dec_fac", 50, 0, 100, U32_BITS},
	{"roce_rp", "rpg_min_rate", 1, 1, LINE_RATE, U32_BITS},
	{"roce_rp", "rate_to_set_on_first_cnp", 0, 0, LINE_RATE, U32_BITS},
	{"roce_rp", "dce_tcp_g", 1019, 0, 1023, U32_BITS},
	{"roce_rp", "dce_tcp_rtt", 1, 1, 131071, U32_BITS},
	{"roce_rp", "rate_reduce_monitor_period", 4, 1, U32_BITS, U32_BITS},
	{"roce_rp", "initial_alpha_value", 1023, 1, 1023, U32_BITS},
	{"roce_rp", "rpg_gd", 11, 10, 11, U32_BITS},
};

static const char *const priorities[PRIORITIES] = {"0", "1", "2", "3", "4", "5", "6", "7"};

struct ecn_file {
	struct kobj_attribute attr;
	struct dcb_double *owner;
	const struct ecn_param *param; /* NULL: one of enable/ */
	char path[64];		       /* below ecn/ */
	u32 value;
};

struct state_file {
	struct kobj_attribute attr;
	struct dcb_double *owner;
};

#define ECN_FILES (ARRAY_SIZE(params) + 2 * PRIORITIES)

/* One netdev that has the double. What dcbnl_ops touch is the RTNL's, values are ecn_lock's. */
struct dcb_double {
	struct list_head list;
	struct net_device *dev;
	const struct dcbnl_rtnl_ops *before;
	struct delayed_work link_up;

	struct ieee_ets ets;
	u8 pfc_en;
	u16 cable;
	u8 dcbx;
	u8 dscp2prio[DSCPS];
	int entries; /* of the APP table, ours */
	struct dcbnl_buffer buffer;
	unsigned int setpfc_calls, set_calls;

	struct kobject *ecn, *directories[ECN_DIRECTORIES], *state;
	struct ecn_file files[ECN_FILES];
	struct state_file states[STATE_FILES];
	unsigned int ecn_stores;
};

static LIST_HEAD(doubles); /* under the RTNL */
static DEFINE_MUTEX(ecn_lock);

/* --- faults ---------------------------------------------------------------- */

#define WORDS 256

static DEFINE_MUTEX(faults_lock); /* of the texts; nothing else is taken under it */
static char faulty[WORDS], stubborn[WORDS], empty[WORDS];
static int pfc_errno;
static bool no_setpfc, firmware_dcbx;
static unsigned int bounce_ms = 300;

static void choose_ops(struct dcb_double *d);

static int set_words(const char *value, const struct kernel_param *param)
{
	const struct kparam_string *words = param->str;

	if (strlen(value) >= words->maxlen)
		return -ENOSPC;
	mutex_lock(&faults_lock);
	strscpy(words->string, value, words->maxlen);
	words->string[strcspn(words->string, "\n")] = '\0';
	mutex_unlock(&faults_lock);
	return 0;
}

static const struct kernel_param_ops words_ops = {.set = set_words, .get = param_get_string};

#define WORDS_PARAM(name)                                         \
	static struct kparam_string words_##name = {WORDS, name}; \
	module_param_cb(name, &words_ops, &words_##name, 0644)

WORDS_PARAM(faulty);
WORDS_PARAM(stubborn);
WORDS_PARAM(empty);
module_param(pfc_errno, int, 0644);
module_param(firmware_dcbx, bool, 0644);
module_param(bounce_ms, uint, 0644);

static int set_no_setpfc(const char *value, const struct kernel_param *param)
{
	struct dcb_double *d;
	int r = param_set_bool(value, param);

	if (r < 0)
		return r;
	rtnl_lock();
	list_for_each_entry(d, &doubles, list) choose_ops(d);
	rtnl_unlock();
	return 0;
}

static const struct kernel_param_ops no_setpfc_ops = {.set = set_no_setpfc, .get = param_get_bool};
module_param_cb(no_setpfc, &no_setpfc_ops, &no_setpfc, 0644);

static bool is_faulty(const struct dcb_double *d)
{
	bool yes;

	mutex_lock(&faults_lock);
	yes = !*faulty || !strcmp(faulty, dev_name(d->dev->dev.parent));
	mutex_unlock(&faults_lock);
	return yes;
}

/* Is a word in a text of words, on a PF that has faults? */
static bool has_fault(const struct dcb_double *d, const char *words, const char *word)
{
	bool found = false;
	size_t n;

	if (!is_faulty(d))
		return false;
	mutex_lock(&faults_lock);
	for (; *words && !found; words += n + (words[n] == ',')) {
		n = strcspn(words, ",");
		found = n == strlen(word) && !strncmp(words, word, n);
	}
	mutex_unlock(&faults_lock);
	return found;
}

/* --- dcbnl ------------------------------------------------------------------- */

static const struct dcbnl_rtnl_ops double_ops, ops_without_setpfc;

static void choose_ops(struct dcb_double *d)
{
	d->dev->dcbnl_ops = no_setpfc && is_faulty(d) ? &ops_without_setpfc : &double_ops;
}

static struct dcb_double *find_double(const struct net_device *dev)
{
	struct dcb_double *d;

	list_for_each_entry(d, &doubles, list)
	{
		if (d->dev == dev)
			return d;
	}
	return NULL;
}

/* These ops are only ever a netdev's while it is in the list. */
static struct dcb_double *double_for_set(const struct net_device *dev)
{
	struct dcb_double *d = find_double(dev);

	d->set_calls++;
	return d;
}

static int double_getets(struct net_device *dev, struct ieee_ets *ets)
{
	*ets = find_double(dev)->ets;
	return 0;
}

static int check_ets(const struct ieee_ets *ets)
{
	bool any = false;
	int i, sum = 0;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_CB_SHAPER)
			return -EOPNOTSUPP;
	}
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (ets->prio_tc[i] >= IEEE_8021QAZ_MAX_TCS)
			return -EINVAL;
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			any = true;
			sum += ets->tc_tx_bw[i];
		}
	}
	return any && sum != 100 ? -EINVAL : 0;
}

static int double_setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct dcb_double *d = double_for_set(dev);
	int i, r = check_ets(ets);

	if (r < 0 || has_fault(d, stubborn, "ets"))
		return r;
	memcpy(d->ets.prio_tc, ets->prio_tc, sizeof(d->ets.prio_tc));
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		d->ets.tc_tsa[i] = ets->tc_tsa[i];
		d->ets.tc_tx_bw[i] =
			ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS ? ets->tc_tx_bw[i] : 100;
	}
	return 0;
}

static int double_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct dcb_double *d = find_double(dev);

	pfc->pfc_cap = PRIORITIES;
	pfc->pfc_en = d->pfc_en;
	pfc->delay = d->cable;
	return 0;
}

static void link_up(struct work_struct *work)
{
	struct dcb_double *d = container_of(to_delayed_work(work), struct dcb_double, link_up);

	if (netif_running(d->dev))
		netif_carrier_on(d->dev);
}

/* Of a link that is down anyway nothing is seen. */
static void bounce_link(struct dcb_double *d)
{
	if (!netif_carrier_ok(d->dev))
		return;
	netif_carrier_off(d->dev);
	schedule_delayed_work(&d->link_up, msecs_to_jiffies(bounce_ms));
}

static int double_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct dcb_double *d = double_for_set(dev);

	d->setpfc_calls++;
	if (pfc_errno && is_faulty(d))
		return -pfc_errno;
	if (has_fault(d, stubborn, "pfc"))
		return 0;
	if (pfc->pfc_en != d->pfc_en) {
		d->pfc_en = pfc->pfc_en;
		bounce_link(d);
	}
	if (pfc->delay && pfc->delay < BAD_CABLE)
		d->cable = pfc->delay;
	return 0;
}

static bool is_dscp(const struct dcb_app *app)
{
	return app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol < DSCPS;
}

static int double_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct dcb_double *d = double_for_set(dev);
	struct dcb_app old = {.selector = IEEE_8021QAZ_APP_SEL_DSCP, .protocol = app->protocol};
	bool is_new;
	int r;

	if (!is_dscp(app))
		return -EINVAL;
	old.priority = d->dscp2prio[app->protocol];
	d->dscp2prio[app->protocol] = app->priority;
	is_new = dcb_ieee_delapp(dev, &old) < 0;
	r = dcb_ieee_setapp(dev, app);
	if (r == 0 && is_new)
		d->entries++;
	return r;
}

static int double_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct dcb_double *d = double_for_set(dev);
	int r;

	if (!is_dscp(app))
		return -EINVAL;
	if (!d->entries || app->priority != d->dscp2prio[app->protocol])
		return -ENOENT;
	r = dcb_ieee_delapp(dev, app);
	if (r < 0)
		return r;
	d->dscp2prio[app->protocol] = 0;
	d->entries--;
	return 0;
}

static bool firmware_has_dcbx(const struct dcb_double *d)
{
	return firmware_dcbx && is_faulty(d);
}

static u8 double_getdcbx(struct net_device *dev)
{
	struct dcb_double *d = find_double(dev);

	return firmware_has_dcbx(d) ? d->dcbx & ~DCB_CAP_DCBX_HOST : d->dcbx;
}

/* 1 is that it was refused. */
static u8 double_setdcbx(struct net_device *dev, u8 mode)
{
	struct dcb_double *d = double_for_set(dev);

	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (!mode) {
		d->dcbx &= ~DCB_CAP_DCBX_HOST;
		return 0;
	}
	if (!(mode & DCB_CAP_DCBX_HOST) || firmware_has_dcbx(d))
		return 1;
	d->dcbx = mode;
	return 0;
}

static int double_getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	*buffer = find_double(dev)->buffer;
	return 0;
}

static int double_setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct dcb_double *d = double_for_set(dev);
	u64 sum = 0;
	int i;

	for (i = 0; i < PRIORITIES; i++) {
		if (buffer->prio2buffer[i] >= DCBX_MAX_BUFFERS)
			return -EINVAL;
	}
	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		sum += buffer->buffer_size[i];
	if (sum > BUFFER_TOTAL)
		return -EINVAL;
	memcpy(d->buffer.prio2buffer, buffer->prio2buffer, sizeof(d->buffer.prio2buffer));
	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		d->buffer.buffer_size[i] = rounddown(buffer->buffer_size[i], BUFFER_CELL);
	return 0;
}

#define COMMON_OPS                                                                                \
	.ieee_getets = double_getets, .ieee_setets = double_setets, .ieee_getpfc = double_getpfc, \
	.ieee_setapp = double_setapp, .ieee_delapp = double_delapp, .getdcbx = double_getdcbx,    \
	.setdcbx = double_setdcbx, .dcbnl_getbuffer = double_getbuffer,                           \
	.dcbnl_setbuffer = double_setbuffer

static const struct dcbnl_rtnl_ops double_ops = {COMMON_OPS, .ieee_setpfc = double_setpfc};
static const struct dcbnl_rtnl_ops ops_without_setpfc = {COMMON_OPS};

static void start_dcb(struct dcb_double *d)
{
	int i;

	INIT_DELAYED_WORK(&d->link_up, link_up);
	d->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		d->ets.prio_tc[i] = i < 2 ? 1 - i : i;
		d->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		d->ets.tc_tx_bw[i] = 100;
	}
	d->cable = USUAL_CABLE;
	d->dcbx = USUAL_DCBX;
	for (i = 0; i < DSCPS; i++)
		d->dscp2prio[i] = i / PRIORITIES;
	d->buffer.buffer_size[0] = BUFFER_TOTAL;
	d->buffer.total_size = BUFFER_TOTAL;
	d->before = d->dev->dcbnl_ops;
	choose_ops(d);
}

/* The kernel's own list would keep the entries for as long as there is the netdev. */
static void stop_dcb(struct dcb_double *d)
{
	int i;

	for (i = 0; i < DSCPS; i++) {
		struct dcb_app app = {.selector = IEEE_8021QAZ_APP_SEL_DSCP,
				      .priority = d->dscp2prio[i],
				      .protocol = i};

		dcb_ieee_delapp(d->dev, &app);
	}
	d->dev->dcbnl_ops = d->before;
	if (cancel_delayed_work_sync(&d->link_up) && netif_running(d->dev))
		netif_carrier_on(d->dev);
}

/* --- ecn/ ------------------------------------------------------------------------ */

static ssize_t ecn_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct ecn_file *file = container_of(attr, struct ecn_file, attr);

	if (has_fault(file->owner, empty, file->path))
		return 0;
	return sysfs_emit(buf, "%d\n", (int)READ_ONCE(file->value));
}

/* The firmware's part of a write. */
static int firmware_takes(struct ecn_file *file, u32 value)
{
	const struct ecn_param *param = file->param;

	if (param) {
		value &= param->mask;
		if (value < param->min || value > param->max)
			return -EINVAL;
	}
	if (!has_fault(file->owner, stubborn, file->path))
		WRITE_ONCE(file->value, value);
	return 0;
}

static ssize_t ecn_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t count)
{
	struct ecn_file *file = container_of(attr, struct ecn_file, attr);
	int r, value = -1;
	bool number = sscanf(buf, "%d", &value) == 1;

	mutex_lock(&ecn_lock);
	file->owner->ecn_stores++;
	if (!file->param)
		r = number ? firmware_takes(file, value & 1) : -EINVAL;
	else
		r = firmware_takes(file, value);
	mutex_unlock(&ecn_lock);
	return r < 0 ? r : count;
}

static int add_file(struct kobject *directory, struct kobj_attribute *attr, const char *name,
		    umode_t mode)
{
	sysfs_attr_init(&attr->attr);
	attr->attr.name = name;
	attr->attr.mode = mode;
	return sysfs_create_file(directory, &attr->attr);
}

static int add_ecn_file(struct dcb_double *d, struct kobject *directory, struct ecn_file *file,
			const char *name)
{
	file->owner = d;
	file->attr.show = ecn_show;
	file->attr.store = ecn_store;
	return add_file(directory, &file->attr, name, 0644);
}

static int add_enables(struct dcb_double *d, struct kobject *directory, struct ecn_file *files,
		       const char *of)
{
	int i, r;

	for (i = 0; i < PRIORITIES; i++) {
		snprintf(files[i].path, sizeof(files[i].path), "%s/enable/%d", of, i);
		r = add_ecn_file(d, directory, &files[i], priorities[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_params(struct dcb_double *d, struct kobject *np, struct kobject *rp)
{
	int r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		const struct ecn_param *param = &params[i];
		struct ecn_file *file = &d->files[2 * PRIORITIES + i];

		file->param = param;
		file->value = param->usual;
		snprintf(file->path, sizeof(file->path), "%s/%s", param->directory, param->name);
		r = add_ecn_file(d, strcmp(param->directory, "roce_np") ? rp : np, file,
				 param->name);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What stop_ecn() undoes, also where it did not come to an end. */
static int start_ecn(struct dcb_double *d)
{
	struct kobject **dirs = d->directories;
	int r;

	d->ecn = kobject_create_and_add("ecn", &d->dev->dev.kobj);
	dirs[0] = d->ecn ? kobject_create_and_add("roce_np", d->ecn) : NULL;
	dirs[1] = d->ecn ? kobject_create_and_add("roce_rp", d->ecn) : NULL;
	dirs[2] = dirs[0] ? kobject_create_and_add("enable", dirs[0]) : NULL;
	dirs[3] = dirs[1] ? kobject_create_and_add("enable", dirs[1]) : NULL;
	if (!dirs[2] || !dirs[3])
		return -ENOMEM;
	r = add_enables(d, dirs[2], d->files, "roce_np");
	if (r == 0)
		r = add_enables(d, dirs[3], d->files + PRIORITIES, "roce_rp");
	return r < 0 ? r : add_params(d, dirs[0], dirs[1]);
}

/* A directory takes its files with it, and waits for whoever is in one of them. */
static void remove_directory(struct kobject *directory)
{
	if (!directory)
		return;
	kobject_del(directory);
	kobject_put(directory);
}

static void stop_ecn(struct dcb_double *d)
{
	int i;

	for (i = ECN_DIRECTORIES - 1; i >= 0; i--)
		remove_directory(d->directories[i]);
	remove_directory(d->ecn);
}

/* --- dcbdouble/ --------------------------------------------------------------------- */

static struct dcb_double *double_of(struct kobj_attribute *attr)
{
	return container_of(attr, struct state_file, attr)->owner;
}

static ssize_t trust_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", READ_ONCE(double_of(attr)->entries) ? "dscp" : "pcp");
}

static ssize_t dscp2prio_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct dcb_double *d = double_of(attr);
	ssize_t at = 0;
	int i;

	for (i = 0; i < DSCPS; i++)
		at += sysfs_emit_at(buf, at, "%d%c", READ_ONCE(d->dscp2prio[i]),
				    i + 1 < DSCPS ? ' ' : '\n');
	return at;
}

static ssize_t setpfc_calls_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(double_of(attr)->setpfc_calls));
}

static ssize_t set_calls_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(double_of(attr)->set_calls));
}

static ssize_t ecn_stores_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(double_of(attr)->ecn_stores));
}

static const struct {
	const char *name;
	ssize_t (*show)(struct kobject *kobj, struct kobj_attribute *attr, char *buf);
} state_files[STATE_FILES] = {
	{"trust", trust_show},
	{"dscp2prio", dscp2prio_show},
	{"setpfc_calls", setpfc_calls_show},
	{"set_calls", set_calls_show},
	{"ecn_stores", ecn_stores_show},
};

static int start_state(struct dcb_double *d)
{
	int i, r;

	d->state = kobject_create_and_add("dcbdouble", &d->dev->dev.kobj);
	if (!d->state)
		return -ENOMEM;
	for (i = 0; i < STATE_FILES; i++) {
		d->states[i].owner = d;
		d->states[i].attr.show = state_files[i].show;
		r = add_file(d->state, &d->states[i].attr, state_files[i].name, 0444);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- netdevs come and go ------------------------------------------------------------ */

static void detach(struct dcb_double *d)
{
	remove_directory(d->state);
	stop_ecn(d);
	stop_dcb(d);
	list_del(&d->list);
	kfree(d);
}

static int attach(struct net_device *dev)
{
	struct dcb_double *d = kzalloc(sizeof(*d), GFP_KERNEL);
	int r;

	if (!d)
		return -ENOMEM;
	d->dev = dev;
	list_add(&d->list, &doubles);
	start_dcb(d);
	r = start_ecn(d);
	if (r == 0)
		r = start_state(d);
	if (r < 0)
		detach(d);
	return r;
}

static bool is_pf(const struct net_device *dev)
{
	const struct device *parent = dev->dev.parent;

	return parent && parent->driver && !strcmp(parent->driver->name, "igb");
}

static int on_netdev(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct dcb_double *d = find_double(dev);

	if (event == NETDEV_REGISTER && !d && is_pf(dev))
		return notifier_from_errno(attach(dev));
	if (event == NETDEV_UNREGISTER && d)
		detach(d);
	return NOTIFY_DONE;
}

/* The kernel tells a new notifier of the netdevs that there are, and one that goes the same. */
static struct notifier_block netdevs = {.notifier_call = on_netdev};

static int __init dcbdouble_init(void)
{
	return register_netdevice_notifier(&netdevs);
}
module_init(dcbdouble_init);

static void __exit dcbdouble_exit(void)
{
	unregister_netdevice_notifier(&netdevs);
}
module_exit(dcbdouble_exit);

MODULE_DESCRIPTION("Tests: a double of mlx5's QoS interfaces");
MODULE_LICENSE("GPL");
