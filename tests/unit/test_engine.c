/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stages over small trees: what is set in which order, and what is said of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../lib/clock.h"
#include "engine/freeze.h"
#include "engine/run.h"
#include "checks/looks.h"
#include "kinds/netlink.h"
#include "kinds/vf.h"
#include "profile/yaml.h"
#include "sys/clock.h"
#include "reason.h"
#include "tree.h"

enum { SECOND = 1000000 };
#define LONG (600 * (uint64_t)SECOND) /* a deadline that is not reached */

/* Every fork of the program under test is counted. */
static int forks;
pid_t __fork(void);
pid_t fork(void);
pid_t fork(void)
{
	forks++;
	return __fork();
}

/* --- a run made by hand -------------------------------------------------------------------- */

static const struct place nowhere;

static struct run make_run(struct tmp *t)
{
	struct run run = {.root = &t->root};

	assert_int_equal(node_survey(&t->root, &run.node, &t->err), 0);
	return run;
}

static struct change *add(struct run *run, const struct kind *kind, enum stage stage,
			  enum phase phase, const char *id, const char *target, const char *desired)
{
	struct change *c = plan_add(&run->plan, "test", kind, stage, phase, nowhere, "%s", id);

	change_target(c, "%s", target);
	change_desired(c, "%s", desired);
	return c;
}

/* Of a PF or its first VF, with what is wanted as a number. */
static struct change *add_item(struct run *run, const struct target_item *item, enum stage stage,
			       enum phase phase, const char *id, const char *pf, int64_t wanted)
{
	struct change *c = add(run, item->kind, stage, phase, id, pf, "");

	change_on(c, pf, item);
	if (item == &vf_driver)
		c->on.vf = 0;
	c->want = (struct value){.type = VALUE_NUMBER, .number = wanted};
	item_desired(c);
	return c;
}

static struct change *add_attr(struct run *run, enum phase phase, const char *name,
			       const char *desired)
{
	cleanup_free char *target = xasprintf("/proc/sys/%s", name);

	return add(run, &kind_attr, STAGE_EARLY, phase, name, target, desired);
}

/* What the sink was told, in order: "ID=STATE ID=STATE". */
static void note(void *data, enum stage stage, const struct change *c)
{
	(void)stage;
	str_addf(data, "%s%s=%s", ((struct str *)data)->len ? " " : "", c->id,
		 state_name(c->now.state));
}

static struct stage_result apply_until(struct run *run, enum stage stage, uint64_t deadline,
				       struct str *told)
{
	struct sink sink = {told, told ? note : NULL, NULL};
	struct stage_result result;

	run_apply(run, stage, 0, deadline, &sink, &result);
	assert_int_equal(result.stage, stage);
	return result;
}

static void applies(struct run *run, enum stage stage, const char *want)
{
	cleanup_str struct str told = {0};

	apply_until(run, stage, clock_usec() + LONG, &told);
	assert_string_equal(str_get(&told), want);
}

static const struct change *find(const struct run *run, const char *id)
{
	const struct change *c = plan_find(&run->plan, id);

	if (!c)
		fail_msg("no change %s", id);
	return c;
}

#define assert_state(run, name, wanted)                                             \
	do {                                                                        \
		const struct change *c_ = find(run, name);                          \
		if (c_->now.state != (wanted))                                      \
			fail_msg("%s is %s: %s", c_->id, state_name(c_->now.state), \
				 reason_of(c_) ? reason_of(c_) : "no reason");      \
	} while (0)

/* --- order ---------------------------------------------------------------------------------- */

static void test_phases_in_order(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	for (int i = 1; i <= 4; i++) {
		cleanup_free char *name = xasprintf("proc/sys/a%d", i);

		tmp_write(t, name, "0\n");
	}
	add_attr(&run, PHASE_SYSFS, "a1", "1");
	add_attr(&run, PHASE_FILES, "a2", "1");
	add_attr(&run, PHASE_MODULES, "a3", "1");
	add_attr(&run, PHASE_FILES, "a4", "1");
	applies(&run, STAGE_EARLY, "a2=set a4=set a3=set a1=set");
	assert_string_equal(tree_text(t, "proc/sys/a3"), "1");
	assert_string_equal(find(&run, "a3")->now.before, "0");
	run_close(&run);
}

/* Changes of other stages are left alone. */
static void test_one_stage_only(void **state)
{
	struct tmp *t = *state;
	struct stage_result result;
	struct run run = make_run(t);

	tmp_write(t, "proc/sys/early", "0\n");
	tmp_write(t, "proc/sys/initrd", "0\n");
	tmp_write(t, "proc/sys/gate", "0\n");
	add_attr(&run, PHASE_SYSCTL, "early", "1");
	add(&run, &kind_attr, STAGE_INITRD, PHASE_FILES, "initrd", "/proc/sys/initrd", "1");
	add(&run, &kind_attr, STAGE_GATE, PHASE_CHECK, "gate", "/proc/sys/gate", "1");
	result = apply_until(&run, STAGE_EARLY, clock_usec() + LONG, NULL);
	assert_int_equal(result.count[CHANGE_SET], 1);
	assert_string_equal(tree_text(t, "proc/sys/initrd"), "0\n");
	assert_string_equal(tree_text(t, "proc/sys/gate"), "0\n");
	assert_state(&run, "initrd", CHANGE_UNKNOWN);
	/* but for a stage that did not run in its time */
	run_apply(&run, STAGE_EARLY, STAGES(STAGE_INITRD), clock_usec() + LONG, NULL, &result);
	assert_int_equal(result.count[CHANGE_SET], 1);
	assert_int_equal(result.count[CHANGE_SAME], 1);
	assert_string_equal(tree_text(t, "proc/sys/initrd"), "1");
	assert_string_equal(tree_text(t, "proc/sys/gate"), "0\n");
	run_close(&run);
}

/* What held at the first look is looked at again if something was set in its lane before. */
static void test_looked_at_again(void **state)
{
	static const char undone[] = "a=set b=set a=failed"; /* a and b undo each other */
	static const char overwritten[] = "a=set b=failed";  /* seen at the end of the stage */
	static const struct {
		const char *lane, *other, *told;
	} cases[] = {
		{"0000:01:00.0/vf1", "0000:01:00.0/vf1", undone},
		{"0000:01:00.0", "0000:01:00.0/vf1", undone}, /* of the PF of that VF */
		{"0000:01:00.0/vf1", "0000:01:00.0/vf11", overwritten},
		{"0000:01:00.0/vf1", "0000:01:00.0", overwritten},
		{"", "", overwritten}, /* which joins nothing */
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct tmp *t = *state;
		struct run run = make_run(t);

		tmp_write(t, "proc/sys/a", "1\n");
		tree_link(t, "proc/sys/b", "a"); /* what a writes is what b finds */
		change_lane(add_attr(&run, PHASE_MODULES, "a", "2"), "%s", cases[i].lane);
		change_lane(add_attr(&run, PHASE_SYSFS, "b", "1"), "%s", cases[i].other);
		applies(&run, STAGE_EARLY, cases[i].told);
		assert_string_equal(tree_text(t, "proc/sys/a"),
				    cases[i].told == undone ? "1" : "2");
		run_close(&run);
	}
}

