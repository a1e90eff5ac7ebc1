/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series of boots against the model of GRUB (boot/env_grub.h), which tests/grub_reader.bats holds
 * against GRUB itself: it reads and writes the file's bytes as dracut/grub.d/05_railhead.in does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/ends.h"
#include "boot/env_grub.h"
#include "boot/trial.h"

/* A tree: nothing is flushed as it would be for the machine that runs the test. */
static const struct root ROOT = {.fd = -1};

struct machine {
	/* what is wrong with it */
	bool grub_reads;  /* false: kexec, PXE, another disk */
	bool grub_late;	  /* XFS: at its next boot GRUB does not find the new file yet */
	bool grub_writes; /* false: save_env fails */
	bool entry_has_variable;
	const char *dropped;   /* this token never reaches the kernel */
	const char *deadly;    /* a boot with this token dies before the initrd stage begins */
	const char *deadly_on; /* ... on this kernel alone */
	const char *needed;    /* a boot without this token dies there */
	bool late;	       /* what is deadly kills behind the initrd stage */
	bool no_commit;	       /* no boot reaches its verdict */
	const char *
		ends; /* of its trials, in order: enum env_end, or '-': it lives. NULL: so do all */
	bool panicked;		/* the last trial left a record in pstore */
	const char *image_args; /* on each line, not ours */
	unsigned int retry_after;
	bool sick;	  /* something fails in each boot, with any args */
	const char *held; /* why railhead may make no reboot */
	enum kargs_decision held_as;
	bool loader_ok;
	const char *kernel;
	/* where it is */
	char dir[64];
	int dirfd;
	int boot; /* number of this boot */
	char *cmdline;
	/* what was counted */
	int reboots, writes, counts, lost;
	struct trial last;
};

static void machine_init(struct machine *m)
{
	*m = (struct machine){.grub_reads = true,
			      .grub_writes = true,
			      .entry_has_variable = true,
			      .loader_ok = true,
			      .kernel = "6.1"};
	strcpy(m->dir, "/tmp/railhead-test.XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	m->dirfd = open(m->dir, O_RDONLY | O_DIRECTORY);
}

static void machine_done(struct machine *m)
{
	unlinkat(m->dirfd, ENV_FILE_NAME, 0);
	close(m->dirfd);
	rmdir(m->dir);
	free(m->cmdline);
	trial_free(&m->last);
}

/* Opened for writing by GRUB's disk driver, not by us. */
static void write_back(struct machine *m, const char *text, size_t len)
{
	int fd = openat(m->dirfd, ENV_FILE_NAME, O_WRONLY);

	assert_int_equal(pwrite(fd, text, len, 0), (ssize_t)len);
	close(fd);
}

static char *grub(struct machine *m)
{
	cleanup_free char *text = NULL;
	struct str line = {0};
	struct env_grub g;
	size_t len;

	str_addf(&line, "%sroot=/dev/vda1 ro%s%s", m->grub_reads ? "BOOT_IMAGE=/vmlinuz " : "",
		 m->image_args ? " " : "", m->image_args ? m->image_args : "");
	if (!m->grub_reads || m->grub_late || env_read_bytes(m->dirfd, &text, &len, NULL) < 0) {
		m->grub_late = false;
		return str_take(&line);
	}
	env_grub_boot(text, len, m->grub_writes, &g);
	write_back(m, text, len);
	if (m->entry_has_variable)
		str_addf(&line, "%s%s", *g.kargs ? " " : "", g.kargs);
	return str_take(&line);
}

/* The kernel loses a token. */
static char *lose(char *line, const char *token)
{
	cleanup_kargs struct kargs in = {0}, out = {0};

	if (!token)
		return line;
	kargs_split(&in, line, NULL);
	for (size_t i = 0; i < in.n; i++)
		if (!streq(in.v[i].text, token))
			kargs_add(&out, in.v[i].text, NULL);
	free(line);
	return kargs_line(&out);
}

static void decide(struct machine *m, const char *wanted, struct trial *t, bool write, bool retry)
{
	cleanup_kargs struct kargs w = {0};
	struct boot_env env;
	struct boot_id id = {.time = 1790000000 + m->boot};
	struct trial_facts f = {.wanted = &w,
				.cmdline = m->cmdline,
				.loader_ok = m->loader_ok,
				.loader_why = m->loader_ok ? NULL : "no grub.cfg",
				.held = m->held,
				.held_as = m->held_as,
				.boot_id = id.id,
				.kernel = m->kernel,
				.retry = retry,
				.retry_after = m->retry_after};
	struct err err = {0};
	int r;

	snprintf(id.id, sizeof(id.id), "boot-%d", m->boot);
	snprintf(id.kernel, sizeof(id.kernel), "%s", m->kernel);
	kargs_split(&w, wanted, NULL);
	if (env_read(m->dirfd, &env, &err) == 0) {
		f.env = &env;
		if (m->panicked && env.try_ == ENV_TAKEN && !trial_on_line(m->cmdline))
			ends_note(env.ends, ENV_END_PANIC);
	} else if (err.code == -EBADMSG) {
		f.env_damage = err.text;
	}
	trial_decide(&f, t);
	assert_non_null(t->why);
	if (write &&
	    (t->decision == KARGS_WRITE_AND_REBOOT || t->decision == KARGS_WRITE_NO_REBOOT)) {
		m->writes += f.env != NULL;
		r = trial_write(&ROOT, m->dirfd, &f, t, &id, &err);
		assert_int_equal(r, f.env ? 0 : 1);
		if (r == 1) {
			trial_free(t);
			decide(m, wanted, t, write, retry);
		}
	}
}

/* Comes as far as railhead's first stage, or the second. */
static void arrive(struct machine *m, bool in_root)
{
	struct arrival a = {.cmdline = m->cmdline, .counts = m->grub_writes, .in_root = in_root};
	struct boot_id id = {.time = 1790000000 + m->boot};
	struct err err = {0};
	int r;

	snprintf(id.id, sizeof(id.id), "boot-%d", m->boot);
	snprintf(id.kernel, sizeof(id.kernel), "%s", m->kernel);
	r = trial_arrived(m->dirfd, &a, &id, &err);
	assert_true(r >= 0 || err.code == -ENOENT || err.code == -EBADMSG);
	m->counts += r > 0;
}

/* What the script has for this trial; false if it ends before its verdict. */
static bool live_through(struct machine *m)
{
	struct err err;

	if (!m->ends || !*m->ends || !trial_on_line(m->cmdline) || *m->ends++ == '-')
		return true;
	m->panicked = m->ends[-1] == ENV_END_PANIC;
	if (strchr("sta", m->ends[-1]))
		assert_true(trial_ended(m->dirfd, m->cmdline, (enum env_end)m->ends[-1], true,
					&err) >= 0);
	m->lost++;
	return false;
}

static bool is_deadly(const struct machine *m)
{
	return m->deadly && kargs_has(m->cmdline, m->deadly) &&
	       (!m->deadly_on || streq(m->deadly_on, m->kernel));
}

/* A boot begins; false if it ends before railhead runs. */
static bool begin(struct machine *m)
{
	m->boot++;
	free(m->cmdline);
	m->cmdline = lose(grub(m), m->dropped);
	if ((!m->late && is_deadly(m)) || (m->needed && !kargs_has(m->cmdline, m->needed))) {
		m->lost++;
		return false;
	}
	arrive(m, false);
	return live_through(m);
}

static void settle(struct machine *m)
{
	struct boot_id id = {.time = 1790000000};
	struct boot_env env;
	struct err err;
	int r;

	snprintf(id.id, sizeof(id.id), "boot-%d", m->boot);
	snprintf(id.kernel, sizeof(id.kernel), "%s", m->kernel);
	if (m->sick && m->last.note == NOTE_HEALTHY) {
		assert_int_equal(env_read(m->dirfd, &env, NULL), 0);
		trial_weigh(&env, TRIAL_UNFIT, &m->last);
	}
	r = m->no_commit ? 0 : trial_settle(m->dirfd, &m->last, &id, &err);
	assert_true(r >= 0);
	m->writes += r;
}

/* From the initrd stage on to the verdict; false if it ends before stage early. */
static bool go_on(struct machine *m)
{
	if (m->late && is_deadly(m)) {
		m->lost++;
		return false;
	}
	arrive(m, true);
	settle(m);
	return true;
}

/* A power cycle: boots until a boot needs no reboot, 10 at most. */
static enum kargs_decision power_on(struct machine *m, const char *wanted)
{
	for (int i = 0; i < 10; i++) {
		if (!begin(m))
			continue; /* panic=30: GRUB comes again by itself */
		trial_free(&m->last);
		decide(m, wanted, &m->last, true, false);
		if (m->last.decision == KARGS_WRITE_AND_REBOOT)
			m->reboots++;
		else if (go_on(m))
			return m->last.decision;
	}
	fail_msg("a reboot loop: %s", m->last.why);
	return KARGS_DAMAGED;
}

/* `railhead kargs --reset` */
static void reset(struct machine *m)
{
	struct boot_id id = {.id = "boot-x"};
	struct boot_env env;
	struct env_plan plan;

	assert_int_equal(env_read(m->dirfd, &env, NULL), 0);
	env_plan_reset(&env, &id, &plan);
	assert_int_equal(env_write(m->dirfd, &plan, NULL), 0);
}

#define WANTED "intel_iommu=on,sm_on hugepagesz=1G hugepages=0:1,1:1"

static void test_first_boot(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	assert_int_equal(m.last.note, NOTE_COMMIT);
	assert_true(m.last.is_trial);
	assert_true(kargs_has(m.cmdline, "railhead.trial=b"));
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.good, 'b');
	assert_int_equal(env.try_, ENV_NONE);
	/* Later boots change nothing and write nothing. */
	m.writes = 0;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
		assert_int_equal(m.last.note, NOTE_NONE);
		assert_false(kargs_has(m.cmdline, "railhead.trial=b"));
	}
	assert_int_equal(m.reboots, 1);
	assert_int_equal(m.writes, 0);
	machine_done(&m);
}

