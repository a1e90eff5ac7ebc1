#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# survey --snapshot and --root ARCHIVE: a node as a file that says nothing about whose it is.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/largenode
load lib/eventually

setup() {
  root=$BATS_TEST_TMPDIR/root
  tar=$BATS_TEST_TMPDIR/node.tar
  export TMPDIR=$BATS_TEST_TMPDIR/tmp
  if [ -w /dev/shm ]; then TMPDIR=$(mktemp -d /dev/shm/railhead-test-XXXXXX); fi
  mkdir -p "$TMPDIR"
  fake_node "$root"
}

snapshot() { "$railhead" survey --root "$root" --snapshot "$tar"; }

teardown() { rm -rf "$TMPDIR"; }

# Nothing of ours is left in TMPDIR.
tidy() { [ -z "$(ls -A "$TMPDIR")" ]; }

# What one machine has and no other: none of it may be in the archive.
identify() {
  local dev=$root/sys/devices/pci0000:00/$PF0
  put "$dev/net/eth0/address" b8:ce:f6:12:34:56
  put "$dev/infiniband/mlx5_0/node_guid" b8ce:f603:0012:3456
  put "$dev/infiniband/mlx5_0/ports/1/gids/0" fe80:0000:0000:0000:b8ce:f603:0012:3456
  put "$dev/infiniband/mlx5_0/node_desc" "sharkbay mlx5_0"
  mkdir -p "$root/sys/class/infiniband"
  ln -s "../../devices/pci0000:00/$PF0/infiniband/mlx5_0" "$root/sys/class/infiniband/mlx5_0"
  printf '\x90\x15\x00PN\x07MCX715ASN\x08MT2214X7x' >"$dev/vpd"
  # a Device Serial Number capability: the MAC with fffe in its middle
  python3 -c '
import sys
c = bytearray(4096); c[0x100:0x104] = b"\x03\x00\x01\x00"; c[0x104:0x10c] = bytes.fromhex("563412fffef6ceb8")
open(sys.argv[1], "wb").write(c)' "$dev/config"
  put "$root/sys/class/dmi/id/product_serial" SER4711
  put "$root/sys/class/dmi/id/chassis_asset_tag" RACK12U7
  put "$root/sys/class/dmi/id/product_uuid" 4c4c4544-0035-5310-8042-b7c04f4e3233
  put "$root/proc/sys/kernel/hostname" sharkbay
  put "$root/proc/cmdline" "root=UUID=6d3f1f0a-1111-4bbb-8ccc-0123456789ab ro luks_password=hunter2"
}

@test "snapshot: holds no MAC, GUID, serial, UUID, secret or host name" {
  identify
  run -0 snapshot
  for secret in b8:ce:f6 b8ce:f603 MT2214X7x SER4711 RACK12U7 4c4c4544 6d3f1f0a hunter2 sharkbay 11111111-2222; do
    if grep -aqi "$secret" "$tar"; then echo "found $secret"; return 1; fi
  done
  run ! env LC_ALL=C grep -aqP '\x56\x34\x12\xff\xfe\xf6\xce\xb8' "$tar"
  # ... while what a profile may ask for is there
  grep -aq MCX715A "$tar"
  grep -aq "root=UUID=00000000-0000-0000-0000-000000000001 ro" "$tar"
  [ "$(tar xOf "$tar" "sys/devices/pci0000:00/$PF0/net/eth0/address")" = 02:00:00:00:00:01 ]
  [ "$(tar tf "$tar" | head -1)" = railhead-snapshot.json ]
}

