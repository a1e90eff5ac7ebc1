/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#define SNAPSHOT_INFO "railhead-snapshot.json" /* first in the archive: its format */
#define SNAPSHOT_FORMAT 1
