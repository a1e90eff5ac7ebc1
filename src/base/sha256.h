/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SHA-256 (FIPS 180-4), for the digest that identifies a profile. These 80 lines replace libcrypto,
 * because loading libcrypto takes longer than a whole converged run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX 65 /* 64 digits and NUL */

void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX]);
