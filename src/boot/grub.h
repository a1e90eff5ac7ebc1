/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What GRUB is configured to do: read from its files, never written here. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

/* As far as it was found; the texts are owned. */
struct grub_config {
	const char *dir;   /* of grub.cfg below /boot: "grub", "grub2", or NULL */
	char *cfg;	   /* grub.cfg, or NULL */
	char *bls_options; /* the entries' options lines, or NULL */
};

/* boot: the directory /boot. */
void grub_config_read(int boot, struct grub_config *ret);
void grub_config_free(struct grub_config *c);
#define cleanup_grub_config __attribute__((__cleanup__(grub_config_free)))

/*
 * Whether that GRUB brings railhead_kargs to the kernel: 0, or -ENOENT and a sentence with
 * the remedy. esp_uuid: as for grub_cfg_check().
 */
int grub_config_check(const struct root *root, const struct grub_config *c, const char *esp_uuid,
		      struct err *err);

/*
 * The same for the text of a grub.cfg. bls_options: the options lines of the entries of
 * /boot/loader/entries, NULL or "" if there are none. esp_uuid: the file system that must be
 * searched for the env file, NULL if it is to be beside grub.cfg.
 */
int grub_cfg_check(const char *grub_cfg, const char *bls_options, const char *esp_uuid,
		   struct err *err);

/* Whether GRUB's own drivers read such a file system, and it lasts. NULL: no. */
bool grub_reads(const char *fstype);
