/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds of boot loaders. They differ in how the record of trials becomes what the next boots pass
 * to the kernel; what a boot found, what is armed and what a verdict decides is the same for all
 * (boot/trial.h), because each of them
 *
 *  - passes the args of the good slot X, with the word railhead.slot=X behind them;
 *  - boots an armed slot once, with railhead.trial=X and ENV_TRIAL_EXTRA before its args, and
 *    whatever becomes of that boot the next one has the good slot again;
 *  - counts the boots of a new kernel, or can't.
 *
 * A loader that can't promise the second has a reason in bootpart.loader_why or no_trial_why, and
 * gets no trial.
 */
#pragma once

#include "base/err.h"
#include "loader/bootpart.h"
#include "loader/env.h"
#include "sys/root.h"

struct loader {
	const char *name; /* as kargs shows it */
	/* The record that the next boot follows: as env_read(). */
	int (*look)(const struct bootpart *b, struct boot_env *ret, struct err *err);
	/*
	 * Lets the next boots follow *env: arms, promotes and withdraws what differs. b is open for
	 * writing. from: there is no record yet, or one that can't be used, and this one is written
	 * first; else NULL. After a power cut the next boot follows the record before or the new
	 * one.
	 */
	int (*store)(const struct root *root, struct bootpart *b, const struct boot_env *from,
		     const struct boot_env *env, struct err *err);
};

/* Closes the boot partition, and opens it for writing. */
int loader_open_to_write(const struct root *root, struct bootpart *b, struct err *err);
/*
 * "grub": railhead.env, which grub.cfg reads (env_layout.h). "none": any other, for which railhead
 * prints the arguments (`kargs --format`), and a person puts them into the image.
 */
const struct loader *loader_find(const struct bootpart *b);
