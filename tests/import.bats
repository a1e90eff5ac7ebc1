#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# import: files of other tools become a profile that check accepts, and each line of theirs is in
# it, as a key or with the reason why not. What comes out of each file of fixtures/import is in
# fixtures/import.golden: GOLDEN=1 writes that again; read the difference.

bats_require_minimum_version 1.5.0
load lib/fakenode

fixtures=$BATS_TEST_DIRNAME/fixtures/import
golden=$BATS_TEST_DIRNAME/fixtures/import.golden

setup() {
  out=$BATS_TEST_TMPDIR/imported.yaml
  cd "$fixtures"
}

files() { find . -type f ! -name '*-variables.conf' -printf '%P\n' | sort; }

import() { "$railhead" import "$@" >"$out" 2>"$BATS_TEST_TMPDIR/err"; }

# FILE -> FILE:LINE of each line that says something: no blank one, no comment, no [section]; one
# that goes on, by a backslash or an indented line, is the one that it begins with.
lines_of() {
  case $1 in
    *sysctl* | *modules-load*) awk '!/^[ \t]*([#;]|$)/ { print FILENAME ":" FNR }' "$1" ;;
    *tuned*) awk '!/^[ \t]*([#;]|$)/ && !/^\[/ && (!/^[ \t]/ || !option) { print FILENAME ":" FNR }
      { option = !/^[ \t]*([#;]|$)/ && !/^\[/ }' "$1" ;;
    *) awk '!on && !/^[ \t]*(#|$)/ { print FILENAME ":" FNR } { on = /\\$/ }' "$1" ;;
  esac
}

places() { grep -oE '# [^ ]+:[0-9]+' "$out" | sed 's/^# //; s/:$//' | sort -u; }

name_of() { tr / _ <<<"$1"; }

@test "import: 30 files, each line of each is a key or has its reason, and check accepts the result" {
  local file n=0
  for file in $(files); do
    import "$file" || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
    { lines_of "$file"
      case $file in
        tuned/rdma-node/*) lines_of tuned/base-latency/tuned.conf ;;
        tuned/functions/*) lines_of tuned/functions/functions-variables.conf ;;
      esac; } | sort -u >"$BATS_TEST_TMPDIR/lines"
    [ -s "$BATS_TEST_TMPDIR/lines" ]
    places | diff "$BATS_TEST_TMPDIR/lines" - || { echo "$file"; return 1; }
    run "$railhead" check "$out"
    [ "$status" -eq 0 ] || { echo "$file: $output"; return 1; }
    n=$((n + 1))
  done
  [ "$n" -ge 30 ]
}

@test "import: what becomes of each line is as it was agreed" {
  local file name
  mkdir -p "$golden"
  for file in $(files); do
    import "$file"
    name=$golden/$(name_of "$file").yaml
    [ -z "${GOLDEN:-}" ] || cp "$out" "$name"
    diff -u "$name" "$out"
  done
}

@test "import: all of them at once are a profile, too, and a later file counts" {
  # shellcheck disable=SC2046
  import $(files)
  run -0 "$railhead" check "$out"
  for file in $(files); do lines_of "$file"; done | sort -u >"$BATS_TEST_TMPDIR/lines"
  [ "$(comm -23 "$BATS_TEST_TMPDIR/lines" <(places) | wc -l)" -eq 0 ]
  grep -q 'overrides this line' "$out"
}

@test "import DIR: the files below it that are known by where they lie, by name" {
  import sysctl.d modprobe.d
  run -0 "$railhead" check "$out"
  [[ $(places) == *"sysctl.d/10-network.conf:2"* ]]
  [[ $(places) == *"modprobe.d/nvidia.conf:3"* ]]
}

@test "import --root: what the administrator of a tree has set, in the order of its tools" {
  local tree=$BATS_TEST_TMPDIR/tree
  mkdir -p "$tree"/etc/{sysctl.d,modprobe.d,modules-load.d,default,tuned/mine} "$tree"/run/sysctl.d "$tree"/usr/lib/sysctl.d
  echo 'vm.swappiness = 1' >"$tree/run/sysctl.d/50-a.conf"
  echo 'vm.swappiness = 2' >"$tree/etc/sysctl.d/60-b.conf"
  echo 'vm.swappiness = 3' >"$tree/run/sysctl.d/60-b.conf"
  echo 'vm.swappiness = 4' >"$tree/usr/lib/sysctl.d/99-vendor.conf"
  echo 'vm.swappiness = 5' >"$tree/etc/sysctl.d/99-backup.conf~"
  echo 'blacklist nouveau' >"$tree/etc/modprobe.d/x.conf"
  echo 'ib_umad' >"$tree/etc/modules-load.d/x.conf"
  echo 'GRUB_CMDLINE_LINUX="pci=realloc"' >"$tree/etc/default/grub"
  printf '[sysctl]\nvm.max_map_count=262144\n' >"$tree/etc/tuned/mine/tuned.conf"
  echo mine >"$tree/etc/tuned/active_profile"
  mkdir "$tree/etc/default/grub.d"
  echo 'GRUB_CMDLINE_LINUX="pci=noaer"' >"$tree/etc/default/grub.d/50-x.cfg"
  import --root "$tree"
  run -0 "$railhead" check "$out"
  grep -q '^    - "pci=noaer"   # /etc/default/grub.d/50-x.cfg:1$' "$out"
  grep -q '^# /etc/default/grub:1: pci=realloc: /etc/default/grub.d/50-x.cfg:1 assigns GRUB_CMDLINE_LINUX again$' "$out"
  grep -q '^  vm.swappiness: 2   # /etc/sysctl.d/60-b.conf:1$' "$out"
  grep -q '^  vm.max_map_count: 262144   # /etc/tuned/mine/tuned.conf:2$' "$out"
  [ "$(places)" = "/etc/default/grub.d/50-x.cfg:1
/etc/default/grub:1
/etc/modprobe.d/x.conf:1
/etc/modules-load.d/x.conf:1
/etc/sysctl.d/60-b.conf:1
/etc/tuned/mine/tuned.conf:2
/run/sysctl.d/50-a.conf:1" ]
}

@test "import: a file that nothing is known of, one that is not there, none at all: no half a profile" {
  echo 'lorem ipsum' >"$BATS_TEST_TMPDIR/x"
  run -2 --separate-stderr "$railhead" import sysctl.d/10-network.conf "$BATS_TEST_TMPDIR/x"
  [ -z "$output" ]
  [[ $stderr == *"neither the path nor the text shows the format; known formats are sysctl.d,"* ]]
  run -2 --separate-stderr "$railhead" import none
  [[ $stderr == *"import: none: No such file or directory; check the path"* ]]
  mkdir "$BATS_TEST_TMPDIR/empty"
  run -4 --separate-stderr "$railhead" import --root "$BATS_TEST_TMPDIR/empty"
  [ -z "$output" ]
}

@test "import: the text tells the kind where the path does not" {
  local kind
  for kind in sysctl.d/20-globs.conf modprobe.d/mlx.conf grub-plain/default/grub tuned/modules/tuned.conf; do
    cp "$kind" "$BATS_TEST_TMPDIR/plain"
    import "$BATS_TEST_TMPDIR/plain"
    run -0 "$railhead" check "$out"
  done
  printf '\r\n[sysctl]\r\nvm.swappiness=1\r\n' >"$BATS_TEST_TMPDIR/plain"
  import "$BATS_TEST_TMPDIR/plain"
  grep -q '^  vm.swappiness: 1 ' "$out"
}

@test "import: profiles of tuned that include one another in a circle end" {
  mkdir -p "$BATS_TEST_TMPDIR"/t/{a,b}
  printf '[main]\ninclude=b\n[sysctl]\nvm.swappiness=1\n' >"$BATS_TEST_TMPDIR/t/a/tuned.conf"
  printf '[main]\ninclude=a\n[sysctl]\nvm.swappiness=2\n' >"$BATS_TEST_TMPDIR/t/b/tuned.conf"
  import "$BATS_TEST_TMPDIR/t/a/tuned.conf"
  run -0 "$railhead" check "$out"
  grep -q '^  vm.swappiness: 1   ' "$out"
}

@test "import: a file's name cannot become syntax of the profile" {
  mkdir -p "$BATS_TEST_TMPDIR/sysctl.d"
  printf 'vm.swappiness = 1\nno sign\nvm.swappiness = 2\n' >"$BATS_TEST_TMPDIR/sysctl.d/"$'x\nhugepages: [\e[31m.conf'
  import "$BATS_TEST_TMPDIR/sysctl.d"
  run -0 "$railhead" check "$out"
  ! grep -q '^hugepages' "$out"
  ! grep -q $'\e' "$out"
}

@test "import: white space that modprobe does not know is a part of a word" {
  mkdir "$BATS_TEST_TMPDIR/modprobe.d"
  printf '\voptions x a=b\n \f\nblacklist y\f\n\tblacklist z \r\n' >"$BATS_TEST_TMPDIR/modprobe.d/x.conf"
  import "$BATS_TEST_TMPDIR/modprobe.d"
  run -0 "$railhead" check "$out"
  grep -q 'x.conf:1: ?options x a=b: not a command of modprobe.d(5)$' "$out"
  grep -q 'x.conf:2: ?: not a command of modprobe.d(5)$' "$out"
  grep -q 'x.conf:3: blacklist y?: not plain ASCII$' "$out"
  grep -q '^    - z   # .*x.conf:4$' "$out"
}

@test "import: default/grub is shell: a value ends where its word does, and may have several lines" {
  mkdir "$BATS_TEST_TMPDIR/default"
  cat >"$BATS_TEST_TMPDIR/default/grub" <<'E'
export GRUB_CMDLINE_LINUX=pci=noaer; z=1
GRUB_CMDLINE_LINUX=quiet splash
GRUB_CMDLINE_LINUX="iommu=pt
  nohz=on
GRUB_CMDLINE_LINUX_DEFAULT=x" # its end
GRUB_CMDLINE_LINUX_DEFAULT="skew_tick=1";  # one
GRUB_CMDLINE_LINUX=idle=poll#1
E
  import "$BATS_TEST_TMPDIR/default/grub"
  run -0 "$railhead" check "$out"
  sed -i "s,# $BATS_TEST_TMPDIR/default/,# ," "$out"
  more="a command follows the value in its line; write it in a line of its own"
  within="is within a value that begins further up; write that value in one line"
  diff - <(sed -n '/^kernel_args/,$p' "$out") <<E
kernel_args:
  set:
    - "skew_tick=1"   # grub:6
    - "idle=poll#1"   # grub:7

# Not carried over:
# grub:1: export GRUB_CMDLINE_LINUX=pci=noaer; z=1: $more
# grub:2: GRUB_CMDLINE_LINUX=quiet splash: $more
# grub:3: GRUB_CMDLINE_LINUX="iommu=pt: its quote ends in another line; write the value in one line
# grub:4: nohz=on: $within
# grub:5: GRUB_CMDLINE_LINUX_DEFAULT=x" # its end: $within
E
}

@test "import: a zero byte, which would end the text unseen, and what is no file are refused by name" {
  local dir=$BATS_TEST_TMPDIR/t
  refuses() { # TEXT ARGUMENT...
    run -2 --separate-stderr "$railhead" import "${@:2}"
    [ -z "$output" ]
    [[ $stderr == "railhead: import: "*/"$1" ]]
  }
  mkdir -p "$dir"/{sysctl.d,tree/etc/sysctl.d,tuned/{a,b,c}}
  printf 'vm.swappiness = 1\0 2\nvm.dirty_ratio = 5\n' >"$dir/sysctl.d/within.conf"
  printf '\0vm.dirty_ratio = 5\n' >"$dir/sysctl.d/first.conf"
  printf 'vm.dirty_ratio = 5\n\0' >"$dir/tree/etc/sysctl.d/last.conf"
  zero="has a zero byte, so it is not text; write the file again"
  refuses "within.conf: $zero" "$dir/sysctl.d/within.conf"
  refuses "first.conf: $zero" "$dir/sysctl.d/first.conf"
  refuses "last.conf: $zero" --root "$dir/tree"
  printf '[main]\ninclude=b\n[sysctl]\nvm.swappiness=1\n' >"$dir/tuned/a/tuned.conf"
  printf '[sysctl]\nvm.dirty_ratio=5\0\n' >"$dir/tuned/b/tuned.conf"
  import "$dir/tuned/a/tuned.conf"
  grep -q "^# .*/a/tuned.conf:2: include=b: .*/b/tuned.conf: $zero$" "$out"
  printf '[variables]\ninclude=/v.conf\n' >"$dir/tuned/c/tuned.conf"
  printf 'x=1\0\n' >"$dir/tuned/c/v.conf"
  import "$dir/tuned/c/tuned.conf"
  grep -q "^# .*/c/tuned.conf:2: include=/v.conf: .*/c/v.conf: $zero$" "$out"
  mkfifo "$dir/sysctl.d/fifo.conf"
  refuses "fifo.conf: is not a regular file; give the file that has the text" "$dir/sysctl.d/fifo.conf"
}

