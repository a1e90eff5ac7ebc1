/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pass: the numbers of a node that was ready, and their basis (gate/binding.h). While the node is
 * ready, the pass is in /run/railhead/pass.json. An orderly reboot moves the pass to
 * /var/lib/railhead (`railhead gate --keep`, which railhead-gate.service runs when a reboot stops
 * it), and the next gate takes it from there, once. A boot that ends in another way (a panic, a
 * power cut, a power-off) leaves no pass, and no pass is used twice.
 */
#pragma once

#include "engine/record.h"
#include "gate/binding.h"

struct pass {
	bool there;
	int64_t measured; /* wall clock, seconds */
	int64_t boots_ago;
	struct binding binding;
	struct measurements measurements;
};

/*
 * Reads the pass of the previous boot, and removes the file. ret->there is false if there is no
 * pass, the pass is torn, or the file can't be removed (only then *err is set).
 */
void pass_take(const struct root *root, struct pass *ret, struct err *err);
void pass_free(struct pass *pass);

/*
 * Why the pass can't be used; NULL: it can. benchmarks: the benchmarks of this boot (gate_plan());
 * the pass must have a number for each, even with an equal binding. now: wall clock, seconds;
 * usec: the maximum age of the pass. The caller frees.
 */
char *pass_refusal(const struct pass *pass, const struct binding *binding,
		   const struct plan *benchmarks, int64_t now, uint64_t usec);

/*
 * Moves the numbers of the pass, and their time, into the record. The numbers of the checks in
 * this_boot stay, because this boot has measured them; the record names these checks.
 */
void pass_use(struct pass *pass, const struct strv *this_boot, struct record *r);

/*
 * Writes the pass of this boot if the record holds one: the verdict is ready, all measurements are
 * good enough, and their load caused no fault. Otherwise, and with binding NULL, the boot has no
 * pass.
 */
int pass_store(const struct root *root, const struct record *r, const struct binding *binding,
	       struct err *err);
/* Keeps the pass for the next boot. 1: kept, 0: the node is not ready, or there is no pass. */
int pass_keep(const struct root *root, const struct record *r, struct err *err);
