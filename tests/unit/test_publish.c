/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Prometheus and Kubernetes are told of the verdict, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/publish.h"
#include "engine/status.h"
#include "sys/read.h"
#include "record_of.h"
#include "tree.h"

#define BOOT_ID "proc/sys/kernel/random/boot_id"
#define CMDLINE "proc/cmdline"
#define READY "run/railhead/ready"
#define STATUS "run/railhead/status.json"
#define METRICS_DIR "var/lib/prometheus/node-exporter"
#define METRICS METRICS_DIR "/railhead.prom"
#define FEATURES_DIR "etc/kubernetes/node-feature-discovery/features.d"
#define FEATURES FEATURES_DIR "/railhead"

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0) {
		tmp_write(*state, BOOT_ID, "11111111-2222-3333-4444-555555555555\n");
		tmp_write(*state, CMDLINE, "root=/dev/vda1 ro\n");
	}
	return r;
}

static int setup_dirs(void **state)
{
	int r = setup(state);

	if (r == 0) {
		tree_dir(*state, METRICS_DIR);
		tree_dir(*state, FEATURES_DIR);
	}
	return r;
}

static struct profile profile = {.name = (char *)"sku-1.x_y",
				 .version = (char *)"1.2.3",
				 .file = (char *)"/etc/railhead/profiles/sku.yaml",
				 .digest = "abcdef0123456789"};

static char last_warning[ERR_TEXT_MAX];

/* Stores a record with that verdict; returns how many warnings there are. */
static size_t store(struct tmp *t, enum verdict_kind kind, bool admit)
{
	struct verdict v;
	struct status s;
	size_t n;

	verdict_simple(&v, kind, FAULT_NIC_CARRIER, "the reason");
	v.admit = admit;
	status_load(&t->root, &s);
	record_set_profile(&s.record, &profile);
	record_set_verdict(&s.record, &v);
	assert_int_equal(status_admit(&t->root, &s, &t->err), 0);
	n = s.warnings.n;
	for (size_t i = 0; i < n; i++) {
		const char *file = i ? FEATURES : METRICS;

		assert_text(s.warnings.v[i], file);
		assert_int_equal(!!strstr(s.warnings.v[i], "may be out of date"),
				 tree_has(t, file));
		snprintf(last_warning, sizeof(last_warning), "%s", s.warnings.v[i]);
	}
	verdict_free(&v);
	status_free(&s);
	return n;
}

static void withdraw(struct tmp *t, bool unpublished)
{
	struct status s;

	status_load(&t->root, &s);
	s.unpublished = unpublished;
	assert_int_equal(status_withdraw(&t->root, &s, &t->err), 0);
	assert_int_equal(s.warnings.n, 0);
	status_free(&s);
}

/* Only a label that says ready lapses. */
static const char *without_expiry(const char *text, bool ready)
{
	if (!ready)
		return text;
	assert_true(str_starts(text, "# +expiry-time=20"));
	return strchr(text, '\n') + 1;
}

#define FAULT_LABELS "railhead.io/fault=RH-NIC-CARRIER\nrailhead.io/action=reseat\n"
#define FAULT_METRIC \
	"\nrailhead_fault{code=\"RH-NIC-CARRIER\",action=\"reseat\",on_fail=\"block\"} 1\n"

/* "waiting" is what others see of a record that admits work while a judgement is under way. */
static void assert_published(const struct tmp *t, bool ready, const char *verdict)
{
	bool admit = ready || streq(verdict, "waiting");
	cleanup_free char *metric = xasprintf("\nrailhead_ready %d\n", ready);
	cleanup_free char *features =
		xasprintf("railhead.io/ready=%s\nrailhead.io/verdict=%s\n"
			  "railhead.io/profile=sku-1.x_y\n%s",
			  ready ? "true" : "false", verdict, admit ? "" : FAULT_LABELS);
	cleanup_free char *info =
		xasprintf("\nrailhead_info{profile=\"sku-1.x_y\",version=\"1.2.3\","
			  "verdict=\"%s\",boot_id=\"",
			  verdict);

	assert_text(tree_text(t, METRICS), metric);
	assert_text(tree_text(t, METRICS), info);
	assert_text(tree_text(t, METRICS), FAULT_METRIC);
	assert_string_equal(without_expiry(tree_text(t, FEATURES), ready), features);
}

