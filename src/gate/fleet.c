/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/fleet.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "gate/tolerance.h"

/* The least spread assumed for any figure: clocks, temperatures and BIOS settings differ. */
#define SPREAD_LEAST 0.002
/* A normal distribution's standard deviation is its median absolute deviation times this. */
#define MAD_TO_SD 1.4826
/*
 * With a probability of LEAVES_OUT_SURELY at most a share LEAVES_OUT of sound fleets (or sets of
 * runs) loses a value wrongly, however many values there are.
 */
#define LEAVES_OUT 0.01
#define LEAVES_OUT_SURELY 0.9
/* Turns the median absolute deviation of a few values into a standard deviation. */
#define MAD_EFFICIENCY 0.37
#define MORE_MOST 100000

/* Logarithms, because differences are relative; a greater value is always better. */
static double scale(enum quantity q, double value)
{
	return q == QUANTITY_TIME ? -log(value) : log(value);
}

static double unscale(enum quantity q, double x)
{
	return q == QUANTITY_TIME ? exp(-x) : exp(x);
}

/* The distance of a loss in rate; a time gets longer by the same factor. */
static double distance_of(double loss)
{
	return -log(1 - loss);
}

static double loss_of(enum quantity q, double distance)
{
	return q == QUANTITY_TIME ? exp(distance) - 1 : 1 - exp(-distance);
}

/* --- what does not belong to the rest -----------------------------------------------------------
 */

/* The distance from the middle of n values beyond which a value is an outlier. */
static double cut(const double *deviations, size_t n, const struct promise *p)
{
	double mad = n ? median_of(deviations, n) : 0, count = n ? (double)n : 1;
	double factor = tolerance_factor(count, MAD_EFFICIENCY * (count - 1), LEAVES_OUT / count,
					 LEAVES_OUT_SURELY);

	/* A value closer than half of the promised loss is harmless. */
	return fmax(fmax(mad * MAD_TO_SD, SPREAD_LEAST) * factor, distance_of(p->loss) / 2);
}

/* The runs of each node about its median. */
struct levels {
	double *of;    /* the median of each node; NAN: no runs */
	double *worst; /* the worst run of each node */
	double cut;    /* for runs */
};

static void levels_free(struct levels *l)
{
	free(l->of);
	free(l->worst);
}

/* Copies the runs of the node at *k to runs, and moves *k to the next node. */
static size_t runs_of_node(enum quantity q, const struct series *s, size_t *k, double *runs)
{
	size_t node = s->list.v[*k].node, n = 0;

	for (; *k < s->list.n && s->list.v[*k].node == node; (*k)++)
		runs[n++] = scale(q, s->list.v[*k].value);
	return n;
}

static struct levels levels(enum quantity q, const struct series *s, size_t nodes,
			    const struct promise *p)
{
	struct levels l = {xcalloc(nodes, sizeof(double)), xcalloc(nodes, sizeof(double)), 0};
	cleanup_free double *runs = xcalloc(s->list.n, sizeof(*runs));
	cleanup_free double *off = xcalloc(s->list.n, sizeof(*off));
	size_t n_off = 0;

	for (size_t i = 0; i < nodes; i++)
		l.of[i] = NAN;
	for (size_t k = 0; k < s->list.n;) {
		size_t node = s->list.v[k].node, n = runs_of_node(q, s, &k, runs);

		l.of[node] = median_of(runs, n);
		l.worst[node] = quantile_of(runs, n, 0);
		for (size_t i = 0; n > 1 && i < n; i++)
			off[n_off++] = fabs(runs[i] - l.of[node]);
	}
	l.cut = cut(off, n_off, p);
	return l;
}

static void leave(struct node_left *left, enum left_out why, double by, const char *id)
{
	if (left->why == LEFT_NOT || by > left->by)
		*left = (struct node_left){why, by, id};
}

static void leave_out_of(enum quantity q, const struct series *s, const struct promise *p,
			 struct node_left *left, size_t nodes)
{
	struct levels l = levels(q, s, nodes, p);
	cleanup_free double *v = xcalloc(nodes, sizeof(*v));
	double middle, far;
	size_t n = 0;

	for (size_t i = 0; i < nodes; i++)
		if (!isnan(l.of[i]))
			v[n++] = l.of[i];
	middle = n ? median_of(v, n) : 0;
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] - middle);
	far = cut(v, n, p);
	for (size_t i = 0; i < nodes; i++) {
		double off = l.of[i] - middle, stray = l.of[i] - l.worst[i];

		if (isnan(l.of[i]) || left[i].why == LEFT_LACKS)
			continue;
		if (off < -far)
			leave(&left[i], LEFT_SLOW, loss_of(q, -off), s->id);
		else if (off > far)
			leave(&left[i], LEFT_FAST, loss_of(q, off), s->id);
		else if (stray > l.cut)
			leave(&left[i], LEFT_INTERMITTENT, loss_of(q, stray), s->id);
	}
	levels_free(&l);
}

void fleet_leave_out(enum quantity q, const struct series *members, size_t n,
		     const struct promise *p, struct node_left *left, size_t nodes)
{
	for (size_t m = 0; nodes > 1 && m < n; m++)
		leave_out_of(q, &members[m], p, left, nodes);
}

