/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trials in which something fails: the files that are kept, and series of boots through the real
 * code below a tree, with GRUB as dracut/grub.d/05_railhead.in has it act.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>

#include "boot/health.h"
#include "boot/settle.h"
#include "boot/view.h"
#include "tree.h"

#define ENV "boot/grub/" ENV_FILE_NAME
#define KEPT "var/lib/railhead/"
#define COUNTED "run/railhead/healthy"

/* --- the files ------------------------------------------------------------------------------- */

static struct health sample(void)
{
	struct health h = {
		.profile = xstrdup("d1"), .kernel = xstrdup("6.1"), .args = "0123456789abcdef"};

	health_add(&h.failed, "gate/links/0000:41:00.0");
	health_add(&h.failed, "sysctl/a\nb");
	health_add(&h.failed, "gate/links/0000:41:00.0");
	return h;
}

static void test_text(void **state)
{
	cleanup_health struct health h = sample(), back = {0};
	cleanup_free char *text = health_render(&h);

	(void)state;
	assert_string_equal(text, "railhead health 1\nprofile d1\nkernel 6.1\n"
				  "args 0123456789abcdef\nrefused no\n"
				  "failed gate/links/0000:41:00.0\nfailed sysctl/a?b\nend 2\n");
	assert_int_equal(health_parse(text, &back), 0);
	assert_string_equal(back.profile, "d1");
	assert_string_equal(back.kernel, "6.1");
	assert_int_equal(back.failed.n, 2);
	assert_false(back.refused);
}

/* Cut at each byte, or with each byte flipped, it is nothing or what it was in form. */
static void test_torn(void **state)
{
	cleanup_health struct health h = sample();
	cleanup_free char *text = health_render(&h);
	size_t len = strlen(text);

	(void)state;
	for (size_t i = 0; i < len; i++) {
		cleanup_free char *cut = xstrndup(text, i), *flipped = xstrdup(text);
		struct health back;

		assert_int_equal(health_parse(cut, &back), -EBADMSG);
		assert_null(back.profile);
		flipped[i] ^= 1;
		if (health_parse(flipped, &back) == 0)
			assert_int_equal(back.failed.n, 2);
		health_free(&back);
	}
}

static void test_malformed(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"railhead health 2\n",
		"garbage",
		"railhead health 1\nprofile \nkernel 6\nargs 0123456789abcdef\nrefused no\nend 0\n",
		"railhead health 1\nprofile d\nkernel 6\nargs 0123\nrefused no\nend 0\n",
		"railhead health 1\nprofile d\nkernel 6\nargs 0123456789abcdef\nrefused ?\nend 0\n",
		"railhead health 1\nprofile d\nkernel 6\nargs 0123456789abcdef\nrefused no\nend "
		"1\n",
		"railhead health 1\nprofile d\nkernel 6\nargs 0123456789abcdef\nrefused no\n"
		"failed \nend 1\n",
		"railhead health 1\nprofile d\nkernel 6\nargs 0123456789abcdef\nrefused no\nend "
		"0\nx",
	};
	struct health back;

	(void)state;
	for (size_t i = 0; i < array_len(bad); i++)
		assert_int_equal(health_parse(bad[i], &back), -EBADMSG);
}

static void test_too_many(void **state)
{
	struct tmp *t = *state;
	cleanup_health struct health h = sample();

	for (int i = 0; i < HEALTH_ITEMS_MAX; i++) {
		cleanup_free char *id = xasprintf("item/%d", i);

		strv_add(&h.failed, id);
	}
	assert_null(health_render(&h));
	assert_int_equal(health_keep(&t->root, HEALTH_BEFORE, &h, &t->err), -E2BIG);
	assert_false(tree_has(t, KEPT "trial-before"));
}

static void test_news_and_names(void **state)
{
	cleanup_strv struct strv now = {0}, before = {0}, news = {0};
	cleanup_free char *none = strv_some(&before, HEALTH_NAMED), *names = NULL, *many = NULL;

	(void)state;
	assert_string_equal(none, "");
	for (const char *p = "abcde"; *p; p++)
		health_add(&now, (char[]){*p, '\0'});
	health_add(&before, "b");
	health_add(&before, "z");
	assert_int_equal(health_news(&now, &before, &news), 4);
	many = strv_some(&news, HEALTH_NAMED);
	assert_string_equal(many, "a, c, d and 1 more");
	assert_int_equal(health_news(&before, &before, &news), 4); /* none is added */
}

