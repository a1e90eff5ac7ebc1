#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# check and match: what an author and an image builder see.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
}

write() { cat >"$BATS_TEST_TMPDIR/$1"; }

good() {
  printf 'schema: 1\nname: %s\nmatch: {dmi: {sys_vendor: %s}}\nsysctl: {vm.swappiness: 10}\n' "$1" "$2"
}

@test "check: a good profile is ok and shows its digest" {
  good a Supermicro | write a.yaml
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"a.yaml: ok, profile a"*"digest "* ]]
}

@test "check: an unknown key has place, path and the nearest known key" {
  { good a Supermicro; echo 'sriov: {rails: {vfz: 2}}'; echo 'devices: {rails: {pci: "15b3:1021"}}'; } | write a.yaml
  run -3 "$railhead" check "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"a.yaml:5:17: sriov.rails.vfz: "*"vfs"* ]]
}

@test "check: every error of a file is reported, not the first" {
  write a.yaml <<'Y'
schema: 1
name: a
match: {dmi: {sys_vendor: x}}
hugepages: [{size: 3G, per_node: many}]
modules: {load: ["../evil"]}
sysctls: {vm.swappiness: 1}
Y
  run -3 "$railhead" check "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *":4:"*"hugepages"*"size"* ]]
  [[ $output == *":4:"*"per_node"* ]]
  [[ $output == *":5:"*"modules.load"* ]]
  [[ $output == *":6:"*"sysctls"*"sysctl"* ]]
}

@test "check: a kernel argument that a boot refuses is an error at its place, with the boot's words" {
  local arg
  for arg in 'a=$x' '$x=1' '"#x"' /x '(x' '"*x"'; do
    { good a Supermicro; printf 'kernel_args:\n  set:\n    - quiet\n    - %s\n' "$arg"; } >"$BATS_TEST_TMPDIR/a.yaml"
    run -3 "$railhead" check "$BATS_TEST_TMPDIR/a.yaml"
    [[ $output == *"a.yaml:8:7: kernel_args.set[1]: ${arg//\"/}: "*"a kernel argument "* ]]
    run -3 "$railhead" plan --root "$root" --profile "$BATS_TEST_TMPDIR/a.yaml"
  done
}

@test "check: arguments that are too many or too long with those of other keys are an error" {
  local i
  { good a Supermicro
    echo 'expect: {cpu_vendor: intel, cpus: 4}'
    echo 'kernel_args:'
    echo '  isolate_cpus: 2-3'
    echo '  set:'
    for i in {1..28}; do echo "    - a$i=1"; done; } | write a.yaml
  run -3 "$railhead" check "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"a.yaml:7:3: kernel_args: 31 kernel arguments of the form key=value"* ]]
  # 1508 bytes, and what isolate_cpus: writes
  { good a Supermicro
    echo 'kernel_args:'
    echo '  isolate_cpus: 2-3'
    echo '  set:'
    for i in 1 2; do printf '    - a%s=%0750d\n' "$i" 0; done; } | write a.yaml
  run -3 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"a.yaml:6:3: kernel_args: the kernel arguments are 1"*" characters long"* ]]
}

