#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints /etc/grub.d/05_railhead: the template with every @NAME@ replaced by what
# env_layout.h says NAME is. A name that the header does not have is an error.
#
#   src/loader/gen-snippet.sh > build/05_railhead
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
header=$top/src/kargs/env_layout.h
template=$top/dracut/grub.d/05_railhead.in

# #define NAME "value", and the one-byte selectors: NAME = 'x'
script=$(sed -nE \
	-e 's/^#define (ENV_[A-Z_]+) "([^"\\]*)".*/s|@\1@|\2|g/p' \
	-e "s/^[[:space:]]*(ENV_[A-Z]+) = '(.)'.*/s|@\\1@|\\2|g/p" "$header")
out=$(sed -e "$script" "$template")
if left=$(printf '%s\n' "$out" | grep -oE '@ENV_[A-Z_]+@' | sort -u) && [ -n "$left" ]; then
	echo "gen-snippet.sh: not in env_layout.h: $left" >&2
	exit 1
fi
printf '%s\n' "$out"
