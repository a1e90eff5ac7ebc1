/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the verdict stands on: the functions of the device sets, as they were when it was
 * given. Each has a file in /run/railhead, which units/90-railhead.rules looks for, so that
 * udev starts railhead-device@.service for these and for nothing else; there is none before
 * a verdict has admitted work.
 *
 * Whether a function is still the one that was judged is told by the inode numbers that sysfs
 * gives its directories: the kernel never gives one twice in a boot (fs/kernfs/dir.c,
 * idr_alloc_cyclic), and a renamed netdev keeps its own. So nothing that merely happens to
 * a function (`udevadm trigger`, a link that goes down) is a loss.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"

enum watched_state {
	WATCHED_FINE,
	WATCHED_AWAY,	/* gone from the bus, or without a driver: an event says when it is back */
	WATCHED_COMING, /* its driver is at it: netdevs or RDMA devices are not there yet */
	WATCHED_BACK,	/* complete, and nothing of the profile was applied to it since */
};

struct inodes {
	uint64_t *v;
	size_t n;
	size_t cap;
};

struct watched_vf {
	unsigned int index;
	char addr[PCI_ADDR_MAX];
	char driver[32];       /* "" none */
	uint64_t dir, binding; /* inode numbers: of its directory, of its link to the driver */
	bool lost;	       /* made or bound anew; another driver's (a guest has it) is not */
};

struct watched {
	char addr[PCI_ADDR_MAX];
	uint64_t dir, binding;	   /* as above; binding 0: it had no driver */
	struct inodes net, ibdevs; /* of the directories of its netdevs and RDMA devices */
	VEC(struct watched_vf) vf;
	VEC(uint64_t) returned;	  /* when it was applied again, clock_usec(); of late */
	uint64_t lost_at;	  /* clock_usec(); 0: nothing is lost */
	bool flapping;		  /* it came back too often, and is left alone until a gate */
	bool tried;		  /* in this run, and in vain */
	bool gained;		  /* a driver, netdev or RDMA device is new, and nothing is lost */
	enum watched_state state; /* of watch_look() */
	char why[160];		  /* what was lost, by the last look that found anything */
};

struct watch {
	VEC(struct watched) list; /* by address */
};

/* Remembers all functions of the sets (but protected ones) as they are now. */
int watch_begin(const struct run *run, struct err *err);
/* Nothing is watched any more. */
void watch_end(const struct root *root);

void watch_load(const struct root *root, struct watch *ret);
void watch_free(struct watch *watch);
/* By its own address or by that of one of its VFs; NULL if it is not watched. */
struct watched *watch_find(struct watch *watch, const char *addr);

/* Finds what was lost, and sets state, gained and why of each. Reads sysfs alone. */
void watch_look(const struct root *root, struct watch *watch);
/* How many have lost something. */
size_t watch_lost(const struct watch *watch);
/* Writes that it has lost something; its VFs are not watched until it is back. */
int watch_store_lost(const struct root *root, struct watched *w, struct err *err);
/* It is as the profile says again: remembers it as it is now. */
int watch_store_back(const struct root *root, struct watched *w, struct err *err);
/* Remembers what it has gained, so that a later loss of it is found. */
int watch_store_gained(const struct root *root, struct watched *w, struct err *err);
/* It has come back more often than a function that is sound does. */
bool watch_flaps(const struct watched *w);

/*
 * Whether a change is not to be touched, nor judged, for the sake of a function that came
 * back: that of a VF which is there as it was, or which a guest has now.
 */
bool watch_spares(const struct watch *watch, const struct change *c);
/* Takes those out of a plan. */
void watch_spare(const struct watch *watch, struct plan *plan);
/*
 * Leaves only the changes that are the functions' own (state WATCHED_BACK), and those late ones
 * that may be of their netdevs.
 */
void watch_keep_back(const struct watch *watch, struct plan *plan);
