#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The section block on a machine that is a directory tree: which disks a set has, which of them
# carries the running system, and what is written to which queue.

bats_require_minimum_version 1.5.0
load lib/disks
load lib/fakenode
load lib/simnode

DATA=0000:01:00.0 BOOT=0000:02:00.0 HBA=0000:03:00.0

# Two drives of NVMe, of which the second carries / on a partition, and two disks of one controller.
setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  mkdir -p "$root/proc/self"
  controller $DATA nvme 0x010802
  controller $BOOT nvme 0x010802
  controller $HBA megaraid_sas 0x010400
  disk nvme0n1 259:0 "pci0000:00/$DATA/nvme/nvme0"
  disk nvme1n1 259:1 "pci0000:00/$BOOT/nvme/nvme1"
  partition nvme1n1p2 259:3 "pci0000:00/$BOOT/nvme/nvme1/nvme1n1"
  disk sda 8:0 "pci0000:00/$HBA/host0/target0:2:0/0:2:0:0/block"
  disk sdb 8:16 "pci0000:00/$HBA/host0/target0:2:1/0:2:1:0/block"
  mounted "22 1 259:3 / / rw shared:1 - ext4 /dev/nvme1n1p2 rw"
}

teardown() { sim_stop; }

# The tree behind the rules of the script: tests/simnode/script.c.
behind() { # SCRIPT
  sim=$BATS_TEST_TMPDIR/sim
  mkdir -p "$sim"
  mv "$root" "$sim/node"
  sim_start <<<"$1"
}

queue() { # DISK FILE
  cat "$root/sys/block/$1/queue/$2"
  echo
}

sections() { # YAML
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {drives: {driver: nvme}, hba: {driver: megaraid_sas}}
$1
Y
}

apply() { # EXIT
  run "-$1" "$railhead" apply --root "$root" --stage devices
}

@test "block: a set of all drives is set, the one that carries the system is left alone and named" {
  sections 'block: {drives: {scheduler: none, nr_requests: 512, wbt_latency: 0us, read_ahead: 4M, rq_affinity: 2, nomerges: 1}}'
  apply 0
  [ "$(queue nvme0n1 scheduler)" = none ]
  [ "$(queue nvme0n1 nr_requests)" = 512 ]
  [ "$(queue nvme0n1 wbt_lat_usec)" = 0 ]
  [ "$(queue nvme0n1 read_ahead_kb)" = 4096 ]
  [ "$(queue nvme0n1 rq_affinity)" = 2 ]
  [ "$(queue nvme0n1 nomerges)" = 1 ]
  [[ "$(queue nvme1n1 scheduler)" == "[mq-deadline] kyber none"* ]]
  [[ "$(queue nvme1n1 nr_requests)" == 256* ]]
  [[ "$(queue sda scheduler)" == "[mq-deadline] kyber none"* ]]
  run -0 "$railhead" plan --root "$root" --stage devices --all
  [[ $output == *"block/$BOOT/scheduler"*"nvme1n1 left as it is, because it carries / of the running system; write block.SET.system_disk: true"* ]]
}

@test "block: a second run opens no queue for writing, and values are compared, not texts" {
  sections 'block: {drives: {scheduler: mq-deadline, nr_requests: 256, read_ahead: 128K, wbt_latency: 2ms}}'
  run -0 strace -f -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" \
    "$railhead" apply --root "$root" --stage devices
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/trace" | grep queue)" ]
}

@test "block: system_disk: true has it set as well" {
  sections 'block: {drives: {scheduler: none, system_disk: true}}'
  apply 0
  [ "$(queue nvme0n1 scheduler)" = none ]
  [ "$(queue nvme1n1 scheduler)" = none ]
}

