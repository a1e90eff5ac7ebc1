#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bake: trees of images as builders have them. What it makes, that it makes it once, that --undo
# takes its files back, and that nothing outside of the tree is touched.

bats_require_minimum_version 1.5.0
load lib/fakenode

wanted="intel_iommu=on iommu=pt transparent_hugepage=never default_hugepagesz=1G hugepagesz=1G hugepages=0:2,1:2"

# What the three packages install, and a profile of the site's.
setup_file() {
  local tree=$BATS_FILE_TMPDIR/installed
  make -s -C "$BATS_TEST_DIRNAME/.." -o build/railhead -o build/05_railhead \
    install-railhead install-profiles DESTDIR="$tree"
  mkdir -p "$tree/boot" "$tree/usr/bin" "$tree/proc" "$tree/usr/lib/systemd/system"
  put "$tree/usr/bin/true" "#!/bin/sh" && chmod 755 "$tree/usr/bin/true"
  printf '[Service]\nExecStart=/usr/bin/true\n' >"$tree/usr/lib/systemd/system/kubelet.service"
  profile "$tree" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
expect: {cpu_vendor: intel, cpu_sockets: 2, numa_nodes: 2}
kernel_args: {iommu: passthrough, set: [transparent_hugepage=never]}
hugepages: [{size: 1G, per_node: 2, at: boot, default: true}]
Y
}

setup() {
  memory= open=
  root=$BATS_TEST_TMPDIR/tree
  outside=$BATS_TEST_TMPDIR/outside
  mkdir "$outside"
  cp -a "$BATS_FILE_TMPDIR/installed" "$root"
}

teardown() {
  [ -z "$memory" ] || rm -r "$memory"
}

snippet() { # as grub-mkconfig runs it where the program is installed
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh
}

debian() {
  mkdir -p "$root/boot/grub"
  put "$root/usr/sbin/grub-mkconfig" "#!/bin/sh"
  # shellcheck disable=SC2016 # GRUB's variable
  { snippet && echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs'; } >"$root/boot/grub/grub.cfg"
  env=$root/boot/grub/railhead.env
}

fedora() {
  mkdir -p "$root/boot/grub2" "$root/boot/loader/entries"
  put "$root/usr/sbin/grub2-mkconfig" "#!/bin/sh"
  { snippet && printf 'insmod blscfg\nblscfg\n'; } >"$root/boot/grub2/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  printf 'title Fedora\nlinux /vmlinuz\noptions root=/dev/vda2 ro $railhead_kargs\ngrub_class fedora\n' \
    >"$root/boot/loader/entries/f.conf"
  env=$root/boot/grub2/railhead.env
}

bootc() {
  mkdir -p "$root/usr/lib/bootc/install"
  toml=$root/usr/lib/bootc/kargs.d/10-railhead.toml
}

# The program and its libraries, so that it runs with the tree as its root.
runnable() {
  "$BATS_TEST_DIRNAME/lib/libraries" "$railhead" | while read -r lib; do
    install -D "$lib" "$root$lib"
  done
}

in_tree() {
  chroot "$root" /usr/sbin/railhead "$@"
}

bake() {
  "$railhead" bake --root "$root" "$@"
}

# Every name, with what makes it what it is; times too, if asked.
picture() { # DIR [FORMAT]
  find "$1" -printf "%P %y %m %l ${2-}\n" | sort
  find "$1" -type f -exec sha256sum {} + | sort
}

is_as_before() {
  picture "$root" | diff "$BATS_TEST_TMPDIR/before" -
  diff -r --no-dereference "$BATS_TEST_TMPDIR/copy" "$root"
}

remember() {
  picture "$root" >"$BATS_TEST_TMPDIR/before"
  cp -a "$root" "$BATS_TEST_TMPDIR/copy"
}

@test "bake: in trees of each kind a second run writes nothing, and undo restores every byte" {
  for kind in debian fedora bootc :; do
    rm -rf "$root" "$BATS_TEST_TMPDIR/copy"
    cp -a "$BATS_FILE_TMPDIR/installed" "$root"
    $kind
    bake >/dev/null # as the package enables the units, and makes GRUB's file
    remember
    run -0 --separate-stderr bake --profile sku --gate kubelet
    [[ $output == *"made "*"/etc/systemd/system/kubelet.service.d/10-railhead.conf"* ]]
    [[ $output == *"kernel arguments of sku"*": $wanted"* ]]
    [ -z "$stderr" ]
    picture "$root" "%T@ %C@ %i" >"$BATS_TEST_TMPDIR/baked"
    run -0 bake --profile sku --gate kubelet.service
    [[ $output == *"is unchanged"* ]]
    [[ $output != *"made "* ]]
    run -0 bake
    [[ $output == *"is unchanged"* ]]
    picture "$root" "%T@ %C@ %i" | diff "$BATS_TEST_TMPDIR/baked" -
    run -0 bake --undo
    [[ $output == *"removed  /etc/systemd/system/kubelet.service.d/10-railhead.conf"* ]]
    is_as_before
    run -0 bake --undo
    [[ $output == *"the tree has nothing that bake made"* ]]
    is_as_before
  done
}

@test "bake: the units are enabled that systemctl enables by the preset" {
  bake
  cp -a "$BATS_FILE_TMPDIR/installed" "$BATS_TEST_TMPDIR/theirs"
  systemctl -q --root="$BATS_TEST_TMPDIR/theirs" preset railhead-early.service \
    railhead-devices.service railhead-ready.target
  for tree in "$root" "$BATS_TEST_TMPDIR/theirs"; do
    (cd "$tree" && find etc/systemd -type l -printf '%p %l\n' | sort)
  done >"$BATS_TEST_TMPDIR/links"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/links")" = 6 ]
  [ "$(sort -u "$BATS_TEST_TMPDIR/links" | wc -l)" = 3 ]
  systemctl -q --root="$root" is-enabled railhead-early.service railhead-devices.service railhead-ready.target
  # those that a package's script made are none of bake's
  run -0 "$railhead" bake --root "$BATS_TEST_TMPDIR/theirs"
  run -0 "$railhead" bake --root "$BATS_TEST_TMPDIR/theirs" --undo
  systemctl -q --root="$BATS_TEST_TMPDIR/theirs" is-enabled railhead-early.service
}

