/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distribution of a figure on good nodes, and the threshold that keeps a promise.
 * Pure.
 *
 * A node's own level is about normally distributed around that of all nodes, and each run around
 * that of its node: relative to the figure, since logarithms are taken. A gate is one run on one
 * node. Its threshold is a tolerance limit (tolerance.h) for the sum of both spreads, whose degrees
 * of freedom are Satterthwaite's. Of one node alone only the spread of its runs is known: then the
 * promise is for that node.
 *
 * A node that does not belong to the rest is left out before: judged by the fleet's own spread, the
 * median absolute deviation, which up to half of the nodes can't shift.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "checks/measurement.h"

/* Of a hundred gates at a node that has that loss, so many are to find it. */
enum { FLEET_FINDS_PCT = 99, FLEET_CONFIDENCE_PCT = 95 };

struct promise {
	double false_blocks; /* of the gates of good nodes, all figures together: 0.001 is 1 in 1000
			      */
	double loss;	     /* that a member must have to be found: 0.05 is a twentieth */
	size_t figures;	     /* judged by one gate */
};

struct sample {
	size_t node;  /* 0 .. */
	double value; /* > 0 */
};

/* One figure of one member (a NUMA node, a NIC), on all nodes. */
struct series {
	const char *id;		 /* of the member */
	VEC(struct sample) list; /* those of a node stand together */
};

enum left_out {
	LEFT_NOT,
	LEFT_SLOW,
	LEFT_FAST,	   /* better than its like: it is no like of theirs */
	LEFT_INTERMITTENT, /* slow in one run, and not in another */
	LEFT_LACKS,	   /* has not the members of the others; the caller's to say */
};

/* Why a node is left out, and by how much it differs: 0.08 is 8 % slower (of a fast one faster). */
struct node_left {
	enum left_out why;
	double by;
	const char *id; /* of the member */
};

/*
 * Fills left[nodes], which the caller has set to zero or LEFT_LACKS. Of one node alone runs are
 * judged all the same, and nothing is left out but those (fleet_fit()).
 */
void fleet_leave_out(enum quantity q, const struct series *members, size_t n,
		     const struct promise *p, struct node_left *left, size_t nodes);

struct fit {
	double typical;		   /* on the nodes that are kept */
	double between;		   /* standard deviation of nodes, of `typical`; 0 of one node */
	double within;		   /* of runs on a node; 0 where each has one */
	double threshold;	   /* still good */
	size_t nodes, runs, stray; /* kept; slow runs of a node alone, left out */
	double spread;		   /* of a gate, as the promise takes it; of `typical` */
};

/* false: nothing is kept. */
bool fleet_fit(enum quantity q, const struct series *s, const struct promise *p,
	       const struct node_left *left, struct fit *ret);
/* The loss that a threshold finds in FLEET_FINDS_PCT of 100 gates, both looks of each counted. */
double fleet_finds(enum quantity q, const struct fit *fit, double threshold);
/*
 * How many nodes (of one node alone: runs) more find the loss of the promise; 0: none are needed;
 * SIZE_MAX: however many are measured, they spread too far.
 */
size_t fleet_lacks(const struct fit *fit, const struct promise *p);
