/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/gpu_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "bench/pool.h"
#include "bench/facts.h"
#include "bench/nvml.h"

#define NODES_MOST 1024
#define PROCESSES_MOST 64

/* --- the place --------------------------------------------------------------------------- */

int gpu_stand_on(unsigned int node, struct err *err)
{
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	unsigned long mask[NODES_MOST / (8 * sizeof(long))] = {0};
	struct cpus cpus = {0};
	int r = facts_node_cpus(rootfd, node, &cpus, err);

	if (r < 0)
		return r;
	if (cpus_count(&cpus)) {
		r = run_on(&cpus);
		if (r < 0)
			return err_errno(err, r, "this process may not use any CPU of node %u",
					 node);
	}
	mask[node / (8 * sizeof(long))] = 1ul << node % (8 * sizeof(long));
	if (syscall(SYS_set_mempolicy, MPOL_BIND, mask, NODES_MOST + 1ul) < 0)
		return err_errno(err, -errno, "bind to the memory of node %u", node);
	return 0;
}

/* --- what NVML says ---------------------------------------------------------------------- */

static void add_number(json_t *line, const char *key, int result, unsigned int value)
{
	if (result == NVML_SUCCESS)
		json_object_set_new(line, key, json_integer(value));
}

static void add_link(const struct nvml *n, nvml_device d, json_t *line)
{
	unsigned int v = 0;
	int r = n->pcie_generation(d, &v);

	add_number(line, "pcie_generation", r, v);
	r = n->pcie_generation_max(d, &v);
	add_number(line, "pcie_generation_max", r, v);
	r = n->pcie_width(d, &v);
	add_number(line, "pcie_width", r, v);
	r = n->pcie_width_max(d, &v);
	add_number(line, "pcie_width_max", r, v);
}

static void add_persistence(const struct nvml *n, nvml_device d, json_t *line)
{
	int on = 1;

	if (n->persistence(d, &on) == NVML_SUCCESS && !on)
		json_object_set_new(line, "setup_note",
				    json_string("persistence mode is off, so that the first use of "
						"the GPU initialises it: enable "
						"nvidia-persistenced.service"));
}

/* The name of a process; "" if the process has ended or is hidden from this user. */
static void name_of(unsigned int pid, char ret[32])
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(ret, 32, f))
		*ret = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* Processes with a CUDA context on the GPU, except those of this program. */
static void add_users(const struct nvml *n, nvml_device d, json_t *users)
{
	struct nvml_process p[PROCESSES_MOST];
	unsigned int count = PROCESSES_MOST;
	char own[32], name[32], text[64];

	if (!n->compute_processes || n->compute_processes(d, &count, p) != NVML_SUCCESS)
		return;
	name_of((unsigned int)getpid(), own);
	for (unsigned int i = 0; i < count && i < PROCESSES_MOST; i++) {
		name_of(p[i].pid, name);
		if (p[i].pid == (unsigned int)getpid() || (*own && streq(name, own)))
			continue;
		snprintf(text, sizeof(text), "%s%sPID %u", name, *name ? ", " : "", p[i].pid);
		json_array_append_new(users, json_string(text));
	}
}

void gpu_facts_report(const struct gpu *g, const char *peer, json_t *line)
{
	json_t *users = json_array();
	struct nvml n;
	nvml_device d;

	json_object_set_new(line, "gpu", json_string(g->addr));
	json_object_set_new(line, "setup_ms", json_integer((json_int_t)(g->setup_ns / 1000000)));
	if (nvml_open(&n, NULL) == 0 && n.device_by_address(g->addr, &d) == NVML_SUCCESS) {
		add_link(&n, d, line);
		add_persistence(&n, d, line);
		add_users(&n, d, users);
		if (peer && n.device_by_address(peer, &d) == NVML_SUCCESS)
			add_users(&n, d, users);
	}
	nvml_close(&n);
	if (json_array_size(users))
		json_object_set(line, "gpu_users", users);
	json_decref(users);
}

/* --- between two GPUs -------------------------------------------------------------------- */

static const struct {
	int status;
	bool by_design;
	const char *why;
} reasons[] = {
	{NVML_P2P_CHIPSET_NOT_SUPPORTED, true, "the chipset doesn't support it"},
	{NVML_P2P_GPU_NOT_SUPPORTED, true, "this model of GPU doesn't support it"},
	{NVML_P2P_TOPOLOGY_NOT_SUPPORTED, true,
	 "they are below different root complexes that don't forward between them"},
	{NVML_P2P_DISABLED_BY_REGKEY, false,
	 "an option of the nvidia module disables it (NVreg_RegistryDwords)"},
	{NVML_P2P_NOT_SUPPORTED, true, "the driver doesn't support it between these two"},
};

static enum gpu_path judge_read(int status, bool *by_design, const char **why)
{
	if (status == NVML_P2P_OK)
		return GPU_PATH_PCIE;
	for (size_t i = 0; i < array_len(reasons); i++)
		if (reasons[i].status == status) {
			*by_design = reasons[i].by_design;
			*why = reasons[i].why;
			return GPU_PATH_NONE;
		}
	return GPU_PATH_UNKNOWN;
}

static enum gpu_path ask(const struct nvml *n, const char *a, const char *b, bool *by_design,
			 const char **why)
{
	nvml_device da, db;
	int status;

	if (!n->p2p_status || n->device_by_address(a, &da) != NVML_SUCCESS ||
	    n->device_by_address(b, &db) != NVML_SUCCESS)
		return GPU_PATH_UNKNOWN;
	if (n->p2p_status(da, db, NVML_P2P_NVLINK, &status) == NVML_SUCCESS &&
	    status == NVML_P2P_OK)
		return GPU_PATH_NVLINK;
	if (n->p2p_status(da, db, NVML_P2P_READ, &status) != NVML_SUCCESS)
		return GPU_PATH_UNKNOWN;
	return judge_read(status, by_design, why);
}

enum gpu_path gpu_path_between(const char *a, const char *b, bool *by_design, const char **why)
{
	enum gpu_path path = GPU_PATH_UNKNOWN;
	struct nvml n;

	if (nvml_open(&n, NULL) == 0)
		path = ask(&n, a, b, by_design, why);
	nvml_close(&n);
	return path;
}
