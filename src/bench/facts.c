/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See Documentation/ABI/stable/sysfs-devices-node and .../sysfs-devices-system-cpu. */
#include "bench/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

static int read_small(int rootfd, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int read_small(int rootfd, char *buf, size_t size, const char *fmt, ...)
{
	char path[256];
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);

	cleanup_close int fd = openat(rootfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	str_chomp(buf);
	return 0;
}

const char *size_name(uint64_t size, char buf[24])
{
	static const char units[] = "KMGT";
	int u = -1;

	while (size >= 1024 && size % 1024 == 0 && u < 3) {
		size /= 1024;
		u++;
	}
	if (u < 0)
		snprintf(buf, 24, "%" PRIu64, size);
	else
		snprintf(buf, 24, "%" PRIu64 "%c", size, units[u]);
	return buf;
}

int facts_node_cpus(int rootfd, unsigned int node, struct cpus *ret, struct err *err)
{
	char text[4096];
	int r = read_small(rootfd, text, sizeof(text), "sys/devices/system/node/node%u/cpulist",
			   node);

	if (r == -ENOENT)
		return err_set(err, -ENODEV, "there is no NUMA node %u", node);
	if (r == 0)
		r = cpus_parse(text, ret);
	if (r < 0)
		return err_errno(err, r, "CPUs of node %u", node);
	return 0;
}

void facts_one_per_core(int rootfd, struct cpus *cpus)
{
	struct cpus left = {0}, siblings;
	char text[4096];

	for (int n = cpus_next(cpus, -1); n >= 0; n = cpus_next(cpus, n)) {
		cpus_add(&left, (unsigned int)n);
		if (read_small(rootfd, text, sizeof(text),
			       "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
			       n) < 0 ||
		    cpus_parse(text, &siblings) < 0)
			continue;
		cpus_remove_all(cpus, &siblings);
	}
	*cpus = left;
}

/* The CPU's cache of the highest level: its size, and the CPUs that share it. */
static uint64_t last_cache(int rootfd, int cpu, struct cpus *ret_shared)
{
	char text[4096];
	uint64_t level, best = 0, size = 0;

	for (int i = 0; i < 16; i++) {
		static const char dir[] = "sys/devices/system/cpu/cpu%d/cache/index%d/%s";

		if (read_small(rootfd, text, sizeof(text), dir, cpu, i, "level") < 0)
			break;
		if (parse_u64(text, &level) < 0 || level <= best)
			continue;
		if (read_small(rootfd, text, sizeof(text), dir, cpu, i, "size") < 0 ||
		    parse_size(text, &size) < 0)
			continue;
		best = level;
		memset(ret_shared, 0, sizeof(*ret_shared));
		if (read_small(rootfd, text, sizeof(text), dir, cpu, i, "shared_cpu_list") == 0)
			cpus_parse(text, ret_shared);
	}
	return size;
}

uint64_t facts_last_level_cache(int rootfd, const struct cpus *cpus)
{
	struct cpus left = *cpus, shared;
	uint64_t sum = 0;

	for (int n = cpus_next(&left, -1); n >= 0; n = cpus_next(&left, n)) {
		memset(&shared, 0, sizeof(shared));
		sum += last_cache(rootfd, n, &shared);
		cpus_remove_all(&left, &shared);
	}
	return sum;
}

void facts_spread(int rootfd, struct cpus *cpus, size_t most)
{
	struct cpus left = *cpus, picked = {0};

	if (cpus_count(cpus) <= most)
		return;
	while (cpus_count(&picked) < most) {
		struct cpus round = left; /* one CPU of each cache */

		for (int n = cpus_next(&round, -1); n >= 0; n = cpus_next(&round, n)) {
			struct cpus shared = {0};

			if (cpus_count(&picked) == most)
				break;
			last_cache(rootfd, n, &shared);
			cpus_remove_all(&round, &shared);
			cpus_add(&picked, (unsigned int)n);
			cpus_remove_all(&left, &picked);
		}
	}
	*cpus = picked;
}

/* "Node 0 MemFree:   123 kB" */
static uint64_t meminfo_bytes(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p ? strtoull(p + strlen(key), NULL, 10) * 1024 : 0;
}

int facts_node_available(int rootfd, unsigned int node, uint64_t *ret, struct err *err)
{
	char text[8192];
	int r = read_small(rootfd, text, sizeof(text), "sys/devices/system/node/node%u/meminfo",
			   node);

	if (r < 0)
		return err_errno(err, r, "memory of node %u", node);
	*ret = meminfo_bytes(text, " MemFree:") + meminfo_bytes(text, " Inactive(file):");
	return 0;
}

int facts_huge_pages(int rootfd, unsigned int node, uint64_t page_size, struct huge_pages *ret,
		     struct err *err)
{
	static const char dir[] =
		"sys/devices/system/node/node%u/hugepages/hugepages-%" PRIu64 "kB/%s";
	char text[64], name[24];
	int r = read_small(rootfd, text, sizeof(text), dir, node, page_size / 1024, "nr_hugepages");

	if (r == 0)
		r = parse_u64(text, &ret->reserved);
	if (r == 0)
		r = read_small(rootfd, text, sizeof(text), dir, node, page_size / 1024,
			       "free_hugepages");
	if (r == 0)
		r = parse_u64(text, &ret->free);
	if (r == -ENOENT)
		return err_set(err, r, "this machine has no pages of %s",
			       size_name(page_size, name));
	if (r < 0)
		return err_errno(err, r, "huge pages of node %u", node);
	return 0;
}

int facts_rdma_node(int rootfd, const char *device)
{
	char text[64], parent[64];
	int r = read_small(rootfd, text, sizeof(text),
			   "sys/class/infiniband/%.64s/device/numa_node", device);

	/* rxe and siw have no "device" link: drivers/infiniband/sw/rxe/rxe_verbs.c */
	if (r < 0 && read_small(rootfd, parent, sizeof(parent), "sys/class/infiniband/%.64s/parent",
				device) == 0)
		r = read_small(rootfd, text, sizeof(text), "sys/class/net/%s/device/numa_node",
			       parent);
	return r < 0 ? -1 : (int)strtol(text, NULL, 10);
}