@test "block: of a controller with several disks only the one below / is left alone" {
  partition sda1 8:1 "pci0000:00/$HBA/host0/target0:2:0/0:2:0:0/block/sda"
  mounted "22 1 8:1 / / rw - ext4 /dev/sda1 rw"
  sections 'block: {hba: {scheduler: none}}'
  apply 0
  [[ "$(queue sda scheduler)" == "[mq-deadline] kyber none"* ]]
  [ "$(queue sdb scheduler)" = none ]
  run -0 "$railhead" plan --root "$root" --stage devices --json
  [[ $output == *"sda left as it is, because it carries / of the running system"* ]]
}

@test "block: a system on LVM over md is found through its slaves, and so is /boot elsewhere" {
  local volume=$root/sys/devices/virtual/block/dm-0 array=$root/sys/devices/virtual/block/md0
  put "$volume/dev" 253:0
  put "$array/dev" 9:0
  place_disk dm-0 253:0 virtual/block/dm-0
  place_disk md0 9:0 virtual/block/md0
  mkdir -p "$volume/slaves/md0" "$array/slaves/nvme1n1p2"
  mounted "22 1 253:0 / / rw - xfs /dev/mapper/vg-root rw" \
    "23 22 8:16 / /boot rw - ext4 /dev/sdb rw"
  sections 'block: {drives: {scheduler: none}, hba: {scheduler: none}}'
  apply 0
  [ "$(queue nvme0n1 scheduler)" = none ]
  [ "$(queue sda scheduler)" = none ]
  [[ "$(queue nvme1n1 scheduler)" == "[mq-deadline]"* ]]
  [[ "$(queue sdb scheduler)" == "[mq-deadline]"* ]]
}

@test "block: btrfs has all its devices left alone, an overlay has none" {
  mkdir -p "$root/sys/fs/btrfs/11-22/devices/nvme1n1p2" "$root/sys/fs/btrfs/11-22/devices/sdb"
  mounted "22 1 0:29 /@ / rw - btrfs /dev/nvme1n1p2 rw" "23 22 0:30 / /usr rw - overlay overlay rw"
  sections 'block: {drives: {scheduler: none}, hba: {scheduler: none}}'
  apply 0
  [ "$(queue nvme0n1 scheduler)" = none ]
  [ "$(queue sda scheduler)" = none ]
  [[ "$(queue nvme1n1 scheduler)" == "[mq-deadline]"* ]]
  [[ "$(queue sdb scheduler)" == "[mq-deadline]"* ]]
}

@test "block: where nobody can tell which disk carries the system, none is set" {
  sections 'block: {drives: {scheduler: none}}'
  mounted "22 1 0:29 / / rw - zfs rpool/root rw"
  apply 6
  [[ $output == *"cannot find the disks that carry / (rpool/root of zfs)"* ]]
  [[ "$(queue nvme0n1 scheduler)" == "[mq-deadline]"* ]]
  rm "$root/proc/self/mountinfo"
  apply 6
  [[ $output == *"/proc/self/mountinfo can't be read"* ]]
  [[ "$(queue nvme0n1 scheduler)" == "[mq-deadline]"* ]]
  sections 'block: {drives: {scheduler: none, system_disk: true}}'
  apply 0
  [ "$(queue nvme0n1 scheduler)" = none ]
}

@test "block: with multipath the path has the queue and the head the read-ahead" {
  local head=$root/sys/devices/virtual/nvme-subsystem/nvme-subsys5/nvme5n1
  disk nvme5c7n1 259:9 "pci0000:00/$DATA/nvme/nvme7"
  put "$head/dev" 259:8
  put "$head/queue/read_ahead_kb" 128
  place_disk nvme5n1 259:8 virtual/nvme-subsystem/nvme-subsys5/nvme5n1
  sections 'block: {drives: {scheduler: none, read_ahead: 1M}}'
  apply 0
  [ "$(queue nvme5c7n1 scheduler)" = none ]
  [[ "$(queue nvme5c7n1 read_ahead_kb)" == 128* ]]
  [ "$(queue nvme5n1 read_ahead_kb)" = 1024 ]
  [ ! -e "$head/queue/scheduler" ]

  # the head that carries / keeps its paths out as well
  mounted "22 1 259:8 / / rw - xfs /dev/nvme5n1 rw"
  sections 'block: {drives: {scheduler: kyber, read_ahead: 2M}}'
  apply 0
  [ "$(queue nvme0n1 scheduler)" = kyber ]
  [ "$(queue nvme5c7n1 scheduler)" = none ]
  [ "$(queue nvme5n1 read_ahead_kb)" = 1024 ]
}

