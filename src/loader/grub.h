/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GRUB's configuration, as read from its files. This code never writes them. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "loader/bls.h"
#include "sys/root.h"

/* The files that were found; the struct owns all texts. */
struct grub_config {
	const char *dir; /* of grub.cfg below /boot: "grub", "grub2", or NULL (static) */
	char *path;	 /* of grub.cfg, for people: "/boot/grub2/grub.cfg"; or NULL */
	char *cfg;	 /* its text, or NULL */
	char *env;	 /* grubenv's text, or NULL */
	char *trouble;	 /* why there is no cfg, a sentence; NULL: there is a cfg, or none exists */
	struct bls_entries entries;
};

/* boot: the directory /boot. */
void grub_config_read(int boot, struct grub_config *ret);
/*
 * RHEL 8 and related distributions keep grub.cfg on the EFI system partition, in EFI/VENDOR; newer
 * releases have only a stub there, which loads the grub.cfg in /boot. If grub_config_read() found
 * no grub.cfg, this looks there (esp: directory of the partition, at: its mount point, for people,
 * or ""). Two files that differ set `trouble`, because either may boot.
 */
void grub_config_read_esp(int esp, const char *at, struct grub_config *c);
void grub_config_free(struct grub_config *c);
#define cleanup_grub_config __attribute__((__cleanup__(grub_config_free)))

/*
 * Whether that GRUB brings railhead_kargs to the kernel: 0, or a sentence with the remedy and
 *
 *  - -ENOENT: GRUB is absent, did not boot this machine or is not set up for railhead;
 *  - -ESTALE: GRUB reads our file, but a menu entry that may boot lacks the variable, or has our
 *    arguments as text.
 *
 * esp_uuid: the file system that grub.cfg must search for the env file; NULL: the env file must be
 * next to grub.cfg.
 */
int grub_config_check(const struct root *root, const struct grub_config *c, const char *esp_uuid,
		      struct err *err);
/* The same for a grub.cfg that exists, independent of the loader that booted this machine. */
int grub_cfg_check(const struct grub_config *c, const char *esp_uuid, struct err *err);

/*
 * The directory below EFI/railhead on the EFI system partition in which grub.cfg looks for
 * railhead.env; NULL if grub.cfg names none, as with an older snippet. Caller frees.
 */
char *grub_installation(const struct grub_config *c);

/*
 * Whether GRUB parses the value of $railhead_kargs as a script: blscfg puts it unquoted into the
 * text of a menu entry (bls_get_linux() of GRUB 2.14's blsuki.c, create_entry() of Fedora's
 * blscfg.c). `linux` lines of grub.cfg have the variable itself, whose value GRUB splits at blanks
 * alone.
 */
bool grub_parses_value(const struct grub_config *c);
/*
 * The same of a tree or machine, without mounting anything. Without a grub.cfg: true if its GRUB is
 * Fedora's, whose grub2-mkconfig writes blscfg.
 */
bool grub_tree_parses_value(const struct root *root);

/*
 * The name of GRUB's own directory, "/boot/grub2" on Fedora and RHEL; NULL: the tree has no GRUB.
 * grub-install may make the directory only when the image is written, after bake.
 */
const char *grub_home(const struct root *root);

/* The value of $kernelopts when GRUB reads the entries; NULL if it is not set. Caller frees. */
char *grub_kernelopts(const struct grub_config *c);

/* Whether GRUB's own drivers read that file system, and it is persistent. NULL: false. */
bool grub_reads(const char *fstype);
