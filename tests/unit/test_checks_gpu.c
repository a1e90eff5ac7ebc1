/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of GPUs that need no load, on machines that are trees; and what Xids mean. */
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_change.h"
#include "checks/xid.h"
#include "engine/run.h"
#include "kinds/kind.h"
#include "sys/state.h"
#include "reason.h"
#include "tree.h"

#define GPU "0000:1b:00.0"
#define AMD "0000:1c:00.0"
#define NIC "0000:3b:00.0"
#define OLD_NIC "0000:3c:00.0"
#define PCI "sys/bus/pci/devices/"
#define OPEN "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n"
#define CLOSED \
	"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\nGCC version:\n"
#define VERSION "proc/driver/nvidia/version"
#define INFO "proc/driver/nvidia/gpus/" GPU "/information"
#define LOADED "sys/module/nvidia/version"
#define PEERMEM "sys/module/nvidia_peermem/refcnt"

static const struct tree_file machine[] = {
	{PCI GPU "/class", "0x030200\n"},
	{PCI GPU "/driver", "->../../../bus/pci/drivers/nvidia"},
	{PCI AMD "/class", "0x120000\n"},
	{PCI AMD "/driver", "->../../../bus/pci/drivers/amdgpu"},
	{PCI NIC "/class", "0x020000\n"},
	{PCI NIC "/driver", "->../../../bus/pci/drivers/mlx5_core"},
	{PCI OLD_NIC "/class", "0x020000\n"},
	{PCI OLD_NIC "/driver", "->../../../bus/pci/drivers/mlx4_core"},
	{VERSION, OPEN},
	{LOADED, "570.86.15\n"},
	{INFO, "Model: \t\t Some GPU\nDevice Minor: \t 3\n"},
	{"dev/nvidiactl", ""},
	{"dev/nvidia-uvm", ""},
	{"dev/nvidia3", ""},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0)
		tree_write(*state, machine, array_len(machine));
	return r;
}

struct wanted {
	enum change_state state;
	const char *observed; /* NULL: not looked at */
	const char *reason;   /* a part of it; NULL: none */
};

static void gives(struct tmp *t, const char *target, const char *desired, const char *kernel,
		  struct wanted w)
{
	static const struct place nowhere;
	struct run run = {.root = &t->root, .log = kernel_log_new(&t->root, XID_BEGIN)};
	struct change *c = plan_add(&run.plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    nowhere, "%s", target);

	check_about(c, target, desired);
	run.node.kernel = xstrdup(kernel);
	run_look(&run, STAGES_ALL, STAGE_GATE);
	assert_int_equal(c->now.state, w.state);
	if (w.observed)
		assert_string_equal(c->now.found, w.observed);
	if (w.reason)
		assert_text(reason_of(c), w.reason);
	run_close(&run);
}

#define SAME(observed) ((struct wanted){CHANGE_SAME, observed, NULL})
#define DIFFERS(observed, reason) ((struct wanted){CHANGE_DIFFERS, observed, reason})
#define UNSUPPORTED(reason) ((struct wanted){CHANGE_UNSUPPORTED, NULL, reason})

/* --- the driver ----------------------------------------------------------------------------- */

static void driver_gives(struct tmp *t, const char *desired, struct wanted w)
{
	gives(t, "gpu-driver:" GPU, desired, "6.8.0", w);
}

static void test_flavor(void **state)
{
	struct tmp *t = *state;

	driver_gives(t, "open", SAME("open, 570.86.15"));
	driver_gives(t, "any", SAME("open, 570.86.15"));
	driver_gives(t, "proprietary", DIFFERS("open, 570.86.15", "the open kernel modules are"));
	tmp_write(t, VERSION, CLOSED);
	tree_remove(t, LOADED);
	driver_gives(t, "proprietary", SAME("proprietary"));
	driver_gives(t, "any", SAME("proprietary"));
	driver_gives(t, "open", DIFFERS("proprietary", "nvidia-open"));
	tree_remove(t, VERSION);
	driver_gives(t, "any", UNSUPPORTED("does not show which NVIDIA modules"));
	t->root.live = true;
	driver_gives(t, "any", DIFFERS("not known", "see NVRM in the kernel log"));
}

