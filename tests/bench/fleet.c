/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated fleet: thresholds from calibration runs on all of its nodes, the bad ones included,
 * and then the gate of each node, many times. What is blocked of good nodes and missed of bad ones
 * stands in one table for three ways to make thresholds:
 *
 *   promised  railhead's (src/gate/fleet.h), at its defaults
 *   worst     the worst run of any node that is no more than 10 % below the median, times 0.95
 *   5 %       5 % below the mean of all nodes, as SuperBench's variance rule with its usual -0.05
 *
 * As the gate does, what is slow is measured once more: slow twice is blocked, slow once is
 * reported as intermittent. A bad node that is blocked or reported is found.
 *
 *   fleet [NODES]
 *
 * The exit status is 1 where the first breaks its promise: over all fleets more than 1 in 1000
 * gates of good nodes blocked (of one fleet a single unlucky node is about as many), or in any of
 * them more than 1 in 100 missed of a bad part that is always slow and has lost at least what the
 * threshold says it finds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gate/fleet.h"

enum { FIGURES = 24, RUNS = 10, GATES = 200, NODES = 1000 };

#define RUN_SPREAD 0.3 /* of a node's own: of runs, as a share of the spread of nodes */

enum sort { GOOD, CHANNEL, SOCKET, INTERMITTENT, SORTS };

static const struct {
	const char *name;
	int of_1000;
	double loss, now_and_then; /* in so many of its runs */
} sorts[SORTS] = {
	[GOOD] = {"good", 0, 0, 0},
	[CHANNEL] = {"lost channel (1 of 12)", 10, 1 / 12.0, 1},
	[SOCKET] = {"slow socket (15 %)", 10, 0.15, 1},
	[INTERMITTENT] = {"slow (20 %) in 1 run of 4", 10, 0.2, 0.25},
};

struct node {
	enum sort sort;
	double level[FIGURES]; /* relative to the figure; a bad node's first is the bad one */
};

