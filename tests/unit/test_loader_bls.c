/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "loader/bls.h"

#define A "intel_iommu=on iommu=pt hugepagesz=1G hugepages=16"
#define B "iommu=pt"
#define EXTRA ENV_TRIAL_EXTRA
#define OLDER "panic=30 rd.shell=0 rd.emergency=reboot" /* an earlier snippet's */
#define V "$railhead_kargs"

static struct boot_env env(void)
{
	struct boot_env e = {.good = 'a', .try_ = ENV_NONE};

	strcpy(e.slot[0], A);
	strcpy(e.slot[1], B);
	return e;
}

static void test_counts(void **state)
{
	static const struct {
		const char *name;
		bool counts;
	} t[] = {
		{"0123-6.1.0-9.el9.x86_64.conf", true},
		{"a.conf", true},
		{"0123-0-rescue.conf", false},
		{"rescue-6.1.conf", false},
		{".conf", false},
		{".a.conf", false},
		{"a.conf.new", false},
		{"a.conf~", false},
		{"conf", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		if (bls_counts(t[i].name) != t[i].counts)
			fail_msg("%s", t[i].name);
}

static void test_is_grub(void **state)
{
	(void)state;
	assert_true(bls_is_grub("title x\ngrub_users $grub_users\n"));
	assert_true(bls_is_grub("grub_arg\t--unrestricted"));
	assert_true(bls_is_grub("# x\n  grub_class fedora\r\n"));
	assert_false(bls_is_grub("title grub_users\nlinux /v\noptions grub_class x\n"));
	assert_false(bls_is_grub("# grub_users x\n#grub_class y\n"));
	assert_false(bls_is_grub("grub_usersx y\n"));
	/* GRUB does not see these */
	assert_false(bls_is_grub("title x\n\ngrub_users x\n"));
	assert_false(bls_is_grub("grub_users\ngrub_class x\n"));
	assert_false(bls_is_grub(""));
}

static void test_judge(void **state)
{
	static const struct {
		const char *options, *kernelopts;
		enum bls_state is;
	} t[] = {
		{"ro " V, NULL, BLS_TAKES},
		{V, NULL, BLS_TAKES},
		{"ro\t" V "  quiet ", NULL, BLS_TAKES},
		{"ro", NULL, BLS_LACKS},
		/* neither expands to our arguments */
		{"ro ${railhead_kargs}", NULL, BLS_LACKS},
		{"ro \\" V, NULL, BLS_LACKS},
		{"ro \"" V "\"", NULL, BLS_LACKS},
		{"ro " V "_old", NULL, BLS_LACKS},
		/* for init, not for the kernel */
		{"ro -- " V, NULL, BLS_LACKS},
		{"ro " V " -- x", NULL, BLS_TAKES},
		{"ro " A " railhead.slot=a", NULL, BLS_FLAT},
		{"ro " A " railhead.slot=a " V, NULL, BLS_FLAT},
		{"ro -- railhead.slot=a", NULL, BLS_FLAT},
		{"ro xrailhead.slot=a railhead.profile=x " V, NULL, BLS_TAKES},
		{"$kernelopts", "ro", BLS_LACKS},
		{"$kernelopts", "ro " V, BLS_TAKES},
		{"$kernelopts", NULL, BLS_LACKS},
		{"-- $kernelopts", "ro " V, BLS_LACKS},
		{"$kernelopts " V, "ro iommu=pt railhead.slot=b", BLS_FLAT_KERNELOPTS},
		{"ro " V, "ro iommu=pt railhead.slot=b", BLS_TAKES},
		{"$kernelopts", "$kernelopts", BLS_LACKS},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		if (bls_judge_options(t[i].options, t[i].kernelopts) != t[i].is)
			fail_msg("case %zu", i);
	/* the first options line that GRUB sees */
	assert_int_equal(bls_judge("options ro\noptions " V "\n", NULL), BLS_LACKS);
	assert_int_equal(bls_judge("options " V "\r\noptions railhead.slot=a\r\n", NULL),
			 BLS_TAKES);
	assert_int_equal(bls_judge("title x\n\noptions " V "\n", NULL), BLS_NO_OPTIONS);
	assert_int_equal(bls_judge("options\noptions " V "\n", NULL), BLS_NO_OPTIONS);
	assert_int_equal(bls_judge("#options " V "\n", NULL), BLS_NO_OPTIONS);
	assert_int_equal(bls_judge("", NULL), BLS_NO_OPTIONS);
}

/* Options before and after; NULL: nothing is to be done. */
static void test_mend_options(void **state)
{
	static const struct {
		const char *before, *after, *taken;
	} t[] = {
		/* what 20-grub.install writes from a cmdline without us */
		{"root=x ro", "root=x ro " V, ""},
		{"root=x ro " V, NULL, NULL},
		{V " root=x ro", NULL, NULL},
		{"root=x ro " A " railhead.slot=a", "root=x ro " V, A " railhead.slot=a"},
		{"root=x ro " A " railhead.slot=a quiet", "root=x ro quiet " V,
		 A " railhead.slot=a"},
		/* a trial's additions go with its marker, and only then */
		{"root=x " A " railhead.slot=a railhead.trial=a " EXTRA, "root=x " V,
		 A " railhead.slot=a railhead.trial=a " EXTRA},
		{"root=x panic=30 " B " railhead.slot=b railhead.trial=b " EXTRA " quiet",
		 "root=x panic=30 quiet " V, B " railhead.slot=b railhead.trial=b " EXTRA},
		{"root=x " B " railhead.slot=b " EXTRA, "root=x " EXTRA " " V,
		 B " railhead.slot=b"},
		{"root=x " B " railhead.slot=b railhead.trial=b " OLDER " quiet", "root=x quiet " V,
		 B " railhead.slot=b railhead.trial=b " OLDER},
		{"root=x railhead.trial=b " ENV_TRIAL_OLDER " " B
		 " railhead.slot=b sysctl.kernel.hung_task_panic=1",
		 "root=x sysctl.kernel.hung_task_panic=1 " V,
		 "railhead.trial=b " ENV_TRIAL_OLDER " " B " railhead.slot=b"},
		{"root=x railhead.trial=b " EXTRA " " B
		 " railhead.slot=b sysctl.kernel.hung_task_panic=1",
		 "root=x sysctl.kernel.hung_task_panic=1 " V,
		 "railhead.trial=b " EXTRA " " B " railhead.slot=b"},
		/* ... before ours; a count's, too */
		{"root=x panic=30 railhead.trial=b " EXTRA " " B " railhead.slot=b quiet panic=30",
		 "root=x panic=30 quiet panic=30 " V,
		 "railhead.trial=b " EXTRA " " B " railhead.slot=b"},
		{"root=x railhead.args x y=1 railhead.slot=a quiet", "root=x quiet " V,
		 "railhead.args x y=1 railhead.slot=a"},
		{A " root=x railhead.trial=b " EXTRA " railhead.args " A
		   " panic=30 railhead.slot=z",
		 A " root=x " V,
		 "railhead.trial=b " EXTRA " railhead.args " A " panic=30 railhead.slot=z"},
		{"ro railhead.args a railhead.slot=a ro railhead.args b railhead.slot=b",
		 "ro ro " V, "railhead.args a railhead.slot=a railhead.args b railhead.slot=b"},
		{"root=x panic=30 railhead.begun=1 panic=30 " A " railhead.slot=a quiet",
		 "root=x panic=30 quiet " V, "railhead.begun=1 panic=30 " A " railhead.slot=a"},
		/* ... not in one piece any more */
		{"panic=30 " B " railhead.slot=b railhead.trial=b rd.shell=0 quiet panic=30",
		 "panic=30 quiet " V, B " railhead.slot=b railhead.trial=b rd.shell=0 panic=30"},
		/* the user's own, equal to ours, stands elsewhere */
		{"iommu=pt ro " B " railhead.slot=b", "iommu=pt ro " V, B " railhead.slot=b"},
		{"ro " B " railhead.slot=b iommu=pt", "ro iommu=pt " V, B " railhead.slot=b"},
		{"iommu=pt iommu=pt railhead.slot=b", "iommu=pt " V, B " railhead.slot=b"},
		/* one of ours is gone or moved: each other one once, from the marker on back */
		{"ro intel_iommu=on hugepagesz=1G hugepages=16 railhead.slot=a", "ro " V,
		 "intel_iommu=on hugepagesz=1G hugepages=16 railhead.slot=a"},
		{"hugepages=16 ro hugepages=16 intel_iommu=on railhead.slot=a",
		 "hugepages=16 ro " V, "hugepages=16 intel_iommu=on railhead.slot=a"},
		{"ro intel_iommu=on,sm_on railhead.slot=a", "ro intel_iommu=on,sm_on " V,
		 "railhead.slot=a"},
		/* flattened twice */
		{"ro " B " railhead.slot=b " B " railhead.slot=b", "ro " V,
		 B " railhead.slot=b " B " railhead.slot=b"},
		{"ro " A " railhead.slot=a iommu=pt quiet railhead.slot=b", "ro quiet " V,
		 A " railhead.slot=a iommu=pt railhead.slot=b"},
		{"iommu=pt railhead.slot=a ro railhead.slot=b", "ro " V,
		 "iommu=pt railhead.slot=a railhead.slot=b"},
		/* beside the variable, which stays where it is */
		{"ro " V " " B " railhead.slot=b quiet", "ro " V " quiet", B " railhead.slot=b"},
		{"ro " V " quiet " V, "ro " V " quiet", V},
		{"ro ${railhead_kargs} quiet", "ro quiet " V, "${railhead_kargs}"},
		/* nothing is for init that was not */
		{"ro -- x", "ro " V " -- x", ""},
		{"ro -- x " V, "ro " V " -- x", V},
		{"--", V " --", ""},
		/* nobody's arguments but the user's */
		{"ro railhead.profile=x railhead=off", "ro railhead.profile=x railhead=off " V, ""},
		{"ro railhead.trial=a " EXTRA, "ro " V, "railhead.trial=a " EXTRA},
		{"railhead.slot=a", V, "railhead.slot=a"},
		/* a marker of no slot */
		{"ro " B " railhead.slot= railhead.slot=c railhead.slot=ab", "ro " B " " V,
		 "railhead.slot= railhead.slot=c railhead.slot=ab"},
		/* quotes are kept as they are */
		{"x=\"a  b\" \"y= " B " \" railhead.slot=b", "x=\"a  b\" \"y= " B " \" " V,
		 "railhead.slot=b"},
		{"x=\"a", NULL, NULL},
		{"ro " B " railhead.slot=b x=\"a", NULL, NULL},
		{"ro\t\tquiet  ", "ro quiet " V, ""},
	};
	struct boot_env e = env();

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *before =
			xasprintf("title x\noptions %s\ngrub_arg --unrestricted\n", t[i].before);
		cleanup_free char *after =
			t[i].after ? xasprintf("title x\noptions %s\ngrub_arg --unrestricted\n",
					       t[i].after)
				   : NULL;
		cleanup_bls_mended struct bls_mended m = {0}, again = {0};

		if (bls_mend(before, &e, NULL, &m) != (after != NULL))
			fail_msg("case %zu: %s", i, m.text);
		if (!after)
			continue;
		if (!streq(m.text, after))
			fail_msg("case %zu: %s", i, m.text);
		if (!streq(m.taken, t[i].taken))
			fail_msg("case %zu: took '%s'", i, m.taken);
		if (bls_mend(m.text, &e, NULL, &again))
			fail_msg("case %zu: again: %s", i, again.text);
		assert_int_equal(bls_judge(m.text, NULL), BLS_TAKES);
	}
}

/* Every other byte of the file stays. */
static void test_mend_file(void **state)
{
	static const struct {
		const char *before, *after;
	} t[] = {
		{"# c\r\n  title  x \r\n\toptions \t ro\r\ninitrd /i $tuned_initrd\r\n",
		 "# c\r\n  title  x \r\n\toptions \t ro " V "\r\ninitrd /i $tuned_initrd\r\n"},
		{"options ro", "options ro " V},
		/* only the first counts, so only it gets the variable */
		{"options ro\noptions quiet\n", "options ro " V "\noptions quiet\n"},
		{"options ro " V "\noptions " B " railhead.slot=b x\n",
		 "options ro " V "\noptions x\n"},
		/* what is left empty would hide the rest of the entry from GRUB */
		{"options ro\noptions " V "\nlinux /v\n", "options ro " V "\nlinux /v\n"},
		/* what GRUB does not see is not ours to mend; no line comes from nothing */
		{"title x\nlinux /v\n", NULL},
		{"title x\n\noptions ro\n", NULL},
		{"options\noptions ro\n", NULL},
		{"optionsx ro\n", NULL},
		{"", NULL},
	};
	struct boot_env e = env();

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_bls_mended struct bls_mended m = {0};

		if (bls_mend(t[i].before, &e, NULL, &m) != (t[i].after != NULL) ||
		    (t[i].after && !streq(m.text, t[i].after)))
			fail_msg("case %zu: %s", i, m.text ? m.text : "(nothing)");
	}
}

/* What a slot gave is not known: the marker goes, and it is said. */
static void test_mend_unknown(void **state)
{
	cleanup_bls_mended struct bls_mended none = {0}, known = {0}, other = {0};
	struct boot_env e = env();

	(void)state;
	assert_true(bls_mend("options ro " B " railhead.slot=b\n", NULL, NULL, &none));
	assert_string_equal(none.text, "options ro " B " " V "\n");
	assert_true(none.unknown);
	assert_true(bls_mend("options ro " B " railhead.slot=b\n", &e, NULL, &known));
	assert_false(known.unknown);
	assert_true(bls_mend("options ro " B " railhead.slot=z\n", &e, NULL, &other));
	assert_true(other.unknown);
}

/* RHEL 8: what $kernelopts brings is not brought twice. */
static void test_mend_kernelopts(void **state)
{
	cleanup_bls_mended struct bls_mended plain = {0}, both = {0};
	struct boot_env e = env();

	(void)state;
	assert_true(bls_mend("options $kernelopts $tuned_params\n", &e, "root=x", &plain));
	assert_string_equal(plain.text, "options $kernelopts $tuned_params " V "\n");
	assert_false(bls_mend("options $kernelopts\n", &e, "root=x " V, &both));
	assert_true(bls_mend("options $kernelopts " V "\n", &e, "root=x " V, &both));
	assert_string_equal(both.text, "options $kernelopts\n");
	assert_false(both.added);
}

/* Without railhead: the variable goes as well, and nothing takes its place. */
static void test_clear(void **state)
{
	static const struct {
		const char *before, *after;
	} t[] = {
		{"title x\noptions ro " V "\nlinux /v\n", "title x\noptions ro\nlinux /v\n"},
		{"options ro " B " railhead.slot=b quiet\n", "options ro quiet\n"},
		{"options ro ${railhead_kargs} " V " -- " V " x\n", "options ro -- x\n"},
		{"options $kernelopts " V "\n", "options $kernelopts\n"},
		{"options " V "\nlinux /v\n", "linux /v\n"},
		{"options ro quiet\n", NULL},
		{"options ro \\" V "\n", NULL},
		{"options ro " V " x=\"a\n", NULL},
	};
	struct boot_env e = env();

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_bls_mended struct bls_mended m = {0};

		if (bls_clear(t[i].before, &e, &m) != (t[i].after != NULL) ||
		    (t[i].after && (!streq(m.text, t[i].after) || m.added)))
			fail_msg("case %zu: %s", i, m.text ? m.text : "(nothing)");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),		cmocka_unit_test(test_is_grub),
		cmocka_unit_test(test_judge),		cmocka_unit_test(test_mend_options),
		cmocka_unit_test(test_mend_file),	cmocka_unit_test(test_mend_unknown),
		cmocka_unit_test(test_mend_kernelopts), cmocka_unit_test(test_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