@test "import: a profile larger than railhead reads is an error that names the line" {
  local dir=$BATS_TEST_TMPDIR/large i
  mkdir -p "$dir/sysctl.d"
  {
    printf '[variables]\nv0=%050d\n' 0
    printf 'v1='; printf '${v0}%.0s' {1..20}
    printf '\nv2='; printf '${v1}%.0s' {1..30}
    printf '\n[sysctl]\n'
    for i in {1..60}; do echo "k.a$i=\${v2}"; done
  } >"$dir/tuned.conf"
  run -2 --separate-stderr "$railhead" import "$dir/tuned.conf"
  [ -z "$output" ]
  [[ $stderr =~ ^railhead:\ import:\ .*/tuned.conf:[0-9]+:\ the\ profile\ up\ to\ this\ setting\ takes\ more\ than\ 1\ MiB,.*\;\ import\ fewer\ files ]]
  # The reasons at its end count, too.
  for i in {1..4000}; do printf 'no sign %0200d\n' "$i"; done >"$dir/sysctl.d/x.conf"
  run -2 --separate-stderr "$railhead" import "$dir/sysctl.d/x.conf"
  [ -z "$output" ]
  [[ $stderr =~ /x.conf:[0-9]+:\ the\ profile\ up\ to\ this\ setting\ takes ]]
}