static void test_bound(void **state)
{
	struct tmp *t = *state;

	tree_link(t, PCI GPU "/driver", "../../../bus/pci/drivers/nouveau");
	driver_gives(t, "any", DIFFERS("nouveau", "modules.blacklist"));
	tree_link(t, PCI GPU "/driver", "../../../bus/pci/drivers/vfio-pci");
	driver_gives(t, "any", DIFFERS("vfio-pci", "was the GPU given to"));
	tree_remove(t, PCI GPU "/driver");
	driver_gives(t, "any", DIFFERS("no driver", "load nvidia"));
	gives(t, "gpu-driver:0000:7f:00.0", "any", "6.8.0",
	      (struct wanted){CHANGE_FAILED, NULL, "0000:7f:00.0"});
	gives(t, "gpu-driver:" AMD, "any", "6.8.0", SAME("open, amdgpu"));
	gives(t, "gpu-driver:" AMD, "open", "6.8.0", SAME("open, amdgpu"));
	gives(t, "gpu-driver:" AMD, "proprietary", "6.8.0",
	      DIFFERS("open, amdgpu", "only an open driver"));
}

/* gpu-operator's issue 2685: ready, and nobody could use CUDA. */
static void test_nodes(void **state)
{
	static const char *const nodes[] = {"dev/nvidia3", "dev/nvidia-uvm", "dev/nvidiactl"};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(nodes); i++) {
		cleanup_free char *no = xasprintf("no /%s", nodes[i]);

		tree_remove(t, nodes[i]);
		driver_gives(t, "any", DIFFERS(no, "nvidia-modprobe -u -c 0"));
	}
	tree_remove(t, "dev"); /* as in a captured tree */
	driver_gives(t, "any", SAME("open, 570.86.15"));
}

static void test_taken(void **state)
{
	struct tmp *t = *state;

	t->root.live = true;
	driver_gives(t, "any", SAME("open, 570.86.15"));
	tree_remove(t, INFO);
	tree_remove(t, "proc/driver/nvidia/gpus/" GPU);
	driver_gives(t, "any", DIFFERS("bound, and not known to the driver", "pci=realloc"));
}

/* --- GPUDirect ------------------------------------------------------------------------------ */

#define SYMBOLS "proc/kallsyms"
#define CORE                                                   \
	"0000000000000000 T _text\n"                           \
	"0000000000000000 T pci_p2pdma_distance_many\n"        \
	"0000000000000000 T ib_umem_dmabuf_get\t[ib_uverbs]\n" \
	"0000000000000000 t nv_dma_buf_map\t[nvidia]\n"
#define MLX5 "0000000000000000 t mlx5_ib_reg_user_mr_dmabuf\t[mlx5_ib]\n"
#define IONIC "0000000000000000 t ionic_reg_user_mr_dmabuf\t[ionic_rdma]\n"

static void direct_gives(struct tmp *t, const char *pair, struct wanted w)
{
	cleanup_free char *target = xasprintf("gpudirect:%s", pair);

	gives(t, target, "dma-buf or nvidia_peermem", "3.10.0", w); /* no version says anything */
}

static void test_gpudirect(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, SYMBOLS, CORE MLX5);
	tmp_write(t, "sys/module/mlx4_ib/initstate", "live\n");
	direct_gives(t, NIC "," GPU, SAME("dma-buf"));
	direct_gives(t, NIC "," AMD, SAME("dma-buf"));
	direct_gives(t, OLD_NIC "," GPU,
		     DIFFERS("neither",
			     "(mlx4_ib) does not support dma-buf, and nvidia_peermem is not"));
	tmp_write(t, VERSION, CLOSED);
	direct_gives(t, NIC "," GPU, DIFFERS("neither", "not the open ones"));
	tmp_write(t, PEERMEM, "0\n");
	direct_gives(t, NIC "," GPU, SAME("nvidia_peermem"));
	direct_gives(t, OLD_NIC "," GPU, SAME("nvidia_peermem"));
	direct_gives(t, OLD_NIC "," AMD,
		     DIFFERS("neither",
			     "(mlx4_ib) does not support dma-buf, and amdgpu has no other way"));
	tmp_write(t, VERSION, OPEN);
	direct_gives(t, NIC "," GPU, SAME("dma-buf"));
	tree_remove(t, VERSION);
	direct_gives(t, NIC "," GPU, UNSUPPORTED("does not show which NVIDIA"));
	tree_remove(t, PCI GPU "/driver");
	direct_gives(t, NIC "," GPU, DIFFERS("no driver", "load nvidia"));
}