static void test_no_args_no_file(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_int_equal(m.writes, 0);
	assert_int_equal(faccessat(m.dirfd, ENV_FILE_NAME, F_OK, 0), -1);
	machine_done(&m);
}

static void test_new_version_and_back(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1 b=1"), KARGS_SAME);
	assert_int_equal(power_on(&m, "a=2"), KARGS_SAME); /* one changed, one dropped */
	assert_int_equal(m.reboots, 2);
	assert_false(kargs_has(m.cmdline, "b=1"));
	assert_int_equal(power_on(&m, "a=1 b=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 3);
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_int_equal(m.reboots, 4);
	assert_false(kargs_has(m.cmdline, "a=1"));
	machine_done(&m);
}

/* N power cycles with args that never arrive cost one reboot, whatever loses them. */
static void never_arrives(struct machine *m, const char *layer, const char *again)
{
	for (int i = 0; i < 6; i++) {
		assert_int_equal(power_on(m, WANTED), KARGS_NOT_ARRIVED);
		assert_non_null(strstr(m->last.why, i == 0 ? layer : again));
	}
	assert_true(m->reboots <= 1);
	machine_done(m);
}

static void test_never_arrives(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.grub_reads = false;
	never_arrives(&m, "kexec, network boot, another disk", "this boot has no railhead.slot=");
	machine_init(&m);
	m.entry_has_variable = false;
	never_arrives(&m, "menu entry", "the menu entry that was booted has no $railhead_kargs");
	machine_init(&m);
	m.dropped = "intel_iommu=on,sm_on";
	never_arrives(&m, "the boot loader dropped the arguments", "in an earlier trial");
	machine_init(&m);
	m.grub_writes = false;
	never_arrives(&m, "can't write", "can't write");
}

/* After a boot that GRUB brought with our file, a boot that came another way. */
static void test_direct_kernel_boot(void **state)
{
	struct machine m;
	int writes;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	writes = m.writes;
	m.grub_reads = false;
	assert_int_equal(power_on(&m, WANTED), KARGS_NOT_ARRIVED);
	assert_int_equal(power_on(&m, "a=1"), KARGS_NOT_ARRIVED);
	assert_int_equal(m.reboots, 1);
	assert_int_equal(m.writes, writes);
	m.grub_reads = true;
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	machine_done(&m);
}

static void test_deadly_args(void **state)
{
	struct machine m;
	struct trial t;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "good=1"), KARGS_SAME);
	m.reboots = 0;
	m.deadly = "rdinit=/nonexistent";
	assert_int_equal(power_on(&m, "rdinit=/nonexistent"), KARGS_REJECTED);
	assert_int_equal(m.reboots, TRIAL_MAX);
	assert_true(kargs_has(m.cmdline, "good=1"));
	assert_non_null(strstr(m.last.why, "REJECTED"));
	/* Remembered, and not one byte more is written. */
	m.writes = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(power_on(&m, "rdinit=/nonexistent"), KARGS_REJECTED);
	assert_int_equal(m.reboots, TRIAL_MAX);
	assert_int_equal(m.writes, 0);
	/* An operator may ask for another try; a new kernel is one. */
	decide(&m, "rdinit=/nonexistent", &t, false, true);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	trial_free(&t);
	m.kernel = "6.12";
	m.deadly = NULL;
	assert_int_equal(power_on(&m, "rdinit=/nonexistent"), KARGS_SAME);
	machine_done(&m);
}

static void test_deadly_then_mended(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.deadly = "bad=1";
	assert_int_equal(power_on(&m, "bad=1"), KARGS_REJECTED);
	assert_int_equal(power_on(&m, "fine=1"), KARGS_SAME);
	assert_int_equal(m.reboots, TRIAL_MAX + 1);
	/* The bad ones are remembered, whatever came between. */
	assert_int_equal(power_on(&m, "bad=1"), KARGS_REJECTED);
	assert_non_null(strstr(m.last.why, "2 trial boots with them on kernel 6.1 died, the last "
					   "trial armed 2026-09-21"));
	assert_int_equal(m.reboots, TRIAL_MAX + 1);
	assert_true(kargs_has(m.cmdline, "fine=1"));
	machine_done(&m);
}

/* --retry arms, and the units of the same boot then leave it armed. */
static void test_retry(void **state)
{
	struct machine m;
	struct trial t;

	(void)state;
	machine_init(&m);
	m.deadly = "bad=1";
	assert_int_equal(power_on(&m, "bad=1"), KARGS_REJECTED);
	decide(&m, "bad=1", &t, true, true);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	trial_free(&t);
	decide(&m, "bad=1", &t, true, false);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	assert_true(t.armed);
	trial_free(&t);
	/* still bad: two more trials, then refused again */
	m.reboots = 0;
	assert_int_equal(power_on(&m, "bad=1"), KARGS_REJECTED);
	assert_int_equal(m.reboots, TRIAL_MAX - 1);
	decide(&m, "bad=1", &t, true, true);
	trial_free(&t);
	m.deadly = NULL;
	assert_int_equal(power_on(&m, "bad=1"), KARGS_SAME);
	machine_done(&m);
}

/*
 * After a trial that died, other args wait until a boot has reached its verdict. So even
 * args that are others in each boot, and all of them deadly, make no loop.
 */
static void test_other_args_after_a_death(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "good=1"), KARGS_SAME);
	m.deadly = "bad=1";
	for (int cycle = 0; cycle < 6; cycle++) {
		int boots = 0;

		m.reboots = 0;
		do {
			cleanup_free char *wanted = xasprintf("bad=1 n=%d", m.boot);

			assert_true(boots++ < 6);
			if (!begin(&m))
				continue;
			trial_free(&m.last);
			decide(&m, wanted, &m.last, true, false);
			m.reboots += m.last.decision == KARGS_WRITE_AND_REBOOT;
		} while (kargs_has(m.cmdline, m.deadly) ||
			 m.last.decision == KARGS_WRITE_AND_REBOOT);
		assert_int_equal(m.reboots, 1);
		assert_true(kargs_has(m.cmdline, "good=1"));
		assert_non_null(strstr(m.last.why, "a trial of other arguments has just died"));
		settle(&m);
	}
	/* and good ones come through at once */
	assert_int_equal(power_on(&m, "fine=1"), KARGS_SAME);
	machine_done(&m);
}

