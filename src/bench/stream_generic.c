/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CPU without hand-written vector loops uses plain C. */
#include "bench/stream.h"

const struct stream_ops *const stream_all[] = {&stream_plain, NULL};