/* --- what is left
 * --------------------------------------------------------------------------------- */

/* Sums over the kept nodes. */
struct sums {
	double means, squares; /* of the nodes' means */
	double within;	       /* squares of the runs about those means */
	double worst;
	size_t nodes, runs, stray;
};

/* Adds a node's runs, except stray ones, which are below least. */
static void add_node(const double *runs, size_t n_runs, double least, struct sums *to)
{
	double sum = 0, squares = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_runs; i++) {
		double x = runs[i];

		if (x < least) {
			to->stray++;
			continue;
		}
		to->worst = to->runs + n == 0 || x < to->worst ? x : to->worst;
		sum += x;
		squares += x * x;
		n++;
	}
	if (!n)
		return;
	sum /= (double)n;
	to->means += sum;
	to->squares += sum * sum;
	to->within += fmax(squares - sum * sum * (double)n, 0);
	to->nodes++;
	to->runs += n;
}

static double variance_between(const struct sums *s)
{
	double n = (double)s->nodes;

	return s->nodes > 1 ? fmax(s->squares - s->means * s->means / n, 0) / (n - 1) : 0;
}

static double variance_within(const struct sums *s)
{
	return s->runs > s->nodes ? s->within / (double)(s->runs - s->nodes) : 0;
}

/* The arguments of a factor: see tolerance_factor(). */
struct footing {
	double sd, n, dof;
};

/*
 * more: as if that many more nodes of the same kind were known. The variance of one run on a node
 * is the variance of the nodes' means, plus the part of a single run's variance that the mean of
 * its node does not contain.
 */
static struct footing footing(const struct fit *f, size_t more)
{
	double between = f->between * f->between, within = f->within * f->within;
	double nodes = (double)f->nodes, runs = (double)f->runs;
	double each = runs / nodes, single = within * (1 - 1 / each), all = between + single;
	struct footing ret = {.sd = sqrt(all)};

	if (f->nodes == 1) {
		ret = (struct footing){f->within, runs + (double)more, runs + (double)more - 1};
	} else if (all > 0) {
		double of_runs = runs - nodes > 0 ? single * single / (runs - nodes) : 0;

		nodes += (double)more;
		of_runs *= (double)f->nodes / nodes;
		ret.n = between > 0 ? all * nodes / between : nodes;
		ret.dof = all * all / (between * between / (nodes - 1) + of_runs);
	} else {
		ret.n = nodes + (double)more;
		ret.dof = ret.n - 1;
	}
	if (ret.sd < SPREAD_LEAST)
		ret.sd = SPREAD_LEAST;
	return ret;
}

static double below_typical(const struct fit *f, const struct promise *p, size_t more)
{
	struct footing on = footing(f, more);

	return on.sd * tolerance_factor(on.n, on.dof, p->false_blocks / (double)p->figures,
					FLEET_CONFIDENCE_PCT / 100.0);
}

bool fleet_fit(enum quantity q, const struct series *s, const struct promise *p,
	       const struct node_left *left, struct fit *ret)
{
	cleanup_free double *runs = xcalloc(s->list.n, sizeof(*runs));
	bool alone = s->list.n && s->list.v[0].node == s->list.v[s->list.n - 1].node;
	double typical, least = -INFINITY;
	struct sums sums = {0};

	if (alone) {
		struct levels l = levels(q, s, s->list.v[0].node + 1, p);

		least = l.of[s->list.v[0].node] - l.cut;
		levels_free(&l);
	}
	for (size_t k = 0; k < s->list.n;) {
		size_t node = s->list.v[k].node, n = runs_of_node(q, s, &k, runs);

		if (left[node].why == LEFT_NOT)
			add_node(runs, n, least, &sums);
	}
	if (!sums.nodes)
		return false;
	typical = sums.means / (double)sums.nodes;
	*ret = (struct fit){.typical = unscale(q, typical),
			    .between = sqrt(variance_between(&sums)),
			    .within = sqrt(variance_within(&sums)),
			    .nodes = sums.nodes,
			    .runs = sums.runs,
			    .stray = sums.stray};
	ret->spread = footing(ret, 0).sd;
	/* A node whose figures make the threshold must pass it. */
	ret->threshold = unscale(q, fmin(typical - below_typical(ret, p, 0), sums.worst));
	return true;
}

/* Both looks of a gate must be slow, so each may miss one in 200. */
static double to_find(const struct fit *f)
{
	return f->spread * normal_quantile(1 - (100 - FLEET_FINDS_PCT) / 200.0);
}

double fleet_finds(enum quantity q, const struct fit *f, double threshold)
{
	return loss_of(q, fmax(scale(q, f->typical) - scale(q, threshold), 0) + to_find(f));
}

size_t fleet_lacks(const struct fit *f, const struct promise *p)
{
	double most = distance_of(p->loss) - to_find(f);
	size_t low = 0, high = 1;

	if (below_typical(f, p, 0) <= most)
		return 0;
	while (high < MORE_MOST && below_typical(f, p, high) > most)
		high *= 2;
	if (high >= MORE_MOST)
		return SIZE_MAX;
	low = high / 2;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (below_typical(f, p, middle) > most)
			low = middle;
		else
			high = middle;
	}
	return high;
}
