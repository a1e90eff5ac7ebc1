/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CPU that no file here knows the vectors of: what the compiler makes of C has to do. */
#include "bench/stream.h"

const struct stream_ops *const stream_all[] = {&stream_plain, NULL};
