/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history: the results of earlier boots, the changes between them, and the worsening figures. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "cmd/cmd.h"
#include "report/history_text.h"

enum { BOOTS_SHOWN = 16 }; /* fit on a terminal of 24 lines, with heading and trends */

static int how_many(const struct invocation *inv, size_t *ret)
{
	uint64_t n = 0;

	*ret = inv->json ? SIZE_MAX : BOOTS_SHOWN;
	if (!inv->nargs)
		return EXIT_OK;
	if (parse_u64(inv->args[0], &n) < 0 || !n || n > INT_MAX)
		return fail(EXIT_USAGE, "history %s: expected a number of boots, from 1",
			    inv->args[0]);
	*ret = n;
	return EXIT_OK;
}

bool load_history(const struct root *root, struct history *ret)
{
	struct err err = {0};
	int r = history_read(root, ret, &err);

	if (r < 0)
		complain("%s%s", err.text,
			 r == -EACCES && geteuid() ? "; run railhead as root" : "");
	return r == 0;
}

static int run(struct invocation *inv)
{
	cleanup(history_free) struct history history = {0};
	size_t most;
	int code = how_many(inv, &most);

	if (code)
		return code;
	if (!load_history(&inv->root, &history))
		return EXIT_INTERNAL;
	if (inv->json) {
		print_json(history_to_json(&history, most));
	} else if (!history.boots.n) {
		printf("no history: no gate has ended here since railhead keeps a history "
		       "(" HISTORY_PATH " is not there, or this image does not keep /var)\n");
	} else {
		struct screen screen = begin_page(inv);

		history_render(stdout, &history, most, &screen);
	}
	return EXIT_OK;
}

const struct verb verb_history = {
	.name = "history",
	.args = "[N]",
	.help = "show the results of the latest boots, and the changes between them",
	.options = OPT_ROOT | OPT_JSON | OPT_SCREEN,
	.max_args = 1,
	.run = run,
};