/* What else is on the line would keep ours out of force: known before any reboot. */
static void test_conflict(void **state)
{
	static const struct {
		const char *image, *wanted, *names;
	} cases[] = {
		{"hugepagesz=1G hugepages=4", WANTED, "hugepagesz=1024M hugepages=4"},
		{"isolcpus=1-3", "isolcpus=2-3", "isolcpus=1-3"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct machine m;

		machine_init(&m);
		assert_int_equal(power_on(&m, "quiet"), KARGS_SAME);
		m.image_args = cases[i].image;
		m.reboots = m.writes = 0;
		assert_int_equal(power_on(&m, cases[i].wanted), KARGS_CONFLICT);
		assert_int_equal(power_on(&m, cases[i].wanted), KARGS_CONFLICT);
		assert_non_null(strstr(m.last.why, cases[i].names));
		assert_int_equal(m.reboots, 0);
		assert_int_equal(m.writes, 0);
		/* the user takes his own away */
		m.image_args = NULL;
		assert_int_equal(power_on(&m, cases[i].wanted), KARGS_SAME);
		assert_int_equal(m.reboots, 1);
		machine_done(&m);
	}
}

/* A last-wins key of the user's before ours is no obstacle. */
static void test_users_own_key(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.image_args = "skew_tick=0";
	assert_int_equal(power_on(&m, "skew_tick=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	assert_int_equal(m.last.conflicts.n, 1);
	machine_done(&m);
}

/* What a trial and a count add is before ours: the last one wins. */
static void test_keys_of_a_trial(void **state)
{
	static const char *const wanted[] = {
		"panic=10",
		"panic=30",
		"oops=panic panic=0",
		"rd.timeout=90 panic=10",
		"sysctl.kernel.hung_task_panic=1 rcupdate.rcu_cpu_stall_timeout=120",
	};
	struct machine m;

	(void)state;
	machine_init(&m);
	for (size_t i = 0; i < array_len(wanted); i++) {
		assert_int_equal(power_on(&m, wanted[i]), KARGS_SAME);
		assert_int_equal(m.reboots, i + 1);
		assert_int_equal(power_on(&m, wanted[i]), KARGS_SAME);
		assert_true(kargs_has(m.cmdline, "railhead.begun=1"));
	}
	machine_done(&m);
}

static void test_line_too_long(void **state)
{
	struct machine m;
	char own[800], image[1300];

	(void)state;
	machine_init(&m);
	snprintf(own, sizeof(own), "a=%0*d", (int)sizeof(own) - 4, 1);
	snprintf(image, sizeof(image), "b=%0*d", (int)sizeof(image) - 4, 1);
	m.image_args = image;
	assert_int_equal(power_on(&m, own), KARGS_CONFLICT);
	assert_non_null(strstr(m.last.why, "characters"));
	assert_int_equal(m.reboots, 0);
	m.image_args = NULL;
	assert_int_equal(power_on(&m, own), KARGS_SAME);
	machine_done(&m);
}

/* The variable comes back into the menu: the trial counts as never made. */
static void test_variable_comes_back(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.entry_has_variable = false;
	assert_int_equal(power_on(&m, WANTED), KARGS_NOT_ARRIVED);
	assert_int_equal(power_on(&m, WANTED), KARGS_NOT_ARRIVED);
	assert_int_equal(m.reboots, 1);
	m.entry_has_variable = true;
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 2);
	assert_int_equal(m.last.deaths, 0);
	/* gone from a machine that had converged: no reboot is spent on it */
	m.entry_has_variable = false;
	assert_int_equal(power_on(&m, "a=1"), KARGS_NOT_ARRIVED);
	assert_non_null(strstr(m.last.why, "GRUB booted a menu entry without $railhead_kargs"));
	assert_int_equal(m.reboots, 2);
	machine_done(&m);
}

/* After a reset no slot is good; deadly args are rejected then as well. */
static void test_deadly_after_reset(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	reset(&m);
	m.reboots = 0;
	m.deadly = "bad=1";
	for (int i = 0; i < 3; i++)
		assert_int_equal(power_on(&m, "bad=1"), KARGS_REJECTED);
	assert_int_equal(m.reboots, TRIAL_MAX);
	machine_done(&m);
}

/* A power cut in the middle of a trial is one death: the second trial succeeds. */
static void test_power_cut_in_trial(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.boot = 1;
	m.cmdline = grub(&m);
	decide(&m, WANTED, &m.last, true, false);
	assert_int_equal(m.last.decision, KARGS_WRITE_AND_REBOOT);
	free(grub(&m)); /* GRUB takes it, and the light goes out */
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.last.deaths, 1);
	machine_done(&m);
}

/*
 * A power cut right after the file was created, on a file system whose journal GRUB does not read:
 * the boot after it has no marker, and that is no proof that GRUB passes by.
 */
static void test_power_cut_while_creating(void **state)
{
	struct boot_id id = {.id = "boot-1", .kernel = "6.1"};
	struct machine m;

	(void)state;
	machine_init(&m);
	m.grub_late = true;
	assert_int_equal(env_create(&ROOT, m.dirfd, &id, NULL, NULL), 0);
	m.boot = 1;
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	machine_done(&m);
}

/*
 * The same after arming, which only a mounted XFS that is not railhead's own can hide from GRUB:
 * that boot makes no reboot, and the next one takes the trial.
 */
static void test_power_cut_hides_trial(void **state)
{
	struct machine m;
	struct trial t;

	(void)state;
	machine_init(&m);
	m.boot = 1;
	m.cmdline = grub(&m);
	decide(&m, WANTED, &t, true, false);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	trial_free(&t);
	m.grub_late = true;
	assert_int_equal(power_on(&m, WANTED), KARGS_NOT_ARRIVED);
	assert_int_equal(m.reboots, 0);
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 0);
	machine_done(&m);
}

/* Cut after every step of arming: no step alone counts as a death. */
static void test_power_cut_while_arming(void **state)
{
	(void)state;
	for (size_t cut = 0; cut <= 4; cut++) {
		cleanup_kargs struct kargs w = {0};
		struct boot_id id = {.id = "boot-1", .kernel = "6.1"};
		struct boot_env env;
		struct env_plan plan;
		struct machine m;

		machine_init(&m);
		kargs_split(&w, WANTED, NULL);
		assert_int_equal(env_create(&ROOT, m.dirfd, &id, &env, NULL), 0);
		assert_int_equal(env_plan_arm(&env, &w, 0, &id, &plan, NULL), 0);
		m.boot = 1;
		plan.n = cut < plan.n ? cut : plan.n;
		assert_int_equal(env_write(m.dirfd, &plan, NULL), 0);
		assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
		assert_int_equal(m.last.deaths, 0);
		assert_true(m.reboots <= 1);
		machine_done(&m);
	}
}

/* --- good args on a kernel or image that they were never tried on --------------------------- */

/* Rolled back to a kernel that they kill: three boots are lost, then it boots without them. */
static void test_other_kernel(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.kernel = "6.9";
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.kernel = m.deadly_on = "6.1";
	m.deadly = "a=1";
	m.reboots = m.lost = 0;
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_int_equal(m.lost, 3);
	assert_int_equal(m.reboots, 1);
	assert_false(kargs_has(m.cmdline, "a=1"));
	assert_non_null(strstr(m.last.why, "2 trial boots with them on kernel 6.1 died"));
	/* Each boot from here on lives. */
	for (int i = 0; i < 20; i++)
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_int_equal(m.lost, 3);
	/* The older image wants none at all, or others. */
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_int_equal(power_on(&m, "old=1"), KARGS_SAME);
	/* Back to the newer kernel: they come again, by one trial. */
	m.kernel = "6.9";
	m.reboots = 0;
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	assert_int_equal(m.lost, 3);
	machine_done(&m);
}

/* The same, and the older image's profile wants others: they are tried as any others. */
static void test_other_image(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.kernel = "6.1-old";
	m.deadly = "a=1";
	m.reboots = 0;
	assert_int_equal(power_on(&m, "old=1"), KARGS_SAME);
	assert_int_equal(m.lost, 2);
	assert_int_equal(m.reboots, 1);
	machine_done(&m);
}

/* Two power cuts in a row before railhead: the args are left out once, tried, and good again. */
static void test_two_power_cuts(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.reboots = 0;
	for (int cuts = 1; cuts <= 2; cuts++) {
		for (int i = 0; i < cuts; i++)
			free(grub(&m));
		assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
		assert_int_equal(m.reboots, cuts - 1);
	}
	assert_int_equal(m.last.note, NOTE_COMMIT);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env_slot(&env, env.good), "a=1");
	assert_int_equal(env.begun, '0');
	/* One cut now and then is none. */
	for (int i = 0; i < 10; i++) {
		free(grub(&m));
		assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	}
	assert_int_equal(m.reboots, 1);
	machine_done(&m);
}

/* It says why, while it goes to try them once more. */
static void test_left_out_is_said(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	free(grub(&m));
	free(grub(&m));
	assert_true(begin(&m));
	assert_true(kargs_has(m.cmdline, "railhead.slot=-b"));
	assert_false(kargs_has(m.cmdline, "a=1"));
	trial_free(&m.last);
	decide(&m, "a=1", &m.last, true, false);
	assert_int_equal(m.last.decision, KARGS_WRITE_AND_REBOOT);
	assert_non_null(strstr(m.last.why, "trial 2 of 2; GRUB left the earlier arguments out"));
	machine_done(&m);
}