@test "snapshot: arguments and parameters that hold a secret are left out, and no others" {
  local kept
  kept=(ro iommu.passthrough=1 usbcore.authorized_default=0 "crashkernel=512M-2G:64M,2G-:128M@16M" "memmap=1G@5G"
    pci=realloc=off "earlycon=uart8250,mmio32,0xfe215040" coreos.inst.ignition_url=http://10.0.0.2/a.ign 'x="a b=c"')
  printf '%s ' "${kept[@]:0:4}" \
    netroot=iscsi:USER:hunter2@192.0.2.1::::iqn.2009-06.test 'netroot="iscsi:USER:hunter2@192.0.2.1"' \
    inst.ks=http://u:hunter2@host/ks inst.ks=https://hunter2@host/ks root=cifs://u:hunter2@host/share \
    'ignition.config.url=https://host/a?sig=hunter2' 'talos.config=https://host/?a=b&token=hunter2' \
    rd.systemd.setenv=FOO=hunter2 talos.config.inline=hunter2 x=DHHC-1:00:hunter2: rd.zfs.pw=hunter2 rootpw=hunter2 \
    host-name=hunter2 rd.luks.options=tpm2-pin=hunter2 'x=http://host/#hunter2' x=//u:hunter2@host \
    systemd.setenv=API=hunter2 systemd.set_credential=a:hunter2 'ds=nocloud;s=http://host/;x=hunter2' \
    'ci.ds=hunter2' 'x="y password=hunter2"' '"root_pass=hunter2 b"' rd.iscsi.in.username=hunter2 wifi.PSK=hunter2 \
    'cc: password: hunter2 chpasswd: {hunter2: x} end_cc' "${kept[@]:4}" >"$root/proc/cmdline"
  put "$root/sys/module/cifs_x/parameters/password" hunter2
  put "$root/sys/module/cifs_x/parameters/Api_Token" hunter2
  put "$root/sys/module/nfs/parameters/nfs4_unique_id" hunter2
  put "$root/sys/module/cifs_x/parameters/proxy" u:hunter2@host:3128
  put "$root/proc/version" "Linux version 6.1.0 (hunter2@hunter2) (gcc) #1"
  put "$root/proc/sys/kernel/core_pattern" "|/usr/bin/x --token hunter2"
  put "$root/sys/module/usbcore/parameters/authorized_default" 3
  run -0 snapshot
  run ! grep -aqi hunter2 "$tar"
  [ "$(tar xOf "$tar" proc/cmdline)" = "${kept[*]}" ]
  [ "$(tar xOf "$tar" sys/module/usbcore/parameters/authorized_default)" = 3 ]
}

@test "snapshot: keeps the arguments of railhead's profiles, and a sysctl among the arguments" {
  local file args profile=$root/etc/railhead/profiles/sku.yaml
  args=$(for file in "$BATS_TEST_DIRNAME"/../profiles/*.yaml; do
    "$railhead" kargs --root "$root" --format=line --profile "$file" 2>/dev/null || :
  done | grep . | tr '\n' ' ')
  [ "$(wc -w <<<"$args")" -gt 20 ]
  args+="sysctl.kernel.keys.maxkeys=2000 video=DP:1920x1080@60"
  echo "$args" >"$root/proc/cmdline"
  put "$root/proc/sys/kernel/keys/maxkeys" 2000
  profile "$root" sku <<<'{schema: 1, name: sku, match: {dmi: {sys_vendor: Supermicro}},
    kernel_args: {set: [sysctl.kernel.keys.maxkeys=2000, "video=DP:1920x1080@60"]}}'
  run -0 snapshot
  [ "$(tar xOf "$tar" proc/cmdline)" = "$args" ]
  run -0 "$railhead" verify --all --root "$tar" --profile "$profile"
  [[ $output =~ same" "+kernel_args/arrived/sysctl.*same" "+kernel_args/arrived/video ]]
}

# systemd names netdevs by their MAC, rdma-core names RDMA devices by their GUID.
@test "snapshot: a MAC or GUID in a name is the number of the address, and plan finds the device" {
  local dev=$root/sys/devices/pci0000:00/$PF0 name=enx020000000001 profile=$root/etc/railhead/profiles/sku.yaml
  mv "$dev/net/eth0" "$dev/net/enxb8cef6031234"
  put "$dev/net/enxb8cef6031234/address" b8:ce:f6:03:12:34
  rm "$root/sys/class/net/eth0"
  ln -s "../../devices/pci0000:00/$PF0/net/enxb8cef6031234" "$root/sys/class/net/enxb8cef6031234"
  put "$dev/infiniband/rocexb8cef60300031234/node_guid" b8ce:f603:0003:1234
  mkdir -p "$root/sys/class/infiniband"
  ln -s "../../devices/pci0000:00/$PF0/infiniband/rocexb8cef60300031234" "$root/sys/class/infiniband/rocexb8cef60300031234"
  put "$root/proc/sys/net/ipv4/conf/enxb8cef6031234/rp_filter" 1
  ln -s self "$root/sys/class/net/wlxb8cef6031235"
  mkfifo "$dev/net/enxb8cef6031234/mtu"
  printf 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n%s\n' \
    $'enxb8cef6031234\t00000000\t0100000A\t0003\t0\t0\t0\t00000000' >"$root/proc/net.route"
  mkdir -p "$root/proc/net" && mv "$root/proc/net.route" "$root/proc/net/route"
  sriov_profile "$root" 4
  run -5 "$railhead" plan --json --root "$root"
  jq 'del(.. | .origin?, .profile_line?)' <<<"${output//enxb8cef6031234/$name}" >"$BATS_TEST_TMPDIR/tree"
  run -0 snapshot
  mkdir "$BATS_TEST_TMPDIR/unpacked"
  tar xf "$tar" -C "$BATS_TEST_TMPDIR/unpacked"
  run ! grep -aE 'b8:?ce:?f6' "$tar"
  cd "$BATS_TEST_TMPDIR/unpacked"
  [ "$(cat sys/class/net/$name/address)" = 02:00:00:00:00:01 ]
  [ "$(cat sys/class/infiniband/rocex0000000000000001/node_guid)" = 0000:0000:0000:0001 ]
  [ -e proc/sys/net/ipv4/conf/$name/rp_filter ]
  [ "$(jq -c .uplinks railhead-snapshot.json)" = "[\"$name\"]" ]
  grep -q "/net/$name/mtu: " railhead-unreadable.txt
  run -5 "$railhead" plan --json --root "$tar" --profile "$profile"
  jq 'del(.. | .origin?, .profile_line?)' <<<"$output" | diff "$BATS_TEST_TMPDIR/tree" -
}

@test "snapshot: match, plan, verify, survey and show say the same on it" {
  local profile=$root/etc/railhead/profiles/sku.yaml d
  sriov_profile "$root" 4
  # half of it is as wanted, some VFs exist
  put "$root/proc/sys/vm/swappiness" 10
  d=$root/sys/devices/pci0000:00
  put "$d/0000:41:00.1/vendor" 0x15b3
  put "$d/0000:41:00.1/device" 0x101e
  put "$d/0000:41:00.1/class" 0x020000
  ln -s "../$PF0" "$d/0000:41:00.1/physfn"
  ln -s "../0000:41:00.1" "$d/$PF0/virtfn0"
  ln -s "../../../devices/pci0000:00/0000:41:00.1" "$root/sys/bus/pci/devices/0000:41:00.1"
  run -0 snapshot
  for verb in plan verify; do
    # by the search path of the tree, and by --profile on the archive
    run -5 "$railhead" $verb --json --root "$root"
    jq 'del(.. | .origin?, .profile_line?)' <<<"$output" >"$BATS_TEST_TMPDIR/tree"
    run -5 "$railhead" $verb --json --root "$tar" --profile "$profile"
    jq 'del(.. | .origin?, .profile_line?)' <<<"$output" >"$BATS_TEST_TMPDIR/archive"
    diff "$BATS_TEST_TMPDIR/tree" "$BATS_TEST_TMPDIR/archive"
  done
  [ "$(jq '.changes | length' "$BATS_TEST_TMPDIR/tree")" -gt 10 ]
  "$railhead" survey --json --root "$root" >"$BATS_TEST_TMPDIR/tree"
  "$railhead" survey --json --root "$tar" >"$BATS_TEST_TMPDIR/archive"
  diff "$BATS_TEST_TMPDIR/tree" "$BATS_TEST_TMPDIR/archive"
  tidy
}

@test "snapshot: kernel arguments are shown; that its boot loader is not there is said" {
  put "$root/proc/cmdline" "root=/dev/vda2 ro iommu=pt"
  profile "$root" sku <<<'{schema: 1, name: sku, match: {dmi: {sys_vendor: Supermicro}}, kernel_args: {set: [iommu=pt, nosmt]}}'
  run -0 snapshot
  run -9 "$railhead" kargs --root "$tar" --profile "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *nosmt*"has no /boot"* ]]
  run -5 "$railhead" plan --root "$tar" --profile "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *"unsupported kernel_args/next_boot"*"has no /boot"* ]]
}

@test "snapshot: has the files of netdevs that a profile's keys are about" {
  local names="gro_flush_timeout mtu napi_defer_hard_irqs threaded tx_queue_len"
  for name in $names; do
    put "$root/sys/devices/pci0000:00/$PF0/net/eth0/$name" 1
  done
  run -0 snapshot
  for name in $names; do
    [ "$(tar xOf "$tar" "sys/devices/pci0000:00/$PF0/net/eth0/$name")" = 1 ]
  done
}

@test "snapshot: of a snapshot is the same again" {
  identify
  run -0 snapshot
  run -0 "$railhead" survey --root "$tar" --snapshot "$tar.2"
  tar tf "$tar" | sort >"$BATS_TEST_TMPDIR/a"
  tar tf "$tar.2" | sort >"$BATS_TEST_TMPDIR/b"
  diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
}

@test "snapshot: a large node is captured and read with little work" {
  large_node "$root"
  ulimit -S -t 20 # seconds of CPU time; a second is enough
  run -0 "$railhead" survey --root "$root" --snapshot "$tar"
  run -0 "$railhead" survey --json --root "$tar"
  [ "$(jq '.pci | length' <<<"$output")" = 256 ]
}

@test "snapshot: a command line that is all separators is judged with little work" {
  python3 -c 'print("=//a:,?%2" * 100000, end="")' >"$root/proc/cmdline"
  ulimit -S -t 20 # seconds of CPU time; a second is enough
  run -0 snapshot
}

@test "snapshot: replaces FILE whole or not at all, readable by its owner alone" {
  echo old >"$tar"
  run -0 snapshot
  [ "$(stat -c %a "$tar")" = 600 ]
  tar tf "$tar" >/dev/null
  run -1 "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/absent/x.tar"
  [[ $output == *"absent/x.tar"*"No such file"* ]]
  [ "$(ls "$BATS_TEST_TMPDIR" | grep -c 'node.tar')" = 1 ]
}

@test "snapshot: - is stdout" {
  "$railhead" survey --root "$root" --snapshot - 2>/dev/null | tar t | grep -q '^proc/cmdline$'
}

@test "snapshot: what only root can read is counted, and the rest is captured" {
  chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
  chmod 600 "$root/proc/cmdline"
  run -0 --separate-stderr setpriv --reuid 65534 --clear-groups "$railhead" survey --root "$root" --snapshot -
  [[ $stderr == *"permission to read 1 files is missing; run railhead as root"* ]]
}

@test "archive: gzip, bzip2 and xz, and a tree inside one directory" {
  (cd "$BATS_TEST_TMPDIR" && tar cf "$tar" root)
  "$railhead" survey --root "$root" >"$BATS_TEST_TMPDIR/want"
  for tool in gzip bzip2 xz; do
    $tool <"$tar" >"$tar.$tool"
    "$railhead" survey --root "$tar.$tool" | diff - "$BATS_TEST_TMPDIR/want"
  done
  tidy
}

@test "archive: verbs that write refuse it" {
  run -0 snapshot
  for verb in apply gate "kargs --reset"; do
    # shellcheck disable=SC2086
    run -2 "$railhead" $verb --root "$tar"
    [[ $output == *"is not a directory; unpack the archive"* ]]
  done
  tidy
}

@test "archive: a file that is none, a cut one, an empty one" {
  echo 'schema: 1' >"$BATS_TEST_TMPDIR/x.yaml"
  run -2 "$railhead" survey --root "$BATS_TEST_TMPDIR/x.yaml"
  [[ $output == *"x.yaml: neither a directory nor a tar archive"* ]]
  run -0 snapshot
  head -c 20000 "$tar" >"$BATS_TEST_TMPDIR/cut.tar"
  run -2 "$railhead" survey --root "$BATS_TEST_TMPDIR/cut.tar"
  [[ $output == *"cut.tar: "*"Truncated"* ]]
  tar cf "$BATS_TEST_TMPDIR/none.tar" -C "$BATS_TEST_TMPDIR" x.yaml
  run -2 "$railhead" survey --root "$BATS_TEST_TMPDIR/none.tar"
  [[ $output == *"holds neither proc/ nor sys/"* ]]
  tidy
}

@test "archive: entries that escape or are no captured file are refused by name" {
  cat >"$BATS_TEST_TMPDIR/make.py" <<'P'
import io, sys, tarfile
R, L, H, C, F = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE
out = sys.argv[2]
bad = {
    "dotdot": [("proc/../../x", R, "")], "absolute": [("/proc/x", R, "")],
    "through": [("proc", L, out), ("proc/x", R, "")], "hard": [("proc/a", R, ""), ("proc/b", H, "proc/a")],
    "device": [("proc/null", C, "")], "fifo": [("proc/f", F, "")], "long": [("proc/" + "a" * 300, R, "")],
}[sys.argv[1]]
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as t:
    for name, kind, link in bad:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        t.addfile(info, io.BytesIO(b""))
P
  mkdir "$BATS_TEST_TMPDIR/outside"
  python3 -c '
import sys, tarfile
d = tarfile.TarInfo("proc"); d.type = tarfile.DIRTYPE
sys.stdout.buffer.write(d.tobuf() * 300001 + bytes(1024))' >"$tar"
  run -2 timeout 300 "$railhead" survey --root "$tar"
  [[ $output == *"more than 300000 entries"* ]]
  for what in dotdot:"'..'" absolute:absolute through:link hard:"hard link" device:"neither file" fifo:"neither file" long:"too long"; do
    python3 "$BATS_TEST_TMPDIR/make.py" "${what%%:*}" "$BATS_TEST_TMPDIR/outside" >"$tar"
    run -2 timeout 300 "$railhead" survey --root "$tar"
    [[ $output == *"${what#*:}"* ]]
  done
  [ -z "$(ls -A "$BATS_TEST_TMPDIR/outside")" ]
  tidy
}

@test "archive: one that grows without end is given up" {
  mkdir "$BATS_TEST_TMPDIR/proc"
  truncate -s 300M "$BATS_TEST_TMPDIR/proc/big"
  tar czf "$tar" -C "$BATS_TEST_TMPDIR" proc
  run -2 timeout 300 "$railhead" survey --root "$tar"
  [[ $output == *"more than 256 MiB"* ]]
  tidy
}

@test "archive: a snapshot of a newer railhead says so" {
  mkdir "$BATS_TEST_TMPDIR/proc"
  echo '{"format": 2}' >"$BATS_TEST_TMPDIR/railhead-snapshot.json"
  tar cf "$tar" -C "$BATS_TEST_TMPDIR" railhead-snapshot.json proc
  run -2 "$railhead" survey --root "$tar"
  [[ $output == *"format 2; this railhead reads 1..1; upgrade"* ]]
}

@test "archive: without libarchive the error says what to install, the rest works" {
  run -0 snapshot
  mkdir "$BATS_TEST_TMPDIR/lib"
  : >"$BATS_TEST_TMPDIR/lib/libarchive.so.13"
  export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib
  run -1 "$railhead" survey --root "$tar"
  [[ $output == *"install libarchive13"*"give the directory"* ]]
  run -1 snapshot
  [[ $output == *"install libarchive13"* ]]
  run -0 "$railhead" survey --root "$root"
  tidy
}

@test "archive: what was unpacked goes even when railhead is killed" {
  run -0 snapshot
  mkfifo "$BATS_TEST_TMPDIR/pipe"
  # more than a pipe holds, so that it is still there when it is killed
  "$railhead" survey --root "$tar" --snapshot - >"$BATS_TEST_TMPDIR/pipe" 2>/dev/null 3>&- &
  exec 5<"$BATS_TEST_TMPDIR/pipe"
  head -c 1 <&5 >/dev/null
  run ! tidy
  kill -9 $!
  wait $! || :
  exec 5<&-
  eventually tidy || {
    ls -lR "$TMPDIR"
    return 1
  }
}

@test "an archive of paths deeper than any of sysfs is refused, and nothing of it stays" {
  local path deep long
  deep=$(printf 'a/%.0s' {1..2040})f
  long=$(printf '%0250d/' {1..16})f
  mkdir "$BATS_TEST_TMPDIR/scratch"
  for path in "$deep" "$long" "$(printf 'a/%.0s' {1..64})f"; do
    python3 - "$BATS_TEST_TMPDIR/deep.tar" "$path" <<'P'
import sys, tarfile
with tarfile.open(sys.argv[1], "w", format=tarfile.PAX_FORMAT) as tar:
    tar.addfile(tarfile.TarInfo("proc/cmdline"))
    tar.addfile(tarfile.TarInfo(sys.argv[2]))
P
    TMPDIR=$BATS_TEST_TMPDIR/scratch run ! "$railhead" survey --root "$BATS_TEST_TMPDIR/deep.tar"
    [[ $output == *"its path is too long"* ]]
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/scratch")" ]
  done
}
