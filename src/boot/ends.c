/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/ends.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const struct {
	enum env_end end;
	const char *name;
	const char *text;	/* how the trial ended */
	const char *one, *more; /* "one ...", "both ..." */
} ends_known[] = {
	{ENV_END_PANIC, "panic", "the kernel panicked", "panicked", "panicked"},
	{ENV_END_TIMER, "timer", "no verdict within ten minutes",
	 "came to no verdict within ten minutes", "came to no verdict within ten minutes"},
	{ENV_END_STOP, "stop", "an orderly shutdown or reboot before the verdict",
	 "was shut down before its verdict", "were shut down before their verdict"},
	{ENV_END_UNKNOWN, "unknown",
	 "no trace: a reset, a power cut, or a panic that left no record",
	 "ended without a trace (reset, power cut)", "ended without a trace (reset, power cut)"},
	{ENV_END_ALONE, "alone", "railhead was told to leave that boot alone",
	 "was left alone by railhead", "were left alone by railhead"},
	{ENV_END_LOST, "lost",
	 "at the verdict something failed, or the arguments were not in force",
	 "lost at its verdict", "lost at their verdicts"},
	{ENV_END_LEFT_OUT, "left-out",
	 "stands for two boots in a row, with these arguments already good, that did not reach "
	 "stage early",
	 "stands for two boots, with the arguments already good, that did not reach stage early",
	 "stand for boots, with the arguments already good, that did not reach stage early"},
};

static size_t index_of(char end)
{
	size_t i = 0;

	while (i < array_len(ends_known) - 1 && (int)ends_known[i].end != tolower(end))
		i++;
	return i;
}

const char *end_text(char end)
{
	return ends_known[index_of(end)].text;
}

const char *end_name(char end)
{
	return ends_known[index_of(end)].name;
}

/* The letter of the open trial, a capital at the end; or NULL. */
static const char *open_letter(const char *ends)
{
	size_t len = strlen(ends);

	return len && isupper(ends[len - 1]) ? ends + len - 1 : NULL;
}

/* --- keeping ----------------------------------------------------------------------------- */

void ends_open(char ends[ENV_ENDS_MAX + 1])
{
	size_t len = strlen(ends);

	if (len >= ENV_ENDS_MAX)
		return;
	ends[len] = (char)toupper(ENV_END_UNKNOWN);
	ends[len + 1] = '\0';
}

bool ends_note(char *ends, enum env_end end)
{
	const char *open = open_letter(ends);
	char letter = (char)toupper(end);

	if (!open || *open == letter)
		return false;
	if (*open != toupper(ENV_END_UNKNOWN) && end != ENV_END_PANIC && end != ENV_END_LOST)
		return false;
	ends[open - ends] = letter;
	return true;
}

void ends_settle(char *ends)
{
	const char *open = open_letter(ends);

	if (open)
		ends[open - ends] = (char)tolower(*open);
}

void ends_drop(char *ends)
{
	const char *open = open_letter(ends);

	if (open)
		ends[open - ends] = '\0';
}

/* --- evaluating ------------------------------------------------------------------------------- */

char ends_last(const char *ends)
{
	const char *open = open_letter(ends);

	return open ? (char)tolower(*open) : '\0';
}

static bool says_nothing(char end)
{
	return tolower(end) == ENV_END_STOP || tolower(end) == ENV_END_ALONE;
}

bool ends_counts(const char *ends, size_t i)
{
	unsigned int given = 0;

	for (size_t k = 0; k <= i; k++)
		given += says_nothing(ends[k]);
	return !says_nothing(ends[i]) || given > ENV_GIVEN_MAX;
}

bool ends_give_back(const char *ends)
{
	const char *open = open_letter(ends);

	return open && !ends_counts(ends, (size_t)(open - ends));
}

/* "both panicked", "one panicked", "3 panicked" */
static void add_deaths(struct str *s, unsigned int n, unsigned int all, size_t kind)
{
	if (s->len)
		str_add(s, ", ");
	if (n == 1)
		str_addf(s, "one %s", ends_known[kind].one);
	else if (n == all)
		str_addf(s, "%s %s", n == 2 ? "both" : "all", ends_known[kind].more);
	else
		str_addf(s, "%u %s", n, ends_known[kind].more);
}

char *ends_deaths(const char *ends)
{
	unsigned int n[array_len(ends_known)] = {0}, all = 0;
	struct str s = {0};

	str_add(&s, "");
	for (size_t i = 0; ends[i]; i++)
		if (ends_counts(ends, i)) {
			n[index_of(ends[i])]++;
			all++;
		}
	for (size_t k = 0; k < array_len(ends_known); k++)
		if (n[k])
			add_deaths(&s, n[k], all, k);
	return str_take(&s);
}