@test "import: what multiplies a small file without end is an error that names the line" {
  local dir=$BATS_TEST_TMPDIR/t i place
  mkdir -p "$dir"/{doubling,includes,words}/ "$dir/modprobe.d"
  {
    echo '[variables]'
    echo 'v0=lol'
    for i in {1..40}; do echo "v$i=\${v$((i - 1))}\${v$((i - 1))}"; done
    printf '[sysctl]\nvm.swappiness=${v40}\n'
  } >"$dir/doubling/tuned.conf"
  { echo '[variables]'; for i in {1..20000}; do echo 'include=v.conf'; done; } >"$dir/includes/tuned.conf"
  for i in {1..20000}; do echo "x$i=1"; done >"$dir/includes/v.conf"
  { echo '[main]'; printf 'include='; printf 'a %.0s' {1..20000}; } >"$dir/words/tuned.conf"
  { printf 'options %0100000d' 0; printf ' a=1%.0s' {1..20000}; } >"$dir/modprobe.d/x.conf"
  for place in doubling/tuned.conf:23 includes/tuned.conf:[0-9]+ words/tuned.conf:2 modprobe.d/x.conf:1; do
    run -2 --separate-stderr prlimit --as=300000000 "$railhead" import "$dir/${place%:*}"
    [ -z "$output" ]
    echo "$stderr"
    [[ $stderr =~ /$place:\ the\ settings\ up\ to\ this\ line,.*\ take\ more\ than\ 8\ MiB\;\ import\ fewer\ files ]]
  done
}

