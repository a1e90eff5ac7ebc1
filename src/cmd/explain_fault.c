/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain: the fault codes, from the same table as in the record and the journal. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "report/text.h"

enum { LABEL_WIDTH = 12, ACTION_WIDTH = 12 };

/* True if the word is the code or its first words: "RH-NIC". */
static bool is_below(enum fault f, const char *word)
{
	const char *code = fault_code(f);
	size_t len = strlen(word);

	return strncmp(code, word, len) == 0 && (!code[len] || code[len] == '-');
}

static json_t *fault_json(enum fault f)
{
	const struct fault_row *row = fault_row(f);
	cleanup_free char *layer = fault_layer(f);

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "code", row->code,
			 "layer", layer, "action", fault_action_name(row->action), "action_help",
			 fault_action_meaning(row->action), "meaning", row->meaning, "look",
			 row->look, "remedy", row->remedy, "admit", fault_admit_name(row->admit),
			 "admit_help", fault_admit_meaning(row->admit));
}

#define print_line(screen, label, ...) \
	text_labelled(stdout, screen, "  " label, LABEL_WIDTH, __VA_ARGS__)

static void print_fault(enum fault f, const struct screen *screen)
{
	const struct fault_row *row = fault_row(f);
	cleanup_free char *layer = fault_layer(f);

	printf("%s\n", row->code);
	print_line(screen, "meaning", "%s", row->meaning);
	print_line(screen, "layer", "%s", layer);
	print_line(screen, "look", "%s", row->look);
	print_line(screen, "action", "%s: %s", fault_action_name(row->action),
		   fault_action_meaning(row->action));
	print_line(screen, "remedy", "%s", row->remedy);
	print_line(screen, "admit", "%s: %s", fault_admit_name(row->admit),
		   fault_admit_meaning(row->admit));
}

static void print_list(const char *word, const struct screen *screen)
{
	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++) {
		const struct fault_row *row = fault_row(f);

		if (!is_below(f, word))
			continue;
		if (!screen->terminal) {
			printf("%s\t%s\t%s\n", row->code, fault_action_name(row->action),
			       row->meaning);
			continue;
		}
		printf("%-*s%-*s", FAULT_CODE_MAX + 1, row->code, ACTION_WIDTH,
		       fault_action_name(row->action));
		text_wrap(stdout, row->meaning, screen->columns, FAULT_CODE_MAX + 1 + ACTION_WIDTH);
	}
}

static json_t *faults_json(const char *word)
{
	json_t *list = json_array();

	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		if (is_below(f, word))
			json_array_append_new(list, fault_json(f));
	return list;
}

/* "RH-NIC" of "RH-NIC-CARIER": cuts the word to the longest prefix of known codes. */
static void cut_to_known(char *word)
{
	bool known = false;

	while (!known) {
		char *hyphen = strrchr(word, '-');

		if (!hyphen)
			return;
		*hyphen = '\0';
		for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
			known |= is_below(f, word);
	}
}

static int unknown(const char *said, char *word)
{
	cleanup_free char *printable = str_printable(said, UNKNOWN_MAX);

	cut_to_known(word);
	return fail(EXIT_USAGE,
		    "unknown fault code '%s'; `railhead explain %s` lists the codes with this "
		    "beginning",
		    printable, word);
}

/* Writes a word as codes are written: in capitals, without a hyphen at the end. */
static char *as_code(const char *said)
{
	char *word = xstrdup(said);
	size_t len = strlen(word);

	for (char *p = word; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	if (len && word[len - 1] == '-')
		word[len - 1] = '\0';
	return word;
}

bool is_fault_code(const char *said)
{
	return strncasecmp(said, "rh", 2) == 0 && (!said[2] || said[2] == '-');
}

int explain_fault(struct invocation *inv, const char *said)
{
	cleanup_free char *word = as_code(said);
	enum fault f = fault_parse(word);
	json_t *list = faults_json(word);
	struct screen screen;

	if (!json_array_size(list)) {
		json_decref(list);
		return unknown(said, word);
	}
	if (inv->json) {
		print_json(json_pack("{s:o}", "faults", list));
		return EXIT_OK;
	}
	json_decref(list);
	screen = begin_page(inv);
	if (f)
		print_fault(f, &screen);
	else
		print_list(word, &screen);
	return EXIT_OK;
}
