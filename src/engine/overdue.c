/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report on workers that do not return. All workers of a queue are in the kernel at the same
 * time, because that is fast on kernels without a lock over them; starting them one by one, only to
 * know their order, would cost every healthy boot. So the order of their start proves nothing. The
 * kernel's own report of where each worker sleeps does; the kinds read it. If a kernel does not
 * report it, all workers are suspects.
 */
#include "engine/job.h"

#include <string.h>

#include "base/mem.h"
#include "plan/change.h"

/* The worker is still in the kernel, abandoned or not. */
static bool is_out(const struct job *job)
{
	return job->worker.pid > 0 && (job->worker.fd >= 0 || job->worker.abandoned);
}

static enum whereabouts where(const struct root *root, const struct job *job, struct str *in)
{
	const struct kind *kind = job->c->kind;

	return kind->where ? kind->where(root, job->worker.pid, in) : WHERE_UNKNOWN;
}

/* Appends the lanes of the other jobs in the queue of job: "A, B". *ret: the last one. */
static size_t add_others(const struct root *root, const struct jobs *jobs, const struct job *job,
			 enum whereabouts there, struct str *names, const struct job **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < jobs->n; i++) {
		const struct job *other = jobs->v[i];

		if (other == job || !other->c->queues || other->c->kind != job->c->kind ||
		    !is_out(other) || where(root, other, NULL) != there)
			continue;
		str_addf(names, "%s%s", n++ ? ", " : "", other->c->lane);
		*ret = other;
	}
	return n;
}

static const struct job *explain_in_line(const struct root *root, const struct jobs *jobs,
					 const struct job *job, const char *line, struct str *text)
{
	const struct job *holder = NULL;
	cleanup_str struct str names = {0};
	size_t n = add_others(root, jobs, job, WHERE_AT_WORK, &names, &holder);

	if (n)
		str_addf(text, "; the worker waits behind %s, which %s %s", names.s,
			 n > 1 ? "may hold" : "holds", line);
	else
		str_addf(text,
			 "; the worker waits for %s, which another program, a hotplug event or a "
			 "hung write of an earlier run holds (ps -eo "
			 "pid,stat,wchan,args)",
			 line);
	return n == 1 ? holder : NULL;
}

static void explain_at_work(const struct root *root, const struct jobs *jobs, const struct job *job,
			    const char *line, struct str *text)
{
	const struct job *last;
	cleanup_str struct str names = {0};

	if (add_others(root, jobs, job, WHERE_IN_LINE, &names, &last))
		str_addf(text, "; the worker holds %s, and %s wait%s behind it until a reboot",
			 line, names.s, strchr(names.s, ' ') ? "" : "s");
}

static void explain_unknown(const struct root *root, const struct jobs *jobs, const struct job *job,
			    const char *line, struct str *text)
{
	const struct job *last;
	cleanup_str struct str names = {0};

	if (add_others(root, jobs, job, WHERE_UNKNOWN, &names, &last))
		str_addf(text,
			 "; %s did not return either: one of them may hold %s, and this kernel "
			 "does not report which",
			 names.s, line);
}

const struct job *overdue_explain(const struct root *root, const struct jobs *jobs,
				  const struct job *job, struct str *text)
{
	const char *line = job->c->queues ? job->c->kind->line : NULL;
	cleanup_str struct str in = {0};
	enum whereabouts there = where(root, job, &in);

	if (in.len)
		str_addf(text, "; the worker is in %s, and the kernel log may have the reason",
			 in.s);
	if (!line)
		return NULL;
	if (there == WHERE_IN_LINE)
		return explain_in_line(root, jobs, job, line, text);
	if (there == WHERE_AT_WORK)
		explain_at_work(root, jobs, job, line, text);
	else
		explain_unknown(root, jobs, job, line, text);
	return NULL;
}
