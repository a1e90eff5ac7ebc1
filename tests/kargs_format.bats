#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# kargs --format: what image builders take, read back by the readers that their tools use.

bats_require_minimum_version 1.5.0
load lib/fakenode

shipped=$BATS_TEST_DIRNAME/../profiles

setup() {
  open=
  root=$BATS_TEST_TMPDIR/root
  mkdir "$root"
}

teardown() {
  [ -z "$open" ] || rm -r "$open"
}

# A profile for some other machine than this one, its sections from the arguments.
other() { # NAME LINE...
  local name=$1
  shift
  put "$BATS_TEST_TMPDIR/$name.yaml" "$(printf '%s\n' "schema: 1" "name: $name" \
    "match: {dmi: {sys_vendor: nobody}}" "$@")"
  echo "$BATS_TEST_TMPDIR/$name.yaml"
}

format() { # FORMAT PROFILE [OPTION...]
  "$railhead" kargs "--format=$1" --profile "$2" --root "$root" "${@:3}"
}

# The arguments of a file, one a line, as the tool of that format gets them.
read_back() { # FORMAT FILE
  case $1 in
    line) tr ' ' '\n' <"$2" | grep . || : ;;
    bootc)
      python3 - "$2" <<'P'
import sys, tomllib
with open(sys.argv[1], "rb") as f:
    doc = tomllib.load(f)
assert not doc.keys() - {"kargs", "match-architectures"}, doc
for arg in doc["kargs"]:
    print(arg)
P
      ;;
    uki) # the options that ukify gives to its reader
      python3 - "$2" <<'P'
import configparser, sys
cp = configparser.ConfigParser(comment_prefixes="#", inline_comment_prefixes="#",
                               delimiters="=", empty_lines_in_values=False,
                               interpolation=None, strict=False)
cp.optionxform = lambda option: option
cp.read(sys.argv[1])
assert cp.sections() == ["UKI"] and list(cp["UKI"]) == ["Cmdline"], cp.sections()
for arg in cp["UKI"]["Cmdline"].split():
    print(arg)
P
      ;;
    grubby) # a shell runs it, and grubby sees this
      mkdir -p "$BATS_TEST_TMPDIR/bin"
      cat >"$BATS_TEST_TMPDIR/bin/grubby" <<'S'
#!/bin/sh
[ $# = 2 ] && [ "$1" = --update-kernel=ALL ] || exit 1
case $2 in --args=*) ;; *) exit 1 ;; esac
set -f
for arg in ${2#--args=}; do printf '%s\n' "$arg"; done
S
      chmod 755 "$BATS_TEST_TMPDIR/bin/grubby"
      [ "$(grep -vc '^#' "$2")" = 1 ]
      PATH=$BATS_TEST_TMPDIR/bin:$PATH sh -eu "$2"
      ;;
  esac
}

# Every format of a profile gives the same arguments as the line.
same_everywhere() { # PROFILE
  local f
  format line "$1" >"$BATS_TEST_TMPDIR/line" 2>/dev/null
  [ "$(wc -l <"$BATS_TEST_TMPDIR/line")" = 1 ]
  read_back line "$BATS_TEST_TMPDIR/line" >"$BATS_TEST_TMPDIR/wanted"
  for f in bootc uki grubby; do
    format "$f" "$1" >"$BATS_TEST_TMPDIR/$f" 2>/dev/null
    read_back "$f" "$BATS_TEST_TMPDIR/$f" >"$BATS_TEST_TMPDIR/read"
    diff -u "$BATS_TEST_TMPDIR/wanted" "$BATS_TEST_TMPDIR/read"
  done
}

