/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion control of RoCE and RDMA's defaults. Each file is read again after its write, because
 * a successful write proves nothing: mlx5 masks and drops values, and answers a failed query with
 * an empty text (en_ecn.c).
 */
#include "kinds/roce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "kinds/function.h"
#include "kinds/cache.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/module.h"
#include "sys/read.h"

enum { PRIORITIES = 8 };

/* --- memory ---------------------------------------------------------------------------------- */

static int ask(const struct root *root, const char *addr, void **ret, struct err *err)
{
	struct cc_place place cleanup_place = {.root = root};
	struct cc_reads *reads = xnew(struct cc_reads);
	int r;

	*ret = reads;
	cc_place_find(root, addr, &place);
	r = cc_read_all(&place, root->live, reads, err); /* a tree does not hang */
	return r == -ETIMEDOUT ? -EIO : r;		 /* only this adapter's firmware hangs */
}

static void free_reads(void *reads)
{
	cc_reads_free(reads);
	free(reads);
}

static struct cache files = {.ask = ask, .free = free_reads};

/* --- what one look or set is about -------------------------------------------------------- */

struct about {
	const struct kind_ctx *ctx;
	struct change *c;
	struct cc_place place;
	const struct cc_vendor *v; /* NULL: the table has no line for the driver */
	const struct cc_reads *reads;
	const struct roce_item *item;
	const struct cc_file *file; /* of item in v's dialect; NULL: v has none */
	const char *key;	    /* "np/cnp_dscp", "priorities", "traffic_class" */
};

static int refuse(const struct about *a, const char *sentence, struct err *err)
{
	cleanup_free char *text = cc_path(&a->place, sentence, 0);

	return err_set(err, -EOPNOTSUPP, "%s: no %s: %s", a->place.addr, a->key,
		       text ? text : sentence);
}

/*
 * Whether the driver may still come, or its RDMA half, which creates the files. The change then
 * waits.
 */
static bool may_come(struct about *a)
{
	const char *module = a->v ? a->v->module : NULL;
	enum module_state state = MODULE_LIVE;
	struct err err = {0};

	if (!a->place.driver) {
		change_reason(a->c, "%s has no driver (yet)", a->place.addr);
	} else if (a->v && !a->v->found && !a->place.netdev && a->ctx->root->live) {
		change_reason(a->c, "%s has no netdev (yet)", a->place.addr);
	} else if (module && module_state(a->ctx->root, module, &state, &err) < 0) {
		change_reason(a->c, "%s", err.text);
	} else if (state < MODULE_LIVE && state != MODULE_MISSING) {
		change_reason(a->c, "%s of %s is not loaded (yet)", module, a->place.addr);
	} else {
		return false;
	}
	change_observe(a->c, "nothing yet");
	a->c->now.state = CHANGE_WAITS;
	return true;
}

/* The key of the set: "dcqcn.np.cnp_dscp" of the change qos/ADDR/dcqcn/np/cnp_dscp. */
static char *set_key(const struct change *c)
{
	const char *addr = strchr(c->id, '/'), *key = addr ? strchr(addr + 1, '/') : NULL;
	char *ret = xstrdup(key ? key + 1 : c->id);

	for (char *slash = ret; (slash = strchr(slash, '/'));)
		*slash = '.';
	return ret;
}

static int no_vendor(const struct about *a, struct err *err)
{
	cleanup_free char *key = set_key(a->c);

	return err_set(err, -EOPNOTSUPP,
		       "%s: no %s: railhead cannot set it with the driver %s" TO_MEND
		       "leave %s out, or name %.*s in qos.SET.optional",
		       a->place.addr, a->key, a->place.driver, key, (int)strcspn(key, "."), key);
}

/*
 * Whether the files are hidden: only root can list the files below debugfs, and a captured tree
 * lacks the files that a driver creates there or in configfs.
 */
static bool hidden(struct about *a)
{
	bool live = a->ctx->root->live;

	if (!a->v || !a->v->module || (live && geteuid() == 0))
		return false;
	change_observe(a->c, "unknown");
	change_reason(a->c, "%s",
		      live ? "only root may look there"
			   : "the tree has none of the files that the driver may have");
	a->c->now.state = CHANGE_DIFFERS;
	return true;
}

/* --- reading ------------------------------------------------------------------------------ */

static bool locked_down(const struct root *root)
{
	cleanup_free char *text = NULL;

	return read_text(root, &text, NULL, "/sys/kernel/security/lockdown") == 0 &&
	       (strstr(text, "[integrity]") || strstr(text, "[confidentiality]"));
}