/* ... and one that held and still does is no failure when the stage's time is over. */
static void test_looked_at_again_late(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *c;

	tmp_write(t, "proc/sys/a", "1\n");
	tmp_write(t, "proc/sys/b", "1\n");
	c = add_attr(&run, PHASE_MODULES, "a", "2");
	change_lane(c, "0000:01:00.0");
	c->steady = true; /* set whatever the time */
	change_lane(add_attr(&run, PHASE_SYSFS, "b", "1"), "0000:01:00.0");
	apply_until(&run, STAGE_EARLY, clock_usec(), NULL);
	assert_state(&run, "a", CHANGE_SET);
	assert_state(&run, "b", CHANGE_SAME);
	run_close(&run);
}

/* --- convergence ---------------------------------------------------------------------------- */

static void test_converged(void **state)
{
	struct tmp *t = *state;
	struct stage_result result;
	struct run run = make_run(t);
	struct stat before, after;
	int forks_before = forks;

	tmp_write(t, "proc/sys/x", "4096\t87380\t6291456\n");
	tmp_write(t, "sys/thp", "always [never] madvise\n");
	tmp_write(t, "run/modprobe.d/railhead.conf", "options x y=1\n");
	tmp_write(t, "sys/module/mlx5_core/initstate", "live\n");
	tree_dir(t, "sys/bus/pci/devices/0000:3b:00.0");
	add_attr(&run, PHASE_SYSCTL, "x", "4096 87380 6291456");
	add(&run, &kind_attr, STAGE_EARLY, PHASE_SYSFS, "thp", "/sys/thp", "never");
	add(&run, &kind_file, STAGE_EARLY, PHASE_FILES, "conf", "/run/modprobe.d/railhead.conf",
	    "options x y=1\n");
	change_on(add(&run, &kind_module, STAGE_EARLY, PHASE_MODULES, "module", "", "live"),
		  "mlx5-core", NULL);
	add_item(&run, &vf_numvfs, STAGE_EARLY, PHASE_NUMVFS, "vfs", "0000:3b:00.0", 0);
	assert_int_equal(stat(tmp_path(t, "proc/sys/x"), &before), 0);
	result = apply_until(&run, STAGE_EARLY, clock_usec() + LONG, NULL);
	assert_int_equal(result.count[CHANGE_SAME], 5);
	assert_false(result.wrote);
	assert_int_equal(forks, forks_before);
	assert_int_equal(stat(tmp_path(t, "proc/sys/x"), &after), 0);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
	run_close(&run);
}

/* --- a kind of our own ----------------------------------------------------------------------- */

static struct {
	unsigned int sets, afters;
	int after_result;
	bool waits;
} own;

static int own_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	(void)ctx;
	(void)err;
	c->now.state = own.waits && own.sets ? CHANGE_WAITS
		       : own.sets >= 2	     ? CHANGE_SAME
					     : CHANGE_DIFFERS;
	change_observe(c, "%u", own.sets);
	if (streq(c->target, "done") && own.sets)
		c->now.state = CHANGE_SAME;
	return 0;
}

static int own_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	(void)ctx;
	(void)c;
	(void)err;
	own.sets++;
	return 0;
}

static int own_ignore(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	(void)ctx;
	(void)c;
	(void)err;
	return 0;
}

static int own_after(const struct kind_ctx *ctx, struct err *err)
{
	(void)ctx;
	own.afters++;
	return own.after_result < 0 ? err_set(err, own.after_result, "nobody listens") : 0;
}

static const struct kind own_kind = {
	.name = "own", .look = own_look, .set = own_set, .after = own_after, .begins = true};

/* Of a line of the profile: the kernel may print the value in another notation. */
static void test_accepted_and_printed_as_before(void **state)
{
	static const struct kind ignoring = {.name = "own", .look = own_look, .set = own_ignore};
	struct run run = make_run(*state);
	const struct finding *x, *y;

	memset(&own, 0, sizeof(own));
	add(&run, &ignoring, STAGE_EARLY, PHASE_SYSFS, "x", "", "00")->named = true;
	add(&run, &ignoring, STAGE_EARLY, PHASE_SYSFS, "y", "", "00");
	applies(&run, STAGE_EARLY, "x=failed y=failed");
	x = &find(&run, "x")->now;
	y = &find(&run, "y")->now;
	assert_string_equal(x->why, "was set, but reads back '0'");
	assert_string_equal(x->remedy,
			    "the kernel accepted '00' and prints the value as before: if '0' is "
			    "the same value in the kernel's notation, write it so in the profile");
	assert_null(y->remedy);
	run_close(&run);
}

/* Once for the changes of a phase; the last of them fails where that does. */
static void test_after(void **state)
{
	struct tmp *t = *state;
	cleanup_str struct str told = {0};
	struct run run = make_run(t);

	memset(&own, 0, sizeof(own));
	add(&run, &own_kind, STAGE_EARLY, PHASE_FILES, "a", "done", "");
	add(&run, &own_kind, STAGE_EARLY, PHASE_FILES, "b", "", "");
	apply_until(&run, STAGE_EARLY, clock_usec() + LONG, &told);
	assert_string_equal(told.s, "a=set b=set");
	assert_int_equal(own.afters, 1);
	apply_until(&run, STAGE_EARLY, clock_usec() + LONG, NULL);
	assert_int_equal(own.afters, 1); /* nothing was set */
	run_close(&run);

	memset(&own, 0, sizeof(own));
	own.after_result = -EIO;
	run = make_run(t);
	add(&run, &own_kind, STAGE_EARLY, PHASE_FILES, "a", "done", "");
	add(&run, &own_kind, STAGE_EARLY, PHASE_FILES, "b", "", "");
	apply_until(&run, STAGE_EARLY, clock_usec() + LONG, NULL);
	assert_int_equal(plan_find(&run.plan, "b")->now.state, CHANGE_FAILED);
	assert_text(reason_of(plan_find(&run.plan, "b")), "nobody listens");
	run_close(&run);
}

/* What a set has begun and others complete later is no failure: it waits. */
static void test_set_waits(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct stage_result result;

	memset(&own, 0, sizeof(own));
	own.waits = true;
	add(&run, &own_kind, STAGE_EARLY, PHASE_MOUNT, "m", "", "");
	result = apply_until(&run, STAGE_EARLY, clock_usec() + LONG, NULL);
	assert_int_equal(plan_find(&run.plan, "m")->now.state, CHANGE_WAITS);
	assert_int_equal(result.count[CHANGE_FAILED], 0);
	run_close(&run);
}

