/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history.json: a history that is read, written, read and written is the same, and can be shown. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/history.h"
#include "report/history_text.h"

static const struct screen screen = {true, true, 80, 24};

/* The file's text after the history was written. */
static char *written(const struct root *root, struct history *h)
{
	char *text = NULL;

	must(history_write(root, h, NULL) == 0);
	must(state_kept(root, HISTORY_FILE, &text, NULL) == 0);
	return text;
}

static void look(const struct history *h)
{
	struct past_trends trends = {0};
	struct strv told = {0};

	for (size_t i = 0; i < h->boots.n; i++) {
		struct past_changes changes = {0};

		history_changes(h, i, &changes);
		past_changes_free(&changes);
		history_clock_is_off(h, i);
	}
	history_trends(h, &trends);
	vec_free(&trends.list);
	history_trends_told(h, &told);
	strv_free(&told);
}

static void show(const struct history *h)
{
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *json = history_to_json(h, HISTORY_BOOTS);

	must(out && json);
	json_decref(json);
	history_render(out, h, HISTORY_BOOTS, &screen);
	must(fclose(out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	struct history h = {0}, again = {0};
	struct err err = {0};
	cleanup_free char *first = NULL, *second = NULL;

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		must(root_init(&root, dir, NULL) == 0);
	}
	fuzz_put(root.path, HISTORY_PATH, data, size);
	if (history_read(&root, &h, &err) < 0) {
		must(*err.text && !h.boots.n);
		return 0;
	}
	look(&h);
	show(&h);
	first = written(&root, &h); /* without the oldest entries */
	must(h.boots.n <= HISTORY_BOOTS);
	must(history_read(&root, &again, &err) == 0 && again.boots.n == h.boots.n);
	second = written(&root, &again);
	must(streq(first, second));
	history_free(&h);
	history_free(&again);
	return 0;
}