static int unreadable(const struct about *a, const struct cc_read *got, struct err *err)
{
	cleanup_free char *key = set_key(a->c);

	if (got->result == -EPERM && strstr(got->path, "/debug/") && locked_down(a->ctx->root))
		return err_set(err, -EOPNOTSUPP,
			       "%s: this kernel is locked down (Secure Boot), which closes debugfs "
			       "to root too" TO_MEND
			       "install DOCA-OFED, whose mlx5 has these files in "
			       "sysfs, or leave %s out",
			       got->path, key);
	if (got->result == -ENOENT)
		return err_set(err, -EOPNOTSUPP,
			       "%s: %s has no such file" TO_MEND "leave %s out, or name %.*s in "
			       "qos.SET.optional",
			       got->path,
			       str_starts(got->path, CMA_ROOT) ? "rdma_cm"
			       : a->v			       ? a->v->name
							       : "the kernel",
			       key, (int)strcspn(key, "."), key);
	return err_errno(err, got->result, "%s", got->path);
}

static int empty(const char *path, struct err *err)
{
	return err_set(
		err, -EIO,
		"%s reads empty: the firmware failed the driver's query; the kernel log says "
		"why, and a firmware that no longer answers needs a cold boot",
		path);
}

/* Sets ret to the number in a file that was read; otherwise sets err. */
static int number_of(const struct about *a, const char *path, unsigned long long *ret,
		     struct err *err)
{
	const struct cc_read *got = cc_find(a->reads, path);
	char *end;

	if (!got || got->result < 0)
		return got ? unreadable(a, got, err)
			   : err_set(err, -ENODEV, "%s: disappeared during the look", a->key);
	if (!*got->text)
		return empty(path, err);
	*ret = strtoull(got->text, &end, 0);
	return *end ? err_set(err, -EINVAL, "%s: '%.40s' is not a number", path, got->text) : 0;
}

/* Whether a node of configfs could not be opened, because of a captured tree or missing rights. */
static bool closed(struct about *a, const char *pattern, const char *path)
{
	cleanup_free char *node = pattern ? cc_path(&a->place, pattern, 0) : NULL;
	const struct cc_read *got = cc_find(a->reads, path);
	bool live = a->ctx->root->live;

	if (!node || !got || root_exists(a->ctx->root, "%s", node))
		return false;
	if (live && got->result != -EACCES && got->result != -EPERM && got->result != -EROFS)
		return false;
	change_observe(a->c, "unknown");
	change_reason(a->c, live ? "only root may look there"
				 : "configfs answers on the running machine only");
	a->c->now.state = CHANGE_DIFFERS;
	return true;
}

/* --- writing ------------------------------------------------------------------------------ */

/*
 * Writes decimal, except to bnxt_re's configfs: mlx5's rp files send any other text to the firmware
 * unchanged.
 */
static int write_number(const struct about *a, const char *path, unsigned long long value,
			struct err *err)
{
	bool hex = a->v && a->v->hex && strstr(path, "/config/");
	cleanup_free char *text = xasprintf(hex ? "0x%llx" : "%llu", value), *back = NULL;
	unsigned long long there;
	char *end;
	int r = machine_write_attr(a->ctx->root, path, text, err);

	if (r == -EINVAL)
		return err_wrap(err, "the driver or its firmware rejects the value");
	if (r == 0)
		r = read_text(a->ctx->root, &back, err, "%s", path);
	if (r < 0)
		return r;
	if (!*back)
		return empty(path, err);
	there = strtoull(back, &end, 0);
	if (*end || there != value)
		return err_set(err, -EIO,
			       "%s: %s was accepted but reads back %.40s: the driver or its "
			       "firmware did not apply the value",
			       path, text, back);
	return 0;
}

/* Commits the staged values. The commit file is not read back, because its text means nothing. */
static int commit(const struct about *a, struct err *err)
{
	cleanup_free char *path = a->v->commit ? cc_file(&a->place, a->v, a->v->commit) : NULL;

	return path ? machine_write_attr(a->ctx->root, path, a->v->hex ? "0x1" : "1", err) : 0;
}

/*
 * Opens a node for the time of a set. *made: the node did not exist, and close_node() must remove
 * it.
 */
static int open_node(const struct about *a, const char *pattern, char **node, bool *made,
		     struct err *err)
{
	int r;

	*made = false;
	*node = pattern ? cc_path(&a->place, pattern, 0) : NULL;
	if (!*node || root_exists(a->ctx->root, "%s", *node))
		return 0;
	r = machine_make_node(a->ctx->root, *node, err);
	if (r == -ENODEV)
		return err_wrap(err, "the kernel has no RDMA device of that name; was it renamed "
				     "or removed just now? Run railhead apply again");
	*made = r == 0;
	return r;
}

