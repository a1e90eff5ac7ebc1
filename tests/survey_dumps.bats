#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# survey of real machines agrees with what lspci and lscpu say of the same trees. The trees
# are no part of the source: $RAILHEAD_MACHINES, or ../shared/data/machines beside it.

bats_require_minimum_version 1.5.0
railhead="${RAILHEAD:-$BATS_TEST_DIRNAME/../build/railhead}"

setup_file() {
  local archive dir=
  for archive in "${RAILHEAD_MACHINES:-}" "$BATS_TEST_DIRNAME/../../shared/data/machines" "$BATS_TEST_DIRNAME/../../../shared/data/machines"; do
    if [ -n "$archive" ] && [ -d "$archive" ]; then
      dir=$archive
      break
    fi
  done
  export MACHINES=$BATS_FILE_TMPDIR/machines
  mkdir "$MACHINES"
  [ -n "$dir" ] || return 0
  for archive in "$dir"/*.tar.*; do
    mkdir "$MACHINES/$(basename "$archive")"
    tar xf "$archive" -C "$MACHINES/$(basename "$archive")" --strip-components=1
    ln -s "$archive" "$MACHINES/$(basename "$archive").archive"
  done
}

setup() {
  # archives are unpacked often here
  if [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi
  [ -n "$(ls -A "$MACHINES")" ] || skip "no data: neither \$RAILHEAD_MACHINES nor ../shared/data/machines is there"
}

trees() { find "$MACHINES" -mindepth 1 -maxdepth 1 -type d; }

# One line per function: address class vendor device subsystem-vendor -device NUMA node.
of_lspci() { # TREE
  lspci -A linux-sysfs -O sysfs.path="$1/sys/bus/pci" -D -vmmn | awk -F '\t' '
    function put() { print f["Slot:"], f["Class:"], f["Vendor:"], f["Device:"], f["SVendor:"] ? f["SVendor:"] : "0000",
      f["SDevice:"] ? f["SDevice:"] : "0000", "NUMANode:" in f ? f["NUMANode:"] : "-" }
    $0 == "" { put(); delete f; next }
    { f[$1] = $2 }' | sort
}

of_survey() { # JSON
  jq -r '.pci[] | [.address, .class[0:4], .vendor, .device, .subsystem_vendor, .subsystem_device, (.numa_node // "-" | tostring)] | join(" ")' "$1" | sort
}

@test "dumps: every function's ids, class and NUMA node are those of lspci" {
  local tree n=0
  for tree in $(trees); do
    "$railhead" survey --json --root "$tree" >"$BATS_TEST_TMPDIR/json"
    of_lspci "$tree" >"$BATS_TEST_TMPDIR/lspci"
    of_survey "$BATS_TEST_TMPDIR/json" >"$BATS_TEST_TMPDIR/survey"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/lspci")" -gt 30 ]
    diff "$BATS_TEST_TMPDIR/lspci" "$BATS_TEST_TMPDIR/survey"
    n=$((n + 1))
  done
  [ $n -ge 2 ]
}

@test "dumps: names are those of lspci" {
  local tree
  for tree in $(trees); do
    "$railhead" survey --json --root "$tree" | jq -r '.pci[] | .names | [.class // "", .vendor // "", .device // ""] | join("|")' >"$BATS_TEST_TMPDIR/survey"
    # lspci says "Device 1234" of what the database does not know
    lspci -A linux-sysfs -O sysfs.path="$tree/sys/bus/pci" -D -vmm | awk -F '\t' '
      function known(s) { return s ~ /^(Device|Class|Vendor) [0-9a-f]{4}$/ ? "" : s }
      $0 == "" { print known(f["Class:"]) "|" known(f["Vendor:"]) "|" known(f["Device:"]); delete f; next }
      { f[$1] = $2 }' >"$BATS_TEST_TMPDIR/lspci"
    diff "$BATS_TEST_TMPDIR/lspci" "$BATS_TEST_TMPDIR/survey"
  done
}

@test "dumps: CPUs, sockets and NUMA nodes are those of lscpu" {
  local tree cpu
  for tree in $(trees); do
    "$railhead" survey --json --root "$tree" >"$BATS_TEST_TMPDIR/json"
    lscpu -J --sysroot "$tree" | jq -r '.lscpu[] | .field + " " + .data' >"$BATS_TEST_TMPDIR/lscpu"
    jq -r '"CPU(s): \(.cpu.count)", "Socket(s): \(.cpu.sockets)", "Model name: \(.machine.cpu_model)",
      "NUMA node(s): \(.numa_nodes | length)", "On-line CPU(s) list: \(.machine.cpus_online)",
      (.numa_nodes[] | "NUMA node\(.node) CPU(s): \(.cpus)")' "$BATS_TEST_TMPDIR/json" >"$BATS_TEST_TMPDIR/survey"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/survey")" -ge 7 ]
    while read -r cpu; do
      if ! grep -qxF "$cpu" "$BATS_TEST_TMPDIR/lscpu"; then
        echo "$tree: lscpu does not say: $cpu"
        return 1
      fi
    done <"$BATS_TEST_TMPDIR/survey"
  done
}

@test "dumps: memory, netdevs and RDMA devices are those of the files" {
  local tree
  for tree in $(trees); do
    "$railhead" survey --json --root "$tree" >"$BATS_TEST_TMPDIR/json"
    [ "$(jq .memory "$BATS_TEST_TMPDIR/json")" = $(($(awk '/^MemTotal/ {print $2}' "$tree/proc/meminfo") * 1024)) ]
    [ "$(jq '[.numa_nodes[].memory] | add' "$BATS_TEST_TMPDIR/json")" = \
      $(($(cat "$tree"/sys/devices/system/node/node*/meminfo | awk '/MemTotal/ {n += $4} END {printf "%d", n}') * 1024)) ]
    # the way up from the netdev, not down from the function
    (cd "$tree/sys/class" && for l in net/* infiniband/*; do
      fn=$(readlink "$l" | grep -oE '[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]' | tail -1)
      [ -z "$fn" ] || echo "$fn ${l#*/}"
    done) | sort >"$BATS_TEST_TMPDIR/files"
    jq -r '.pci[] | .address + " " + (.netdevs + .rdma_devices)[]' "$BATS_TEST_TMPDIR/json" | sort >"$BATS_TEST_TMPDIR/survey"
    [ -s "$BATS_TEST_TMPDIR/files" ]
    diff "$BATS_TEST_TMPDIR/files" "$BATS_TEST_TMPDIR/survey"
  done
}