@test "block: a controller without a disk waits for one, and says what to look for" {
  rm -r "$root/$DEVICES/$DATA/nvme" "$root/sys/block/nvme0n1"
  sections 'block: {drives: {scheduler: none}}'
  run -0 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"1 waiting"* ]]
  run -5 "$railhead" plan --root "$root" --stage devices
  [[ $output == *"waits "*"block/$DATA/scheduler"*"$DATA has no disk (yet): is its driver bound"* ]]
}

@test "block: a key that the driver lacks fails, unless it is optional; an optical drive is no disk" {
  rm "$root/sys/block/nvme0n1/queue/wbt_lat_usec"
  disk sr0 11:0 "pci0000:00/$HBA/host0/target0:3:0/0:3:0:0/block"
  mkdir -p "$root/sys/block/sr0/device"
  put "$root/sys/block/sr0/device/type" 5
  sections 'block: {drives: {wbt_latency: 0us}, hba: {scheduler: none}}'
  apply 6
  [[ $output == *"nvme0n1 ($DATA): its driver, or this kernel, offers no queue/wbt_lat_usec"* ]]
  [[ "$(queue sr0 scheduler)" == "[mq-deadline]"* ]]
  [ "$(queue sda scheduler)" = none ]
  sections 'block: {drives: {wbt_latency: 0us, optional: [wbt_latency]}}'
  apply 0
}

@test "block: io_poll is judged and never set" {
  sections 'block: {drives: {io_poll: true}}'
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"block/$DATA/io_poll"*"nvme: {poll_queues: N}"* ]]
  put "$root/sys/block/nvme0n1/queue/io_poll" 1
  run -0 "$railhead" verify --root "$root"
}

@test "block: a line of sysfs that wants otherwise of one queue is a conflict, and neither is set" {
  sections 'block: {drives: {scheduler: none}}
sysfs: {/sys/block/nvme0n1/queue/scheduler: kyber}'
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"block/$DATA/scheduler"*"drop one of the two"* ]]
  [[ "$(queue nvme0n1 scheduler)" == "[mq-deadline]"* ]]
}

@test "block: a scheduler that the kernel lacks, and more requests than the hardware has, are named with what there is" {
  put "$root/sys/block/nvme0n1/queue/scheduler" "[none] mq-deadline"
  put "$root/sys/block/nvme0n1/mq/0/nr_tags" 1023
  sections 'block: {drives: {scheduler: none, nr_requests: 4096}}'
  behind 'at /sys/*/queue/nr_requests write error EINVAL
at /sys/*/queue/scheduler write error EINVAL'
  apply 6
  [[ $output == *"nvme0n1: 4096 requests are too many, because without a scheduler the queue has at most the 1023 of the hardware"* ]]
  sim_stop
  root=$sim/node
  sections 'block: {drives: {scheduler: kyber, nr_requests: 1024}}'
  sim_start <<<'at /sys/*/queue/nr_requests write error EINVAL
at /sys/*/queue/scheduler write error EINVAL'
  apply 6
  [[ $output == *"nvme0n1: this kernel has no scheduler kyber (no module kyber-iosched); expected one of: none, mq-deadline"* ]]
}

@test "block: the scheduler is set before what depends on it" {
  sections 'block: {drives: {read_ahead: 1M, wbt_latency: 0us, nr_requests: 512, scheduler: none}}'
  behind ''
  apply 0
  run -0 grep -o 'write .*/queue/[a-z_]*' "$sim/log"
  [ "${lines[0]##*/}" = scheduler ]
}