static void test_set_once(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	tmp_write(t, "proc/sys/x", "212992\n");
	tmp_write(t, "sys/block/a/scheduler", "none\n");
	tmp_write(t, "sys/block/b/scheduler", "bfq\n");
	add_attr(&run, PHASE_SYSCTL, "x", "10");
	add(&run, &kind_attr, STAGE_EARLY, PHASE_SYSFS, "glob", "/sys/block/*/scheduler", "none");
	add(&run, &kind_file, STAGE_EARLY, PHASE_FILES, "file", "/run/modprobe.d/x.conf", "a\nb\n");
	applies(&run, STAGE_EARLY, "file=set x=set glob=set");
	assert_string_equal(tree_text(t, "proc/sys/x"), "10");
	assert_string_equal(tree_text(t, "sys/block/a/scheduler"), "none\n"); /* not written */
	assert_string_equal(tree_text(t, "sys/block/b/scheduler"), "none");
	assert_string_equal(tree_text(t, "run/modprobe.d/x.conf"), "a\nb\n");
	applies(&run, STAGE_EARLY, "");
	assert_state(&run, "x", CHANGE_SAME);
	run_close(&run);
}

/* --- what fails ------------------------------------------------------------------------------ */

static void test_reads_back_otherwise(void **state)
{
	struct tmp *t = *state;
	cleanup_str struct str told = {0};
	struct run run = make_run(t);
	struct stage_result result;

	tmp_write(t, "proc/sys/x", "0\n");
	tmp_write(t, "proc/sys/y", "0\n");
	/* no text is at least this: whatever is written is not what is wanted */
	add_attr(&run, PHASE_SYSCTL, "x", "much")->compare = COMPARE_AT_LEAST;
	add_attr(&run, PHASE_SYSCTL, "y", "much")->compare = COMPARE_AT_LEAST;
	plan_find(&run.plan, "y")->optional = true;
	result = apply_until(&run, STAGE_EARLY, clock_usec() + LONG, &told);
	assert_string_equal(told.s, "x=failed y=failed"); /* optional or not */
	assert_true(result.wrote);
	assert_string_equal(reason_of(find(&run, "x")), "was set, but reads back 'much'");
	assert_string_equal(find(&run, "x")->now.before, "0");
	run_close(&run);
}

/* What holds when it is set and no more at the end of the stage has failed. */
static void test_changed_back(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	tmp_write(t, "proc/sys/x", "0\n");
	add_attr(&run, PHASE_SYSCTL, "x", "1");
	add(&run, &kind_attr, STAGE_EARLY, PHASE_SYSFS, "other", "/proc/sys/x", "2");
	applies(&run, STAGE_EARLY, "x=set other=set x=failed");
	assert_string_equal(reason_of(find(&run, "x")), "was set, but reads back '2'");
	run_close(&run);
}

/* And what held at the first look, and was overwritten by another change. */
static void test_overwritten(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	tmp_write(t, "proc/sys/x", "1\n");
	tmp_write(t, "proc/sys/y", "1\n");
	add_attr(&run, PHASE_SYSCTL, "x", "1");
	add_attr(&run, PHASE_SYSCTL, "y", "1")->optional = true;
	add(&run, &kind_attr, STAGE_EARLY, PHASE_SYSFS, "all", "/proc/sys/*", "2");
	applies(&run, STAGE_EARLY, "all=set x=failed y=failed");
	assert_string_equal(
		reason_of(find(&run, "x")),
		"matched the profile, but now reads '2' at the end of the stage: another "
		"change has undone it");
	assert_int_equal(find(&run, "x")->now.fault, FAULT_HOST_UNDONE);
	run_close(&run);
}

/* A pattern that held, and matches more once another change has made it: a driver, a VF. */
static void test_late_pattern(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *all;

	tmp_write(t, "proc/sys/a/x.conf", "1\n");
	tree_dir(t, "run/modprobe.d");
	tree_link(t, "proc/sys/b", "../../run/modprobe.d");
	all = add(&run, &kind_attr, STAGE_EARLY, PHASE_SYSCTL, "all", "/proc/sys/*/x.conf", "1");
	all->late = true;
	applies(&run, STAGE_EARLY, "");
	add(&run, &kind_file, STAGE_DEVICES, PHASE_FILES, "born", "/run/modprobe.d/x.conf", "0\n");
	applies(&run, STAGE_DEVICES, "born=set all=set born=failed");
	assert_string_equal(tree_text(t, "run/modprobe.d/x.conf"), "1");
	run_close(&run);
}

/* What was set is taken away, or overwritten, by a later change: a failure, optional or not. */
static void test_gone_again(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	tmp_write(t, "run/modprobe.d/x.conf", "0\n");
	tmp_write(t, "run/modprobe.d/y.conf", "0\n");
	tree_link(t, "proc/sys/a", "../../run/modprobe.d");
	add(&run, &kind_attr, STAGE_EARLY, PHASE_SYSCTL, "x", "/proc/sys/a/x.conf", "1")->optional =
		true;
	add(&run, &kind_attr, STAGE_EARLY, PHASE_SYSCTL, "y", "/proc/sys/a/y.conf", "1")->optional =
		true;
	add(&run, &kind_file, STAGE_EARLY, PHASE_IRQ, "rm", "/run/modprobe.d/x.conf", "");
	add(&run, &kind_file, STAGE_EARLY, PHASE_IRQ, "other", "/run/modprobe.d/y.conf", "2\n");
	applies(&run, STAGE_EARLY, "x=set y=set rm=set other=set x=failed y=failed");
	run_close(&run);
}

static void test_absent(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	add_attr(&run, PHASE_SYSCTL, "x", "1");
	add_attr(&run, PHASE_SYSCTL, "vm/swappiness", "1")->optional = true;
	add_attr(&run, PHASE_SYSCTL, "vm/swapiness", "1")->optional = true;
	add_item(&run, &pcie_width_item, STAGE_EARLY, PHASE_CHECK, "z", "0000:3b:00.0", 1);
	applies(&run, STAGE_EARLY,
		"x=failed vm/swappiness=unsupported vm/swapiness=failed z=failed");
	assert_text(reason_of(find(&run, "x")), "/proc/sys/x: no such file");
	assert_text(reason_of(find(&run, "vm/swappiness")), "there is no such file");
	assert_text(reason_of(find(&run, "vm/swapiness")), "is it misspelt?");
	assert_text(reason_of(find(&run, "z")), "0000:3b:00.0 is gone from the bus");
	assert_false(tree_has(t, "proc/sys/x"));
	run_close(&run);
}

/* Sysctls of things that come later: tried in early, moved to devices, an error there only. */
static void test_late(void **state)
{
	static const struct {
		const char *then; /* what is there in devices, or NULL */
		bool optional;
		enum change_state state;
		const char *reason; /* or NULL */
	} t[] = {
		{"0\n", false, CHANGE_SET, NULL},
		{"1\n", false, CHANGE_SAME, NULL},
		{NULL, false, CHANGE_FAILED, "/proc/sys/vm/swappiness: no such file"},
		{NULL, true, CHANGE_UNSUPPORTED, "there is no such file"},
	};
	struct tmp *tmp = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		struct stage_result result;
		struct run run = make_run(tmp);
		struct change *c = add_attr(&run, PHASE_SYSCTL, "vm/swappiness", "1");

		c->late = true;
		c->optional = t[i].optional;
		applies(&run, STAGE_EARLY, "");
		assert_state(&run, "vm/swappiness", CHANGE_WAITS);
		assert_text(reason_of(c), "railhead tries again once devices are up");
		if (t[i].then)
			tmp_write(tmp, "proc/sys/vm/swappiness", t[i].then);
		result = apply_until(&run, STAGE_DEVICES, clock_usec() + LONG, NULL);
		assert_state(&run, "vm/swappiness", t[i].state);
		assert_int_equal(result.count[t[i].state], 1);
		if (t[i].reason)
			assert_text(reason_of(c), t[i].reason);
		else
			assert_null(reason_of(c));
		if (t[i].then)
			tree_remove(tmp, "proc/sys/vm/swappiness");
		run_close(&run);
	}
}