static struct stat stat_of(const struct tmp *t, const char *name)
{
	struct stat st;

	assert_int_equal(lstat(tmp_path(t, name), &st), 0);
	return st;
}

static int count_files(const struct tmp *t, const char *dir)
{
	cleanup_strv struct strv names = {0};

	assert_int_equal(read_dir(&t->root, &names, NULL, "%s", dir), 0);
	return (int)names.n;
}

/* --- texts ----------------------------------------------------------------------------- */

static void test_metrics_text(void **state)
{
	struct record r = record_of(
		"{\"verdict\": \"ready\", \"admit\": true, \"profile\": {\"name\": "
		"\"a\\\"b\\\\c\\nd\","
		" \"version\": \"\"}, \"last_look\": {\"at_usec\": 1, \"unix_time\": 1790000000}, "
		"\"stages\": {"
		/* the gate looked after early, and a stage by hand after the gate */
		"\"gate\": {\"started_usec\": 20, \"changes\": [{\"id\": \"x\", \"state\": "
		"\"same\"},"
		" {\"id\": \"y\", \"state\": \"same\"}, {\"id\": \"z\", \"state\": \"waits\"}]},"
		"\"early\": {\"started_usec\": 10, \"changes\": [{\"id\": \"x\", \"state\": "
		"\"set\"}]},"
		"\"devices\": {\"started_usec\": 30, \"changes\": [{\"id\": \"y\", \"state\":"
		" \"failed\"}]}}}");
	cleanup_free char *text = publish_metrics(&r, true, true);

	(void)state;
	assert_string_equal(
		text,
		"# HELP railhead_ready Whether railhead admits work (/run/railhead/ready "
		"exists).\n"
		"# TYPE railhead_ready gauge\n"
		"railhead_ready 1\n"
		"# HELP railhead_admitted_by_hand Whether work was admitted by hand, against the "
		"verdict.\n"
		"# TYPE railhead_admitted_by_hand gauge\n"
		"railhead_admitted_by_hand 0\n"
		"# HELP railhead_maintenance Whether a person has announced work on the node, so "
		"that nobody need be called.\n"
		"# TYPE railhead_maintenance gauge\n"
		"railhead_maintenance 0\n"
		"# HELP railhead_info The profile of this boot and its verdict; always 1.\n"
		"# TYPE railhead_info gauge\n"
		"railhead_info{profile=\"a\\\"b\\\\c\\nd\",version=\"\",verdict=\"ready\",boot_id="
		"\"b\"} 1\n"
		"# HELP railhead_recheck_interval_seconds Time from one look at the node to the "
		"next; 0: railhead.conf says recheck: off.\n"
		"# TYPE railhead_recheck_interval_seconds gauge\n"
		"railhead_recheck_interval_seconds 300\n"
		"# HELP railhead_looked_timestamp_seconds Time of the last look at the node.\n"
		"# TYPE railhead_looked_timestamp_seconds gauge\n"
		"railhead_looked_timestamp_seconds 1790000000\n"
		"# HELP railhead_changes Changes of the profile, by their last known state.\n"
		"# TYPE railhead_changes gauge\n"
		"railhead_changes{state=\"same\"} 1\n"
		"railhead_changes{state=\"differs\"} 0\n"
		"railhead_changes{state=\"waits\"} 1\n"
		"railhead_changes{state=\"set\"} 0\n"
		"railhead_changes{state=\"failed\"} 1\n"
		"railhead_changes{state=\"unsupported\"} 0\n");
	record_free(&r);
}