@test "kargs --format: each shipped profile, in each format, or the named error and nothing else" {
  for p in "$shipped"/*.yaml; do
    if format line "$p" >/dev/null 2>&1; then
      same_everywhere "$p"
      continue
    fi
    for f in line bootc uki grubby; do
      run -3 --separate-stderr format "$f" "$p"
      [ -z "$output" ]
      [[ $stderr =~ [a-z0-9-]+\.yaml:[0-9]+:[0-9]+:\ (kernel_args|hugepages):\ .*write\  ]]
    done
  done
}

@test "kargs --format: which of the shipped profiles say enough without a node" {
  for p in "$shipped"/*.yaml; do
    format line "$p" >/dev/null 2>&1 || basename "$p" .yaml
  done >"$BATS_TEST_TMPDIR/lack"
  diff -u - "$BATS_TEST_TMPDIR/lack" <<'E'
h100-base
hgx-b200
hgx-base
metal-base
E
}

@test "kargs --format: the flagship, as it goes into an image" {
  run -0 --separate-stderr format line "$shipped/hgx-h100-cx7.yaml"
  [ "$output" = "intel_iommu=on iommu=pt transparent_hugepage=never numa_balancing=disable pci=realloc default_hugepagesz=1G hugepagesz=1G hugepages=0:32,1:32" ]
  [[ $stderr == "note: hgx-h100-cx7 is not for this machine"*"expect:"* ]]
  run -0 --separate-stderr format bootc "$shipped/hgx-h100-cx7.yaml"
  [[ ${lines[0]} == "# kernel arguments of railhead profile hgx-h100-cx7 "* ]]
  [[ $output != *match-architectures* ]]
}

@test "kargs --format: gb200 names its nodes with CPUs, and hgx-b200 gets its own from a drop-in" {
  run -0 --separate-stderr format line "$shipped/gb200.yaml"
  [[ $output == *" hugepagesz=512M hugepages=0:32,1:32" ]]
  mkdir -p "$root/usr/lib/railhead/profiles" "$root/etc/railhead/profiles/hgx-b200.d"
  cp "$shipped"/*.yaml "$root/usr/lib/railhead/profiles/"
  run -3 --separate-stderr format line hgx-b200
  [[ $stderr == *"expect: {cpu_sockets: N, numa_nodes: N}"*"nodes: {0: N, 1: N, ...}"*"NAME.d/site.yaml"* ]]
  # Both drop-ins that the comment of the profile names.
  site=$root/etc/railhead/profiles/hgx-b200.d/site.yaml
  printf 'schema: 1\n%s\n' "$(sed -n 's/.*`\(expect: .*\)` where each.*/\1/p' "$shipped/hgx-b200.yaml")" >"$site"
  run -0 --separate-stderr format line hgx-b200
  [[ $output == *" hugepagesz=1G hugepages=0:16,1:16" ]]
  printf 'schema: 1\n%s\n' "$(sed -n 's/.*`\(hugepages: .*\)`.*/\1/p' "$shipped/hgx-b200.yaml" |
    sed 's/, \.\.\./, 2: 16, 3: 16, 4: 16, 5: 16/')" >"$site"
  run -0 --separate-stderr format line hgx-b200
  [[ $output == *" hugepagesz=1G hugepages=0:16,1:16,2:16,3:16,4:16,5:16" ]]
}

@test "kargs --format: pages of two sizes, repeated counts and odd characters arrive as they are" {
  p=$(other odd 'hugepages: [{size: 1G, nodes: {0: 8}}, {size: 2M, nodes: {0: 8}, default: true}]' \
    'kernel_args: {set: ["acpi_osi=!*", "pci=config_acs=1@0000:01:00.0;2@[x]", "a=%d%%", "b=#c", "d=(e|f)", "g=~h@i", "j=<k>,?"]}')
  format line "$p" >"$BATS_TEST_TMPDIR/line"
  grep -q 'hugepagesz=1G hugepages=0:8 default_hugepagesz=2M hugepagesz=2M hugepages=0:8$' "$BATS_TEST_TMPDIR/line"
  read_back line "$BATS_TEST_TMPDIR/line" >"$BATS_TEST_TMPDIR/wanted"
  for f in bootc uki; do
    format "$f" "$p" >"$BATS_TEST_TMPDIR/$f"
    read_back "$f" "$BATS_TEST_TMPDIR/$f" | diff -u "$BATS_TEST_TMPDIR/wanted" -
  done
  grep -q '^# Pages of more than one size: ' "$BATS_TEST_TMPDIR/bootc"
}

@test "kargs --format=bootc: match-architectures where the profile names one, by its name in Rust" {
  for arch in x86_64 aarch64; do
    p=$(other "a-$arch" 'kernel_args: {set: [quiet]}')
    sed -i "s/^match: .*/match: {arch: $arch, dmi: {sys_vendor: nobody}}/" "$p"
    format bootc "$p" >"$BATS_TEST_TMPDIR/toml"
    grep -qx "match-architectures = \[\"$arch\"\]" "$BATS_TEST_TMPDIR/toml"
    read_back bootc "$BATS_TEST_TMPDIR/toml" | grep -qx quiet
  done
}

