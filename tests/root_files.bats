# SPDX-License-Identifier: GPL-2.0-or-later
# Every file that railhead opens below a root is a regular file inside the root: a tree from
# elsewhere neither hangs a verb nor leads one out of the tree.

setup() {
  # shellcheck source=tests/lib/fakenode.bash
  . "$BATS_TEST_DIRNAME/lib/fakenode.bash"
  # shellcheck source=tests/lib/pcitree.bash
  . "$BATS_TEST_DIRNAME/lib/pcitree.bash"
  root=$BATS_TEST_TMPDIR/tree
  outside=$BATS_TEST_TMPDIR/outside
  fake_node "$root"
  fill
}

teardown() {
  # with its FIFOs, before another reads the tests' trees (tests/lib/uncoded)
  umount "$BATS_TEST_TMPDIR"/*/sys/devices/pci0000:00/*/config 2>/dev/null || true # mounted by one test alone
  rm -rf "$BATS_TEST_TMPDIR/other" "$root"
}

# Files of every room, each of them read by a verb below.
fill() {
  local fn gpu=$root/sys/devices/pci0000:00/0000:42:00.0
  put "$gpu/vendor" 0x10de
  put "$gpu/device" 0x2330
  put "$gpu/class" 0x030200
  put "$gpu/numa_node" 0
  ln -s "../../../devices/pci0000:00/0000:42:00.0" "$root/sys/bus/pci/devices/0000:42:00.0"
  for fn in "$root"/sys/devices/pci0000:00/*; do
    pcie "$fn" 0 0
  done
  mkdir -p "$root/usr" "$root/boot/loader/entries" "$root/var/lib/railhead" "$root/etc/modprobe.d"
  put "$root/proc/kallsyms" $'0000000000000000 t ib_umem_dmabuf_get\t[ib_uverbs]'
  put "$root/proc/self/mountinfo" "36 25 0:32 / /sys rw,nosuid - sysfs sysfs rw"
  put "$root/proc/modules" "mlx5_core 100 1 - Live 0x0"
  put "$root/proc/swaps" "Filename Type Size Used Priority"
  put "$root/etc/fstab" "/dev/vda2 / ext4 defaults 0 1"
  put "$root/etc/default/grub" 'GRUB_CMDLINE_LINUX="quiet x=1"'
  put "$root/etc/sysctl.d/a.conf" "net.core.rmem_max=1"
  put "$root/etc/modprobe.d/a.conf" "options mlx5_core a=b"
  put "$root/etc/tuned/tuned.conf" $'[sysctl]\nvm.swappiness=10'
  put "$root/etc/railhead/railhead.conf" $'schema: 1\nreboot: false'
  put "$root/etc/udev/rules.d/a.rules" 'KERNEL=="sda", ATTR{queue/scheduler}="none"'
  put "$root/var/lib/kubelet/cpu_manager_state" '{"policyName":"static","defaultCpuSet":"0-3","checksum":1}'
  put "$root/boot/grub/grub.cfg" "linux /vmlinuz ro"
  put "$root/boot/grub/grubenv" "# GRUB Environment Block"
  put "$root/boot/loader/entries/a.conf" $'title x\nlinux /v\noptions root=/dev/x'
  profile "$root" sku <<'P'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {nics: {pci: "15b3:1021"}}
pcie: {nics: {max_read_request: 4096}}
sysctl: {vm.swappiness: 10}
kernel_args: {set: [quiet]}
P
  # For the files that they leave. Of their results it counts that there is one.
  for verb in apply gate; do
    timeout 300 "$railhead" $verb --root "$root" >/dev/null 2>&1 || [ $? -lt 100 ]
  done
}

# Of each verb that reads a tree.
verbs=("survey --json" "survey --html -" "survey --snapshot -" plan verify "apply --stage devices"
  gate "gate --recheck" "why pcie" "check" "bake" "kargs" "show" "show sku --resolved"
  "status" "history" "match --explain" "import" "draft" "calibrate" "admit --for 1h --reason x"
  "maintain --for 1h --reason x" "apply --device $PF0")

# Under strace, into $log; the verb's own result is not judged, but that there is one.
traced() { # ARGS...
  log=$BATS_TEST_TMPDIR/strace
  rc=0
  timeout -k 10 600 strace -f -y -o "$log" -e trace=open,openat,openat2 "$railhead" "$@" \
    >"$BATS_TEST_TMPDIR/out" 2>&1 || rc=$?
  [ $rc -lt 100 ] || {
    echo "railhead $*: exit $rc"
    tail -3 "$log"
    return 1
  }
}

# Nothing that an open gave lies outside; nothing was told, or changed there.
stayed_inside() { # VERB
  if grep -E '= [0-9]+<[^>]*/outside' "$log"; then
    echo "railhead $1 opened it" && return 1
  fi
}