/* A machine that does not boot without them gets them in every other boot. */
static void test_needed_args(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.needed = "a=1";
	for (int cuts = 2; cuts < 6; cuts++) {
		m.lost = m.reboots = 0;
		for (int i = 0; i < cuts; i++)
			free(grub(&m));
		assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
		assert_true(m.lost <= 1);
		assert_int_equal(m.reboots, 0);
	}
	machine_done(&m);
}

/* Cut after every step of what a boot without the args writes down. */
static void test_power_cut_while_left_out(void **state)
{
	(void)state;
	for (size_t cut = 0; cut <= ENV_STEPS_MAX; cut++) {
		struct boot_id id = {.id = "boot-9", .kernel = "6.1"};
		struct boot_env env;
		struct env_plan plan;
		struct machine m;

		machine_init(&m);
		assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
		free(grub(&m));
		free(grub(&m));
		free(grub(&m));
		assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
		assert_int_equal(env.begun, '3');
		env_plan_left_out(&env, &id, &plan);
		plan.n = cut < plan.n ? cut : plan.n;
		assert_int_equal(env_write(m.dirfd, &plan, NULL), 0);
		assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
		assert_true(m.reboots <= 2);
		machine_done(&m);
	}
}

/* The next boot is of another kernel, which a=1 kills: the node comes back without them. */
static void comes_back(struct machine *m, const char *wanted)
{
	m->kernel = m->deadly_on = "6.1-old";
	m->deadly = "a=1";
	m->lost = 0;
	power_on(m, wanted);
	assert_false(kargs_has(m->cmdline, "a=1"));
	assert_true(m->lost <= 3);
}

/* The same, killed by them behind the initrd stage, which leaves the count. */
static void test_other_kernel_dies_late(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.late = true;
	comes_back(&m, "a=1");
	assert_int_equal(m.last.decision, KARGS_REJECTED);
	assert_int_equal(m.lost, 3);
	/* Other args have their trial there, and each kernel its own. */
	assert_int_equal(power_on(&m, "b=1"), KARGS_SAME);
	m.kernel = "6.1";
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.begun, '0');
	machine_done(&m);
}

/* A boot of good args writes once; railhead's own reboots, and trials that die, are no lost boots.
 */
static void test_count_of_good_args(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.counts = m.writes = 0;
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.counts, 1);
	assert_int_equal(m.writes, 0);
	m.deadly = "a=2";
	assert_int_equal(power_on(&m, "a=2"), KARGS_REJECTED);
	assert_int_equal(m.lost, 2);
	assert_true(kargs_has(m.cmdline, "a=1"));
	/* None: no args go on trial, which GRUB counts all the same. */
	m.deadly = NULL;
	m.needed = "a=1";
	m.lost = 0;
	assert_int_equal(power_on(&m, ""), KARGS_REJECTED);
	assert_int_equal(m.lost, 2);
	assert_true(kargs_has(m.cmdline, "a=1"));
	machine_done(&m);
}

/* GRUB has taken the trial of a=2, which the boot before has armed. */
static void take_trial(struct machine *m)
{
	assert_int_equal(power_on(m, "a=1"), KARGS_SAME);
	assert_true(begin(m));
	trial_free(&m->last);
	decide(m, "a=2", &m->last, true, false);
	assert_int_equal(m->last.decision, KARGS_WRITE_AND_REBOOT);
	free(grub(m));
}

static unsigned int deaths(struct machine *m)
{
	struct boot_env env;

	assert_int_equal(env_read(m->dirfd, &env, NULL), 0);
	return env.state.deaths;
}

/* A trial that died, then a boot by an entry without the variable, or not by GRUB at all. */
static void test_death_before_another_entry(void **state)
{
	(void)state;
	for (int network = 0; network <= 1; network++) {
		struct machine m;

		machine_init(&m);
		m.deadly = "a=2";
		take_trial(&m);
		m.entry_has_variable = false;
		m.grub_reads = !network;
		assert_int_equal(power_on(&m, "a=2"), KARGS_NOT_ARRIVED);
		assert_int_equal(deaths(&m), 1);
		m.entry_has_variable = m.grub_reads = true;
		m.lost = 0;
		assert_int_equal(power_on(&m, "a=2"), KARGS_REJECTED);
		assert_int_equal(m.lost, 1);
		machine_done(&m);
	}
}

/* GRUB takes the trial for an entry without the variable, and that boot has no verdict. */
static void test_no_death_by_another_entry(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_true(begin(&m));
	trial_free(&m.last);
	decide(&m, "a=2", &m.last, true, false);
	m.entry_has_variable = false;
	assert_true(begin(&m));
	trial_free(&m.last);
	decide(&m, "a=2", &m.last, true, false);
	assert_int_equal(m.last.decision, KARGS_NOT_ARRIVED);
	assert_non_null(strstr(m.last.why, "has no $railhead_kargs"));
	m.entry_has_variable = true;
	assert_true(begin(&m));
	trial_free(&m.last);
	decide(&m, "a=2", &m.last, true, false);
	assert_non_null(strstr(m.last.why, "trial 1 of 2"));
	assert_int_equal(power_on(&m, "a=2"), KARGS_SAME);
	machine_done(&m);
}

/* The mend alone, cut before the arrival: GRUB counts on where the count was changed. */
static void test_mended_count(void **state)
{
	struct boot_id id = {.id = "boot-9"};
	cleanup_free char *text = NULL;
	struct boot_env env;
	struct env_plan plan;
	struct machine m;
	size_t len;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(env_read_bytes(m.dirfd, &text, &len, NULL), 0);
	text[3599] = 'x';
	assert_int_equal(env_parse(text, len, &env, NULL), 1);
	env_plan_mend(text, &env, &id, &plan);
	assert_int_equal(plan.after.begun, '0');
	text[3599] = ENV_NONE;
	assert_int_equal(env_parse(text, len, &env, NULL), 0);
	env_plan_mend(text, &env, &id, &plan);
	assert_int_equal(plan.after.begun, ENV_NONE);
	machine_done(&m);
}

/* Two bytes, before any trial: the file says that GRUB took one, and left its args out. */
static void test_trial_of_nothing(void **state)
{
	cleanup_free char *text = NULL;
	struct machine m;
	struct boot_env env;
	size_t len;

	(void)state;
	machine_init(&m);
	assert_int_equal(env_create(&ROOT, m.dirfd, &(struct boot_id){.id = "boot-0"}, &env, NULL),
			 0);
	snprintf(env.slot[0], sizeof(env.slot[0]), "a=1");
	env.try_ = ENV_TAKEN;
	env.begun = '2';
	text = xcalloc(ENV_SIZE, 1);
	env_render(&env, text);
	len = ENV_SIZE;
	write_back(&m, text, len);
	assert_true(begin(&m));
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.state.n_refused, 0);
	machine_done(&m);
}

/* Cut after every step by which args become good: GRUB counts the boots with them. */
static void test_power_cut_while_made_good(void **state)
{
	(void)state;
	for (int adopts = 0; adopts <= 1; adopts++)
		for (size_t cut = 0; cut <= ENV_STEPS_MAX; cut++) {
			cleanup_kargs struct kargs w = {0};
			struct boot_id id = {.id = "boot-9", .kernel = "6.1"};
			struct boot_env env;
			struct env_plan plan;
			struct machine m;

			machine_init(&m);
			assert_int_equal(power_on(&m, ""), KARGS_SAME);
			kargs_split(&w, "a=1", NULL);
			if (adopts) {
				assert_int_equal(env_create(&ROOT, m.dirfd, &id, &env, NULL), 0);
				assert_int_equal(env_plan_adopt(&env, &w, true, &id, &plan, NULL),
						 0);
			} else {
				m.no_commit = true;
				assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
				m.no_commit = false;
				assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
				env_plan_commit(&env, 'b', &id, &plan);
			}
			plan.n = cut < plan.n ? cut : plan.n;
			assert_int_equal(env_write(m.dirfd, &plan, NULL), 0);
			comes_back(&m, "a=1");
			machine_done(&m);
		}
}

/*
 * No args are good, and one byte makes the slot of those good that are refused, or on trial: GRUB
 * counts boots with them all the same.
 */
static void test_one_byte_makes_refused_good(void **state)
{
	(void)state;
	for (int taken = 0; taken <= 1; taken++) {
		cleanup_free char *text = NULL;
		struct machine m;
		size_t len;

		machine_init(&m);
		m.deadly = "a=1";
		assert_int_equal(power_on(&m, ""), KARGS_SAME);
		if (!taken) {
			assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		} else {
			assert_true(begin(&m));
			trial_free(&m.last);
			decide(&m, "a=1", &m.last, true, false);
			if (m.last.decision == KARGS_WRITE_AND_REBOOT)
				free(grub(&m));
		}
		assert_int_equal(env_read_bytes(m.dirfd, &text, &len, NULL), 0);
		assert_int_equal(text[39], 'a');
		text[39] = 'b';
		write_back(&m, text, len);
		m.lost = 0;
		for (int i = 0; i < 3; i++)
			power_on(&m, "a=1");
		assert_true(m.lost <= 3);
		assert_false(kargs_has(m.cmdline, "a=1"));
		machine_done(&m);
	}
}