@test "bake: a gated unit waits for the target, and is not started while the ready file is away" {
  bake --gate kubelet --gate work@1.service --gate tmpl@.service 2>"$BATS_TEST_TMPDIR/err"
  grep -q 'warning: work@1.service is not in this tree' "$BATS_TEST_TMPDIR/err"
  units=$root/etc/systemd/system
  run -0 cat "$units/kubelet.service.d/10-railhead.conf"
  for line in '[Unit]' Requires=railhead-ready.target After=railhead-ready.target AssertPathExists=/run/railhead/ready; do
    grep -qxF "$line" <<<"$output"
  done
  # so has the drop-in that docs/integrations.md gives to be made by hand
  diff <(grep -v '^#' <<<"$output") <(sed -n '\|^# /etc/systemd/system/kubelet.service.d/10-railhead.conf$|,/^```/p' \
    "$BATS_TEST_DIRNAME/../docs/integrations.md" | grep -v '^[#`]')
  grep -qx Wants=kubelet.service "$units/railhead-ready.target.d/10-kubelet.service.conf"
  grep -qx Wants=work@1.service "$units/railhead-ready.target.d/10-work@1.service.conf"
  [ -e "$units/tmpl@.service.d/10-railhead.conf" ]
  [ ! -e "$units/railhead-ready.target.d/10-tmpl@.service.conf" ]
  [ "$(stat -c %a "$units/kubelet.service.d/10-railhead.conf")" = 644 ]
  # systemd's own reader takes them without a word
  run -0 systemd-analyze verify --root="$root" --man=no --recursive-errors=no kubelet.service
  [[ $output != *10-railhead.conf* ]]
}

@test "bake: a unit that is given twice is gated once" {
  run -0 bake --gate kubelet --gate kubelet.service --gate kubelet
  [ "$(grep -c "kubelet.service waits for" <<<"$output")" -eq 1 ]
  [ "$(grep -c "starts kubelet.service" <<<"$output")" -eq 1 ]
}

@test "bake: what can't be gated is refused with the reason, and nothing is written" {
  debian
  remember
  for bad in kubelet.socket multi-user.target railhead-gate.service "" a/b "a b" .x tuned nvidia-fabricmanager.service; do
    run -2 --separate-stderr bake --profile sku --gate kubelet --gate "$bad"
    [[ $stderr == *"--gate ${bad%.service}"*": "* ]]
    is_as_before
  done
  [[ $stderr == *"railhead-gate.service is ordered after it"* ]]
}

