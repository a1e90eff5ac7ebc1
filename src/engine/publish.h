/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict for readers other than railhead's own: metrics for Prometheus (node_exporter's
 * textfile collector), labels for Kubernetes (node-feature-discovery). Each file is in the
 * directory of its reader, if that directory exists: see notice_write().
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "engine/record.h"
#include "sys/root.h"

/*
 * Publishes the record to these readers. ready: whether the ready file exists. If the record admits
 * work without a ready file, a judgement is under way, and the published verdict is "waiting". In a
 * boot where nothing may be done (boot/mode.h) existing files lose their claim, and no file is
 * created. For each file that can't be written, *warnings gets a sentence, once.
 */
void publish(const struct root *root, const struct record *record, bool ready,
	     struct strv *warnings);

/*
 * Only the texts. The caller frees. recheck: whether later looks are wanted. Ready labels expire
 * PUBLISH_LASTS_S after the last look (wall clock), because railhead may never run again to
 * withdraw them. Each recheck renews them.
 */
#define PUBLISH_LASTS_S 7200
char *publish_metrics(const struct record *record, bool ready, bool recheck);
char *publish_features(const struct record *record, bool ready, time_t looked);