static void test_deadline_over(void **state)
{
	cleanup_str struct str told = {0};
	struct tmp *t = *state;
	struct stage_result result;
	struct run run = make_run(t);

	tmp_write(t, "proc/sys/x", "0\n");
	tmp_write(t, "proc/sys/y", "0\n");
	tmp_write(t, "proc/sys/z", "1\n");
	add_attr(&run, PHASE_SYSCTL, "x", "1");
	add_attr(&run, PHASE_SYSFS, "y", "1");
	add_attr(&run, PHASE_SYSFS, "z", "1");
	result = apply_until(&run, STAGE_EARLY, 0, &told);
	assert_string_equal(str_get(&told), "x=failed y=failed");
	assert_int_equal(result.count[CHANGE_FAILED], 2);
	assert_int_equal(result.count[CHANGE_SAME], 1); /* what holds needs no time */
	assert_string_equal(reason_of(find(&run, "y")),
			    "not begun: the stage's deadline was reached");
	assert_int_equal(find(&run, "y")->now.fault, FAULT_GATE_STAGE_TIME);
	assert_string_equal(tree_text(t, "proc/sys/x"), "0\n");
	run_close(&run);
}

/* --- chains ---------------------------------------------------------------------------------- */

static void test_chain(void **state)
{
	static const struct {
		const char *first; /* what the first one's file has; NULL: it is absent */
		const char *told;
	} t[] = {
		{"0\n", "a=set b=set c=set"},
		{"1\n", "b=set c=set"},
		{NULL, "a=failed b=failed c=failed"},
	};
	struct tmp *tmp = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		struct run run = make_run(tmp);

		if (t[i].first)
			tmp_write(tmp, "proc/sys/a", t[i].first);
		tmp_write(tmp, "proc/sys/b", "0\n");
		tmp_write(tmp, "proc/sys/c", "0\n");
		add_attr(&run, PHASE_SYSCTL, "a", "1");
		change_waits_for(add_attr(&run, PHASE_SYSCTL, "b", "1"), "a");
		change_waits_for(add_attr(&run, PHASE_SYSFS, "c", "1"), "b");
		applies(&run, STAGE_EARLY, t[i].told);
		if (!t[i].first) {
			assert_string_equal(reason_of(find(&run, "b")), "not done: a failed");
			assert_string_equal(reason_of(find(&run, "c")), "not done: b failed");
			assert_string_equal(tree_text(tmp, "proc/sys/c"), "0\n");
		} else {
			tree_remove(tmp, "proc/sys/a");
		}
		run_close(&run);
	}
}

/* A plan says what waits; it sets nothing. */
/* A second one that is needed: when it fails, and while it is not there yet. */
static void test_needs(void **state)
{
	struct tmp *tmp = *state;
	struct run run = make_run(tmp);
	struct change *b, *same;

	tmp_write(tmp, "proc/sys/a", "1\n");
	tmp_write(tmp, "proc/sys/n", "0\n");
	tmp_write(tmp, "proc/sys/b", "0\n");
	tmp_write(tmp, "proc/sys/same", "1\n");
	add_attr(&run, PHASE_SYSCTL, "a", "1");
	add_attr(&run, PHASE_SYSCTL, "n", "1");
	b = add_attr(&run, PHASE_SYSFS, "b", "1");
	change_waits_for(b, "a");
	change_needs(b, "n");
	same = add_attr(&run, PHASE_SYSFS, "same", "1");
	change_needs(same, "n");
	b->remade = same->remade = true;
	run_look(&run, STAGES_ALL, STAGE_EARLY);
	assert_state(&run, "b", CHANGE_WAITS);
	assert_string_equal(reason_of(find(&run, "b")), "waits for n");
	assert_state(&run, "same", CHANGE_SAME); /* n makes nothing anew */
	tree_remove(tmp, "proc/sys/n");
	applies(&run, STAGE_EARLY, "n=failed b=failed"); /* not so what holds already */
	assert_string_equal(reason_of(find(&run, "b")), "not done: n failed");
	tmp_write(tmp, "proc/sys/n", "0\n");
	applies(&run, STAGE_EARLY, "n=set b=set");
	run_close(&run);
}

static void test_look(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	int forks_before = forks;

	tmp_write(t, "proc/sys/a", "0\n");
	tmp_write(t, "proc/sys/b", "0\n");
	add_attr(&run, PHASE_SYSCTL, "a", "1");
	change_waits_for(add_attr(&run, PHASE_SYSCTL, "b", "1"), "a");
	change_while(add_attr(&run, PHASE_SYSCTL, "b", "2"), "a");
	run_look(&run, STAGES_ALL, STAGE_COUNT);
	assert_state(&run, "a", CHANGE_DIFFERS);
	assert_state(&run, "b", CHANGE_WAITS);
	assert_string_equal(reason_of(find(&run, "b")), "waits for a");
	assert_int_equal(run.plan.list.v[2]->now.state, CHANGE_DIFFERS);
	tmp_write(t, "proc/sys/a", "1\n");
	run_look(&run, STAGES_ALL, STAGE_COUNT);
	assert_state(&run, "b", CHANGE_DIFFERS);
	assert_null(reason_of(find(&run, "a")));
	assert_int_equal(run.plan.list.v[2]->now.state, CHANGE_SAME); /* not needed any more */
	assert_string_equal(tree_text(t, "proc/sys/b"), "0\n");
	assert_int_equal(forks, forks_before);
	run_close(&run);
}

/* --- temporary and steady values ---------------------------------------------------------- */

static struct run temporary_run(struct tmp *t, const char *main, const char *steady)
{
	struct run run = make_run(t);

	tmp_write(t, "proc/sys/main", main);
	tmp_write(t, "proc/sys/probe", steady);
	change_while(add(&run, &kind_attr, STAGE_EARLY, PHASE_AUTOPROBE_HOLD, "hold",
			 "/proc/sys/probe", "0"),
		     "main");
	add_attr(&run, PHASE_NUMVFS, "main", "8");
	add(&run, &kind_attr, STAGE_EARLY, PHASE_AUTOPROBE, "probe", "/proc/sys/probe", "1")
		->steady = true;
	return run;
}

static void test_temporary(void **state)
{
	static const struct {
		const char *main, *probe; /* what is there before */
		const char *told;
	} t[] = {
		/* the steady value holds at first: looked at again in its phase */
		{"0\n", "1\n", "hold=set main=set probe=set"},
		/* nothing to do: the temporary value is not wanted */
		{"8\n", "1\n", ""},
		/* a run was killed in between */
		{"0\n", "0\n", "main=set probe=set"},
		{"8\n", "0\n", "probe=set"},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		struct run run = temporary_run(*state, t[i].main, t[i].probe);

		applies(&run, STAGE_EARLY, t[i].told);
		assert_int_equal(atoi(tree_text(*state, "proc/sys/probe")), 1);
		assert_int_equal(atoi(tree_text(*state, "proc/sys/main")), 8);
		applies(&run, STAGE_EARLY, "");
		run_close(&run);
	}
}

