/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of DCQCN in each vendor's driver. Facts: en_sysfs.c, en_ecn.c and main_ext.c of
 * DOCA-OFED 25.10; drivers/infiniband/hw/mlx5/cong.c, hw/bnxt_re, hw/irdma/verbs.c and
 * drivers/net/ethernet/pensando/ionic of Linux 6.12; bnxt_setupcc.sh of Broadcom; Intel's irdma
 * README (document 635330).
 */
#include <string.h>

#include "base/str.h"
#include "kinds/function.h"
#include "kinds/roce.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

static const char *const mlx5_enable[] = {"roce_np/enable/{prio}", "roce_rp/enable/{prio}", NULL};
/* cc_mode 1 is DCQCN */
static const char *const bnxt_enable[] = {"ecn_marking", "ecn_enable", "cc_mode", NULL};
static const char *const irdma_enable[] = {"roce_dcqcn_enable", NULL};

#define MLX5_NO_CLASS                                                                      \
	"only DOCA-OFED's mlx5 can force it upon all queue pairs; install that, or write " \
	"roce_tos and let applications ask for the class (NCCL_IB_TC)"
#define MLX5_FIRMWARE                                                                           \
	"this kernel's mlx5 has no switch for it: set it in the firmware (mlxconfig -d {addr} " \
	"set "                                                                                  \
	"ROCE_CC_PRIO_MASK_P1=MASK, of a card's second port _P2, then a cold boot) and leave "  \
	"dcqcn.priorities out, or install DOCA-OFED"
#define BNXT_INBOX                                                                           \
	"the kernel's own bnxt_re has DCQCN only in debugfs (cc_config, since 6.15), which " \
	"railhead does not set; install Broadcom's bnxt_re, which has it below "             \
	"/sys/kernel/config/bnxt_re"
#define IRDMA_PARAM                                                                               \
	"irdma has DCQCN's parameters only as options of Intel's own module: modules: {options: " \
	"{irdma: {dcqcn_...: ...}}}"
#define IRDMA_INBOX                                                                                \
	"the kernel's own irdma keeps DCQCN off (irdma_setup_roce()); install Intel's, which has " \
	"it below /sys/kernel/config/irdma"
#define IONIC                                                                                   \
	"the driver ionic leaves it to the adapter's own program (nicctl update dcqcn, nicctl " \
	"update qos)"
#define NO_CLASS                                                                                \
	"its driver can't force it upon all queue pairs; write roce_tos, and let applications " \
	"ask "                                                                                  \
	"for the class (NCCL_IB_TC)"

static const struct cc_vendor vendors[] = {
	{.name = "DOCA-OFED's mlx5",
	 .found = "/sys/class/net/{netdev}/ecn",
	 .dir = "/sys/class/net/{netdev}/ecn",
	 .dialect = CC_DOCA,
	 .enable = mlx5_enable,
	 .no_class = MLX5_NO_CLASS},
	{.driver = "mlx5_core",
	 .name = "the kernel's mlx5",
	 .found = "/sys/kernel/debug/mlx5/{addr}/cc_params",
	 .dir = "/sys/kernel/debug/mlx5/{addr}/cc_params",
	 .dialect = CC_INBOX,
	 .no_priorities = MLX5_FIRMWARE,
	 .no_class = MLX5_NO_CLASS},
	{.driver = "mlx5_core",
	 .name = "mlx5",
	 .module = "mlx5_ib",
	 .no_param = "neither DOCA-OFED's files (/sys/class/net/{netdev}/ecn) nor those of mlx5_ib "
		     "are there (/sys/kernel/debug/mlx5/{addr}/cc_params): debugfs is not mounted "
		     "(systemctl start sys-kernel-debug.mount), or the firmware does not allow "
		     "DCQCN to be set",
	 .no_priorities = MLX5_FIRMWARE,
	 .no_class = MLX5_NO_CLASS},
	{.driver = "bnxt_en",
	 .name = "Broadcom's bnxt_re",
	 .found = "/sys/kernel/config/bnxt_re",
	 .node = "/sys/kernel/config/bnxt_re/{ibdev}",
	 .dir = "/sys/kernel/config/bnxt_re/{ibdev}/ports/1/cc",
	 .hex = true,
	 .dialect = CC_BNXT,
	 .port = bnxt_enable,
	 .commit = "apply",
	 .no_param = "bnxt_re has no such parameter; leave it out for these ports",
	 .no_class = NO_CLASS},
	{.driver = "bnxt_en",
	 .name = "the kernel's bnxt_re",
	 .module = "bnxt_re",
	 .no_param = BNXT_INBOX,
	 .no_priorities = BNXT_INBOX,
	 .no_class = NO_CLASS},
	{.driver = "ice",
	 .name = "Intel's irdma",
	 .found = "/sys/kernel/config/irdma",
	 .node = "/sys/kernel/config/irdma/{ibdev}",
	 .dir = "/sys/kernel/config/irdma/{ibdev}",
	 .port = irdma_enable,
	 .no_param = IRDMA_PARAM,
	 .no_class = NO_CLASS},
	{.driver = "ice",
	 .name = "the kernel's irdma",
	 .module = "irdma",
	 .no_param = IRDMA_INBOX,
	 .no_priorities = IRDMA_INBOX,
	 .no_class = NO_CLASS},
	{.driver = "ionic",
	 .name = "ionic",
	 .no_param = IONIC,
	 .no_priorities = IONIC,
	 .no_class = IONIC},
};