# Whoever sends a tuned.conf names the file; the importer may show the result to others.
@test "of a file of variables the names are shown, and no text" {
  local secret=$BATS_TEST_TMPDIR/tuned/a/secret.conf
  mkdir -p "$BATS_TEST_TMPDIR/tuned/a"
  printf 'root:$6$SECRET:0:0\nPASSWORD=SECRET\n  SECRET\nswap=10\nfarther=${f:exec:SECRET}\n' >"$secret"
  cd "$BATS_TEST_TMPDIR"
  printf '[variables]\ninclude=%s\n[sysctl]\nvm.swappiness=${swap}\n' "$secret" >tuned/a/tuned.conf
  run -0 "$railhead" import tuned/a/tuned.conf
  [[ $output == *"vm.swappiness: 10"* && $output == *PASSWORD* && $output == *"no NAME=VALUE"* ]]
  [[ $output != *SECRET* ]]
}

@test "a tuned.conf includes files next to it or of tuned, and no other file of this machine" {
  local dir=$BATS_TEST_TMPDIR tree=$BATS_TEST_TMPDIR/tree include
  mkdir -p "$dir"/{sent/{a,b,linked},farther/c} "$tree"/etc/mine
  printf 'TOKEN=SECRET\n' | tee "$dir/secret.env" "$dir/sent/a/.env" "$dir/farther/vars.conf" >"$tree/etc/mine/vars.conf"
  printf 'TOKEN=10\n' >"$dir/sent/a/beside.conf"
  printf '[sysctl]\nvm.dirty_ratio=20\n' >"$dir/sent/b/tuned.conf"
  printf '[sysctl]\nvm.dirty_ratio=SECRET\n' | tee "$dir/farther/tuned.conf" >"$dir/farther/c/tuned.conf"
  ln -s "$dir/farther/vars.conf" "$dir/sent/a/linked.conf"
  ln -s "$dir/farther/tuned.conf" "$dir/sent/linked/tuned.conf"
  sent() { # MAIN VARIABLES [ARGUMENT...]
    printf '[main]\ninclude=%s\n[variables]\ninclude=%s\n' "$1" "$2" >"$dir/sent/a/tuned.conf"
    printf '%s\n' '[sysctl]' 'vm.swappiness=${TOKEN}' '[sysfs]' '/sys/kernel/mm/x=${TOKEN}' \
      '[bootloader]' 'cmdline=x=${TOKEN}' >>"$dir/sent/a/tuned.conf"
    run -0 --separate-stderr "$railhead" import "${@:3}" "$dir/sent/a/tuned.conf"
  }
  for include in "$dir/secret.env" ../../secret.env .env /etc/tuned/../.."$dir/secret.env" /etc/tuned/.env; do
    sent b "$include"
    [[ $output != *SECRET* && $output == *"vm.dirty_ratio: 20"* ]]
    [[ $output == *"tuned.conf:4: include=$include: "*"not read"* || $include == /etc/tuned/.env ]]
  done
  sent b /etc/tuned/absent.conf
  [[ $output == *"neither at this path nor next to this file"* ]]
  sent b linked.conf
  [[ $output != *SECRET* && $output == *"/sent/a/linked.conf: is a symbolic link"* ]]
  sent b /no/beside.conf
  [[ $output == *"vm.swappiness: 10 "* ]]
  for include in ../../farther ../farther/c .. "$dir/farther/c" linked; do
    sent "$include" beside.conf
    [[ $output != *SECRET* && $output == *"tuned.conf:2: include=$include: "* ]]
  done
  # Below a root that is no machine of the importer, its own files are read.
  sent b /etc/mine/vars.conf --root "$tree"
  [[ $output == *SECRET* ]]
}