/* --- boots ----------------------------------------------------------------------------------- */

struct machine {
	struct tmp *t;
	const char *wanted, *profile;
	/* Ids of what fails, by the line of the boot. */
	void (*fails)(const char *cmdline, struct strv *failed);
	bool stays; /* reboot: false in railhead.conf */
	bool cut;   /* the power fails before a reboot of its own from the verdict */
	int boot, reboots;
	char *cmdline;
	struct settled last; /* of the last verdict */
	enum kargs_decision decision;
	char why[1024];
};

static void machine_init(struct machine *m, struct tmp *t)
{
	*m = (struct machine){.t = t, .wanted = "old=1", .profile = "digest-1"};
	tmp_write(t, "boot/grub/grub.cfg",
		  "load_env -f $prefix/railhead.env\nexport railhead_kargs\n"
		  "linux /vmlinuz root=/dev/vda2 ro $railhead_kargs\n");
}

static void machine_done(struct machine *m)
{
	free(m->cmdline);
	settled_free(&m->last);
}

static bool read_file(const struct machine *m, struct boot_env *env)
{
	int dirfd = open(tmp_path(m->t, "boot/grub/"), O_RDONLY | O_DIRECTORY);
	int r = env_read(dirfd, env, NULL);

	close(dirfd);
	return r == 0;
}

static char *grub(const struct machine *m)
{
	struct boot_env env;
	char slot;

	if (!read_file(m, &env))
		return xstrdup("BOOT_IMAGE=/vmlinuz ro");
	slot = env_next_slot(&env);
	if (slot == env.try_) {
		int fd = open(tmp_path(m->t, ENV), O_WRONLY);

		assert_int_equal(pwrite(fd, "t", 1, 54), 1);
		close(fd);
	}
	return xasprintf("BOOT_IMAGE=/vmlinuz ro %s railhead.slot=%c%s%c", env_slot(&env, slot),
			 slot, slot == env.try_ ? " railhead.trial=" : " x=", slot);
}

/* Stage initrd: true if the node reboots there. */
static bool applies(struct machine *m, struct kargs *wanted, const struct node *node)
{
	struct boot_view v;
	int r = 1;

	for (int i = 0; r == 1 && i < 2; i++) {
		assert_int_equal(boot_view_open(&m->t->root, node, wanted, true, false, &v, NULL),
				 0);
		m->decision = v.trial.decision;
		snprintf(m->why, sizeof(m->why), "%s", v.trial.why);
		r = trial_write(&m->t->root, v.part.dirfd, &v.facts, &v.trial, &v.id, NULL);
		assert_true(r >= 0);
		assert_int_equal(boot_view_close(&v, NULL), 0);
	}
	return m->decision == KARGS_WRITE_AND_REBOOT && !m->stays;
}

static void verdict(struct machine *m, struct kargs *wanted, const struct node *node)
{
	cleanup_strv struct strv failed = {0};

	if (m->fails)
		m->fails(m->cmdline, &failed);
	settled_free(&m->last);
	assert_true(boot_settle(&m->t->root, node, wanted, m->profile, &failed, &m->last, NULL) >=
		    0);
}

/* One boot; true if the node goes into another by itself. */
static bool boot(struct machine *m)
{
	cleanup_kargs struct kargs wanted = {0};
	struct node node = {0};
	char id[64];

	snprintf(id, sizeof(id), "boot-%d\n", ++m->boot);
	tmp_write(m->t, "proc/sys/kernel/random/boot_id", id);
	if (tree_has(m->t, COUNTED))
		tree_remove(m->t, COUNTED);
	free(m->cmdline);
	m->cmdline = node.cmdline = grub(m);
	kargs_split(&wanted, m->wanted, NULL);
	settled_free(&m->last);
	if (applies(m, &wanted, &node)) {
		m->reboots++;
		return true;
	}
	verdict(m, &wanted, &node);
	if (m->last.reboot && !m->stays && !m->cut)
		m->reboots++;
	return m->last.reboot && !m->stays;
}

/* Until a boot stays. */
static void power_on(struct machine *m)
{
	for (int i = 0; i < 10; i++)
		if (!boot(m))
			return;
	fail_msg("a reboot loop: %s", m->why);
}

static bool has(const struct machine *m, const char *arg)
{
	return kargs_has(m->cmdline, arg);
}