@test "bake: GRUB's file has the arguments as the good ones, the same bytes in every build" {
  debian
  bake --profile sku
  [ "$(stat -c %s "$env")" = 4096 ]
  grub-editenv "$env" list >"$BATS_TEST_TMPDIR/list"
  good=$(sed -n 's/^railhead_good=//p' "$BATS_TEST_TMPDIR/list")
  grep -qE "^railhead_$good=$wanted *$" "$BATS_TEST_TMPDIR/list"
  grep -qx railhead_try=- "$BATS_TEST_TMPDIR/list"
  # GRUB leaves them out of the second boot if the first came to nothing (test_bake).
  grep -qx railhead_begun=1 "$BATS_TEST_TMPDIR/list"
  sum=$(sha256sum <"$env")
  bake --undo
  put "$root/proc/sys/kernel/random/boot_id" 11111111-2222-3333-4444-555555555555
  bake --profile sku
  [ "$(sha256sum <"$env")" = "$sum" ]
}

@test "bake: the first boot has nothing to reboot for" {
  debian
  bake --profile sku
  fake_node "$root"
  slot=$(grub-editenv "$env" list | sed -n 's/^railhead_good=//p')
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $wanted railhead.slot=$slot" >"$root/proc/cmdline"
  for n in 0 1; do echo 2 >"$root/sys/devices/system/node/node$n/hugepages/hugepages-1048576kB/nr_hugepages"; done
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"missing    (none)"*"state      same"* ]]
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  [[ $output == *"verdict: ready"* ]]
}

@test "bake: after a first boot that came to nothing, the second tries the arguments in a trial" {
  debian
  bake --profile sku
  fake_node "$root"
  grub-editenv "$env" set railhead_begun=2 # as the first boot leaves it
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro railhead.slot=-b" >"$root/proc/cmdline"
  run -8 "$railhead" gate --root "$root"
  run -0 grub-editenv "$env" list
  [[ $output == *"railhead_good=a"* && $output == *"railhead_try=b"* ]]
  grep -qxE 'railhead_a= *' <<<"$output"
  grep -qxE "railhead_b=$wanted *" <<<"$output"
}

@test "bake: a file of GRUB's that is there gets the arguments, and none when that is undone" {
  debian
  "$railhead" kargs --reset --root "$root"
  bake >/dev/null
  remember
  run -0 bake --profile sku
  [[ $output == *"changed  /boot/grub/railhead.env"* ]]
  run -0 bake --profile soft-roce-lab
  run -0 bake --undo
  is_as_before
  # one that is none of railhead's is neither used nor overwritten
  echo mine >"$env"
  run -1 --separate-stderr bake --profile sku
  [[ $stderr == *"railhead.env"*"remove the file and bake again"* ]]
  run -0 bake --undo
  [ "$(cat "$env")" = mine ]
}

@test "bake: on an EFI system partition too, if it is there; else that is said" {
  debian
  mkdir -p "$root/usr/lib/grub/x86_64-efi"
  run -0 --separate-stderr bake --profile sku
  [[ $stderr == *"warning: this tree has GRUB for EFI"*"/boot/efi"* ]]
  mkdir -p "$root/boot/efi/EFI/debian"
  run -0 --separate-stderr bake --profile sku
  [ -z "$stderr" ]
  cmp "$env" "$root/boot/efi/EFI/railhead/railhead.env"
}

@test "bake: another profile later replaces the arguments of the first" {
  for kind in debian bootc; do
    $kind
    bake --profile sku
    bake --profile hgx-h100-cx7 >"$BATS_TEST_TMPDIR/out"
    grep -q '^changed ' "$BATS_TEST_TMPDIR/out"
    bake --undo
  done
  bake --profile hgx-h100-cx7
  python3 - "$toml" <<'P'
import sys, tomllib
args = tomllib.load(open(sys.argv[1], "rb"))["kargs"]
assert "pci=realloc" in args and "iommu=pt" in args, args
P
}

