/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The faults of a node, each with its place in the picture: the findings of the boot's record
 * (reasons of the verdict, failed or pending changes, measurements), and links that trained below
 * the capability of both their ends.
 */
#pragma once

#include "base/vec.h"
#include "engine/record.h"
#include "node/inventory.h"
#include "report/fold.h"

enum mark_grade {
	MARK_BLOCKS,  /* blocks work */
	MARK_WARNS,   /* a fault that does not block work */
	MARK_PENDING, /* not there or not set yet */
	MARK_GRADE_COUNT,
};

struct mark {
	enum mark_grade grade;
	char *id;	  /* "": the sentence has no id */
	char *what;	  /* "found '8', expected '16'" */
	char *remedy;	  /* or NULL */
	enum fault fault; /* or FAULT_NONE */
	struct id_subject on;
};

struct marks {
	VEC(struct mark) list; /* by grade, then in the order of discovery */
};

/* record: NULL for a survey alone. The result owns its texts; marks_free(). */
void marks_find(const struct node *node, const struct inventory *inv, const struct record *record,
		struct marks *ret);
void marks_free(struct marks *m);

enum mark_place { PLACE_MACHINE, PLACE_NUMA, PLACE_FUNCTION };
/* The place of a mark; PLACE_MACHINE if the node lacks the part that the mark names. */
enum mark_place mark_place(const struct mark *m, const struct node *node);
/* Whether the mark is about the function or, if that is a PF, one of its VFs. */
bool mark_is_about(const struct mark *m, const struct node *node, const struct pci_fn *fn);
/* Whether the mark is about that VF, which has that index at its PF. */
bool mark_is_about_vf(const struct mark *m, const struct pci_fn *vf, int index);

const char *mark_grade_name(enum mark_grade g); /* "blocks", "warning", "pending" */

/* The link above a function, all zero without one: the trained state, and the best that both its
 * ends support. */
struct link_state {
	unsigned int width, best_width; /* lanes; 0: unknown */
	uint32_t speed, best_speed;	/* 0.1 GT/s; 0: unknown */
	bool narrow, slow;		/* below both ends' best; never slow if it may idle */
};
/* more: the function's facts in the inventory. */
struct link_state link_state_of(const struct inventory *inv, const struct pci_fn *fn,
				const struct thing *more);