/* Every figure of the gate, in base units; those of one name together. */
static void test_figures(void **state)
{
	struct record r = record_of(
		"{\"verdict\": \"ready\", \"admit\": true, \"measurements\": ["
		"{\"id\": \"gate/memory/node0\", \"check\": \"memory\", \"state\": \"same\","
		" \"on_fail\": \"block\", \"readings\": {\"min\": 211400000000.0}},"
		"{\"id\": \"gate/near/node0\", \"check\": \"near\", \"state\": \"slow\","
		" \"on_fail\": \"block\", \"readings\": {\"max\": 84.25}},"
		"{\"id\": \"gate/rails/0000:3b:00.0/x\", \"check\": \"rails\", \"state\": \"same\","
		" \"on_fail\": \"block\", \"readings\": {\"min_messages\": 2130000.0,"
		" \"min\": 48000000000.0}},"
		"{\"id\": \"gate/gpus\", \"check\": \"gpus\", \"state\": \"same\","
		" \"on_fail\": \"block\", \"readings\": {\"faults\": 0.0}}]}");
	cleanup_free char *text = publish_metrics(&r, true, true);
	const char *at = strstr(text, "# HELP railhead_gate");

	(void)state;
	assert_non_null(at);
	assert_string_equal(
		at, "# HELP railhead_gate_rate_bytes_per_second Rate that the gate measured last.\n"
		    "# TYPE railhead_gate_rate_bytes_per_second gauge\n"
		    "railhead_gate_rate_bytes_per_second{check=\"memory\",member=\"node0\",key="
		    "\"min\"} "
		    "2.114e+11\n"
		    "railhead_gate_rate_bytes_per_second{check=\"rails\",member=\"0000:3b:00.0/x\","
		    "key=\"min\"} 4.8e+10\n"
		    "# HELP railhead_gate_latency_seconds Latency that the gate measured last.\n"
		    "# TYPE railhead_gate_latency_seconds gauge\n"
		    "railhead_gate_latency_seconds{check=\"near\",member=\"node0\",key=\"max\"} "
		    "8.425e-08\n"
		    "# HELP railhead_gate_messages_per_second Rate of small messages that the gate "
		    "measured last.\n"
		    "# TYPE railhead_gate_messages_per_second gauge\n"
		    "railhead_gate_messages_per_second{check=\"rails\",member=\"0000:3b:00.0/x\","
		    "key=\"min_messages\"} 2.13e+06\n"
		    "# HELP railhead_gate_faults Faults that a check of the gate found last.\n"
		    "# TYPE railhead_gate_faults gauge\n"
		    "railhead_gate_faults{check=\"gpus\",member=\"gate/gpus\",key=\"faults\"} 0\n");
	record_free(&r);
}

/* Only while the ready file is there, and only against the verdict. */
static void test_by_hand(void **state)
{
	static const struct {
		const char *admit;
		bool ready, by_hand;
	} t[] = {{"false", true, true}, {"false", false, false}, {"true", true, false}};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("{\"verdict\": \"blocked\", \"admit\": %s, "
						    "\"admission\": {\"until_usec\": 1}}",
						    t[i].admit);
		struct record r = record_of(text);
		cleanup_free char *metrics = publish_metrics(&r, t[i].ready, true);
		cleanup_free char *features = publish_features(&r, t[i].ready, 0);

		assert_int_equal(!!strstr(metrics, "\nrailhead_admitted_by_hand 1\n"),
				 t[i].by_hand);
		assert_int_equal(!!strstr(features, "railhead.io/admitted-by-hand=true\n"),
				 t[i].by_hand);
		assert_non_null(strstr(features, "railhead.io/verdict=blocked\n"));
		record_free(&r);
	}
}

