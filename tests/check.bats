#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# check as an author's editor, hook and CI use it: directories, standard input, bases elsewhere,
# errors in the order of the file, at the author's own line, with the words of other tools.

bats_require_minimum_version 1.5.0
load lib/fakenode

shipped=$BATS_TEST_DIRNAME/../profiles

setup() {
  cd "$BATS_TEST_TMPDIR"
}

head_of() { printf 'schema: 1\nname: %s\n' "$1"; }

good() { # NAME
  head_of "$1" >"$1.yaml"
  printf 'match: {dmi: {sys_vendor: x}}\nmodules: {load: [tun]}\n' >>"$1.yaml"
}

check() { run "$railhead" check "$@"; }

# --- directories ---

@test "check DIR: all *.yaml below it, drop-ins as such, by name; no hidden ones, no masks" {
  mkdir -p tree/sku/b.d tree/.git
  (cd tree/sku && good b && good a)
  printf 'schema: 1\nlink: {nosuch: {mtu: 9000}}\n' >tree/sku/b.d/10-x.yaml
  echo 'no: profile' >tree/.git/c.yaml
  echo 'no: profile' >tree/sku/.swap.yaml
  echo 'no: profile' >tree/sku/notes.txt
  ln -s /dev/null tree/sku/masked.yaml
  ln -s .. tree/sku/loop
  check tree
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 3 ]
  [[ ${lines[0]} == "tree/sku/a.yaml: ok, profile a, digest "* ]]
  [[ ${lines[2]} == "tree/sku/b.yaml: ok, profile b, digest "* ]]
  [[ ${lines[1]} == "tree/sku/b.d/10-x.yaml:2:8: link.nosuch: no device set 'nosuch'"* ]]
}

@test "check DIR: without a profile in it, and one that is not there, are errors" {
  mkdir empty
  check empty
  [ "$status" -eq 3 ]
  [ "$output" = "empty: no *.yaml below this directory; give the directory of the profiles" ]
  check none
  [ "$status" -eq 3 ]
  [ "$output" = "none: No such file or directory; check the path" ]
}

@test "check: what is wrong with a base is told once, and each profile of it is named" {
  { head_of base; echo 'abstract: true'; echo 'sysctls: {vm.swappiness: 1}'; } >base.yaml
  good a
  good b
  echo 'extends: base' | tee -a a.yaml >>b.yaml
  check .
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 3 ]
  [[ ${lines[0]} == "./base.yaml:4:1: sysctls: unknown key; did you mean 'sysctl'?" ]]
  [ "${lines[1]}" = "./b.yaml: 1 error, listed above" ]
  [ "${lines[2]}" = "./base.yaml: 1 error, listed above" ]
}

# --- standard input ---

@test "check -: standard input is a profile, by the name that it says" {
  good a
  run -0 "$railhead" check - <a.yaml
  [[ $output == "<stdin>: ok, profile a, digest "* ]]
  # through a pipe
  run -0 bash -c 'cat a.yaml | "$1" check -' - "$railhead"
  run -3 bash -c 'printf "schema: 1\nname: a\nfoos: 1\n" | "$1" check -' - "$railhead"
  [[ $output == *"<stdin>:3:1: foos: unknown key"* ]]
  run -3 "$railhead" check - </dev/null
  [[ $output == "<stdin>: the file is empty"* ]]
  run -3 bash -c '"$1" check - <&-' - "$railhead"
  [[ $output == "<stdin>: the file is empty"* ]]
}

@test "check -: bases lie in the current directory" {
  { head_of base; echo 'abstract: true'; } >base.yaml
  run -0 bash -c 'printf "schema: 1\nname: a\nextends: base\nmatch: {arch: aarch64}\n" | "$1" check -' - "$railhead"
}

# --- bases ---

@test "check --bases: more places for bases, in their order, behind the profile's own directory" {
  mkdir one two mine
  good mine/a
  sed -i 's|name: mine/|name: |; $aextends: base' mine/a.yaml
  check mine/a.yaml
  [ "$status" -eq 3 ]
  [[ $output == *"extends: no profile 'base' next to this file or in the search path"* ]]
  check --bases one mine/a.yaml
  [ "$status" -eq 3 ]
  [[ $output == *"extends: no profile 'base' next to this file, below --bases or in the search path"* ]]
  { head_of base; echo 'abstract: true'; echo 'unknown: 1'; } >two/base.yaml
  cp two/base.yaml one/base.yaml
  sed -i '$d' one/base.yaml
  run -0 "$railhead" check --bases one --bases two mine/a.yaml
  [ "${#lines[@]}" -eq 1 ]
  run "$railhead" check --bases two --bases one mine/a.yaml
  [[ $output == *two/base.yaml:4:* ]]
  cp one/base.yaml mine
  run -0 "$railhead" check --bases two mine/a.yaml
  [ "${#lines[@]}" -eq 1 ]
}