/* No args are good, and GRUB counts for those that are rejected: there is nothing to leave out. */
static void test_none_are_left_out(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	m.deadly = "a=1";
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	for (int i = 0; i < 2; i++)
		free(grub(&m));
	assert_true(begin(&m));
	assert_true(kargs_has(m.cmdline, "railhead.slot=-a"));
	arrive(&m, true);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.good, 'a');
	assert_int_equal(env.begun, '0');
	assert_string_equal(env.slot[1], "a=1");
	trial_free(&m.last);
	decide(&m, "a=1", &m.last, true, false);
	assert_int_equal(m.last.decision, KARGS_REJECTED);
	trial_free(&m.last);
	decide(&m, "fine=1", &m.last, true, false);
	assert_int_equal(m.last.decision, KARGS_WRITE_AND_REBOOT);
	assert_null(strstr(m.last.why, "left the earlier arguments out"));
	m.lost = 0;
	assert_int_equal(power_on(&m, "fine=1"), KARGS_SAME);
	assert_int_equal(m.lost, 0);
	machine_done(&m);
}

/* None are wanted any more: none are kept, so that no boot is counted and nothing is written. */
static void test_none_are_kept(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env.slot[0], "");
	assert_string_equal(env.slot[1], "");
	assert_int_equal(env.begun, ENV_NONE);
	m.counts = m.writes = 0;
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_int_equal(m.counts + m.writes, 0);
	machine_done(&m);
}

/* A trial that died, and then the good args twice: the trial's args have had their turn. */
static void test_left_out_after_a_death(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_true(begin(&m));
	trial_free(&m.last);
	decide(&m, "a=2", &m.last, true, false);
	for (int i = 0; i < 3; i++)
		free(grub(&m));
	m.reboots = 0;
	assert_int_equal(power_on(&m, "a=2"), KARGS_REJECTED);
	assert_int_equal(m.reboots, 0);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	machine_done(&m);
}

/* Where GRUB can't write nothing is counted, and nothing is left out. */
static void test_count_without_grub(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.grub_writes = false;
	for (int i = 0; i < 5; i++)
		free(grub(&m));
	m.counts = 0;
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.begun, ENV_NONE);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.counts, 1);
	machine_done(&m);
}

/* No boot reaches a verdict: two trials, then the args count as rejected. */
static void test_no_verdict(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.no_commit = true;
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(power_on(&m, WANTED), KARGS_REJECTED);
	assert_int_equal(m.reboots, TRIAL_MAX);
	machine_done(&m);
}

/* A profile that is chosen anew in each boot must not make it loop. */
static void test_flip_flop(void **state)
{
	struct machine m;
	struct trial t;

	(void)state;
	machine_init(&m);
	m.boot = 1;
	m.cmdline = grub(&m);
	decide(&m, "a=1", &t, true, false);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	trial_free(&t);
	m.boot++;
	free(m.cmdline);
	m.cmdline = grub(&m);
	decide(&m, "a=2", &t, true, false);
	assert_int_equal(t.decision, KARGS_NOT_ARRIVED);
	assert_int_equal(t.note, NOTE_SUPERSEDED);
	trial_free(&t);
	machine_done(&m);
}

/* The kernel loses what is on trial, and it is wanted no longer by then: that is no death. */
static void test_lost_and_wanted_no_longer(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_true(begin(&m));
	trial_free(&m.last);
	decide(&m, "a=2", &m.last, true, false);
	assert_int_equal(m.last.decision, KARGS_WRITE_AND_REBOOT);
	m.dropped = "a=2";
	power_on(&m, "");
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.try_, ENV_NONE);
	m.dropped = NULL;
	assert_int_equal(power_on(&m, "a=2"), KARGS_SAME);
	assert_int_equal(m.last.deaths, 0);
	machine_done(&m);
}

static void test_image_args(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	m.image_args = WANTED;
	assert_int_equal(power_on(&m, WANTED), KARGS_WRITE_NO_REBOOT);
	assert_int_equal(m.reboots, 0);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env_slot(&env, env.good), WANTED);
	m.image_args = NULL;
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 0);
	machine_done(&m);
}

static void test_no_loader(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.loader_ok = false;
	assert_int_equal(power_on(&m, WANTED), KARGS_NO_LOADER);
	assert_non_null(strstr(m.last.why, "no grub.cfg"));
	assert_non_null(strstr(m.last.why, WANTED));
	m.image_args = WANTED;
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.writes, 0);
	machine_done(&m);
}

static void truncate_env(struct machine *m)
{
	int fd = openat(m->dirfd, ENV_FILE_NAME, O_WRONLY);

	assert_int_equal(ftruncate(fd, 1024), 0);
	close(fd);
}

static void test_damaged(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	/* GRUB takes nothing from it: it is made again, and a trial brings the args. */
	truncate_env(&m);
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 2);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env_slot(&env, env.good), WANTED);
	m.reboots = 1;
	/* Where none can, it waits for a person. */
	truncate_env(&m);
	m.loader_ok = false;
	assert_int_equal(power_on(&m, WANTED), KARGS_DAMAGED);
	assert_non_null(strstr(m.last.why, "1024 bytes long"));
	assert_non_null(strstr(m.last.why, "GRUB takes no arguments from the file"));
	assert_int_equal(m.reboots, 1);
	m.loader_ok = true;
	/* They are on the line, wherever from: the file is made again. */
	m.image_args = WANTED;
	assert_int_equal(power_on(&m, WANTED), KARGS_WRITE_NO_REBOOT);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env_slot(&env, env.good), WANTED);
	assert_int_equal(power_on(&m, WANTED), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	machine_done(&m);
}

/* The budget of reboots is spent: nothing is armed, until it is not. */
static void test_held(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.writes = m.reboots = 0;
	m.held = "railhead has made 5 reboots";
	m.held_as = KARGS_HELD;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(power_on(&m, "a=2"), KARGS_HELD);
		assert_string_equal(kargs_decision_name(m.last.decision), "held");
		assert_non_null(strstr(m.last.why, "(+a=2 -a=1)"));
		assert_non_null(
			strstr(m.last.why,
			       "railhead does not reboot for them: railhead has made 5 reboots"));
	}
	/* What needs no reboot is as ever. */
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.writes, 0);
	assert_int_equal(m.reboots, 0);
	truncate_env(&m);
	assert_int_equal(power_on(&m, "a=2"), KARGS_HELD);
	m.held = NULL;
	assert_int_equal(power_on(&m, "a=2"), KARGS_SAME);
	machine_done(&m);
}

/* One byte of it is changed, anywhere: the machine is as before within one boot and one reboot. */
static void test_one_byte(void **state)
{
	static const unsigned char changes[] = {0x01, 0x20, 0x80};

	(void)state;
	for (size_t i = 0; i < ENV_SIZE; i += i < 523 || i > 3583 ? 1 : 37)
		for (size_t j = 0; j < array_len(changes); j++) {
			cleanup_free char *text = NULL;
			struct machine m;
			size_t len;

			machine_init(&m);
			assert_int_equal(power_on(&m, "a=1 b=2"), KARGS_SAME);
			assert_int_equal(env_read_bytes(m.dirfd, &text, &len, NULL), 0);
			text[i] = (char)(text[i] ^ changes[j]);
			write_back(&m, text, len);
			m.reboots = 0;
			if (power_on(&m, "a=1 b=2") != KARGS_SAME ||
			    power_on(&m, "a=1 b=2") != KARGS_SAME || m.reboots > 1)
				fail_msg("byte %zu ^ 0x%02x: %d reboots, %s", i, changes[j],
					 m.reboots, m.last.why);
			machine_done(&m);
		}
}

/* Armed by hand in a running system, and asked again before the reboot. */
static void test_armed_in_this_boot(void **state)
{
	struct machine m;
	struct trial t;
	int writes;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	decide(&m, "a=2", &t, true, false);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	assert_false(t.armed);
	trial_free(&t);
	writes = m.writes;
	decide(&m, "a=2", &t, false, false);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	assert_true(t.armed);
	trial_free(&t);
	assert_int_equal(m.writes, writes);
	/* Thought better of it: disarmed, without a reboot. */
	decide(&m, "a=1", &t, true, false);
	assert_int_equal(t.decision, KARGS_WRITE_NO_REBOOT);
	trial_free(&t);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	assert_false(m.last.is_trial);
	machine_done(&m);
}

