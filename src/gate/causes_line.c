/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes that the measuring program itself has seen while it measured, in its line. */
#include <ctype.h>

#include "gate/causes.h"

#define STALLED_MUCH_PCT 5

static double number(const json_t *line, const char *key)
{
	return json_number_value(json_object_get(line, key));
}

/* "unknown" is worth a word: it may be what the reader looks for. */
static void look_at_smi(const json_t *line, struct causes *ret)
{
	if (json_is_string(json_object_get(line, "smi")))
		cause_add(ret, false, "SMIs are not counted (module msr, Intel only)");
	else if (json_is_integer(json_object_get(line, "smi")))
		cause_add(ret, number(line, "smi") > 0, "%.0f SMIs of the firmware",
			  number(line, "smi"));
}

/* The tick comes anyway; the interrupts of devices can be steered away. */
static void look_at_interrupt(const json_t *line, struct causes *ret)
{
	const char *top = json_string_value(json_object_get(line, "top_interrupt"));

	if (top)
		cause_add(ret, isdigit((unsigned char)*top) != 0,
			  "interrupted most often by %.64s, %.0f times", top,
			  number(line, "top_interrupt_count"));
}

void causes_of_line(const json_t *line, struct causes *ret)
{
	double stalled = number(line, "stalled_pct"), steal = number(line, "steal_ms");

	look_at_smi(line, ret);
	if (steal > 0)
		cause_add(ret, true, "a hypervisor took the CPU for %.0f ms", steal);
	if (stalled >= STALLED_MUCH_PCT)
		cause_add(ret, true,
			  "the CPUs were taken away for %.0f%% of the time (other work, a "
			  "hypervisor, idle injection)",
			  stalled);
	if (number(line, "switches") > 0)
		cause_add(ret, true, "other tasks ran on the CPU %.0f times",
			  number(line, "switches"));
	look_at_interrupt(line, ret);
	if (json_is_integer(json_object_get(line, "cpu")))
		cause_add(ret, false, "the CPU is %.0f", number(line, "cpu"));
}
