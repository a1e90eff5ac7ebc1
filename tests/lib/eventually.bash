# SPDX-License-Identifier: GPL-2.0-or-later
# For what another process does in its own time.
# shellcheck shell=bash

# Runs a command until it succeeds, 10 ms apart; 12,000 times at most, which is two minutes and more:
# what does not come by then has hung, however busy the machine is.
eventually() { # COMMAND [ARG...]
  local i
  for ((i = 0; i < 12000; i++)); do
    if "$@"; then return 0; fi
    sleep 0.01
  done
  return 1
}