@test "check --bases: a drop-in's profile has its bases there, too" {
  mkdir -p lib mine/a.d
  { head_of base; echo 'abstract: true'; echo 'devices: {rails: {pci: "15b3:1021", expect: 8}}'; } >lib/base.yaml
  (cd mine && good a && echo 'extends: base' >>a.yaml)
  printf 'schema: 1\nlink: {rails: {mtu: 9000}}\n' >mine/a.d/x.yaml
  run -0 "$railhead" check --bases lib mine/a.d/x.yaml
  [[ $output == "mine/a.d/x.yaml: ok, drop-in of "*/mine/a.yaml ]]
}

# --- order, and whose line it is ---

@test "check: errors stand in the order of the file, each once, those of the asked file first" {
  { head_of zbase; echo 'abstract: true'; echo 'unknwon: 1'; } >zbase.yaml
  { head_of abase; echo 'abstract: true'; echo 'unknwon: 1'; } >abase.yaml
  { head_of m
    echo 'extends: [zbase, abase]'
    echo 'match: {arch: amd}'
    echo 'link: {rals: {mtu: 1}}'
    echo 'devices: {rails: {pci: "15b3:1021"}}'
    echo 'expect: {cpus: many}'; } >m.yaml
  check m.yaml
  [ "$status" -eq 3 ]
  [ "$(sed 's/: .*//' <<<"$output")" = "m.yaml:4:15
m.yaml:5:8
m.yaml:5:20
m.yaml:7:16
abase.yaml:4:1
zbase.yaml:4:1" ]
}

@test "check: two layers that contradict each other: the author's line, then the base's, with a remedy for here" {
  { head_of x; echo 'extends: hgx-h100-cx7'; echo 'link: {rails: {mtu: 1500}}'; } >x.yaml
  local base=$shipped/hgx-h100-cx7.yaml at
  at=$(grep -n 'vf:.*mtu:' "$base" | cut -d: -f1)
  check --bases "$shipped" x.yaml
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == "x.yaml:4:21: sriov.rails.vf.mtu: larger than the PF's MTU, 1500 (link at 4:21)"*", or delete $base:$at:"*" by \`mtu: null\` below sriov.rails.vf" ]]
  # the remedy works
  echo 'sriov: {rails: {vf: {mtu: null}}}' >>x.yaml
  run -0 "$railhead" check --bases "$shipped" x.yaml

  { head_of x; echo 'extends: hgx-h100-cx7'; echo 'sriov: {rails: {vf: {driver: vfio-pci}}}'; } >x.yaml
  check --bases "$shipped" x.yaml
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == "x.yaml:4:30: sriov.rails.vf.mtu: VFs with driver: vfio-pci (at 4:30) have no netdev"*"delete $base:$at:"* ]]
}

@test "check: a place in a text names its file where that is another one" {
  { head_of base; echo 'abstract: true'; echo 'kernel_args: {iommu: passthrough}'; } >base.yaml
  good a
  echo 'extends: base' >>a.yaml
  echo 'kernel_args: {set: [intel_iommu=on]}' >>a.yaml
  check a.yaml
  [ "$status" -eq 3 ]
  [[ $output == "a.yaml:6:21: kernel_args.set: intel_iommu=on: iommu: at ./base.yaml:4:22 already writes"* ||
    $output == "a.yaml:6:21: kernel_args.set: intel_iommu=on: iommu: at base.yaml:4:22 already writes"* ]]
}

@test "check: a set that is in one that is not there is not told to mean itself" {
  good a
  echo 'devices: {rail: {pci: "15b3:1021", in: rails}}' >>a.yaml
  check a.yaml
  [ "$status" -eq 3 ]
  [[ $output == *"devices.rail.in: no device set 'rails', and devices: defines no other; write "* ]]
}

@test "check: a profile without device sets is told how to write one" {
  good a
  echo 'sriov: {rails: {vfs: 8, vf: {driver: netdev}}}' >>a.yaml
  check --json a.yaml
  [ "$status" -eq 3 ]
  jq -e '.files[0].diagnostics | length == 1 and .[0].remedy ==
    "write devices: {rails: {pci: \"VENDOR:DEVICE\"}} with an id that `railhead survey` lists"' <<<"$output"
  # what the remedy has, with an id, is accepted
  echo 'devices: {rails: {pci: "15b3:1021"}}' >>a.yaml
  check a.yaml
  [ "$status" -eq 0 ]
}

