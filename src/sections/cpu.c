/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu: frequencies, idle states, and the kernel's own work on CPUs. Sources: the kernel's
 * admin-guide/pm/{cpufreq,intel_pstate,amd-pstate,cpuidle}.rst, admin-guide/sysctl/kernel.rst,
 * core-api/workqueue.rst, and the drivers.
 */
#include "base/mem.h"
#include "base/str.h"
#include "kinds/isolation.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "sections/tuning.h"
#include "sys/read.h"

#define POLICY "/sys/devices/system/cpu/cpufreq/policy*/"
#define IDLE "/sys/devices/system/cpu/cpu*/cpuidle/"
#define OR_OPTIONAL ": leave the key out, or make it optional"
#define NO_CPUFREQ                                                                             \
	"no driver sets frequencies here, as in most virtual machines and where the firmware " \
	"controls them" OR_OPTIONAL

static const struct spec governor =
	ONE_OF("a governor",
	       MEANS("performance", "the highest frequency; with intel_pstate or amd_pstate in "
				    "active mode, a preference for it"),
	       MEANS("powersave", "the lowest frequency; with intel_pstate or amd_pstate in active "
				  "mode, the CPU's choice by epp"),
	       MEANS("schedutil", "the frequency follows the scheduler's load"),
	       MEANS("ondemand", "the frequency jumps with load"),
	       MEANS("conservative", "the frequency rises step by step with load"));
static const struct spec epp = ONE_OF(
	"a preference", MEANS("default", "the firmware's own"), MEANS("performance", "the fastest"),
	MEANS("balance_performance", "fast, with some regard to energy"),
	MEANS("balance_power", "economical, with some regard to speed"),
	MEANS("power", "the most economical"));
static const struct spec latency = DURATION("a latency such as 10us", 0, SECOND);
static const struct spec workqueue_cpus =
	ONE_OF("the word housekeeping", MEANS("housekeeping", "the CPUs that isolate_cpus leaves"));

/*
 * Emits one change for each idle state, by its number on the first CPU, because all CPUs of a
 * server have the same states. A state's latency cannot be set, and is constant while the driver is
 * loaded.
 */
static void emit_idle_states(const struct section_ctx *ctx, const struct tuning *t, const char *id,
			     const struct ynode *value, struct plan *plan)
{
	cleanup_strv struct strv states = {0};
	uint64_t most = (uint64_t)value->value.number;

	read_glob(ctx->root, "/sys/devices/system/cpu/cpu0/cpuidle/state*", &states, NULL);
	if (!states.n) /* no state on CPU 0 means none at all; the look reports it */
		tuning_add(ctx, t, id, value, t->file, "1", plan);
	for (size_t i = 0; i < states.n; i++) {
		const char *name = strrchr(states.v[i], '/') + 1;
		cleanup_free char *of = xasprintf("%s/%s", id, name);
		cleanup_free char *file = xasprintf(IDLE "%s/disable", name);
		uint64_t have;

		if (read_u64(ctx->root, &have, NULL, "%s/latency", states.v[i]) == 0)
			tuning_add(ctx, t, of, value, file, have > most ? "1" : "0", plan);
	}
}

static void emit_workqueues(const struct section_ctx *ctx, const struct tuning *t, const char *id,
			    const struct ynode *value, struct plan *plan)
{
	const struct ynode *isolate =
		ynode_get(profile_section(ctx->profile, "kernel_args"), "isolate_cpus");
	struct cpus isolated, kept;
	cleanup_free char *mask = NULL;

	node_online(ctx->node, &kept);
	if (isolate && isolated_on(ctx->node, isolate, &isolated, NULL) == 0)
		cpus_remove_all(&kept, &isolated);
	mask = cpus_format_mask(&kept);
	tuning_add(ctx, t, id, value, t->file, mask, plan)->compare = COMPARE_MASK;
}

