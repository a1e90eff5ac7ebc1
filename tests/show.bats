#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Looking at profiles: show, match --explain, --profile NAME, drop-ins, railhead.conf.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
}

doc() { # NAME; more of the document from stdin
  printf 'schema: 1\nname: %s\nmatch: {dmi: {sys_vendor: Supermicro}}\n' "$1"
  cat
}

conf() { # the text from stdin
  put "$root/etc/railhead/railhead.conf" "$(cat)"
}

@test "show: what is printed is the same profile, taken by check" {
  for p in "$BATS_TEST_DIRNAME"/../profiles/*.yaml "$BATS_TEST_DIRNAME"/fixtures/profiles/good/*.yaml; do
    "$railhead" show --resolved "$p" >"$BATS_TEST_TMPDIR/$(basename "$p")"
    was=$("$railhead" check --json "$p" | jq -r '.files[0].digest')
    is=$("$railhead" check --json "$BATS_TEST_TMPDIR/$(basename "$p")" | jq -r '.files[0].digest')
    [ -n "$was" ] && [ "$was" = "$is" ]
  done
}

@test "show NAME: bases and drop-ins are merged, each value says where it is from" {
  printf 'schema: 1\nname: base\nabstract: true\nsysctl: {vm.swappiness: 10}\n' | profile "$root" base
  doc a <<<'extends: base' | profile "$root" a
  put "$root/etc/railhead/profiles/a.d/site.yaml" $'schema: 1\nmatch: {arch: x86_64}\nsysctl: {net.core.rmem_max: 1}'
  put "$root/etc/railhead/profiles/a.d/x.yaml" $'schema: 1\nmatch: {arch: aarch64}\nsysctl: {vm.other: 1}'
  run -0 "$railhead" show a --root "$root"
  [[ $output == *"vm.swappiness: 10  # base.yaml:4"* ]]
  [[ $output == *"net.core.rmem_max: 1  # a.d/site.yaml:3"* ]]
  [[ $output != *vm.other* ]]
  [[ $output != *extends:* ]]
  run --separate-stderr -0 "$railhead" show a --json --root "$root"
  [ "$(jq -r '.origins["sysctl.vm.swappiness"] + " " + (.profile.sysctl["vm.swappiness"]|tostring)' <<<"$output")" = "base.yaml:4 10" ]
}

@test "show --resolved: kernel arguments by section and the sets' members, or what is not known" {
  doc a <<<$'devices: {rails: {pci: "15b3:1021", expect: 2}}\nkernel_args: {iommu: passthrough}\nhugepages: [{size: 1G, per_node: 1}]' |
    profile "$root" a
  run -0 "$railhead" show a --resolved --root "$root"
  [[ $output == *"#     intel_iommu=on"* ]]
  [[ $output == *"#     hugepages=0:1,1:1"* ]]
  [[ $output == *"rails: $PF0 $PF1 (2 expected)"* ]]
  run -0 "$railhead" show --resolved "$root/etc/railhead/profiles/a.yaml"
  [[ $output == *"not known: iommu: its arguments depend on the CPU vendor"* ]]
  [[ $output == *"not known: per_node"* ]]
  [[ $output == *"device sets: only a node shows the members"* ]]
}

@test "show: the list has versions, bases, what is overridden and what is invalid" {
  doc a <<<'version: 2.1' | profile "$root" a
  mkdir -p "$root/usr/lib/railhead/profiles"
  doc a </dev/null >"$root/usr/lib/railhead/profiles/a.yaml"
  doc b <<<'extends: [base]' | profile "$root" b
  printf 'schema: 1\nname: base\nabstract: true\n' | profile "$root" base
  doc c <<<'wings: 2' | profile "$root" c
  run -0 "$railhead" show --root "$root"
  d=/etc/railhead/profiles
  [ "$(awk -F'\t' '$2 == "a" { print $3, $4, $6 }' <<<"$output")" = "2.1 valid $d/a.yaml
 overridden /usr/lib/railhead/profiles/a.yaml" ]
  [ "$(awk -F'\t' '$2 == "b" { print $5 }' <<<"$output")" = base ]
  [ "$(awk -F'\t' '$2 == "base" { print $4 }' <<<"$output")" = abstract ]
  [[ $(awk -F'\t' '$2 == "c" { print $4, $7 }' <<<"$output") == "invalid $d/c.yaml:4:1: wings: "* ]]
  [ "$("$railhead" show --json --root "$root" | jq -r '[.profiles[].state] | join(" ")')" = "valid overridden valid abstract invalid" ]
}

@test "show: a profile that does not fit the node is shown without it, and stderr says so" {
  doc a <<<'hugepages: [{size: 1G, nodes: {7: 1}}]' | profile "$root" a
  run --separate-stderr -0 "$railhead" show a --resolved --root "$root"
  [[ $output == *"hugepages=7:1"* ]]
  [[ $stderr == *"no NUMA node 7"*"shows the profile without a node"* ]]
}

@test "show: an invalid or absent profile is exit 3 and prints no profile" {
  doc c <<<'wings: 2' | profile "$root" c
  run --separate-stderr -3 "$railhead" show c --root "$root"
  [ -z "$output" ]
  [ "$(grep -c 'c.yaml:4:1: wings: ' <<<"$stderr")" = 1 ]
  run --separate-stderr -3 "$railhead" show nobody --root "$root"
  [ -z "$output" ] && [[ $stderr == *"no profile 'nobody'"* ]]
}

@test "match --explain: device sets, what is in them and what each predicate left out" {
  doc a <<<"devices: {rails: {pci: \"15b3:1021\", numa: 0, expect: 2}, mgmt: {address: \"$PF0\", protect: true}}" |
    profile "$root" a
  run -0 "$railhead" match --explain --root "$root"
  [ "$(awk -F'\t' '$1 == "set" && $2 == "rails" { print $3 "|" $4 "|" $5 }' <<<"$output")" = "members|0|2 expected: no
excluded|1|protect: $PF0: kept by mgmt
excluded|1|numa: $PF1: 1, expected 0" ]
  [ "$(awk -F'\t' '$1 == "set" && $3 == "keeps" { print $2, $5 }' <<<"$output")" = "mgmt $PF0 from rails" ]
  [ "$(awk -F'\t' '$3 == "member" { print $2, $4, $5 }' <<<"$output")" = "mgmt $PF0 mlx5_core eth0" ]
  run --separate-stderr -0 "$railhead" match --json --root "$root"
  [ "$(jq -r '.devices.a[0].excluded[1].functions[0].reason' <<<"$output")" = "1, expected 0" ]
}

@test "match --explain: where none matches, the sets of the nearest are shown" {
  printf 'schema: 1\nname: near\nmatch: {dmi: {sys_vendor: Supermicro, product_name: X}}\ndevices: {rails: {pci: "15b3:1021"}}\n' |
    profile "$root" near
  printf 'schema: 1\nname: far\nmatch: {dmi: {sys_vendor: Dell}}\ndevices: {gpus: {pci: "10de:2330"}}\n' | profile "$root" far
  run -4 "$railhead" match --explain --root "$root"
  [[ $output == *$'set\trails\tmembers\t2'* ]]
  [[ $output != *$'set\tgpus'* ]]
}

@test "match, show: bytes that are no UTF-8 still make valid JSON" {
  printf 'Super\xffmicro\033\n' >"$root/sys/class/dmi/id/sys_vendor"
  printf 'schema: 1\nname: a\nmatch: {dmi: {sys_vendor: Super*}}\n' | profile "$root" a
  printf 'schema: 1\n' >"$root/etc/railhead/profiles/$(printf 'b\xff').yaml"
  run --separate-stderr "$railhead" match --json --root "$root"
  [ "$(jq -r '.candidates[0].conditions[0].found' <<<"$output")" = "Super?micro?" ]
  run --separate-stderr -0 "$railhead" show --json --root "$root"
  [ "$(jq '.profiles | length' <<<"$output")" -eq 1 ]
}

@test "match: files are the candidates, not the search path" {
  doc a </dev/null | profile "$root" a
  doc b </dev/null >"$BATS_TEST_TMPDIR/b.yaml"
  printf 'schema: 1\nname: c\nmatch: {dmi: {sys_vendor: Dell}}\n' >"$BATS_TEST_TMPDIR/c.yaml"
  run -0 "$railhead" match --root "$root" "$BATS_TEST_TMPDIR"/[bc].yaml
  [ "$output" = b ]
  run -4 "$railhead" match --root "$root" "$BATS_TEST_TMPDIR/c.yaml"
}

@test "a captured machine without profiles: this machine's are used, and a note says so" {
  run --separate-stderr -4 "$railhead" match --root "$root"
  [[ $stderr == *"note: $root has no profiles; railhead uses the profiles of this machine"* ]]
  doc a </dev/null | profile "$root" a
  run --separate-stderr -0 "$railhead" match --root "$root"
  [[ $stderr != *note:* ]]
}

@test "--profile NAME: found in the search path, for plan, verify, apply and gate" {
  doc a </dev/null | profile "$root" a
  printf 'schema: 1\nname: b\nmatch: {dmi: {sys_vendor: Dell}}\nsysctl: {vm.swappiness: 10}\n' | profile "$root" b
  run -5 "$railhead" plan --profile b --root "$root"
  [[ $output == *"profile b: 1 of "* ]]
  run -3 "$railhead" plan --profile nobody --root "$root"
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" apply --profile b --root "$root"
  [[ $output == *"switched this boot's profile from a "*" to b "* ]]
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 10 ]
  [ "$(tail -n 1 "$root/run/railhead/profile")" = b ]
  run -0 "$railhead" verify --profile b --root "$root"
  # a boot partition, since the gate makes kernel arguments permanent: there are none here
  mkdir -p "$root/boot/grub"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$root/boot/grub/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs' >>"$root/boot/grub/grub.cfg"
  run -0 "$railhead" kargs --reset --root "$root"
  run -0 "$railhead" gate --profile b --root "$root"
  [[ $output == *"verdict: ready"* ]]
  [ "$("$railhead" status --json --root "$root" | jq -r .profile.name)" = b ]
}

@test "check: a drop-in is judged with its profile, or by itself" {
  d=$BATS_TEST_TMPDIR/tree
  put "$d/a.d/x.yaml" $'schema: 1\nsriov: {rails: {vfs: 1}}'
  run -0 "$railhead" check "$d/a.d/x.yaml"
  [[ $output == *"a drop-in of a profile that is missing or invalid"* ]]
  doc a </dev/null >"$d/a.yaml"
  run -3 "$railhead" check "$d/a.d/x.yaml"
  [[ $output == *"x.yaml:2:9: sriov.rails: no device set 'rails'"* ]]
  doc a <<<'devices: {rails: {pci: "15b3:1021"}}' >"$d/a.yaml"
  cd "$d/a.d"
  run -0 "$railhead" check x.yaml
  [[ $output == *"ok, drop-in of "*"/a.yaml"* ]]
}

@test "railhead.conf: admit_none and admit_off admit work, never as ready" {
  printf 'schema: 1\nadmit_none: true\n' | conf
  run -4 "$railhead" apply --root "$root"
  [ ! -e "$root/run/railhead/ready" ]
  run -0 "$railhead" gate --root "$root"
  [[ $output == *"verdict: none (work is admitted by railhead.conf)"*"admit_none"* ]]
  [[ $(cat "$root/run/railhead/ready") == none* ]]
  run -0 "$railhead" status --root "$root"
  echo "BOOT_IMAGE=/vmlinuz ro railhead=off" >"$root/proc/cmdline"
  run -7 "$railhead" gate --root "$root"
  [ ! -e "$root/run/railhead/ready" ]
  printf 'schema: 1\nadmit_off: true\n' | conf
  run -0 "$railhead" gate --root "$root"
  [[ $output == *"verdict: off (work is admitted by railhead.conf)"* ]]
}

@test "railhead.conf: an invalid one blocks the node, with its place, and changes nothing" {
  doc a <<<'sysctl: {vm.swappiness: 10}' | profile "$root" a
  printf 'schema: 1\nadmit_none: yes\n' | conf
  run -3 "$railhead" apply --root "$root"
  [[ $output == *"/etc/railhead/railhead.conf:2:13: admit_none: "* ]]
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 60 ]
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"verdict: blocked"*"railhead.conf:2:13"* ]]
  printf 'schema: 1\nrequire_signature: true\n' | conf
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"require_signature: not implemented"* ]]
  run -5 "$railhead" plan --root "$root"
}

@test "railhead.conf: a vendor's copy and drop-ins are laid over each other, and errors name theirs" {
  put "$root/usr/lib/railhead/railhead.conf" $'schema: 1\nadmit_none: false'
  put "$root/usr/lib/railhead/railhead.conf.d/50-site.conf" $'schema: 1\nadmit_none: true'
  run "$railhead" gate --root "$root"
  [[ $output == *"verdict: none (work is admitted by railhead.conf)"* ]]
  put "$root/etc/railhead/railhead.conf.d/60-rack.conf" $'schema: 1\nadmit_none: perhaps'
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"verdict: blocked"*"/etc/railhead/railhead.conf.d/60-rack.conf:2:13: admit_none: "* ]]
  run -3 "$railhead" check --root "$root"
  [[ $output == *"/usr/lib/railhead/railhead.conf: ok"*"50-site.conf: ok"*"60-rack.conf:2:13: admit_none: "* ]]
  [[ $output != *"60-rack.conf: ok"* ]]
  rm "$root/etc/railhead/railhead.conf.d/60-rack.conf"
  ln -s /dev/null "$root/etc/railhead/railhead.conf.d/50-site.conf"
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"verdict: none"* && $output != *"work is admitted"* ]]
}

@test "a file whose name is not a profile's is no profile of the list, and is named beside it" {
  local name dir=$root/etc/railhead/profiles
  mkdir -p "$dir"
  for name in '$(touch ran)' 'a b' '*' "a'b" $'a\nprofile\tforged\t1\tvalid'; do
    printf 'schema: 1\nname: x\n' >"$dir/$name.yaml"
  done
  run -0 --separate-stderr "$railhead" show --root "$root"
  [ -z "$(grep -vE '^(profile\t)?[a-z0-9-]+\b' <<<"$output" | grep -v '^NAME')" ]
  [[ $output != *forged* ]]
  [ "$(grep -c "the file's name is not a profile's name; rename the file" <<<"$stderr")" -eq 5 ]
}