static void close_node(const struct about *a, const char *node, bool made)
{
	if (made)
		machine_remove_node(a->ctx->root, node, NULL);
}

/* --- parameters --------------------------------------------------------------------------- */

static unsigned long long wanted(const struct change *c)
{
	const struct roce_item *item = c->on.item;

	return (unsigned long long)c->want.number / (item->scale ? item->scale : 1);
}

/*
 * For a file in units of 1 << shift, takes the low bits, which the file does not hold, from the
 * wanted value.
 */
static unsigned long long widen(const struct cc_file *file, unsigned long long there,
				unsigned long long want)
{
	return file->shift && there == want >> file->shift ? want : there << file->shift;
}

static void found(struct change *c, unsigned long long number)
{
	change_observe(c, "%llu", number);
	c->now.state = number == wanted(c) ? CHANGE_SAME : CHANGE_DIFFERS;
}

static int look_file(struct about *a, struct err *err)
{
	const struct cc_file *file = a->file;
	cleanup_free char *path = cc_file(&a->place, a->v, file->name);
	cleanup_free char *guard = file->guard ? cc_file(&a->place, a->v, file->guard) : NULL;
	unsigned long long there, mode = 0;
	int r;

	if (closed(a, a->v->node, path))
		return 0;
	r = number_of(a, path, &there, err);
	if (r == 0 && guard)
		r = number_of(a, guard, &mode, err);
	if (r < 0)
		return r;
	found(a->c, widen(file, there, wanted(a->c)));
	if (mode) {
		change_observe(a->c, "%llu, unused: %s is %llu", there, file->guard, mode);
		a->c->now.state = CHANGE_DIFFERS;
	}
	return 0;
}

static int set_file(const struct about *a, struct err *err)
{
	cleanup_free char *path = cc_file(&a->place, a->v, a->file->name), *node = NULL;
	bool made;
	int r = open_node(a, a->v->node, &node, &made, err);

	if (r < 0)
		return r;
	r = write_number(a, path, wanted(a->c) >> a->file->shift, err);
	if (r == 0)
		r = commit(a, err);
	close_node(a, node, made);
	return r;
}

static int look_param(struct about *a, struct err *err)
{
	if (!a->v)
		return no_vendor(a, err);
	if (a->file)
		return look_file(a, err);
	return refuse(a,
		      a->v->no_param ? a->v->no_param
				     : "this driver has no such parameter; leave it out",
		      err);
}

static int set_param(const struct about *a, struct err *err)
{
	return a->file ? set_file(a, err) : no_vendor(a, err);
}

/* --- priorities --------------------------------------------------------------------------- */

static unsigned int wanted_priorities(const struct change *c)
{
	unsigned int bits = 0;

	for (size_t i = 0; i < c->parts.n; i++)
		bits |= 1u << c->parts.v[i].index;
	return bits;
}

/* "0 3", or "none" */
static char *priorities_text(unsigned int bits)
{
	struct str text = {0};

	for (unsigned int prio = 0; prio < PRIORITIES; prio++)
		if (bits & 1u << prio)
			str_addf(&text, "%s%u", text.len ? " " : "", prio);
	if (!bits)
		str_add(&text, "none");
	return str_take(&text);
}

/* Sets ret to the priorities whose file is not 0, as bits. */
static int on_of(const struct about *a, const char *file, unsigned int *ret, struct err *err)
{
	*ret = 0;
	for (unsigned int prio = 0; prio < PRIORITIES; prio++) {
		cleanup_free char *name = cc_path(&a->place, file, prio);
		cleanup_free char *path = cc_file(&a->place, a->v, name);
		unsigned long long on;
		int r = number_of(a, path, &on, err);

		if (r < 0)
			return r;
		if (on)
			*ret |= 1u << prio;
	}
	return 0;
}

static int look_each(struct about *a, struct err *err)
{
	cleanup_str struct str all = {0};
	cleanup_free char *text = NULL;
	unsigned int first = 0;
	bool same = true;

	for (const char *const *file = a->v->enable; *file; file++) {
		cleanup_free char *one = NULL;
		unsigned int on;
		int r = on_of(a, *file, &on, err);

		if (r < 0)
			return r;
		if (file == a->v->enable)
			first = on;
		same &= on == first;
		one = priorities_text(on);
		str_addf(&all, "%s%.*s %s", all.len ? ", " : "", (int)strcspn(*file, "/"), *file,
			 one);
	}
	text = priorities_text(first);
	change_observe(a->c, "%s", same ? text : str_get(&all));
	a->c->now.state = same && first == wanted_priorities(a->c) ? CHANGE_SAME : CHANGE_DIFFERS;
	return 0;
}

