/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many bytes a sequence has by its first, 1 to 4; 0: none begins with it. */
size_t utf8_expected(char first);
/* The length of the well-formed sequence at s, of which left bytes are there; 0: it is none. */
size_t utf8_len(const char *s, size_t left);
/* The code point of a well-formed sequence, and its length. */
uint32_t utf8_code(const char *s, size_t *ret_len);
