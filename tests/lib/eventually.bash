# SPDX-License-Identifier: GPL-2.0-or-later
# For what another process does in its own time.
# shellcheck shell=bash

# Runs a command until it succeeds, so many times at most, 10 ms apart.
eventually() { # TIMES COMMAND [ARG...]
  local i times=$1
  shift
  for ((i = 0; i < times; i++)); do
    if "$@"; then return 0; fi
    sleep 0.01
  done
  return 1
}