/* The change that it was for fails: the steady value comes back all the same. */
static void test_temporary_then_failure(void **state)
{
	struct run run = temporary_run(*state, "0\n", "1\n");

	plan_find(&run.plan, "main")->compare = COMPARE_AT_LEAST;
	change_desired(plan_find(&run.plan, "main"), "many");
	applies(&run, STAGE_EARLY, "hold=set main=failed probe=set");
	assert_string_equal(tree_text(*state, "proc/sys/probe"), "1");
	run_close(&run);
}

/* --- workers --------------------------------------------------------------------------------- */

#define PF0 "0000:3b:00.0"
#define PF1 "0000:81:00.0"

/* The kernel's part: VFs appear once their number was written. Runs until it is killed. */
static pid_t fake_kernel(struct tmp *t, const char *pf)
{
	cleanup_free char *numvfs = xasprintf("/sys/bus/pci/devices/%s/sriov_numvfs", pf);
	pid_t pid = __fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* also when an assertion jumps over the kill() */
	for (;;) {
		cleanup_free char *text = NULL;
		FILE *f = fopen(tmp_path(t, numvfs + 1), "r");
		int n = 0;

		if (f && fscanf(f, "%d", &n) == 1)
			for (int i = 0; i < n; i++) {
				text = xasprintf("%s/sys/devices/pci0000:00/%s/virtfn%d", t->dir,
						 pf, i);
				if (symlink("../0000:3b:01.0", text) < 0 && errno != EEXIST)
					_exit(1);
				free(take_ptr(text));
			}
		if (f)
			fclose(f);
		usleep(2000);
	}
}

static void add_pf(struct tmp *t, struct run *run, const char *pf)
{
	struct tree_fn fn = {.addr = pf, .ids = "15b3:1021", .class = "0x020000", .vfs = "8"};
	cleanup_free char *driver_id = xasprintf("%s/vf0", pf);
	struct change *c;

	tree_pci(t, &fn);
	tmp_write(t, "sys/bus/pci/devices/0000:3b:01.0/driver_override", "none\n");
	c = add_item(run, &vf_numvfs, STAGE_DEVICES, PHASE_NUMVFS, pf, pf, 1);
	change_lane(c, "%s", pf);
	c = add_item(run, &vf_driver, STAGE_DEVICES, PHASE_VF_DRIVER, driver_id, pf,
		     VF_DRIVER_NONE);
	change_waits_for(c, "%s", pf);
}

/* A write that never returns: tests/lib/clock.h. */
static void make_stuck(struct tmp *t, const char *pf)
{
	cleanup_free char *path = xasprintf("sys/devices/pci0000:00/%s/sriov_numvfs", pf);

	assert_int_equal(chmod(tmp_path(t, path), S_ISVTX | 0600), 0);
}

static void test_lanes(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	int forks_before = forks;
	pid_t kernel;

	add_pf(t, &run, PF0);
	add_pf(t, &run, PF1);
	make_stuck(t, PF0);
	plan_find(&run.plan, PF0)->deadline_ms = 1000;
	kernel = fake_kernel(t, PF1);
	/* PF1 has its lane: it does not wait for PF0 */
	applies(&run, STAGE_DEVICES, PF1 "=set " PF0 "=failed " PF0 "/vf0=failed");
	kill(kernel, SIGKILL);
	waitpid(kernel, NULL, 0);
	assert_text(reason_of(find(&run, PF0)),
		    "setting " PF0 " (1): has not returned from the kernel in ");
	assert_true(find(&run, PF0)->duration >= 1000000);
	assert_string_equal(reason_of(find(&run, PF0 "/vf0")), "not done: " PF0 " failed");
	assert_string_equal(find(&run, PF1)->now.before, "0");
	assert_state(&run, PF1 "/vf0", CHANGE_SAME); /* came with its VF, and has no driver */
	assert_int_equal(forks - forks_before, 2);
	run_close(&run);
}

/* In one lane the second change begins when the first is done, and not before. */
static void test_one_lane(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	pid_t kernel;

	add_pf(t, &run, PF0);
	add_pf(t, &run, PF1);
	make_stuck(t, PF0);
	plan_find(&run.plan, PF0)->deadline_ms = 300;
	change_lane(plan_find(&run.plan, PF1), PF0);
	kernel = fake_kernel(t, PF1);
	applies(&run, STAGE_DEVICES, PF0 "=failed " PF1 "=set " PF0 "/vf0=failed");
	kill(kernel, SIGKILL);
	waitpid(kernel, NULL, 0);
	run_close(&run);
}

/* A kernel that does not say where its sleepers are: all that hang in one line are suspects. */
static void test_line_unknown(void **state)
{
	cleanup_str struct str told = {0};
	struct tmp *t = *state;
	struct run run = make_run(t);
	const char *pfs[] = {PF0, PF1};

	for (size_t i = 0; i < array_len(pfs); i++) {
		add_pf(t, &run, pfs[i]);
		make_stuck(t, pfs[i]);
		plan_find(&run.plan, pfs[i])->deadline_ms = 300;
		plan_find(&run.plan, pfs[i])->queues = true;
	}
	apply_until(&run, STAGE_DEVICES, clock_usec() + LONG, &told);
	assert_state(&run, PF0, CHANGE_FAILED);
	assert_state(&run, PF1, CHANGE_FAILED);
	/* the first that is given up names the other, which is out as well */
	if (str_starts(told.s, PF0))
		assert_text(reason_of(find(&run, PF0)),
			    "; " PF1 " did not return either: one of them may hold the ");
	else
		assert_text(reason_of(find(&run, PF1)),
			    "; " PF0 " did not return either: one of them may hold the ");
	run_close(&run);
}

/*
 * More VFs than a process may have descriptors (1,024 under systemd): only those that are
 * being bound are waited for. Each fails at once, for want of a drivers_probe.
 */
