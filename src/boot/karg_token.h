/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: one kernel argument taken apart, and what its key means. */
#pragma once

#include "boot/kargs.h"

/* A token as next_arg() hands it to the handlers: quotes taken off. */
struct token {
	const char *name;
	size_t name_len;
	const char *value; /* NULL: no '=' */
	size_t value_len;
};

struct token token_of(const char *text);
bool token_name_is(const struct token *t, const char *name, size_t len);
bool token_named(const struct token *t, const char *name);
bool token_value_same(const struct token *a, const struct token *b);
enum karg_rule token_rule(const struct token *t);
/* "module.param": of a module, or of dracut or systemd; "mod.param" alone is a value too. */
bool token_is_param(const struct token *t);
/* What a crashkernel= is for: ",high", ",low", ",cma" or "". */
const char *token_kind(const struct token *t);
