/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One loop over one list: look at every change, then set those that differ, phase by phase. In a
 * phase every lane runs at most one change at a time; a change whose set may block runs in a
 * worker. A converged stage only looks: it writes nothing and forks nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "engine/history.h"
#include "engine/job.h"
#include "engine/run.h"
#include "kinds/claim.h"
#include "plan/change.h"
#include "sections/sections.h"
#include "sys/clock.h"
#include "sys/uevent.h"
#include "sys/waiting.h"

enum {
	PARALLEL = 32,	/* may exceed the number of CPUs, because workers sleep in the kernel */
	POOL_MAX = 256, /* an upper limit, because descriptors and processes are finite */
	SPARE_FILES = 32,
	DEFAULT_MS = 20000,
	/*
	 * From a set's deadline until its worker is abandoned: the worker's own error tells more,
	 * and is late on busy CPUs.
	 */
	GRACE_US = 2000000,
	/* Between two looks at completing sets, because events come in bursts. */
	BURST_US = 10000,
};

static struct kind_ctx make_ctx(const struct run *run, enum stage running)
{
	return (struct kind_ctx){.root = run->root,
				 .node = &run->node,
				 .running = running,
				 .waited = run->opt.waited,
				 .acs = run->acs,
				 .log = run->log};
}

static void fail(struct change *c, const char *text)
{
	change_reason(c, "%s", text);
	c->now.state = CHANGE_FAILED;
}

/*
 * An optional change is forgiven only if the driver or kernel lacks it: a rejected value is a
 * failure.
 */
static bool is_forgiven(const struct change *c, int code)
{
	return c->optional && (code == -EOPNOTSUPP || c->kind->optional_may_fail);
}

static void fail_by(struct change *c, const struct err *err)
{
	finding_say(&c->now, xstrdup(err->text), err->mend);
	c->now.state = CHANGE_FAILED;
	if (is_forgiven(c, err->code))
		c->now.state = CHANGE_UNSUPPORTED;
	/* A change that could not be looked at is not known to be wrong. */
	if (err->fault || c->kind == &kind_check)
		c->now.fault = err->fault ? err->fault : FAULT_GATE_CANNOT_LOOK;
	if (err->code != -ELIBACC)
		return;
	c->now.fault = FAULT_HOST_LIBRARY;
	c->now.state = CHANGE_FAILED; /* the error tells nothing about the node */
}

/* Fails the change, with the value found and the reason of the look. */
static void fail_reading(struct change *c, const char *before, const char *after)
{
	char *remedy = take_ptr(c->now.remedy);

	finding_say(&c->now,
		    xasprintf("%s '%.200s'%s%s%s", before, c->now.found ? c->now.found : "nothing",
			      after, c->now.why ? "; " : "", or_empty(c->now.why)),
		    0);
	c->now.remedy = remedy;
	c->now.state = CHANGE_FAILED;
}

static bool hopeless(const struct change *c)
{
	return c->now.state == CHANGE_FAILED || c->now.state == CHANGE_UNSUPPORTED;
}

static bool undone(const struct change *c)
{
	return c->now.state == CHANGE_DIFFERS || c->now.state == CHANGE_WAITS;
}

static const struct change *find(const struct run *run, const char *id)
{
	return id ? plan_find(&run->plan, id) : NULL;
}

static void wait_for(struct change *c, const struct change *on, bool remade)
{
	if (!on || !undone(on) ||
	    !(c->now.state == CHANGE_DIFFERS || (c->now.state == CHANGE_SAME && remade)))
		return;
	/* Arguments that only the next boot lacks do not excuse a difference in this boot. */
	if (on->kind == &kind_bootenv && !on->reboot)
		return;
	c->now.state = CHANGE_WAITS;
	change_reason(c, "waits for %s", on->id);
}

/*
 * A change can't hold before the changes it waits for, so its difference is not a separate fault.
 */
static void judge_waiting(const struct run *run, struct change *c)
{
	wait_for(c, find(run, c->waits_for), c->remade);
	wait_for(c, find(run, c->needs), false);
}