static void test_feature_values(void **state)
{
#define A62 "a2345678901234567890123456789012345678901234567890123456789012"
	static const struct {
		const char *name;
		bool label;
	} t[] = {
		{"a", true},	   {"a.b_c-D9", true}, {A62 "3", true}, {A62 "34", false},
		{"", false},	   {"a b", false},     {"-a", false},	{"a.", false},
		{"a/b", false},	   {"a=b", false},     {"ä", false},	{"a\nb", false},
		{"a\\\"b", false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct record r = record_of("{\"verdict\": \"blocked\"}");
		struct profile named = {.name = (char *)t[i].name, .file = (char *)"f"};
		cleanup_free char *text = NULL;
		cleanup_free char *want =
			xasprintf("railhead.io/ready=false\nrailhead.io/verdict=blocked\n%s%s%s",
				  t[i].label ? "railhead.io/profile=" : "",
				  t[i].label ? t[i].name : "", t[i].label ? "\n" : "");

		record_set_profile(&r, &named);
		text = publish_features(&r, false, 0);
		assert_string_equal(text, want);
		record_free(&r);
	}
}

/* Nothing is known yet, or the record holds values of the wrong sort. */
static void test_texts_of_little(void **state)
{
	static const char *const texts[] = {
		"{}", "{\"verdict\": 1, \"admit\": \"yes\", \"profile\": [], \"stages\": 3}",
		"{\"stages\": {\"early\": 7, \"gate\": {\"changes\": {}}}}"};

	(void)state;
	for (size_t i = 0; i < array_len(texts); i++) {
		struct record r = record_of(texts[i]);
		cleanup_free char *metrics = publish_metrics(&r, false, true);
		cleanup_free char *features = publish_features(&r, false, 0);

		assert_text(metrics, "railhead_ready 0\n");
		assert_text(metrics,
			    "{profile=\"\",version=\"\",verdict=\"waiting\",boot_id=\"b\"} 1\n");
		assert_null(strstr(metrics, "railhead_looked"));
		assert_text(metrics, "railhead_changes{state=\"same\"} 0\n");
		assert_string_equal(features,
				    "railhead.io/ready=false\nrailhead.io/verdict=waiting\n");
		record_free(&r);
	}
}

/* --- files ----------------------------------------------------------------------------- */

static void test_follow_ready(void **state)
{
	struct tmp *t = *state;
	mode_t mask = umask(077);

	assert_int_equal(store(t, VERDICT_READY, true), 0);
	umask(mask);
	assert_true(tree_has(t, READY));
	assert_published(t, true, "ready");
	assert_int_equal(stat_of(t, METRICS).st_mode, S_IFREG | 0644);
	assert_int_equal(stat_of(t, FEATURES).st_mode, S_IFREG | 0644);
	assert_int_equal(count_files(t, METRICS_DIR), 1);
	assert_int_equal(count_files(t, FEATURES_DIR), 1);
	/* judged anew: the record still says ready */
	withdraw(t, false);
	assert_published(t, false, "waiting");
	assert_int_equal(store(t, VERDICT_DEGRADED, true), 0);
	assert_published(t, true, "degraded");
	assert_int_equal(store(t, VERDICT_LAPSED, false), 0);
	assert_published(t, false, "lapsed");
	assert_int_equal(store(t, VERDICT_BLOCKED, false), 0);
	assert_published(t, false, "blocked");
	withdraw(t, false);
	assert_published(t, false, "blocked");
}

static void test_equal_is_left_alone(void **state)
{
	struct tmp *t = *state;
	ino_t metrics, features;

	for (int admit = 0; admit < 2; admit++) {
		enum verdict_kind kind = admit ? VERDICT_READY : VERDICT_BLOCKED;

		store(t, kind, admit);
		metrics = stat_of(t, METRICS).st_ino;
		features = stat_of(t, FEATURES).st_ino;
		store(t, kind, admit);
		if (!admit)
			withdraw(t, false);
		assert_int_equal(stat_of(t, METRICS).st_ino, metrics);
		assert_int_equal(stat_of(t, FEATURES).st_ino, features);
	}
	/* what another has made of it is not equal */
	assert_int_equal(chmod(tmp_path(t, METRICS), 0600), 0);
	tmp_write(t, FEATURES, "railhead.io/ready=true");
	store(t, VERDICT_READY, true);
	assert_int_equal(stat_of(t, METRICS).st_mode, S_IFREG | 0644);
	assert_published(t, true, "ready");
}

static void test_absent_directory(void **state)
{
	struct tmp *t = *state;

	assert_int_equal(store(t, VERDICT_READY, true), 0);
	withdraw(t, false);
	assert_false(tree_has(t, "var"));
	assert_false(tree_has(t, "etc"));
	/* one without the other; a file in place of a directory is none */
	tree_dir(t, METRICS_DIR);
	tmp_write(t, "etc/kubernetes", "");
	assert_int_equal(store(t, VERDICT_READY, true), 0);
	assert_text(tree_text(t, METRICS), "\nrailhead_ready 1\n");
}

/* Not followed, not waited for. */
static void test_link_or_pipe(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "etc/passwd", "root\n");
	tree_link(t, METRICS, "/etc/passwd");
	tree_link(t, FEATURES_DIR "/.railhead.tmp", "/etc/passwd");
	assert_int_equal(mkfifo(tmp_path(t, FEATURES), 0644), 0);
	assert_int_equal(store(t, VERDICT_READY, true), 0);
	assert_published(t, true, "ready");
	assert_true(S_ISREG(stat_of(t, METRICS).st_mode));
	assert_string_equal(tree_text(t, "etc/passwd"), "root\n");
}

