/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bench/benchmark.h"

extern const struct benchmark jitter;
