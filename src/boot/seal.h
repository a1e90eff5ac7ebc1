/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LUKS2 volumes whose key is sealed to TPM registers (PCRs) that kernel arguments change: at
 * the first boot with other arguments such a volume asks for its passphrase.
 *
 * PCR 8: GRUB measures every command and the kernel's command line (grub-core/commands/tpm.c).
 * PCR 9: GRUB measures every file that it reads, railhead.env too, which each trial alters; the
 * kernel's EFI stub measures its load options (efi-stub-helper.c).
 * PCR 12: systemd-stub measures a command line, and addons, that are not of the image
 * (systemd-stub(7)).
 *
 * What can't be read, or is not understood, gives nothing: it is for warnings. libcryptsetup would
 * find the JSON area of a header, which is 20 lines here, and not what its tokens mean; and it
 * would come into the initramfs with device-mapper and OpenSSL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sys/root.h"

#define SEAL_PCRS_CHANGED (1u << 8 | 1u << 9 | 1u << 12)

/* --- parsers of what others wrote ----------------------------------------------------------- */

/*
 * PCRs as systemd-cryptenroll(1) and clevis write them: "7+8", "7,8", "secure-boot-policy",
 * each with ":" and a hash behind it or not; "" is none. False if a part is not understood.
 */
bool seal_pcrs(const char *text, uint32_t *ret);

/* What the tokens of a header say of unlocking without a person. */
struct seal_tokens {
	bool open;     /* a token needs none of the PCRs that change (or may not) */
	bool sealed;   /* a token needs some of them */
	bool clevis;   /* ... and is clevis's, not systemd's */
	uint32_t pcrs; /* of the sealed ones, those that change */
};

/*
 * The size of a LUKS2 header with its JSON area, by the first 4096 bytes of the device; 0 if
 * it is none, or has a size that no such header has (16 KiB to 4 MiB).
 */
size_t seal_header_size(const void *head, size_t len);
/* The JSON area; ends at the first NUL or at len. False if it is no JSON object. */
bool seal_header_tokens(const char *json, size_t len, struct seal_tokens *ret);

/* A line of /etc/crypttab that names a TPM. */
struct crypttab_line {
	char *volume;
	bool initrd;	 /* x-initrd.attach: unlocked for the root file system */
	bool pcrs_known; /* tpm2-pcrs= is there and understood */
	uint32_t pcrs;
};

struct crypttab {
	VEC(struct crypttab_line) list;
};

void crypttab_parse(const char *text, struct crypttab *ret);
void crypttab_free(struct crypttab *t);

/* --- what there is --------------------------------------------------------------------------- */

struct seal {
	char *volume;  /* "luks-root" */
	char *device;  /* "/dev/sda2", or NULL */
	uint32_t pcrs; /* those that change; 0: which the policy covers is not known */
	bool clevis;
};

struct seals {
	VEC(struct seal) list;
};

/*
 * The volumes below / and /boot that kernel arguments may lock; appends. On a live machine
 * by the headers of what lies below the mounts, and by /etc/crypttab where a header can't be
 * read; of a tree by /etc/crypttab and /etc/fstab. Reads only, needs no privilege.
 */
void seals_find(const struct root *root, struct seals *ret);
void seals_free(struct seals *s);

/* One sentence: the volume, the PCRs, what happens, what to do. Caller frees. */
char *seal_sentence(const struct seal *s);
