/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simnode: a file system that behaves as the /sys and /proc of a machine, for tests.
 *
 *	simnode [--script FILE] [--log FILE] [--with-parent] TREE MOUNTPOINT
 *
 * It stays in the foreground and ends by SIGTERM, by umount(8), or with --with-parent when
 * the process that started it is gone, whatever still hangs in it.
 *
 * TREE is a machine as tests/lib/machine writes it, and it is the state: what is read below
 * the mount point is what lies in TREE. simnode adds what a plain directory lacks, the rules
 * of the kernel for what is written: sriov_numvfs makes VFs appear one after another below
 * locks, bind and drivers_probe take the time of a driver's probe, what is read-only is
 * refused. What is neither below /sys nor /proc (/etc, /run, /boot) is passed through.
 *
 * tree.c    the directory below it all, and nothing about the kernel
 * script.c  latencies and faults, from the file of --script; its language is at its top
 * log.c     what was opened for writing, written and done, to the file of --log
 * fs.c      the FUSE requests: an attribute goes to attr.c, any other file is passed through
 * attr.c    the table of attributes that have rules of their own
 * pci.c     devices, their locks, which driver takes them
 * ecn.c     DCQCN and the traffic class, as DOCA-OFED has them
 * sriov.c   sriov_numvfs, and /proc/PID/stack of who writes it
 * netdev.c  the netdev and the RDMA device that a VF's driver makes
 *
 * Paths of files are those that a user of the machine sees ("/sys/bus/pci/..."); below a PCI
 * function they have one form, /sys/bus/pci/devices/ADDRESS/..., whatever way led there.
 * Semantics are those of Linux 6.12; the source file that one comes from stands beside it.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

#define PCI "/sys/bus/pci/devices/"
#define DRIVERS "/sys/bus/pci/drivers/"
#define ATTR_MAX 4096 /* a page: what sysfs takes and gives at once */

#define printf_like(fmt, first) __attribute__((format(printf, fmt, first)))

/* --- tree.c: the directory that holds the state ------------------------------------------ */

extern int tree_fd;

int tree_open(const char *dir, struct err *err);
void tree_close(void);
/* The text without its last newline, or NULL if there is no such file. The caller frees. */
char *tree_get(const char *fmt, ...) printf_like(1, 2);
/* The number in a file; 0 if there is none. */
uint64_t tree_number(const char *fmt, ...) printf_like(1, 2);
/*
 * Makes or replaces a file, the directories above it too; nobody reads it half written.
 * A newline is added. A tree that can't be written ends the program, as below.
 */
void tree_put(const char *text, const char *fmt, ...) printf_like(2, 3);
void tree_put_data(const void *data, size_t len, const char *path);
/*
 * The same for a file that is there; -ENODEV if it has gone, as an attribute does while it is
 * open (fs/kernfs/file.c).
 */
int tree_replace(const char *text, const char *path);
/* Makes a symbolic link to a path of the tree, relative as sysfs has them. */
void tree_link(const char *target, const char *fmt, ...) printf_like(2, 3);
void tree_rename(const char *from, const char *to);
/* Removes a file, a link, or a directory with all that is in it. Absent is right too. */
void tree_remove(const char *fmt, ...) printf_like(1, 2);
bool tree_has(const char *fmt, ...) printf_like(1, 2);
/* The last part of what a link says, or NULL if there is none. The caller frees. */
char *tree_link_name(const char *fmt, ...) printf_like(1, 2);
/* The directory that a link of one step leads to: "/sys/devices/...". The caller frees. */
char *tree_follow(const char *fmt, ...) printf_like(1, 2);
/* Names in a directory, sorted, appended; none if there is no such directory. */
void tree_list(struct strv *ret, const char *fmt, ...) printf_like(2, 3);

/* --- log.c ---------------------------------------------------------------------------------- */

int log_open(const char *file, struct err *err);
void log_close(void);
/* A line: seconds since the start, then the text. Nothing without --log. */
void log_event(const char *fmt, ...) printf_like(1, 2);
/* "ok" or the name of a negative errno. */
const char *log_result(int r);

/* --- pci.c ---------------------------------------------------------------------------------- */

/* Never freed before the end: who waits for its lock may do so while it goes away. */
struct device {
	char addr[16];
	char *own;	      /* the driver whose id table has it, loaded or not; NULL: none */
	pthread_mutex_t lock; /* the kernel's device_lock() */
	atomic_bool gone;     /* it was pulled out: what is under way in its driver fails */
};

/* Adds what a running kernel has beside the tree's files: bind, driver_override, ... */
void pci_start(void);
void pci_stop(void);
/* NULL if the bus has no such device (now). A newline behind the address is overlooked. */
struct device *pci_find(const char *addr);
/* Makes it known; driver: its own one, or NULL. */
struct device *pci_add(const char *addr, const char *driver);
void pci_lock(struct device *dev);
void pci_unlock(struct device *dev);
bool pci_there(const struct device *dev);

