/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disk keys that a TPM gives out only while registers (PCRs) keep their values that a trial of
 * kernel arguments changes. Such a disk is locked in the trial, and in each boot after the trial,
 * even with the earlier arguments: no trial is armed, and arguments that this boot has from
 * elsewhere are not taken over, because railhead's words on the line would lock the disk as well.
 *
 * PCR 8: GRUB measures every command and the kernel's command line (grub-core/commands/tpm.c). PCR
 * 9: GRUB measures every file that it reads, including railhead.env, which each trial alters; the
 * kernel's EFI stub measures its load options (efi-stub-helper.c). PCR 12: systemd-stub measures a
 * command line, and addons, that come from outside the image (systemd-stub(7)).
 *
 * Covered, whichever file system is on the volume, because a boot also waits for other disks than
 * those of / and /boot:
 *
 *  - on a live root the LUKS2 header of each volume that is unlocked now, with its tokens of
 *    systemd-cryptenroll (tpm2-pcrs; tpm2_pubkey_pcrs of a signed policy; each policy of
 *    systemd-pcrlock, whose PCRs are not in the header) and of clevis (pin tpm2, also inside sss);
 *  - in /etc/crypttab the option tpm2-pcrs= of lines with tpm2-device=, which selects among tokens
 *    and is all there is for a key in a file (crypttab(5)).
 *
 * A volume counts as sealed even if it has another key, for example on a server, and a header or
 * table that can't be read counts as sealed, too. Not covered: volumes that are locked now, and
 * keys that other programs unseal (keyscript=, clevis on LUKS1, ZFS).
 *
 * libcryptsetup would find the JSON area of a header, which takes few lines here, but not interpret
 * its tokens; and it would bring device-mapper and OpenSSL into the initramfs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/root.h"

#define SEAL_PCRS_CHANGED (1u << 8 | 1u << 9 | 1u << 12)

/*
 * Which disk a trial would lock, and the remedy: a clause without full stop. NULL: none. Caller
 * frees. Only reads.
 */
char *seal_why_refused(const struct root *root);

/* --- parsers of other programs' data ---------------------------------------------------------- */

/*
 * The changed PCRs in a list as systemd-cryptenroll(1) and clevis write it: "7+8", "7,8",
 * "kernel-config", each optionally followed by ":" and a hash. Other words count nothing.
 */
uint32_t seal_pcrs(const char *text);

struct seal_tokens {
	uint32_t pcrs; /* the changed PCRs that a token needs */
	bool pcrlock;  /* a token needs the PCRs of a policy of systemd-pcrlock */
};

/*
 * Parses the JSON area of a LUKS2 header, which ends at the first NUL or at len. False if it does
 * not hold a JSON object.
 */
bool seal_read_tokens(const char *json, size_t len, struct seal_tokens *ret);