@test "bake: what a person has changed, or made, is left and named" {
  debian
  bake --profile sku --gate kubelet
  conf=$root/etc/systemd/system/kubelet.service.d/10-railhead.conf
  echo "# mine" >>"$conf"
  cp "$conf" "$BATS_TEST_TMPDIR/mine"
  run -6 --separate-stderr bake --gate kubelet
  [[ $stderr == *"$(sed "s|^$root||" <<<"$conf"): left as it is"* ]]
  run -5 --separate-stderr bake --undo
  [[ $stderr == *"/kubelet.service.d/10-railhead.conf: left as it is: changed since bake made the file"* ]]
  cmp "$conf" "$BATS_TEST_TMPDIR/mine"
  ! grep -a iommu "$env"
  # it is named for as long as it is there
  run -5 bake --undo
  rm "$conf"
  run -0 bake --undo
  # made by hand before bake: not bake's to write, nor to take away
  put "$conf" "[Unit]"
  for what in file link pipe; do
    case $what in
      link) ln -sfn "$outside/secret" "$conf" ;;
      pipe) rm "$conf" && mkfifo "$conf" ;;
    esac
    run -6 --separate-stderr timeout 300 "$railhead" bake --root "$root" --gate kubelet
    [[ $stderr == *"10-railhead.conf: left as it is: bake did not make this file"* ]]
    run -0 bake --undo
    [ -e "$conf" ] || [ -L "$conf" ]
  done
  [ -z "$(ls "$outside")" ]
}

@test "bake: links that lead out of the tree lead nowhere" {
  debian
  put "$outside/system/x" mine
  mkdir "$outside/railhead" "$outside/grub"
  picture "$outside" "%T@" >"$BATS_TEST_TMPDIR/outside.before"
  for link in etc/systemd etc/systemd/system etc/systemd/system/kubelet.service.d usr/lib/railhead boot/grub; do
    for to in "$outside" ../../../../../../../../../../../../../../"$outside" nowhere "$(basename "$link")"; do
      rm -rf "$root"
      cp -a "$BATS_FILE_TMPDIR/installed" "$root"
      debian
      rm -rf "${root:?}/$link"
      mkdir -p "$(dirname "$root/$link")"
      ln -s "$to" "$root/$link"
      run bake --gate kubelet
      [[ $status == [013] ]]
      run bake --undo
      picture "$outside" "%T@" | diff "$BATS_TEST_TMPDIR/outside.before" -
    done
  done
}

# In memory, where fsync costs nothing.
@test "bake: a fault or a kill at any write leaves a tree that the next run completes" {
  memory=$(mktemp -d /dev/shm/railhead-test.XXXXXX)
  mv "$root" "$memory/tree"
  root=$memory/tree
  debian
  bake >/dev/null
  remember
  bake --profile sku --gate kubelet
  picture "$root" >"$BATS_TEST_TMPDIR/whole"
  # each call of that name in turn, or each fourth: "call how step"
  while read -r call how step; do
    for ((n = 1; n < 60; n += step)); do
      bake --undo >/dev/null
      run strace -f -o "$BATS_TEST_TMPDIR/trace" -e "trace=$call" -e "inject=$call:$how:when=$n" \
        "$railhead" bake --root "$root" --profile sku --gate kubelet
      [ "$status" -ne 0 ] || break
      # undone as it is, half of the time
      if [ $((n % 2)) = 0 ]; then
        bake --undo >/dev/null
        find "$root/etc/systemd" -type d -empty -delete # made, and then the program died
        is_as_before
      fi
      bake --profile sku --gate kubelet >/dev/null
      picture "$root" | diff "$BATS_TEST_TMPDIR/whole" -
    done
    [ "$n" -gt 3 ] && [ "$n" -lt 60 ]
  done <<'L'
renameat error=EIO 1
renameat signal=SIGKILL 1
mkdirat error=EIO 1
fsync error=EIO 4
L
}

@test "bake: what can't be known without a node is left to the first boot, and said" {
  debian
  sed -i '/^expect:/d' "$root/etc/railhead/profiles/sku.yaml"
  run -0 bake --profile sku
  [[ $output == *"kernel arguments of sku: transparent_hugepage=never"* ]]
  [[ $output == *"left to the first boot: /etc/railhead/profiles/sku.yaml:4:22: kernel_args: iommu: "* ]]
  [[ $output == *"left to the first boot: "*" hugepages: per_node: "* ]]
  run -0 --separate-stderr bake --profile sku --json
  [ "$(jq -r '.kernel_args[0], (.left_to_first_boot | length), .loader, .profile.name, .changed' <<<"$output" | xargs)" = \
    "transparent_hugepage=never 2 grub sku false" ]
}