/* What is there counts: ionic's function, a kernel without p2pdma, a core without dma-buf. */
static void test_dmabuf_is_seen(void **state)
{
	struct tmp *t = *state;

	tree_link(t, PCI NIC "/driver", "../../../bus/pci/drivers/ionic");
	tmp_write(t, SYMBOLS, CORE IONIC);
	direct_gives(t, NIC "," AMD, SAME("dma-buf"));
	tmp_write(t, SYMBOLS, CORE "0 t ionic_reg_user_mr_dmabuf\n"); /* built in */
	direct_gives(t, NIC "," AMD, SAME("dma-buf"));
	tmp_write(t, SYMBOLS, CORE MLX5);
	direct_gives(
		t, NIC "," AMD,
		DIFFERS("neither", "module ionic_rdma, the RDMA driver of " NIC ", is not loaded"));
	tree_link(t, PCI NIC "/driver", "../../../bus/pci/drivers/mlx5_core");
	tmp_write(t, SYMBOLS, "0 T ib_umem_dmabuf_get\n" MLX5);
	direct_gives(t, NIC "," AMD, DIFFERS("neither", "without CONFIG_PCI_P2PDMA, and amdgpu"));
	tmp_write(t, SYMBOLS, "0 T ib_umem_get\n" MLX5);
	direct_gives(t, NIC "," GPU,
		     DIFFERS("neither", "the kernel's RDMA core does not support dma-buf"));
}

/* Not seen is not broken: the gate can measure it. */
static void test_dmabuf_not_known(void **state)
{
	struct tmp *t = *state;

	direct_gives(t, NIC "," GPU, UNSUPPORTED("gpu_rdma measures it"));
	tmp_write(t, SYMBOLS, "");
	direct_gives(t, NIC "," GPU, UNSUPPORTED("/proc/kallsyms lists no function"));
	tmp_write(t, SYMBOLS, "0 T ib_umem_dmabuf_get\n" MLX5);
	direct_gives(t, NIC "," GPU, UNSUPPORTED("nvidia modules show no function"));
	tree_link(t, PCI NIC "/driver", "../../../bus/pci/drivers/some_nic");
	direct_gives(t, NIC "," GPU, UNSUPPORTED(NIC " (some_nic) is not known"));
	tmp_write(t, PEERMEM, "0\n");
	direct_gives(t, NIC "," GPU, SAME("nvidia_peermem"));
}

/* --- Xids ----------------------------------------------------------------------------------- */

#define KMSG "dev/kmsg"
#define BOOT "5,0,0,-;Linux version 6.8.0\n"
#define OFF_BUS "NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.\n"
#define LOST(n) ((struct wanted){CHANGE_FAILED, "not seen", "overwritten " n " records of its log"})
#define FAILED(reason) ((struct wanted){CHANGE_FAILED, NULL, reason})

static void xid_gives(struct tmp *t, struct wanted w)
{
	gives(t, "gpu-xid:" GPU, "none", "6.8.0", w);
}

static void test_log(void **state)
{
	static char endless[40000];
	struct tmp *t = *state;

	xid_gives(t, UNSUPPORTED("kernel's log"));
	t->root.live = true;
	xid_gives(t, FAILED("/dev/kmsg: No such file"));
	t->root.live = false;
	tmp_write(t, KMSG, "");
	xid_gives(t, FAILED("/dev/kmsg holds no record"));
	memset(endless, 'x', sizeof(endless) - 1);
	tmp_write(t, KMSG, endless);
	xid_gives(t, FAILED("/dev/kmsg: Bad message"));
	tmp_write(t, KMSG, "not a log\n SUBSYSTEM=pci\n");
	xid_gives(t, FAILED("/dev/kmsg holds no record"));
	tmp_write(t, KMSG, BOOT);
	xid_gives(t, SAME("none"));
	tmp_write(t, KMSG, BOOT "3,1,2,-;" OFF_BUS);
	xid_gives(t, DIFFERS("1", "Xid 79"));
	tmp_write(t, KMSG, BOOT "3,1,2,-,caller=T7;" OFF_BUS);
	xid_gives(t, DIFFERS("1", "Xid 79"));
	/* the last line has no end yet */
	tmp_write(t, KMSG, BOOT "3,1,2,-;NVRM: Xid (PCI:0000:1b:00): 79, GPU");
	xid_gives(t, SAME("none"));
	tree_remove(t, KMSG);
	tmp_write(t, KMSG "/file", "");
	xid_gives(t, FAILED("/dev/kmsg"));
}

