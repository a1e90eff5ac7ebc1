/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distribution of a figure on good nodes, and the threshold that keeps a promise. Pure.
 *
 * A node's level is about normally distributed around the level of all nodes, and each run around
 * the level of its node. Spreads are relative to the figure, because logarithms are used. A gate is
 * one run on one node. Its threshold is a tolerance limit (tolerance.h) for the sum of both
 * spreads, with Satterthwaite's degrees of freedom. With one node only the spread of its runs is
 * known, so the promise holds for that node.
 *
 * Outlier nodes are left out first: the fleet's spread is its median absolute deviation, which up
 * to half of the nodes can't shift.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "checks/measurement.h"

/* FLEET_FINDS_PCT: of a hundred gates at a node with the promised loss, so many must find it. */
enum { FLEET_FINDS_PCT = 99, FLEET_CONFIDENCE_PCT = 95 };

struct promise {
	double false_blocks; /* of the gates of good nodes, all figures together: 0.001 is 1 in 1000
			      */
	double loss;	     /* the smallest loss of a member that is found: 0.05 is a twentieth */
	size_t figures;	     /* that one gate judges */
};

struct sample {
	size_t node;  /* 0 .. */
	double value; /* > 0 */
};

/* One figure of one member (a NUMA node, a NIC), on all nodes. */
struct series {
	const char *id;		 /* of the member */
	VEC(struct sample) list; /* grouped by node */
};

enum left_out {
	LEFT_NOT,
	LEFT_SLOW,
	LEFT_FAST,	   /* far better than the others, so it differs from them */
	LEFT_INTERMITTENT, /* slow in some runs only */
	LEFT_LACKS,	   /* has other members than the other nodes; set by the caller */
};

/* Why a node is left out, and its difference: 0.08 is 8 % slower (LEFT_FAST: faster). */
struct node_left {
	enum left_out why;
	double by;
	const char *id; /* of the member */
};

/*
 * Fills left[nodes], which the caller has set to zero or LEFT_LACKS. A single node is never left
 * out; its slow runs are (fleet_fit()).
 */
void fleet_leave_out(enum quantity q, const struct series *members, size_t n,
		     const struct promise *p, struct node_left *left, size_t nodes);

struct fit {
	double typical;	  /* of the nodes that are kept */
	double between;	  /* standard deviation of nodes, relative to `typical`; 0: one node */
	double within;	  /* of runs on a node; 0 where each node has one run */
	double threshold; /* the weakest good value */
	size_t nodes, runs, stray; /* kept; stray: slow runs of a single node, left out */
	double spread;		   /* of a gate, for the promise; relative to `typical` */
};

/* false: no node is kept. */
bool fleet_fit(enum quantity q, const struct series *s, const struct promise *p,
	       const struct node_left *left, struct fit *ret);
/* The loss that a threshold finds in FLEET_FINDS_PCT of 100 gates, each with both its looks. */
double fleet_finds(enum quantity q, const struct fit *fit, double threshold);
/*
 * How many further nodes (with one node: runs) are required to find the promised loss; 0: enough;
 * SIZE_MAX: the spread is too wide for any number.
 */
size_t fleet_lacks(const struct fit *fit, const struct promise *p);