@test "bake: profiles are the tree's, and are checked before anything is written" {
  debian
  remember
  run -3 --separate-stderr bake --profile nowhere
  run -3 --separate-stderr bake --profile roce-base
  [[ $stderr == *"roce-base is abstract"* ]]
  run -2 --separate-stderr bake --profile "$root/etc/railhead/profiles/sku.yaml"
  [[ $stderr == *"give the name of the profile"* ]]
  is_as_before
  put "$root/etc/railhead/profiles/bad.yaml" "schema: 1"
  rm -r "$BATS_TEST_TMPDIR/copy"
  remember
  run -3 --separate-stderr bake --gate kubelet
  [[ $stderr == *"bad.yaml"* ]]
  is_as_before
  rm -r "$root/etc/railhead" "$root/usr/lib/railhead"
  run -0 --separate-stderr bake
  [[ $stderr == *"warning: there is no profile in this tree"* ]]
}

@test "bake: where nothing of GRUB or bootc is, the line is printed" {
  run -0 bake --profile sku
  [[ $output == *"kernel arguments of sku (give them to the boot loader"*"): $wanted"* ]]
  put "$root/etc/kernel/cmdline" "root=/dev/sda2 ro"
  run -0 bake --profile sku
  [[ $output == *"(put them into /etc/kernel/cmdline by hand): $wanted"* ]]
  [ "$(cat "$root/etc/kernel/cmdline")" = "root=/dev/sda2 ro" ]
  debian
  rm "$root/etc/grub.d/05_railhead"
  run -0 --separate-stderr bake --profile sku
  [[ $stderr == *"warning: this tree has GRUB without /etc/grub.d/05_railhead"* ]]
  [ ! -e "$env" ]
}

@test "bake: grub.cfg without the snippet, a menu entry without the variable: the remedy" {
  debian
  rm "$root/boot/grub/grub.cfg"
  run -0 --separate-stderr bake
  [[ $stderr == *"warning: there is no grub.cfg in /boot yet"*"update-grub"* ]]
  fedora
  rm -r "$root/boot/grub"
  sed -i 's/ .railhead_kargs//' "$root/boot/loader/entries/f.conf"
  run -0 --separate-stderr bake
  [[ $stderr == *"/boot/loader/entries/f.conf, has no \$railhead_kargs: run \`railhead kargs --mend\`"* ]]
}

@test "bake: no program, no preset, a masked unit, a volume that the TPM unlocks: warnings" {
  debian
  put "$root/etc/fstab" "/dev/mapper/luks-root / ext4 defaults 0 1"
  put "$root/etc/crypttab" "luks-root UUID=1 - tpm2-device=auto,tpm2-pcrs=7+8,x-initrd.attach"
  ln -s /dev/null "$root/etc/systemd/system/railhead-early.service" 2>/dev/null ||
    { mkdir -p "$root/etc/systemd/system" && ln -s /dev/null "$root/etc/systemd/system/railhead-early.service"; }
  run -0 --separate-stderr bake --profile sku
  [[ $stderr == *"warning: "*luks-root*PCR* ]]
  [[ $stderr == *"railhead-early.service is masked"* ]]
  [ ! -e "$root/etc/systemd/system/sysinit.target.wants/railhead-early.service" ]
  # nothing new for the TPM the second time
  run -0 --separate-stderr bake --profile sku
  [[ $stderr != *luks-root* ]]
  rm "$root/usr/sbin/railhead" "$root/usr/lib/systemd/system-preset/90-railhead.preset"
  run -0 --separate-stderr bake
  [[ $stderr == *"no /usr/sbin/railhead in this tree"* ]]
  [[ $stderr == *"railhead is not installed in this tree"* ]]
}

# An initramfs as dracut makes it: microcode, plain, and the rest, packed.
initramfs() { # FILE NAME...
  python3 - "$@" <<'P'
import lzma, sys

def entry(name, data=b""):
    n = name.encode() + b"\0"
    head = b"070701" + b"".join(b"%08x" % v for v in (1, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(n), 0))
    pad = lambda b: b + b"\0" * (-len(b) % 4)
    return pad(head + n) + pad(data)

def cpio(names):
    raw = b"".join(entry(n, b"x" * 5) for n in names) + entry("TRAILER!!!")
    return raw + b"\0" * (-len(raw) % 512)

names = sys.argv[2:]
with open(sys.argv[1], "wb") as f:
    f.write(cpio(["kernel/x86/microcode/GenuineIntel.bin"]))
    f.write(lzma.compress(cpio(names), check=lzma.CHECK_CRC32) if names[0] != "plain" else cpio(names))
P
}

