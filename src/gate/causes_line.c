/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes that the measuring program observed while it measured, from its line. */
#include <ctype.h>

#include "gate/causes.h"

#define MUCH_PCT 5

double line_number(const json_t *line, const char *key)
{
	return json_number_value(json_object_get(line, key));
}

/* Reports "unknown", too, because SMIs may be the cause that the reader looks for. */
static void look_at_smi(const json_t *line, struct causes *ret)
{
	if (json_is_string(json_object_get(line, "smi")))
		cause_add(ret, false, "SMIs are not counted (module msr, Intel only)");
	else if (json_is_integer(json_object_get(line, "smi")))
		cause_add(ret, line_number(line, "smi") > 0, "%.0f SMIs of the firmware",
			  line_number(line, "smi"));
}

/* The timer's tick is unavoidable, but the interrupts of devices can be steered away. */
static void look_at_interrupt(const json_t *line, struct causes *ret)
{
	const char *top = json_string_value(json_object_get(line, "top_interrupt"));

	if (top)
		cause_add(ret, isdigit((unsigned char)*top) != 0,
			  "interrupted most often by %.64s, %.0f times", top,
			  line_number(line, "top_interrupt_count"));
}

/* Compares "value" with "whole", for rates and for times: the difference is the time of stalls. */
static void look_at_stalls(const json_t *line, struct causes *ret)
{
	double usual = line_number(line, "value"), whole = line_number(line, "whole");
	double low = usual < whole ? usual : whole, high = usual < whole ? whole : usual;

	if (low > 0 && (high - low) * 100 > MUCH_PCT * high)
		cause_add(ret, true,
			  "stalls that no other task accounts for took %.0f%% of the time (SMIs, a "
			  "CPU that is halted against heat, a hypervisor)",
			  (high - low) * 100 / high);
}

void causes_of_line(const json_t *line, struct causes *ret)
{
	const json_t *own = json_object_get(line, "own_pct");
	double steal = line_number(line, "steal_ms"), steal_pct = line_number(line, "steal_pct");

	look_at_smi(line, ret);
	if (steal > 0)
		cause_add(ret, true, "a hypervisor took the CPU for %.0f ms", steal);
	if (steal_pct > MUCH_PCT)
		cause_add(ret, true, "a hypervisor took the CPUs for %.0f%% of the time",
			  steal_pct);
	if (json_is_number(own) && json_number_value(own) < 100 - MUCH_PCT)
		cause_add(ret, true, "other work had the CPUs for %.0f%% of the time",
			  100 - json_number_value(own));
	look_at_stalls(line, ret);
	if (line_number(line, "switches") > 0)
		cause_add(ret, true, "other tasks ran on the CPU %.0f times",
			  line_number(line, "switches"));
	look_at_interrupt(line, ret);
	if (json_is_integer(json_object_get(line, "cpu")))
		cause_add(ret, false, "the CPU is %.0f", line_number(line, "cpu"));
}