/* What is missing from the log is not known, until an earlier run has seen it. */
static void test_lost_records(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, KMSG, "5,500,0,-;x\n5,501,0,-;y\n");
	xid_gives(t, LOST("500"));
	tmp_write(t, KMSG, "5,500,0,-;x\n3,501,0,-;" OFF_BUS);
	xid_gives(t, DIFFERS("1", "Xid 79"));
	tmp_write(t, KMSG, BOOT "5,1,0,-;y\n5,9,0,-;z\n");
	xid_gives(t, LOST("7"));
	tmp_write(t, KMSG, "5,500,0,-;x\n5,501,0,-;y\n");
	tmp_write(t, "run/railhead/kernel-log", "499\n");
	xid_gives(t, LOST("1"));
	tmp_write(t, "run/railhead/kernel-log", "500\n");
	xid_gives(t, SAME("none"));
	tmp_write(t, "run/railhead/kernel-log", "502\n");
	xid_gives(t, SAME("none"));
	tmp_write(t, "run/railhead/kernel-log", "503\n"); /* of another boot */
	xid_gives(t, LOST("500"));
	tmp_write(t, "run/railhead/kernel-log", "");
	xid_gives(t, LOST("500"));
	tmp_write(t, "run/railhead/kernel-log", "-1\n");
	xid_gives(t, LOST("500"));
}

static void saves(struct kernel_log *log, struct tmp *t, const char *want)
{
	cleanup_free char *text = NULL;

	assert_int_equal(kernel_log_save(log, NULL), 0);
	if (!want) {
		assert_int_equal(state_read(&t->root, "kernel-log", &text, NULL), -ENOENT);
		return;
	}
	assert_int_equal(state_read(&t->root, "kernel-log", &text, NULL), 0);
	assert_string_equal(text, want);
}

/* A fault is never saved as seen, so that it can't be overwritten in silence. */
static void test_saved(void **state)
{
	struct tmp *t = *state;
	struct kernel_log *log = kernel_log_new(&t->root, XID_BEGIN);

	saves(log, t, NULL);
	tmp_write(t, KMSG, "5,4,0,-;x\n");
	assert_int_equal(kernel_log_read(log, NULL), 0);
	saves(log, t, NULL);
	kernel_log_free(log);

	log = kernel_log_new(&t->root, XID_BEGIN);
	tmp_write(t, KMSG, BOOT "5,1,0,-;x\n3,2,0,-;" OFF_BUS "5,3,0,-;y\n");
	assert_int_equal(kernel_log_read(log, NULL), 0);
	assert_int_equal(log->records.n, 1);
	assert_int_equal(log->records.v[0].seq, 2);
	saves(log, t, "4\n");
	kernel_log_hold(log, 2);
	kernel_log_hold(log, 3);
	saves(log, t, "2\n");
	kernel_log_free(log);
	kernel_log_free(NULL);
}

struct log_case {
	const char *log; /* records, each with its newline */
	size_t faults, harmless;
	const char *text; /* a part of it */
	enum fault gravest;
};

#define XID_LINE(pci, rest) "3,1,2,-;NVRM: Xid (" pci "): " rest "\n"
#define HERE "PCI:0000:1b:00"
#define REQUIRED "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
#define RECOVERED "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"

