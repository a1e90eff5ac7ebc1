#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Which libraries the program is linked with, which it opens when something needs them, and the
# words where one of those is missing.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  railhead=$(realpath "${RAILHEAD:-$BATS_TEST_DIRNAME/../build/railhead}")
  root=$BATS_TEST_TMPDIR/root
}

# A file of zero bytes in the library's place.
without() { # NAME COMMAND...
  local file
  file=$(realpath "$("$BATS_TEST_DIRNAME/lib/libraries" "$railhead" | grep "/$1")")
  unshare -m sh -ec 'mount --make-rprivate /; mount --bind /dev/null "$0"; exec "$@"' "$file" "${@:2}"
}

profile_of() { # SECTIONS...
  {
    printf '%s\n' "schema: 1" "name: here" "version: 1.0.0" "match: {dmi: {sys_vendor: Supermicro}}"
    printf '%s\n' "$@"
  } >"$BATS_TEST_TMPDIR/here.yaml"
}

# All looks that fail say it, and at least one does.
says() { # NAME PURPOSE
  jq -e --arg text "$1, needed to $2, can't be opened (" '
    [.changes[] | select(.state == "failed") | .reason]
    | length > 0 and all(contains($text))' <<<"$output" >/dev/null || {
    echo "$output"
    return 1
  }
}

@test "linked: five libraries, and none of what is opened" {
  run -0 readelf -d "$railhead"
  [ "$(sed -n 's/.*Shared library: \[\(.*\)\]/\1/p' <<<"$output" | LC_ALL=C sort | tr '\n' ' ')" = \
    "libc.so.6 libjansson.so.4 libm.so.6 libmnl.so.0 libyaml-0.so.2 " ]
}

@test "opened: a note for each, as packagers and image builders read them" {
  objcopy --dump-section .note.dlopen="$BATS_TEST_TMPDIR/notes" "$railhead" "$BATS_TEST_TMPDIR/copy"
  python3 - "$BATS_TEST_TMPDIR/notes" <<'P'
import json, struct, sys
data, names = open(sys.argv[1], "rb").read(), set()
while data:
    owner, size, kind = struct.unpack_from("<III", data)
    assert kind == 0x407c0c0a and data[12:12 + owner] == b"FDO\0", data[:16]
    (entry,) = json.loads(data[12 + owner:12 + owner + size].rstrip(b"\0"))
    assert entry["description"].startswith("needed to ") and entry["feature"], entry
    assert entry["priority"] in ("required", "recommended"), entry
    names.update(entry["soname"])
    data = data[12 + owner + (size + 3) // 4 * 4:]
assert names == {"libkmod.so.2", "libpci.so.3", "libmount.so.1", "libblkid.so.1",
                 "libsystemd.so.0", "libarchive.so.13"}, names
P
}

@test "opened: by what needs it alone" {
  LD_DEBUG=files run -0 "$railhead" --version
  [[ $output != *"calling init: "*libkmod* && $output != *libpci* && $output != *libsystemd* &&
    $output != *libmount* && $output != *libblkid* && $output != *libarchive* ]]
}

@test "libkmod is missing: the module's change says it" {
  profile_of "modules: {load: [railhead_nosuch]}"
  run without libkmod "$railhead" plan --json --profile "$BATS_TEST_TMPDIR/here.yaml"
  says libkmod.so.2 "load kernel modules"
}

@test "libpci is missing: config space is read all the same, and the survey has no names" {
  # shellcheck source=tests/lib/pcitree.bash
  . "$BATS_TEST_DIRNAME/lib/pcitree.bash"
  fake_node "$root"
  fake_pf "$root" 0000:3b:00.0 0 eth0 2
  pcie "$root/sys/bus/pci/devices/0000:3b:00.0" 0 0
  profile_of 'devices: {rails: {address: "0000:3b:00.0"}}' "pcie: {rails: {max_read_request: 4096}}"
  run -5 without libpci "$railhead" plan --root "$root" --profile "$BATS_TEST_TMPDIR/here.yaml"
  [[ $output == *"differs     pcie/0000:3b:00.0/max_read_request"*"'128' -> '4096'"* ]]
  run -0 without libpci "$railhead" survey --root "$root"
  [[ $output == *0000:3b:00.0* && $output != *Mellanox* ]]
}

@test "libmount is missing: the kernel arguments' change says it" {
  fake_node "$root"
  put "$root/etc/fstab" "/dev/sda2 /boot ext4 defaults 0 2"
  profile_of "kernel_args: {set: [quiet]}"
  run without libmount "$railhead" plan --root "$root" --json --profile "$BATS_TEST_TMPDIR/here.yaml"
  says libmount.so.1 "read /etc/fstab"
}

@test "libarchive is missing: the archive's reader says it" {
  tar -C "$BATS_TEST_TMPDIR" -cf "$BATS_TEST_TMPDIR/node.tar" --files-from=/dev/null
  run ! without libarchive "$railhead" plan --root "$BATS_TEST_TMPDIR/node.tar"
  [[ $output == *"libarchive.so.13, needed to read and write packed snapshots, can't be opened ("*"; install libarchive13 "* ]]
}

@test "libsystemd is missing: a run says what is not told" {
  profile_of "sysctl: {kernel.ostype: Linux}"
  run without libsystemd "$railhead" apply --profile "$BATS_TEST_TMPDIR/here.yaml" --stage early
  [[ $output == *"the journal gets no entries: libsystemd.so.0, needed to write to the journal and ask systemd, can't be opened ("* ]]
}