@test "bake: an initramfs without railhead in it is named, one with it is not" {
  debian
  for name in plain init; do
    initramfs "$root/boot/initrd.img-1" $name usr/bin/x
    run -0 --separate-stderr bake
    [[ $stderr == *"warning: /boot/initrd.img-1 does not contain railhead"*"dracut"* ]]
    initramfs "$root/boot/initrd.img-1" $name usr/lib/dracut/hooks/pre-pivot/90-railhead-pre-pivot.sh
    run -0 --separate-stderr bake
    [ -z "$stderr" ]
  done
  : >"$root/boot/initrd.img-1"
  initramfs "$root/boot/initramfs-0-rescue-1.img" init
  run -0 --separate-stderr bake
  [ -z "$stderr" ]
  echo nonsense >"$root/boot/initrd.img-1"
  run -0 --separate-stderr bake
  [[ $stderr == *"can't tell whether /boot/initrd.img-1 contains railhead"* ]]
  rm "$root/boot/initrd.img-1"
  mkfifo "$root/boot/initrd.img-1"
  run -0 --separate-stderr timeout 300 "$railhead" bake --root "$root"
  [ -z "$stderr" ]
}

@test "bake: --strict fails where bake warns, after all is written, and not else" {
  debian
  run -0 bake --profile sku --strict
  [[ $output != *strict* ]]
  initramfs "$root/boot/initrd.img-1" init usr/bin/x
  run -5 --separate-stderr bake --profile sku --strict --gate kubelet
  [[ $output == *"10-railhead.conf"* ]]
  [[ $stderr == *"does not contain railhead"*"--strict: 1 warning; add the missing parts"* ]]
  run -5 bake --profile sku --strict --json
  run -0 bake --profile sku
  run -2 bake --undo --strict
}

@test "bake: a policy of the image's that would block each node is refused" {
  put "$root/usr/lib/railhead/railhead.conf.d/10.conf" $'schema: 1\nreboots: false'
  run -3 --separate-stderr bake
  [[ $stderr == *"/usr/lib/railhead/railhead.conf.d/10.conf:2:1: reboots: unknown key"* ]]
}

@test "bake: usage: no root, no tree, an archive, --undo with more" {
  run -2 --separate-stderr "$railhead" bake
  [[ $stderr == *"--root DIR is missing"* ]]
  run -2 --separate-stderr "$railhead" bake --root "$outside"
  [[ $stderr == *"is not a root tree"* ]]
  run -2 "$railhead" bake --root "$outside/nowhere"
  tar -C "$root" -cf "$outside/tree.tar" .
  run -2 --separate-stderr "$railhead" bake --root "$outside/tree.tar"
  [[ $stderr == *"unpack the archive"* ]]
  run -2 --separate-stderr bake --undo --gate kubelet
  run -2 --separate-stderr bake --undo --profile sku
  [[ $stderr == *"leave out --profile"* ]]
}

@test "bake: the root of a booted machine is refused, that of a container is a tree" {
  debian
  runnable
  mkdir -p "$root/run/systemd/system"
  run -2 in_tree bake --root /
  [[ $output == *"is the root of this running machine"* ]]
  run -0 in_tree bake --undo --root /
  rmdir "$root/run/systemd/system"
  run -0 in_tree bake --root / --gate kubelet
  [ -e "$root/etc/systemd/system/kubelet.service.d/10-railhead.conf" ]
}

@test "bake: a tree that can't be written, and one that another bake has" {
  debian
  mkdir -p "$root/etc/systemd"
  open=$(mktemp -d /tmp/railhead-test.XXXXXX)
  chmod 755 "$open" "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
  cp -a "$root" "$open/tree" && cp "$railhead" "$open"
  run -1 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$open/railhead" bake --root "$open/tree"
  [[ $stderr == *"Permission denied; correct the error and run bake again"* ]]
  rm -r "$open"
  exec 8<"$root"
  flock 8
  run -1 --separate-stderr bake
  [[ $stderr == *"another railhead bake is at work"* ]]
  exec 8<&-
}

examples=$BATS_TEST_DIRNAME/../docs/examples

