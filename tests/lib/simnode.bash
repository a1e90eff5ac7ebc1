# SPDX-License-Identifier: GPL-2.0-or-later
# A machine with the kernel's rules, for `railhead --root`: tests/simnode mounted over a tree.
# The sourcing script has $BATS_TEST_DIRNAME (the directory tests/) and sets $sim, a directory
# of its own; the machine is then below $root. End with sim_stop, whatever happened: it also
# frees what hangs. $SIMNODE: another build of it.
# shellcheck shell=bash

# shellcheck source=tests/lib/eventually.bash
. "${BASH_SOURCE[0]%/*}/eventually.bash"

simnode="${SIMNODE:-$BATS_TEST_DIRNAME/../build/simnode}"
[ -x "$simnode" ] || {
  echo "simnode is not built: make build/simnode" >&2
  return 1
}
railhead="${RAILHEAD:-$BATS_TEST_DIRNAME/../build/railhead}"
PFS=(0000:18:00.0 0000:3a:00.0 0000:4e:00.0 0000:5d:00.0 0000:9a:00.0 0000:bc:00.0 0000:cc:00.0 0000:db:00.0)

# Says what is missing: never a reason to skip.
sim_need() {
  if [ ! -c /dev/fuse ] || ! { : <>/dev/fuse; } 2>/dev/null; then
    echo "simnode needs /dev/fuse, which can't be opened here: modprobe fuse, or in a container" \
      "--device /dev/fuse --cap-add SYS_ADMIN" >&2
    return 1
  fi
  command -v fusermount3 >/dev/null || {
    echo "simnode needs fusermount3: tests/lib/deps.sh test" >&2
    return 1
  }
}

# A machine as it is after boot, and a profile that wants VFs of it.
sim_tree() { # DIR
  python3 "$BATS_TEST_DIRNAME/lib/machine" "$1" "$BATS_TEST_DIRNAME/simnode/node.toml"
}

# $sim/node is mounted at $root, with the script from stdin; what happens goes to $sim/log.
# A second start goes on with the same machine. Its times are those of a clock of its own.
sim_start() {
  local library=$BATS_TEST_DIRNAME/../build/test/clock.so clock=() # not where it is demonstrated
  [ ! -e "$library" ] || clock=("LD_PRELOAD=$library" "TEST_CLOCK=$sim/sim-clock")
  root=$sim/root
  mkdir -p "$root"
  cat >"$sim/script"
  : >"$sim/log"
  env "${clock[@]}" "$simnode" --with-parent --script "$sim/script" --log "$sim/log" "$sim/node" "$root" 2>"$sim/stderr" 3>&- &
  SIM_PID=$!
  until mountpoint -q "$root"; do
    kill -0 "$SIM_PID" 2>/dev/null || {
      cat "$sim/stderr" >&2
      SIM_PID=
      return 1
    }
    sleep 0.01
  done
}

# What takes so long, or comes after so long, is over.
sim_pass() { # MILLISECONDS
  truncate -s "+$1" "$sim/sim-clock"
}

_sim_ended() { ! kill -0 "$SIM_PID" 2>/dev/null; }

# Lazily unmounted, so that open files are no obstacle; then simnode ends and with it what
# hangs in it. Fails if it had to be killed.
sim_stop() {
  [ -n "${SIM_PID:-}" ] || return 0
  fusermount3 -u -z -q "$root" || :
  kill "$SIM_PID" 2>/dev/null || :
  eventually _sim_ended || :
  if kill -9 "$SIM_PID" 2>/dev/null; then
    SIM_PID=
    echo "simnode did not end by itself" >&2
    return 1
  fi
  wait "$SIM_PID" 2>/dev/null || :
  SIM_PID=
}

# Waits until the log has a line that a pattern of grep -E fits.
sim_wait() { # PATTERN
  if eventually grep -qE "$1" "$sim/log"; then return 0; fi
  echo "nothing in the log of simnode is like: $1" >&2
  tail -n 20 "$sim/log" >&2
  return 1
}

# What the machine itself was asked to change: opens for writing, below /sys and /proc alone.
sim_writes() { grep -E '^[0-9.]+ (open|write) /(sys|proc)/' "$sim/log" || :; }

# The events of some sorts, in their order, with so many words of each: "sriov probe" 1.
sim_events() { # SORTS WORDS
  awk -v sorts=" $1 " -v n="$2" 'index(sorts, " " $2 " ") { for (i = 2; i < 2 + n; i++) printf "%s ", $i }' "$sim/log"
}

pf() { echo "$root/sys/bus/pci/devices/${PFS[$1]}"; } # INDEX

vfs_of() { find "$1/" -maxdepth 1 -name 'virtfn*' | wc -l; } # PF-DIR

# VFs that a driver has.
bound_of() { # PF-DIR
  local n=0 link
  for link in "$1"/virtfn*/driver; do
    [ ! -L "$link" ] || n=$((n + 1))
  done
  echo $n
}

sim_profile() { # the lines behind the device sets from stdin
  mkdir -p "$sim/node/etc/railhead/profiles"
  {
    cat <<Y
schema: 1
name: sim
version: 1.0.0
match: {dmi: {sys_vendor: Simulated}}
devices:
  rails: {pci: "15b3:1021", expect: 8}
  gpus: {pci: "10de:2330", expect: 8}
Y
    cat
  } >"$sim/node/etc/railhead/profiles/sim.yaml"
}