const struct cc_vendor *cc_vendor(const struct cc_place *place)
{
	for (size_t i = 0; place->driver && i < array_len(vendors); i++) {
		cleanup_free char *found = NULL;

		if (vendors[i].driver && !streq(vendors[i].driver, place->driver))
			continue;
		if (!vendors[i].found)
			return &vendors[i];
		found = cc_path(place, vendors[i].found, 0);
		if (found && root_exists(place->root, "%s", found))
			return &vendors[i];
	}
	return NULL;
}

/* --- places ---------------------------------------------------------------------------------- */

char *cc_path(const struct cc_place *place, const char *pattern, unsigned int prio)
{
	cleanup_free char *number = xasprintf("%u", prio);
	const struct str_word words[] = {{"{addr}", place->addr},
					 {"{netdev}", place->netdev},
					 {"{ibdev}", place->ibdev},
					 {"{prio}", number}};

	return str_expand(pattern, words, array_len(words));
}

char *cc_file(const struct cc_place *place, const struct cc_vendor *v, const char *file)
{
	cleanup_free char *dir = v->dir ? cc_path(place, v->dir, 0) : NULL;

	return dir ? xasprintf("%s/%s", dir, file) : NULL;
}

/*
 * Soft RoCE and iWARP devices belong to no function, and name their netdev (rxe_verbs.c,
 * siw_main.c).
 */
static char *soft_ibdev(const struct root *root, const char *netdev)
{
	cleanup_strv struct strv paths = {0};

	read_glob(root, "/sys/class/infiniband/*/parent", &paths, NULL);
	for (size_t i = 0; i < paths.n; i++) {
		cleanup_free char *text = NULL;
		const char *name = paths.v[i] + strlen("/sys/class/infiniband/");

		if (read_attr(root, &text, NULL, "%s", paths.v[i]) == 0 && streq(text, netdev))
			return xstrndup(name, strcspn(name, "/"));
	}
	return NULL;
}

/* Two functions are on the same card if their addresses differ only in the function's number. */
static bool same_card(const char *a, const char *b)
{
	size_t len = strcspn(a, ".");

	return strcspn(b, ".") == len && strncmp(a, b, len) == 0;
}

/*
 * RoCE LAG: if two ports of one card are members of a bond, mlx5 and bnxt keep only the RDMA device
 * of the first port (mlx5_bond_0), which stands for both (mlx5 lag.c, mlx5_lag_is_roce(); bnxt_re
 * does the same).
 */
static void find_bonded(struct cc_place *place)
{
	cleanup_free char *text = NULL;
	char *rest = NULL;

	if (read_attr(place->root, &text, NULL, "/sys/class/net/%s/master/bonding/slaves",
		      place->netdev) < 0)
		return;
	place->bonded = true;
	if (function_has(place->root, place->addr, "infiniband"))
		return; /* it has its own device, here or in a container */
	for (char *name = strtok_r(text, " ", &rest); name && !place->ibdev;
	     name = strtok_r(NULL, " ", &rest)) {
		cleanup_free char *addr = NULL;

		if (read_link_name(place->root, &addr, NULL, "/sys/class/net/%s/device", name) <
			    0 ||
		    !same_card(addr, place->addr) || streq(addr, place->addr))
			continue;
		place->ibdev = function_ibdev(place->root, addr);
		if (place->ibdev)
			snprintf(place->owner, sizeof(place->owner), "%s", addr);
	}
}

void cc_place_find(const struct root *root, const char *addr, struct cc_place *ret)
{
	struct netdev dev;

	*ret = (struct cc_place){.root = root};
	snprintf(ret->addr, sizeof(ret->addr), "%s", addr);
	ret->driver = function_driver(root, addr);
	if (function_netdev(root, addr, &dev, NULL) == 0)
		ret->netdev = xstrdup(dev.name);
	ret->ibdev = function_ibdev(root, addr);
	snprintf(ret->owner, sizeof(ret->owner), "%s", addr);
	if (!ret->ibdev && ret->netdev && !function_has(root, addr, "infiniband"))
		ret->ibdev = soft_ibdev(root, ret->netdev);
	if (ret->netdev)
		find_bonded(ret);
}

void cc_place_devices(const struct cc_place *place, struct strv *ret)
{
	size_t before = ret->n;

	read_dir(place->root, ret, NULL, DEV "%s/infiniband", place->addr);
	if (ret->n == before && place->ibdev)
		strv_add(ret, place->ibdev);
}

void cc_place_free(struct cc_place *place)
{
	free(place->driver);
	free(place->netdev);
	free(place->ibdev);
}