@test "check: the shipped profiles are valid" {
  run -0 "$railhead" check "$BATS_TEST_DIRNAME"/../profiles/*.yaml
}

@test "check --root: also judged against that machine, NUMA node by node" {
  put "$root/sys/devices/system/node/node0/meminfo" "Node 0 MemTotal:        12582912 kB"
  put "$root/sys/devices/system/node/node1/meminfo" "Node 1 MemTotal:         4194304 kB"
  { good a Supermicro
    echo 'hugepages: [{size: 1G, per_node: 4}, {size: 2M, nodes: {1: 8}}]'
    echo 'kernel_args: {isolate_cpus: 2-5}'
    echo 'devices: {rails: {pci: "15b3:1021"}}'
    echo 'sriov: {rails: {vfs: 9}}'; } | write a.yaml
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/a.yaml"
  run -3 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"a.yaml:5:"*"warning: hugepages: the pages need 4112M on NUMA node 1, but this machine has 4096M of memory there"* ]]
  [[ $output != *"NUMA node 0"* ]]
  [[ $output == *"isolate_cpus"*"this machine has no CPU 4-5"* ]]
  [[ $output == *"sriov.rails.vfs"*"$PF0"* ]]
}

@test "check --root: page sizes by the architecture and the running kernel of that machine" {
  put "$root/proc/sys/kernel/arch" aarch64
  put "$root/proc/cpuinfo" "CPU implementer : 0x41"
  rm -r "$root/sys/devices/system/node/node0/hugepages"
  for kib in 2048 524288 16777216; do
    mkdir -p "$root/sys/devices/system/node/node0/hugepages/hugepages-${kib}kB"
  done
  { good a Supermicro; echo 'hugepages: [{size: 1G, per_node: 1}]'; } | write a.yaml
  run -0 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"a.yaml:5:20: warning: hugepages[0].size: the running kernel has no pages of 1G (it has 2M, 512M and 16G with a base page of 64K)"* ]]
  { good a Supermicro; echo 'hugepages: [{size: 64K, per_node: 1}, {size: 16G, nodes: {0: 0}}]'; } | write a.yaml
  run -3 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"hugepages[1].size: no arm64 kernel has pages of 16G and of 64K"* ]]
  { good a Supermicro; echo 'hugepages: [{size: 512M, per_node: 1}]'; } | write a.yaml
  run -0 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output != *warning* ]]
}

@test "check --root: the memory of that machine counts, not the least that expect asks for" {
  { good a Supermicro
    echo 'expect: {memory: ">=4G", numa_nodes: 2}'
    echo 'hugepages: [{size: 1G, per_node: 2}]'; } | write a.yaml
  run -3 "$railhead" check "$BATS_TEST_TMPDIR/a.yaml"
  [[ $output == *"a.yaml:6:12: hugepages: the pages need 4096M (2 x 1G x 2 nodes), but expect.memory (at 5:18) accepts a machine with 4096M"* ]]
  put "$root/proc/meminfo" "MemTotal:       16777216 kB"
  run -0 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/a.yaml"
}

@test "check: a file that is not there is named" {
  run -3 "$railhead" check "$BATS_TEST_TMPDIR/absent.yaml"
  [[ $output == *"absent.yaml"*"No such file"* ]]
}

@test "check --root without files: what a boot of the tree would read, each conditional drop-in too" {
  good a Supermicro | profile "$root" a
  good b Dell | profile "$root" b
  run -0 "$railhead" check --root "$root"
  [[ $output == *"profiles/a.yaml: ok, profile a"*"profiles/b.yaml: ok, profile b"* ]]
  # for another machine than this one
  mkdir -p "$root/etc/railhead/profiles/a.d"
  printf 'schema: 1\nmatch: {arch: aarch64}\nlink: {nosuch: {mtu: 9000}}\n' >"$root/etc/railhead/profiles/a.d/10-site.yaml"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"a.d/10-site.yaml:3:"*"link.nosuch"* ]]
  run -3 "$railhead" check --root "$root" "$root/etc/railhead/profiles/a.yaml"
  [[ $output == *"a.d/10-site.yaml:3:"*"link.nosuch"* ]]
  rm -r "$root/etc/railhead/profiles/a.d"
  printf 'schema: 1\nreboots: false\n' >"$root/etc/railhead/railhead.conf"
  run -3 --separate-stderr "$railhead" check --root "$root" --json
  [ "$(jq -r '.files[-1] | "\(.path) \(.ok)"' <<<"$output")" = "/etc/railhead/railhead.conf false" ]
}

@test "check --root without files: what match calls a tie, and without a machine what it would" {
  good a Supermicro | profile "$root" a
  good b 'Super*' | profile "$root" b
  run -4 "$railhead" check --root "$root"
  [[ $output == *"2 profiles match this node (a, b)"* ]]
  image=$BATS_TEST_TMPDIR/image
  good a Supermicro | profile "$image" a
  good b Dell | profile "$image" b
  run -0 "$railhead" check --root "$image"
  { good c Dell; echo 'priority: 1'; } | profile "$image" c
  run -0 "$railhead" check --root "$image"
  good d Dell | sed 's/sys_vendor: Dell/sys_vendor: Dell, product_name: "XE*"/' | profile "$image" d
  run -0 "$railhead" check --root "$image"
  rm "$image/etc/railhead/profiles/c.yaml"
  run -3 "$railhead" check --root "$image"
  [[ $output == *"profiles/d.yaml:3:8: match: "*"(b, d)"* ]]
  cp -r "$BATS_TEST_DIRNAME/../profiles" "$BATS_TEST_TMPDIR/shipped"
  mkdir -p "$BATS_TEST_TMPDIR/vendor/usr/lib/railhead"
  mv "$BATS_TEST_TMPDIR/shipped" "$BATS_TEST_TMPDIR/vendor/usr/lib/railhead/profiles"
  run -0 "$railhead" check --root "$BATS_TEST_TMPDIR/vendor"
}

@test "check --root without files: a tie of a name with a pattern that matches it" {
  local tree=$BATS_TEST_TMPDIR/tree pattern
  mkdir -p "$tree/proc" "$tree/sys"
  good a Supermicro | profile "$tree" a
  for pattern in "Super*" "[S]upermicro" "*"; do
    good b Supermicro | sed "s/sys_vendor: Supermicro/sys_vendor: \"$pattern\"/" | profile "$tree" b
    run -3 "$railhead" check --root "$tree"
    [[ $output == *"/a.yaml:"*"more than one profile matches each machine that this one matches (a, b)"* ]]
  done
  good b Supermicro | sed "s/sys_vendor: Supermicro/sys_vendor: \"Dell*\"/" | profile "$tree" b
  run -0 "$railhead" check --root "$tree"
}

@test "check --root without files: what others may write, as a boot refuses it" {
  local file=$root/etc/railhead/profiles/a.yaml dropin=$root/etc/railhead/profiles/a.d/10.yaml
  good a Supermicro | profile "$root" a
  put "$dropin" $'schema: 1\nsysctl: {vm.swappiness: 10}'
  put "$root/etc/railhead/railhead.conf" $'schema: 1\nadmit_none: true'
  run -0 "$railhead" check --root "$root"
  for file in "$file" "$dropin" "$root/etc/railhead/railhead.conf"; do
    chmod 664 "$file"
    run -3 "$railhead" check --root "$root"
    [[ $output == *"${file#"$root"}: "*"not trusted: ${file#"$root"} is writable by users other than root: run chmod go-w ${file#"$root"}"* ]]
    chmod 644 "$file"
  done
  chmod 664 "$root/etc/railhead/profiles/a.yaml" # an author's own files are the author's
  run -0 "$railhead" check "$root/etc/railhead/profiles/a.yaml"
}

# A directory's owner decides which file has a name, whoever the file belongs to.
refused_below() { # DIRECTORY
  run -3 "$railhead" check --root "$root"
  [[ $output == *"not trusted: $1 is writable by users other than root: run chmod go-w $1"* ]] ||
    [[ $output == *"not trusted: $1 belongs to user 1234, not to root: run chown root $1"* ]] || {
    echo "not refused for $1"
    return 1
  }
}

@test "check --root without files: a directory of others, of a link too, empty or not" {
  local dir file
  good a Supermicro | profile "$root" a
  put "$root/etc/railhead/profiles/a.d/10.yaml" $'schema: 1\nsysctl: {vm.swappiness: 10}'
  put "$root/etc/railhead/railhead.conf" $'schema: 1\nadmit_none: true'
  mkdir -p "$root"/{etc/railhead/railhead.conf.d,run/railhead/profiles,usr/lib/railhead/railhead.conf.d}
  for dir in "" /etc /etc/railhead /etc/railhead/{profiles,profiles/a.d,railhead.conf.d} /run/railhead{,/profiles} \
    /usr /usr/lib/railhead/railhead.conf.d; do
    for mode in 777 775 1777; do
      chmod $mode "$root$dir"
      refused_below "${dir:-/}"
      chmod 755 "$root$dir"
    done
    chown 1234 "$root$dir"
    refused_below "${dir:-/}"
    chown 0 "$root$dir"
  done
  run -0 "$railhead" check --root "$root"
  mkdir -p "$root/srv/a"
  for file in /etc/railhead/profiles/{a,a.d/10}.yaml /etc/railhead/railhead.conf; do
    mv "$root$file" "$root/srv/a/${file##*/}"
    ln -s "/srv/a/${file##*/}" "$root$file"
    run -0 "$railhead" check --root "$root"
    chmod 777 "$root/srv"
    refused_below /srv
    chmod 755 "$root/srv"
  done
}

