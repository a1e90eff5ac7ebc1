/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory: the kernel's page management. Sources: the kernel's admin-guide/mm/{transhuge,ksm}.rst
 * and admin-guide/sysctl/vm.rst. Section hugepages has the pools of huge pages.
 */
#include "profile/language.h"
#include "profile/section.h"
#include "sections/tuning.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"
#define NO_THP                                                                           \
	"this kernel was built without CONFIG_TRANSPARENT_HUGEPAGE: leave the key out, " \
	"or make it optional"

static const struct spec thp = ONE_OF(
	"a use of transparent huge pages", MEANS("always", "all anonymous memory"),
	MEANS("madvise", "memory for which a program asks by madvise(2)"), MEANS("never", "none"));
static const struct spec thp_defrag = ONE_OF(
	"a way to make huge pages",
	MEANS("always", "each page fault reclaims and compacts at once, and may stall"),
	MEANS("defer", "kswapd and kcompactd are woken, and the fault goes on with small pages"),
	MEANS("defer+madvise", "as always for memory of madvise(2), as defer for all other"),
	MEANS("madvise", "as always for memory of madvise(2), not at all for other"),
	MEANS("never", "no page fault compacts"));
static const struct spec scan_sleep =
	DURATION("a time between two scans, such as 10s", 1000, 3600 * SECOND);
static const struct spec khugepaged = MAP(
	"a map such as {defrag: false}",
	TUNING("defrag", &spec_bool,
	       "Whether khugepaged compacts memory to collapse pages into huge pages.",
	       .attr.absent = NO_THP, .file = THP "khugepaged/defrag", .values = {"0", "1"}),
	TUNING("pages_to_scan", A_NUMBER_OF("pages", 1, 4194304),
	       "Number of pages that khugepaged looks at in one scan.", .attr.absent = NO_THP,
	       .file = THP "khugepaged/pages_to_scan"),
	TUNING("scan_sleep", &scan_sleep, "Time between two scans of khugepaged.",
	       .attr.absent = NO_THP, .file = THP "khugepaged/scan_sleep_millisecs", .unit = 1000));
static const struct spec ksm = ONE_OF("a state of same-page merging",
				      MEANS("stop", "stops merging, and keeps merged pages"),
				      MEANS("run", "merges pages that programs have marked"),
				      MEANS("unmerge", "stops and undoes all merging"));
static const struct spec keys = MAP(
	"a map such as {thp: never, ksm: stop}",
	TUNING("thp", &thp, "Memory that gets transparent huge pages.", .attr.absent = NO_THP,
	       .file = THP "enabled", .arg = "transparent_hugepage"),
	TUNING("thp_defrag", &thp_defrag, "When a page fault compacts memory to get a huge page.",
	       .attr.absent = NO_THP, .file = THP "defrag"),
	KEY("khugepaged", &khugepaged, "The kernel thread that collapses pages into huge pages."),
	TUNING("ksm", &ksm, "Merging of equal pages: stop keeps merged pages, unmerge splits them.",
	       .attr.absent = "this kernel was built without CONFIG_KSM: leave the key out, or "
			      "make it optional",
	       .file = "/sys/kernel/mm/ksm/run", .values = {"0", "1", "2"}),
	KEY("compaction_proactiveness", A_NUMBER_OF("percent", 0, 100),
	    "How hard the kernel compacts memory in the background; 0: not at all.",
	    .since = KERNEL(5, 9),
	    .item = &(const struct tuning){.attr.absent =
						   "the key needs Linux 5.9 and CONFIG_COMPACTION: "
						   "leave it out, or make it optional",
					   .file = "/proc/sys/vm/compaction_proactiveness"}),
	TUNING("zone_reclaim", &spec_bool,
	       "Whether a full NUMA node frees its own pages before it uses another node's.",
	       .attr.absent = "this kernel was built without CONFIG_NUMA: leave the key out, or "
			      "make it optional",
	       .file = "/proc/sys/vm/zone_reclaim_mode", .values = {"0", "1"}),
	TUNING_GOVERNS(keys));

static void said_once(struct ruling *r)
{
	tunings_are_said_once(r, "memory");
}

static const struct rule rules[] = {
	RULE("memory-is-said-once", said_once),
	NO_MORE_RULES,
};

const struct section section_memory = {
	.name = "memory",
	.spec = &keys,
	.help = "Page management of the kernel.",
	.class = KEY_SETS,
	.differs = FAULT_MEMORY_SETTING_DIFFERS,
	.failed = FAULT_MEMORY_SETTING_FAILED,
	.rules = rules,
	.files = tunings_files,
	.emit = tunings_emit,
};
