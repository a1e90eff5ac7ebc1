/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities by name, as in capabilities(7) and linux/capability.h. */
#pragma once

/* "CAP_NET_RAW" -> 13; -1: no kernel has the capability. */
int capability_number(const char *name);
