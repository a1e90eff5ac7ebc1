/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section's knowledge of a file that has a key of its own: on.item of a change of kind_attr. */
#pragma once

struct attr_item {
	/*
	 * Follows "no such file: ": the reason why a kernel lacks the file, and the remedy. Or
	 * NULL.
	 */
	const char *absent;
	/* The file in the same directory that lists the words that the driver accepts; or NULL. */
	const char *offers;
	const char *driver; /* the file there that names the driver; with offers */
	/*
	 * The files are those of policies of cpufreq, which together must have each CPU that is
	 * online: the file in the same directory that lists the CPUs of a policy. Or NULL.
	 */
	const char *cpus;
};
