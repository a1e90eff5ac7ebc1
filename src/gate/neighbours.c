/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/neighbours.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/clock.h"

enum { NAMES_MOST = 3 };
#define CPUS_LEAST 0.05

/* --- one look ---------------------------------------------------------------------------- */

/* "1234 (any name) S ppid ... utime stime cutime cstime ..." */
static bool parse_stat(const char *text, struct neighbour *ret)
{
	unsigned long long user, system, user_ended, system_ended;
	const char *name = strchr(text, '('), *end = strrchr(text, ')'); /* names may have both */
	int parent;

	if (!name || !end || end < name ||
	    sscanf(end, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &parent,
		   &user, &system, &user_ended, &system_ended) != 5)
		return false;
	*ret = (struct neighbour){.pid = (pid_t)atoi(text),
				  .parent = (pid_t)parent,
				  .ticks = user + system + user_ended + system_ended};
	for (size_t i = 0; i + 1 < sizeof(ret->name) && name + 1 + i < end; i++)
		ret->name[i] = isprint((unsigned char)name[1 + i]) ? name[1 + i] : '?';
	return true;
}

bool neighbour_read(int proc, const char *pid, struct neighbour *ret)
{
	char path[32], text[512];
	cleanup_close int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%.20s/stat", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return parse_stat(text, ret);
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct neighbour *)a)->pid, y = ((const struct neighbour *)b)->pid;

	return (x > y) - (x < y);
}

void neighbours_look(struct neighbours *n)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	struct neighbour one;
	struct dirent *e;

	*n = (struct neighbours){.usec = clock_usec()};
	while (proc && (e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    neighbour_read(dirfd(proc), e->d_name, &one) && one.pid != getpid())
			vec_push(&n->list, one);
	if (n->list.n)
		qsort(n->list.v, n->list.n, sizeof(*n->list.v), by_pid);
}

/* --- what lies between two --------------------------------------------------------------- */

static struct neighbour *find(const struct neighbours *n, pid_t pid)
{
	struct neighbour key = {.pid = pid};

	return n->list.n ? bsearch(&key, n->list.v, n->list.n, sizeof(key), by_pid) : NULL;
}

/* The earlier ticks of the process, and of those of its children that have ended since then. */
static uint64_t ticks_before(const struct neighbours *before, const struct neighbours *after,
			     const struct neighbour *now)
{
	const struct neighbour *then = find(before, now->pid);
	uint64_t ticks = then ? then->ticks : 0;

	for (size_t i = 0; i < before->list.n; i++) {
		const struct neighbour *child = &before->list.v[i];

		if (child->parent == now->pid && !find(after, child->pid))
			ticks += child->ticks;
	}
	return ticks;
}

struct share {
	const char *name;
	size_t processes;
	double cpus;
};

struct shares {
	VEC(struct share) list;
};

static void add_share(struct shares *s, const char *name, double cpus)
{
	for (size_t i = 0; i < s->list.n; i++) {
		if (!streq(s->list.v[i].name, name))
			continue;
		s->list.v[i].processes++;
		s->list.v[i].cpus += cpus;
		return;
	}
	vec_push(&s->list, ((struct share){name, 1, cpus}));
}

static int by_cpus(const void *a, const void *b)
{
	double x = ((const struct share *)a)->cpus, y = ((const struct share *)b)->cpus;

	return (x < y) - (x > y);
}

static void name_shares(const struct shares *s, struct str *out)
{
	for (size_t i = 0; i < s->list.n && i < NAMES_MOST; i++) {
		const struct share *one = &s->list.v[i];

		if (one->cpus < CPUS_LEAST)
			break;
		str_addf(out, "%s%s ", out->len ? ", " : "", one->name);
		if (one->processes > 1)
			str_addf(out, "(%zu processes) ", one->processes);
		str_addf(out, "%.1f CPUs", one->cpus);
	}
}

char *neighbours_text(const struct neighbours *before, const struct neighbours *after)
{
	double seconds = (double)(after->usec - before->usec) / 1e6;
	double ticks_of_one = seconds * (double)sysconf(_SC_CLK_TCK);
	struct shares shares = {0};
	struct str out = {0};

	for (size_t i = 0; i < after->list.n; i++) {
		const struct neighbour *now = &after->list.v[i];
		uint64_t then = ticks_before(before, after, now);

		if (now->ticks > then && ticks_of_one > 0)
			add_share(&shares, now->name, (double)(now->ticks - then) / ticks_of_one);
	}
	if (shares.list.n)
		qsort(shares.list.v, shares.list.n, sizeof(*shares.list.v), by_cpus);
	name_shares(&shares, &out);
	vec_free(&shares.list);
	return out.len ? str_take(&out) : NULL;
}

void neighbours_free(struct neighbours *n)
{
	vec_free(&n->list);
}
