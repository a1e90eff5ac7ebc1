/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block: queues of the disks of a set's functions, one change for each key and function. In a
 * function's lane the scheduler comes first: changing it resets nr_requests to the new default
 * (blk_mq_init_sched() of block/blk-mq-sched.c) and turns writeback throttling on or off
 * (wbt_enable_default() of block/blk-wbt.c, ELEVATOR_FLAG_DISABLE_WBT of bfq).
 *
 * The disk of the running system is left alone unless system_disk is true, because a set of all
 * NVMe drives includes it, and no name distinguishes it.
 */
#include "kinds/block.h"

#include "base/mem.h"
#include "node/drivers.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "sections/members.h"

enum {
	SET_MS = 30000,	      /* until I/O in flight is done */
	SCHEDULED_MAX = 2048, /* MAX_SCHED_RQ of block/blk-mq-sched.h */
	PAGE = 4096,
};

static const struct spec scheduler = ONE_OF(
	"an I/O scheduler",
	MEANS("none", "no scheduler: requests go to the disk as they come; for NVMe"),
	MEANS("mq-deadline", "reads before writes, with a deadline for each; for SATA and SAS"),
	MEANS("kyber", "two latency targets, for fast disks"),
	MEANS("bfq", "fair shares, for slow disks and desktops"));
/* The kernel counts pages, and rounds down. */
static const struct spec read_ahead =
	SIZE("a size such as 128K", 0, 1 << 30, .pattern = "^(0T|" NUMBER_OF "[KMG])$");
static const struct spec latency = DURATION("a duration such as 2ms", 0, 10 * SECOND);

/* The kernel's numbers. */
static const struct spec of_three =
	ONE_OF_WORDS("one of the kernel's numbers", WORDS("0", "1", "2"));

#define SETTING(key, of, help, in) KEY(key, of, help, .item = BLOCK(in))

static const struct spec keys =
	MAP("a map such as {scheduler: none, read_ahead: 128K}",
	    SETTING("scheduler", &scheduler, "I/O scheduler of the disks.", "scheduler"),
	    SETTING("nr_requests", A_NUMBER_OF("requests", 4, 10240),
		    "Number of requests that a queue may have; the limit is the hardware's with "
		    "scheduler none, else 2048.",
		    "nr_requests"),
	    SETTING("wbt_latency", &latency,
		    "Read latency above which the kernel throttles writeback; 0us turns throttling "
		    "off.",
		    "wbt_lat_usec"),
	    SETTING("rq_affinity", &of_three,
		    "CPU that completes a request: 0 any CPU, 1 a CPU of the group that submitted "
		    "it, 2 the submitting CPU.",
		    "rq_affinity"),
	    SETTING("nomerges", &of_three,
		    "Whether requests are merged: 0 in all ways, 1 in simple ways only, 2 never.",
		    "nomerges"),
	    KEY("read_ahead", &read_ahead,
		"Amount that is read ahead of a sequential reader, in whole pages.",
		.item = BLOCK("read_ahead_kb", .of_head = true, .scale = 1024)),
	    KEY("io_poll", &spec_bool,
		"Whether the driver must have queues for polled I/O, which modules.options create "
		"(nvme: poll_queues).",
		.class = KEY_JUDGES, .item = &block_poll_item),
	    KEY("system_disk", &spec_bool,
		"Whether the disk that carries the running system (/, /usr, /boot, the ESP) is set "
		"as well; default false.",
		.class = KEY_GOVERNS),
	    GOVERNING_KEYS(keys));
static const struct spec by_set = BY_SET(keys, ", such as {data: {scheduler: none}}");

/* --- changes ------------------------------------------------------------------------------ */

static void extend(const struct section_ctx *ctx, const struct member *m, struct change *c)
{
	const struct block_item *item = c->on.item;

	(void)ctx;
	c->on.node = member_value(m, "system_disk");
	if (c->kind == &kind_check)
		return;
	change_file(c, "/sys/bus/pci/devices/%s/%s/queue/%s", m->fn->addr,
		    driver_find(m->fn->driver)->disks ?: "host*/target*/*/block/*", item->file);
	c->deadline_ms = SET_MS;
}

static const struct settings settings = {.extend = extend};

/* --- rules -------------------------------------------------------------------------------- */

static void scheduler_has_so_many(struct ruling *r, const struct selector *s,
				  const struct ynode *view)
{
	const struct ynode *by = tree_get(view, "block.scheduler");
	const struct ynode *requests = tree_get(view, "block.nr_requests");
	uint64_t n;

	if (*scalar(by) && !streq(by->text, "none") && ynode_number(requests, &n) &&
	    n > SCHEDULED_MAX)
		set_error(r, s, view, "block.nr_requests",
			  "at most %d with a scheduler, and scheduler (at %s) is %s; write fewer "
			  "requests",
			  SCHEDULED_MAX, seen(r, by), by->text);
}

static void bfq_throttles_by_itself(struct ruling *r, const struct selector *s,
				    const struct ynode *view)
{
	const struct ynode *by = tree_get(view, "block.scheduler");
	const struct ynode *wanted = tree_get(view, "block.wbt_latency");

	if (streq(scalar(by), "bfq") && wanted && wanted->value.number)
		set_error(r, s, view, "block.wbt_latency",
			  "the kernel turns writeback throttling off for bfq (at %s); write 0us, "
			  "or leave the key out",
			  seen(r, by));
}

/* The kernel rounds down to pages, which are 4K or larger. */
static void pages_are_read_ahead(struct ruling *r, const struct selector *s,
				 const struct ynode *view)
{
	const struct ynode *size = tree_get(view, "block.read_ahead");
	uint64_t bytes;

	if (ynode_number(size, &bytes) && bytes % PAGE)
		set_error(r, s, view, "block.read_ahead",
			  "%.20s is not a whole number of pages; write a multiple of 4K",
			  size->text);
}

static const struct set_rule set_rules[] = {
	{"scheduler-has-so-many", scheduler_has_so_many},
	{"bfq-throttles-by-itself", bfq_throttles_by_itself},
	{"pages-are-read-ahead", pages_are_read_ahead},
	NO_MORE_SET_RULES,
};

const struct section section_block = {
	.name = "block",
	.spec = &by_set,
	.help = "Disks of the members of a set: their queues, as sysfs shows them.",
	.class = KEY_SETS,
	.differs = FAULT_STORAGE_QUEUE_DIFFERS,
	.failed = FAULT_STORAGE_QUEUE_FAILED,
	.set_rules = set_rules,
	.awaits_netdevs = true,
	.emit = settings_emit,
	.settings = &settings,
};
