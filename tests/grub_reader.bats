#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# GRUB reads railhead.env as env_grub_read() says, and as env_parse() where that accepts the
# file: random files (tests/lib/grub_reader.c) before GRUB's editor, its file systems and the
# snippet as GRUB's own script engine runs it (grub-emu: the same code, a process).
#
#   GRUB_READER_SEED=1          another seed makes other files; a failure names file and seed
#   GRUB_READER_FILES=3000      for the editor and the file systems; 10000 in make check
#   GRUB_READER_SCRIPT=300      of them for the snippet, on each file system; 1000 in make check
#
# All six parts run at once in setup_file, each leaves its status and its log.

bats_require_minimum_version 1.5.0

seed=${GRUB_READER_SEED:-1}
files=${GRUB_READER_FILES:-3000}
scripts=${GRUB_READER_SCRIPT:-300}
top=$BATS_TEST_DIRNAME/..
reader=$top/build/test/grub_reader

# GRUB writes each trial through to the image (fsync): in memory, where there is room.
work_dir() {
  local free
  free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) || free=0
  if [ "${free:-0}" -gt 1000000 ]; then
    mktemp -d /dev/shm/railhead-grub.XXXXXX
  else
    mktemp -d "$BATS_FILE_TMPDIR/grub.XXXXXX"
  fi
}

ext_image() { # FILE MiB TREE: what GRUB 2.06 reads
  mke2fs -q -t ext4 -b 1024 -N 25000 -O ^metadata_csum_seed,^orphan_file -E lazy_itable_init=0 -d "$3" "$1" "$2M" >/dev/null
}