/* Below the lock of dev. A device that no driver takes is no error. */
void pci_attach(struct device *dev);
void pci_detach(struct device *dev);
/* The function, without a driver and with its lock held, leaves the bus. */
void pci_remove(const char *addr);

/* pci_lock_rescan_remove(): one for all PCI, unless the script says global_lock no. */
void pci_rescan_lock(void);
void pci_rescan_unlock(void);

/*
 * A device is pulled out, with a VF its PF: in a thread of its own, as it waits for what is
 * under way.
 */
void pci_vanish(struct device *dev, uint64_t after_usec);

int pci_store_probe(const char *name, char *text);
int pci_store_bind(const char *name, char *text);
int pci_store_unbind(const char *name, char *text);
int pci_store_override(const char *name, char *text);

/* --- sriov.c -------------------------------------------------------------------------------- */

void sriov_start(const char *pf);
/* While it lasts, /proc/PID/stack of the writer says where it sleeps, as in the kernel. */
int sriov_store_numvfs(const char *name, char *text);
int sriov_store_autoprobe(const char *name, char *text);
int sriov_store_msix(const char *name, char *text);
/* Takes the VFs of a locked PF away, without its driver's help. */
bool sriov_remove_all(const char *pf);

/* --- ecn.c ---------------------------------------------------------------------------------- */

int ecn_store_enable(const char *name, char *text);
int ecn_store_np(const char *name, char *text);
int ecn_store_rp(const char *name, char *text);
int ecn_store_class(const char *name, char *text);
int ecn_store_cc(const char *name, char *text);

/* --- netdev.c ------------------------------------------------------------------------------- */

void netdev_start(void);
void netdev_stop(void);
/* For a VF whose driver has just taken it; now, or when the script's latencies are over. */
void netdev_appear(struct device *vf);
void netdev_vanish(const char *addr);

/* --- attr.c --------------------------------------------------------------------------------- */

enum {
	ATTR_LOCKED = 1, /* a read takes the lock of the device, as its show() in the kernel */
	ATTR_LONG = 2,	 /* a write may take long, and others may run beside it */
	ATTR_BYTES = 4,	 /* no text: passed through */
};

struct attr {
	const char *pattern; /* fnmatch(3) of the name; * takes slashes too */
	mode_t mode;
	unsigned int flags;
	/* 0 or a negative errno. text ends with NUL and may be altered; no newline is cut. */
	int (*store)(const char *name, char *text);
};

/* The one form of a path below a PCI function; the caller frees. */
char *attr_name(const char *path);
/* NULL: not of the kernel, so passed through. Never NULL below /sys and /proc. */
const struct attr *attr_find(const char *name);
int attr_read(const struct attr *attr, const char *name, char **ret);
int attr_write(const struct attr *attr, const char *name, const char *data, size_t len);

/* --- script.c ------------------------------------------------------------------------------- */

enum op { OP_OPEN, OP_READ, OP_WRITE, OP_PROBE, OP_COUNT };

struct latencies {
	uint64_t enable, create, disable, probe, netdev, udev; /* microseconds */
};
extern struct latencies latency;
extern bool global_lock;

int script_load(const char *file, struct err *err); /* the tree is open */
void script_start(void);			    /* what is to happen at a time of its own */
void script_free(void);

/*
 * Does what the script has for this: sleeps, hangs, or says which error. 0 or a negative
 * errno. dev: what is pulled out, or whose absence ends a wait; may be NULL. fewer, if not
 * NULL: so many VFs or pages less than asked are to come.
 */
int script_meet(enum op op, const char *name, struct device *dev, unsigned int *fewer);
/* The same, or INSTEAD: *instead is what is read or stored in place of the truth, "" nothing; the
 * caller frees it. */
enum { INSTEAD = 1 };
int script_meet_instead(enum op op, const char *name, struct device *dev, char **instead);

/* --- main.c --------------------------------------------------------------------------------- */

/*
 * Sleeps; SIM_FOREVER is as long as the mount lives. -EIO at once when dev is pulled out,
 * -EINTR when simnode is to end: no request stays unanswered then.
 */
#define SIM_FOREVER UINT64_MAX
int sim_sleep(uint64_t usec, const struct device *dev);
bool sim_ends(void);
/* Runs fn in a thread that the end waits for. */
void sim_background(void *(*fn)(void *arg), void *arg);
/* The state can't be kept: no test can go on from that. */
void sim_die(const char *fmt, ...) printf_like(1, 2) __attribute__((noreturn));

/* --- fs.c ----------------------------------------------------------------------------------- */

struct fuse_lowlevel_ops;
extern const struct fuse_lowlevel_ops fs_ops;
extern struct fuse_session *sim_session;
int fs_start(struct err *err);
/*
 * The kernel forgets a name of a PCI function ("/sys/..."), which it looked up once and for all.
 * Waits for look-ups in its directory: without the lock that they take.
 */
void fs_gone(const char *path);
void fs_stop(void);
/* Who asked for what this thread is at; 0: nobody, it is simnode's own. */
extern _Thread_local pid_t sim_caller;
