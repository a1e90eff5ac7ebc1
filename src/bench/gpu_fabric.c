/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks NVML, without load, whether a GPU is part of its node's NVLink fabric. --mode names the
 * fabric:
 *
 *   none       no fabric is required; a GPU that waits for a fabric is still not ready, because
 * CUDA fails with error 802 until the fabric is complete node       the fabric of one board
 * (NVSwitch): complete and healthy multinode  the fabric of several nodes (NVL72): complete and
 * healthy, and the GPU is in the same cluster and clique as the other GPUs of its node
 *
 * States, health fields and their values are those of nvml.h, group "Fabric definitions"
 * (github.com/NVIDIA/go-nvml, gen/nvml/nvml.h). A field that is "not supported" is reported and not
 * judged, because healthy GB200 report all fields so (leptonai/gpud#1106). The fabric of one board
 * has neither cluster nor clique: healthy H100 report zeros (meta-pytorch/torchcomms#1385). GPUs
 * before Hopper have no such state (nvml.h; bottlerocket-os/bottlerocket#3873: A100).
 */
#include "bench/gpu_fabric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "bench/gpu_findings.h"
#include "bench/nvidia.h"

enum mode { MODE_NONE, MODE_NODE, MODE_MULTINODE };
static const char *const modes[] = {"none", "node", "multinode"};

struct fabric {
	struct gpu_findings f;
	enum mode mode;
	struct nvml_fabric_v3 is; /* health is 0 if the driver is too old to report it */
};

/* The remedy depends on the owner of the fabric: the rack, or this node's fabric manager. */
static const char *remedy(const struct fabric *fb)
{
	if (fb->mode == MODE_MULTINODE)
		return "see the rack's NVLink switches and their fabric manager (NMX-C), and on "
		       "this node `journalctl -u nvidia-imex`";
	return "start nvidia-fabricmanager.service, of the driver's version, and see its log: "
	       "`journalctl -u nvidia-fabricmanager` (on HGX B200 and later see NVLSM's log, too; "
	       "NVLSM needs ib_umad)";
}

/* --- the question ------------------------------------------------------------------------ */

static int ask_version(const struct nvml *n, nvml_device d, unsigned int version,
		       struct nvml_fabric_v3 *ret)
{
	*ret = (struct nvml_fabric_v3){.version = version};
	return n->fabric_versioned(d, ret);
}

static bool is_other_version(int result)
{
	return result == NVML_ARGUMENT_VERSION_MISMATCH || result == NVML_INVALID_ARGUMENT;
}

/* Asks with the newest struct that the driver knows, or else with the call that preceded it. */
static int ask(const struct nvml *n, nvml_device d, struct nvml_fabric_v3 *ret)
{
	struct nvml_fabric old = {0};
	int r = NVML_FUNCTION_NOT_FOUND;

	if (n->fabric_versioned)
		r = ask_version(n, d, NVML_FABRIC_V3, ret);
	if (is_other_version(r))
		r = ask_version(n, d, NVML_FABRIC_V2, ret);
	if (r == NVML_SUCCESS || r == NVML_NOT_SUPPORTED)
		return r;
	if (!is_other_version(r) && !nvml_is_hidden(r))
		return r;
	r = n->fabric ? n->fabric(d, &old) : NVML_FUNCTION_NOT_FOUND;
	*ret = (struct nvml_fabric_v3){
		.status = old.status, .clique = old.clique, .state = old.state};
	memcpy(ret->cluster, old.cluster, sizeof(ret->cluster));
	return r;
}

/* --- health ------------------------------------------------------------------------------ */

/* The values of a field, by number. blame is "" for a healthy value. */
struct value {
	const char *word, *blame;
};

static const struct value bandwidth[] = {
	{"not supported", ""}, {"degraded", "its bandwidth is degraded"}, {"full", ""}};
static const struct value recovery[] = {
	{"not supported", ""}, {"in progress", "it recovers a route"}, {"none", ""}};
static const struct value routes[] = {
	{"not supported", ""}, {"unhealthy", "a route is unhealthy"}, {"healthy", ""}};
static const struct value timeouts[] = {
	{"not supported", ""},
	{"in progress", "it recovers from an access timeout"},
	{"none", ""},
};
static const struct value configuration[] = {
	{"not supported", ""},
	{"correct", ""},
	{"system GUID", "it is configured wrongly (system GUID)"},
	{"chassis serial number", "it is configured wrongly (chassis serial number)"},
	{"no partition", "it is configured wrongly (no partition)"},
	{"too few NVLinks", "it is configured wrongly (too few NVLinks)"},
	{"GPU firmware", "it is configured wrongly (incompatible firmware of the GPU)"},
	{"location", "it is configured wrongly (location)"},
	{"GPU state", "it is configured wrongly (state of the GPU)"},
};

static const struct field {
	const char *key;
	unsigned int shift, mask;
	const struct value *values;
	unsigned int n;
	const char *unknown; /* the blame for a value that nvml.h does not list */
} fields[] = {
	{"bandwidth", 0, 0x3, bandwidth, array_len(bandwidth),
	 "the state of its bandwidth is unknown"},
	{"route_recovery", 2, 0x3, recovery, array_len(recovery),
	 "its routes' recovery is unknown"},
	{"routes", 4, 0x3, routes, array_len(routes), "the state of its routes is unknown"},
	{"access_timeout_recovery", 6, 0x3, timeouts, array_len(timeouts),
	 "the state of its access timeouts is unknown"},
	{"configuration", 8, 0xf, configuration, array_len(configuration),
	 "it is configured wrongly"},
};

static void judge_field(const struct fabric *fb, const struct field *field, json_t *health,
			struct str *blame)
{
	unsigned int v = fb->is.health >> field->shift & field->mask;
	bool known = v < field->n;
	const char *word = known ? field->values[v].word : "unknown";
	const char *sentence = known ? field->values[v].blame : field->unknown;

	json_object_set_new(health, field->key, json_string(word));
	if (!*sentence)
		return;
	str_addf(blame, "%s%s", blame->len ? "; " : "", sentence);
	if (!known)
		str_addf(blame, " (%u)", v);
}

static void judge_summary(const struct fabric *fb, struct str *blame)
{
	if (fb->is.summary == NVML_FABRIC_LIMITED_CAPACITY)
		str_addf(blame, "%sit has limited capacity", blame->len ? "; " : "");
	else if (fb->is.summary > NVML_FABRIC_HEALTHY && !blame->len)
		str_add(blame, fb->is.summary == NVML_FABRIC_UNHEALTHY
				       ? "it is unhealthy for an unknown reason"
				       : "its health is unknown");
}

static void judge_health(struct fabric *fb)
{
	json_t *health = json_object();
	struct str blame = {0};

	for (size_t i = 0; i < array_len(fields); i++)
		judge_field(fb, &fields[i], health, &blame);
	judge_summary(fb, &blame);
	gpu_show(&fb->f, "health", health);
	gpu_show(&fb->f, "health_mask", json_integer(fb->is.health));
	gpu_show(&fb->f, "health_summary", json_integer(fb->is.summary));
	if (blame.len)
		gpu_fault(&fb->f, FAULT_GPU_FABRIC_HEALTH,
			  "the NVLink fabric of the GPU: %s; see `nvidia-smi -q` (Fabric), "
			  "`nvidia-smi nvlink -s` and -e; %s",
			  blame.s, remedy(fb));
	str_free(&blame);
}

/* --- clique and cluster ------------------------------------------------------------------ */

#define UUID_TEXT_MAX 37

static void format_uuid(const unsigned char *u, char ret[UUID_TEXT_MAX])
{
	char *p = ret;

	for (int i = 0; i < NVML_FABRIC_UUID_LEN; i++)
		p += snprintf(p, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      u[i]);
}

static bool is_same_clique(const struct nvml_fabric_v3 *a, const struct nvml_fabric_v3 *b)
{
	return a->clique == b->clique && memcmp(a->cluster, b->cluster, sizeof(a->cluster)) == 0;
}

/* True if the other GPU of the set is in the fabric. Its own probe reports its other faults. */
static bool ask_other(const struct nvml *n, const char *addr, struct nvml_fabric_v3 *ret)
{
	nvml_device d;

	return n->device_by_address(addr, &d) == NVML_SUCCESS && ask(n, d, ret) == NVML_SUCCESS &&
	       ret->state == NVML_FABRIC_COMPLETED && ret->status == NVML_SUCCESS;
}

static void blame_other(struct fabric *fb, const char *addr, const struct nvml_fabric_v3 *other)
{
	char own[UUID_TEXT_MAX], theirs[UUID_TEXT_MAX];

	format_uuid(fb->is.cluster, own);
	format_uuid(other->cluster, theirs);
	gpu_fault(&fb->f, FAULT_GPU_FABRIC_CLIQUE,
		  "is in cluster %s, clique %u of the NVLink fabric, and %s is in %s, clique %u: a "
		  "job on this node can't use NVLink between them; %s",
		  own, fb->is.clique, addr, theirs, other->clique, remedy(fb));
}

/* Blames the odd GPU only: a GPU in the clique of most of the others is where it should be. */
static void judge_others(struct fabric *fb, const char *others)
{
	cleanup_free char *list = xstrdup(others);
	char *rest = list, *addr;
	const char *odd = NULL;
	struct nvml_fabric_v3 other, odd_one = {0};
	size_t same = 1, n = 1;

	while ((addr = strsep(&rest, ",")) != NULL) {
		if (!ask_other(&fb->f.nvml, addr, &other))
			continue;
		n++;
		if (is_same_clique(&fb->is, &other)) {
			same++;
		} else if (!odd) {
			odd = addr;
			odd_one = other;
		}
	}
	if (odd && same * 2 <= n)
		blame_other(fb, odd, &odd_one);
}

static void judge_clique(struct fabric *fb, const char *others)
{
	static const unsigned char zero[NVML_FABRIC_UUID_LEN];
	unsigned int partition = fb->is.health >> 12 & 0x3; /* 2: no partition is assigned */

	if (memcmp(fb->is.cluster, zero, sizeof(zero)) == 0)
		gpu_fault(&fb->f, FAULT_GPU_FABRIC_CLIQUE,
			  "its cluster UUID is zero, so that it reaches no GPU of another node: %s",
			  remedy(fb));
	else if (fb->is.clique == 0)
		gpu_fault(&fb->f, FAULT_GPU_FABRIC_CLIQUE,
			  "its clique id is 0, so that it reaches no GPU of another node: %s",
			  remedy(fb));
	else if (partition == 2)
		gpu_fault(&fb->f, FAULT_GPU_FABRIC_CLIQUE,
			  "no NVLink partition is assigned to it, so that it reaches no GPU of "
			  "another node: %s",
			  remedy(fb));
	else
		judge_others(fb, others);
}

/* --- the state --------------------------------------------------------------------------- */

static void show_fabric(struct fabric *fb)
{
	char uuid[UUID_TEXT_MAX];

	format_uuid(fb->is.cluster, uuid);
	gpu_show(&fb->f, "cluster", json_string(uuid));
	gpu_show(&fb->f, "clique", json_integer(fb->is.clique));
}

static void judge_completed(struct fabric *fb, const char *others)
{
	gpu_show(&fb->f, "fabric", json_string("completed"));
	if (fb->is.status != NVML_SUCCESS) {
		gpu_fault(&fb->f, FAULT_GPU_FABRIC,
			  "the NVLink fabric has not accepted the GPU (%s): %s",
			  fb->f.nvml.error_string(fb->is.status), remedy(fb));
		return;
	}
	show_fabric(fb);
	judge_health(fb);
	if (fb->mode == MODE_MULTINODE)
		judge_clique(fb, others);
}

static void judge_absent(struct fabric *fb)
{
	gpu_show(&fb->f, "fabric", json_string("not supported"));
	if (fb->mode != MODE_NONE)
		gpu_fault(&fb->f, FAULT_GPU_FABRIC_DOWN,
			  "it reports an NVLink fabric as not supported, although the profile "
			  "requires a fabric (mode: %s): %s; write mode: none for GPUs without "
			  "NVSwitch or before Hopper",
			  modes[fb->mode], remedy(fb));
}

static int not_yet(const struct fabric *fb, const char *state, struct err *err)
{
	err_set(err, -EAGAIN, "not in the NVLink fabric yet (%s)%s: %s", state,
		fb->mode == MODE_NONE ? ", so CUDA fails, also with mode: none in the profile" : "",
		remedy(fb));
	return err_fault(err, -EAGAIN, FAULT_GPU_FABRIC_DOWN);
}

static int judge_state(struct fabric *fb, const char *others, struct err *err)
{
	switch (fb->is.state) {
	case NVML_FABRIC_NOT_SUPPORTED:
		judge_absent(fb);
		return 0;
	case NVML_FABRIC_NOT_STARTED:
		return not_yet(fb, "not started", err);
	case NVML_FABRIC_IN_PROGRESS:
		return not_yet(fb, "in progress", err);
	case NVML_FABRIC_COMPLETED:
		judge_completed(fb, others);
		return 0;
	default:
		gpu_show(&fb->f, "fabric", json_integer(fb->is.state));
		gpu_fault(&fb->f, FAULT_GPU_FABRIC_DOWN,
			  "its state in the NVLink fabric is %u, unknown to this version: update "
			  "railhead",
			  fb->is.state);
		return 0;
	}
}

/* The driver has neither call, or neither call answers. */
static void judge_silence(struct fabric *fb)
{
	char module[32];

	json_array_append_new(fb->f.hidden, json_string("NVLink fabric"));
	if (fb->mode != MODE_NONE)
		gpu_fault(&fb->f, FAULT_GPU_NOT_SHOWN,
			  "the driver (%s) does not report the NVLink fabric, which the profile "
			  "requires (mode: %s): install a driver with nvmlDeviceGetGpuFabricInfoV",
			  nvidia_driver_version(module), modes[fb->mode]);
}

static int judge(struct fabric *fb, const char *others, struct err *err)
{
	int result = ask(&fb->f.nvml, fb->f.dev, &fb->is);

	if (result == NVML_NOT_SUPPORTED)
		judge_absent(fb);
	else if (nvml_is_hidden(result))
		judge_silence(fb);
	else if (gpu_answered(&fb->f, result, "NVLink fabric"))
		return judge_state(fb, others, err);
	return 0;
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	const char *mode = option_text(o, "mode", "");
	int is = str_index(mode, modes, array_len(modes));
	struct fabric fb = {0};
	int r;

	if (is < 0)
		return err_set(err, -EINVAL, "--mode: '%s': expected one of: none, node, multinode",
			       mode);
	r = gpu_findings_begin(&fb.f, option_text(o, "gpu", ""), line, err);
	fb.mode = (enum mode)is;
	gpu_show(&fb.f, "mode", json_string(mode));
	if (r == 0 && fb.f.dev)
		r = judge(&fb, option_text(o, "others", ""), err);
	return gpu_findings_end(&fb.f, r);
}

const struct benchmark gpu_fabric = {
	.name = "gpu_fabric",
	.summary = "whether a GPU is part of its node's NVLink fabric",
	.options = {{.name = "gpu",
		     .arg = "ADDRESS",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "PCI address of the GPU"},
		    {.name = "mode",
		     .arg = "MODE",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "required fabric: none, node or multinode"},
		    {.name = "others",
		     .arg = "ADDRESSES",
		     .type = OPTION_TEXT,
		     .help = "GPUs that must be in the same clique, with mode multinode"},
		    {.name = "budget",
		     .arg = "MS",
		     .type = OPTION_NUMBER,
		     .max = 3600000,
		     .help = "accepted and ignored"}},
	.run = run,
	.gpu = true,
};
