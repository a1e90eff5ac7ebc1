/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kind roce, whose targets are
 *
 *  "dcqcn:ADDR/np/KEY", "dcqcn:ADDR/rp/KEY"  a parameter of DCQCN by its name in the profile;
 *                                            desired: a decimal number in the unit of mlx5's files
 *                                            (us, Mb/s, %, as they are)
 *  "dcqcn:ADDR/priorities"                   "3 4" or "none"
 *  "tos:ADDR"                                the ToS byte of new connections of RDMA-CM
 *  "traffic_class:ADDR"                      the traffic class of all queue pairs
 *
 * of the RDMA device of a function. Each vendor has them elsewhere, or not at all: roce_vendors.c
 * is the table. Which line of it holds is seen when it is looked at, since drivers load late.
 */
#pragma once

#include "base/vec.h"
#include "kinds/kind.h"

/* --- roce_vendors.c: the table ------------------------------------------------------------- */

struct cc_name {
	const char *key;    /* "np/cnp_dscp", of the target */
	const char *file;   /* in the vendor's directory */
	unsigned int shift; /* the file counts in so many bits less: a DSCP for a ToS byte */
	const char *guard;  /* counts only while this file reads 0; writing it makes it so */
};

/* Patterns have {addr}, {netdev}, {ibdev}, and {prio}. */
struct cc_vendor {
	const char *driver; /* of the PF; NULL: any, of which "found" exists */
	const char *name;   /* "DOCA-OFED's mlx5" */
	const char *found;  /* what exists where it is this one; NULL: where no other line holds */
	const char *dir;    /* of the files */
	const char *node;   /* a directory of configfs that shows them while it exists */
	bool hex;	    /* numbers are read and written so */
	const struct cc_name *names;	      /* ends with a NULL key */
	const char *const *enable;	      /* files of one priority, NULL-ended: all 1 is on */
	const char *const *port;	      /* files of the whole port, NULL-ended: all 1 is on */
	const char *commit;		      /* 1 into this file makes what was written hold */
	const char *module;		      /* whose loading may bring it yet */
	const char *no_param, *no_priorities; /* what to say, and what would do it instead */
	const char *no_class;		      /* the same of traffic_class */
};

/* The function as far as patterns name it. */
struct cc_place {
	const struct root *root;
	char addr[PCI_ADDR_MAX];
	char *driver;	      /* NULL: none */
	char *netdev, *ibdev; /* NULL: none (here) */
};

/* NULL: no line is of that driver. */
const struct cc_vendor *cc_vendor(const struct cc_place *place);
/* The path; NULL if the pattern names what the function does not have. The caller frees. */
char *cc_path(const struct cc_place *place, const char *pattern, unsigned int prio);
/* The same of a file in the vendor's directory. */
char *cc_file(const struct cc_place *place, const struct cc_vendor *v, const char *file);
const struct cc_name *cc_name(const struct cc_vendor *v, const char *key);

void cc_place_find(const struct root *root, const char *addr, struct cc_place *ret);
void cc_place_free(struct cc_place *place);
#define cleanup_place cleanup(cc_place_free)

/* --- roce_read.c: the files ---------------------------------------------------------------- */

struct cc_read {
	char *path;
	int result; /* 0, or why it could not be read */
	char *text;
};
struct cc_reads {
	VEC(struct cc_read) list;
};
void cc_reads_free(struct cc_reads *reads);
#define cleanup_reads cleanup(cc_reads_free)

/*
 * All files of the function that any target could ask for. Apart: in a child with a deadline,
 * since reading one asks the firmware. A node of configfs is made for the time of it where the
 * machine is our own: a window, of which nothing stays.
 */
int cc_read_all(const struct cc_place *place, bool apart, struct cc_reads *ret, struct err *err);
/* NULL: it was not asked for. */
const struct cc_read *cc_find(const struct cc_reads *reads, const char *path);

#define CMA_ROOT "/sys/kernel/config/rdma_cm"
#define CMA_NODE CMA_ROOT "/{ibdev}"
#define CMA_TOS CMA_NODE "/ports/1/default_roce_tos"
#define CLASS_FILE "/sys/class/infiniband/{ibdev}/tc/1/traffic_class"