image() { # ext4|vfat|xfs FILE TREE
  case $1 in
    ext4) ext_image "$2" 160 "$3" ;;
    vfat) mkfs.vfat -C -F 32 -s 1 "$2" 131072 >/dev/null && mcopy -s -i "$2" "$3"/* ::/ ;;
    xfs)
      "$reader" proto "$3" "$files" >"$2.proto" &&
        mkfs.xfs -q -m bigtime=0,inobtcount=0,reflink=0 -i nrext64=0 -p "$2.proto" -d "file,name=$2,size=320m"
      ;;
  esac
}

# What update-grub makes of the snippet, with GRUB_PROBE for grub-probe.
snippet() { # GRUB_PROBE
  sed -e '/-x .usr.sbin.railhead/d' "$top/build/05_railhead" | grub_probe=$1 sh
}

# Runs $dir/grub/grub.cfg with its disks; GRUB's screen is its log.
emu() { # DIR IMAGE...
  local dir=$1 n=0 disk
  shift
  for disk; do
    echo "(hd$n) $disk"
    n=$((n + 1))
  done >"$dir/grub/device.map"
  timeout 300 grub-emu -m "$dir/grub/device.map" -d "$dir/grub" -r host </dev/null >"$dir/screen" 2>&1
}

# The snippet on the first files of an image; what it found is left in $dir/found.
run_script() { # DIR IMAGE DEVICE [COMMAND]
  mkdir -p "$1/grub" "$1/empty" "$1/found"
  "$reader" results "$1/empty" "$scripts"
  ext_image "$1/results.img" $((16 + scripts / 140)) "$1/empty"
  { echo "${4:-}" && "$reader" config "$work/snippet" "$3" "$scripts"; } >"$1/grub/grub.cfg"
  if ! emu "$1" "$2" "$1/results.img"; then
    tail -c 2000 "$1/screen"
    return 1
  fi
  debugfs -R "rdump / $1/found" "$1/results.img" 2>/dev/null
}

part_editor() {
  "$reader" editenv "$work/tree" "$seed" "$files" 2
}

# The same bytes; the snippet; the bytes as save_env must have left them.
part_fs() { # ext4|vfat|xfs
  local dir=$work/$1 img=$work/$1.img
  image "$1" "$img" "$work/tree"
  grub-fstest "$img" cmp / "$work/tree"
  run_script "$dir" "$img" hd0
  "$reader" booted "$dir/found" "$seed" "$scripts" rw
  grub-fstest "$img" cmp / "$work/after"
  if [ "$1" = ext4 ]; then e2fsck -fn "$img"; fi
}

# Files that the checker of histories reached (tests/histories), all of them through the script: what
# ties its GRUB to GRUB.
part_reached() {
  local top_work=$work
  local work=$top_work/reached files=1000 scripts=1000
  mkdir -p "$work/tree" "$work/after" "$work/samples"
  "$top/build/histories" --depth 4 --files "$work/samples" 1000
  export GRUB_SAMPLES=$work/samples
  "$reader" make "$work/tree" 1 1000
  "$reader" after "$work/after" 1 1000
  cp "$top_work/snippet" "$work/snippet"
  seed=1 part_fs ext4
}

# GRUB can't write to a loop device: a disk that is read-only.
part_readonly() {
  local img=$work/readonly.img
  ext_image "$img" 160 "$work/tree"
  sha256sum "$img" >"$work/readonly.sum"
  run_script "$work/readonly" "$img" ro "loopback ro (host)$img"
  "$reader" booted "$work/readonly/found" "$seed" "$scripts" ro
  sha256sum -c --quiet "$work/readonly.sum"
}

in_background() { # NAME COMMAND...
  local name=$1
  shift
  (
    set +e
    (
      set -e
      "$@"
    ) >"$work/$name.log" 2>&1 3>&-
    echo $? >"$work/$name.status"
  ) 3>&- &
}

setup_file() {
  work=$(work_dir)
  export work
  mkdir "$work/tree" "$work/after"
  "$reader" make "$work/tree" "$seed" "$files" | sed 's/^/# /' >&3
  [ "${PIPESTATUS[0]}" = 0 ]
  "$reader" after "$work/after" "$seed" "$scripts" | sed 's/^/# /' >&3
  [ "${PIPESTATUS[0]}" = 0 ]
  snippet false >"$work/snippet"
  in_background editor part_editor
  in_background ext4 part_fs ext4
  in_background vfat part_fs vfat
  in_background xfs part_fs xfs
  in_background readonly part_readonly
  in_background reached part_reached
  wait
}

teardown_file() {
  rm -rf "$work"
}

well() { # PART
  head -c 3000 "$work/$1.log"
  [ "$(cat "$work/$1.status")" = 0 ]
}

@test "grub-editenv lists of each file what env_grub_read sees, and of a sound one what env_parse does" {
  well editor
}

@test "ext4: GRUB reads the same bytes, boots the same slot with the same args, leaves the same file" {
  well ext4
}

@test "vfat: GRUB reads the same bytes, boots the same slot with the same args, leaves the same file" {
  well vfat
}

@test "XFS: GRUB reads the same bytes, boots the same slot with the same args, leaves the same file" {
  well xfs
}

@test "a disk that GRUB can't write to: no trial is taken, the good slot boots" {
  well readonly
}

@test "1,000 files that histories lead to: GRUB boots the same slot with the same args, leaves the same file" {
  well reached
  tail -n 3 "$work/reached.log"
}

# --- single cases: one file, what the snippet says of it ---------------------------------

# A sound file as the layout has it.
sound() { # FILE TRY A B
  printf '# GRUB Environment Block\nrailhead_good=a\nrailhead_try=%s\nrailhead_layout=1\nrailhead_a=%s\nrailhead_b=%s\n###\n' \
    "$2" "$3" "$4" >"$1"
}

# Runs the script on stdin, then prints the args as a linux line gets them. The first image is hd0,
# the others are hd2 and so on.
boot() { # IMAGE...
  local dir=$BATS_TEST_TMPDIR/boot
  rm -rf "$dir"
  mkdir -p "$dir/grub" "$dir/tree"
  { printf '# GRUB Environment Block\n' && head -c 8000 /dev/zero | tr '\0' '#'; } >"$dir/tree/found"
  ext_image "$dir/found.img" 16 "$dir/tree"
  {
    cat
    # shellcheck disable=SC2016 # GRUB's variables
    echo 'words=' && echo 'for w in $railhead_kargs; do words="$words[$w]"; done' &&
      echo 'save_env -f (hd1)/found words' && echo exit
  } >"$dir/grub/grub.cfg"
  emu "$dir" "$1" "$dir/found.img" "${@:2}"
  debugfs -R 'cat /found' "$dir/found.img" 2>/dev/null | sed -n 's/^words=//p'
}

one_file() { # FILE: an image with it beside grub.cfg, as a BIOS machine has it
  mkdir -p "$BATS_TEST_TMPDIR/one/grub"
  cp "$1" "$BATS_TEST_TMPDIR/one/grub/railhead.env"
  rm -f "$BATS_TEST_TMPDIR/one.img"
  ext_image "$BATS_TEST_TMPDIR/one.img" 16 "$BATS_TEST_TMPDIR/one"
}

boot_one() { # FILE
  one_file "$1"
  { echo "prefix=(hd0)/grub" && cat "$work/snippet"; } | boot "$BATS_TEST_TMPDIR/one.img"
}

@test "EFI: the snippet finds the file on the system partition by its UUID, trial and all" {
  local img=$BATS_TEST_TMPDIR/esp.img probe=$BATS_TEST_TMPDIR/probe
  mkfs.vfat -C -i 1234abcd "$img" 8192 >/dev/null
  mmd -i "$img" ::/EFI ::/EFI/railhead ::/EFI/railhead/1234-ABCD ::/EFI/railhead/other
  sound "$BATS_TEST_TMPDIR/env" b old=1 new=1
  mcopy -i "$img" "$BATS_TEST_TMPDIR/env" ::/EFI/railhead/1234-ABCD/railhead.env
  # another installation's, and that of an image that was baked before grub.cfg was made
  sound "$BATS_TEST_TMPDIR/env" b other=1 other=2
  mcopy -i "$img" "$BATS_TEST_TMPDIR/env" ::/EFI/railhead/other/railhead.env
  mcopy -i "$img" "$BATS_TEST_TMPDIR/env" ::/EFI/railhead/railhead.env
  # shellcheck disable=SC2016
  printf '#!/bin/sh\ncase $1 in *uuid) echo 1234-ABCD ;; *) echo fat ;; esac\n' >"$probe"
  chmod 755 "$probe"
  snippet "$probe" >"$BATS_TEST_TMPDIR/snippet"
  grep -q 'railhead_esp="1234-ABCD"' "$BATS_TEST_TMPDIR/snippet"
  run -0 boot "$img" < <(echo grub_platform=efi && cat "$BATS_TEST_TMPDIR/snippet")
  [[ $output == "[railhead.trial=b][panic=30]"*"[railhead.args][new=1][railhead.slot=b]" ]]
  mcopy -i "$img" ::/EFI/railhead/1234-ABCD/railhead.env - | grep -qx railhead_try=t
  mcopy -i "$img" ::/EFI/railhead/other/railhead.env - | grep -qx railhead_try=b
  # the next boot: the trial is taken
  run -0 boot "$img" < <(echo grub_platform=efi && cat "$BATS_TEST_TMPDIR/snippet")
  [ "$output" = "[railhead.args][old=1][railhead.slot=a]" ]
  # no file of its own: the baked one
  mdel -i "$img" ::/EFI/railhead/1234-ABCD/railhead.env
  run -0 boot "$img" < <(echo grub_platform=efi && cat "$BATS_TEST_TMPDIR/snippet")
  [[ $output == "[railhead.trial=b]"*"[railhead.args][other=2][railhead.slot=b]" ]]
  # no such partition: no args
  mkfs.vfat -C -i 99999999 "$BATS_TEST_TMPDIR/other.img" 8192
  run -0 boot "$BATS_TEST_TMPDIR/other.img" < <(echo grub_platform=efi && cat "$BATS_TEST_TMPDIR/snippet")
  [ "$output" = "" ]
}

# GRUB's search takes the first file system that has the UUID, so two disks with one UUID show which
# disk is looked at first.
@test "EFI: the disk that GRUB came from is searched first; the others if it has no such partition" {
  local first=$BATS_TEST_TMPDIR/first.img last=$BATS_TEST_TMPDIR/last.img probe=$BATS_TEST_TMPDIR/probe
  local part=1048576 from args
  # shellcheck disable=SC2016
  printf '#!/bin/sh\ncase $1 in *uuid) echo 1234-ABCD ;; *) echo fat ;; esac\n' >"$probe"
  chmod 755 "$probe"
  snippet "$probe" >"$BATS_TEST_TMPDIR/snippet"
  for image in "$first" "$last"; do
    truncate -s 16M "$image"
    echo 'start=2048, size=16384' | sfdisk -q --label gpt "$image"
    mkfs.vfat -i 1234abcd --offset $((part / 512)) "$image" 8192 >/dev/null
    mmd -i "$image@@$part" ::/EFI ::/EFI/railhead ::/EFI/railhead/1234-ABCD
    sound "$BATS_TEST_TMPDIR/env" - "$(basename "$image" .img)=1" new=1
    mcopy -i "$image@@$part" "$BATS_TEST_TMPDIR/env" ::/EFI/railhead/1234-ABCD/railhead.env
  done
  boot_from() { # CMDPATH
    run -0 boot "$first" "$last" < <(printf 'grub_platform=efi\n%s\n' "$1" && cat "$BATS_TEST_TMPDIR/snippet")
    echo "$1: $output"
    args=$output
    run ! grep -a error: "$BATS_TEST_TMPDIR/boot/screen"
  }
  boot_from 'cmdpath="(hd0,gpt1)/EFI/debian"'
  [ "$args" = "[railhead.args][first=1][railhead.slot=a]" ]
  # also from another partition of that disk
  for from in "(hd2,gpt1)/EFI/debian" "(hd2,gpt1)" "(hd2,gpt7)/EFI/redhat" "(hd2)/EFI/BOOT"; do
    boot_from "cmdpath=\"$from\""
    [ "$args" = "[railhead.args][last=1][railhead.slot=a]" ]
  done
  # firmware that does not say, a network, a disk that GRUB can't open, one without the partition
  for from in "" "(tftp,10.0.0.1)/grub" "(hd9,gpt1)/EFI/debian" "(hd1)/EFI/debian" "nonsense" "()" ","; do
    boot_from "cmdpath=\"$from\""
    [ "$args" = "[railhead.args][first=1][railhead.slot=a]" ]
  done
  boot_from "unset cmdpath"
  [ "$args" = "[railhead.args][first=1][railhead.slot=a]" ]
}

@test "no file, a directory in its place: no args, and the script goes on" {
  mkdir -p "$BATS_TEST_TMPDIR/one/grub/railhead.env"
  ext_image "$BATS_TEST_TMPDIR/one.img" 16 "$BATS_TEST_TMPDIR/one"
  run -0 boot "$BATS_TEST_TMPDIR/one.img" < <(echo "prefix=(hd0)/grub" && cat "$work/snippet")
  [ "$output" = "" ]
  run -0 boot "$BATS_TEST_TMPDIR/one.img" < <(echo "prefix=(hd0)/nowhere" && cat "$work/snippet")
  [ "$output" = "" ]
}

@test "variables of another environment file are none of ours" {
  printf '# GRUB Environment Block\nrailhead_layout=1\nrailhead_good=b\n###' >"$BATS_TEST_TMPDIR/env"
  one_file "$BATS_TEST_TMPDIR/env"
  run -0 boot "$BATS_TEST_TMPDIR/one.img" < <(
    printf 'set railhead_a=x\nset railhead_b=y\nset railhead_kargs=z\nprefix=(hd0)/grub\n' && cat "$work/snippet"
  )
  [ "$output" = "[railhead.args][railhead.slot=b]" ]
}

@test "a trial that save_env does not disarm is not taken: the name stands on two lines" {
  sound "$BATS_TEST_TMPDIR/env" - old=1 new=1
  sed -i 's/^###/railhead_try=b\n###/' "$BATS_TEST_TMPDIR/env"
  run -0 boot_one "$BATS_TEST_TMPDIR/env"
  [ "$output" = "[railhead.args][old=1][railhead.slot=a]" ]
}

# As env_grub.h says of can_save.
@test "a file with a hole: GRUB reads it, but can't write it, so it takes no trial" {
  local hole
  sound "$BATS_TEST_TMPDIR/env" b old=1 new=1
  truncate -s 4096 "$BATS_TEST_TMPDIR/env"
  printf '=\n' >>"$BATS_TEST_TMPDIR/env"
  run -0 boot_one "$BATS_TEST_TMPDIR/env"
  [ "$output" = "[railhead.args][old=1][railhead.slot=a]" ]
  # without one, the same bytes are taken
  one_file "$BATS_TEST_TMPDIR/env"
  for hole in 1 2 3; do
    debugfs -w -R "fallocate /grub/railhead.env $hole $hole" "$BATS_TEST_TMPDIR/one.img"
  done
  run -0 boot "$BATS_TEST_TMPDIR/one.img" < <(echo "prefix=(hd0)/grub" && cat "$work/snippet")
  [[ $output == "[railhead.trial=b]"*"[railhead.args][new=1][railhead.slot=b]" ]]
}

# As env_grub.h says: what grub-editenv refuses, and the loader unpacks.
@test "a file packed with gzip: GRUB unpacks it, but can't write it, so it takes no trial" {
  sound "$BATS_TEST_TMPDIR/env" b old=1 new=1
  gzip "$BATS_TEST_TMPDIR/env"
  run -0 boot_one "$BATS_TEST_TMPDIR/env.gz"
  [ "$output" = "[railhead.args][old=1][railhead.slot=a]" ]
  run -1 grub-editenv "$BATS_TEST_TMPDIR/env.gz" list
}

# Why karg_check() refuses an argument that begins so.
@test "GRUB takes a word that begins with *, / or ( for a pattern of files, no other" {
  sound "$BATS_TEST_TMPDIR/env" - '* /gr*b (hd0)/g* a=* acpi_osi=!* ?' new=1
  run -0 boot_one "$BATS_TEST_TMPDIR/env"
  [[ $output == "[railhead.args][(proc)]"*"[(hd0)/grub][a=*][acpi_osi=!*][?][railhead.slot=a]" ]]
}
