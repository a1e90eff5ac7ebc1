#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# mounts: the units that systemd gets, and what /proc/self/mountinfo says against the profile. No
# file system is mounted here: tests/vm/cases/mounts.py does that.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  mkdir -p "$root/run/systemd/system"
  mountinfo <<<"25 1 253:2 / / rw,relatime - ext4 /dev/vda2 rw"
}

mountinfo() { put "$root/proc/self/mountinfo" "$(cat)"; }

sku() { # the map of mounts from stdin
  profile "$root" sku <<<$'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\nmounts:\n'"$(sed 's/^/  /')"
}

unit() { grep -v '^#' "$root/run/systemd/system/$1"; }

# "STATE OBSERVED" of a mount, as verify sees it.
seen() { # PATH
  "$railhead" verify --json --root "$root" |
    jq -r --arg id "mounts$1" '.changes[] | select(.id == $id) | .state + " " + (.observed // "")'
}

@test "mounts: a unit for each, with the order that its file system needs" {
  sku <<'Y'
/dev/hugepages1G: {type: hugetlbfs, pagesize: 1G, size: 64G, min_size: 2G, gid: 1000, mode: 1770}
/mnt/ai-data: {type: nfs, what: "server:/export/50%", proto: rdma, port: 20049, rsize: 1M, nconnect: 16, options: hard, timeout: 20s}
/mnt/scratch: {type: xfs, what: /dev/disk/by-label/scratch, options: noatime}
Y
  run -0 "$railhead" apply --stage initrd --root "$root"
  [ "$(unit 'dev-hugepages1G.mount')" = "[Unit]
Description=railhead: /dev/hugepages1G
DefaultDependencies=no
Conflicts=umount.target
Before=umount.target
After=local-fs-pre.target

[Mount]
What=hugetlbfs
Where=/dev/hugepages1G
Type=hugetlbfs
Options=pagesize=1G,size=64G,min_size=2G,gid=1000,mode=1770
TimeoutSec=30000ms" ]
  [[ $(unit 'mnt-ai\x2ddata.mount') == *"After=network-online.target remote-fs-pre.target network.target
"*"What=server:/export/50%%
Where=/mnt/ai-data
Type=nfs
Options=proto=rdma,port=20049,nconnect=16,rsize=1048576,hard,retry=0
TimeoutSec=20000ms" ]]
  [[ $(unit 'railhead-mount-mnt-ai\x2ddata.service') == *"Type=exec"*"RuntimeMaxSec=680000ms" ]]
  [[ $(unit mnt-scratch.mount) == *"After=local-fs-pre.target"*"Options=noatime"* ]]
  [ ! -e "$root/run/systemd/system/railhead-mount-mnt-scratch.service" ]
  run -0 "$railhead" apply --stage initrd --root "$root"
  [[ $output == *"0 set"* ]]
}

@test "mounts: the names of units are systemd's" {
  sku <<'Y'
/mnt/a.b_c+d@e:f: {type: tmpfs}
/mnt/.hidden: {type: tmpfs, size: 1G}
/mnt/n-f-s: {type: nfs, what: "server:/x"}
Y
  run -0 "$railhead" apply --stage initrd --root "$root"
  for path in /mnt/a.b_c+d@e:f /mnt/.hidden /mnt/n-f-s; do
    [ -e "$root/run/systemd/system/$(systemd-escape -p --suffix=mount -- "$path")" ]
  done
}

@test "mounts: what is mounted holds, in the kernel's own words" {
  sku <<'Y'
/dev/shm: {type: tmpfs, size: 64M}
/dev/hugepages1G: {type: hugetlbfs, pagesize: 1G, size: 4G, min_size: 2G, uid: 0, gid: 1000, mode: 1770}
/mnt/data: {type: nfs, what: "server:/export/", proto: rdma, port: 20049, vers: 4.2, nconnect: 4, rsize: 1M}
/mnt/old: {type: nfs4, what: "server:/old", options: "rdma,hard,rsize=65536"}
/mnt/six: {type: nfs, what: "[fe80::1]:/six", options: "vers=4,proto=rdma"}
/mnt/half: {type: tmpfs, options: "size=50%,uid=nobody"}
Y
  mountinfo <<'M'
25 1 253:2 / / rw,relatime - ext4 /dev/vda2 rw
26 25 0:23 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw,size=65536k,inode64
27 25 0:24 / /dev/hugepages1G rw,relatime - hugetlbfs hugetlbfs rw,gid=1000,mode=1770,pagesize=1024M,size=4294967296,min_size=2147483648
28 25 0:50 / /mnt/data rw,relatime - nfs4 server:/export rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=rdma,nconnect=4,port=20049,timeo=600
29 25 0:51 / /mnt/old rw,relatime - nfs4 server:/old rw,vers=4.2,rsize=65536,wsize=65536,hard,proto=rdma,port=20049
30 25 0:52 / /mnt/six rw,relatime - nfs4 [fe80::1]:/six rw,vers=4.1,proto=rdma6,port=20049
31 25 0:53 / /mnt/half rw,relatime - tmpfs tmpfs rw,size=8192k,uid=65534
M
  for path in /dev/shm /dev/hugepages1G /mnt/data /mnt/old /mnt/six /mnt/half; do
    [[ $(seen "$path") == "same "* ]] || { seen "$path"; false; }
  done
}

@test "mounts: each thing that is otherwise is named" {
  sku <<'Y'
/dev/shm: {type: tmpfs, size: 64G}
/mnt/a: {type: nfs, what: "server:/export", proto: rdma, port: 20049, rsize: 1M}
/mnt/b: {type: xfs, what: /dev/sda2}
/mnt/c: {type: tmpfs}
/mnt/d: {type: tmpfs, optional: true}
/mnt/dd: {type: tmpfs, size: 1M, optional: true}
/mnt/de: {type: ext4, what: /dev/sda7, optional: true}
/mnt/df: {type: nfs, what: "server:/f", optional: true}
/mnt/e: {type: hugetlbfs, pagesize: 2M, mode: 700}
/mnt/f: {type: ext4, what: /dev/sda3}
/mnt/g: {type: ext4, what: /dev/sda4, options: "ro,noatime"}
/mnt/h: {type: squashfs, what: /dev/sda5}
/mnt/i: {type: ext4, what: /dev/sda6, options: noatime}
Y
  mountinfo <<'M'
25 1 253:2 / / rw,relatime - ext4 /dev/vda2 rw
26 25 0:23 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw,inode64
27 25 0:50 / /mnt/a rw,relatime - nfs4 server:/other rw,vers=4.2,rsize=262144,proto=tcp
28 25 0:51 / /mnt/b rw,relatime - nfs4 server:/export rw,vers=4.2,proto=tcp
29 25 0:52 / /mnt/e rw,relatime - hugetlbfs hugetlbfs rw,pagesize=1024M
30 25 0:52 / /mnt/e\040f rw,relatime - tmpfs tmpfs rw
31 25 8:3 / /mnt/f rw,relatime - ext4 /dev/sda3 ro,errors=remount-ro
32 25 8:4 / /mnt/g ro,noatime - ext4 /dev/sda4 ro
33 25 8:5 / /mnt/h ro,relatime - squashfs /dev/sda5 ro
34 25 8:6 / /mnt/i rw,noatime - ext4 /dev/sda6 rw,errors=remount-ro
35 25 0:51 / /mnt/dd rw,relatime - nfs4 server:/export rw,vers=4.2,proto=tcp
36 25 8:7 / /mnt/de rw,relatime - ext4 /dev/sda7 ro,errors=remount-ro
37 25 0:53 / /mnt/df rw,relatime - autofs systemd-1 rw,fd=29
M
  [ "$(seen /dev/shm)" = "differs no size" ]
  [ "$(seen /mnt/a)" = "differs server:/other proto=tcp no port rsize=262144" ]
  [ "$(seen /mnt/b)" = "differs nfs4 server:/export" ]
  [ "$(seen /mnt/c)" = "differs not mounted" ]
  [ "$(seen /mnt/d)" = "unsupported not mounted" ]
  # optional is whether it may be missing
  [ "$(seen /mnt/dd)" = "differs nfs4 no size" ]
  [ "$(seen /mnt/de)" = "differs ro" ]
  [ "$(seen /mnt/df)" = "unsupported not mounted" ] # an automount that nobody has used yet
  [ "$(seen /mnt/e)" = "differs pagesize=1024M no mode" ]
  [ "$(seen /mnt/f)" = "differs ro" ]
  [[ $(seen /mnt/g) == "same "* && $(seen /mnt/h) == "same "* && $(seen /mnt/i) == "same "* ]]
}

@test "mounts: the last mount over a directory counts; a tree without a table says nothing" {
  sku <<<'/mnt/c: {type: tmpfs, size: 1M}'
  mountinfo <<'M'
25 1 253:2 / / rw,relatime - ext4 /dev/vda2 rw
26 25 0:23 / /mnt/c rw - tmpfs tmpfs rw,size=1024k
27 26 0:24 / /mnt/c rw - nfs4 s:/x rw,vers=4.2
M
  [ "$(seen /mnt/c)" = "differs nfs4 no size" ]
  rm "$root/proc/self/mountinfo"
  [ "$(seen /mnt/c)" = "unsupported " ]
  run -0 "$railhead" apply --root "$root"
}

@test "mounts: of a tree nothing is mounted, and apply says so" {
  sku <<<'/mnt/c: {type: tmpfs}'
  run -0 "$railhead" apply --json --stage early --root "$root"
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"mounts/mnt/c"*"not mounted"* ]]
}
