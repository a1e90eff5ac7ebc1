#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# limits: the files that give them to services and logins, and the processes that have them.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/usr/lib/systemd/system/containerd.service" "[Service]"
  put "$root/etc/systemd/system/kubelet.service" "[Service]"
  mkdir -p "$root/run/systemd/system" "$root/etc/security"
  sku 'memlock: unlimited, nofile: 1048576, nproc: unlimited, rtprio: 50'
}

sku() { # LIMITS
  profile "$root" sku <<<$'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\n'"limits: {$1}"
}

services=run/systemd/system.conf.d/zz-railhead-limits.conf
logins=etc/security/limits.d/zz-railhead.conf
drop_in() { echo "run/systemd/system/$1.d/zz-railhead-limits.conf"; }

apply() {
  "$railhead" apply --stage initrd --root "$root" && "$railhead" apply --stage early --root "$root"
}

# A process of a unit, or of a group below it.
process() { # UNIT[/GROUP...] PID MEMLOCK NOFILE
  local dir=$root/sys/fs/cgroup/system.slice/$1
  mkdir -p "$dir"
  echo "$2" >>"$dir/cgroup.procs"
  put "$root/proc/$2/comm" worker
  printf '%-26s%-21s%-21s%s\n' Limit "Soft Limit" "Hard Limit" Units \
    "Max processes" unlimited unlimited processes "Max open files" "$4" "$4" files \
    "Max locked memory" "$3" "$3" bytes "Max realtime priority" 50 50 "" >"$root/proc/$2/limits"
}

@test "limits: services by default, the installed runtimes, and logins; a second run writes nothing" {
  run -0 apply
  [ "$(grep -v '^#' "$root/$services")" = "[Manager]
DefaultLimitMEMLOCK=infinity
DefaultLimitNOFILE=1024:1048576
DefaultLimitNPROC=infinity
DefaultLimitRTPRIO=50" ]
  for unit in containerd.service kubelet.service; do
    [ "$(grep -v '^#' "$root/$(drop_in "$unit")")" = "[Service]
LimitMEMLOCK=infinity
LimitNOFILE=1048576
LimitNPROC=infinity
LimitRTPRIO=50" ]
  done
  [ ! -e "$root/$(drop_in docker.service)" ]
  [ "$(grep -v '^#' "$root/$logins")" = "* - memlock unlimited
root - memlock unlimited
* - nofile 1048576
root - nofile 1048576
* - nproc unlimited
root - nproc unlimited
* - rtprio 50
root - rtprio 50" ]
  run -0 apply
  [[ $output == *"0 set"*"0 set"* ]]
  ids() { jq -r '.changes[].id' | sort; }
  [ "$("$railhead" plan --json --root "$root" | ids)" = "$("$railhead" verify --json --root "$root" | ids)" ]
}

@test "limits: sizes are bytes for systemd, and KiB for logins" {
  sku 'memlock: 64G, units: []'
  run -0 apply
  grep -qx 'DefaultLimitMEMLOCK=68719476736' "$root/$services"
  grep -qx -F '* - memlock 67108864' "$root/$logins"
  [ ! -e "$root/$(drop_in containerd.service)" ]
}

@test "limits: a profile without them, or with others, takes away what another profile left" {
  run -0 apply
  sku 'nofile: 4096, units: [slurmd.service], logins: false'
  run -0 apply
  [ ! -e "$root/$(drop_in containerd.service)" ]
  [ ! -e "$root/$logins" ]
  grep -qx LimitNOFILE=4096 "$root/$(drop_in slurmd.service)"
  run -0 "$railhead" verify --stage early --root "$root"
  profile "$root" sku <<<$'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}'
  run -0 apply
  [ ! -e "$root/$services" ]
  [ ! -e "$root/$(drop_in slurmd.service)" ]
  run -0 "$railhead" plan --json --root "$root"
  [ "$(jq '[.changes[] | select(.step == "limits")] | length' <<<"$output")" -eq 0 ]
}

@test "limits: the processes that run are looked at, those of containers too" {
  run -0 apply
  process containerd.service 101 unlimited 1048576
  process containerd.service/pod/task 102 unlimited 1048576
  process kubelet.service 103 8388608 524288
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"limits/kubelet.service/memlock"*"8M"*"process 103 (worker) of kubelet.service"*LimitMEMLOCK=infinity* ]]
  [[ $output == *"limits/kubelet.service/nofile"*524288*LimitNOFILE=1048576* ]]
  [[ $output != *"limits/containerd.service"*differs* ]]
  process containerd.service/pod/task 104 unlimited 1024
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"limits/containerd.service/nofile"*"process 104 (worker)"* ]]
}

@test "limits: a unit that does not run holds nothing up, nor do the defaults of another machine" {
  run -0 apply
  run -0 "$railhead" verify --json --root "$root"
  jq -e '.changes[] | select(.id == "limits/kubelet.service/memlock") | .state == "unsupported"' <<<"$output"
  jq -e '.changes[] | select(.id == "limits/services/nofile") | .state == "unsupported"' <<<"$output"
}

@test "limits: where /etc can't be written the change fails by name, and the rest is done" {
  rm -rf "$root/etc/security"
  ln -s /proc/nowhere "$root/etc/security"
  run -6 apply
  [ -e "$root/$services" ]
  run "$railhead" apply --stage early --root "$root"
  [[ $output == *"limits/logins"*failed* ]]
}

@test "limits: what lasts beyond a boot goes where no profile is applied, and with the package" {
  run -0 apply
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz railhead=off"
  run -0 "$railhead" apply --stage early --root "$root"
  [ ! -e "$root/$logins" ]
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz"
  run -0 apply
  [ -e "$root/$logins" ]
  put "$root/sys/class/dmi/id/sys_vendor" Other
  run -4 "$railhead" apply --stage early --root "$root"
  [ ! -e "$root/$logins" ]
  grep -q "$logins" packaging/deb/debian/railhead.postrm
  grep -q "${logins#etc/}" packaging/rpm/railhead.spec
}

@test "limits: instances of a template are looked at, and their own soft limits are theirs" {
  sku 'memlock: unlimited, nofile: 65536, units: ["slurmd@.service"]'
  put "$root/usr/lib/systemd/system/slurmd@.service" "[Service]"
  run -0 apply
  [ -e "$root/$(drop_in slurmd@.service)" ]
  process system-slurmd.slice/slurmd@n1.service 201 65536 65536
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"limits/slurmd@.service/memlock"*"process 201"* ]]
  process system-slurmd.slice/slurmd@n1.service 201 unlimited 65536
  sed -i 's/^\(Max open files *\)65536 /\11024  /' "$root/proc/201/limits"
  run -0 "$railhead" verify --root "$root"
}
