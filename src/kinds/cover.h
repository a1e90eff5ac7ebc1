/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts that a look covers (struct finding, covers): the files of a pattern, the counters of a
 * whole node. A look after the verdict misses those that have gone since: a pattern is content with
 * the files that it still matches.
 *
 * A part is named by its path, a counter by its member's path and its own text. The path of a
 * netdev or RDMA device that the driver of a PCI function made is followed by that function, "PATH
 * of 0000:81:00.0": such a device may be in a container, where it is not seen from here. Its
 * function then stays, with an empty directory for its devices.
 */
#pragma once

#include "kinds/kind.h"

/* Of a part that has gone, and the remedy. */
#define COVER_WAS "was there when the node was judged"
#define COVER_REMEDY "bring it back, or run `railhead gate --again` if that is meant"

/*
 * Adds the file to what the look covers. Before the verdict, the file of a netdev that comes and
 * goes with work (one end of a pair, a tunnel of a program) is left out.
 */
void cover_file(const struct kind_ctx *ctx, struct change *c, const char *path);
/*
 * In a look after the verdict: whether the file is of a virtual device that has come since, as pods
 * bring them. Nobody has set such a file for the node, and it is not judged.
 */
bool cover_is_newcomer(const struct kind_ctx *ctx, const struct change *c, const char *path);
/*
 * Ends a look after the verdict, which returned r: fails the change if a part has gone. A device of
 * a container has not gone; if there is no other: CHANGE_UNSUPPORTED. Returns r, or 0 with a state.
 */
int cover_judge(const struct kind_ctx *ctx, struct change *c, int r, struct err *err);
