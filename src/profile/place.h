/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A position in a profile. */
struct place {
	const char *file;	/* owned by the profile or the diagnostics' string pool */
	unsigned int line, col; /* from 1; 0: the file as a whole */
};