static void look(const struct run *run, const struct kind_ctx *ctx, struct change *c)
{
	const struct change *main = c->while_id ? plan_find(&run->plan, c->while_id) : NULL;
	struct err err = {0};
	int r;

	/* A temporary value is wanted only while its change has yet to be done. */
	if (main && !undone(main)) {
		c->now.state = CHANGE_SAME;
		change_observe(c, "not needed");
		return;
	}
	r = kind_look(ctx, c, &err);
	if (r < 0)
		fail_by(c, &err);
	else
		judge_waiting(run, c);
	if (c->now.state == CHANGE_DIFFERS && c->withheld) {
		fail(c, c->withheld);
		c->reboot = false;
	}
	if (c->now.state == CHANGE_SAME) /* the earlier reason is out of date */
		finding_say(&c->now, NULL, 0);
}

bool run_covers(const struct change *c, unsigned int stages, enum stage running)
{
	/* Changes that were absent in early are looked for again when devices exist. */
	return stages & STAGES(c->stage) ||
	       (c->late && running == STAGE_DEVICES && stages & STAGES(STAGE_DEVICES));
}

/*
 * A late change may be absent in stage early, and waits. If no change is left that could create its
 * target, the target will not come.
 */
static void look_for_the_late(struct run *run, unsigned int stages)
{
	struct kind_ctx ctx = make_ctx(run, STAGE_DEVICES);
	bool pending = false;

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		pending |= c->now.state == CHANGE_DIFFERS ||
			   (c->now.state == CHANGE_WAITS && !c->late) ||
			   (c->now.state == CHANGE_UNKNOWN && c->stage < STAGE_GATE);
	}
	for (size_t i = 0; !pending && i < run->plan.list.n; i++) {
		struct change *c = run->plan.list.v[i];

		if (run_covers(c, stages, STAGE_COUNT) && c->late && c->now.state == CHANGE_WAITS)
			look(run, &ctx, c);
	}
}

void run_look(struct run *run, unsigned int stages, enum stage running)
{
	kinds_forget(NULL);
	for (int temporary = 0; temporary <= 1; temporary++)
		for (size_t i = 0; i < run->plan.list.n; i++) {
			struct change *c = run->plan.list.v[i];
			struct kind_ctx ctx =
				make_ctx(run, running == STAGE_COUNT ? c->stage : running);

			if (run_covers(c, stages, running) && (c->while_id != NULL) == temporary)
				look(run, &ctx, c);
		}
	if (running == STAGE_COUNT)
		look_for_the_late(run, stages);
	if (stages & STAGES(STAGE_GATE))
		history_find_missing(run);
}

/* --- setting ------------------------------------------------------------------------- */

struct phase_run {
	struct run *run;
	struct kind_ctx ctx;
	enum stage stage;
	uint64_t deadline;
	const struct sink *sink;
	struct jobs jobs;	   /* in list order */
	struct jobs running;	   /* jobs in a worker, at most `pool` */
	size_t pool;		   /* POOL_MAX, or as many as the machine's limits allow */
	struct jobs completing;	   /* jobs whose set has returned, but is not complete */
	int uevents;		   /* open while completing has jobs; -1: closed, or no events */
	int pause_ms;		   /* until the next look at completing, without an event */
	uint64_t looked;	   /* time of the last look at completing */
	uint64_t line_moved;	   /* time of the last return of a change that queues; 0: none */
	VEC(const char *) touched; /* lanes in which a set was tried */
	bool wrote;		   /* a set was tried in any lane */
};

static void tell(const struct phase_run *p, const struct change *c)
{
	if (p->sink && p->sink->change_done)
		p->sink->change_done(p->sink->data, p->stage, c);
}

/*
 * The kernel accepts a value of a line of the profile, and prints what it printed before: either it
 * ignores the value, or it prints the value in a notation that railhead does not know.
 */
static void advise_notation(struct change *c)
{
	if (c->named && !c->now.remedy && c->now.found && c->now.before &&
	    streq(c->now.found, c->now.before))
		c->now.remedy = xasprintf(
			"the kernel accepted '%.80s' and prints the value as before: if '%.80s' is "
			"the same value in the kernel's notation, write it so in the profile",
			c->desired, c->now.found);
}

/*
 * After a successful set, reads the machine instead of trusting the set. held: the target has had
 * the wanted value since the set.
 */