/* One switch covers all priorities: if it is on, any wanted priorities hold. */
static int look_port(struct about *a, struct err *err)
{
	bool want_on = a->c->parts.n, on = true;
	cleanup_free char *text = NULL;

	for (const char *const *file = a->v->port; *file; file++) {
		cleanup_free char *path = cc_file(&a->place, a->v, *file);
		unsigned long long value;
		int r;

		if (closed(a, a->v->node, path))
			return 0;
		r = number_of(a, path, &value, err);
		if (r < 0)
			return r;
		on &= value == 1;
	}
	text = priorities_text(wanted_priorities(a->c));
	change_observe(a->c, "%s", on == want_on ? text : on ? "all" : "none");
	a->c->now.state = on == want_on ? CHANGE_SAME : CHANGE_DIFFERS;
	return 0;
}

static int look_priorities(struct about *a, struct err *err)
{
	if (!a->v)
		return no_vendor(a, err);
	if (a->v->enable)
		return look_each(a, err);
	return a->v->port ? look_port(a, err) : refuse(a, a->v->no_priorities, err);
}

static int set_each(const struct about *a, struct err *err)
{
	for (const char *const *file = a->v->enable; *file; file++)
		for (unsigned int prio = 0; prio < PRIORITIES; prio++) {
			cleanup_free char *name = cc_path(&a->place, *file, prio);
			cleanup_free char *path = cc_file(&a->place, a->v, name);
			bool on = wanted_priorities(a->c) & 1u << prio;
			unsigned long long there;
			int r = number_of(a, path, &there, err);

			if (r == 0 && there != on)
				r = write_number(a, path, on, err);
			if (r < 0)
				return r;
		}
	return 0;
}

static int set_port(const struct about *a, struct err *err)
{
	cleanup_free char *node = NULL;
	bool made, on = a->c->parts.n;
	int r = open_node(a, a->v->node, &node, &made, err);

	for (const char *const *file = a->v->port; r == 0 && *file; file++) {
		cleanup_free char *path = cc_file(&a->place, a->v, *file);

		r = write_number(a, path, on, err);
	}
	if (r == 0)
		r = commit(a, err);
	close_node(a, node, made);
	return r;
}

static int set_priorities(const struct about *a, struct err *err)
{
	if (!a->v || (!a->v->enable && !a->v->port))
		return no_vendor(a, err);
	return a->v->enable ? set_each(a, err) : set_port(a, err);
}

/* --- traffic class ------------------------------------------------------------------------ */

static int look_class(struct about *a, struct err *err)
{
	cleanup_free char *path = cc_path(&a->place, CLASS_FILE, 0);
	const struct cc_read *got = cc_find(a->reads, path);
	unsigned int class;

	if (a->file)
		return look_file(a, err);
	if (got && got->result == -ENOENT)
		return a->v ? refuse(a, a->v->no_class, err) : no_vendor(a, err);
	if (!got || got->result < 0)
		return got ? unreadable(a, got, err) : no_vendor(a, err);
	/* "Global tclass=106", then rules of single destinations; an unset class shows nothing */
	if (sscanf(got->text, "Global tclass=%u", &class) == 1) {
		found(a->c, class);
	} else {
		change_observe(a->c, "unset");
		a->c->now.state = CHANGE_DIFFERS;
	}
	return 0;
}

static int set_class(const struct about *a, struct err *err)
{
	cleanup_free char *path = cc_path(&a->place, CLASS_FILE, 0);
	cleanup_free char *text = xasprintf("%llu", wanted(a->c));

	if (a->file)
		return set_file(a, err);
	return path ? machine_write_attr(a->ctx->root, path, text, err) : no_vendor(a, err);
}

/* --- ToS of RDMA-CM ----------------------------------------------------------------------- */

