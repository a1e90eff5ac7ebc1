#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# explain: the keys of profiles, for people and programs.

setup() {
  bats_require_minimum_version 1.5.0
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  railhead=build/railhead
}

@test "explain: a key with its value, its range, what it does and the kernel that it needs" {
  run -0 "$railhead" explain link.SET.threaded_napi
  [ "$output" = "link.SET.threaded_napi
  Whether kernel threads poll, which the scheduler can place.

  value     a boolean (true or false)
  sets      apply sets the value, verify compares it
  kernel    Linux 5.12 or later" ]
  run -0 "$railhead" explain link.rails.mtu
  [[ $output == *"range     68 to 65535 bytes"* ]]
  run -0 "$railhead" explain sriov.rails.wait
  [[ $output == *"range     1s to 120s"*"governs   "* ]]
  run -0 "$railhead" explain "hugepages[0].size"
  [[ $output == *"words     64K, 2M, 32M, 512M, 1G, 16G"*"required  yes"* ]]
}

@test "explain: a map with its keys, and without a key all of them" {
  run -0 "$railhead" explain link.rails.rings
  [[ $output == "link.SET.rings"*$'\n'"link.SET.rings.rx"$'\t'*$'\n'"link.SET.rings.tx"$'\t'* ]]
  run -0 "$railhead" explain
  [ "${#lines[@]}" -gt 170 ]
  run ! grep -vE $'^[][A-Za-z0-9_.]+\t[A-Z].*[.]$' <<<"$output"
}

@test "explain --json: one shape for one key and for many" {
  run -0 "$railhead" explain --json link.rails.mtu
  [ "$(jq -c '[.keys[] | .key, .class, .min, .max, .unit, .kernel, .required]' <<<"$output")" = \
    '["link.SET.mtu","sets","68","65535","bytes",null,false]' ]
  run -0 "$railhead" explain --json
  [ "$(jq '[.keys[] | select(.help == "" or .class == "")] | length' <<<"$output")" -eq 0 ]
  jq -e '.keys[] | select(.key == "gate.checks.NAME.on_fail") | .words == ["block", "degrade", "warn"]' <<<"$output"
}

@test "explain: a misspelt or shortened key is answered with those that may be meant, and with 2" {
  run -2 "$railhead" explain link.rails.mtuu
  [ "$output" = "railhead: unknown key 'link.rails.mtuu'; did you mean link.SET.mtu?" ]
  run -2 "$railhead" explain mtu
  [ "$output" = "railhead: unknown key 'mtu'; did you mean sriov.SET.vf.mtu, link.SET.mtu?" ]
  run -2 "$railhead" explain ""
  [ "$output" = "railhead: unknown key ''; \`railhead explain\` lists all keys" ]
  run -2 "$railhead" explain --json nonsense
  run -2 "$railhead" explain link.rails.mtu link.rails.up
}

@test "explain: each key that a check names as wrong is explained by that path" {
  count=0
  while IFS= read -r message; do
    key=$(sed -n 's/^[^:]*:[0-9]*:[0-9]*: \([^ :]*\): .* is out of range; .*/\1/p' <<<"$message")
    [ -n "$key" ] || continue
    run -0 "$railhead" explain "$key"
    count=$((count + 1))
  done < <(cat tests/fixtures/profiles/bad/*.txt)
  [ "$count" -gt 20 ]
}

@test "explain: a fault code with its meaning, action and remedy; the codes of a layer; all codes" {
  run -0 "$railhead" explain RH-NIC-LINK-WIDTH
  [ "${lines[0]}" = RH-NIC-LINK-WIDTH ]
  [[ $output == *"  layer     nic"*"  look      lspci -vv -s ADDRESS"*"  action    reseat: "*"  remedy    Reseat the card; "*"  admit     speed: "* ]]
  run -0 "$railhead" explain RH-CPU
  [ "${#lines[@]}" -gt 3 ]
  [[ $output != *RH-NIC* ]]
  run -0 "$railhead" explain RH
  # each code of the page, and no other
  diff <(cut -f 1 <<<"$output" | sort) <(grep -o '^| `RH-[A-Z-]*' docs/faults.md | cut -c 4- | tr -d '`' | sort)
  run -0 "$railhead" explain --json RH-NIC
  jq -e 'all(.faults[]; .layer == "nic" and .action and .meaning and .remedy and .action_help and .look and .admit and .admit_help)' <<<"$output"
}

@test "explain: the command of each fault code is one of railhead's own, or of a tool that nodes have" {
  local tools=" cat devlink df dmesg dmidecode ethtool findmnt grep ip journalctl last ldconfig ls lsblk lscpu lsmod lspci nvidia-smi nvme rdma sysctl systemctl top uname "
  while read -r code program verb more; do
    case $program in
      railhead)
        run -0 "$railhead" "$verb" --help
        for option in $(grep -oE -e '--[a-z]+' <<<"$more" || :); do
          [[ $output == *"  $option "* ]] || { echo "$code: railhead $verb takes no $option"; false; }
        done
        ;;
      railhead-bench) run -2 "${railhead%/*}/railhead-bench" "$verb" --no-such
        [[ $output == *"unknown option"* ]] || { echo "$code: $output"; false; } ;;
      *) [[ $tools == *" $program "* ]] || { echo "$code: $program"; false; } ;;
    esac
  done < <("$railhead" explain --json RH | jq -r '.faults[] | "\(.code) \(.look)"')
}

@test "the runbook has each code with all that explain says of it" {
  count=0
  while IFS=$'\t' read -r code look remedy; do
    grep -qxF "### $code" docs/runbook.md
    grep -qxF -e "- Look: \`$look\`" docs/runbook.md
    grep -qF -e "$remedy" docs/runbook.md
    count=$((count + 1))
  done < <("$railhead" explain --json RH | jq -r '.faults[] | [.code, .look, .remedy] | @tsv')
  [ "$count" -gt 150 ]
}

@test "explain: a fault code in small letters; a misspelt one exits with 2, and those that begin alike" {
  run -0 "$railhead" explain rh-nic-link-width
  [ "${lines[0]}" = RH-NIC-LINK-WIDTH ]
  run -0 "$railhead" explain RH-NIC-
  [ "${#lines[@]}" -gt 3 ]
  while read -r code known; do
    run -2 "$railhead" explain "$code"
    [ "$output" = "railhead: unknown fault code '$code'; \`railhead explain $known\` lists the codes with this beginning" ]
  done <<'E'
RH-NIC-LINK-WIDHT RH-NIC-LINK
RH-NIC-LIN RH-NIC
RH-X-Y RH
rh-x RH
E
  run -2 "$railhead" explain $'RH-\e[31m'
  [[ $output == *"'RH-?[31m'"*"explain RH\`"* ]]
  run -2 "$railhead" explain RHX
  [[ $output == *"unknown key 'RHX'"* ]]
}

@test "explain: a word of another tool is answered with the key that it means" {
  run -2 --separate-stderr "$railhead" explain numVfs
  [ "$stderr" = "railhead: unknown key 'numVfs'; the key here is sriov.SET.vfs" ]
  run -2 --separate-stderr "$railhead" explain reservedSystemCPUs
  [[ $stderr == *"; the key here is kernel_args.isolate_cpus.keep" ]]
}

@test "explain: each word of a value with what it does" {
  run -0 "$railhead" explain pairs.p2p
  [[ $output == *"words     direct      directly through the bridges"*"isolated    through the root complex"* ]]
  [ "$("$railhead" explain --json pairs.p2p | jq -r '.keys[0].meanings.direct')" = "directly through the bridges between them: for containers and bare metal" ]
}
