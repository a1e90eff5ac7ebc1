/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --html of survey and status: the page, in a file or on standard output. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/mem.h"
#include "boot/attempts.h"
#include "cmd/cmd.h"

static int print_page(const struct page *page)
{
	bool before = screen_raw(true);

	page_render(stdout, page);
	screen_raw(before);
	return EXIT_OK;
}

static int fill(int fd, void *page, struct err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), r;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out)
		return err_errno(err, -errno, "output");
	page_render(out, page);
	r = ferror(out); /* a write failed earlier, and its errno is lost */
	if (fclose(out) || r)
		return err_set(err, -EIO, "the page was cut short: is the disk full?");
	return 0;
}

static int write_page(const char *path, struct page *page)
{
	struct err err = {0};

	if (streq(path, "-"))
		return print_page(page);
	if (write_output(path, 0644, fill, page, &err) == 0)
		return EXIT_OK;
	return fail(EXIT_INTERNAL, "--html: %s", err.text);
}

/* If the history can't be read, the page is written without it, and a note reports why. */
static void take_past(struct invocation *inv, struct page *page, struct history *history)
{
	cleanup_attempts struct attempts past = {0};
	struct err err = {0};
	char boot[37];

	if (attempts_read(&inv->root, &past, &err) < 0)
		complain("--html: %s", err.text);
	state_boot_id(&inv->root, boot);
	page->reboots = past.reboots;
	page->reboot_due = page->reboots && streq(past.boot, boot);
	if (history_read(&inv->root, history, &err) < 0)
		complain("--html: the page has no history: %s", err.text);
	page->history = history;
}

int write_html(struct invocation *inv, struct page *page)
{
	cleanup(history_free) struct history history = {0};
	cleanup(node_free) struct node node = {0};
	cleanup(inventory_free) struct inventory inventory = {0};
	struct err err = {0};

	if (node_survey(&inv->root, &node, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	node_read_part_numbers(&inv->root, &node);
	inventory_take(&inv->root, &node, &inventory);
	if (page->record)
		take_past(inv, page, &history);
	page->node = &node;
	page->inv = &inventory;
	return write_page(inv->html, page);
}