/* xorshift64*, so that a run is repeated exactly. */
static double uniform(void)
{
	static unsigned long long x = 88172645463325252ull;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return ((double)((x * 2685821657736338717ull) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static void make(struct node *fleet, size_t n, double spread)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i * 1000 / n, from = 0;

		fleet[i].sort = GOOD;
		for (enum sort s = CHANNEL; s < SORTS; s++) {
			if (at >= from && at < from + (size_t)sorts[s].of_1000)
				fleet[i].sort = s;
			from += (size_t)sorts[s].of_1000;
		}
		for (int f = 0; f < FIGURES; f++)
			fleet[i].level[f] = 100 * exp(spread * normal());
	}
}

static double run_of(const struct node *n, int figure, double spread)
{
	double value = n->level[figure] * exp(spread * RUN_SPREAD * normal());
	bool bad = figure == 0 && n->sort != GOOD && uniform() < sorts[n->sort].now_and_then;

	return bad ? value * (1 - sorts[n->sort].loss) : value;
}

/* --- thresholds ------------------------------------------------------------------------------- */

struct thresholds {
	double promised[FIGURES], worst[FIGURES], fixed[FIGURES];
	double finds; /* the loss that the promised one of the bad figure finds */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void set(const struct series *s, size_t nodes, int f, struct thresholds *ret)
{
	struct promise promise = {0.001, 0.05, FIGURES};
	struct node_left *left = xcalloc(nodes, sizeof(*left));
	double *values = xcalloc(s->list.n, sizeof(*values)), sum = 0, median;
	struct fit fit;

	for (size_t i = 0; i < s->list.n; i++)
		sum += values[i] = s->list.v[i].value;
	qsort(values, s->list.n, sizeof(*values), by_value);
	median = values[s->list.n / 2];
	for (size_t i = s->list.n; i-- > 0 && values[i] > median * 0.9;)
		ret->worst[f] = values[i] * 0.95;
	ret->fixed[f] = sum / (double)s->list.n * 0.95;
	fleet_leave_out(QUANTITY_RATE, s, 1, &promise, left, nodes);
	if (!fleet_fit(QUANTITY_RATE, s, &promise, left, &fit))
		exit(1);
	ret->promised[f] = fit.threshold;
	if (f == 0)
		ret->finds = fleet_finds(QUANTITY_RATE, &fit, fit.threshold);
	free(values);
	free(left);
}

static void calibrate(const struct node *fleet, size_t nodes, double spread, struct thresholds *ret)
{
	for (int f = 0; f < FIGURES; f++) {
		struct series s = {.id = "member"};

		for (size_t i = 0; i < nodes; i++)
			for (int r = 0; r < RUNS; r++)
				vec_push(&s.list,
					 ((struct sample){i, run_of(&fleet[i], f, spread)}));
		set(&s, nodes, f, ret);
		vec_free(&s.list);
	}
}

/* --- gates -------------------------------------------------------------------------------------
 */

struct outcome {
	long gates, blocked, reported;
};

static void gate(const struct node *n, const double *thresholds, double spread, struct outcome *o)
{
	bool blocked = false, reported = false;

	for (int f = 0; f < FIGURES; f++) {
		if (run_of(n, f, spread) >= thresholds[f])
			continue;
		if (run_of(n, f, spread) < thresholds[f])
			blocked = true;
		else
			reported = true;
	}
	o->gates++;
	o->blocked += blocked;
	o->reported += reported && !blocked;
}

/* Of the gates of a sort, how many of 1000 were blocked, or missed. */
static double blocked(const struct outcome *o)
{
	return 1000.0 * (double)o->blocked / (double)o->gates;
}

static double missed(const struct outcome *o)
{
	return 1000.0 * (double)(o->gates - o->blocked - o->reported) / (double)o->gates;
}

static void print(const char *way, double spread, const struct outcome *o)
{
	printf("%-9s %5.1f %%  %9.4f %%  %9.4f %%", way, spread * 100, blocked(&o[GOOD]) / 10,
	       100.0 * (double)o[GOOD].reported / (double)o[GOOD].gates);
	for (enum sort s = CHANNEL; s < SORTS; s++)
		printf("  %10.2f %%", missed(&o[s]) / 10);
}

static bool finds_all(const struct outcome promised[SORTS], double finds)
{
	for (enum sort s = CHANNEL; s < SORTS; s++)
		if (sorts[s].now_and_then >= 1 && sorts[s].loss >= finds &&
		    missed(&promised[s]) > 10)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static const double spreads[] = {0.005, 0.01, 0.015, 0.02, 0.03};
	size_t nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : NODES;
	struct outcome good = {0};
	bool kept = true;
	struct node *fleet;

	if (nodes < 100 || nodes > 100000)
		return 2;
	fleet = xcalloc(nodes, sizeof(*fleet));
	printf("%zu nodes, %d figures each, %d runs of each for the thresholds, %d gates of each; "
	       "of "
	       "1000 nodes",
	       nodes, FIGURES, RUNS, GATES);
	for (enum sort s = CHANNEL; s < SORTS; s++)
		printf("%s %d: %s", s > CHANNEL ? ";" : "", sorts[s].of_1000, sorts[s].name);
	printf("\n\n%-9s %7s  %11s  %11s  %12s  %12s  %12s  %s\n", "", "spread", "good,blocked",
	       "good,report", "miss channel", "miss socket", "miss 1 in 4", "says it finds");
	for (size_t i = 0; i < array_len(spreads); i++) {
		struct outcome promised[SORTS] = {0}, worst[SORTS] = {0}, fixed[SORTS] = {0};
		struct thresholds t = {0};
		double spread = spreads[i];

		make(fleet, nodes, spread);
		calibrate(fleet, nodes, spread, &t);
		for (size_t n = 0; n < nodes; n++)
			for (int g = 0; g < GATES; g++) {
				gate(&fleet[n], t.promised, spread, &promised[fleet[n].sort]);
				gate(&fleet[n], t.worst, spread, &worst[fleet[n].sort]);
				gate(&fleet[n], t.fixed, spread, &fixed[fleet[n].sort]);
			}
		print("promised", spread, promised);
		printf("  %.1f %%\n", t.finds * 100);
		kept = kept && finds_all(promised, t.finds);
		good.gates += promised[GOOD].gates;
		good.blocked += promised[GOOD].blocked;
		print("worst", spread, worst);
		printf("\n");
		print("5 %", spread, fixed);
		printf("\n\n");
	}
	free(fleet);
	kept = kept && blocked(&good) <= 1;
	printf("the promise %s: %.4f %% of all good gates blocked\n",
	       kept ? "is kept" : "IS BROKEN", blocked(&good) / 10);
	return !kept;
}
