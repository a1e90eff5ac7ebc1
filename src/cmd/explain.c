/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain: the keys of profiles, from the tables of check, the schema and editors; and the fault
 * codes.
 */
#include <stdio.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "profile/rows.h"
#include "profile/synonyms.h"
#include "profile/meaning.h"
#include "report/text.h"

enum { SHOWN = 8 }; /* of the keys that the user may mean */

/* The meaning of a class, printed behind its name. */
static const char *meaning_of(enum key_class class)
{
	static const char *const meanings[] = {
		[KEY_INHERITS] = "",
		[KEY_SETS] = "apply sets the value, verify compares it",
		[KEY_JUDGES] = "a check; nothing is changed",
		[KEY_SELECTS] = "selects the machines, devices or services that other keys apply "
				"to",
		[KEY_GOVERNS] = "directs railhead itself",
	};

	return meanings[class];
}

static char *kernel_of(const struct row *row)
{
	unsigned int since = row->field->since;

	return since ? xasprintf("%u.%u", since >> 8, since & 0xff) : NULL;
}

static json_t *words_json(const struct spec *spec)
{
	json_t *list = json_array();
	const char *word;

	for (size_t i = 0; (word = spec_word(spec, i)); i++)
		json_array_append_new(list, json_string(word));
	return list;
}

/* The meaning of each word, except for words that need no explanation. */
static json_t *meanings_json(const struct spec *spec)
{
	json_t *doc = json_object();

	for (const char *const *m = spec->meanings; m && *m; m += 2)
		json_object_set_new(doc, *m, json_string(m[1]));
	return doc;
}

static json_t *row_json(const struct row *row)
{
	const struct spec *scalar = spec_scalar(row->spec);
	cleanup_free char *min = NULL, *max = NULL, *kernel = kernel_of(row);

	spec_range(scalar, &min, &max);
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s?, s:s?, s:s?, s:b, s:b, s:s?}", "key",
			 row->path, "help", row->field->help, "class", key_class_name(row->class),
			 "value", row->spec->what, "words", words_json(scalar), "meanings",
			 meanings_json(scalar), "min", min, "max", max, "unit", scalar->unit, "map",
			 row->group, "required",
			 (row->field->flags & (FIELD_REQUIRED | FIELD_OWN)) != 0, "kernel", kernel);
}

/* --- one key ------------------------------------------------------------------------------ */

#define print_line(name, fmt, ...) printf("  %-9s " fmt "\n", name, ##__VA_ARGS__)

/* Prints the words in one line or, if they have meanings, each in its own line. */
static void print_words(const struct spec *scalar)
{
	cleanup_str struct str words = {0};
	const char *word;
	int width = 0;

	for (size_t i = 0; (word = spec_word(scalar, i)); i++) {
		str_addf(&words, "%s%s", i ? ", " : "", word);
		width = (int)strlen(word) > width ? (int)strlen(word) : width;
	}
	if (words.len && !scalar->meanings)
		print_line("words", "%s", words.s);
	for (size_t i = 0; scalar->meanings && (word = spec_word(scalar, i)); i++)
		print_line(i ? "" : "words", "%-*s  %s", width, word,
			   spec_meaning(scalar, word) ?: "");
}

static void print_value(const struct row *row)
{
	const struct spec *scalar = spec_scalar(row->spec);
	cleanup_free char *min = NULL, *max = NULL, *kernel = kernel_of(row);

	print_line("value", "%s", row->spec->what);
	print_words(scalar);
	if (spec_range(scalar, &min, &max))
		print_line("range", "%s to %s%s%s", min, max, scalar->unit ? " " : "",
			   scalar->unit ? scalar->unit : "");
	print_line(key_class_name(row->class), "%s", meaning_of(row->class));
	if (kernel)
		print_line("kernel", "Linux %s or later", kernel);
	if (row->field->flags & (FIELD_REQUIRED | FIELD_OWN))
		print_line("required", "yes");
}

static void print_row(const struct row *row)
{
	printf("%s\n  %s\n\n", row->path, row->field->help);
	print_value(row);
}

/* --- several ------------------------------------------------------------------------------ */

/* Prints each path with its sentence, separated by a tab in a pipe. */
static void print_list(const struct rows *rows, const struct row *top, const struct screen *screen)
{
	size_t width = 0;

	for (size_t i = 0; i < rows->list.n; i++) {
		size_t len = strlen(rows->list.v[i].path);

		if (!rows->list.v[i].group && (!top || row_is_below(&rows->list.v[i], top)))
			width = len > width ? len : width;
	}
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct row *row = &rows->list.v[i];

		if (row->group || (top && !row_is_below(row, top)))
			continue;
		if (!screen->terminal) {
			printf("%s\t%s\n", row->path, row->field->help);
			continue;
		}
		printf("%-*s  ", (int)width, row->path);
		text_wrap(stdout, row->field->help, screen->columns, width + 2);
	}
}

static void print_json_rows(const struct rows *rows, const struct row *top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->list.n; i++)
		if (!top || row_is_below(&rows->list.v[i], top))
			json_array_append_new(list, row_json(&rows->list.v[i]));
	print_json(json_pack("{s:o}", "keys", list));
}

/* --- the verb ----------------------------------------------------------------------------- */

static int unknown(const struct rows *rows, const char *key)
{
	cleanup_strv struct strv near = {0};
	cleanup_free char *list = NULL;
	cleanup_free char *said = str_printable(key, UNKNOWN_MAX);

	if (synonym_key(key))
		return fail(EXIT_USAGE, "unknown key '%s'; the key here is %s", said,
			    synonym_key(key));
	rows_near(rows, key, &near);
	list = strv_some(&near, SHOWN);
	if (near.n)
		return fail(EXIT_USAGE, "unknown key '%s'; did you mean %s?", said, list);
	return fail(EXIT_USAGE, "unknown key '%s'; `railhead explain` lists all keys", said);
}

static int explain(struct invocation *inv, const struct rows *rows)
{
	const struct row *row = inv->nargs ? rows_find(rows, inv->args[0]) : NULL;
	struct screen screen;

	if (inv->nargs && !row)
		return unknown(rows, inv->args[0]);
	if (inv->json) {
		print_json_rows(rows, row);
		return EXIT_OK;
	}
	screen = begin_page(inv);
	if (row)
		print_row(row);
	if (row && row->group)
		printf("\n");
	if (!row || row->group)
		print_list(rows, row, &screen);
	return EXIT_OK;
}

static int run(struct invocation *inv)
{
	cleanup(rows_free) struct rows rows = {0};

	if (inv->nargs && is_fault_code(inv->args[0]))
		return explain_fault(inv, inv->args[0]);
	rows_of(schema_profile(), &rows);
	return explain(inv, &rows);
}

const struct verb verb_explain = {
	.name = "explain",
	.args = "[KEY]",
	.help = "describe a key of profiles or a fault code, or list all keys",
	.options = OPT_JSON | OPT_SCREEN,
	.max_args = 1,
	.run = run,
};