make_node() { # KIND PATH
  case $1 in
    absolute) ln -s "$outside/config" "$2" ;;
    relative) ln -s "../../../../../../../../../../../../../../..$outside/config" "$2" ;;
    fifo) mkfifo "$2" ;;
    fifo-outside) ln -s "$outside/fifo" "$2" ;;
    fifo-inside) mkfifo "$2.pipe" && ln -s "${2##*/}.pipe" "$2" ;;
    directory) mkdir "$2" ;;
    socket) python3 -c 'import os, stat, sys; os.mknod(sys.argv[1], stat.S_IFSOCK | 0o600)' "$2" ;;
    device) : >"$2" && mount --bind /dev/zero "$2" ;;
  esac
}

config_is() { # KIND
  local fn v other=$BATS_TEST_TMPDIR/other
  mkdir -p "$outside"
  [ -p "$outside/fifo" ] || mkfifo "$outside/fifo"
  cp "$root/sys/devices/pci0000:00/$PF0/config" "$outside/config"
  cp "$outside/config" "$BATS_TEST_TMPDIR/config"
  for v in "${verbs[@]}" "diff sku $root" "diff $root"; do
    rm -rf "$other" && cp -a "$root" "$other"
    for fn in "$other"/sys/devices/pci0000:00/*; do
      rm "$fn/config"
      make_node "$1" "$fn/config"
    done
    # shellcheck disable=SC2086 # words
    traced $v --root "$other"
    stayed_inside "$v"
    echo "railhead $v:" && tail -20 "$BATS_TEST_TMPDIR/out" # for a failure
    cmp "$outside/config" "$BATS_TEST_TMPDIR/config"
    case $1:$v in
      fifo:plan | fifo:verify | fifo:"apply --stage devices" | fifo-inside:plan | socket:plan | device:plan)
        grep -F "$PF0" "$BATS_TEST_TMPDIR/out" | grep -F "/config: is not a regular file" ;;
      fifo:"survey --json" | device:"survey --json" | socket:"survey --json")
        grep -F "/$PF0/config is not a regular file" "$BATS_TEST_TMPDIR/out" ;;
      directory:plan) grep -F "/config: Is a directory" "$BATS_TEST_TMPDIR/out" ;;
      absolute:plan | relative:plan | fifo-outside:plan) grep -F "its config space can't be read" "$BATS_TEST_TMPDIR/out" ;;
    esac
    [ "$1" != device ] || umount "$other"/sys/devices/pci0000:00/*/config
  done
}

@test "config is a link to a file outside, absolute: nothing there is read or written" { config_is absolute; }
@test "config is a link to a file outside, by ..: nothing there is read or written" { config_is relative; }
@test "config is a FIFO: each verb ends, and names it" { config_is fifo; }
@test "config is a link to a FIFO outside: each verb ends" { config_is fifo-outside; }
@test "config is a link to a FIFO of the tree: each verb ends, and names it" { config_is fifo-inside; }
@test "config is a directory: each verb says so" { config_is directory; }
@test "config is a socket: each verb ends, and names it" { config_is socket; }
@test "config is a device: no verb opens it, and each names it" { config_is device; }

# The kernel's own refusal, before any open, and so without its effect.
@test "a device of a tree is not opened, where railhead may mount" {
  other=$root/sys/devices/pci0000:00/$PF0/config
  mount --bind /dev/zero "$other"
  traced plan --root "$root"
  umount "$other"
  grep -F "$PF0/config: is not a regular file" "$BATS_TEST_TMPDIR/out"
  grep -E 'config".* = -1 EACCES' "$log"
  if grep -v O_PATH "$log" | grep -E "= [0-9]+<[^>]*(zero|$PF0/config)"; then false; fi
}

# Each file of the tree, of each verb that opens it.
@test "a FIFO in the place of any other file: each verb ends, and names it" {
  local file v paths=$BATS_TEST_TMPDIR/paths other=$BATS_TEST_TMPDIR/other n=0
  for v in "${verbs[@]}"; do
    case $v in verify | gate\ * | *html* | show\ * | *device\ *) continue ;; esac # read what others do
    rm -rf "$other" && cp -a "$root" "$other"
    # shellcheck disable=SC2086 # words
    traced $v --root "$other"
    # by the descriptor's path, which is below the private copy of the mount, or below the tree
    grep -v O_PATH "$log" | sed -nE 's/.* = [0-9]+<([^>]*)>.*/\1/p' | sed "s|^$other/|/|" | sort -u >"$paths"
    while read -r file; do
      [ -f "$root$file" ] || continue
      n=$((n + 1))
      rm -rf "$other" && cp -a "$root" "$other"
      rm "$other$file" && mkfifo "$other$file"
      rc=0
      # shellcheck disable=SC2086 # words
      timeout -k 10 600 "$railhead" $v --root "$other" >"$BATS_TEST_TMPDIR/out" 2>&1 || rc=$?
      echo "railhead $v, $file: exit $rc" && tail -20 "$BATS_TEST_TMPDIR/out" # for a failure
      [ $rc -lt 100 ]
      grep -aqE "$file:? is not a regular file" "$BATS_TEST_TMPDIR/out"
    done <"$paths"
  done
  [ $n -gt 300 ]
}
