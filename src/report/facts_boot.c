/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of a boot, with the names of the history's file. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "report/facts.h"

static void add_text(struct facts *ret, const char *key, const char *value)
{
	if (*value)
		facts_add(ret, key, xstrdup(value), NULL, false);
}

/* Takes ownership of value. */
static void add_number(struct facts *ret, const char *key, char *value, double number, double noise)
{
	struct known *fact;

	facts_add(ret, key, value, NULL, false);
	fact = &ret->list.v[ret->list.n - 1];
	fact->number = number;
	fact->noise = noise;
}

static void add_verdict(const struct boot_past *b, struct facts *ret)
{
	cleanup_free char *faults = strv_some(&b->faults, b->faults.n);

	add_text(ret, "verdict", verdict_name(b->verdict));
	facts_add(ret, "admit", xstrdup(b->admit ? "yes" : "no"), NULL, false);
	add_text(ret, "faults", or_empty(faults));
	add_text(ret, "reason", b->reason);
	facts_add(ret, "reboots", xasprintf("%u", b->reboots), NULL, false);
}

static void add_software(const struct boot_past *b, struct facts *ret)
{
	add_text(ret, "profile/name", b->profile);
	add_text(ret, "profile/version", b->version);
	add_text(ret, "profile/digest", b->digest);
	add_text(ret, "kernel", b->kernel);
	add_text(ret, "railhead", b->railhead);
}

/*
 * "link width of 0000:3b:00.0" is the fact "link width" of the function, which is a thing. Only the
 * model of a missing function is reported.
 */
static void add_part(const struct binding_part *part, struct facts *ret)
{
	struct binding_name name = binding_name(part->name);
	cleanup_free char *thing = name.address ? xasprintf("parts/%s", name.address) : NULL;
	cleanup_free char *key = xasprintf("%s/%.*s", thing ? thing : "parts", name.len, name.what);

	if (past_part_is_told(part->name))
		return;
	if (thing && binding_name_is(&name, "model"))
		facts_add(ret, thing, xstrdup(part->value), NULL, true);
	facts_add(ret, key, xstrdup(part->value), NULL, false);
}

static void add_time(const struct boot_past *b, enum stage stage, const struct boot_at *later,
		     struct facts *ret)
{
	const char *name = stage == STAGE_COUNT ? "verdict" : stage_name(stage);
	cleanup_free char *key = xasprintf("time/%s", name);
	uint64_t usec = boot_past_time(b, stage);

	if (usec)
		add_number(ret, key, format_duration(usec), (double)usec,
			   history_time_noise(later->history, later->boot, stage));
}

static void add_figure(const struct past_figure *f, const struct boot_past *other,
		       const struct boot_at *later, struct facts *ret)
{
	const struct past_figure *same = boot_past_figure(other, f);
	cleanup_free char *key = xasprintf("figures/%s/%s/%s", f->check, f->subject, f->key);

	if (f->fresh && (!same || same->fresh))
		add_number(ret, key, quantity_format(f->quantity, f->value), f->value,
			   history_figure_noise(later->history, later->boot, f));
}

void facts_of_boot(const struct boot_at *at, const struct boot_at *other, struct facts *ret)
{
	const struct boot_past *b = &at->history->boots.v[at->boot];
	const struct boot_at *later = at->boot > other->boot ? at : other;

	add_verdict(b, ret);
	add_software(b, ret);
	for (size_t i = 0; i < b->parts.list.n; i++)
		add_part(&b->parts.list.v[i], ret);
	for (enum stage s = 0; s <= STAGE_COUNT; s++)
		add_time(b, s, later, ret);
	for (size_t i = 0; i < b->figures.n; i++)
		add_figure(&b->figures.v[i], &other->history->boots.v[other->boot], later, ret);
}