/* The args old=1 are in force, the profile asks for new=1 from now on. */
static void settle_old(struct machine *m, struct tmp *t)
{
	machine_init(m, t);
	power_on(m);
	assert_true(has(m, "old=1"));
	assert_int_equal(m->reboots, 1);
	assert_int_equal(m->last.note, NOTE_COMMIT);
	m->reboots = 0;
	m->wanted = "new=1";
	m->profile = "digest-2";
}

static void nic_fails_with_new(const char *cmdline, struct strv *failed)
{
	if (kargs_has(cmdline, "new=1"))
		health_add(failed, "uplink/0000:41:00.0");
}

static void gpu_fails(const char *cmdline, struct strv *failed)
{
	(void)cmdline;
	health_add(failed, "gate/gpus/0000:18:00.0");
}

static void gpu_fails_and_nic_with_new(const char *cmdline, struct strv *failed)
{
	gpu_fails(cmdline, failed);
	nic_fails_with_new(cmdline, failed);
}

static void test_nothing_fails(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	power_on(&m);
	assert_int_equal(m.last.note, NOTE_COMMIT);
	assert_int_equal(m.reboots, 1);
	assert_false(tree_has(*state, "var"));
	machine_done(&m);
}

/*
 * Refused, by one look back: the old args are in force, and no boot of them tries again. Where
 * nothing fails it counts as healthy.
 */
static void refused(struct machine *m, int reboots)
{
	power_on(m);
	assert_int_equal(m->reboots, reboots);
	assert_true(has(m, "old=1"));
	for (int i = 0; i < 3; i++) {
		power_on(m);
		assert_int_equal(m->decision, KARGS_UNFIT);
		assert_text(m->why, "Failed in the trial: uplink/0000:41:00.0");
		assert_int_equal(m->last.note,
				 m->fails == nic_fails_with_new ? NOTE_HEALTHY : NOTE_NONE);
	}
	assert_int_equal(m->reboots, reboots);
	assert_true(has(m, "old=1"));
}

/* Once more, after two boots in which nothing failed: one trial, and one reboot back. */
static void test_forgiven(void **state)
{
	struct machine m;
	struct boot_env env;

	settle_old(&m, *state);
	tmp_write(m.t, "etc/railhead/railhead.conf", "schema: 1\nretry_kernel_args_after: 2\n");
	m.fails = nic_fails_with_new;
	power_on(&m);
	for (int round = 0; round < 3; round++) {
		/* A boot in which something fails counts for nothing. */
		m.fails = gpu_fails_and_nic_with_new;
		power_on(&m);
		assert_int_equal(m.last.note, NOTE_NONE);
		m.fails = nic_fails_with_new;
		/* The boot back from a trial counts, too. */
		for (int i = round ? 1 : 2; i > 0; i--) {
			cleanup_free char *left =
				xasprintf("tried again after %d more healthy boot%s. Failed in", i,
					  i == 1 ? "" : "s");

			m.reboots = 0;
			power_on(&m);
			assert_int_equal(m.decision, KARGS_UNFIT);
			assert_text(m.why, left);
			assert_int_equal(m.last.note, NOTE_HEALTHY);
		}
		assert_int_equal(m.reboots, 0);
		if (round == 2)
			m.fails = NULL;
		power_on(&m);
		assert_int_equal(m.reboots, round < 2 ? 2 : 1);
		assert_int_equal(has(&m, "new=1"), round == 2);
	}
	assert_true(read_file(&m, &env));
	assert_int_equal(env.state.n_refused, 0);
	machine_done(&m);
}

/* The gate by hand, in a boot that was counted; and one that can't be marked as such. */
static void test_counted_once(void **state)
{
	cleanup_kargs struct kargs wanted = {0};
	struct node node = {0};
	struct machine m;
	struct boot_env env;

	settle_old(&m, *state);
	m.fails = nic_fails_with_new;
	power_on(&m);
	power_on(&m);
	assert_int_equal(m.last.note, NOTE_HEALTHY);
	node.cmdline = m.cmdline;
	kargs_split(&wanted, m.wanted, NULL);
	for (int i = 0; i < 3; i++) {
		verdict(&m, &wanted, &node);
		assert_int_equal(m.last.note, NOTE_NONE);
	}
	assert_true(read_file(&m, &env));
	assert_int_equal(env.healthy, 1);
	tree_remove(m.t, COUNTED);
	tree_dir(m.t, COUNTED);
	tmp_write(m.t, COUNTED "/x", "a directory that is not empty\n");
	verdict(&m, &wanted, &node);
	assert_int_equal(m.last.note, NOTE_NONE);
	machine_done(&m);
}

