/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What GRUB is configured to do: read from its files, never written here. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "boot/bls.h"
#include "sys/root.h"

/* As far as it was found; all is owned. */
struct grub_config {
	const char *dir; /* of grub.cfg below /boot: "grub", "grub2", or NULL (static) */
	char *path;	 /* of grub.cfg, for people: "/boot/grub2/grub.cfg"; or NULL */
	char *cfg;	 /* its text, or NULL */
	char *env;	 /* grubenv's text, or NULL */
	char *trouble;	 /* why there is no cfg, a sentence; or NULL: none was found */
	struct bls_entries entries;
};

/* boot: the directory /boot. */
void grub_config_read(int boot, struct grub_config *ret);
/*
 * RHEL 8 and its like keep grub.cfg on the EFI system partition, in EFI/VENDOR; newer ones
 * have only a stub there, which loads the one in /boot. Looks there (esp: its directory, at:
 * where it is mounted, for people, or "") for what grub_config_read() did not find. Two that
 * differ are `trouble`: which of them boots can't be told from here.
 */
void grub_config_read_esp(int esp, const char *at, struct grub_config *c);
void grub_config_free(struct grub_config *c);
#define cleanup_grub_config __attribute__((__cleanup__(grub_config_free)))

/*
 * Whether that GRUB brings railhead_kargs to the kernel: 0, or a sentence with the remedy and
 *  - -ENOENT: GRUB is not there, did not boot this machine or is not set up for railhead;
 *  - -ESTALE: it reads our file, but a menu entry that may boot does not take the variable,
 *    or has our arguments as text.
 * esp_uuid: the file system that must be searched for the env file, NULL if that is to be
 * beside grub.cfg.
 */
int grub_config_check(const struct root *root, const struct grub_config *c, const char *esp_uuid,
		      struct err *err);
/* The same, of a grub.cfg that is there, whatever booted this machine. */
int grub_cfg_check(const struct grub_config *c, const char *esp_uuid, struct err *err);

/*
 * The directory below EFI/railhead on the EFI system partition that grub.cfg takes railhead.env
 * from; NULL if it names none, as an older snippet. Caller frees.
 */
char *grub_installation(const struct grub_config *c);

/* The value of $kernelopts when entries are read; NULL if it has none. Caller frees. */
char *grub_kernelopts(const struct grub_config *c);

/* Whether GRUB's own drivers read such a file system, and it lasts. NULL: no. */
bool grub_reads(const char *fstype);
