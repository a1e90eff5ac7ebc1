/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that serve a function's interrupts: one CPU for each vector, round the allowed CPUs, as
 * drivers lay out their completion vectors. on.name is the function's address; the wanted value is
 * a set of CPUs or the word local_node. Isolated CPUs are never used: neither the isolated CPUs of
 * this boot nor those of on.node, the profile's isolate_cpus (NULL: none).
 *
 * A vector that is already on an allowed CPU stays there, unless the CPU has too many, so that
 * vectors that a driver or an earlier run has spread do not move. The look judges
 * smp_affinity_list, the CPUs that the kernel was asked for, because the real CPU
 * (effective_affinity_list) may follow only with the next interrupt (IRQD_MOVE_PCNTXT,
 * kernel/irq/migration.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/units.h"
#include "kinds/file.h"
#include "kinds/function.h"
#include "kinds/kind.h"
#include "kinds/near_cpus.h"
#include "kinds/target.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

struct vector {
	unsigned int irq;
	struct cpus asked, effective; /* effective: empty if the kernel does not show it */
	bool managed;		      /* by the kernel: no program can move it */
	bool right;
	int cpu; /* the CPU to move the vector to, unless it is right */
};

struct vectors {
	struct vector *v;
	size_t n;
	size_t cap;
	size_t idle; /* vectors without a handler, which have no affinity yet */
};

struct job {
	char *addr;
	char *where; /* "node 0", "CPUs 2-17" */
	struct cpus allowed;
	struct vectors vectors;
};

static void job_free(struct job *job)
{
	free(job->addr);
	free(job->where);
	vec_free(&job->vectors);
}
#define cleanup_job cleanup(job_free)

/* --- vectors ----------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const struct vector *x = a, *y = b;

	return (x->irq > y->irq) - (x->irq < y->irq);
}

static void add_vector(const struct root *root, unsigned int irq, struct vectors *ret)
{
	cleanup_free char *asked = xasprintf("/proc/irq/%u/smp_affinity_list", irq);
	cleanup_free char *effective = xasprintf("/proc/irq/%u/effective_affinity_list", irq);
	struct vector v = {.irq = irq};
	struct stat st;

	/* The kernel creates the directory when a handler is registered (kernel/irq/proc.c). */
	if (root_stat(root, &st, asked) < 0 || !near_read_list(root, &v.asked, asked)) {
		ret->idle++;
		return;
	}
	near_read_list(root, &v.effective, effective);
	v.managed = !(st.st_mode & S_IWUSR); /* newer kernels show a managed vector so */
	vec_push(ret, v);
}

/* Reads the MSI and MSI-X vectors, or the only interrupt of a function without them. */
static void read_vectors(const struct root *root, const char *addr, struct vectors *ret)
{
	cleanup_strv struct strv names = {0};
	uint64_t irq;

	read_dir(root, &names, NULL, DEV "%s/msi_irqs", addr);
	for (size_t i = 0; i < names.n; i++)
		if (parse_u64(names.v[i], &irq) == 0)
			add_vector(root, (unsigned int)irq, ret);
	if (!names.n && read_u64(root, &irq, NULL, DEV "%s/irq", addr) == 0 && irq)
		add_vector(root, (unsigned int)irq, ret);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_number);
}

static int no_vectors(const struct kind_ctx *ctx, const struct job *job, struct err *err)
{
	int r = function_gone(ctx->root, job->addr, err);

	if (r < 0)
		return r;
	if (job->vectors.idle)
		err_set(err, -ENODATA,
			"%s: none of its %zu vectors is in use, because its driver requests them "
			"when the interface goes up: write link: {SET: {up: true}}",
			job->addr, job->vectors.idle);
	else
		err_set(err, -ENODATA,
			"%s has no interrupt vectors: is its driver loaded and bound?", job->addr);
	return err_fault(err, -ENODATA, job->vectors.idle ? FAULT_NIC_DOWN : FAULT_PCI_DRIVER);
}

/* --- who goes where ---------------------------------------------------------------------- */

/* The largest number of vectors for one allowed CPU. */
static unsigned int share(const struct job *job)
{
	size_t n = 0, cpus = cpus_count(&job->allowed);

	for (size_t i = 0; i < job->vectors.n; i++)
		n += !job->vectors.v[i].managed;
	return (unsigned int)((n + cpus - 1) / cpus);
}

