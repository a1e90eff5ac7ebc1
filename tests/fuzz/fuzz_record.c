/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status.json, which any root program may have written: a record that is read, written and read
 * again is the same record, and all its readers get well-formed text.
 */
#include "fuzz.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/publish.h"
#include "engine/status.h"
#include "report/status_text.h"

/* as in tests/fixtures/records */
#define BOOT "5b5f0d4e-8f8e-4e65-9d3a-1f4f4e9a0001"
enum { NOW = 1790000000 };

static json_t *parsed(const char *text, struct status *ret)
{
	json_t *json;

	status_parse(ret, text, BOOT, "");
	json = record_to_json(&ret->record);
	must(json);
	return json;
}

static void show(const struct record *r)
{
	static const struct screen screens[] = {{true, true, 80, 24}, {false, false, 80, 24}};
	cleanup_free char *line = status_line(r);

	must(*line);
	for (size_t i = 0; i < array_len(screens); i++) {
		cleanup_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		must(out);
		status_render(out, r, &screens[i]);
		must(fclose(out) == 0 && len > 0);
	}
}

/* Each line is a comment, or a name and a number: no text of the record makes a line. */
static void check_metrics(const struct record *r, bool ready)
{
	cleanup_free char *text = publish_metrics(r, ready, true);

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		const char *space = strrchr(line, ' ');

		must(!*line || str_starts(line, "# HELP railhead_") ||
		     str_starts(line, "# TYPE railhead_") ||
		     (str_starts(line, "railhead_") && space && space[1]));
	}
}

/* Each line is the expiry, or a label that Kubernetes takes. */
static void check_features(const struct record *r, bool ready)
{
	cleanup_free char *text = publish_features(r, ready, NOW);

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		const char *value = strchr(line, '=');

		must(!*line || str_starts(line, "# +expiry-time=") ||
		     str_starts(line, "railhead.io/"));
		must(!*line || (value && value[1] && strlen(value + 1) <= 63));
		for (const char *p = value; p && *line != '#' && *++p;)
			must(isalnum((unsigned char)*p) || strchr("-_.", *p));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size), *again = NULL;
	struct status one = {0}, two = {0};
	json_t *first = parsed(text, &one), *second;

	again = json_dumps(first, JSON_INDENT(1));
	must(again);
	second = parsed(again, &two);
	must(json_equal(first, second));
	must(record_admits(&one.record) == record_admits(&two.record));
	show(&one.record);
	check_metrics(&one.record, record_admits(&one.record));
	check_features(&one.record, record_admits(&one.record));
	json_decref(first);
	json_decref(second);
	status_free(&one);
	status_free(&two);
	return 0;
}