static void read_back(struct phase_run *p, struct change *c, bool held)
{
	struct err err = {0};

	if (c->while_id) { /* the steady value will overwrite this value */
		c->now.state = CHANGE_SET;
		return;
	}
	finding_say(&c->now, NULL, 0);
	if (kind_look(&p->ctx, c, &err) < 0) {
		fail_by(c, &err);
	} else if (c->now.state == CHANGE_SAME) {
		c->now.state = CHANGE_SET;
	} else if (c->now.state != CHANGE_FAILED &&
		   !(c->now.state == CHANGE_WAITS &&
		     c->kind->begins)) { /* a look that fails the change has set a reason */
		fail_reading(c, "was set, but reads back", "");
		advise_notation(c);
		if (held)
			c->now.fault = FAULT_HOST_UNDONE;
	}
}

/* Ends a job after success or failure; the machine has been read already. */
static void conclude(struct phase_run *p, struct job *job)
{
	job->done = true;
	tell(p, job->c);
}

static void finish(struct phase_run *p, struct job *job, int result, struct err *err)
{
	struct change *c = job->c;

	kinds_forget(c);
	if (result < 0)
		fail_by(c, err);
	else
		read_back(p, c, false);
	/*
	 * Netlink, modules and mounts reach only this machine, not a tree below --root; the profile
	 * is not at fault.
	 */
	if (result == -EOPNOTSUPP && !p->run->root->live)
		c->now.state = CHANGE_UNSUPPORTED;
	conclude(p, job);
}

/* A set was tried in the lane itself, or (for the lane of a VF) in the lane of the PF. */
static bool touched(const struct phase_run *p, const char *lane)
{
	for (size_t i = 0; i < p->touched.n; i++) {
		size_t len = strlen(p->touched.v[i]);

		if (strncmp(p->touched.v[i], lane, len) == 0 && (!lane[len] || lane[len] == '/'))
			return true;
	}
	return false;
}

static enum phase phase_of(const struct change *c, enum stage stage)
{
	return c->late && stage == STAGE_DEVICES ? PHASE_LATE : c->phase;
}

/*
 * Files of a late pattern may have appeared since the first look, for netdevs of new VFs or drivers
 * loaded by stage early. A change that failed in stage early is tried again in devices.
 */
static bool may_match_more(const struct phase_run *p, const struct change *c)
{
	return p->wrote && c->late &&
	       (phase_of(c, p->stage) == PHASE_LATE || c->now.state == CHANGE_SAME);
}

/*
 * Changes that differed or waited at the first look, and changes that a set of an earlier phase may
 * have undone: in the same lane (unbinding a VF undoes its driver) or in the lane of the PF.
 */
static bool to_be_done(const struct phase_run *p, const struct change *c)
{
	return undone(c) || may_match_more(p, c) ||
	       (c->now.state == CHANGE_SAME && (c->steady || touched(p, c->lane)));
}

/*
 * A change that an earlier change of its lane in this phase may undo; it is looked at again in its
 * turn.
 */
static bool comes_after(const struct phase_run *p, const struct change *c)
{
	for (size_t i = 0; c->now.state == CHANGE_SAME && *c->lane && i < p->jobs.n; i++)
		if (streq(p->jobs.v[i]->c->lane, c->lane))
			return true;
	return false;
}

static bool too_late(struct phase_run *p, struct change *c)
{
	/* A steady value is set even after the deadline, because it is one quick write. */
	if (clock_usec() < p->deadline || c->steady)
		return false;
	change_reason(c, "not begun: the stage's deadline was reached");
	c->now.fault = FAULT_GATE_STAGE_TIME;
	c->now.state = CHANGE_FAILED; /* even if optional, because nothing was tried */
	tell(p, c);
	return true;
}

static bool is_void(struct phase_run *p, struct change *c, const struct change *on)
{
	if (!on || on->now.state != CHANGE_FAILED)
		return false;
	change_reason(c, "not done: %s failed", on->id);
	c->now.fault = fault_of_change(on);
	c->now.state = CHANGE_FAILED;
	tell(p, c);
	return true;
}

/* Returns true if the change needs no set (any more), with a reason if a set is impossible. */
static bool settled(struct phase_run *p, struct change *c)
{
	if (is_void(p, c, find(p->run, c->waits_for)))
		return true;
	if (undone(c) && too_late(p, c))
		return true;
	look(p->run, &p->ctx, c); /* an earlier phase may have changed the value */
	if (hopeless(c))
		tell(p, c);
	if (c->now.state == CHANGE_DIFFERS && is_void(p, c, find(p->run, c->needs)))
		return true;
	return c->now.state != CHANGE_DIFFERS || too_late(p, c);
}