@test "docs/examples: the hook of mmdebstrap bakes a Debian tree, and fails where a unit is missing" {
  debian
  runnable
  sh -n "$examples/mmdebstrap"
  grep -q 'customize-hook=.*/bake-hook' "$examples/mmdebstrap"
  run -5 "$examples/bake-hook" "$root"
  cp "$root/usr/lib/systemd/system/kubelet.service" "$root/usr/lib/systemd/system/containerd.service"
  run -0 "$examples/bake-hook" "$root"
  grep -q hugepages=0:32,1:32 "$env"
  [ -e "$root/etc/systemd/system/containerd.service.d/10-railhead.conf" ]
}

# The image itself is built by tests/long/images.
@test "docs/examples: mkosi's script makes an initrd, bakes, and the configuration has the arguments" {
  runnable
  mkdir -p "$BATS_TEST_TMPDIR/bin" "$root/usr/lib/modules/6.1.0-test"
  cp "$root/usr/lib/systemd/system/kubelet.service" "$root/usr/lib/systemd/system/containerd.service"
  initramfs "$BATS_TEST_TMPDIR/initrd" init usr/lib/dracut/hooks/pre-pivot/90-railhead-pre-pivot.sh
  cat >"$BATS_TEST_TMPDIR/bin/mkosi-chroot" <<S
#!/bin/sh
[ "\$1" = dracut ] || exec chroot "$root" "\$@"
for last; do :; done
[ "\$last" = 6.1.0-test ] && cp "$BATS_TEST_TMPDIR/initrd" "$root/usr/lib/modules/\$last/initrd"
S
  chmod 755 "$BATS_TEST_TMPDIR/bin/mkosi-chroot"
  export BUILDROOT=$root ARTIFACTDIR=$BATS_TEST_TMPDIR/artifacts
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run -0 "$examples/mkosi/mkosi.postinst"
  cmp "$BATS_TEST_TMPDIR/initrd" "$ARTIFACTDIR/io.mkosi.initrd/initrd"
  [ -e "$root/etc/systemd/system/containerd.service.d/10-railhead.conf" ]
  printed=$(sed -n 's/^kernel arguments of hgx-h100-cx7.*: //p' <<<"$output")
  [ -n "$printed" ]
  # as mkosi reads it: sections, no value before one
  python3 - "$examples/mkosi/mkosi.conf" "$printed" <<'P'
import configparser, sys
c = configparser.ConfigParser(delimiters="=", comment_prefixes="#", interpolation=None, strict=True)
c.optionxform = str
c.read(sys.argv[1])
assert c.sections() == ["Config", "Distribution", "Output", "Content"], c.sections()
line = c["Content"]["KernelCommandLine"].strip().split("\n")
assert line == ["systemd.firstboot=no", sys.argv[2]], line
assert {"railhead", "railhead-gate", "railhead-profiles", "dracut"} <= set(c["Content"]["Packages"].split())
P
}

@test "docs/examples: the Containerfile has a Containerfile's instructions, and its bake gives bootc's file" {
  bootc
  runnable
  python3 - "$examples/bootc/Containerfile" >"$BATS_TEST_TMPDIR/run" <<'P'
import re, sys
text = re.sub(r"^#.*\n", "", open(sys.argv[1]).read(), flags=re.M).replace("\\\n", " ")
steps = [line.split(None, 1) for line in text.splitlines() if line.strip()]
assert [s[0] for s in steps] == ["ARG", "FROM", "COPY", "RUN", "RUN", "RUN", "RUN"], steps
assert steps[0][1] == "BASE" and steps[1][1] == "${BASE}", steps
assert len(steps[2][1].split()) == 2 and steps[2][1].endswith("/"), steps
print("\n".join(s[1] for s in steps if s[0] == "RUN"))
P
  sh -n "$BATS_TEST_TMPDIR/run"
  dracut=$(grep -n 'dracut --force' "$BATS_TEST_TMPDIR/run" | cut -d: -f 1)
  [ "$dracut" -lt "$(grep -n 'railhead bake' "$BATS_TEST_TMPDIR/run" | cut -d: -f 1)" ]
  for unit in kubelet crio; do
    printf '[Service]\nExecStart=/usr/bin/true\n' >"$root/usr/lib/systemd/system/$unit.service"
  done
  read -ra bake <<<"$(grep -o 'railhead bake .*' "$BATS_TEST_TMPDIR/run")"
  run -0 in_tree "${bake[@]:1}"
  [ -e "$root/etc/systemd/system/crio.service.d/10-railhead.conf" ]
  python3 - "$toml" <<'P'
import sys, tomllib
assert "hugepages=0:32,1:32" in tomllib.load(open(sys.argv[1], "rb"))["kargs"]
P
}
