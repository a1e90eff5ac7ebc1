/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities by their names, as capabilities(7) and linux/capability.h have them. */
#pragma once

/* "CAP_NET_RAW" -> 13; -1: no kernel has it. */
int capability_number(const char *name);
