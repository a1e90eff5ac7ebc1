/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which record is of this boot and this user space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/status.h"
#include "tree.h"

#define BOOT "11111111-2222-3333-4444-555555555555"
#define RECORD                                                                                    \
	"{\"schema\": 2, \"boot_id\": \"" BOOT                                                    \
	"\", \"user_space\": \"%s\", \"verdict\": \"ready\", "                                    \
	"\"admit\": true, \"profile\": {\"digest\": \"x\"}, \"admission\": {\"until_usec\": 1}, " \
	"\"maintenance\": {\"until_usec\": 1}, "                                                  \
	"\"stages\": {\"initrd\": {\"counts\": {}}, \"devices\": {\"counts\": {}}}}"

static void test_user_space(void **state)
{
	static const struct {
		const char *was, *is, *then; /* then: what the record says after it */
		bool kept;
	} t[] = {
		{"soft-reboots 0", "soft-reboots 0", "soft-reboots 0", true},
		{"soft-reboots 0", "soft-reboots 1", "soft-reboots 1", false},
		{"began 4", "began 5", "began 5", false},
		{"", "soft-reboots 0", "soft-reboots 0", true}, /* the initramfs wrote it */
		{"soft-reboots 1", "", "soft-reboots 1", true}, /* an ordinary user reads it */
		{"", "", "", true},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf(RECORD, t[i].was);
		struct status s;

		status_parse(&s, text, BOOT, t[i].is);
		assert_string_equal(or_empty(s.record.user_space), t[i].then);
		assert_int_equal(s.new_user_space, !t[i].kept);
		assert_int_equal(record_admits(&s.record), t[i].kept);
		assert_int_equal(!s.record.judged, !t[i].kept);
		assert_true(s.record.stage[STAGE_INITRD].ran);
		assert_int_equal(s.record.stage[STAGE_DEVICES].ran, t[i].kept);
		assert_int_equal(s.record.admission.until != 0, t[i].kept);
		assert_int_equal(s.record.maintenance.until != 0, t[i].kept);
		status_free(&s);
	}
}

static void test_initramfs(void **state)
{
	cleanup_free char *text = xasprintf(RECORD, "began 4");
	struct tmp *t = *state;
	struct status s;

	tmp_write(t, "proc/sys/kernel/random/boot_id", BOOT "\n");
	tmp_write(t, "run/railhead/status.json", text);
	tmp_write(t, "run/railhead/ready", "");
	t->root.live = true; /* and no service manager is asked */
	status_load_in_initramfs(&t->root, &s);
	assert_null(s.record.user_space);
	assert_true(s.record.stage[STAGE_INITRD].ran);
	assert_false(s.new_user_space);
	assert_true(s.unpublished);
	status_free(&s);
}

static void test_other_boot(void **state)
{
	static const char *const texts[] = {NULL, "", "{", "[]", "3", "{\"verdict\": \"ready\"}"};
	cleanup_free char *text = xasprintf(RECORD, "");
	struct status s;

	(void)state;
	for (size_t i = 0; i < array_len(texts); i++) {
		status_parse(&s, texts[i], BOOT, "");
		assert_true(!s.record.judged);
		assert_false(record_admits(&s.record));
		status_free(&s);
	}
	status_parse(&s, text, "22222222-2222-3333-4444-555555555555", "");
	assert_true(!s.record.judged);
	assert_false(s.record.stage[STAGE_INITRD].ran);
	status_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_space),
		cmocka_unit_test_setup_teardown(test_initramfs, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_other_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