static void test_after_reset(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	reset(&m);
	assert_int_equal(power_on(&m, ""), KARGS_SAME);
	assert_null(strstr(m.cmdline, "railhead"));
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 2);
	machine_done(&m);
}

/* Whatever is wanted, no reboot and no trial until the update is confirmed; then one. */
static void test_other_counter(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	m.held = "greenboot counts";
	m.held_as = KARGS_COUNTED;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(power_on(&m, i == 1 ? "" : "a=2"), KARGS_COUNTED);
		assert_non_null(strstr(m.last.why, "greenboot counts"));
		assert_int_equal(m.last.note, NOTE_NONE);
	}
	/* What needs no reboot goes on. */
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	m.held = NULL;
	assert_int_equal(power_on(&m, "a=2"), KARGS_SAME);
	assert_int_equal(m.reboots, 2);
	machine_done(&m);
}

/* A counter is armed after a trial was: the reboot into it would be counted, too. */
static void test_other_counter_after_arming(void **state)
{
	struct machine m;
	struct trial t;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	decide(&m, "a=2", &t, true, false);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	trial_free(&t);
	m.held = "greenboot counts";
	m.held_as = KARGS_COUNTED;
	trial_free(&m.last);
	decide(&m, "a=2", &m.last, true, false);
	assert_int_equal(m.last.decision, KARGS_COUNTED);
	assert_non_null(strstr(m.last.why, "greenboot counts"));
	settle(&m);
	/* A reboot now brings no trial either. */
	m.reboots = 0;
	assert_int_equal(power_on(&m, "a=2"), KARGS_COUNTED);
	assert_false(kargs_has(m.cmdline, "railhead.trial=a"));
	assert_int_equal(m.reboots, 0);
	m.held = NULL;
	assert_int_equal(power_on(&m, "a=2"), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	machine_done(&m);
}

/* The line of a committed trial still says so; the slot was emptied since. */
static void test_reset_in_a_trial(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_true(kargs_has(m.cmdline, "railhead.trial=b"));
	reset(&m);
	trial_free(&m.last);
	decide(&m, "a=1", &m.last, false, false);
	assert_int_equal(m.last.decision, KARGS_SAME);
	assert_int_equal(m.last.note, NOTE_NONE);
	settle(&m);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.good, ENV_NONE);
	machine_done(&m);
}

/* A line of an older file, by kexec, where the profile wants nothing: what is on it is ours all the
 * same. */
static void test_line_of_another_file(void **state)
{
	struct machine m;
	struct trial t;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(unlinkat(m.dirfd, ENV_FILE_NAME, 0), 0);
	decide(&m, "", &t, false, false);
	assert_int_not_equal(t.decision, KARGS_SAME);
	assert_int_equal(t.dropped.n, 1);
	trial_free(&t);
	machine_done(&m);
}

/* --- how trials end ---------------------------------------------------------------------- */

/* The args' trials end so; what comes of them, in how many reboots, and what is kept of it. */
static void ends_in(const char *ends, enum kargs_decision decision, int reboots, const char *why,
		    const char *kept)
{
	struct machine m;
	struct boot_env env;

	machine_init(&m);
	assert_int_equal(power_on(&m, "good=1"), KARGS_SAME);
	m.reboots = 0;
	m.ends = ends;
	assert_int_equal(power_on(&m, "new=1"), decision);
	assert_int_equal(m.reboots, reboots);
	if (why && !strstr(m.last.why, why))
		fail_msg("%s: %s", ends, m.last.why);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env.ends, kept);
	/* And so it stays, without a byte more. */
	m.writes = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(power_on(&m, "new=1"), decision);
	assert_int_equal(m.writes, 0);
	assert_int_equal(m.reboots, reboots);
	machine_done(&m);
}

static void test_ends(void **state)
{
	(void)state;
	ends_in("-", KARGS_SAME, 1, NULL, "");
	ends_in("pp", KARGS_REJECTED, 2, "2 trial boots with them on kernel 6.1 died", "pp");
	ends_in("pp", KARGS_REJECTED, 2, "UTC: both panicked; the earlier", "pp");
	ends_in("tt", KARGS_REJECTED, 2, ": both came to no verdict within ten minutes;", "tt");
	ends_in("uu", KARGS_REJECTED, 2, ": both ended without a trace (reset, power cut);", "uu");
	ends_in("up", KARGS_REJECTED, 2, ": one panicked, one ended without a trace", "up");
	ends_in("p-", KARGS_SAME, 2, NULL, "p");
	/* Somebody else's shutdown, or a boot that railhead leaves alone, is no death ... */
	ends_in("ss-", KARGS_SAME, 3, NULL, "ss");
	ends_in("aa-", KARGS_SAME, 3, NULL, "aa");
	ends_in("sup-", KARGS_REJECTED, 3, "one panicked, one ended", "sup");
	ends_in("usa-", KARGS_SAME, 4, NULL, "usa");
	/* ... but two of them are all: no loop comes of one that reboots each boot. */
	ends_in("sss-", KARGS_SAME, 4, NULL, "sss");
	ends_in("ssss", KARGS_REJECTED, TRIAL_MAX + ENV_GIVEN_MAX,
		"2 trial boots with them on kernel 6.1 died, the last trial armed 2026-09-21 14:13 "
		"UTC: both were shut down before their verdict",
		"ssss");
	ends_in("asap", KARGS_REJECTED, TRIAL_MAX + ENV_GIVEN_MAX,
		": one panicked, one was left alone by railhead", "asap");
}

/* A boot's first look, and what it writes. */
static void look(struct machine *m, const char *wanted, bool retry)
{
	trial_free(&m->last);
	decide(m, wanted, &m->last, true, retry);
}

/* Why the same trial comes again is said. */
static void test_given_back_is_said(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.ends = "s";
	m.boot = 1;
	m.cmdline = grub(&m);
	look(&m, "new=1", false);
	assert_false(begin(&m));
	assert_true(begin(&m));
	look(&m, "new=1", false);
	assert_int_equal(m.last.decision, KARGS_WRITE_AND_REBOOT);
	assert_non_null(
		strstr(m.last.why, "trial 1 of 2 again, because the last trial was shut down"));
	machine_done(&m);
}

/* Other args are wanted by then: the trial that was given back is counted neither. */
static void test_given_back_and_wanted_no_longer(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	assert_int_equal(power_on(&m, "good=1"), KARGS_SAME);
	m.ends = "s";
	look(&m, "new=1", false);
	assert_false(begin(&m));
	assert_int_equal(power_on(&m, "good=1"), KARGS_SAME);
	m.deadly = "new=1";
	m.reboots = 0;
	assert_int_equal(power_on(&m, "new=1"), KARGS_REJECTED);
	assert_int_equal(m.reboots, TRIAL_MAX);
	machine_done(&m);
}

/* What is kept is lost, changed or full: never more reboots than with a few more attempts. */
static void test_ends_are_lost(void **state)
{
	static const char *const texts[] = {"",	  "p",	      "U",	 "S",
					    "pU", "ppppppps", "ppppppp", "UUUUUUUS"};

	(void)state;
	for (size_t i = 0; i < array_len(texts); i++) {
		char buf[ENV_SIZE];
		struct boot_env env;
		struct machine m;

		machine_init(&m);
		assert_int_equal(power_on(&m, "good=1"), KARGS_SAME);
		m.reboots = 0;
		m.deadly = "new=1";
		look(&m, "new=1", false);
		assert_false(begin(&m));
		assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
		snprintf(env.ends, sizeof(env.ends), "%s", texts[i]);
		env_render(&env, buf);
		write_back(&m, buf, sizeof(buf));
		assert_int_equal(power_on(&m, "new=1"), KARGS_REJECTED);
		assert_true(m.reboots <= 1 + ENV_GIVEN_MAX);
		machine_done(&m);
	}
}

/* An operator's retry begins again: two more attempts may be given back. */
static void test_retry_after_ends(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	m.ends = "ssssss-";
	assert_int_equal(power_on(&m, "new=1"), KARGS_REJECTED);
	look(&m, "new=1", true);
	assert_int_equal(m.last.decision, KARGS_WRITE_AND_REBOOT);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env.ends, "U");
	assert_int_equal(power_on(&m, "new=1"), KARGS_SAME);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_string_equal(env.ends, "ss");
	machine_done(&m);
}