static void test_fails_with_the_args(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = nic_fails_with_new;
	refused(&m, 2);
	/* The profile before, and after it again: remembered. */
	m.wanted = "old=1";
	power_on(&m);
	m.wanted = "new=1";
	refused(&m, 2);
	machine_done(&m);
}

static void test_fails_without_them_too(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = gpu_fails;
	power_on(&m);
	assert_int_equal(m.reboots, 3);
	assert_int_equal(m.last.note, NOTE_COMMIT);
	assert_true(has(&m, "new=1"));
	power_on(&m);
	assert_int_equal(m.reboots, 3);
	assert_int_equal(m.decision, KARGS_SAME);
	machine_done(&m);
}

static void test_one_of_two_fails_without_them(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = gpu_fails_and_nic_with_new;
	refused(&m, 2);
	machine_done(&m);
}

/* reboot: false. The boots before a trial have shown what fails: no boot back is asked for. */
static void test_baseline_is_there(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.stays = true;
	m.fails = gpu_fails_and_nic_with_new;
	assert_false(boot(&m));
	assert_true(tree_has(*state, KEPT "trial-before"));
	assert_false(boot(&m)); /* the trial */
	assert_true(has(&m, "new=1"));
	assert_int_equal(m.last.note, NOTE_UNFIT);
	assert_true(m.last.reboot);
	assert_int_equal(m.last.failed.n, 1);
	assert_string_equal(m.last.failed.v[0], "uplink/0000:41:00.0");
	assert_false(boot(&m));
	assert_true(has(&m, "old=1"));
	assert_int_equal(m.decision, KARGS_UNFIT);
	machine_done(&m);
}

static void test_baseline_forgives(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.stays = true;
	m.fails = gpu_fails;
	boot(&m);
	boot(&m);
	assert_int_equal(m.last.note, NOTE_COMMIT);
	assert_false(m.last.reboot);
	machine_done(&m);
}

/* Each is as if there were none: one boot back. */
static void test_baseline_of_no_use(void **state)
{
	static const char *const texts[] = {
		"",
		"garbage",
		"railhead health 1\nprofile digest-1\nkernel \nargs %s\nrefused no\n"
		"failed gate/gpus/0000:18:00.0\nend 1\n",
		"railhead health 1\nprofile digest-2\nkernel 6.1\nargs %s\nrefused no\n"
		"failed gate/gpus/0000:18:00.0\nend 1\n",
		"railhead health 1\nprofile digest-2\nkernel \nargs 0123456789abcdef\nrefused no\n"
		"failed gate/gpus/0000:18:00.0\nend 1\n",
	};
	char args[KARGS_HASH_LEN + 1];

	kargs_hash_line("old=1", args);
	for (size_t i = 0; i < array_len(texts); i++) {
		struct machine m;
		void *own;
		char text[256], *at = strstr(texts[i], "%s");

		assert_int_equal(tmp_setup(&own), 0);
		settle_old(&m, own);
		snprintf(text, sizeof(text), "%.*s%s%s", at ? (int)(at - texts[i]) : 200, texts[i],
			 at ? args : "", at ? at + 2 : "");
		tmp_write(own, KEPT "trial-before", text);
		m.fails = gpu_fails;
		power_on(&m);
		assert_int_equal(m.reboots, 3);
		assert_true(has(&m, "new=1"));
		machine_done(&m);
		tmp_teardown(&own);
	}
	(void)state;
}

/* A trial that can't be compared, now nor later, is refused: nothing failed unseen is kept. */
static void test_nothing_can_be_kept(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	tmp_write(*state, "var/lib/railhead", "a file where the directory is to be");
	m.fails = gpu_fails;
	power_on(&m);
	assert_int_equal(m.reboots, 2);
	assert_true(has(&m, "old=1"));
	assert_int_equal(m.decision, KARGS_UNFIT);
	assert_null(strstr(m.why, "Failed in the trial"));
	machine_done(&m);
}

