#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# check warns of volumes whose TPM policy the profile's kernel arguments break. Headers of
# devices are for the unit tests; here it is a tree, by its /etc/crypttab.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/etc/crypttab" "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=7+8+9,x-initrd.attach"
  p=$BATS_TEST_TMPDIR/a.yaml
  put "$p" "$(printf '%s\n' 'schema: 1' 'name: a' 'match: {dmi: {sys_vendor: x}}' 'kernel_args: {set: [quiet]}')"
}

@test "check --root: a volume sealed to the command line is a warning with its place, exit 0" {
  run -0 "$railhead" check --root "$root" "$p"
  [[ ${lines[0]} == "$p:4:14: warning: kernel_args: luks-root: its key is sealed by the TPM to PCR 8, 9, "* ]]
  [[ ${lines[0]} == *"asks for its passphrase at the next boot"*"a trial that waits there is rebooted"* ]]
  [[ ${lines[0]} == *"systemd-cryptenroll "*"--tpm2-pcrs=7 "* ]]
  [[ ${lines[1]} == "$p: ok, "* ]]
  [ ${#lines[@]} = 2 ]
}

@test "check --root --json: the same, as a diagnostic of severity warning" {
  run -0 --separate-stderr "$railhead" check --json --root "$root" "$p"
  [ "$(jq -r '.files[0] | .ok, (.diagnostics | length), .diagnostics[0].severity, .diagnostics[0].key' <<<"$output" | xargs)" = "true 1 warning kernel_args" ]
}

@test "check --root: boot-time pages are kernel arguments too" {
  sed -i 's/^kernel_args.*/hugepages: [{size: 1G, per_node: 1}]/' "$p"
  run -0 "$railhead" check --root "$root" "$p"
  [[ ${lines[0]} == "$p:4:"*": warning: hugepages: luks-root: "* ]]
}

@test "check --root: PCRs that are not said give a softer sentence" {
  put "$root/etc/crypttab" "luks-root UUID=1 none tpm2-device=auto,x-initrd.attach"
  run -0 "$railhead" check --root "$root" "$p"
  [[ ${lines[0]} == *"warning: kernel_args: luks-root: "*"to PCRs that railhead can't read"*"if the key is sealed to one of these"* ]]
}

@test "check: no warning without kernel arguments, without a machine, of other volumes and PCRs" {
  no_warning() {
    run -0 "$railhead" check "$@"
    [[ $output != *warning* ]]
  }
  no_warning "$p"
  sed 's/^kernel_args.*/sysctl: {vm.swappiness: 10}/' "$p" >"$BATS_TEST_TMPDIR/b.yaml"
  sed -i 's/^name: a/name: b/' "$BATS_TEST_TMPDIR/b.yaml"
  no_warning --root "$root" "$BATS_TEST_TMPDIR/b.yaml"
  sed 's/^kernel_args.*/hugepages: [{size: 2M, per_node: 1, at: runtime}]/; s/^name: a/name: c/' "$p" >"$BATS_TEST_TMPDIR/c.yaml"
  no_warning --root "$root" "$BATS_TEST_TMPDIR/c.yaml"
  put "$root/etc/crypttab" "luks-data UUID=1 none tpm2-device=auto,tpm2-pcrs=8"
  no_warning --root "$root" "$p"
  put "$root/etc/crypttab" "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=7,x-initrd.attach"
  no_warning --root "$root" "$p"
  rm "$root/etc/crypttab"
  no_warning --root "$root" "$p"
}

@test "check --root: a crypttab that is no file, or nobody may read, is no error" {
  rm "$root/etc/crypttab"
  mkdir "$root/etc/crypttab"
  run -0 "$railhead" check --root "$root" "$p"
  rmdir "$root/etc/crypttab"
  ln -s crypttab "$root/etc/crypttab"
  run -0 "$railhead" check --root "$root" "$p"
  rm "$root/etc/crypttab"
  head -c 3000000 /dev/zero >"$root/etc/crypttab"
  run -0 "$railhead" check --root "$root" "$p"
  [[ $output != *warning* ]]
}

@test "check --root: an invalid profile is an error as before" {
  sed -i 's/quiet/"a b"/' "$p"
  run -3 "$railhead" check --root "$root" "$p"
  [[ $output != *luks-root* ]]
}