/* The first cause stays, but a panic is one whatever was announced. */
static void test_first_cause(void **state)
{
	char ends[ENV_ENDS_MAX + 1] = "";

	(void)state;
	assert_false(ends_note(ends, ENV_END_STOP));
	ends_open(ends);
	assert_true(ends_note(ends, ENV_END_STOP));
	assert_false(ends_note(ends, ENV_END_TIMER));
	assert_true(ends_give_back(ends));
	assert_true(ends_note(ends, ENV_END_PANIC));
	assert_string_equal(ends, "P");
	assert_false(ends_give_back(ends));
	ends_settle(ends);
	assert_string_equal(ends, "p");
	assert_false(ends_note(ends, ENV_END_STOP));
	for (int i = 0; i < 2 * ENV_ENDS_MAX; i++) {
		ends_open(ends);
		ends_settle(ends);
	}
	assert_string_equal(ends, "puuuuuuu");
}

/* Who may say how a trial ended: the trial, and a boot left alone of which nothing is known. */
static void test_who_may_say(void **state)
{
	struct machine m;
	struct err err;

	(void)state;
	machine_init(&m);
	assert_int_equal(trial_ended(m.dirfd, "root=x", ENV_END_ALONE, true, &err), 0);
	assert_int_equal(power_on(&m, "good=1"), KARGS_SAME);
	assert_int_equal(trial_ended(m.dirfd, m.cmdline, ENV_END_STOP, true, &err), 0);
	look(&m, "new=1", false);
	/* armed, and not taken */
	assert_int_equal(trial_ended(m.dirfd, "root=x", ENV_END_ALONE, true, &err), 0);
	m.boot++;
	free(m.cmdline);
	m.cmdline = grub(&m);
	assert_int_equal(trial_ended(m.dirfd, "x railhead.slot=b", ENV_END_ALONE, true, &err), 0);
	assert_int_equal(trial_ended(m.dirfd, "x railhead.slot=b", ENV_END_STOP, true, &err), 0);
	assert_int_equal(trial_ended(m.dirfd, "root=x", ENV_END_STOP, true, &err), 0);
	assert_int_equal(trial_ended(m.dirfd, "root=x single", ENV_END_ALONE, false, &err), 1);
	assert_int_equal(trial_ended(m.dirfd, m.cmdline, ENV_END_STOP, true, &err), 1);
	assert_int_equal(trial_ended(m.dirfd, m.cmdline, ENV_END_STOP, true, &err), 0);
	assert_int_equal(trial_ended(m.dirfd, "root=x single", ENV_END_ALONE, true, &err), 0);
	machine_done(&m);
}

/*
 * railhead.env is another one by the time that a trial of a=1 in slot b runs. Args are made good by
 * the verdict of their trial alone, and a file that was never written for it has none. wanted,
 * except in the last rows: a=1.
 *
 *     what the file says                         the boot               written down
 *     -----------------------------------------  ---------------------  -----------------------
 *     nothing: no trial, no args                 has its args           nothing
 *     nothing, and it is new                     has its args           nothing
 *     nothing, after a reset                     has its args           nothing
 *     a=1 is refused                             has its args           nothing
 *     others are armed                           has its args           they are disarmed
 *     a=1 is armed                               has its args           nothing: they are tried
 *     others are good                            has its args           nothing
 *     a=1 is good                                has its args           nothing
 *     GRUB took the trial of a=1                 is that trial          a=1 is good
 *     GRUB took a trial of others                has its args           that one is over
 *     nothing, and the kernel lost a=1           tries it later         nothing
 *     nothing, and others are wanted             tries them later       nothing
 */
static void test_other_file_in_a_trial(void **state)
{
	static const struct {
		struct boot_env env;
		const char *wanted, *lost;
		enum kargs_decision decision;
		char good, try_; /* once the boot is over; 0: not one byte is written */
	} rows[] = {
		{{.good = 'a', .slot = {"", "x=1"}}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = 'a'}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = ENV_NONE}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = 'a', .state.n_refused = 1}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = 'a', .try_ = 'b', .slot = {"", "x=1"}},
		 "a=1",
		 NULL,
		 KARGS_WRITE_NO_REBOOT,
		 'a',
		 ENV_NONE},
		{{.good = 'a', .try_ = 'b', .slot = {"", "a=1"}}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = 'a', .slot = {"x=1", ""}}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = 'b', .slot = {"", "x=1"}}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = 'a', .slot = {"a=1", ""}}, "a=1", NULL, KARGS_SAME, 0, 0},
		{{.good = 'a', .try_ = 't', .slot = {"", "a=1"}},
		 "a=1",
		 NULL,
		 KARGS_SAME,
		 'b',
		 ENV_NONE},
		{{.good = 'a', .try_ = 't', .slot = {"", "x=1"}},
		 "a=1",
		 NULL,
		 KARGS_SAME,
		 'a',
		 ENV_NONE},
		{{.good = 'a', .slot = {"", "x=1"}}, "a=1", "a=1", KARGS_NOT_ARRIVED, 0, 0},
		{{.good = 'a', .slot = {"", "a=1"}}, "a=1", "a=1", KARGS_NOT_ARRIVED, 0, 0},
		{{.good = 'a', .slot = {"x=1", ""}}, "x=1", NULL, KARGS_NOT_ARRIVED, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++) {
		struct boot_env env = rows[i].env, after;
		char before[ENV_SIZE], hash[KARGS_HASH_LEN + 1];
		cleanup_free char *now = NULL;
		struct machine m;
		size_t len;

		machine_init(&m);
		assert_int_equal(power_on(&m, ""), KARGS_SAME);
		assert_true(begin(&m));
		trial_free(&m.last);
		decide(&m, "a=1", &m.last, true, false);
		m.dropped = rows[i].lost;
		m.reboots = 0;
		assert_true(begin(&m));
		env.try_ = env.try_ ? env.try_ : ENV_NONE;
		env.begun = *env.slot[0] || *env.slot[1] ? '0' : ENV_NONE;
		if (env.state.n_refused) {
			env.state.refused[0].deaths = 2;
			kargs_hash_line("a=1", env.state.refused[0].hash);
			kargs_hash_line("6.1", hash);
			memcpy(env.state.refused[0].kernel, hash, ENV_KERNEL_HASH_LEN);
		}
		env_render(&env, before);
		write_back(&m, before, ENV_SIZE);
		m.writes = 0;
		/* The stages and the gate, and all of them once more. */
		for (int again = 0; again < 2; again++) {
			trial_free(&m.last);
			decide(&m, rows[i].wanted, &m.last, true, false);
			if (again == 0 && m.last.decision != rows[i].decision)
				fail_msg("row %zu: %s: %s", i, kargs_decision_name(m.last.decision),
					 m.last.why);
			assert_true(m.last.decision != KARGS_WRITE_AND_REBOOT);
			settle(&m);
		}
		assert_int_equal(env_read_bytes(m.dirfd, &now, &len, NULL), 0);
		if (!rows[i].good) {
			assert_memory_equal(now, before, ENV_SIZE);
		} else {
			assert_int_equal(env_read(m.dirfd, &after, NULL), 0);
			assert_int_equal(after.good, rows[i].good);
			assert_int_equal(after.try_, rows[i].try_);
		}
		/* The later boots converge. */
		m.dropped = NULL;
		for (int boots = 0; boots < 3; boots++)
			power_on(&m, rows[i].wanted);
		assert_int_equal(m.last.decision,
				 env.state.n_refused ? KARGS_REJECTED : KARGS_SAME);
		assert_int_equal(kargs_has(m.cmdline, rows[i].wanted), !env.state.n_refused);
		assert_true(m.reboots <= 1);
		machine_done(&m);
	}
}

static unsigned int healthy(struct machine *m)
{
	struct boot_env env;

	assert_int_equal(env_read(m->dirfd, &env, NULL), 0);
	return env.healthy;
}

/* Two power cuts rejected good args: after three healthy boots they are tried again, and kept. */
static void test_forgiven(void **state)
{
	struct machine m;
	struct boot_env env;

	(void)state;
	machine_init(&m);
	m.retry_after = 3;
	assert_int_equal(power_on(&m, "old=1"), KARGS_SAME);
	m.deadly = "a=1";
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_non_null(strstr(m.last.why, "`railhead apply --retry` and reboot; they are tried "
					   "again after 3 more healthy boots"));
	assert_int_equal(healthy(&m), 0);
	/* The gate by hand: this boot is the one that rejected them. */
	trial_free(&m.last);
	decide(&m, "a=1", &m.last, true, false);
	settle(&m);
	assert_int_equal(healthy(&m), 0);
	m.deadly = NULL;
	m.reboots = m.writes = 0;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		assert_int_equal(healthy(&m), i + 1);
		assert_int_equal(m.writes, i + 1);
	}
	assert_non_null(strstr(m.last.why, "again after 1 more healthy boot"));
	assert_int_equal(m.reboots, 0);
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 1);
	assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
	assert_int_equal(env.state.n_refused, 0);
	assert_int_equal(env.healthy, 0);
	/* converged: nothing is counted */
	m.writes = 0;
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.writes, 0);
	machine_done(&m);
}