static const struct log_case logs[] = {
	{"", 0, 0, "", FAULT_NONE},
	{"6,1,2,-;nvidia: loaded\n", 0, 0, "", FAULT_NONE},
	{XID_LINE(HERE, "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."), 1, 0,
	 "Xid 79, the GPU has fallen off the bus: power", FAULT_GPU_OFF_BUS},
	{XID_LINE("PCI:0000:1c:00", "79, GPU has fallen off the bus."), 0, 0, "", FAULT_NONE},
	{XID_LINE("PCI:0001:1b:00", "79, GPU has fallen off the bus."), 0, 0, "", FAULT_NONE},
	{XID_LINE("PCI:0000:1b:00 GPU-I:01 GPU-CI:00", "94, pid=7, name=x, Contained"), 1, 0,
	 "Xid 94,", FAULT_NONE},
	{XID_LINE("PCI:0000:1b:00 GPU-I:01", "94, pid=7, name=x, Contained"), 1, 0, "Xid 94,",
	 FAULT_NONE},
	{XID_LINE("0000:1b:00", "48, DBE"), 1, 0, "Xid 48,", FAULT_NONE}, /* of old drivers */
	{XID_LINE(HERE, "13, Graphics SM Warp Exception")
		 XID_LINE(HERE, "31, pid=1, name=x, MMU Fault") XID_LINE(HERE, "43, pid=1")
			 XID_LINE(HERE, "45, pid=1"),
	 0, 4, "", FAULT_NONE},
	{XID_LINE(HERE, "63, Row Remapper: New row marked")
		 XID_LINE(HERE, "63, Row Remapper: again") XID_LINE(HERE, "31, MMU Fault")
			 XID_LINE(HERE, "74, NVLink"),
	 2, 1, "Xid 63 (2 times), a row", FAULT_GPU_NVLINK},
	{XID_LINE(HERE, "149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6)"), 1, 0,
	 "a fatal NVLink error", FAULT_GPU_NVLINK},
	{XID_LINE(HERE, "149, NETIR_LINK_EVT  Nonfatal XC0 i0 Link 01 (0x021425c6)"), 0, 1, "",
	 FAULT_NONE},
	{XID_LINE(HERE, "149, NETIR_LINK_EVT  Fatal XC0 i0 Link 01, name=nonfatal"), 1, 0,
	 "a fatal NVLink error", FAULT_GPU_NVLINK},
	{XID_LINE(HERE, "333, something new"), 1, 0, "Xid 333, see NVIDIA's catalog",
	 FAULT_GPU_XID},
	{XID_LINE(HERE, "119, Timeout after 45s of waiting for RPC response from GPU0 GSP!")
		 XID_LINE(HERE, "154, " REQUIRED),
	 2, 0, "Xid 154, the driver asks for a reset", FAULT_GPU_XID},
	/* reset since then */
	{XID_LINE(HERE, "119, Timeout") XID_LINE(HERE, "154, " REQUIRED)
		 XID_LINE(HERE, "154, " RECOVERED),
	 0, 0, "", FAULT_NONE},
	/* another GPU's recovery is not this one's */
	{XID_LINE(HERE, "119, Timeout") XID_LINE("PCI:0000:1c:00", "154, " RECOVERED), 1, 0,
	 "Xid 119,", FAULT_NONE},
	/* a process may have any name */
	{XID_LINE(HERE, "119, Timeout") XID_LINE(HERE, "154, pid=7, name=to 0x0 , " REQUIRED), 2, 0,
	 "Xid 119,", FAULT_NONE},
	{XID_LINE(HERE, "119, Timeout") XID_LINE(HERE, "154, pid=7, name=" RECOVERED ", " REQUIRED),
	 2, 0, "Xid 119,", FAULT_NONE},
	{XID_LINE(HERE, "119, Timeout") XID_LINE(HERE, "154, to 0x0 "), 2, 0, "Xid 119,",
	 FAULT_NONE},
	{"3,1,2,-;NVRM: Xid (\n3,1,2,-;NVRM: Xid (PCI:): 79,\n" XID_LINE("PCI:+000:1b:00", "79, x")
		 XID_LINE("PCI:0000:1b:000", "79, x"),
	 0, 0, "", FAULT_NONE},
	/* names that users choose: of a program, a cgroup, a process; written to /dev/kmsg */
	{"6,1,2,-;a[27]: segfault at 0 ip 0 error 6 in NVRM: Xid (" HERE "): 79, x[115b]\n", 0, 0,
	 "", FAULT_NONE},
	{"6,1,2,-;a[27]: segfault at 0 ip 0 error 6 in \\x0aNVRM: Xid (" HERE "): 79, x[115b]\n", 0,
	 0, "", FAULT_NONE},
	{"6,1,2,-;cgroup: fork rejected by pids controller in /NVRM: Xid (" HERE "): 79, \n", 0, 0,
	 "", FAULT_NONE},
	{"6,1,2,-;NVRM: Xid (0000[27]: segfault at 0 in 1b:00): 79, x\n", 0, 0, "", FAULT_NONE},
	{"12,1,2,-;NVRM: Xid (" HERE "): 79, x\n", 0, 0, "", FAULT_NONE},
	{"6,1,2,-;x\n NVRM: Xid (" HERE "): 79, x\n", 0, 0, "", FAULT_NONE},
	{XID_LINE(HERE, "79, x") "6,2,2,-;a[27]: segfault in NVRM: Xid (" HERE "): 154, " RECOVERED
				 "\n",
	 1, 0, "Xid 79,", FAULT_GPU_OFF_BUS},
};

