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

#include <inttypes.h>

#include "base/mem.h"
#include "node/drivers.h"
#include "profile/language.h"
#include "profile/rules.h"
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
static const struct spec read_ahead = SIZE("a size such as 128K", 0, 1 << 30);
static const struct spec latency = DURATION("a duration such as 2ms", 0, 10 * SECOND);

/* The kernel's numbers. */
static const struct spec of_three =
	ONE_OF_WORDS("one of the kernel's numbers", WORDS("0", "1", "2"));

/* scale: units of the profile per unit of the kernel. */
struct setting {
	struct block_item item;
	unsigned int scale;
};

#define SETTING(key, of, help, in, ...) \
	KEY(key, of, help, .item = &(const struct setting){{.file = (in), __VA_ARGS__}, 1})

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
		.item = &(const struct setting){{.file = "read_ahead_kb", .of_head = true}, 1024}),
	    KEY("io_poll", &spec_bool,
		"Whether the driver must have queues for polled I/O, which modules.options create "
		"(nvme: poll_queues).",
		.class = KEY_JUDGES),
	    KEY("system_disk", &spec_bool,
		"Whether the disk that carries the running system (/, /usr, /boot, the ESP) is set "
		"as well; default false.",
		.class = KEY_GOVERNS),
	    GOVERNING_KEYS(keys));
static const struct spec by_set = BY_SET(keys, ", such as {data: {scheduler: none}}");

/* --- changes ------------------------------------------------------------------------------ */

static struct change *add(const struct member *m, const struct field *row,
			  const struct ynode *value, struct plan *plan)
{
	const char *addr = m->fn->addr;
	bool judged = row->class == KEY_JUDGES;
	struct change *c =
		plan_add(plan, "block", judged ? &kind_check : &kind_block,
			 judged ? STAGE_GATE : STAGE_DEVICES, judged ? PHASE_CHECK : PHASE_PORT,
			 value->at, "block/%s/%s", addr, row->name);

	change_want(c, value);
	change_target(c, "block:%s/%s", addr, row->name);
	c->on.key = row->name;
	c->on.node = member_value(m, "system_disk");
	return c;
}

static void emit_setting(const struct member *m, const struct field *row, const struct ynode *value,
			 struct plan *plan)
{
	const struct setting *setting = row->item;
	const char *addr = m->fn->addr;
	struct change *c = add(m, row, value, plan);

	change_on(c, addr, &setting->item);
	member_govern(m, row->name, c);
	change_lane(c, "%s", addr);
	if (value->value.type == VALUE_NUMBER)
		change_desired(c, "%" PRId64, value->value.number / setting->scale);
	change_file(c, "/sys/bus/pci/devices/%s/%s/queue/%s", addr,
		    driver_find(m->fn->driver)->disks ?: "host*/target*/*/block/*",
		    setting->item.file);
	c->deadline_ms = SET_MS;
}

static void emit_row(const struct member *m, const struct field *row, const struct ynode *value,
		     struct plan *plan)
{
	if (row->item) {
		emit_setting(m, row, value, plan);
	} else if (row->class == KEY_JUDGES) {
		struct change *c = add(m, row, value, plan);

		change_on(c, m->fn->addr, &block_poll_item);
		change_desired(c, "%d", ynode_is_true(value));
	}
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	(void)err;
	members_each_key(ctx, section, keys.fields, emit_row, plan);
	return 0;
}

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
	.emit = emit,
};
