/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the kernel command line by which both a profile and a boot are judged. */
#pragma once

#include <stdbool.h>

/*
 * Whether two words of a list contradict each other: on and off, sm_on and sm_off, pt and nopt,
 * realloc and realloc=off, hpmemsize=1M and hpmemsize=2M, pcie_bus_safe and pcie_bus_perf. Equal
 * words do not. Lists are values separated by commas (intel_iommu=on,sm_on), which the handler of
 * the argument reads word by word.
 */
bool words_oppose(const char *a, const char *b);

/*
 * The mode of a boot that an argument selects and in which railhead does nothing: "rescue mode", "a
 * live system", as read by systemd(1), dracut.cmdline(7) and live-boot. NULL: none.
 */
const char *arg_boot_mode(const char *arg);

/* Whether word is one of the words of text, which are separated by commas. */
bool commas_have(const char *text, const char *word);

/*
 * A module parameter as a number, because the kernel prints a boolean as Y or N and accepts 1 or 0.
 */
const char *param_value(const char *text);