/* What failed in the trial is lost before the boot back: that trial is made again, and decides. */
static void test_trial_is_forgotten(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = nic_fails_with_new;
	assert_true(boot(&m));
	assert_true(boot(&m));
	assert_int_equal(m.last.note, NOTE_LOOK_BACK);
	tree_remove(*state, KEPT "trial-failed");
	assert_true(boot(&m));
	assert_int_equal(m.last.note, NOTE_LOOKED_BACK);
	assert_int_equal(m.reboots, 3);
	/* The third was the last: unfit, and no reboot. */
	assert_false(boot(&m));
	assert_int_equal(m.last.note, NOTE_UNFIT);
	assert_int_equal(m.reboots, 3);
	refused(&m, 3);
	machine_done(&m);
}

static void other_with_new(const char *cmdline, struct strv *failed)
{
	static int boots;

	if (kargs_has(cmdline, "new=1")) {
		cleanup_free char *id = xasprintf("item/%d", boots++);

		health_add(failed, id);
	}
}

/* Another item each time, and the boot back is lost each time, too: the budget holds. */
static void test_budget(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = other_with_new;
	assert_true(boot(&m));
	assert_true(boot(&m));
	tree_remove(*state, KEPT "trial-failed");
	assert_true(boot(&m));
	tree_remove(*state, KEPT "trial-before");
	assert_false(boot(&m));
	assert_int_equal(m.last.note, NOTE_UNFIT);
	for (int i = 0; i < 4; i++)
		assert_false(boot(&m));
	assert_int_equal(m.reboots, 3);
	assert_true(has(&m, "old=1"));
	machine_done(&m);
}

/* The power fails after the refusal or the arming is written, before the node reboots. */
static void test_cut_before_the_reboot(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = nic_fails_with_new;
	m.cut = true;
	boot(&m);
	boot(&m);
	assert_int_equal(m.last.note, NOTE_LOOK_BACK);
	refused(&m, 1);
	machine_done(&m);
}

static void test_cut_before_the_verdict(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = gpu_fails;
	assert_true(boot(&m));
	assert_true(boot(&m));
	/* The boot back, twice without a verdict: the third looks. */
	m.boot += 2;
	free(m.cmdline);
	m.cmdline = grub(&m);
	free(m.cmdline);
	m.cmdline = grub(&m);
	power_on(&m);
	assert_int_equal(m.last.note, NOTE_COMMIT);
	assert_int_equal(m.reboots, 3);
	machine_done(&m);
}

/* Another profile is there at the boot back, whose args are the same, or others. */
static void test_profile_changes(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = gpu_fails;
	assert_true(boot(&m));
	assert_true(boot(&m));
	m.profile = "digest-3";
	power_on(&m);
	assert_int_equal(m.last.note, NOTE_COMMIT);
	assert_int_equal(m.reboots, 3);
	m.wanted = "newer=1";
	assert_true(boot(&m));
	assert_true(boot(&m));
	m.wanted = "newest=1";
	m.profile = "digest-4";
	assert_false(boot(&m)); /* a verdict comes first */
	assert_int_equal(m.last.note, NOTE_LOOK_OVER);
	power_on(&m);
	assert_true(has(&m, "newest=1"));
	machine_done(&m);
}

/* --retry, in the boot after and in the lost trial itself. */
static void retried(struct machine *m)
{
	cleanup_kargs struct kargs wanted = {0};
	struct node node = {.cmdline = m->cmdline};
	struct boot_view v;

	kargs_split(&wanted, m->wanted, NULL);
	assert_int_equal(boot_view_open(&m->t->root, &node, &wanted, true, true, &v, NULL), 0);
	assert_int_equal(v.trial.decision, KARGS_WRITE_AND_REBOOT);
	assert_int_equal(trial_write(&m->t->root, v.part.dirfd, &v.facts, &v.trial, &v.id, NULL),
			 0);
	boot_view_close(&v, NULL);
	m->fails = NULL;
	boot(m);
	assert_int_equal(m->last.note, NOTE_COMMIT);
	assert_true(has(m, "new=1"));
	boot(m);
	assert_int_equal(m->decision, KARGS_SAME);
}

static void test_retry(void **state)
{
	struct machine m;

	settle_old(&m, *state);
	m.fails = nic_fails_with_new;
	refused(&m, 2);
	retried(&m);
	machine_done(&m);
}