@test "kargs --format=grubby: lists of the image are named, what counts each by itself is refused" {
  p=$(other lists 'kernel_args: {set: [intel_iommu=sm_on, pci=noats, quiet, mitigations=off]}')
  run -0 --separate-stderr format grubby "$p"
  [ "${lines[1]}" = "# grubby removes the image's own values of: intel_iommu=, pci=" ]
  [ "${lines[2]}" = "grubby --update-kernel=ALL --args='intel_iommu=sm_on pci=noats quiet mitigations=off'" ]
  for arg in console=ttyS0 rd.lvm.lv=vg/root "acpi_osi=!*"; do
    p=$(other each "kernel_args: {set: [quiet, \"$arg\"]}")
    run -3 --separate-stderr format grubby "$p"
    [ -z "$output" ]
    [[ $stderr == *"$arg: "*"counts by itself"*"--format=line"*"/etc/kernel/cmdline"* ]]
    run -0 --separate-stderr format line "$p"
  done
  for arg in 'a=b&c' 'a*b=1' 'x/y'; do
    p=$(other sed "kernel_args: {set: [\"$arg\"]}")
    run -3 --separate-stderr format grubby "$p"
    [ -z "$output" ]
    [[ $stderr == *"$arg: grubby would "*"--format=line"* ]]
    run -0 --separate-stderr format uki "$p"
  done
}

@test "kargs --format=uki: what ukify would read as a file is refused" {
  p=$(other at 'kernel_args: {set: ["@etc/passwd", quiet]}')
  run -3 --separate-stderr format uki "$p"
  [ -z "$output" ]
  [[ $stderr == *"@etc/passwd: ukify would read a file"* ]]
  p=$(other at 'kernel_args: {set: [quiet, "@etc"]}')
  same_everywhere "$p"
}

@test "kargs --format: no argument wanted is an empty line, an empty list" {
  p=$(other none 'sysctl: {vm.swappiness: 10}')
  [ "$(format line "$p" 2>/dev/null | od -An -c | tr -d ' ')" = '\n' ]
  same_everywhere "$p"
}

@test "kargs --format: what is not known is named with its place, all of it, and nothing printed" {
  p=$(other lacks 'kernel_args: {iommu: strict, isolate_cpus: 2-3}' 'hugepages: [{size: 1G, per_node: 2}]')
  for f in line bootc uki grubby; do
    run -3 --separate-stderr format "$f" "$p"
    [ -z "$output" ]
    [[ $stderr == *"lacks.yaml:4:22: kernel_args: iommu: "*"expect: {cpu_vendor: ...}"* ]]
    [[ $stderr == *"lacks.yaml:4:"*": kernel_args: isolate_cpus: "*"expect: {cpus: N}"* ]]
    [[ $stderr == *"lacks.yaml:5:13: hugepages: per_node: "* ]]
  done
  echo 'expect: {cpu_vendor: amd, cpus: 8, cpu_sockets: 2, numa_nodes: 2}' >>"$p"
  run -0 --separate-stderr format line "$p"
  [ "$output" = "iommu=nopt iommu.strict=1 isolcpus=2-3 nohz_full=2-3 irqaffinity=0-1,4-7 hugepagesz=1G hugepages=0:2,1:2" ]
  # more nodes than sockets: which of them have CPUs is anybody's guess
  sed -i 's/numa_nodes: 2/numa_nodes: 4/' "$p"
  run -3 --separate-stderr format line "$p"
  # pages that are taken at run time need no argument
  sed -i 's/per_node: 2/per_node: 2, at: runtime/' "$p"
  run -0 --separate-stderr format line "$p"
  [ "$output" = "iommu=nopt iommu.strict=1 isolcpus=2-3 nohz_full=2-3 irqaffinity=0-1,4-7" ]
}