@test "a masked profile is masked in a tree without /dev, too" {
  good a Supermicro | profile "$root" a
  mkdir -p "$root/usr/lib/railhead/profiles"
  good b Supermicro >"$root/usr/lib/railhead/profiles/b.yaml"
  ln -s /dev/null "$root/etc/railhead/profiles/b.yaml"
  run -0 "$railhead" check --root "$root"
  [[ $output != *b.yaml* ]]
  run -0 "$railhead" match --root "$root"
  [[ $output == *a* ]]
}

@test "match: the one that fits is named" {
  good a Supermicro | profile "$root" a
  good b Dell | profile "$root" b
  run -0 "$railhead" match --root "$root"
  [ "$output" = a ]
}

@test "match --explain: each condition, wanted and found" {
  good a Supermicro | profile "$root" a
  good b Dell | profile "$root" b
  run -0 "$railhead" match --explain --root "$root"
  [ "$(awk -F'\t' '$2 == "b" { print $3, $4, $5, $6, $7 }' <<<"$output")" = "no dmi.sys_vendor Dell Supermicro no" ]
}

@test "match: none fits: exit 4 and no verdict but none" {
  good b Dell | profile "$root" b
  run -4 "$railhead" match --root "$root"
  run -4 "$railhead" apply --root "$root"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: none"* ]]
}

