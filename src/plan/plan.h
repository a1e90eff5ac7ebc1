/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of changes: the single model behind plan, apply, verify, text and JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "plan/finding.h"
#include "profile/place.h"

struct change; /* of plan/change.h */
struct kind;   /* of plan/kind.h */

/*
 * Phases run in this order, with a barrier between two phases. Inside a phase, lanes run in
 * parallel, and the changes of a lane run in the order of the list. The order of the devices stage
 * follows the dependencies: VFs exist before they get an address, and have an address before a
 * driver reads it.
 */
enum phase {
	PHASE_FILES,  /* drop-ins that later loads and units read */
	PHASE_MEMORY, /* hugepages, while memory is whole */
	PHASE_MODULES,
	PHASE_SYSCTL,
	PHASE_SYSFS,
	PHASE_LINK_UP,	      /* PFs whose VFs come up only (or faster) with a link */
	PHASE_AUTOPROBE_HOLD, /* sriov_drivers_autoprobe to 0, while VFs are created */
	PHASE_ESWITCH,	      /* drivers that change the eswitch mode before VFs exist */
	PHASE_NUMVFS,
	PHASE_VF_ESWITCH, /* drivers that change the eswitch mode with VFs, all unbound */
	PHASE_VF_ADDRESS, /* settings that a VF's driver reads when it binds */
	PHASE_AUTOPROBE,  /* the steady value again */
	PHASE_VF_DRIVER,
	PHASE_PORT,    /* a function's own settings; in a lane in the list's order */
	PHASE_VF_LINK, /* netdevs of VFs */
	PHASE_MOUNT,
	PHASE_IRQ,  /* channels have their final number, so vectors are not allocated again */
	PHASE_LATE, /* sysctl and sysfs of targets that exist only now */
	PHASE_CHECK,
	PHASE_COUNT,
};

struct plan {
	VEC(struct change *) list;
};

/* A stage of this boot could not set the change, and learned why. Owns nothing. */
struct lesson {
	const char *id, *desired;
	struct tried tried;
};

struct lessons {
	VEC(struct lesson) list; /* vec_free() */
};

/* Appends a change with defaults; the caller fills in the rest. */
struct change *plan_add(struct plan *plan, const char *section, const struct kind *kind,
			enum stage stage, enum phase phase, struct place origin, const char *id_fmt,
			...) __attribute__((format(printf, 7, 8)));
/* A file that railhead owns completely, of kind_file; text "" removes the file. */
struct change *plan_add_file(struct plan *plan, const char *section, enum stage stage,
			     struct place origin, const char *path, const char *text,
			     const char *id_fmt, ...) __attribute__((format(printf, 7, 8)));
struct change *plan_find(const struct plan *plan, const char *id);
/* Removes and frees the changes for which keep() is false. */
void plan_filter(struct plan *plan, bool (*keep)(const struct change *c, const void *arg),
		 const void *arg);
void plan_free(struct plan *plan);
/* Each change with that id and desired value remembers what was learned. */
void plan_learn(struct plan *plan, const struct lessons *lessons);
/*
 * Decides which change owns a file that the targets of several changes match, for the changes from
 * the given index on, all of kind_attr and in document order. The most specific change owns the
 * file: a path goes before a pattern, a pattern with more literal text before others, and the later
 * of two equals. Each look resolves the files, because files come and go.
 */
void plan_share_files(struct plan *plan, size_t from);
/*
 * Links the changes of that section, all of kind_attr, with the changes of other sections that may
 * share a file with them.
 */
void plan_find_contests(struct plan *plan, const char *section);

/*
 * Before a look after the verdict is judged: changes warn that do not hold, if `on_drift: warn`
 * says so, or if the verdict was given without them and their target came since, with another
 * value. without: the ids that the verdict lists.
 */
void plan_take_drift(struct plan *plan, const struct strv *without);

/* Progress of the engine; cmd/ connects it to report/. All may be NULL. */
struct sink {
	void *data;
	void (*change_done)(void *data, enum stage stage, const struct change *c);
	void (*progress)(void *data, enum stage stage, const char *text);
};