static void test_retry_in_the_trial(void **state)
{
	cleanup_kargs struct kargs wanted = {0};
	struct machine m;
	struct node node;

	settle_old(&m, *state);
	m.stays = true;
	m.fails = nic_fails_with_new;
	boot(&m);
	boot(&m);
	assert_int_equal(m.last.note, NOTE_UNFIT);
	/* A gate again finds the same decision, and writes nothing. */
	node = (struct node){.cmdline = m.cmdline};
	kargs_split(&wanted, m.wanted, NULL);
	assert_false(applies(&m, &wanted, &node));
	assert_int_equal(m.decision, KARGS_UNFIT);
	m.fails = NULL;
	verdict(&m, &wanted, &node);
	assert_int_equal(m.last.note, NOTE_NONE);
	m.stays = false;
	retried(&m);
	machine_done(&m);
}

/* A trial that looks back has died in between: the budget is what it was. */
static void test_death_in_the_second(void **state)
{
	struct machine m;
	struct boot_env env;

	settle_old(&m, *state);
	m.fails = gpu_fails;
	assert_true(boot(&m));
	assert_true(boot(&m));
	assert_true(boot(&m));
	free(m.cmdline);
	m.cmdline = grub(&m); /* dies */
	assert_true(has(&m, "new=1"));
	assert_true(boot(&m));
	assert_true(read_file(&m, &env));
	assert_int_equal(env.state.look, ENV_LOOK_SECOND);
	assert_int_equal(env.state.deaths, 1);
	assert_false(boot(&m));
	assert_int_equal(m.last.note, NOTE_COMMIT);
	machine_done(&m);
}

/* Once they are in force nothing is written, whatever fails. */
static void test_converged_writes_nothing(void **state)
{
	struct machine m;
	cleanup_free char *before = NULL;

	settle_old(&m, *state);
	power_on(&m);
	m.fails = gpu_fails;
	before = xstrdup(tree_text(*state, ENV));
	power_on(&m);
	assert_string_equal(tree_text(*state, ENV), before);
	assert_false(tree_has(*state, "var"));
	machine_done(&m);
}

/* With another kernel what failed says nothing, but a verdict comes first all the same. */
static void test_other_kernel_looks_over(void **state)
{
	cleanup_kargs struct kargs wanted = {0};
	struct boot_env env = {.good = 'a', .try_ = ENV_NONE, .slot = {"old=1", "new=1"}};
	struct trial_facts f = {.wanted = &wanted,
				.cmdline = "BOOT_IMAGE=/v ro old=1 railhead.slot=a",
				.env = &env,
				.loader_ok = true,
				.boot_id = "boot-9"};
	static const struct {
		const char *kernel;
		enum trial_note note;
	} rows[] = {{"6.1", NOTE_LOOKED_BACK}, {"6.2", NOTE_LOOK_OVER}};

	(void)state;
	kargs_split(&wanted, "new=1", NULL);
	kargs_hash(&wanted, env.state.hash);
	strcpy(env.state.kernel, "6.1");
	env.state.look = ENV_LOOK_BACK;
	for (size_t i = 0; i < array_len(rows); i++) {
		struct trial t;

		f.kernel = rows[i].kernel;
		trial_decide(&f, &t);
		assert_int_equal(t.decision, KARGS_NOT_ARRIVED);
		assert_true(t.next_boot_tries);
		assert_int_equal(t.note, rows[i].note);
		trial_free(&t);
	}
}

#define BOOTS(test) cmocka_unit_test_setup_teardown(test, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_malformed),
		BOOTS(test_too_many),
		cmocka_unit_test(test_news_and_names),
		BOOTS(test_nothing_fails),
		BOOTS(test_forgiven),
		BOOTS(test_counted_once),
		BOOTS(test_fails_with_the_args),
		BOOTS(test_fails_without_them_too),
		BOOTS(test_one_of_two_fails_without_them),
		BOOTS(test_baseline_is_there),
		BOOTS(test_baseline_forgives),
		BOOTS(test_baseline_of_no_use),
		BOOTS(test_nothing_can_be_kept),
		BOOTS(test_trial_is_forgotten),
		BOOTS(test_budget),
		BOOTS(test_cut_before_the_reboot),
		BOOTS(test_cut_before_the_verdict),
		BOOTS(test_profile_changes),
		BOOTS(test_retry),
		BOOTS(test_retry_in_the_trial),
		BOOTS(test_death_in_the_second),
		cmocka_unit_test(test_other_kernel_looks_over),
		BOOTS(test_converged_writes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