static void test_unwritable_only_warns(void **state)
{
	struct tmp *t = *state;

	tree_dir(t, METRICS);
	tree_dir(t, FEATURES);
	assert_int_equal(store(t, VERDICT_READY, true), 2);
	assert_text(tree_text(t, STATUS), "ready");
	assert_string_equal(tree_text(t, READY), "ready abcdef0123456789\n");
	/* withdrawn and published in one: each file is named once */
	assert_int_equal(store(t, VERDICT_BLOCKED, false), 2);
	assert_false(tree_has(t, READY));
	assert_int_equal(count_files(t, METRICS_DIR), 1);
	assert_int_equal(count_files(t, FEATURES_DIR), 1);
}

/* One warning, and the file is as it was; the other reader's file is written. */
static void assert_refused(struct tmp *t, const char *why)
{
	cleanup_free char *before = tree_has(t, METRICS) ? xstrdup(tree_text(t, METRICS)) : NULL;
	cleanup_free char *features = NULL;

	for (int admit = 1; admit >= 0; admit--) {
		assert_int_equal(store(t, admit ? VERDICT_READY : VERDICT_BLOCKED, admit), 1);
		assert_int_equal(tree_has(t, METRICS), before != NULL);
		if (before)
			assert_string_equal(tree_text(t, METRICS), before);
		free(features);
		features = xasprintf("railhead.io/ready=%s\n", admit ? "true" : "false");
		assert_text(tree_text(t, FEATURES), features);
	}
	assert_text(last_warning, why);
}

static void set_mode(const struct tmp *t, const char *name, mode_t mode)
{
	assert_int_equal(chmod(tmp_path(t, name), mode), 0);
}

/* Whoever can put a link in the place of a directory would have root write elsewhere. */
static void test_directory_of_others(void **state)
{
	static const char *const dirs[] = {METRICS_DIR, "var/lib/prometheus", "var"};
	static const mode_t shared[] = {0775, 0757, 01777};
	struct tmp *t = *state;

	for (int stale = 0; stale < 2; stale++) {
		for (size_t i = 0; i < array_len(dirs); i++) {
			cleanup_free char *mode = xasprintf(
				"/%s is writable by users other than root: run chmod go-w /%s",
				dirs[i], dirs[i]);
			cleanup_free char *owner = xasprintf(
				"/%s belongs to user 1234, not to root: run chown root /%s",
				dirs[i], dirs[i]);

			for (size_t m = 0; m < array_len(shared); m++) {
				set_mode(t, dirs[i], shared[m]);
				assert_refused(t, mode);
			}
			set_mode(t, dirs[i], 0755);
			if (geteuid() == 0) {
				assert_int_equal(chown(tmp_path(t, dirs[i]), 1234, 0), 0);
				assert_refused(t, owner);
				assert_int_equal(chown(tmp_path(t, dirs[i]), 0, 0), 0);
			}
		}
		assert_int_equal(store(t, VERDICT_READY, true), 0);
		assert_published(t, true, "ready");
	}
}