static const struct spec keys = MAP(
	"a map such as {governor: performance, max_cstate_latency: 10us}",
	TUNING("governor", &governor, "Governor of the frequencies of all CPUs.",
	       .attr = {NO_CPUFREQ, "scaling_available_governors", "scaling_driver",
			"affected_cpus"},
	       .file = POLICY "scaling_governor"),
	KEY("epp", &epp,
	    "Energy performance preference, a hint to CPUs that choose their own frequency.",
	    .since = KERNEL(4, 10),
	    .item =
		    &(const struct tuning){
			    .attr = {"the CPU or its driver has no preference: intel_pstate and "
				     "amd_pstate have it in active mode" OR_OPTIONAL,
				     "energy_performance_available_preferences",
				     .cpus = "affected_cpus"},
			    .file = POLICY "energy_performance_preference"}),
	TUNING("boost", &spec_bool, "Whether CPUs may run faster than their base frequency.",
	       .attr.absent = NO_CPUFREQ, .file = "/sys/devices/system/cpu/cpufreq/boost",
	       .values = {"0", "1"}, .other_file = "/sys/devices/system/cpu/intel_pstate/no_turbo",
	       .other_values = {"1", "0"}),
	TUNING("max_cstate_latency", &latency,
	       "Longest time that an idle CPU may need to wake: deeper idle states are disabled.",
	       .attr.absent = "no driver of idle states runs here, as in most virtual machines and "
			      "with idle=poll" OR_OPTIONAL,
	       .file = IDLE "state*/disable", .emit = emit_idle_states),
	TUNING("numa_balancing", &spec_bool,
	       "Whether the kernel moves pages to the NUMA node whose CPUs use them.",
	       .attr.absent = "this kernel was built without CONFIG_NUMA_BALANCING" OR_OPTIONAL,
	       .file = "/proc/sys/kernel/numa_balancing", .values = {"0", "1"},
	       .arg = "numa_balancing", .arg_values = {"disable", "enable"}),
	TUNING("watchdog", &spec_bool, "Whether the kernel looks for CPUs that hang.",
	       .attr.absent = "this kernel was built without a lockup detector" OR_OPTIONAL,
	       .file = "/proc/sys/kernel/watchdog", .values = {"0", "1"}),
	TUNING("timer_migration", &spec_bool,
	       "Whether timers of an idle CPU move to a CPU that is awake.",
	       .attr.absent = "this kernel was built without CONFIG_NO_HZ_COMMON" OR_OPTIONAL,
	       .file = "/proc/sys/kernel/timer_migration", .values = {"0", "1"}),
	TUNING("workqueue_cpus", &workqueue_cpus,
	       "CPUs that serve unbound workqueues: housekeeping, the CPUs that isolate_cpus "
	       "leaves.",
	       .attr.absent = "this kernel does not show where its workqueues run" OR_OPTIONAL,
	       .file = "/sys/devices/virtual/workqueue/cpumask", .emit = emit_workqueues),
	TUNING_GOVERNS(keys));

static void files(const struct section *section, struct strv *ret)
{
	tunings_files(section, ret);
	strv_add(ret, IDLE "state*/latency");
}

/* --- rules -------------------------------------------------------------------------------- */

static void said_once(struct ruling *r)
{
	tunings_are_said_once(r, "cpu");
}

/*
 * EBUSY: under the governor performance, intel_pstate and amd_pstate hold the preference at
 * performance (store_energy_performance_preference() in
 * drivers/cpufreq/{intel_pstate,amd-pstate}.c).
 */
static void preference_can_be_set(struct ruling *r)
{
	const struct ynode *cpu = section(r, "cpu"), *said = ynode_get(cpu, "governor");

	if (text_is(cpu, "governor", "performance") && *scalar(ynode_get(cpu, "epp")) &&
	    !text_is(cpu, "epp", "performance"))
		rule_error(r, ynode_get(cpu, "epp"), "cpu.epp",
			   "%.40s: governor: performance (at %s) fixes the preference at "
			   "performance; write governor: powersave (intel_pstate and amd_pstate "
			   "then follow epp), or leave epp out",
			   scalar(ynode_get(cpu, "epp")), seen(r, said));
}

static void housekeeping_is_known(struct ruling *r)
{
	const struct ynode *said = ynode_get(section(r, "cpu"), "workqueue_cpus");

	if (ynode_is_word(said, 0) && !ynode_get(section(r, "kernel_args"), "isolate_cpus"))
		rule_error(r, said, "cpu.workqueue_cpus",
			   "no CPU is isolated; write kernel_args: {isolate_cpus: ...}");
}

static const struct rule rules[] = {
	RULE("cpu-is-said-once", said_once),
	RULE("preference-can-be-set", preference_can_be_set),
	RULE_OF_WHOLE("housekeeping-is-known", housekeeping_is_known),
	NO_MORE_RULES,
};

const struct section section_cpu = {
	.name = "cpu",
	.spec = &keys,
	.help = "Frequencies and idle states of CPUs, and the kernel's own work on CPUs.",
	.class = KEY_SETS,
	.differs = FAULT_CPU_SETTING_DIFFERS,
	.failed = FAULT_CPU_SETTING_FAILED,
	.rules = rules,
	.files = files,
	.emit = tunings_emit,
};