@test "check: a short word is no near miss of any other short word" {
  good a
  echo 'foo: 1' >>a.yaml
  check a.yaml
  [[ $output == *"foo: unknown key; expected one of: "* ]]
}

# --- JSON ---

@test "check --json: file, line, column, key, severity, code, message and remedy of each error" {
  good a
  { echo 'hugepages: [{size: 1GiB, per_node: 4}]'
    echo 'devices: {rails: {pci: "15b3:1021"}}'
    echo 'sriov: {rails: {vfs: 2, vf: {driver: vfio-pci, mtu: 9000}}}'
    echo 'sysctl: {vm.swapiness: 1}'; } >>a.yaml
  run -3 "$railhead" check --json a.yaml none.yaml
  # a rule that names what is written needs the value to be well formed
  jq -e '.files | length == 2' <<<"$output"
  jq -e '.files[0].diagnostics[] | select(.key == "hugepages[0].size") | .file == "a.yaml" and .line == 5 and .column == 20 and
    .severity == "error" and .code == "synonym" and
    .remedy == "write 1G" and (.message | endswith("; write 1G"))' <<<"$output"
  jq -e '[.files[0].diagnostics[] | .code] | index("netdev-keys-have-one")' <<<"$output"
  jq -e '.files[0].diagnostics[] | select(.severity == "warning") | .key == "sysctl.vm.swapiness" and
    .remedy == "did you mean '"'vm.swappiness'"'?"' <<<"$output"
  jq -e '.files[1].diagnostics[0] | .code == "file" and .line == 0 and .remedy == "check the path"' <<<"$output"
  # each has a code of its own sort
  jq -e '[.files[].diagnostics[].code] | all(. != "invalid")' <<<"$output"
}

@test "check --json: every bad profile of the fixtures has a code, and a remedy that is the end of its message" {
  run "$railhead" check --json "$BATS_TEST_DIRNAME"/fixtures/profiles/bad
  jq -e '[.files[].diagnostics[] | select(.code == "invalid")] == []' <<<"$output"
  jq -e '[.files[].diagnostics[]] | length > 400' <<<"$output"
  jq -e '[.files[].diagnostics[] | select(.remedy != null) | . as $d | select(.message | endswith($d.remedy) | not)] == []' <<<"$output"
}

@test "check --strict: a warning is an error, and its file is not ok" {
  good a
  echo 'sysctl: {vm.swapiness: 1}' >>a.yaml
  good b
  run -0 "$railhead" check a.yaml b.yaml
  run -3 "$railhead" check --strict a.yaml b.yaml
  [ "${#lines[@]}" -eq 2 ]
  [[ ${lines[0]} == "a.yaml:5:10: warning: sysctl.vm.swapiness: "* ]]
  [[ ${lines[1]} == "b.yaml: ok, profile b, digest "* ]]
  run -3 "$railhead" check --strict --json a.yaml
  jq -e '.files[0].ok == false' <<<"$output"
  run -0 "$railhead" check --strict "$shipped"
}

# --- words of other tools ---

@test "check: keys and values of other tools get the right word, and what they stand for is not missing" {
  good a
  { echo 'devices: {rails: {pci: "15b3:1021", linkType: eth}}'
    echo 'kernel_args: {iommu: pt}'
    echo 'hugepages: [{size: 1GiB, count: 4}]'
    echo 'sriov: {rails: {numVfs: 3, vf: {driver: netdevice, link_state: Follow}}}'
    echo 'expect: {cpus: ">= 2"}'
    echo 'link: {rails: {rx_queues: 4}}'
    echo 'gate: {checks: {a: {run: carrier, on: rails, speed: 400Gbps}}}'
    echo 'num_vfs: 3'; } >>a.yaml
  check a.yaml
  [ "$status" -eq 3 ]
  local want
  for want in "linkType: unknown key; the key here is link" "iommu: 'pt' is not an IOMMU mode; write passthrough" \
    "'1GiB' is not a page size; write 1G" "count: unknown key; the key here is per_node" \
    "numVfs: unknown key; the key here is vfs" "'netdevice' is not a binding of VFs; write netdev" \
    "'Follow' is not a link state; write auto" "write >=2" \
    "rx_queues: unknown key; write link.SET.channels.rx (railhead explain link.SET.channels.rx)" \
    "400Gb/s (carrier); write 400Gb/s" "num_vfs: unknown key; write sriov.SET.vfs"; do
    grep -qF -- "$want" <<<"$output" || { echo "no: $want"; echo "$output"; return 1; }
  done
  ! grep -q missing <<<"$output"
}

