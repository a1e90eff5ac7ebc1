/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LUKS2 volumes whose key is sealed to TPM registers (PCRs) that kernel arguments change: at the
 * first boot with other arguments such a volume asks for its passphrase.
 *
 * PCR 8: GRUB measures every command and the kernel's command line (grub-core/commands/tpm.c). PCR
 * 9: GRUB measures every file that it reads, including railhead.env, which each trial alters; the
 * kernel's EFI stub measures its load options (efi-stub-helper.c). PCR 12: systemd-stub measures a
 * command line, and addons, that come from outside the image (systemd-stub(7)).
 *
 * Volumes and policies that can't be read or parsed are skipped, because the results are only
 * warnings. libcryptsetup would find the JSON area of a header, which takes 20 lines here, but not
 * interpret its tokens; and it would bring device-mapper and OpenSSL into the initramfs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sys/root.h"

#define SEAL_PCRS_CHANGED (1u << 8 | 1u << 9 | 1u << 12)

/* --- parsers of other programs' data ---------------------------------------------------------- */

/*
 * Parses PCRs as systemd-cryptenroll(1) and clevis write them: "7+8", "7,8", "secure-boot-policy",
 * each optionally followed by ":" and a hash; "" means no PCRs. False if a part can't be parsed.
 */
bool seal_pcrs(const char *text, uint32_t *ret);

/* How the tokens of a header unlock the volume without a person. */
struct seal_tokens {
	bool open;     /* a token needs none of the changed PCRs (or may not) */
	bool sealed;   /* a token needs some of them */
	bool clevis;   /* a sealed token is clevis's, not systemd's */
	uint32_t pcrs; /* the changed PCRs that the sealed tokens need */
};

/*
 * The size of a LUKS2 header with its JSON area, from the first 4096 bytes of the device; 0 if
 * there is no such header, or its size is out of range (16 KiB to 4 MiB).
 */
size_t seal_header_size(const void *head, size_t len);
/*
 * Parses the JSON area, which ends at the first NUL or at len. False if it does not hold a JSON
 * object.
 */
bool seal_header_tokens(const char *json, size_t len, struct seal_tokens *ret);

/* A line of /etc/crypttab that names a TPM. */
struct crypttab_line {
	char *volume;
	bool initrd;	 /* x-initrd.attach: the initramfs unlocks it for the root file system */
	bool pcrs_known; /* tpm2-pcrs= is there and valid */
	uint32_t pcrs;
};

struct crypttab {
	VEC(struct crypttab_line) list;
};

void crypttab_parse(const char *text, struct crypttab *ret);
void crypttab_free(struct crypttab *t);

/* --- the volumes of this machine or tree ------------------------------------------------------ */

struct seal {
	char *volume;  /* "luks-root" */
	char *device;  /* "/dev/sda2", or NULL */
	uint32_t pcrs; /* the changed PCRs in its policy; 0: the PCRs of the policy are unknown */
	bool clevis;
};

struct seals {
	VEC(struct seal) list;
};

/*
 * Appends the volumes below / and /boot that kernel arguments may lock. A live machine is searched
 * by the headers of the devices below the mounts, and by /etc/crypttab where a header can't be
 * read; a tree by /etc/crypttab and /etc/fstab. Only reads, and needs no privilege.
 */
void seals_find(const struct root *root, struct seals *ret);
void seals_free(struct seals *s);

/* One sentence: the volume, the PCRs, the consequence and the remedy. Caller frees. */
char *seal_sentence(const struct seal *s);