static void keep_placed(struct job *job, unsigned int *load)
{
	unsigned int most = share(job);

	for (size_t i = 0; i < job->vectors.n; i++) {
		struct vector *v = &job->vectors.v[i];
		int cpu = cpus_first(&v->asked);

		v->right = v->managed ||
			   (cpus_count(&v->asked) == 1 &&
			    cpus_has(&job->allowed, (unsigned int)cpu) && load[cpu] < most);
		if (v->right && !v->managed)
			load[cpu]++;
	}
}

static int least_loaded(const struct job *job, const unsigned int *load)
{
	int best = -1;

	for (int n = cpus_next(&job->allowed, -1); n >= 0; n = cpus_next(&job->allowed, n))
		if (best < 0 || load[n] < load[best])
			best = n;
	return best;
}

static void place(struct job *job)
{
	unsigned int load[CPUS_MAX] = {0};

	keep_placed(job, load);
	for (size_t i = 0; i < job->vectors.n; i++) {
		struct vector *v = &job->vectors.v[i];

		if (v->right)
			continue;
		v->cpu = least_loaded(job, load);
		load[v->cpu]++;
	}
}

/* Returns 1 if a captured tree has no vectors. */
static int prepare(const struct kind_ctx *ctx, struct change *c, struct job *job, struct err *err)
{
	static const struct near_words near = {"affinity", "interrupts"};
	int r;

	job->addr = xstrdup(c->on.name);
	r = near_cpus(ctx, c, &c->want, &near, &job->allowed, &job->where, err);
	if (r < 0)
		return r;
	read_vectors(ctx->root, job->addr, &job->vectors);
	if (!job->vectors.n && !ctx->root->live)
		return 1;
	if (!job->vectors.n)
		return no_vectors(ctx, job, err);
	place(job);
	return 0;
}

/* --- look -------------------------------------------------------------------------------- */

static void add_cpus(struct str *text, const struct cpus *cpus)
{
	cleanup_free char *list = cpus_format(cpus);

	str_addf(text, "%s %s", cpus_count(cpus) == 1 ? "CPU" : "CPUs", list);
}

static bool is_within(const struct cpus *cpus, const struct cpus *in)
{
	struct cpus rest = *cpus;

	cpus_remove_all(&rest, in);
	return cpus_count(&rest) == 0;
}

/* Adds the first vector that is not right. */
static void add_wrong(struct str *text, const struct job *job)
{
	for (size_t i = 0; i < job->vectors.n; i++) {
		const struct vector *v = &job->vectors.v[i];

		if (v->right)
			continue;
		str_addf(text, "; irq %u on ", v->irq);
		add_cpus(text, &v->asked);
		if (cpus_count(&v->asked) == 1 && is_within(&v->asked, &job->allowed))
			str_add(text, " with too many other vectors");
		return;
	}
}

/* Adds the first vector that was moved to the right CPU but has not followed yet. */
static void add_late(struct str *text, const struct job *job)
{
	for (size_t i = 0; i < job->vectors.n; i++) {
		const struct vector *v = &job->vectors.v[i];

		if (v->managed || !v->right || is_within(&v->effective, &job->allowed))
			continue;
		str_addf(text, "; irq %u moves from ", v->irq);
		add_cpus(text, &v->effective);
		str_add(text, " with its next interrupt");
		return;
	}
}

static size_t summarise(struct change *c, const struct job *job)
{
	cleanup_str struct str text = {0};
	size_t managed = 0, wrong = 0, n;

	for (size_t i = 0; i < job->vectors.n; i++) {
		managed += job->vectors.v[i].managed;
		wrong += !job->vectors.v[i].right;
	}
	n = job->vectors.n - managed;
	if (wrong)
		str_addf(&text, "%zu of ", n - wrong);
	str_addf(&text, "%zu vector%s on %s", n, n == 1 ? "" : "s", job->where);
	add_wrong(&text, job);
	add_late(&text, job);
	if (managed)
		str_addf(&text, "; %zu managed by the kernel, left alone", managed);
	change_observe(c, "%s", text.s);
	return wrong;
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct job job cleanup_job = {0};
	int r = prepare(ctx, c, &job, err);

	if (r < 0)
		return r;
	if (r == 1) {
		change_observe(c, "unknown");
		change_reason(c, "interrupt vectors are visible only on the running machine");
		c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	c->now.state = summarise(c, &job) ? CHANGE_DIFFERS : CHANGE_SAME;
	return 0;
}

/* --- set --------------------------------------------------------------------------------- */

/*
 * The handler's name, " (NAME)", from the only directory there; "" if there is no handler any more.
 * Caller frees.
 */
static char *handler_of(const struct root *root, unsigned int irq)
{
	cleanup_strv struct strv names = {0};
	struct stat st;

	read_dir(root, &names, NULL, "/proc/irq/%u", irq);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = xasprintf("/proc/irq/%u/%s", irq, names.v[i]);

		if (root_stat(root, &st, path) == 0 && S_ISDIR(st.st_mode))
			return xasprintf(" (%s)", names.v[i]);
	}
	return xstrdup("");
}

