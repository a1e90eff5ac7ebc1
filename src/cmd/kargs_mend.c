/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kargs --mend: restores our variable in the menu entries of Fedora's and RHEL's GRUB. --undo
 * removes everything of ours from them, as the package's last step.
 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "loader/mend.h"

int kargs_mend(struct invocation *inv)
{
	struct mend_report report cleanup_mend_report = {0};
	struct err err = {0};
	enum mend_goal goal = inv->undo ? MEND_CLEAR : MEND_TAKE;
	int r = mend_entries(&inv->root, goal, &report, &err), code = EXIT_OK;
	const char *left = report.others ? "; railhead leaves the entries of other boot loaders "
					   "alone"
					 : "";

	for (size_t i = 0; i < report.n; i++) {
		const struct mend_note *n = &report.v[i];

		if (n->refused) {
			complain("kargs --mend: %s %s", n->path, n->text);
			code = EXIT_FAILED;
		} else {
			printf("%s: %s\n", n->path, n->text);
		}
	}
	if (r < 0)
		return fail(EXIT_INTERNAL, "kargs --mend: %s", err.text);
	if (report.none)
		printf("%s\n", report.none);
	else if (!report.entries && !report.n)
		printf("no menu entries of GRUB's%s\n", left);
	else if (!report.n)
		printf("menu entries of GRUB's: %zu, %s%s\n", report.entries,
		       inv->undo ? "railhead has changed none of them" : "all correct", left);
	return code;
}