@test "dumps: the archive and a snapshot of it give the same as the directory" {
  local tree
  for tree in $(trees); do
    for what in "" --json --all; do
      # shellcheck disable=SC2086
      "$railhead" survey $what --root "$tree" >"$BATS_TEST_TMPDIR/tree"
      # shellcheck disable=SC2086
      "$railhead" survey $what --root "$tree.archive" | diff "$BATS_TEST_TMPDIR/tree" -
      "$railhead" survey --root "$tree" --snapshot "$BATS_TEST_TMPDIR/x.tar"
      # shellcheck disable=SC2086
      "$railhead" survey $what --root "$BATS_TEST_TMPDIR/x.tar" | diff "$BATS_TEST_TMPDIR/tree" -
    done
  done
}

@test "dumps: a profile for each matches, and is planned on the archive" {
  local tree name vendor
  for tree in $(trees); do
    name=$(cat "$tree/sys/class/dmi/id/product_name")
    vendor=$(cat "$tree/sys/class/dmi/id/sys_vendor")
    printf 'schema: 1\nname: p\nmatch: {dmi: {sys_vendor: "%s", product_name: "%s"}}\ndevices: {nics: {link: infiniband}}\nhugepages: [{size: 2M, per_node: 8, at: runtime}]\n' \
      "$vendor" "$name" >"$BATS_TEST_TMPDIR/p.yaml"
    run -5 "$railhead" plan --json --root "$tree.archive" --profile "$BATS_TEST_TMPDIR/p.yaml"
    [ "$(jq '[.changes[] | select(.kind == "attr")] | length' <<<"$output")" = "$(find "$tree/sys/devices/system/node" -maxdepth 1 -name 'node[0-9]*' | wc -l)" ]
  done
}
