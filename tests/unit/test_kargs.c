/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "kargs/env_layout.h"
#include "kargs/kargs.h"

static void line_of(const char *in, char ret[512])
{
	cleanup_kargs struct kargs l = {0};
	cleanup_free char *line = NULL;

	kargs_split(&l, in, NULL);
	line = kargs_line(&l);
	snprintf(ret, 512, "%s", line);
}

static void test_split(void **state)
{
	static const struct {
		const char *in, *out;
		size_t n;
	} t[] = {
		{"", "", 0},
		{"  \t\n", "", 0},
		{" a  b=c\td \n", "a b=c d", 3},
		{"key=\"a b\" x", "key=\"a b\" x", 2},
		{"\"key=a b\" x", "\"key=a b\" x", 2},
		{"a=\"x\"y\"z w\" q", "a=\"x\"y\"z w\" q", 2},
		{"open=\"to the end", "open=\"to the end", 1},
		{"quiet -- single 1", "quiet", 1},
		{"a --b -- c", "a --b", 2},
		/* the kernel takes quotes off before it looks for it */
		{"quiet \"--\" single", "quiet", 1},
		{"quiet --\" single", "quiet --\" single", 2},
		/* a blank of latin-1 that doesn't break, lib/ctype.c */
		{"a=1\xa0x\xc3\xa0"
		 "b",
		 "a=1 x\xc3 b", 3},
		{"a\vb\fc\rd", "a b c d", 4},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_kargs struct kargs l = {0};
		char line[512];

		kargs_split(&l, t[i].in, NULL);
		assert_int_equal(l.n, t[i].n);
		line_of(t[i].in, line);
		assert_string_equal(line, t[i].out);
	}
}

static void test_equal(void **state)
{
	(void)state;
	assert_true(karg_equal("intel-iommu=on", "intel_iommu=on"));
	assert_false(karg_equal("intel_iommu=sm_on", "intel_iommu=sm-on"));
	assert_true(karg_equal("k=\"a b\"", "\"k=a b\""));
	assert_true(karg_equal("k=\"v\"", "k=v"));
	assert_false(karg_equal("k", "k="));
	assert_false(karg_equal("k=v", "k=vv"));
	assert_false(karg_equal("kk=v", "k=v"));
	assert_true(karg_same_key("ib-core.netns_mode=0", "ib_core.netns-mode=1"));
	/* a module's name and its parameter's */
	assert_true(karg_equal("mlx5-core.prof-sel=2", "mlx5_core.prof_sel=2"));
	assert_false(karg_equal("mlx5_core.prof_sel=2", "mlx5_core_prof_sel=2"));
	/* next_arg(): a '=' at the front belongs to the name */
	assert_true(karg_same_key("=a=1", "=a=2"));
	assert_false(karg_same_key("=a", "=b"));
	assert_false(karg_equal("=a", "=a="));
	assert_true(karg_equal("\"", ""));
	assert_true(karg_equal("a=\"", "a="));
}

