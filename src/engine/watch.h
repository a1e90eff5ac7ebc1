/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the device sets as they were when the verdict was given. Each has a file in
 * /run/railhead, for which units/90-railhead.rules looks, so that udev starts
 * railhead-device@.service only for these functions. No file exists before a verdict has admitted
 * work.
 *
 * The inode numbers of its sysfs directories identify a judged function: the kernel never reuses
 * them in a boot (fs/kernfs/dir.c, idr_alloc_cyclic), and a renamed netdev keeps its number. Events
 * that leave the function in place (`udevadm trigger`, a link that goes down) are therefore not a
 * loss.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"

enum watched_state {
	WATCHED_FINE,
	WATCHED_AWAY,	/* gone from the bus, or without a driver; an event announces its return */
	WATCHED_COMING, /* has a driver; its netdevs or RDMA devices are not there yet */
	WATCHED_BACK,	/* complete, and the profile has yet to be applied to it */
};

struct inodes {
	uint64_t *v;
	size_t n;
	size_t cap;
};

struct watched_vf {
	unsigned int index;
	char addr[PCI_ADDR_MAX];
	char driver[32];       /* "": none */
	uint64_t dir, binding; /* inode numbers: of its directory, of its link to the driver */
	bool lost; /* made or bound again; with another driver (a guest has it): false */
};

struct watched {
	char addr[PCI_ADDR_MAX];
	uint64_t dir, binding;	   /* as above; binding 0: the function had no driver */
	struct inodes net, ibdevs; /* of the directories of its netdevs and RDMA devices */
	VEC(struct watched_vf) vf;
	VEC(uint64_t) returned;	  /* recent times of applying it again, clock_usec() */
	uint64_t lost_at;	  /* clock_usec(); 0: nothing is lost */
	bool flapping;		  /* came back too often: left alone until the next gate */
	bool tried;		  /* this run failed to bring it back */
	bool gained;		  /* a driver, netdev or RDMA device is new, and nothing is lost */
	enum watched_state state; /* of watch_look() */
	char why[160];		  /* the loss, by the last look that found one */
};

struct watch {
	VEC(struct watched) list; /* by address */
};

/* Remembers all functions of the sets, except protected functions, as they are now. */
int watch_begin(const struct run *run, struct err *err);
/* Nothing is watched any more. */
void watch_end(const struct root *root);

void watch_load(const struct root *root, struct watch *ret);
void watch_free(struct watch *watch);
/* By the address of the function or of one of its VFs; NULL: not watched. */
struct watched *watch_find(struct watch *watch, const char *addr);

/* Finds losses, and sets state, gained and why of each function. Reads only sysfs. */
void watch_look(const struct root *root, struct watch *watch);
/* The number of functions with a loss. */
size_t watch_lost(const struct watch *watch);
/* Records a loss of the function; its VFs are not watched until it is back. */
int watch_store_lost(const struct root *root, struct watched *w, struct err *err);
/* The function matches the profile again: remembers it as it is now. */
int watch_store_back(const struct root *root, struct watched *w, struct err *err);
/* Remembers the new driver and devices of the function, so that their later loss is found. */
int watch_store_gained(const struct root *root, struct watched *w, struct err *err);
/* The function has come back more often than a sound function does. */
bool watch_flaps(const struct watched *w);

/*
 * Whether the recovery of a function must neither set nor judge a change: a change of a VF that is
 * there as before, or that a guest has now.
 */
bool watch_spares(const struct watch *watch, const struct change *c);
/* Removes these changes from a plan. */
void watch_spare(const struct watch *watch, struct plan *plan);
/*
 * Leaves only the changes of the functions that are back (WATCHED_BACK), and the late changes that
 * may concern their netdevs.
 */
void watch_keep_back(const struct watch *watch, struct plan *plan);