static int set_in_worker(void *arg, struct err *err)
{
	struct job *job = arg;

	return job->c->kind->set(&job->ctx, job->c, err);
}

/* The deadline of a set that begins at that moment. */
static uint64_t deadline_from(const struct phase_run *p, const struct change *c, uint64_t begin)
{
	uint64_t deadline = begin + (c->deadline_ms ? c->deadline_ms : DEFAULT_MS) * 1000ULL;

	return deadline < p->deadline ? deadline : p->deadline;
}

static void start_worker(struct phase_run *p, struct job *job)
{
	struct err err = {0};
	int r;

	job->ctx.deadline = deadline_from(p, job->c, clock_usec());
	r = worker_start(&job->worker, set_in_worker, job, job->ctx.deadline + GRACE_US, &err);
	if (r == 0)
		vec_push(&p->running, job);
	else if (p->running.n) /* the limit of processes is reached: the job runs when another has
				  ended */
		p->pool = p->running.n;
	else
		finish(p, job, r, &err);
	job->worker.name = job->c->id;
}

static void begin(struct phase_run *p, struct job *job)
{
	struct change *c = job->c;
	struct err err = {0};
	int r;

	if (settled(p, c)) {
		job->done = true;
		return;
	}
	free(c->now.before);
	c->now.before = c->now.found ? xstrdup(c->now.found) : NULL;
	c->started = clock_usec();
	c->written = 0;
	p->wrote = true;
	if (*c->lane && !touched(p, c->lane)) /* the stage's own lane is not recorded */
		vec_push(&p->touched, c->lane);
	if (c->kind->blocks) {
		start_worker(p, job);
		return;
	}
	r = c->kind->set(&p->ctx, c, &err);
	c->duration = clock_usec() - c->started;
	finish(p, job, r, &err);
}

/* The next job: the first unfinished change of a lane may begin if the pool has room. */
static struct job *next_job(struct phase_run *p)
{
	if (p->running.n >= p->pool)
		return NULL;
	for (size_t i = 0; i < p->jobs.n; i++) {
		struct job *job = p->jobs.v[i];
		unsigned int limit = job->c->parallel ? job->c->parallel : PARALLEL;
		bool first = true;

		if (job->done || job->completing || job->worker.fd >= 0 || p->running.n >= limit)
			continue;
		for (size_t j = 0; first && j < i; j++)
			first = p->jobs.v[j]->done || !streq(p->jobs.v[j]->c->lane, job->c->lane);
		if (first)
			return job;
	}
	return NULL;
}

static void give_up(struct phase_run *p, struct job *job)
{
	cleanup_str struct str where = {0}, text = {0};
	struct err *err = &job->worker.err;
	/* before the worker is killed */
	const struct job *holder = overdue_explain(p->run->root, &p->jobs, job, &where);

	if (holder)
		change_follows(job->c, holder->c->id);
	worker_abandon(&job->worker);
	str_addf(&text, "setting %s (%s): %s%s", job->c->target, job->c->desired, err->text,
		 str_get(&where));
	err_set(err, err->code, "%s", text.s);
	err_fault(err, err->code, FAULT_KERNEL_STUCK);
}

/* A job may pass its deadline only because it queued: then its time counts from its turn. */
static bool has_more_time(const struct phase_run *p, struct job *job)
{
	uint64_t deadline = deadline_from(p, job->c, p->line_moved) + GRACE_US;

	if (job->worker.fd < 0 || !job->c->queues || deadline <= job->worker.deadline)
		return false;
	job->worker.deadline = deadline;
	return true;
}

/* --- sets that complete by themselves ------------------------------------------------------- */

/* False: not complete yet. */
static bool completes(struct phase_run *p, struct job *job)
{
	struct err err = {0};
	int r = job->c->kind->complete(&job->ctx, job->c, &err);

	if (r == -EAGAIN && clock_usec() < job->ctx.deadline)
		return false;
	job->c->duration = clock_usec() - job->c->started;
	if (r > 0) {
		kinds_forget(job->c);
		finding_say(&job->c->now, NULL, 0);
		job->c->now.state = CHANGE_SET;
		conclude(p, job);
	} else {
		finish(p, job, r, &err);
	}
	return true;
}

