/* SPDX-License-Identifier: GPL-2.0-or-later */
/* survey: the parts of this node; --snapshot: the node as a file, for work elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "node/inventory.h"
#include "node/snapshot.h"
#include "profile/section.h"
#include "report/inventory.h"

static void show(struct invocation *inv, struct node *node)
{
	cleanup(inventory_free) struct inventory inventory;

	node_read_part_numbers(&inv->root, node);
	inventory_take(&inv->root, node, &inventory);
	if (inv->json) {
		print_json(inventory_to_json(node, &inventory));
	} else {
		begin_page(inv);
		inventory_render(stdout, node, &inventory, inv->all);
	}
}

static void summarise(const struct invocation *inv, const struct snapshot_result *r)
{
	fprintf(stderr, "%s: %zu files and %zu links\n", inv->snapshot, r->files, r->links);
	if (r->denied)
		fprintf(stderr,
			"permission to read %zu files is missing; run railhead as root for a "
			"complete capture\n",
			r->denied);
	if (r->unreadable)
		fprintf(stderr,
			"%zu files had nothing to read (a port without a link has no speed); "
			"railhead-unreadable.txt in the archive names them\n",
			r->unreadable);
}

struct capture {
	struct invocation *inv;
	const struct node *node;
	struct snapshot_result result;
};

static int fill(int fd, void *arg, struct err *err)
{
	cleanup_strv struct strv more = {0};
	struct capture *c = arg;

	sections_files(&more);
	return snapshot_write(&c->inv->root, c->node, &more, fd, &c->result, err);
}

/* Only root can read all of config space, so only the owner may read the copy (0600). */
static int capture(struct invocation *inv, const struct node *node)
{
	struct capture c = {.inv = inv, .node = node};
	struct err err = {0};
	int r = streq(inv->snapshot, "-") ? fill(STDOUT_FILENO, &c, &err)
					  : write_output(inv->snapshot, 0600, fill, &c, &err);

	if (r < 0)
		return fail(EXIT_INTERNAL, "snapshot: %s", err.text);
	summarise(inv, &c.result);
	return EXIT_OK;
}

static int run(struct invocation *inv)
{
	cleanup(node_free) struct node node = {0};
	struct err err = {0};

	if (inv->snapshot && (inv->json || inv->all))
		return fail(EXIT_USAGE,
			    "survey: --snapshot prints nothing; leave out --json and --all");
	if (inv->snapshot && streq(inv->snapshot, "-") && isatty(STDOUT_FILENO))
		return fail(EXIT_USAGE, "survey: standard output is a terminal, and an archive is "
					"binary; redirect the output, or name a file");
	if (inv->html) {
		if (inv->snapshot || inv->json || inv->all)
			return fail(EXIT_USAGE, "survey: --html writes one page, of everything; "
						"leave out --snapshot, --json and --all");
		return write_html(inv, &(struct page){0});
	}
	if (node_survey(&inv->root, &node, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	if (inv->snapshot)
		return capture(inv, &node);
	show(inv, &node);
	return EXIT_OK;
}

const struct verb verb_survey = {
	.name = "survey",
	.args = "",
	.help = "describe this node; --snapshot captures it for work elsewhere",
	.options = OPT_ROOT | OPT_JSON | OPT_ALL | OPT_SNAPSHOT | OPT_HTML | OPT_SCREEN,
	.run = run,
};