static void test_many_lanes(void **state)
{
	enum { VFS = 100, DESCRIPTORS = 64 };
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct rlimit before, few = {.rlim_cur = DESCRIPTORS};
	struct tree_fn fn = {.addr = PF0, .ids = "15b3:1021", .class = "0x020000", .vfs = "8"};
	struct stage_result result;

	tree_pci(t, &fn);
	tmp_write(t, "sys/bus/pci/devices/0000:3b:01.0/class", "0x020000\n");
	assert_int_equal(
		symlink("../0000:3b:01.0", tmp_path(t, "sys/devices/pci0000:00/" PF0 "/virtfn0")),
		0);
	for (int i = 0; i < VFS; i++) {
		cleanup_free char *id = xasprintf("vf%d", i);
		struct change *c = add_item(&run, &vf_driver, STAGE_DEVICES, PHASE_VF_DRIVER, id,
					    PF0, VF_DRIVER_NETDEV);

		change_lane(c, "%s", id);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	result = apply_until(&run, STAGE_DEVICES, clock_usec() + LONG, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(result.count[CHANGE_FAILED], VFS);
	run_close(&run);
}

/* The stage's own deadline cuts a change's; what could not begin is named. */
static void test_stage_deadline(void **state)
{
	cleanup_str struct str told = {0};
	struct tmp *t = *state;
	struct run run = make_run(t);
	uint64_t started;

	test_clock(CLOCK_LEAPS, NULL); /* a worker that hangs has all its time at once */
	started = clock_usec();
	tmp_write(t, "proc/sys/late", "0\n");
	add_pf(t, &run, PF0);
	make_stuck(t, PF0);
	plan_find(&run.plan, PF0)->deadline_ms = 600000;
	add(&run, &kind_attr, STAGE_DEVICES, PHASE_LATE, "late", "/proc/sys/late", "1");
	apply_until(&run, STAGE_DEVICES, started + 400000, &told);
	test_clock(CLOCK_FLOWS, NULL);
	assert_string_equal(told.s, PF0 "=failed " PF0 "/vf0=failed late=failed");
	assert_text(reason_of(find(&run, PF0)), "has not returned from the kernel");
	assert_text(reason_of(find(&run, "late")), "not begun");
	assert_string_equal(tree_text(t, "proc/sys/late"), "0\n");
	run_close(&run);
}

/* --- devices that come late ------------------------------------------------------------------ */

static void note_progress(void *data, enum stage stage, const char *text)
{
	assert_int_equal(stage, STAGE_DEVICES);
	str_addf(data, "%s%s", ((struct str *)data)->len ? "\n" : "", text);
}

/* udev, at work once it is known that somebody waits. */
static const struct tmp *udev_works_on;

static void name_when_told(void *data, enum stage stage, const char *text)
{
	note_progress(data, stage, text);
	tmp_write(udev_works_on, "run/udev/data/n5", "I:1\n");
}

/* ... or at work while the gate waits. */
static bool udev_ends;

static void udev_acts(void *arg)
{
	if (udev_ends)
		unlink(tmp_path(arg, "run/udev/queue"));
}

static uint64_t gate_waits = SECOND;

/* told NULL: the wait of the gate. */
static uint64_t wait_devices(struct tmp *t, const char *sriov, struct str *told)
{
	struct sink sink = {told, NULL, udev_works_on ? name_when_told : note_progress};
	struct run_options opt = {.freeze = FREEZE_IGNORE};
	cleanup_free char *text =
		xasprintf("schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: QEMU}}\n"
			  "devices:\n"
			  "  rails: {pci: \"15b3:1021\", expect: 2}\n"
			  "  disks: {pci: \"144d:a80a\"}\n"
			  "  unused: {pci: \"10de:2330\", expect: 8}\n"
			  "sriov: %s\n",
			  sriov);
	struct run run;
	uint64_t waited;

	tmp_write(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
	tmp_write(t, ETC "sku.yaml", text);
	test_clock(CLOCK_LEAPS, NULL);
	test_clock_meanwhile(udev_acts, t);
	assert_int_equal(run_open(&t->root, &opt, &run, &t->err), 0);
	if (run.status != RUN_OK)
		fail_msg("%s", run.why.text);
	waited = told ? run_wait_devices(&run, &sink) : run_wait_probes(&run, gate_waits);
	run_close(&run);
	test_clock(CLOCK_FLOWS, NULL);
	return waited;
}

static void add_nic(struct tmp *t, const char *addr, const char *driver, const char *net)
{
	struct tree_fn fn = {.addr = addr,
			     .ids = "15b3:1021",
			     .class = "0x020000",
			     .driver = driver,
			     .net = net,
			     .vfs = "8"};

	tree_pci(t, &fn);
}

/* What is missing is named, once before and once after; an unused set is not waited for. */
static void test_wait_devices(void **state)
{
	cleanup_str struct str told = {0};
	struct tmp *t = *state;
	char *later;

	add_nic(t, PF0, NULL, NULL);
	assert_int_equal(wait_devices(t, "{rails: {vfs: 1, wait: 1s}}", &told), SECOND);
	assert_text(told.s, "waiting for devices: rails has 1 of 2 functions (see lspci); " PF0
			    " has no driver (is its module in modules.load?)\n");
	later = strchr(told.s, '\n');
	assert_text(later, "not there after 1.0 s: rails has 1 of 2 functions (see lspci); " PF0
			   " has no driver");
	assert_null(strstr(told.s, "unused"));
}

/* Each set has its own time: that of a complete one does not count. */
static void test_wait_each_set(void **state)
{
	cleanup_str struct str told = {0};
	struct tree_fn disk = {
		.addr = "0000:41:00.0", .ids = "144d:a80a", .class = "0x010802", .vfs = "8"};
	struct tmp *t = *state;

	add_nic(t, PF0, "mlx5_core", NULL);
	tree_fn_file(t, PF0, "infiniband/mlx5_0/node_guid", "0\n");
	add_nic(t, PF1, "mlx5_core", "ens2");
	tree_fn_file(t, PF1, "net/ens2/ifindex", "5\n");
	tmp_write(t, "run/udev/data/n5", "I:1\n");
	assert_int_equal(wait_devices(t, "{rails: {vfs: 1, wait: 120s}}", &told), 0);
	assert_string_equal(str_get(&told), "");
	tree_pci(t, &disk);
	/* by the first look behind that second (uevent_wait()) */
	assert_in_range(
		wait_devices(t, "{rails: {vfs: 1, wait: 120s}, disks: {vfs: 1, wait: 1s}}", &told),
		SECOND, SECOND + SECOND / 2);
	assert_text(told.s, "waiting for devices: 0000:41:00.0 has no driver");
}

/* What comes ends the wait: nothing is then missing, and nothing more is said. */
static void wait_ends(struct tmp *t, const char *sriov)
{
	cleanup_str struct str told = {0};

	add_nic(t, PF0, "mlx5_core", "ens1");
	add_nic(t, PF1, "mlx5_core", "ens2");
	tree_fn_file(t, PF0, "net/ens1/ifindex", "4\n");
	tree_fn_file(t, PF1, "net/ens2/ifindex", "5\n");
	tmp_write(t, "run/udev/data/n4", "I:1\n");
	tmp_write(t, "run/udev/data/n5", "E:ID_RENAMING=1\n");
	udev_works_on = t;
	assert_int_equal(wait_devices(t, sriov, &told), 0); /* there at the first look */
	udev_works_on = NULL;
	assert_string_equal(told.s, "waiting for devices: udev has not named ens2 of " PF1);
}

static void test_wait_ends(void **state)
{
	wait_ends(*state, "{rails: {vfs: 1, wait: 60s}}");
}

/* A virtio NIC has its netdev one level deeper. */
static void test_wait_for_virtio(void **state)
{
	struct tmp *t = *state;
	cleanup_str struct str told = {0};

	add_nic(t, PF0, "mlx5_core", "ens1");
	tree_fn_file(t, PF0, "net/ens1/ifindex", "4\n");
	tmp_write(t, "run/udev/data/n4", "I:1\n");
	add_nic(t, PF1, "virtio-pci", NULL);
	tree_fn_file(t, PF1, "virtio0/net/ens2/ifindex", "5\n");
	udev_works_on = t;
	assert_int_equal(wait_devices(t, "{}\nlink: {rails: {mtu: 9000}}", &told), 0);
	udev_works_on = NULL;
	assert_string_equal(told.s, "waiting for devices: udev has not named ens2 of " PF1);
}

/* The gate waits for a driver that udev is loading, of any set, and not for one that nobody loads.
 */
static void test_wait_probes(void **state)
{
	struct tmp *t = *state;

	add_nic(t, PF0, NULL, NULL);
	add_nic(t, PF1, "mlx5_core", "ens2");
	tree_fn_file(t, PF1, "net/ens2/ifindex", "5\n");
	tmp_write(t, "run/udev/data/n5", "I:1\n");
	assert_int_equal(wait_devices(t, "{}", NULL), 0);
	tmp_write(t, "run/udev/queue", ""); /* and udev hangs */
	assert_int_equal(wait_devices(t, "{}", NULL), SECOND);
	udev_ends = true;
	assert_in_range(wait_devices(t, "{}", NULL), 1, SECOND / 4);
	udev_ends = false;
	assert_false(tree_has(t, "run/udev/queue"));
}

/* Behind the verdict the last events of a function would start a recovery. */
static void test_wait_last_events(void **state)
{
	struct tmp *t = *state;

	add_nic(t, PF0, "mlx5_core", NULL);
	tree_fn_file(t, PF0, "infiniband/mlx5_0/node_guid", "0\n");
	assert_int_equal(wait_devices(t, "{}", NULL), 0);
	tmp_write(t, "run/udev/queue", ""); /* of other devices, for long */
	gate_waits = 60 * (uint64_t)SECOND;
	assert_in_range(wait_devices(t, "{}", NULL), 3 * SECOND, 3 * SECOND + SECOND / 4);
	gate_waits = SECOND;
}

/* Settings of a link are for netdevs that are there and have their names, too. */
static void test_wait_for_links(void **state)
{
	wait_ends(*state, "{}\nlink: {rails: {mtu: 9000}}");
}

/* Off the machine itself some kinds can't do anything: no failure, but said. */
static void test_unsupported_below_root(void **state)
{
	struct tmp *t = *state;
	struct tree_fn fn = {.addr = PF0, .ids = "8086:10c9", .class = "0x020000", .net = "eth0"};
	struct stage_result result;
	struct run run = make_run(t);
	struct change *c;

	tree_pci(t, &fn);
	tree_fn_file(t, PF0, "net/eth0/flags", "0x1002\n");
	change_on(add(&run, &kind_module, STAGE_EARLY, PHASE_MODULES, "module", "", "live"),
		  "mlx5_core", NULL);
	add_item(&run, &netdevs_up, STAGE_EARLY, PHASE_LINK_UP, "link", PF0, 0);
	c = add(&run, &kind_bootenv, STAGE_EARLY, PHASE_CHECK, "args", "", "iommu=pt");
	change_on(c, "sku 1", NULL);
	change_part(c, "iommu=pt", NULL, NULL);
	result = apply_until(&run, STAGE_EARLY, clock_usec() + LONG, NULL);
	assert_state(&run, "module", CHANGE_UNSUPPORTED);
	assert_state(&run, "link", CHANGE_UNSUPPORTED);
	assert_state(&run, "args", CHANGE_UNSUPPORTED);
	assert_text(reason_of(find(&run, "module")), "only on the running machine");
	assert_text(reason_of(find(&run, "link")), "only to the running machine");
	assert_int_equal(result.count[CHANGE_UNSUPPORTED], 3);
	assert_int_equal(result.count[CHANGE_FAILED], 0);
	run_close(&run);
}

/* --- the profile of this boot ------------------------------------------------------------- */

static struct ynode empty = {.kind = YAML_MAP};
static const struct profile one = {.name = (char *)"sku", .digest = "1111", .doc = &empty};
static const struct profile other = {.name = (char *)"sku", .digest = "2222", .doc = &empty};
static const struct profile renamed = {.name = (char *)"sku2", .digest = "1111", .doc = &empty};

static void test_freeze(void **state)
{
	static const struct {
		const struct profile *profile;
		enum freeze how;
		int code;
		const char *frozen; /* NULL: nothing is */
	} t[] = {
		{&one, FREEZE_IGNORE, 0, NULL},
		{&one, FREEZE_BOOT, 0, "sku 1111\n"},
		{&one, FREEZE_BOOT, 0, "sku 1111\n"},
		{&one, FREEZE_ANEW, 0, "sku 1111\n"},
		{&other, FREEZE_IGNORE, 0, "sku 1111\n"},
		{&other, FREEZE_BOOT, -ESTALE, "sku 1111\n"},
		{&renamed, FREEZE_BOOT, -ESTALE, "sku 1111\n"},
		{&other, FREEZE_ANEW, 0, "sku 2222\n"},
		{&other, FREEZE_BOOT, 0, "sku 2222\n"},
		{&one, FREEZE_BOOT, -ESTALE, "sku 2222\n"},
	};
	struct tmp *tmp = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		struct err err = {0};
		char *was = NULL;

		assert_int_equal(
			freeze_profile(&tmp->root, t[i].profile, NULL, t[i].how, &was, &err),
			t[i].code);
		free(was);
		if (t[i].code < 0)
			assert_text(err.text, t[i].frozen[4] == '1' ? "(was sku 1111, is sku"
								    : "(was sku 2222, is sku");
		if (t[i].frozen)
			assert_string_equal(tree_text(tmp, "run/railhead/profile"), t[i].frozen);
		else
			assert_false(tree_has(tmp, "run"));
	}
}

#define HEAD "schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: QEMU}}\n"

static enum run_status open_as(struct tmp *t, enum freeze how, const char *why)
{
	struct run_options opt = {.freeze = how};
	enum run_status status;
	struct run run;

	assert_int_equal(run_open(&t->root, &opt, &run, &t->err), 0);
	status = run.status;
	if (why)
		assert_text(run.why.text, why);
	run_close(&run);
	return status;
}

static void test_open(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
	tmp_write(t, "proc/cmdline", "ro quiet\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, "no profile"), RUN_NONE);
	assert_false(tree_has(t, "run/railhead"));
	tmp_write(t, ETC "sku.yaml", HEAD "sysctl: {vm.swappiness: 1}\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, NULL), RUN_OK);
	tmp_write(t, ETC "sku.yaml", HEAD "sysctl: {vm.swappiness: 2}\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, "the profile changed during this boot"),
			 RUN_CHANGED);
	assert_int_equal(open_as(t, FREEZE_IGNORE, NULL), RUN_OK);
	assert_int_equal(open_as(t, FREEZE_ANEW, NULL), RUN_OK);
	assert_int_equal(open_as(t, FREEZE_BOOT, NULL), RUN_OK);
	tmp_write(t, ETC "sku.yaml", HEAD "hugepages: [{size: 2M, nodes: {7: 1}, at: runtime}]\n");
	assert_int_equal(open_as(t, FREEZE_IGNORE, "node 7"), RUN_INVALID);
	tmp_write(t, ETC "sku.yaml", HEAD "kernel_args: {iommu: strict}\n");
	assert_int_equal(open_as(t, FREEZE_IGNORE, "profile sku does not fit this machine: "),
			 RUN_UNFIT);
	tmp_write(t, ETC "sku.yaml", HEAD "sysctl: [\n");
	assert_int_equal(open_as(t, FREEZE_IGNORE, "sku"), RUN_INVALID);
	tmp_write(t, "proc/cmdline", "ro railhead=off\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, "railhead=off"), RUN_OFF);
	tmp_write(t, "proc/cmdline", "ro single\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, "single"), RUN_SPECIAL);
}

/* The units after the first one read the frozen profile alone, and the others if it has changed. */
static void test_frozen(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
	tmp_write(t, "proc/cmdline", "ro quiet\n");
	tmp_write(t, ETC "sku.yaml", HEAD);
	assert_int_equal(open_as(t, FREEZE_BOOT, NULL), RUN_OK);
	tmp_write(t, ETC "strange.yaml", "match: [\n");
	assert_int_equal(open_as(t, FREEZE_IGNORE, "strange"), RUN_INVALID);
	assert_int_equal(open_as(t, FREEZE_BOOT, NULL), RUN_OK);
	tmp_write(t, ETC "sku.yaml", HEAD "sysctl: {vm.swappiness: 2}\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, "strange"), RUN_INVALID);
	tree_remove(t, ETC "strange.yaml");
	assert_int_equal(open_as(t, FREEZE_BOOT, "the profile changed during this boot"),
			 RUN_CHANGED);
	tree_remove(t, ETC "sku.yaml");
	assert_int_equal(open_as(t, FREEZE_BOOT, "no profile"), RUN_NONE);
	tmp_write(t, "run/railhead/profile", "half");
	tmp_write(t, ETC "sku.yaml", HEAD);
	assert_int_equal(open_as(t, FREEZE_BOOT, "the profile changed"), RUN_CHANGED);
}

static void open_given(struct tmp *t, enum freeze how, const char *profile, const char *name)
{
	struct run_options opt = {.freeze = how, .profile = profile};
	struct run run;

	assert_int_equal(run_open(&t->root, &opt, &run, &t->err), 0);
	if (run.status != RUN_OK)
		print_message("%s\n", run.why.text);
	assert_int_equal(run.status, name ? RUN_OK : RUN_INVALID);
	if (name)
		assert_string_equal(run.profile->name, name);
	run_close(&run);
}

/* What a person gave by hand is what the units after it take, until somebody freezes anew. */
static void test_given(void **state)
{
	struct tmp *t = *state;
	char *file;

	tmp_write(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
	tmp_write(t, "proc/cmdline", "ro quiet\n");
	tmp_write(t, ETC "sku.yaml", HEAD);
	tmp_write(t, ETC "other.yaml", "schema: 1\nname: other\nmatch: {arch: aarch64}\n");
	tmp_write(t, "home/mine.yaml", "schema: 1\nname: mine\nmatch: {arch: aarch64}\n");
	file = xasprintf("%s/home/../home/mine.yaml", t->dir);
	open_given(t, FREEZE_BOOT, NULL, "sku");
	open_given(t, FREEZE_IGNORE, "other", "other");
	open_given(t, FREEZE_BOOT, NULL, "sku");
	open_given(t, FREEZE_ANEW, "other", "other");
	open_given(t, FREEZE_BOOT, NULL, "other");
	open_given(t, FREEZE_ANEW, file, "mine");
	open_given(t, FREEZE_BOOT, NULL, "mine");
	assert_true(str_starts(tree_text(t, "run/railhead/profile"), "mine "));
	assert_null(strstr(tree_text(t, "run/railhead/profile"), ".."));
	tmp_write(t, "home/mine.yaml", "schema: 1\nname: mine\nmatch: {arch: x86_64}\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, "the profile changed"), RUN_CHANGED);
	open_given(t, FREEZE_ANEW, "nobody", NULL);
	open_given(t, FREEZE_ANEW, NULL, "sku");
	open_given(t, FREEZE_BOOT, NULL, "sku");
	free(file);
}

/* A captured machine has no profiles: those of another root are its candidates. */
static void test_two_roots(void **state)
{
	struct tmp *t = *state;
	struct root profiles;
	struct run_options opt = {.freeze = FREEZE_IGNORE, .profiles = &profiles};
	struct run run;

	tmp_write(t, "node/sys/class/dmi/id/sys_vendor", "QEMU\n");
	tmp_write(t, "here/" ETC "sku.yaml", HEAD);
	assert_int_equal(root_init(&profiles, tmp_path(t, "here"), &t->err), 0);
	root_close(&t->root);
	assert_int_equal(root_init(&t->root, tmp_path(t, "node"), &t->err), 0);
	assert_int_equal(run_open(&t->root, &opt, &run, &t->err), 0);
	assert_int_equal(run.status, RUN_OK);
	assert_string_equal(run.profile->name, "sku");
	run_close(&run);
	root_close(&profiles);
}

/* Policy that can't be read stops what writes and judges, and nothing else. */
static void test_site(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
	tmp_write(t, "proc/cmdline", "ro quiet\n");
	tmp_write(t, ETC "sku.yaml", HEAD);
	tmp_write(t, "etc/railhead/railhead.conf", "schema: 1\nadmit_non: true\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, "is invalid"), RUN_INVALID);
	assert_int_equal(open_as(t, FREEZE_ANEW, "is invalid"), RUN_INVALID);
	assert_int_equal(open_as(t, FREEZE_IGNORE, NULL), RUN_OK);
	tmp_write(t, "etc/railhead/railhead.conf", "schema: 1\nadmit_none: true\n");
	assert_int_equal(open_as(t, FREEZE_BOOT, NULL), RUN_OK);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_phases_in_order),
		TEST(test_looked_at_again),
		TEST(test_looked_at_again_late),
		TEST(test_one_stage_only),
		TEST(test_converged),
		TEST(test_set_once),
		TEST(test_reads_back_otherwise),
		TEST(test_changed_back),
		TEST(test_overwritten),
		TEST(test_late_pattern),
		TEST(test_gone_again),
		TEST(test_absent),
		TEST(test_late),
		TEST(test_deadline_over),
		TEST(test_accepted_and_printed_as_before),
		TEST(test_after),
		TEST(test_set_waits),
		TEST(test_chain),
		TEST(test_needs),
		TEST(test_look),
		TEST(test_temporary),
		TEST(test_temporary_then_failure),
		TEST(test_lanes),
		TEST(test_one_lane),
		TEST(test_line_unknown),
		TEST(test_many_lanes),
		TEST(test_stage_deadline),
		TEST(test_wait_devices),
		TEST(test_wait_each_set),
		TEST(test_wait_ends),
		TEST(test_wait_probes),
		TEST(test_wait_last_events),
		TEST(test_wait_for_links),
		TEST(test_wait_for_virtio),
		TEST(test_unsupported_below_root),
		TEST(test_freeze),
		TEST(test_open),
		TEST(test_frozen),
		TEST(test_given),
		TEST(test_two_roots),
		TEST(test_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