/* The set of the job has returned, with success or an error. */
static void take_result(struct phase_run *p, struct job *job)
{
	if (job->worker.result < 0 || !job->c->kind->complete) {
		finish(p, job, job->worker.result, &job->worker.err);
		return;
	}
	if (p->uevents < 0)
		p->uevents = uevent_open(); /* before the look, so that later events wake us */
	if (completes(p, job))
		return;
	job->completing = true;
	p->pause_ms = uevent_pause_ms(0);
	vec_push(&p->completing, job);
}

static void look_at_completing(struct phase_run *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->completing.n; i++)
		if (!completes(p, p->completing.v[i]))
			p->completing.v[n++] = p->completing.v[i];
	p->pause_ms = n < p->completing.n ? uevent_pause_ms(0) : uevent_pause_ms(p->pause_ms);
	p->completing.n = n;
	p->looked = clock_usec();
}

/* The time until which to wait for an event or a worker before the next look at completing sets. */
static uint64_t next_look(const struct phase_run *p)
{
	uint64_t next = p->completing.n ? clock_usec() + (uint64_t)p->pause_ms * 1000 : UINT64_MAX;

	for (size_t i = 0; i < p->completing.n; i++)
		if (p->completing.v[i]->ctx.deadline < next)
			next = p->completing.v[i]->ctx.deadline;
	return next;
}

static void show_completing(const struct phase_run *p)
{
	const struct job *first = p->completing.v[0];

	waiting_for(first->c->id, p->completing.n - 1, first->c->started, first->ctx.deadline, 0);
}

/* An event has come, or the time of the next look. */
static void wait_burst(struct phase_run *p)
{
	uint64_t now = clock_usec();

	if (now < p->looked + BURST_US)
		usleep((useconds_t)(p->looked + BURST_US - now));
	if (p->uevents >= 0)
		uevent_drain(p->uevents);
	look_at_completing(p);
}

/*
 * Waits for one of the running workers, and only for these, because a phase may have more changes
 * than poll(2) accepts descriptors (RLIMIT_NOFILE); or for an event that may complete a set.
 */
static void wait_one(struct phase_run *p)
{
	struct worker *workers[POOL_MAX];
	struct job *job;
	int i;

	for (size_t j = 0; j < p->running.n; j++)
		workers[j] = &p->running.v[j]->worker;
	if (p->completing.n && !p->running.n)
		show_completing(p);
	i = workers_wait_with(workers, p->running.n, p->completing.n ? p->uevents : -1,
			      next_look(p));
	if (i == -EAGAIN || !p->running.n) {
		wait_burst(p);
		return;
	}
	job = p->running.v[i < 0 ? 0 : i];
	/* If poll(2) itself failed, the state of this worker can't be known any more. */
	if (i >= 0 && has_more_time(p, job))
		return;
	p->running.v[i < 0 ? 0 : i] = p->running.v[--p->running.n];
	if (job->worker.fd >= 0)
		give_up(p, job);
	else if (job->c->queues)
		p->line_moved = clock_usec();
	job->c->duration = job->worker.duration;
	if (job->worker.written > job->c->started)
		job->c->written = job->worker.written - job->c->started;
	take_result(p, job);
}

static void run_jobs(struct phase_run *p)
{
	for (;;) {
		struct job *job = next_job(p);

		if (job)
			begin(p, job);
		else if (p->running.n || p->completing.n)
			wait_one(p);
		else
			break;
	}
	for (size_t i = 0; i < p->jobs.n; i++)
		free(p->jobs.v[i]);
	vec_free(&p->jobs);
	vec_free(&p->running);
	vec_free(&p->completing);
	if (p->uevents >= 0)
		close(p->uevents);
	p->uevents = -1;
}

/* Reports changes that failed at their first look and are not looked at again in their phase. */
static void tell_hopeless(struct phase_run *p, unsigned int stages, bool late)
{
	for (size_t i = 0; i < p->run->plan.list.n; i++) {
		const struct change *c = p->run->plan.list.v[i];

		if (run_covers(c, stages, p->stage) && hopeless(c) &&
		    (phase_of(c, p->stage) == PHASE_LATE) == late && !may_match_more(p, c))
			tell(p, c);
	}
}

static bool was_set_in(const struct phase_run *p, const struct change *c, unsigned int stages,
		       enum phase phase)
{
	return run_covers(c, stages, p->stage) && phase_of(c, p->stage) == phase &&
	       c->now.state == CHANGE_SET && c->kind->after;
}

