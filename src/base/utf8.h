/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The length of a sequence by its first byte, 1 to 4; 0: no sequence begins with that byte. */
size_t utf8_expected(char first);
/* The length of the well-formed sequence in the `left` bytes at s; 0 if malformed. */
size_t utf8_len(const char *s, size_t left);
/* The code point of a well-formed sequence, and its length. */
uint32_t utf8_code(const char *s, size_t *ret_len);
