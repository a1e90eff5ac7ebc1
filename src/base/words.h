/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What words of the kernel command line mean that both a profile and a boot are judged by. */
#pragma once

#include <stdbool.h>

/*
 * A value may be a comma list (intel_iommu=on,sm_on), which its handler reads word by word.
 * Whether two words of one list undo one another: on and off, sm_on and sm_off, pt and
 * nopt, realloc and realloc=off, hpmemsize=1M and hpmemsize=2M, pcie_bus_safe and
 * pcie_bus_perf. Equal words do not.
 */
bool words_oppose(const char *a, const char *b);

/*
 * What one argument makes of a boot, so that railhead does nothing in it: "rescue mode", "a
 * live system", as systemd(1), dracut.cmdline(7) and live-boot read it. NULL: nothing.
 */
const char *arg_boot_mode(const char *arg);

/* Whether word is one of the words of text, which commas part. */
bool commas_have(const char *text, const char *word);

/* A module parameter as a number: the kernel prints a boolean as Y or N and takes 1 or 0. */
const char *param_value(const char *text);
