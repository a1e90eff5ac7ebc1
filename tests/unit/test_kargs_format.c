/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "kargs/format.h"

static const struct karg_heading plain = {"p", "1.0", NULL};

/* The text, or NULL with the error in err. */
static char *formatted(enum karg_format format, const struct karg_heading *h,
		       const char *const *args, struct err *err)
{
	cleanup_kargs struct kargs l = {0};
	struct str out = {0};

	str_add(&out, "kept ");
	for (; *args; args++)
		kargs_add(&l, *args, NULL);
	if (kargs_format(&l, format, h, &out, err) == 0)
		return str_take(&out);
	assert_string_equal(str_get(&out), "kept "); /* all or nothing */
	str_free(&out);
	return NULL;
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_texts(void **state)
{
	static const struct karg_heading odd = {"p\n[x]", "1\"\x1b\xc3\xa9\r\n# 2", "aarch64"};
	static const struct {
		enum karg_format format;
		const struct karg_heading *h;
		const char *args[4];
		const char *text;
	} t[] = {
		{KARG_FORMAT_LINE, &plain, {NULL}, "\n"},
		{KARG_FORMAT_LINE, &odd, {"a=1", "b", "a=1"}, "a=1 b a=1\n"},
		{KARG_FORMAT_BOOTC,
		 &plain,
		 {NULL},
		 "# kernel arguments of railhead profile p 1.0\nkargs = []\n"},
		{KARG_FORMAT_BOOTC,
		 &odd,
		 {"a=\"x\\y\"", "b=\t\x7f", "c=\xc3\xa9"},
		 "# kernel arguments of railhead profile p?[x] 1\"?????# 2\n"
		 "kargs = [\"a=\\\"x\\\\y\\\"\", \"b=\\u0009\\u007F\", \"c=\xc3\xa9\"]\n"
		 "match-architectures = [\"aarch64\"]\n"},
		{KARG_FORMAT_BOOTC,
		 &plain,
		 {"hugepagesz=1G", "hugepages=1"},
		 "# kernel arguments of railhead profile p 1.0\n"
		 "kargs = [\"hugepagesz=1G\", \"hugepages=1\"]\n"},
		{KARG_FORMAT_UKI,
		 &plain,
		 {"a=%s", "b=#c;d"},
		 "# kernel arguments of railhead profile p 1.0\n[UKI]\nCmdline=a=%s b=#c;d\n"},
		{KARG_FORMAT_GRUBBY,
		 &plain,
		 {"crashkernel=1G,high", "a.b-c_d=!*"},
		 "# kernel arguments of railhead profile p 1.0\n"
		 "grubby --update-kernel=ALL --args='crashkernel=1G,high a.b-c_d=!*'\n"},
		{KARG_FORMAT_GRUBBY,
		 &plain,
		 {"pci=a", "quiet", "iommu=pt"},
		 "# kernel arguments of railhead profile p 1.0\n"
		 "# grubby removes the image's own values of: pci=, iommu=\n"
		 "grubby --update-kernel=ALL --args='pci=a quiet iommu=pt'\n"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = formatted(t[i].format, t[i].h, t[i].args, NULL);

		assert_non_null(text);
		assert_string_equal(text + strlen("kept "), t[i].text);
	}
}

static void test_refused(void **state)
{
	static const struct {
		enum karg_format format;
		const char *arg, *says;
	} t[] = {
		{KARG_FORMAT_UKI, "@x", "@x: ukify would read a file"},
		{KARG_FORMAT_UKI, "#x", "#x: ukify would read this argument and all that follow"},
		{KARG_FORMAT_GRUBBY, "console=tty0", "console=tty0: each console= counts"},
		{KARG_FORMAT_GRUBBY, "systemd.mask=a.service", "each systemd.mask= counts"},
		{KARG_FORMAT_GRUBBY, "a+b=1", "would read + in the name"},
		{KARG_FORMAT_GRUBBY, "*", "would read * in the name"},
		{KARG_FORMAT_GRUBBY, "a=b&c", "would not keep its &"},
		{KARG_FORMAT_GRUBBY, "a='b'", "would not keep its '"},
		{KARG_FORMAT_GRUBBY, "a=`b`", "would not keep its `"},
		{KARG_FORMAT_GRUBBY, "a=$b", "would not keep its $"},
		{KARG_FORMAT_GRUBBY, "a=b\\", "would not keep its \\"},
		{KARG_FORMAT_GRUBBY, "a=\"b\"", "would not keep its \""},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct err err = {0};

		assert_null(formatted(t[i].format, &plain, ARGS(t[i].arg, "quiet"), &err));
		assert_int_equal(err.code, -EINVAL);
		if (!strstr(err.text, t[i].says))
			fail_msg("%s: %s", t[i].arg, err.text);
		if (t[i].format == KARG_FORMAT_GRUBBY)
			assert_non_null(strstr(err.text, "/etc/kernel/cmdline"));
	}
}

static void test_parse(void **state)
{
	enum karg_format f = KARG_FORMAT_LINE;

	(void)state;
	assert_int_equal(karg_format_parse("grubby", &f), 0);
	assert_int_equal(f, KARG_FORMAT_GRUBBY);
	assert_int_equal(karg_format_parse("line", &f), 0);
	assert_int_equal(f, KARG_FORMAT_LINE);
	assert_int_equal(karg_format_parse("", &f), -EINVAL);
	assert_int_equal(karg_format_parse("UKI", &f), -EINVAL);
	assert_string_equal(karg_format_names, "line, bootc, uki, grubby");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
