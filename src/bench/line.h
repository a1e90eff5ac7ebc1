/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a cache line of a chain (chain.h), past the caches if the CPU can: line_ARCH.c. */
#pragma once

/* Fills the line of CHAIN_LINE bytes at p with the link; the other bytes are never read. */
void line_put(char *p, const char *link);
/* Orders the lines that this thread wrote before its later stores. */
void line_fence(void);