@test "kargs --format: on a machine that the profile is for, the machine's own facts count" {
  fake_node "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
expect: {cpu_vendor: amd, cpus: 64}
kernel_args: {iommu: passthrough, isolate_cpus: 2-3, set: [transparent_hugepage=never]}
hugepages: [{size: 1G, per_node: 2, default: true}]
Y
  wanted=$("$railhead" kargs --root "$root" 2>/dev/null | sed -n 's/^wanted  *//p' || :)
  [[ $wanted == "intel_iommu=on iommu=pt isolcpus=2-3"*"irqaffinity=0-1"* ]]
  # without --profile the one that matches; with it, by name or file, the same
  run -0 --separate-stderr "$railhead" kargs --format=line --root "$root"
  [ "$output" = "$wanted" ] && [ -z "$stderr" ]
  run -0 --separate-stderr format line sku
  [ "$output" = "$wanted" ] && [ -z "$stderr" ]
  run -0 --separate-stderr format line "$root/etc/railhead/profiles/sku.yaml"
  [ "$output" = "$wanted" ] && [ -z "$stderr" ]
  # another machine: what is expected, and that is said
  put "$root/sys/class/dmi/id/sys_vendor" Dell
  sed -i 's/hugepages: .*/hugepages: [{size: 1G, nodes: {0: 2, 1: 2}, default: true}]/' "$root/etc/railhead/profiles/sku.yaml"
  run -0 --separate-stderr format line sku
  [[ $output == "iommu=pt isolcpus=2-3"*"irqaffinity=0-1,4-63"* ]]
  [[ $stderr == "note: "* ]]
  # and without --profile none matches
  run -4 --separate-stderr "$railhead" kargs --format=line --root "$root"
  [ -z "$output" ]
}

@test "kargs --format: a profile that does not fit its machine prints nothing" {
  fake_node "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
kernel_args: {isolate_cpus: 2-63}
Y
  for how in "" "--profile=sku"; do
    run -3 --separate-stderr "$railhead" kargs --format=line --root "$root" $how
    [ -z "$output" ]
    [[ $stderr == *"CPU"* ]]
  done
}

@test "kargs --format: an invalid profile, a missing one: exit 3, and nothing on stdout" {
  p=$(other broken 'kernel_args: {set: ["a b"]}')
  for arg in "$p" nowhere "$BATS_TEST_TMPDIR/nowhere.yaml"; do
    run -3 --separate-stderr format bootc "$arg"
    [ -z "$output" ]
    [ -n "$stderr" ]
  done
}

@test "kargs --format: more arguments than fit are refused" {
  put "$root/args" "$(for i in $(seq 15); do printf 'aaa.%0100d=1, ' "$i"; done)"
  p=$(other long "kernel_args: {set: [$(sed 's/, $//' "$root/args")]}")
  run -3 --separate-stderr format line "$p"
  [ -z "$output" ]
  [[ $stderr == *"arguments"* ]]
}

@test "kargs --format: usage errors" {
  p=$(other u 'kernel_args: {set: [quiet]}')
  for f in "" Line toml "line "; do
    run -2 --separate-stderr format "$f" "$p"
    [ -z "$output" ]
    [[ $stderr == *"line, bootc, uki, grubby"* ]]
  done
  for o in json reset; do
    run -2 --separate-stderr format line "$p" "--$o"
    [ -z "$output" ]
    [[ $stderr == *"--format and --$o exclude each other"* ]]
  done
  [ ! -e "$root/boot" ]
  run -2 --separate-stderr "$railhead" plan --format=line
  run -2 --separate-stderr "$railhead" kargs --format
}

@test "kargs --format: without privileges, without GRUB, and nothing of /boot is opened" {
  p=$(other plain 'expect: {cpu_vendor: intel}' 'kernel_args: {iommu: passthrough}')
  open=$(mktemp -d /tmp/railhead-test.XXXXXX)
  chmod 755 "$open"
  cp "$p" "$railhead" "$open"
  run -0 --separate-stderr strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=%file,mount,ioctl \
    setpriv --reuid=65534 --regid=65534 --clear-groups "$open/railhead" kargs --format=line --profile "$open/plain.yaml"
  grep -q plain.yaml "$BATS_TEST_TMPDIR/trace"
  [ "$output" = "intel_iommu=on iommu=pt" ]
  run ! grep -E '"/?(boot|efi)(/|")|"/?dev/(sd|vd|nvme|disk|mapper)|mount\(' "$BATS_TEST_TMPDIR/trace"
}

@test "kargs --format: a disk that is full is no success" {
  p=$(other plain 'kernel_args: {set: [quiet]}')
  run -1 bash -c '"$1" kargs --format=line --profile "$2" --root "$3" >/dev/full' - "$railhead" "$p" "$root"
  [[ $output == *"standard output: "* ]]
}