/*
 * Whether the kernel manages the vector: -EPERM, or before about Linux 6.8 -EIO
 * (kernel/irq/proc.c).
 */
static bool is_refusal(int r)
{
	return r == -EPERM || r == -EIO;
}

static int explain(const struct vector *v, const char *handler, int r, struct err *err)
{
	if (r == -EINVAL)
		return err_wrap(err, "irq %u%s: CPU %d is not online", v->irq, handler, v->cpu);
	if (r == -ENOSPC)
		return err_wrap(err, "irq %u%s: CPU %d has no room for another vector", v->irq,
				handler, v->cpu);
	return err_wrap(err, "irq %u%s", v->irq, handler);
}

/* Returns 1 if the kernel rejects the move; the vector is then left alone. */
static int move(const struct root *root, const struct vector *v, struct err *err)
{
	cleanup_free char *path = xasprintf("/proc/irq/%u/smp_affinity_list", v->irq);
	cleanup_free char *cpu = xasprintf("%d", v->cpu);
	cleanup_free char *handler = NULL;
	struct err why = {0};
	int r = machine_write_attr(root, path, cpu, &why);

	if (r == 0 || r == -ENOENT) /* the vector disappeared; the next look counts again */
		return 0;
	if (is_refusal(r))
		return 1;
	handler = handler_of(root, v->irq);
	err_copy(err, r, &why);
	return explain(v, handler, r, err);
}

static int say_refused(const struct root *root, const struct job *job, const struct vector *first,
		       size_t n, struct err *err)
{
	cleanup_free char *handler = handler_of(root, first->irq);

	return err_set(
		err, -EOPNOTSUPP,
		"%s: %zu of its vectors (the first: irq %u%s) cannot be moved, as with "
		"NVMe, because the kernel manages them and spreads them over all CPUs" TO_MEND
		"leave irq out for this set",
		job->addr, n, first->irq, handler);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct vector *refused = NULL;
	struct job job cleanup_job = {0};
	size_t n = 0;
	int r = prepare(ctx, c, &job, err);

	if (r == 1)
		return err_set(err, -EOPNOTSUPP,
			       "interrupts can be moved only on the running machine");
	for (size_t i = 0; r >= 0 && i < job.vectors.n; i++) {
		const struct vector *v = &job.vectors.v[i];

		r = v->right ? 0 : move(ctx->root, v, err);
		refused = r == 1 && !refused ? v : refused;
		n += r == 1;
	}
	if (r < 0)
		return r;
	return n ? say_refused(ctx->root, &job, refused, n, err) : 0;
}

/* --- irqbalance --------------------------------------------------------------------------- */

static bool has_irqbalance(void)
{
	return access("/usr/sbin/irqbalance", X_OK) == 0 && machine_units_are_ours();
}

/* Irqbalance asks about each vector only once, when it first sees the vector. */
static int restart_irqbalance(struct err *err)
{
	return has_irqbalance() ? machine_restart_unit_later("irqbalance.service", err) : 0;
}

static int reload_irqbalance(struct err *err)
{
	int r = has_irqbalance() ? machine_reload_units(err) : 0;

	return r < 0 ? r : restart_irqbalance(err);
}

const struct file_item irqbalance_unit_file = {reload_irqbalance};
const struct file_item irqbalance_list_file = {restart_irqbalance};

const struct kind kind_irq = {.name = "irq", .look = item_look, .set = item_set};
const struct target_item irq_affinity = {.kind = &kind_irq, .look = look, .set = set};
