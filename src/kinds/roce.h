/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kind roce: on.name is the address of a function, on.item a roce_item of its RDMA device, on.key
 * the key of the profile. Each vendor has these settings in other places, or lacks them:
 * roce_vendors.c is the table of places, and a row of section qos has the names of the files. The
 * line of the table is chosen by each look, since drivers load late.
 */
#pragma once

#include "base/vec.h"
#include "kinds/target.h"

/* --- what a change is about ----------------------------------------------------------------- */

enum roce_how {
	ROCE_PARAM,	 /* a parameter of DCQCN */
	ROCE_PRIORITIES, /* the priorities with DCQCN: parts, each by its index */
	ROCE_TOS,	 /* the ToS byte of new connections of RDMA-CM */
	ROCE_CLASS,	 /* the traffic class of all queue pairs */
};

/* The vendor whose names and units the files have. */
enum cc_dialect { CC_NONE, CC_DOCA, CC_INBOX, CC_BNXT, CC_DIALECTS };

struct cc_file {
	const char *name;   /* in the vendor's directory; NULL: the vendor has none for this item */
	unsigned int shift; /* low bits that the file leaves out: a DSCP for a ToS byte */
	const char *guard; /* the value counts only while this file reads 0; writing the value makes
			      it so */
};

struct roce_item {
	struct target_item sort;
	enum roce_how how;
	const char *name;   /* in sentences; NULL: on.key */
	unsigned int scale; /* base units of the profile in one unit of the files; 0: one */
	struct cc_file file[CC_DIALECTS];
	const char *shows; /* files that have the value, below DOCA-OFED's directory; or NULL */
};

int roce_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int roce_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
char *roce_desired(const struct change *c);

/* Items for the rows of section qos. */
#define ROCE(by, ...)                                                 \
	(&(const struct roce_item){.sort = {.kind = &kind_roce,       \
					    .look = roce_look,        \
					    .set = roce_set,          \
					    .desired = roce_desired}, \
				   .how = (by),                       \
				   __VA_ARGS__})

/* --- roce_vendors.c: the table ------------------------------------------------------------- */

/* Patterns may have {addr}, {netdev}, {ibdev} and {prio}. */
struct cc_vendor {
	const char *driver; /* of the PF; NULL: any driver, if "found" exists */
	const char *name;   /* "DOCA-OFED's mlx5" */
	const char *found;  /* a path that exists with this vendor; NULL: chosen if no earlier line
			       fits */
	const char *dir;    /* of the files */
	const char *node;   /* a directory of configfs that shows the files while it exists */
	bool hex;	    /* numbers are hexadecimal */
	enum cc_dialect dialect;
	const char *const *enable; /* files of one priority, NULL-ended: on if all are 1 */
	const char *const *port;   /* files of the whole port, NULL-ended: on if all are 1 */
	const char *commit;	   /* writing 1 into this file commits the written values */
	const char *module;	   /* the module that may still bring the files */
	const char *no_param, *no_priorities; /* the error, with an alternative */
	const char *no_class;		      /* the same for traffic_class */
};

/* The names of a function that patterns use. */
struct cc_place {
	const struct root *root;
	char addr[PCI_ADDR_MAX];
	char *driver;	      /* NULL: none */
	char *netdev, *ibdev; /* NULL: none (here) */
	bool bonded;	      /* the netdev is a member of a bond */
	/* the function of the RDMA device: addr, or another member of the bond on the same card */
	char owner[PCI_ADDR_MAX];
};

/* NULL: the table has no line for the driver. */
const struct cc_vendor *cc_vendor(const struct cc_place *place);
/* The path; NULL if the pattern uses a name that the function lacks. The caller frees. */
char *cc_path(const struct cc_place *place, const char *pattern, unsigned int prio);
/* The same for a file in the vendor's directory. */
char *cc_file(const struct cc_place *place, const struct cc_vendor *v, const char *file);

void cc_place_find(const struct root *root, const char *addr, struct cc_place *ret);
void cc_place_free(struct cc_place *place);
/* Appends the function's own RDMA devices, or the soft one of its netdev, or the bond's. */
void cc_place_devices(const struct cc_place *place, struct strv *ret);
#define cleanup_place cleanup(cc_place_free)

/* --- roce_read.c: the files ---------------------------------------------------------------- */

struct cc_read {
	char *path;
	int result; /* 0, or the error of the read */
	char *text;
};
struct cc_reads {
	VEC(struct cc_read) list;
};
void cc_reads_free(struct cc_reads *reads);
#define cleanup_reads cleanup(cc_reads_free)

/*
 * Reads all files of the function that any row of section qos may use. apart: in a child with a
 * deadline, since a read may ask the firmware. On the running machine a node of configfs is created
 * for the time of the read, and removed again.
 */
int cc_read_all(const struct cc_place *place, bool apart, struct cc_reads *ret, struct err *err);
/* NULL: the path was not read. */
const struct cc_read *cc_find(const struct cc_reads *reads, const char *path);

#define CMA_ROOT "/sys/kernel/config/rdma_cm"
#define CMA_NODE CMA_ROOT "/{ibdev}"
#define CMA_TOS CMA_NODE "/ports/1/default_roce_tos"
#define CLASS_FILE "/sys/class/infiniband/{ibdev}/tc/1/traffic_class"
