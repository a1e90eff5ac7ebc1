/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kind roce: on.name is the address of a function, on.item a roce_item of its RDMA device, on.key
 * what the profile calls it. Each vendor has these elsewhere, or not at all: roce_vendors.c is the
 * table of where, a row of section qos has the names of the files. Which vendor's line holds is
 * seen when it is looked at, since drivers load late.
 */
#pragma once

#include "base/vec.h"
#include "kinds/target.h"

/* --- what a change is about ----------------------------------------------------------------- */

enum roce_how {
	ROCE_PARAM,	 /* a parameter of DCQCN */
	ROCE_PRIORITIES, /* on which DCQCN is on: parts, each by its index */
	ROCE_TOS,	 /* the ToS byte of new connections of RDMA-CM */
	ROCE_CLASS,	 /* the traffic class of all queue pairs */
};

/* Whose names and units files have. */
enum cc_dialect { CC_NONE, CC_DOCA, CC_INBOX, CC_BNXT, CC_DIALECTS };

struct cc_file {
	const char *name;   /* in the vendor's directory; NULL: it has none for this */
	unsigned int shift; /* the file counts in so many bits less: a DSCP for a ToS byte */
	const char *guard;  /* counts only while this file reads 0; writing it makes it so */
};

struct roce_item {
	struct target_item sort;
	enum roce_how how;
	const char *name;   /* in sentences; NULL: on.key */
	unsigned int scale; /* so many of the profile's base units are one of the files'; 0: one */
	struct cc_file file[CC_DIALECTS];
	const char *shows; /* files that have the value, below DOCA-OFED's directory; or NULL */
};

int roce_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int roce_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
char *roce_desired(const struct change *c);

/* Rows of section qos: what an item is. */
#define ROCE(by, ...)                                                 \
	(&(const struct roce_item){.sort = {.kind = &kind_roce,       \
					    .look = roce_look,        \
					    .set = roce_set,          \
					    .desired = roce_desired}, \
				   .how = (by),                       \
				   __VA_ARGS__})

/* --- roce_vendors.c: the table ------------------------------------------------------------- */

/* Patterns have {addr}, {netdev}, {ibdev}, and {prio}. */
struct cc_vendor {
	const char *driver; /* of the PF; NULL: any, of which "found" exists */
	const char *name;   /* "DOCA-OFED's mlx5" */
	const char *found;  /* what exists where it is this one; NULL: where no other line holds */
	const char *dir;    /* of the files */
	const char *node;   /* a directory of configfs that shows them while it exists */
	bool hex;	    /* numbers are read and written so */
	enum cc_dialect dialect;
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
	bool bonded;	      /* the netdev is a member of a bond */
	/* whose RDMA device it is: addr, or of another member of the bond on the same card */
	char owner[PCI_ADDR_MAX];
};

/* NULL: no line is of that driver. */
const struct cc_vendor *cc_vendor(const struct cc_place *place);
/* The path; NULL if the pattern names what the function does not have. The caller frees. */
char *cc_path(const struct cc_place *place, const char *pattern, unsigned int prio);
/* The same of a file in the vendor's directory. */
char *cc_file(const struct cc_place *place, const struct cc_vendor *v, const char *file);

void cc_place_find(const struct root *root, const char *addr, struct cc_place *ret);
void cc_place_free(struct cc_place *place);
/* The function's own RDMA devices, or the soft one of its netdev, or the bond's. Appends. */
void cc_place_devices(const struct cc_place *place, struct strv *ret);
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
 * All files of the function that any row of section qos could ask for. Apart: in a child with a
 * deadline, since reading one asks the firmware. A node of configfs is made for the time of it
 * where the machine is our own: a window, of which nothing stays.
 */
int cc_read_all(const struct cc_place *place, bool apart, struct cc_reads *ret, struct err *err);
/* NULL: it was not asked for. */
const struct cc_read *cc_find(const struct cc_reads *reads, const char *path);

#define CMA_ROOT "/sys/kernel/config/rdma_cm"
#define CMA_NODE CMA_ROOT "/{ibdev}"
#define CMA_TOS CMA_NODE "/ports/1/default_roce_tos"
#define CLASS_FILE "/sys/class/infiniband/{ibdev}/tc/1/traffic_class"