static void find(struct tmp *t, const char *text, const struct cpus *fatal, struct xids *ret)
{
	struct kernel_log *log = kernel_log_new(&t->root, XID_BEGIN);

	tmp_write(t, KMSG, *text ? text : BOOT);
	assert_int_equal(kernel_log_read(log, NULL), 0);
	xid_find(log, GPU, fatal, ret);
	kernel_log_free(log);
}

/* In a form that is not known: not seen, whatever else is in the log; until all is recovered. */
static void test_unreadable_xids(void **state)
{
	static const char *const forms[] = {
		BOOT XID_LINE(HERE, "nonsense"),
		BOOT "3,1,2,-;NVRM: Xid (PCI:0000:1b:00\n",
		BOOT XID_LINE(HERE, "99999999999, too large"),
		BOOT XID_LINE(HERE, "1000, too large"),
		BOOT XID_LINE(HERE, "512, too large") XID_LINE(HERE, "31, MMU Fault"),
		BOOT XID_LINE(HERE, "79"),
		BOOT XID_LINE(HERE, "79 , x"),
		BOOT XID_LINE(HERE, "+79, x"),
		BOOT XID_LINE(HERE, "-79, x"),
		BOOT XID_LINE(HERE, " 79, x"),
	};
	struct xids found;

	for (size_t i = 0; i < array_len(forms); i++) {
		struct wanted wanted = {CHANGE_FAILED, "not seen", "in a form that railhead does"};

		tmp_write(*state, KMSG, forms[i]);
		xid_gives(*state, wanted);
	}
	find(*state, BOOT XID_LINE(HERE, "1000, x") XID_LINE(HERE, "154, " RECOVERED), NULL,
	     &found);
	assert_null(found.unreadable);
	str_free(&found.text);
}

static void test_xids(void **state)
{
	for (size_t i = 0; i < array_len(logs); i++) {
		struct xids found;

		find(*state, logs[i].log, NULL, &found);
		if (found.faults != logs[i].faults || found.harmless != logs[i].harmless)
			fail_msg("case %zu: %s (%zu harmless)", i, str_get(&found.text),
				 found.harmless);
		assert_text(str_get(&found.text), logs[i].text);
		if (logs[i].gravest)
			assert_int_equal(found.gravest, logs[i].gravest);
		assert_int_equal(!found.gravest, !logs[i].faults);
		assert_true(logs[i].faults || !found.text.len);
		str_free(&found.text);
	}
}

/* What the profile lists is a fault, and nothing else; NVLink's nonfatal ones are none ever. */
static void test_fatal_by_the_profile(void **state)
{
	static const char log[] = XID_LINE(HERE, "79, off the bus") XID_LINE(HERE, "43, pid=1")
		XID_LINE(HERE, "149, X Fatal") XID_LINE(HERE, "149, NETIR_LINK_EVT  Nonfatal");
	struct xids found;
	struct cpus fatal;

	assert_int_equal(cpus_parse("43-44,149", &fatal), 0);
	find(*state, log, &fatal, &found);
	assert_int_equal(found.faults, 2);
	assert_int_equal(found.harmless, 2);
	assert_text(str_get(&found.text),
		    "Xid 43, see NVIDIA's catalog of Xid errors; Xid 149, a fatal");
	str_free(&found.text);
}

/* The shipped list is that of a check without one, so that either may be read for the other. */
static void test_shipped_list_is_the_default(void **state)
{
	FILE *f = fopen("profiles/nvidia-gpu-base.yaml", "r");
	char line[512], list[512] = "";
	struct cpus fatal;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, " fatal: %511s", list);
	fclose(f);
	assert_int_equal(cpus_parse(list, &fatal), 0);
	for (int i = 1; i <= XID_MAX; i++)
		if (cpus_has(&fatal, (unsigned int)i) != xid_is_fatal(i))
			fail_msg("Xid %d", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_flavor, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_bound, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_nodes, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_taken, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_gpudirect, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_dmabuf_is_seen, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_dmabuf_not_known, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_log, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_lost_records, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_saved, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_xids, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_xids, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_fatal_by_the_profile, setup, tmp_teardown),
		cmocka_unit_test(test_shipped_list_is_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
