/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict for readers other than railhead's own: metrics for Prometheus (node_exporter's
 * textfile collector), labels for Kubernetes (node-feature-discovery). Each in the directory
 * of its reader, where there is one: see notice_write().
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "engine/record.h"
#include "sys/root.h"

/*
 * Tells them what the record says. ready: whether the ready file is there; where the record
 * admits work and it is not, a judgement is under way, and the verdict they see is "waiting".
 * In a boot where nothing may be done (boot/mode.h) the files that are there lose their claim, and
 * none is made. For a file that can't be written a sentence is added to *warnings, unless it is
 * there already.
 */
void publish(const struct root *root, const struct record *record, bool ready,
	     struct strv *warnings);

/*
 * The texts alone. Caller frees. Labels that say ready lapse by themselves PUBLISH_LASTS_S after
 * now (of the wall clock): what would withdraw them may never run again. railhead-renew.timer
 * renews them.
 */
#define PUBLISH_LASTS_S 7200
char *publish_metrics(const struct record *record, bool ready);
char *publish_features(const struct record *record, bool ready, time_t now);