/* Calls after() of the kinds, once for a phase; if it fails, the last change of the kind fails. */
static void end_phase(struct phase_run *p, unsigned int stages, enum phase phase)
{
	VEC(const struct kind *) told = {0};

	for (size_t i = p->run->plan.list.n; i > 0; i--) {
		struct change *c = p->run->plan.list.v[i - 1];
		struct err err = {0};
		bool known = !was_set_in(p, c, stages, phase);

		for (size_t k = 0; k < told.n; k++)
			known |= told.v[k] == c->kind;
		if (known)
			continue;
		vec_push(&told, c->kind);
		if (c->kind->after(&p->ctx, &err) < 0) {
			fail_by(c, &err);
			tell(p, c);
		}
	}
	vec_free(&told);
}

static void run_phase(struct phase_run *p, unsigned int stages, enum phase phase)
{
	if (p->wrote)
		claims_forget();
	for (size_t i = 0; i < p->run->plan.list.n; i++) {
		struct change *c = p->run->plan.list.v[i];
		struct job *job;

		if (!run_covers(c, stages, p->stage) || phase_of(c, p->stage) != phase ||
		    !(to_be_done(p, c) || comes_after(p, c)) || !c->kind->set)
			continue;
		job = xnew(struct job);
		job->c = c;
		job->ctx = p->ctx;
		job->worker.fd = -1;
		vec_push(&p->jobs, job);
	}
	run_jobs(p);
	end_phase(p, stages, phase);
}

/* Looks again at the end of a stage that wrote, because another change may have undone this one. */
static void look_again(struct phase_run *p, struct change *c)
{
	look(p->run, &p->ctx, c);
	if (!undone(c))
		return;
	if (c->late && p->stage == STAGE_EARLY) { /* the file appeared after its phase */
		change_reason(c, "differs now; will be set when devices are up");
		c->now.state = CHANGE_WAITS;
		return;
	}
	fail_reading(c, "matched the profile, but now reads",
		     " at the end of the stage: another change has undone it");
	c->now.fault = FAULT_HOST_UNDONE;
}

/*
 * A stage reports the state at its end. Changes that were set must still hold, and changes that
 * held are looked at again if the stage set anything. A change that waited in vain for a device
 * fails if the device has left the bus meanwhile.
 */
static void check_again(struct phase_run *p, unsigned int stages)
{
	kinds_forget(NULL);
	for (size_t i = 0; i < p->run->plan.list.n; i++) {
		struct change *c = p->run->plan.list.v[i];
		enum change_state was = c->now.state;

		if (!run_covers(c, stages, p->stage) || c->while_id)
			continue;
		if (was == CHANGE_SET)
			read_back(p, c, true);
		else if (was == CHANGE_SAME && p->wrote)
			look_again(p, c);
		else if (was == CHANGE_WAITS)
			look(p->run, &p->ctx, c);
		if (c->now.state == was)
			continue;
		if (was == CHANGE_SET || was == CHANGE_SAME || hopeless(c))
			tell(p, c);
	}
}

/* A pipe for each worker, and some descriptors for the starting process and for looks. */
static size_t pool_size(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= POOL_MAX + SPARE_FILES)
		return POOL_MAX;
	return files.rlim_cur > SPARE_FILES ? files.rlim_cur - SPARE_FILES : 1;
}

void run_apply(struct run *run, enum stage stage, unsigned int also, uint64_t deadline,
	       const struct sink *sink, struct stage_result *ret)
{
	unsigned int stages = STAGES(stage) | also;
	struct phase_run p = {.run = run,
			      .ctx = make_ctx(run, stage),
			      .stage = stage,
			      .deadline = deadline,
			      .sink = sink,
			      .pool = pool_size(),
			      .uevents = -1};

	memset(ret, 0, sizeof(*ret));
	ret->stage = stage;
	ret->started = clock_usec();
	run_look(run, stages, stage);
	tell_hopeless(&p, stages, false);
	for (enum phase phase = 0; phase < PHASE_COUNT; phase++) {
		if (phase == PHASE_LATE)
			tell_hopeless(&p, stages, true);
		run_phase(&p, stages, phase);
	}
	ret->look_again = clock_usec();
	check_again(&p, stages);
	vec_free(&p.touched);
	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (!run_covers(c, stages, stage))
			continue;
		ret->count[c->now.state]++;
	}
	ret->wrote = p.wrote;
	ret->duration = clock_usec() - ret->started;
}