/* They still kill: each time one boot, and the healthy boots count from 0 again. */
static void test_forgiven_and_deadly(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.retry_after = 2;
	assert_int_equal(power_on(&m, "old=1"), KARGS_SAME);
	m.deadly = "a=1";
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	for (int round = 1; round <= 9; round++) {
		cleanup_free char *why =
			xasprintf("%d trial boots with them", round + 2 > 9 ? 9 : round + 2);

		m.lost = m.reboots = 0;
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		assert_int_equal(m.reboots, 0);
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		assert_int_equal(m.lost, 1);
		assert_int_equal(m.reboots, 1);
		assert_int_equal(healthy(&m), 0);
		if (round < 8)
			assert_non_null(strstr(m.last.why, why));
		assert_non_null(strstr(m.last.why, "again after 2 more healthy boots"));
	}
	machine_done(&m);
}

/* A boot in which something fails, one that has no verdict, a kernel that they aren't refused on.
 */
static void test_what_counts_as_healthy(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.retry_after = 2;
	assert_int_equal(power_on(&m, "old=1"), KARGS_SAME);
	m.deadly = "a=1";
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	m.writes = 0;
	m.sick = true;
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	m.sick = false;
	m.no_commit = true;
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	m.no_commit = false;
	/* nothing is refused of what is wanted */
	assert_int_equal(power_on(&m, "old=1"), KARGS_SAME);
	assert_int_equal(healthy(&m), 1);
	assert_int_equal(m.writes, 0);
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_int_equal(healthy(&m), 2);
	/* a site that wants none of it */
	m.retry_after = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_null(strstr(m.last.why, "healthy"));
	assert_int_equal(m.writes, 1);
	machine_done(&m);
}

/* An operator's --retry is as before, and forgives at once. */
static void test_retry_before_forgiven(void **state)
{
	struct machine m;
	struct trial t;

	(void)state;
	machine_init(&m);
	m.retry_after = 5;
	m.deadly = "a=1";
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_int_equal(healthy(&m), 1);
	decide(&m, "a=1", &t, true, true);
	assert_int_equal(t.decision, KARGS_WRITE_AND_REBOOT);
	trial_free(&t);
	assert_int_equal(healthy(&m), 0);
	m.lost = 0;
	assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	assert_int_equal(m.lost, 2);
	machine_done(&m);
}

/* An orderly stop in the one more trial: that is tried again at once, and does not wait as long
 * again. */
static void test_forgiven_and_given_back(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.retry_after = 2;
	assert_int_equal(power_on(&m, "old=1"), KARGS_SAME);
	m.ends = "pps-";
	for (int i = 0; i < 3; i++)
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
	m.reboots = 0;
	assert_int_equal(power_on(&m, "a=1"), KARGS_SAME);
	assert_int_equal(m.reboots, 2);
	machine_done(&m);
}

/* Args that the kernel lost: forgiven as well, and lost again. */
static void test_forgiven_did_not_arrive(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m);
	m.retry_after = 2;
	m.dropped = "a=1";
	assert_int_equal(power_on(&m, "a=1"), KARGS_NOT_ARRIVED);
	for (int round = 0; round < 3; round++) {
		m.reboots = 0;
		for (int i = 0; i < 2; i++) {
			assert_int_equal(power_on(&m, "a=1"), KARGS_NOT_ARRIVED);
			assert_non_null(strstr(m.last.why, "in an earlier trial"));
			assert_non_null(strstr(m.last.why, "more healthy boot"));
		}
		assert_int_equal(m.reboots, 0);
		if (round == 2)
			m.dropped = NULL;
		assert_int_equal(power_on(&m, "a=1"), round < 2 ? KARGS_NOT_ARRIVED : KARGS_SAME);
		assert_int_equal(m.reboots, 1);
	}
	machine_done(&m);
}

/* Cut after every step of arming what is forgiven: at most one boot is lost more, none for ever. */
static void test_power_cut_while_forgiving(void **state)
{
	(void)state;
	for (size_t cut = 0; cut <= ENV_STEPS_MAX; cut++) {
		cleanup_kargs struct kargs w = {0};
		struct boot_id id = {.id = "boot-x", .kernel = "6.1"};
		struct boot_env env;
		struct env_plan plan;
		struct machine m;

		machine_init(&m);
		m.retry_after = 1;
		m.deadly = "a=1";
		kargs_split(&w, "a=1", NULL);
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		assert_int_equal(env_read(m.dirfd, &env, NULL), 0);
		assert_int_equal(env_plan_try_again(&env, &w, &id, &plan, NULL), 0);
		plan.n = cut < plan.n ? cut : plan.n;
		assert_int_equal(env_write(m.dirfd, &plan, NULL), 0);
		m.lost = 0;
		assert_int_equal(power_on(&m, "a=1"), KARGS_REJECTED);
		assert_true(m.lost <= 2);
		assert_int_equal(healthy(&m), 0);
		machine_done(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_boot),
		cmocka_unit_test(test_no_args_no_file),
		cmocka_unit_test(test_new_version_and_back),
		cmocka_unit_test(test_never_arrives),
		cmocka_unit_test(test_direct_kernel_boot),
		cmocka_unit_test(test_deadly_args),
		cmocka_unit_test(test_deadly_then_mended),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_other_args_after_a_death),
		cmocka_unit_test(test_conflict),
		cmocka_unit_test(test_users_own_key),
		cmocka_unit_test(test_keys_of_a_trial),
		cmocka_unit_test(test_line_too_long),
		cmocka_unit_test(test_variable_comes_back),
		cmocka_unit_test(test_deadly_after_reset),
		cmocka_unit_test(test_power_cut_in_trial),
		cmocka_unit_test(test_power_cut_while_creating),
		cmocka_unit_test(test_power_cut_hides_trial),
		cmocka_unit_test(test_power_cut_while_arming),
		cmocka_unit_test(test_other_kernel),
		cmocka_unit_test(test_other_image),
		cmocka_unit_test(test_two_power_cuts),
		cmocka_unit_test(test_left_out_is_said),
		cmocka_unit_test(test_needed_args),
		cmocka_unit_test(test_power_cut_while_left_out),
		cmocka_unit_test(test_power_cut_while_made_good),
		cmocka_unit_test(test_one_byte_makes_refused_good),
		cmocka_unit_test(test_none_are_left_out),
		cmocka_unit_test(test_other_kernel_dies_late),
		cmocka_unit_test(test_count_of_good_args),
		cmocka_unit_test(test_death_before_another_entry),
		cmocka_unit_test(test_no_death_by_another_entry),
		cmocka_unit_test(test_mended_count),
		cmocka_unit_test(test_trial_of_nothing),
		cmocka_unit_test(test_none_are_kept),
		cmocka_unit_test(test_left_out_after_a_death),
		cmocka_unit_test(test_count_without_grub),
		cmocka_unit_test(test_no_verdict),
		cmocka_unit_test(test_flip_flop),
		cmocka_unit_test(test_lost_and_wanted_no_longer),
		cmocka_unit_test(test_image_args),
		cmocka_unit_test(test_no_loader),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_one_byte),
		cmocka_unit_test(test_armed_in_this_boot),
		cmocka_unit_test(test_after_reset),
		cmocka_unit_test(test_reset_in_a_trial),
		cmocka_unit_test(test_other_file_in_a_trial),
		cmocka_unit_test(test_forgiven),
		cmocka_unit_test(test_forgiven_and_deadly),
		cmocka_unit_test(test_what_counts_as_healthy),
		cmocka_unit_test(test_retry_before_forgiven),
		cmocka_unit_test(test_forgiven_and_given_back),
		cmocka_unit_test(test_forgiven_did_not_arrive),
		cmocka_unit_test(test_power_cut_while_forgiving),
		cmocka_unit_test(test_other_counter),
		cmocka_unit_test(test_line_of_another_file),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_given_back_is_said),
		cmocka_unit_test(test_given_back_and_wanted_no_longer),
		cmocka_unit_test(test_ends_are_lost),
		cmocka_unit_test(test_retry_after_ends),
		cmocka_unit_test(test_first_cause),
		cmocka_unit_test(test_who_may_say),
		cmocka_unit_test(test_other_counter_after_arming),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