/* The way of a link's target counts as well. */
static void test_linked_directory(void **state)
{
	struct tmp *t = *state;

	tree_remove(t, METRICS_DIR);
	tree_dir(t, "srv/a/metrics");
	tree_link(t, METRICS_DIR, "../../../srv/a/metrics");
	set_mode(t, "srv/a", 0777);
	assert_refused(t, "/srv/a is writable by users other than root");
	assert_int_equal(count_files(t, "srv/a/metrics"), 0);
	set_mode(t, "srv/a", 0755);
	assert_int_equal(store(t, VERDICT_READY, true), 0);
	assert_published(t, true, "ready");
	tree_remove(t, METRICS);
	tree_remove(t, "srv/a/metrics");
	assert_int_equal(store(t, VERDICT_READY, true), 0); /* a link to nowhere */
}

/* The record can't be written: nobody is told more than it says. */
static void test_order(void **state)
{
	struct tmp *t = *state;
	struct verdict v;
	struct status s;

	store(t, VERDICT_BLOCKED, false);
	tree_remove(t, STATUS);
	tmp_write(t, STATUS "/in-the-way", "");
	verdict_simple(&v, VERDICT_READY, FAULT_NIC_CARRIER, "the reason");
	v.admit = true;
	status_load(&t->root, &s);
	record_set_profile(&s.record, &profile);
	record_set_verdict(&s.record, &v);
	assert_true(status_admit(&t->root, &s, &t->err) < 0);
	assert_published(t, false, "blocked");
	verdict_free(&v);
	status_free(&s);
}

/* The ready file can't be removed: what others are told is withdrawn before. */
static void test_withdrawn_before(void **state)
{
	struct tmp *t = *state;
	struct status s;

	store(t, VERDICT_READY, true);
	tree_remove(t, READY);
	tmp_write(t, READY "/in-the-way", "");
	status_load(&t->root, &s);
	assert_true(status_withdraw(&t->root, &s, &t->err) < 0);
	assert_published(t, false, "waiting");
	status_free(&s);
}

static void test_next_boot(void **state)
{
	struct tmp *t = *state;

	store(t, VERDICT_READY, true);
	tmp_write(t, BOOT_ID, "99999999-2222-3333-4444-555555555555\n");
	/* in the initramfs the real root may be read-only: not tried */
	withdraw(t, true);
	assert_published(t, true, "ready");
	withdraw(t, false);
	assert_text(tree_text(t, METRICS), "\nrailhead_ready 0\n");
	assert_text(tree_text(t, METRICS), "verdict=\"waiting\"");
	assert_string_equal(tree_text(t, FEATURES),
			    "railhead.io/ready=false\nrailhead.io/verdict=waiting\n");
}

/* Rescue, kdump, ...: nothing at all is written. */
static void test_special_boot(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, CMDLINE, "root=/dev/vda1 ro systemd.unit=rescue.target\n");
	withdraw(t, false);
	assert_int_equal(count_files(t, METRICS_DIR), 0);
	assert_int_equal(count_files(t, FEATURES_DIR), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_dirs, tmp_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics_text),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_feature_values),
		cmocka_unit_test(test_texts_of_little),
		TEST(test_follow_ready),
		TEST(test_equal_is_left_alone),
		cmocka_unit_test_setup_teardown(test_absent_directory, setup, tmp_teardown),
		TEST(test_link_or_pipe),
		TEST(test_unwritable_only_warns),
		TEST(test_directory_of_others),
		TEST(test_linked_directory),
		TEST(test_order),
		TEST(test_withdrawn_before),
		TEST(test_next_boot),
		TEST(test_special_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