# --- the profile's machine ---

@test "check: alternatives of a shell in a pattern are plain text, which a warning says" {
  head_of a >a.yaml
  echo 'match: {dmi: {product_name: "@(SYS-1*|SYS-2)"}}' >>a.yaml
  echo 'expect: {cpu_sockets: 2}' >>a.yaml
  run -0 "$railhead" check a.yaml
  [[ $output == *"warning: match.dmi.product_name: patterns support only"* ]]
  head_of a >a.yaml
  echo 'match: {dmi: {product_name: "Standard PC (Q35 + ICH9, 2009)"}}' >>a.yaml
  echo 'expect: {cpu_sockets: 2}' >>a.yaml
  run -0 "$railhead" check a.yaml
  [ "${#lines[@]}" -eq 1 ]
}

@test "kargs --format: match.cpu_vendor says for which CPUs as expect.cpu_vendor does" {
  head_of a >a.yaml
  { echo 'match: {arch: x86_64, cpu_vendor: amd}'; echo 'kernel_args: {iommu: strict}'; } >>a.yaml
  fake_node root
  run -0 --separate-stderr "$railhead" kargs --root root --format=line --profile a.yaml
  [[ $output == *iommu.strict=1* ]]
  [[ $output != *intel_iommu* ]]
}

@test "plan and verify --profile: a profile that is not for this machine is said to be none" {
  good a
  fake_node root
  run --separate-stderr "$railhead" plan --root root --profile a.yaml
  [[ $stderr == *"note: a is not for this machine: its match: does not hold (railhead match --explain a.yaml)"* ]]
  run -4 --separate-stderr "$railhead" match --root root --explain a.yaml
  [[ $output == *dmi.sys_vendor* ]]
  sed -i 's/sys_vendor: x/sys_vendor: "*"/' a.yaml
  run --separate-stderr "$railhead" plan --root root --profile a.yaml
  [[ $stderr != *"not for this machine"* ]]
}

# --- files that no boot reads ---

@test "check --root and gate: a drop-in of no profile, or with another ending, is told and not ignored" {
  local root=$BATS_TEST_TMPDIR/root etc
  fake_node "$root"
  printf 'schema: 1\nname: site\nmatch: {dmi: {sys_vendor: Supermicro}}\nexpect: {numa_nodes: 2}\n' | profile "$root" site
  etc=$root/etc/railhead
  mkdir -p "$etc/profiles/site.d" "$etc/railhead.conf.d" "$root/usr/lib/railhead/profiles/site.d"
  printf 'schema: 1\nsysctl: {vm.max_map_count: 1048576}\n' >"$etc/profiles/site.d/10-site.yaml"
  # the healthy twin, with what editors and packages leave behind
  touch "$etc/profiles/site.d/.10-site.yaml.swp" "$etc/profiles/site.d/10-site.yaml~"
  run -0 "$railhead" check --root "$root"
  run "$railhead" gate --root "$root"
  [[ $output != *"not read"* ]]

  mv "$etc/profiles/site.d" "$etc/profiles/siet.d"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"/etc/railhead/profiles/siet.d/10-site.yaml: not read: no profile 'siet' is installed; "* ]]
  run -0 "$railhead" gate --again --root "$root"
  [[ $output == *"/etc/railhead/profiles/siet.d/10-site.yaml: not read: no profile 'siet' is installed; "* ]]
  jq -e '.verdict == "ready" and ([.faults[].code] | index("RH-PROFILE-UNREAD"))' "$root/run/railhead/status.json"

  mv "$etc/profiles/siet.d" "$etc/profiles/site.d"
  mv "$etc/profiles/site.d/10-site.yaml" "$etc/profiles/site.d/10-site.yml"
  touch "$etc/profiles/other.yml" "$etc/railhead.conf.d/10.yaml"
  echo 'schema: 1' >"$root/usr/lib/railhead/profiles/site.d/20.yaml"
  run -3 "$railhead" check --json --root "$root"
  jq -e '[.files[] | select(.diagnostics[].code == "unread") | .path] == ["/etc/railhead/profiles/other.yml",
    "/etc/railhead/profiles/site.d/10-site.yml", "/etc/railhead/railhead.conf.d/10.yaml",
    "/usr/lib/railhead/profiles/site.d/20.yaml"]' <<<"$output"
}