static void test_has(void **state)
{
	static const struct {
		const char *line, *token;
		bool has;
	} t[] = {
		/* whole tokens, never substrings */
		{"intel_iommu=on", "intel_iommu=o", false},
		{"xintel_iommu=on", "intel_iommu=on", false},
		{"quiet", "quiet", true},
		{"quietly", "quiet", false},
		{"quiet=1", "quiet", false},
		/* the last one wins */
		{"a=1 a=2", "a=1", false},
		{"a=1 a=2", "a=2", true},
		{"transparent-hugepage=never", "transparent_hugepage=never", true},
		/* comma lists: SNO#359 */
		{"intel_iommu=on,sm_on", "intel_iommu=on", true},
		{"intel_iommu=sm_on,on", "intel_iommu=on,sm_on", true},
		{"intel_iommu=on intel_iommu=sm_on", "intel_iommu=on,sm_on", true},
		{"intel_iommu=on", "intel_iommu=on,sm_on", false},
		{"intel_iommu=on intel_iommu=off", "intel_iommu=on", false},
		{"intel_iommu=off intel_iommu=on", "intel_iommu=on", true},
		{"intel_iommu=on,sm_off", "intel_iommu=on", true},
		{"intel_iommu=sm_on,sm_off", "intel_iommu=sm_on", false},
		{"iommu=pt iommu=nopt", "iommu=pt", false},
		{"pci=realloc,noats", "pci=realloc", true},
		{"efi=debug efi=noruntime", "efi=debug,noruntime", true},
		{"efi=noruntime efi=runtime", "efi=noruntime", false},
		{"cgroup_disable=memory cgroup_disable=cpu", "cgroup_disable=cpu,memory", true},
		{"initcall_blacklist=a,b", "initcall_blacklist=b", true},
		{"memmap=4G!8G,1M$2M", "memmap=4G!8G", true},
		{"modprobe.blacklist=a modprobe.blacklist=b,c", "modprobe.blacklist=a,c", true},
		{"rd.driver.pre=a,b", "rd.driver.pre=b", true},
		{"iommu=pt,nopt", "iommu=nopt", true},
		{"iommu=force,noforce", "iommu=force", false},
		{"pci=realloc pci=noats", "pci=realloc", true},
		{"pci=realloc", "pci=realloc=on", false}, /* the same; not its words */
		{"pci=realloc pci=realloc=on", "pci=realloc", true},
		{"pci=realloc=off,realloc", "pci=realloc=off", false},
		{"pci=realloc,realloc=off", "pci=realloc", false},
		{"pci=hpmemsize=1M pci=hpmemsize=2M", "pci=hpmemsize=1M", false},
		{"pci=pcie_bus_perf,pcie_bus_safe", "pci=pcie_bus_perf", false},
		{"amd_iommu=pgtbl_v2 amd_iommu=pgtbl_v1", "amd_iommu=pgtbl_v2", false},
		{"intel_pstate=no_hwp intel_pstate=passive", "intel_pstate=no_hwp", true},
		{"intel_pstate=active intel_pstate=passive", "intel_pstate=active", false},
		{"tsc=reliable tsc=nowatchdog", "tsc=reliable", true},
		{"", "pci=", false},
		{"pci=", "pci=", true},
		{"pci=,,", "pci=noats", false},
		/* no list: cmdline_find_option() takes the last one */
		{"clearcpuid=512 clearcpuid=304", "clearcpuid=512", false},
		{"module_blacklist=a module_blacklist=b", "module_blacklist=a", false},
		{"module_blacklist=a module_blacklist=b", "module_blacklist=b", true},
		/* parameters: the last one, with or without a value */
		{"ib_core.netns_mode=1 ib-core.netns-mode=0", "ib_core.netns_mode=0", true},
		{"ib_core.netns_mode=0 ib-core.netns-mode=1", "ib_core.netns_mode=0", false},
		{"nvme.poll=0 nvme.poll", "nvme.poll=0", false},
		{"nvme.poll nvme.poll=0", "nvme.poll", false},
		{"nvme.poll=0 nvme.poll", "nvme.poll", true},
		{"rd.shell rd.shell=0", "rd.shell=0", true},
		/* each kind of crashkernel= is a setting of its own */
		{"crashkernel=512M,high crashkernel=128M,low", "crashkernel=512M,high", true},
		{"crashkernel=512M,high crashkernel=128M,low", "crashkernel=128M,low", true},
		{"crashkernel=1G,high crashkernel=512M,high", "crashkernel=1G,high", false},
		{"crashkernel=1G,high crashkernel=512M,high", "crashkernel=512M,high", true},
		{"crashkernel=512M,high crashkernel=256M", "crashkernel=512M,high", false},
		{"crashkernel=256M crashkernel=512M,high", "crashkernel=512M,high", false},
		{"crashkernel=256M crashkernel=512M,high", "crashkernel=256M", true},
		{"crashkernel=256M crashkernel=1G,cma", "crashkernel=1G,cma", true},
		{"crashkernel=256M crashkernel=1G,cma", "crashkernel=256M", true},
		{"crashkernel=256M crashkernel=512M", "crashkernel=256M", false},
		{"crashkernel=1G-4G:192M,4G-:512M", "crashkernel=1G-4G:192M,4G-:512M", true},
		{"", "crashkernel=512M,high", false},
		/* every occurrence counts */
		{"rd.lvm.lv=vg/root rd.lvm.lv=vg/swap", "rd.lvm.lv=vg/root", true},
		{"systemd.mask=a.service systemd.mask=b.service", "systemd.mask=a.service", true},
		{"ip=dhcp ip=eth1:dhcp6", "ip=dhcp", true},
		{"console=tty0 console=ttyS0", "console=tty0", true},
		/* the first one wins: housekeeping_setup() */
		{"isolcpus=2-3 isolcpus=2-3", "isolcpus=2-3", true},
		{"isolcpus=2-3 isolcpus=4", "isolcpus=2-3", true},
		{"nohz_full=2-3 nohz-full=4", "nohz_full=4", false},
		{"earlycon=uart8250,io,0x3f8 earlycon=pl011,0x9000000",
		 "earlycon=uart8250,io,0x3f8", true},
		{"isolcpus=2-3 isolcpus=4", "isolcpus=4", false},
		{"isolcpus=2-3,5", "isolcpus=2-3", false},
		/* for init */
		{"quiet -- a=1", "a=1", false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		if (kargs_has(t[i].line, t[i].token) != t[i].has)
			fail_msg("kargs_has(\"%s\", \"%s\")", t[i].line, t[i].token);
}

static void missing(const char *wanted, const char *line, char ret[512])
{
	cleanup_kargs struct kargs w = {0}, m = {0};
	cleanup_free char *text = NULL;

	kargs_split(&w, wanted, NULL);
	kargs_missing(&w, line, &m);
	text = kargs_line(&m);
	snprintf(ret, 512, "%s", text);
}

static void test_missing(void **state)
{
	static const struct {
		const char *wanted, *line, *missing;
	} t[] = {
		{"a=1 b", "b a=1", ""},
		{"a=1 b", "ro", "a=1 b"},
		/* a pair counts as one, and its order matters: Talos#11310 */
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=4", ""},
		{"hugepagesz=1G hugepages=4", "hugepages=4 hugepagesz=1G",
		 "hugepagesz=1G hugepages=4"},
		{"hugepagesz=1G hugepages=4", "hugepagesz=2M hugepages=4",
		 "hugepagesz=1G hugepages=4"},
		{"hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8",
		 "hugepagesz=2M hugepages=8 hugepagesz=1G hugepages=4", ""},
		{"hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8",
		 "hugepagesz=1G hugepages=8 hugepagesz=2M hugepages=4",
		 "hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8"},
		/* the first count of a size wins */
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=2 hugepagesz=1G hugepages=4",
		 "hugepagesz=1G hugepages=4"},
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=4 hugepagesz=1G hugepages=2",
		 ""},
		/* two counts in a row: the second is ignored */
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=4 hugepages=2", ""},
		/* of a size given twice, too, for the count behind it */
		{"hugepagesz=2M hugepages=8",
		 "hugepagesz=1G hugepages=4 hugepagesz=2M hugepagesz=1G hugepages=8",
		 "hugepagesz=2M hugepages=8"},
		/* ... but not for the default size, while it has no pages */
		{"hugepagesz=1G hugepages=4",
		 "default_hugepagesz=1G hugepagesz=2M hugepages=8 hugepagesz=1G hugepages=4", ""},
		{"hugepagesz=1G hugepages=4",
		 "default_hugepagesz=1G hugepages=0:0,1:0 hugepagesz=2M hugepages=8 hugepagesz=1G "
		 "hugepages=4",
		 ""},
		{"hugepagesz=1G hugepages=4",
		 "default_hugepagesz=1G hugepages=0:0,1:2 hugepagesz=2M hugepages=8 hugepagesz=1G "
		 "hugepages=4",
		 "hugepagesz=1G hugepages=4"},
		{"hugepagesz=1G hugepages=4",
		 "hugepagesz=1G hugepages=0 hugepagesz=2M hugepages=8 hugepagesz=1G hugepages=4",
		 "hugepagesz=1G hugepages=4"},
		/* no size that there could be: its count is nobody's */
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepagesz=3G hugepages=4",
		 "hugepagesz=1G hugepages=4"},
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepagesz= hugepages=4",
		 "hugepagesz=1G hugepages=4"},
		/* a default size that is there already leaves counts with the size parsed last */
		{"hugepagesz=2M hugepages=5",
		 "hugepagesz=1G hugepages=4 hugepagesz=2M default_hugepagesz=1G hugepages=5", ""},
		/* a count before any size is the default size's, whatever was said of that size */
		{"hugepagesz=1G hugepages=2",
		 "hugepages=2 hugepagesz=1G hugepages=4 default_hugepagesz=1G", ""},
		/* 1024M is 1G */
		{"hugepagesz=1G hugepages=4", "hugepagesz=1024M hugepages=4", ""},
		/* per node */
		{"default_hugepagesz=1G hugepagesz=1G hugepages=0:32,1:32",
		 "default_hugepagesz=1G hugepagesz=1G hugepages=0:32,1:32", ""},
		{"default_hugepagesz=1G hugepagesz=1G hugepages=0:32,1:32",
		 "hugepagesz=1G hugepages=0:32,1:32", "default_hugepagesz=1G"},
		{"default_hugepagesz=1G hugepages=2", "hugepages=2 default_hugepagesz=1G", ""},
		{"hugepages=16", "hugepages=16", ""},
		{"hugepages=16", "hugepagesz=1G hugepages=16", "hugepages=16"},
		{"hugepagesz=1G", "hugepagesz=1G", ""},
		{"hugepagesz=1G", "quiet", "hugepagesz=1G"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		char m[512];

		missing(t[i].wanted, t[i].line, m);
		if (strcmp(m, t[i].missing) != 0)
			fail_msg("wanted \"%s\" on \"%s\": missing \"%s\", expected \"%s\"",
				 t[i].wanted, t[i].line, m, t[i].missing);
	}
}

