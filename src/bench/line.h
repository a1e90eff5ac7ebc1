/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a cache line of a chain (chain.h) past the caches, where the CPU can: line_ARCH.c. */
#pragma once

/* Fills the line of CHAIN_LINE bytes at p: the link, and nothing that is read. */
void line_put(char *p, const char *link);
/* What this thread has put is on its way to memory. */
void line_fence(void);
