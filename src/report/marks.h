/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wrong with a node, each with the place in its picture: what the record of the boot says
 * (reasons of the verdict, changes that failed or are still to come, measurements), and links that
 * trained to less than both their ends can do.
 */
#pragma once

#include "base/vec.h"
#include "engine/record.h"
#include "node/inventory.h"
#include "report/fold.h"

enum mark_grade {
	MARK_BLOCKS,  /* keeps work out */
	MARK_WARNS,   /* is wrong, and keeps no work out */
	MARK_PENDING, /* is still to come, or to be set */
	MARK_GRADE_COUNT,
};

struct mark {
	enum mark_grade grade;
	char *id;	  /* "" of a sentence without one */
	char *what;	  /* "found '8', expected '16'" */
	char *remedy;	  /* or NULL */
	enum fault fault; /* or FAULT_NONE */
	struct id_subject on;
};

struct marks {
	VEC(struct mark) list; /* by grade, in the order in which they were found */
};

/* record: NULL of a survey alone. The result owns all that it has; marks_free(). */
void marks_find(const struct node *node, const struct inventory *inv, const struct record *record,
		struct marks *ret);
void marks_free(struct marks *m);

enum mark_place { PLACE_MACHINE, PLACE_NUMA, PLACE_FUNCTION };
/* What of the node a mark is about; the machine where the node lacks what it names. */
enum mark_place mark_place(const struct mark *m, const struct node *node);
/* Whether it is about the function or, of a PF, one of its VFs. */
bool mark_is_about(const struct mark *m, const struct node *node, const struct pci_fn *fn);
/* Whether it is about that VF, which is the PF's of that index. */
bool mark_is_about_vf(const struct mark *m, const struct pci_fn *vf, int index);

const char *mark_grade_name(enum mark_grade g); /* "blocks", "warning", "pending" */

/* The link above a function, all zero where there is none: what it trained to, and the most that
 * both its ends can do. */
struct link_state {
	unsigned int width, best_width; /* lanes; 0: unknown */
	uint32_t speed, best_speed;	/* 0.1 GT/s; 0: unknown */
	bool narrow, slow;		/* less than both ends can; never slow where it may idle */
};
/* more: the function's facts in the inventory. */
struct link_state link_state_of(const struct inventory *inv, const struct pci_fn *fn,
				const struct thing *more);
