/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The isolation of a site's own program, whose result decides whether a node works. Nothing of the
 * machine may alter or prevent the result, and nothing of the program remains:
 *
 *   user of its own    No process outside may write the program's memory (/proc/PID/mem,
 * ptrace(2)), send it signals, or use up what the kernel counts by user (processes, pipes, keys).
 * Namespaces do not prevent any of these: the kernel compares user ids
 *                      (__ptrace_may_access() in kernel/ptrace.c, kill_ok_by_cred() in
 *                      kernel/signal.c), and PID namespaces hide only what is outside from what is
 *                      inside. Nor does PR_SET_DUMPABLE: execve(2) sets it back. So a check with
 *                      `user: NAME` has the trust that NAME's other processes deserve.
 *   PID namespace      The program sees and reaches no process outside. The kernel ends all
 * processes of the namespace with its first (pid_namespaces(7)). IPC namespace      System V
 * objects and POSIX queues are its own and end with it. network namespace  It has a loopback of its
 * own, and sockets with abstract names; sockets with paths (nvidia-persistenced, D-Bus) remain in
 * reach. `network: true`: none. mount namespace    /tmp, /var/tmp and /dev/shm are empty, its own,
 * and bounded. A user of its own finds all else read-only (since Linux 5.12), devices excepted, so
 * that no file of an id remains that another service gets later. session keyring    Keys of the
 * gate's session are out of reach.
 *
 * The number of its processes: RLIMIT_NPROC for a user of its own (spawn.h), whose processes are
 * exactly the program's; for others the pids cgroup of the gate's unit (TasksMax= of
 * systemd.resource-control(5), by default 15% of the machine's).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "sys/privileges.h"

/* Like fork(2), into the namespaces; a negative errno without CAP_SYS_ADMIN. */
pid_t isolation_fork(const struct privileges *as);
/*
 * In that process, which still has all privileges: mounts and the loopback. 0, or a negative errno,
 * and *what names the failed step; the process must not go on then.
 */
int isolation_enter(const struct privileges *as, const char **what);
/*
 * Whether a path, as written, is a directory that is empty for the program, or below one. The
 * program begins in "/".
 */
bool isolation_hides(const char *path);