@test "match: two fit: exit 4, both named, blocked" {
  good a Supermicro | profile "$root" a
  good b 'Super*' | profile "$root" b
  run -4 "$railhead" match --root "$root"
  [[ $output == *a*b* ]]
  run -4 "$railhead" apply --root "$root"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: blocked"* ]]
}

@test "a malformed profile blocks, with its place, and nothing is written" {
  { good a Supermicro; echo 'sysfs: [1'; } | profile "$root" a
  run -3 "$railhead" apply --root "$root"
  [[ $output == *"a.yaml:"* ]]
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 60 ]
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: blocked"*"a.yaml:"* ]]
}

@test "railhead=off: nothing is done and the verdict is off" {
  good a Supermicro | profile "$root" a
  echo "BOOT_IMAGE=/vmlinuz ro railhead=off" >"$root/proc/cmdline"
  run -0 "$railhead" apply --root "$root"
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 60 ]
  run -7 "$railhead" gate --root "$root"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: off"* ]]
}

@test "rescue and single-user boots: nothing is done at all" {
  good a Supermicro | profile "$root" a
  for arg in single rescue systemd.unit=rescue.target rd.break init=/bin/sh; do
    echo "BOOT_IMAGE=/vmlinuz ro $arg" >"$root/proc/cmdline"
    run -0 "$railhead" apply --root "$root"
    [ "$(cat "$root/proc/sys/vm/swappiness")" = 60 ]
  done
}