static void test_dropped(void **state)
{
	static const struct {
		const char *owned, *wanted, *line, *dropped;
	} t[] = {
		{"a=1 b", "a=1 b", "a=1 b", ""},
		{"a=1 b", "a=1", "a=1 b", "b"},
		{"a=1", "a=2", "a=1", "a=1"},
		{"a=1 b", "a=1", "a=1", ""}, /* not on this line: nothing to get rid of */
		{"intel_iommu=on,sm_on", "intel_iommu=sm_on,on", "intel_iommu=on,sm_on", ""},
		{"intel_iommu=on,sm_on", "intel_iommu=on", "intel_iommu=on,sm_on",
		 "intel_iommu=on,sm_on"},
		/* it contradicts itself, but nothing of it was dropped */
		{"iommu=pt iommu=nopt", "iommu=pt iommu=nopt", "iommu=pt iommu=nopt", ""},
		{"default_hugepagesz=1G default_hugepagesz=2M",
		 "default_hugepagesz=1G default_hugepagesz=2M",
		 "default_hugepagesz=1G default_hugepagesz=2M", ""},
		{"hugepagesz=1G hugepages=4", "", "hugepagesz=1G hugepages=4",
		 "hugepagesz=1G hugepages=4"},
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=5",
		 "hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=4"},
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=4",
		 "hugepagesz=1G hugepages=4", ""},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_kargs struct kargs owned = {0}, wanted = {0}, d = {0};
		cleanup_free char *text = NULL;

		kargs_split(&owned, t[i].owned, NULL);
		kargs_split(&wanted, t[i].wanted, NULL);
		kargs_dropped(&owned, &wanted, t[i].line, &d);
		text = kargs_line(&d);
		assert_string_equal(text, t[i].dropped);
	}
}

