#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sets within sets, and sets that share functions: check judges what plan sends, and why says whose
# value it is.

bats_require_minimum_version 1.5.0
load lib/simnode

setup_file() {
  sim_need
  sim_tree "$BATS_FILE_TMPDIR/pristine"
}

setup() {
  sim=$BATS_TEST_TMPDIR
  root=$BATS_FILE_TMPDIR/pristine/node
}

teardown() {
  sim_stop
}

# The profile: rails, of which first is within, and near, which shares functions with rails.
sku() {
  { printf 'schema: 1
name: sku
match: {dmi: {sys_vendor: Simulated}}
devices:
  rails: {pci: "15b3:1021", expect: 8}
  first: {in: rails, address: "0000:18:00.0"}
  near: {numa: 0, pci: "15b3:1021", expect: 4}
'
    cat
  } >"$sim/sku.yaml"
}

check() { # STATUS: of the file alone, and on the machine
  run "-$1" --separate-stderr "$railhead" check "$sim/sku.yaml"
  local alone=$output
  run "-$1" --separate-stderr "$railhead" check --root "$root" "$sim/sku.yaml"
  [ "$output" = "$alone" ]
}

desired() { # ID
  "$railhead" plan --json --root "$root" --profile "$sim/sku.yaml" |
    jq -r --arg id "$1" '.changes[] | select(.id == $id).desired'
}

@test "maps of a set within a set are merged key by key in plan as in check" {
  sku <<<'qos:
  rails: {trust: dscp, dscp_map: {46: 3}, roce_tos: 186, pfc: [3]}
  first: {dscp_map: {48: 6}}'
  check 0
  [[ $output != *warning* ]]
  [ "$(desired qos/0000:18:00.0/dscp_map)" = "46:3 48:6" ]
  [ "$(desired qos/0000:3a:00.0/dscp_map)" = "46:3" ]
  run -0 "$railhead" why qos/0000:18:00.0/dscp_map --root "$root" --profile "$sim/sku.yaml"
  [[ $output == *"46:3 48:6"* ]]
  # an exception of the narrower set
  sku <<<'qos:
  rails: {trust: dscp, dscp_map: {40-47: 3}, roce_tos: 186, pfc: [3]}
  first: {dscp_map: {46: 5}}'
  check 3
  [[ $output == *"sku.yaml:9:"*"DSCP, 46, goes to priority 5 by dscp_map (at 10:"* ]]
  [ "$(desired qos/0000:18:00.0/dscp_map)" = "" ] # no plan of such a profile
  sku <<<'qos:
  rails: {trust: dscp, dscp_map: {40-47: 3}, pfc: [3]}
  first: {dscp_map: {46: 5}}'
  check 0
  [ "$(desired qos/0000:18:00.0/dscp_map)" = "40:3 41:3 42:3 43:3 44:3 45:3 46:5 47:3" ]
  [ "$(desired qos/0000:3a:00.0/dscp_map)" = "40:3 41:3 42:3 43:3 44:3 45:3 46:3 47:3" ]
}

@test "shares of classes are judged as they are sent" {
  sku <<<'qos:
  rails: {ets: {bandwidth: {0: 50%, 3: 50%}}}
  first: {ets: {bandwidth: {0: 20%, 6: 30%}}}'
  check 0
  [ "$(desired qos/0000:18:00.0/ets)" = "bandwidth 0:20 3:50 6:30" ]
  sku <<<'qos:
  rails: {ets: {bandwidth: {0: 50%, 3: 50%}}}
  first: {ets: {bandwidth: {0: 30%, 3: 70%}}}'
  check 0
  [ "$(desired qos/0000:18:00.0/ets)" = "bandwidth 0:30 3:70" ]
  sku <<<'qos:
  rails: {ets: {bandwidth: {0: 50%, 3: 50%}}}
  first: {ets: {bandwidth: {0: 30%, 6: 70%}}}'
  check 3
  [[ $output == *"qos.first.ets.bandwidth: the shares add up to 150%; drivers accept 100% only"* ]]
  sku <<<'qos:
  rails: {ets: {bandwidth: {0: 50%, 3: 50%}}}
  first: {ets: {bandwidth: {0: 20%}}}'
  check 3
  [[ $output == *"the shares add up to 70%"* ]]
}

@test "lists of a set within a set replace, and optional adds" {
  sku <<<'qos:
  rails: {pfc: [3], optional: [pfc, trust]}
  first: {pfc: [4], trust: dscp, dscp_map: {46: 4}, optional: [dscp_map]}'
  check 0
  [ "$(desired qos/0000:18:00.0/pfc)" = 4 ]
  # the first rail's driver has no DCQCN
  cp -a "$BATS_FILE_TMPDIR/pristine/node" "$sim/node"
  rm -r "$sim"/node/sys/devices/pci*/*/*/*/0000:18:00.0/net/*/ecn
  sim_profile <<'Y'
  first: {in: rails, address: "0000:18:00.0"}
qos:
  rails: {dcqcn: {np: {cnp_dscp: 4}}, optional: [dcqcn]}
  first: {traffic_class: 106, optional: [traffic_class]}
Y
  sim_start </dev/null
  run -0 "$railhead" apply --root "$root" --stage devices
  # the key that optional: takes
  [[ $output == *"leave dcqcn.np.cnp_dscp out, or name dcqcn in qos.SET.optional"* ]]
  [ "$(cat "$root/sys/class/net/enp58s0/ecn/roce_np/cnp_dscp")" = 4 ]
}

@test "sets that share functions, and of which none is within the other, are judged together" {
  sku <<<'qos:
  rails: {trust: dscp, dscp_map: {40-47: 3}}
  near: {dscp_map: {46: 5}}'
  run -0 --separate-stderr "$railhead" check "$sim/sku.yaml" # who knows which functions are near?
  run -3 --separate-stderr "$railhead" check --root "$root" "$sim/sku.yaml"
  [[ $output == *"qos.near.dscp_map: DSCP 46 goes to priority 3 already at "*"name it once"* ]]
  [ "$(grep -c "DSCP 46" <<<"$output")" = 1 ]
  sku <<<'qos:
  rails: {ets: {bandwidth: {0: 50%, 3: 50%}}}
  near: {ets: {bandwidth: {6: 100%}}}'
  run -3 --separate-stderr "$railhead" check --root "$root" "$sim/sku.yaml"
  [[ $output == *"the shares add up to 200%"* ]]
  sku <<<'qos:
  rails: {trust: dscp, dscp_map: {46: 3}, roce_tos: 186}
  near: {pfc: [4]}'
  run -3 --separate-stderr "$railhead" check --root "$root" "$sim/sku.yaml"
  [[ $output == *"qos.rails.roce_tos: its DSCP, 46, goes to priority 3 by dscp_map"*"which pfc (at 10:"* ]]
}

@test "of sets that share functions, a warning of both is no second message beside one's error" {
  sku <<<'qos:
  rails: {trust: dscp, roce_tos: 186, pfc: [3]}
  near: {cable_length: 5m}'
  check 3
  [ "$(grep -c "its DSCP, 46, goes to priority 5" <<<"$output")" = 1 ]
  # sets without settings of their own share functions with others, and are nobody's business
  sed -i '/^  near: {cable/d; s/near: {numa: 0.*/&\n  all: {pci: "*:*"}/' "$sim/sku.yaml"
  check 3
  [ "$(grep -c "its DSCP, 46, goes to priority 5" <<<"$output")" = 1 ]
}