@test "a status of another boot says nothing of this one" {
  good a Supermicro | profile "$root" a
  "$railhead" apply --root "$root"
  run "$railhead" status --json --root "$root"
  [ "$(jq -r .verdict <<<"$output")" = waiting ]
  echo other >"$root/proc/sys/kernel/random/boot_id"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"has not run in this boot"* ]]
}

@test "usage: unknown verb, unknown option, missing argument are exit 2" {
  run -2 "$railhead" frobnicate
  run -2 "$railhead" plan --frobnicate
  run -2 "$railhead" check
  run -2 "$railhead" plan --stage lunch
  run -2 "$railhead"
}

@test "usage: an empty --root is not this machine" {
  for verb in plan apply verify survey "kargs --reset"; do
    run -2 "$railhead" $verb --root ""
    [[ $output == *"--root: the path is empty"* ]]
  done
}

@test "help names every verb" {
  run -0 "$railhead" --help
  for verb in check show match plan apply verify gate status kargs; do
    [[ $output == *"  $verb "* ]]
  done
}

@test "every verb that prints facts prints JSON too" {
  good a Supermicro | profile "$root" a
  { good b Dell; echo 'sysctls: {a.b: 1}'; } | write b.yaml
  run --separate-stderr -3 "$railhead" check --json "$BATS_TEST_TMPDIR/b.yaml"
  [ "$(jq -r '.files[0].diagnostics[0] | "\(.line) \(.key) \(.severity)"' <<<"$output")" = "5 sysctls error" ]
  for verb in show match plan verify apply status gate kargs; do
    run --separate-stderr "$railhead" "$verb" --json --root "$root"
    jq -e . <<<"$output" >"$BATS_TEST_TMPDIR/json"
  done
}

onto_full_disk() { "$railhead" "$@" >/dev/full </dev/null; }

@test "every verb, and the help of each, reports that its output can't be written" {
  local verb command image=$BATS_TEST_TMPDIR/image
  mkdir -p "$image/usr" "$image/etc"
  good a Supermicro | profile "$root" a
  good a Supermicro | write a.yaml
  echo 'vm.swappiness = 1' | write sysctl.conf
  jq -n '{calibration: 2, node: "n1", profile: {name: "a", version: "", digest: "d"},
    checks: {memory: {min: {unit: "B/s", members: {"gate/memory/node0": [1e9]}}}}}' >"$BATS_TEST_TMPDIR/n1.json"
  while read -r command; do
    # shellcheck disable=SC2086 # words
    run --separate-stderr onto_full_disk $command
    [[ $status -eq 1 && $stderr == *"railhead: standard output: "* ]] || { echo "$command: $status $stderr"; false; }
  done <<C
--help
--version
check --schema
check $BATS_TEST_TMPDIR/a.yaml
check --json $BATS_TEST_TMPDIR/a.yaml
show --root $root
show --root $root --resolved a
show --root $root --json a
match --root $root
match --root $root --explain
match --root $root --json
survey --root $root
survey --root $root --json
draft --root $root
import $BATS_TEST_TMPDIR/sysctl.conf
explain
plan --root $root
plan --root $root --json
apply --root $root
apply --root $root --json
verify --root $root
verify --root $root --json
gate --root $root
gate --root $root --json
status --root $root
status --root $root --json
admit --root $root --for 1h --reason test
calibrate --merge $BATS_TEST_TMPDIR/n1.json
kargs --root $root
kargs --root $root --json
kargs --root $root --format line
bake --root $image
bake --root $image --json
C
  for verb in $("$railhead" --help | sed -n '/^$/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    run -1 --separate-stderr onto_full_disk "$verb" --help
    [[ $stderr == *"railhead: standard output: "* ]]
  done
  [ "$verb" = bake ]
}

@test "a verb that prints nothing does not need a standard output" {
  good a Supermicro | write a.yaml
  run -2 bash -c '"$1" check >&-' - "$railhead"
  [[ $output != *"standard output"* ]]
}
