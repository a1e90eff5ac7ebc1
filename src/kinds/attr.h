/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a section knows of a file that is a key of its own: on.item of a change of kind_attr. */
#pragma once

struct attr_item {
	/* Why a kernel lacks the file, and what to do: behind "no such file: ". Or NULL. */
	const char *absent;
	/* The file in its directory that lists the words that its driver takes; or NULL. */
	const char *offers;
};