static void test_conflicts(void **state)
{
	static const struct {
		const char *wanted, *owned, *line, *conflicts;
	} t[] = {
		{"a=1", "a=1", "a=1 railhead.slot=a", ""},
		{"a=1", "a=1", "a=2 a=1", "a=2"},
		{"a=1", "", "a=1", ""},
		{"isolcpus=2", "isolcpus=2", "isolcpus=3 isolcpus=2", "isolcpus=3"},
		{"console=tty0", "", "console=ttyS0", ""},
		{"rd.lvm.lv=a/b", "", "rd.lvm.lv=c/d", ""},
		{"a=1", "a=1", "a=2 a=1 railhead.slot=a a=3", "a=2 a=3"},
		/* words of lists that undo a wanted one */
		{"intel_iommu=on", "", "intel_iommu=sm_on", ""},
		{"intel_iommu=on", "", "intel_iommu=sm_on,off", "intel_iommu=sm_on,off"},
		{"iommu=pt", "iommu=pt", "iommu=nopt iommu=pt railhead.slot=a", "iommu=nopt"},
		{"pci=realloc=off", "", "pci=realloc pci=noats", "pci=realloc"},
		{"modprobe.blacklist=nouveau", "", "modprobe.blacklist=nvidia", ""},
		/* crashkernel= of the same kind, or one that leaves ours void */
		{"crashkernel=512M,high", "", "crashkernel=256M", "crashkernel=256M"},
		{"crashkernel=512M,high", "", "crashkernel=128M,low", ""},
		{"crashkernel=512M,high", "", "crashkernel=1G,high", "crashkernel=1G,high"},
		{"crashkernel=256M", "", "crashkernel=1G,high", ""},
		{"nvme.poll=1", "", "nvme.poll", "nvme.poll"},
		{"nvme.poll", "", "nvme.poll=0", "nvme.poll=0"},
		/* what a trial adds is nobody's conflict */
		{"panic=10", "panic=10",
		 "panic=10 railhead.slot=a railhead.trial=a " ENV_TRIAL_EXTRA, ""},
		{"panic=10", "panic=10",
		 "railhead.trial=a " ENV_TRIAL_EXTRA " panic=10 railhead.slot=a", ""},
		{"panic=10", "panic=10", "railhead.begun=1 panic=30 panic=10 railhead.slot=a", ""},
		{"panic=10", "panic=10", "panic=10 railhead.slot=a panic=30", "panic=30"},
		{"hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=4",
		 "hugepagesz=1G hugepages=2 hugepagesz=1G hugepages=4",
		 "hugepagesz=1024M hugepages=2"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_kargs struct kargs owned = {0}, wanted = {0}, c = {0};
		cleanup_free char *text = NULL;

		kargs_split(&owned, t[i].owned, NULL);
		kargs_split(&wanted, t[i].wanted, NULL);
		kargs_conflicts(&wanted, &owned, t[i].line, &c);
		text = kargs_line(&c);
		assert_string_equal(text, t[i].conflicts);
	}
}

static void test_predict(void **state)
{
	static const struct {
		const char *line, *owned, *wanted, *next;
	} t[] = {
		{"", "", "", ""},
		{"", "", "a=1", "a=1"},
		{" ro  quiet\n", "", "a=1 b", "ro quiet a=1 b"},
		/* where ours stood, not at the end */
		{"ro a=1 b railhead.slot=a quiet", "a=1 b", "c=2 d", "ro c=2 d quiet"},
		{"ro a=1 b railhead.slot=a quiet", "a=1 b", "", "ro quiet"},
		{"ro railhead.slot=b quiet", "", "c=2", "ro c=2 quiet"},
		/* a trial's own arguments go, the user's of the same text stay */
		{"panic=30 a=1 railhead.slot=b railhead.trial=b " ENV_TRIAL_EXTRA " panic=30",
		 "a=1", "a=2", "panic=30 a=2 panic=30"},
		{"a=1 railhead.slot=b railhead.trial=b panic=30 quiet", "a=1", "", "quiet"},
		{"a=1 railhead.slot=b railhead.trial=b", "a=1", "a=2", "a=2"},
		/* ... before ours, or, by an older snippet, behind them */
		{"panic=30 railhead.trial=b " ENV_TRIAL_EXTRA " a=1 railhead.slot=b panic=30",
		 "a=1", "a=2", "panic=30 a=2 panic=30"},
		{"railhead.trial=b panic=30 oops=panic a=1 railhead.slot=b", "a=1", "", ""},
		{"ro railhead.trial=b " ENV_TRIAL_OLDER " a=1 railhead.slot=b", "a=1", "a=2",
		 "ro a=2"},
		{"ro a=1 railhead.slot=b railhead.trial=b " ENV_TRIAL_OLDER " quiet", "a=1", "a=2",
		 "ro a=2 quiet"},
		{"railhead.trial=b panic=30 x panic=10 railhead.slot=b", "panic=10", "a", "x a"},
		/* ours are not known, or equal to what was added */
		{"railhead.trial=b " ENV_TRIAL_EXTRA " panic=10 railhead.slot=b", "", "",
		 "panic=10"},
		{"railhead.trial=b " ENV_TRIAL_EXTRA " panic=30 railhead.slot=b", "panic=30", "a=1",
		 "a=1"},
		{"railhead.trial=b " ENV_TRIAL_EXTRA " railhead.slot=b", "panic=30", "a=1", "a=1"},
		/* a boot that was counted */
		{"ro railhead.args a=1 railhead.slot=a x", "", "a=2", "ro a=2 x"},
		{"ro a=1 railhead.args railhead.slot=a x", "a=1", "a=2", "ro a=1 a=2 x"},
		{"panic=30 railhead.args panic=30 railhead.slot=a panic=30", "", "a",
		 "panic=30 a panic=30"},
		{"railhead.trial=b " ENV_TRIAL_EXTRA
		 " railhead.args panic=30 railhead.slot=b panic=30",
		 "panic=30", "a=1", "a=1 panic=30"},
		{"ro railhead.begun=1 panic=30 railhead.args a=1 railhead.slot=a x", "", "a=2",
		 "ro a=2 x"},
		{"railhead.args a railhead.slot=a ro railhead.args a railhead.slot=a", "", "b",
		 "b ro b"},
		/* older snippets' */
		{"ro railhead.begun=1 panic=30 a=1 railhead.slot=a x", "a=1", "a=2", "ro a=2 x"},
		{"railhead.begun=3 panic=30 railhead.slot=-a panic=30", "", "b", "b panic=30"},
		{"panic=30 railhead.begun=2 railhead.slot=a", "", "b", "panic=30 b"},
		/* the variable twice */
		{"railhead.begun=1 panic=30 a=1 railhead.slot=a ro railhead.begun=1 panic=30 a=1 "
		 "railhead.slot=a",
		 "a=1", "b", "b ro b"},
		/* no trial: panic=30 is the user's */
		{"a=1 railhead.slot=b panic=30", "a=1", "a=2", "a=2 panic=30"},
		/* equal to one of ours, elsewhere */
		{"a=1 ro a=1 railhead.slot=a a=1", "a=1", "c", "a=1 ro c a=1"},
		{"b a=1 b railhead.slot=a", "a=1 b", "c", "b c"},
		{"x y a=1 railhead.slot=a", "x a=1", "c", "x y c"},
		{"b a=1 a=1 railhead.slot=a", "a=1", "c", "b a=1 c"},
		/* a loader or kernel that left one out */
		{"ro a=1 c railhead.slot=a", "a=1 b c", "d", "ro d"},
		{"ro b railhead.slot=a", "a=1 b c", "d", "ro d"},
		/* nobody knows whose they are */
		{"ro a=1", "a=1", "a=1", "ro a=1 a=1"},
		/* as the kernel compares */
		{"intel-iommu=on railhead.slot=a", "intel_iommu=on", "x", "x"},
		/* the variable twice in the entry */
		{"a=1 railhead.slot=a ro a=1 railhead.slot=a", "a=1", "b", "b ro b"},
		/* the user's own arguments to railhead stay */
		{"railhead.profile=x a=1 railhead.slot=a", "a=1", "b", "railhead.profile=x b"},
		{"railhead.slot railhead.slotted=1", "", "b", "railhead.slot railhead.slotted=1 b"},
		/* quotes; what init gets */
		{"k=\"a b\" a=1 railhead.slot=a -- single", "a=1", "b", "k=\"a b\" b -- single"},
		{"ro -- single", "", "b", "ro -- single b"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_kargs struct kargs owned = {0}, wanted = {0};
		cleanup_free char *next = NULL;

		kargs_split(&owned, t[i].owned, NULL);
		kargs_split(&wanted, t[i].wanted, NULL);
		next = kargs_predict(t[i].line, &owned, &wanted);
		if (strcmp(next, t[i].next) != 0)
			fail_msg("after \"%s\" with \"%s\" for \"%s\": \"%s\", expected \"%s\"",
				 t[i].line, t[i].wanted, t[i].owned, next, t[i].next);
	}
}

static void test_check(void **state)
{
	static const char *const bad[] = {
		"",   "a b",	 "a=\"b\"",    "a='b'", "a=\\b",	   "a=$b",	   "#a",
		"--", "=a",	 "a=\xc3\xa9", "a\n",	"railhead.slot=a", "railhead=off", "*",
		"*a", "/boot/*", "(hd0)/*",    "a=`b`"};
	static const char *const good[] = {"quiet", "pci=config_acs=0000@01:00.0;1@02:00.0",
					   "isolcpus=2-47,50-95", "a=#b", "acpi_osi=!*"};
	struct err err;

	(void)state;
	for (size_t i = 0; i < array_len(bad); i++)
		assert_int_equal(karg_check(bad[i], &err), -EINVAL);
	for (size_t i = 0; i < array_len(good); i++)
		assert_int_equal(karg_check(good[i], &err), 0);
}

static void test_check_list(void **state)
{
	cleanup_kargs struct kargs many = {0}, dotted = {0}, longer = {0}, one = {0};
	char big[1002];
	struct err err;

	(void)state;
	for (int i = 0; i < 31; i++) {
		cleanup_free char *plain = xasprintf("k%d=1", i);
		cleanup_free char *param = xasprintf("m.k%d=1", i);

		assert_int_equal(kargs_check(&many, &err), 0);
		kargs_add(&many, plain, NULL);
		kargs_add(&dotted, param, NULL);
	}
	assert_int_equal(kargs_check(&many, &err), -E2BIG);
	assert_int_equal(kargs_check(&dotted, &err), 0);
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_int_equal(karg_check(big, &err), -EINVAL);
	big[ENV_SLOT_SIZE - 1000] = '\0';
	kargs_add(&longer, big + 1, NULL);
	assert_int_equal(kargs_check(&longer, &err), 0);
	memset(big, 'x', 1000);
	big[1000] = '\0';
	kargs_add(&longer, big, NULL);
	assert_int_equal(kargs_check(&longer, &err), 0); /* with the blank, all of the slot */
	kargs_add(&longer, "y", NULL);
	assert_int_equal(kargs_check(&longer, &err), -E2BIG);
	kargs_add(&one, "a b", "p.yaml:3");
	assert_int_equal(kargs_check(&one, &err), -EINVAL);
	assert_non_null(strstr(err.text, "p.yaml:3: "));
}

static void test_value_and_hash(void **state)
{
	cleanup_free char *v = kargs_value("a=1 railhead.slot=a x a=2", "a");
	cleanup_free char *flag = kargs_value("a=1 x", "x");
	char h1[KARGS_HASH_LEN + 1], h2[KARGS_HASH_LEN + 1];

	(void)state;
	assert_string_equal(v, "2");
	assert_string_equal(flag, "");
	assert_null(kargs_value("ab=1", "a"));
	kargs_hash_line("a=1 b", h1);
	kargs_hash_line("b a=1", h2);
	assert_int_equal(strlen(h1), KARGS_HASH_LEN);
	assert_string_not_equal(h1, h2);
}

/* What the line itself says of ours. */
static void test_between_marks(void **state)
{
	static const struct {
		const char *line, *ours; /* NULL: it does not tell */
	} t[] = {
		{"", NULL},
		{"root=x a=1", NULL},
		{"root=x a=1 railhead.slot=a", NULL},
		{"root=x railhead.args a=1 b railhead.slot=a quiet", "a=1 b"},
		{"root=x railhead.args railhead.slot=a", ""},
		{"railhead.args x railhead.slot=a root=x railhead.args a railhead.slot=a", "a"},
		{"root=x a=1 railhead.slot=a railhead.args", NULL},
		{"root=x railhead.args railhead.slot=-a", ""},
		{"root=x railhead.begun=1 panic=30 railhead.args panic=30 b railhead.slot=a",
		 "panic=30 b"},
		{"root=x railhead.trial=b " ENV_TRIAL_EXTRA
		 " railhead.args panic=10 railhead.slot=b",
		 "panic=10"},
		/* older snippets' */
		{"root=x railhead.begun=1 panic=30 a=1 b railhead.slot=a quiet", "a=1 b"},
		{"root=x railhead.begun=1 panic=30 panic=30 railhead.slot=a", "panic=30"},
		{"root=x railhead.trial=b " ENV_TRIAL_EXTRA " a=1 railhead.slot=b", "a=1"},
		{"root=x railhead.trial=b panic=30 rd.shell=0 a=1 railhead.slot=b", "a=1"},
		{"root=x railhead.trial=b " ENV_TRIAL_OLDER " panic=30 railhead.slot=b",
		 "panic=30"},
		{"root=x railhead.trial=b " ENV_TRIAL_EXTRA
		 " sysctl.kernel.hung_task_panic=1 railhead.slot=b",
		 "sysctl.kernel.hung_task_panic=1"},
		{"root=x railhead.trial=b " ENV_TRIAL_EXTRA " railhead.slot=b", ""},
		{"root=x railhead.begun=3 panic=30 railhead.slot=-a", ""},
		/* an older snippet's trial */
		{"root=x a=1 railhead.slot=b railhead.trial=b panic=30", NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_kargs struct kargs ours = {0};
		bool told = kargs_between_marks(t[i].line, &ours);
		cleanup_free char *line = kargs_line(&ours);

		if (told != (t[i].ours != NULL) || !streq(line, t[i].ours ? t[i].ours : ""))
			fail_msg("'%s': %d, '%s'", t[i].line, told, line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between_marks),  cmocka_unit_test(test_split),
		cmocka_unit_test(test_equal),	       cmocka_unit_test(test_has),
		cmocka_unit_test(test_missing),	       cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_conflicts),      cmocka_unit_test(test_predict),
		cmocka_unit_test(test_check),	       cmocka_unit_test(test_check_list),
		cmocka_unit_test(test_value_and_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
