/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pass: the numbers of a node that was found ready, and what they stand on (gate/binding.h).
 * While the node is ready it is in /run/railhead/pass.json; an orderly reboot puts it into
 * /var/lib/railhead (`railhead gate --keep`, which railhead-gate.service runs when it is stopped
 * for one), and the next gate takes it from there, once. So a boot that ended otherwise (a panic,
 * a power cut, a power-off) leaves none, and none serves a second time after a boot that did.
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
 * Takes the pass that the boot before has left, so that it is there no more; there is false: there
 * is none, it is torn, or it can't be taken away (*err says so then).
 */
void pass_take(const struct root *root, struct pass *ret, struct err *err);
void pass_free(struct pass *pass);

/*
 * Why the pass can't be used; NULL: it can. benchmarks: those of this boot (gate_plan()), each of
 * which must have its number in the pass, whatever the binding says. now, of the wall clock, in
 * seconds; usec: how old the pass may be. The caller frees.
 */
char *pass_refusal(const struct pass *pass, const struct binding *binding,
		   const struct plan *benchmarks, int64_t now, uint64_t usec);

/*
 * The numbers in the record become those of the pass, which loses them, with the time of the pass;
 * but those of the checks in this_boot, which are named there, are measured in this boot.
 */
void pass_use(struct pass *pass, const struct strv *this_boot, struct record *r);

/*
 * Writes what the record holds as the pass of this boot, if it is one: the verdict is ready, and
 * all that was measured is enough, and its load brought nothing out. Else, and with binding NULL,
 * this boot has none.
 */
int pass_store(const struct root *root, const struct record *r, const struct binding *binding,
	       struct err *err);
/* For the next boot. 1: kept, 0: the node is not ready (any more), or there is no pass. */
int pass_keep(const struct root *root, const struct record *r, struct err *err);