static int look_tos(struct about *a, struct err *err)
{
	cleanup_free char *path = cc_path(&a->place, CMA_TOS, 0);
	enum module_state state = MODULE_LIVE;
	unsigned long long there;
	int r;

	if (a->ctx->root->live && module_state(a->ctx->root, "rdma_cm", &state, NULL) == 0 &&
	    state < MODULE_LIVE) {
		change_observe(a->c, "rdma_cm is not loaded");
		a->c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	if (closed(a, CMA_NODE, path))
		return 0;
	if (!root_exists(a->ctx->root, CMA_ROOT)) { /* the set reports the remedy */
		change_observe(a->c, "configfs is not mounted");
		a->c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	r = number_of(a, path, &there, err);
	if (r == 0)
		found(a->c, there);
	return r;
}

/* The value belongs to the device and stays when the node is removed (cma_configfs.c). */
static int set_tos(const struct about *a, struct err *err)
{
	cleanup_free char *path = cc_path(&a->place, CMA_TOS, 0), *node = NULL;
	enum module_state state = MODULE_LIVE;
	bool made = false;
	int r = 0;

	if (a->ctx->root->live)
		r = module_state(a->ctx->root, "rdma_cm", &state, err);
	if (r == 0 && state < MODULE_LIVE)
		r = machine_insert_module("rdma_cm", NULL, err);
	if (r == 0 && !root_exists(a->ctx->root, CMA_ROOT))
		r = err_set(err, a->ctx->root->live ? -ENOENT : -EOPNOTSUPP,
			    CMA_ROOT " is not there: configfs is not mounted (systemctl start "
				     "sys-kernel-config.mount), or rdma_cm was built without it");
	if (r == 0)
		r = open_node(a, CMA_NODE, &node, &made, err);
	if (r < 0)
		return r;
	r = write_number(a, path, wanted(a->c), err);
	close_node(a, node, made);
	return r;
}

/* --- the kind ----------------------------------------------------------------------------- */

static const struct sort {
	bool dcqcn;	 /* a driver that comes later may have it */
	bool needs_rdma; /* the value belongs to the RDMA device */
	int (*look)(struct about *a, struct err *err);
	int (*set)(const struct about *a, struct err *err);
} sorts[] = {
	[ROCE_PARAM] = {true, false, look_param, set_param},
	[ROCE_PRIORITIES] = {true, false, look_priorities, set_priorities},
	[ROCE_CLASS] = {false, true, look_class, set_class},
	[ROCE_TOS] = {false, true, look_tos, set_tos},
};

char *roce_desired(const struct change *c)
{
	const struct roce_item *item = c->on.item;

	return item->how == ROCE_PRIORITIES ? priorities_text(wanted_priorities(c))
					    : xasprintf("%llu", wanted(c));
}

static void about_free(struct about *a)
{
	cc_place_free(&a->place);
}

static void begin(const struct kind_ctx *ctx, struct change *c, struct about *a)
{
	*a = (struct about){.ctx = ctx, .c = c, .item = c->on.item};
	a->key = a->item->name ? a->item->name : c->on.key;
	cc_place_find(ctx->root, c->on.name, &a->place);
	a->v = cc_vendor(&a->place);
	if (a->v && a->item->file[a->v->dialect].name)
		a->file = &a->item->file[a->v->dialect];
}

/* Whether the RDMA device is absent: not there yet, or in another network namespace. */
static bool no_rdma(struct about *a)
{
	if (a->place.ibdev)
		return false;
	change_observe(a->c, "no RDMA device");
	if (function_has(a->ctx->root, a->place.addr, "infiniband")) {
		target_in_namespace(a->c, "RDMA device");
	} else {
		change_reason(a->c, "%s has no RDMA device (yet); is its RDMA driver loaded?%s",
			      a->place.addr,
			      a->place.bonded
				      ? " The other ports of the card in its bond have none either"
				      : "");
		a->c->now.state = CHANGE_WAITS;
	}
	return true;
}

int roce_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct about a cleanup(about_free);
	const struct sort *sort;
	const struct cached *h;

	begin(ctx, c, &a);
	sort = &sorts[a.item->how];
	if ((!a.place.driver || sort->dcqcn) && (may_come(&a) || hidden(&a)))
		return 0;
	if ((sort->needs_rdma || (a.v && a.v->node)) && no_rdma(&a))
		return 0;
	h = cache_get(&files, ctx->root, a.place.addr);
	if (h->result < 0)
		return cached_failure(h, err, "%s of %s", a.key, a.place.addr);
	a.reads = h->info;
	return sort->look(&a, err);
}

int roce_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct about a cleanup(about_free);
	struct cc_reads reads cleanup_reads = {0};
	int r;

	begin(ctx, c, &a);
	r = function_gone(ctx->root, a.place.addr, err);
	if (r == 0)
		r = cc_read_all(&a.place, false, &reads, err);
	if (r < 0)
		return r;
	a.reads = &reads;
	return sorts[a.item->how].set(&a, err);
}

const struct kind kind_roce = {.name = "roce", .blocks = true, .look = item_look, .set = item_set};
