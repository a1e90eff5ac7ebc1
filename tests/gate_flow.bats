#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What happens around the measuring: waiting, work let in by hand, a pass that is used again.
# What units and timers do is seen in the VM (tests/vm/cases/waiting.py).

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  record=$root/run/railhead/status.json
  ready=$root/run/railhead/ready
}

carrier() { # 0|1
  put "$root/sys/devices/pci0000:00/$PF0/net/eth0/carrier" "$1"
}

gate() { # STATUS [OPTION...]
  run "-$1" "$railhead" gate --root "$root" "${@:2}"
}

in_record() { # JQ-FILTER
  jq -e "$1" "$record" >/dev/null || {
    echo "does not hold: $1"
    cat "$record"
    return 1
  }
}

edit_record() { # JQ-FILTER
  jq "$1" "$record" >"$record.new"
  mv "$record.new" "$record"
}

LINKS='  checks: {links: {run: carrier, on: nics}}'

# --- what a program reads --------------------------------------------------------------------------

answer() { # STATUS: the keys that a program asks for first
  run "-$1" --separate-stderr "$railhead" status --json --root "$root"
  jq -c '[keys[] | select(IN("verdict", "admit", "reasons", "faults", "skipped", "judged_usec", "warnings", "trends"))]' \
    <<<"$output"
}

@test "status --json: the keys of the answer are there before the first verdict, and with each one" {
  local state all='["admit","faults","judged_usec","reasons","skipped","trends","verdict","warnings"]'
  [ "$(answer 7)" = "$all" ] # no record
  [ "$(jq -c '[.verdict, .admit, .reasons, .faults]' <<<"$("$railhead" status --json --root "$root")")" = '[null,false,[],[]]' ]
  gated "$LINKS"
  run -0 "$railhead" apply --root "$root"
  [ "$(answer 7)" = "$all" ] # stages, and no gate
  gate 0
  [ "$(answer 0)" = "$all" ]
  for state in degraded blocked waiting lapsed off none; do
    edit_record ".verdict = \"$state\" | .admit = false"
    [ "$(answer 7)" = "$all" ]
  done
}

# --- benchmarks in the plan -----------------------------------------------------------------------

@test "plan lists each benchmark with its target, verify with its last figure, under the id that the gate gives it" {
  local measured
  gated '  checks:
    memory: {run: memory_bandwidth, per: node, min: 2GB/s}
    latency: {run: memory_latency, per: node, max: 200ns}
    loop: {run: rdma_loopback, on: nics, min: 92% of line, on_fail: degrade}
    pair: {run: rdma_pairs, on: nics, min: 1GB/s}
    site: {run: command, command: [/usr/local/sbin/no-such-test, -v], min: 1GB/s}
    links: {run: carrier, on: nics}'
  bench_value 1e9
  run -7 with_bench "$railhead" gate --root "$root"
  measured=$(jq -c '[.measurements[].id] | sort' "$record")
  [ "$(jq length <<<"$measured")" = 9 ]
  rm -f "$bench_log"
  run -0 "$railhead" plan --root "$root" --json # nothing differs: what is to be measured is no difference
  [ "$(jq -c '[.changes[] | select(.kind == "benchmark").id] | sort' <<<"$output")" = "$measured" ]
  [ "$(jq -r '.changes[] | select(.id == "gate/memory/node1") | "\(.state) \(.target) \(.desired)"' <<<"$output")" = \
    "to measure memory_bandwidth:node1 min 2GB/s" ]
  [ "$(jq -r ".changes[] | select(.id == \"gate/loop/$PF0\") | \"\(.on_fail) \(.desired): \(.note)\"" <<<"$output")" = \
    "degrade min 92% of line: not as the machine is now: rdma_loopback of $PF0: $PF0 has no RDMA device with the driver mlx5_core; see that the module that adds one (mlx5_ib, irdma, bnxt_re) is loaded" ]
  run -5 "$railhead" verify --root "$root" --json
  [ "$(jq -c '[.changes[] | select(.kind == "benchmark").id] | sort' <<<"$output")" = "$measured" ]
  [ "$(jq -r '.changes[] | select(.id == "gate/memory/node1") | "\(.state) \(.observed) \(.desired) \(.fault) \(.remedy)"' <<<"$output")" = \
    "slow 1.0 GB/s min 2GB/s RH-MEMORY-BANDWIDTH check the DIMM population, the memory speed and the power profile in the BIOS" ]
  [ "$(jq -r ".changes[] | select(.id == \"gate/loop/$PF0\") | \"\(.state): \(.reason)\"" <<<"$output")" = \
    "cannot measure: rdma_loopback of $PF0: $PF0 has no RDMA device with the driver mlx5_core" ]
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"slow        gate/memory/node0 "*"'1.0 GB/s' -> 'min 2GB/s': memory_bandwidth of node 0: measured 1.0 GB/s, required at least 2GB/s; check the DIMM "* ]]
  [[ ${lines[-1]} == "profile sku: 9 of "*" differ, "*" match (--all lists them)" ]]
  run -0 "$railhead" why gate/memory/node0 --root "$root"
  [[ $output == *"boot:    measured in "*": 1.0 GB/s, required 2GB/s: slow"$'\n'* && $output != *"to measure"* ]]
  [[ $output == *"wrong:   memory_bandwidth of node 0: measured 1.0 GB/s, required at least 2GB/s"*"remedy:  check the DIMM population"* ]]
  [ "$(bench_runs)" = "" ]
  # a later gate that finds it good, and another profile, of which nothing was measured
  bench_value 3e9
  run -7 with_bench "$railhead" gate --again --root "$root"
  run -5 "$railhead" verify --all --root "$root"
  [[ $output == *"same        gate/memory/node0 "*"3.0 GB/s"* ]]
  cp "$root/etc/railhead/profiles/sku.yaml" "$BATS_TEST_TMPDIR/sku.yaml"
  sed -i 's/min: 2GB/min: 4GB/' "$BATS_TEST_TMPDIR/sku.yaml"
  run -0 "$railhead" verify --profile "$BATS_TEST_TMPDIR/sku.yaml" --root "$root"
  [[ ${lines[-1]} == *"; 9 to measure (railhead gate)" ]]
  run -0 "$railhead" plan --all --root "$root"
  [[ $output == *"to measure  gate/memory/node0 "*"'min 2GB/s'"* ]]
  run -0 "$railhead" plan --root "$root"
  [[ $output != *gate/memory* && $output == *"to measure  gate/loop/$PF0 "*" not as the machine is now: rdma_loopback "* ]]
  [[ ${lines[-1]} == "profile sku: converged, all "*" match (--all lists them); 9 to measure (railhead gate)" ]]
  run -0 "$railhead" plan --root "$root" --stage devices
  [[ $output != *"to measure"* ]]
}

again() { # STATUS: a gate in a boot of its own
  put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"
  run "-$1" with_bench "$railhead" gate --again --root "$root"
  causes=$(jq -r '.measurements[] | select(.id == "gate/memory/node0").causes' "$record")
}

@test "what was so at the last good look is no likely cause; what has changed since is" {
  gated '  checks: {memory: {run: memory_bandwidth, per: node, min: 2GB/s}}'
  local balancing="$root/proc/sys/kernel/numa_balancing"
  put "$balancing" 1
  put "$root/sys/class/dmi/id/product_serial" ONE
  bench_value 1e9
  again 7 # no good look yet
  [[ $causes == "likely: "*"automatic NUMA balancing is on"* && $causes != *"good look"* ]]
  bench_value 3e9
  again 0
  bench_value 1e9
  again 7
  [[ $causes != *likely:* && $causes == *"automatic NUMA balancing is on, as at the last good look"* ]]
  # a slow boot is no good look
  put "$balancing" 0
  again 7
  [[ $causes == "likely: automatic NUMA balancing is off, on at the last good look"* ]]
  again 7
  [[ $causes == "likely: automatic NUMA balancing is off, on at the last good look"* ]]
  # a good look, and slow ones after it in the same boot
  bench_value 3e9
  again 0
  bench_value 1e9
  for _ in 1 2; do
    run -7 with_bench "$railhead" gate --again --root "$root"
    causes=$(jq -r '.measurements[] | select(.id == "gate/memory/node0").causes' "$record")
    [ -n "$causes" ]
    [[ $causes != *likely:*"NUMA balancing"* ]]
  done
  # the history of another machine
  put "$root/sys/class/dmi/id/product_serial" ANOTHER
  put "$balancing" 1
  again 7
  [[ $causes == "likely: "*"automatic NUMA balancing is on"* && $causes != *"good look"* ]]
  echo '{' >"$root/var/lib/railhead/history.json"
  again 7
  [[ $causes == "likely: "*"automatic NUMA balancing is on"* && $causes != *"good look"* ]]
}

@test "a stage that switches the profile leaves no figure that the other profile's threshold judged" {
  gated '  checks: {memory: {run: memory_bandwidth, per: node, min: 2GB/s}}'
  bench_value 3e9
  run -0 with_bench "$railhead" gate --root "$root"
  sed -i 's/min: 2GB/min: 4GB/' "$root/etc/railhead/profiles/sku.yaml"
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" verify --root "$root"
  [[ ${lines[-1]} == *"; 2 to measure (railhead gate)" ]]
  run -0 "$railhead" why gate/memory/node0 --root "$root"
  [[ $output == *"to measure by"* && $output != *"3.0 GB/s"* ]]
}

@test "a function with two netdevs, one up and one still coming up: the gate waits for both checks" {
  local dev=$root/sys/devices/pci0000:00/$PF0
  gated '  wait: 600s
  checks: {links: {run: carrier, on: nics, speed: 400Gb/s}}'
  put "$root/sys/class/net/eth0/speed" 400000
  put "$root/sys/class/net/eth1/speed" 400000
  cp -a "$dev/net/eth0" "$dev/net/eth8"
  put "$dev/net/eth8/ifindex" 8
  put "$dev/net/eth8/carrier" 0
  put "$root/run/udev/data/n8" I:1
  ln -s "../../devices/pci0000:00/$PF0/net/eth8" "$root/sys/class/net/eth8"
  gate 7
  in_record '.verdict == "waiting" and ([.faults[].code] | unique) == ["RH-GATE-NOT-YET"]'
}

# --- a record that can't be read --------------------------------------------------------------------

# Each reader of the record has the sentence, and a gate writes a record that can be read.
unreadable() { # SENTENCE
  run -7 "$railhead" status --root "$root"
  [ "$output" = "verdict: waiting ($1)" ]
  run -7 --separate-stderr "$railhead" status --json --root "$root"
  [ "$(jq -r .unreadable <<<"$output")" = "$1" ]
  run -7 "$railhead" status --html - --root "$root"
  output=$(python3 -c 'import html, sys; print(html.unescape(sys.stdin.read()))' <<<"$output")
  [[ $output == *"<p>$1</p>"* && $output != *"has not run in this boot"* ]]
  run -0 --separate-stderr "$railhead" verify --root "$root"
  [ "$stderr" = "railhead: $1" ]
  run -0 --separate-stderr "$railhead" verify --json --root "$root"
  [ "$stderr" = "railhead: $1" ]
  run -0 "$railhead" why "gate/links/$PF0" --root "$root"
  [[ $output == *"boot:    "*"$1"* && $output != *"has not run in this boot"* ]]
  run -0 --separate-stderr "$railhead" why "gate/links/$PF0" --json --root "$root"
  [ "$stderr" = "railhead: $1" ]
  run -0 --separate-stderr "$railhead" gate --recheck --root "$root"
  [ "$stderr" = "railhead: $1" ]
  gate 0 --again
  run -0 "$railhead" status --json --root "$root"
  [ "$(jq -c '[.verdict, has("unreadable")]' <<<"$output")" = '["ready",false]' ]
}

@test "a record that is cut off, empty or of another version is named by each reader, and written again" {
  local path=/run/railhead/status.json again='`railhead gate --again`'
  gated "$LINKS"
  gate 0
  run -0 --separate-stderr "$railhead" verify --root "$root"
  [ "$stderr" = "" ]
  head -c 40 "$record" >"$record.new"
  mv "$record.new" "$record"
  unreadable "$path: damaged at line 3: premature end of input near '\"11111111-22'; $again writes it again"
  : >"$record"
  unreadable "$path: damaged at line 1: '[' or '{' expected near end of file; $again writes it again"
  rm "$record"
  mkdir "$record"
  run -7 "$railhead" status --root "$root"
  [ "$output" = "verdict: waiting ($path is no regular file; remove it; $again writes it again)" ]
  rmdir "$record"
  gate 0
  edit_record '.schema = 99'
  unreadable "$path: written by another version of railhead (schema 99; this one reads 3): run $again"
}

@test "a record of another boot is none, whatever version wrote it" {
  gated "$LINKS"
  gate 0
  edit_record '.schema = 99'
  put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"
  run -7 "$railhead" status --root "$root"
  [ "$output" = "verdict: waiting (railhead has not run in this boot)" ]
  run -7 "$railhead" status --json --root "$root"
  jq -e 'has("unreadable") | not' <<<"$output"
  run -0 --separate-stderr "$railhead" verify --root "$root"
  [ "$stderr" = "" ]
}

# --- waiting -----------------------------------------------------------------------------------

@test "a carrier that is not there makes the node wait, and it is ready when it comes" {
  gated "$LINKS"
  carrier 0
  gate 7
  in_record '.verdict == "waiting" and .admit == false'
  in_record '.waiting.until_usec - .waiting.since_usec == 600e6'
  [[ $output == *"at most 10 min"* ]]
  [ ! -e "$ready" ]
  run -7 "$railhead" status --root "$root"
  [[ $output == *"no carrier"*"looks again by itself until gate.wait is over. Check the cable"* ]]
  gate 7 --retry
  in_record '.verdict == "waiting"'
  carrier 1
  gate 0 --retry
  in_record '.verdict == "ready" and .admit and (has("waiting") | not)'
  [ -e "$ready" ]
}

@test "what has waited long enough is blocked, says how long, and a gate by hand begins anew" {
  gated "  wait: 20s
$LINKS"
  carrier 0
  gate 7
  in_record '.waiting.until_usec - .waiting.since_usec == 20e6'
  edit_record '.waiting.since_usec -= 20e6 | .waiting.until_usec -= 20e6'
  in_record '.faults[0].remedy | test("looks again by itself .* Check the cable")'
  gate 7 --retry
  in_record '.verdict == "blocked"'
  in_record '.faults[0].remedy | startswith("Check the cable") and (split("Check the cable") | length == 2)'
  in_record ".reasons[-1] | test(\"^gate.wait: waited [2-5][0-9] s for gate/links/$PF0, and gave up\")"
  run -7 --separate-stderr "$railhead" gate --retry --root "$root"
  [[ $stderr == *"nothing done: the verdict is 'blocked'"* ]]
  gate 7
  in_record '.verdict == "waiting" and .waiting.looked_usec < .waiting.until_usec'
}

@test "a stage by hand leaves what is waited for; another profile is judged anew" {
  gated "$LINKS"
  carrier 0
  gate 7
  run -0 "$railhead" apply --root "$root"
  in_record '.verdict == "waiting" and has("waiting") and (.reasons[0] | contains("no carrier"))'
  gated "  budget: 239s
$LINKS"
  run -0 "$railhead" apply --root "$root"
  in_record '.verdict == "waiting" and (has("waiting") | not)'
  carrier 1
  in_record '.reasons == ["the gate has not judged this profile yet"]'
  gate 0 --retry
}

@test "a retry judges where only a stage has, whatever that stage says" {
  gated "$LINKS"
  echo 'sysctl: {vm.no_such: 1}' >>"$root/etc/railhead/profiles/sku.yaml"
  carrier 1
  run -6 "$railhead" apply --root "$root"
  in_record '.verdict == "blocked"'
  put "$root/proc/sys/vm/no_such" 1
  gate 0 --retry
}

@test "nothing is waited for beside what blocks anyhow, nor where work is let in all the same" {
  carrier 0
  gated '  checks: {links: {run: carrier, on: nics}, width: {run: pcie_link, on: nics, width: 32}}'
  gate 7
  in_record '.verdict == "blocked" and (has("waiting") | not)'
  gated '  checks: {links: {run: carrier, on: nics, on_fail: warn}}'
  gate 0
  in_record '.verdict == "ready"'
  gated '  checks: {links: {run: carrier, on: nics, on_fail: degrade}}'
  gate 7 --again
  in_record '.verdict == "waiting"'
  gated '  admit_degraded: true
  checks: {links: {run: carrier, on: nics, on_fail: degrade}}'
  gate 0 --again
  in_record '.verdict == "degraded" and .admit'
}

@test "a port that trained to a lower speed than required is blocked at once" {
  gated '  checks: {links: {run: carrier, on: nics, speed: 400Gb/s}}'
  for nic in eth0 eth1; do put "$root/sys/class/net/$nic/speed" 100000; done
  gate 7
  in_record '.verdict == "blocked"'
  carrier 0
  put "$root/sys/class/net/eth1/speed" 400000
  gate 7
  in_record '.verdict == "waiting"'
}

@test "an RDMA port that trained to a lower speed than required is blocked at once" {
  local n pf device port rdma="$root/sys/class/infiniband"
  gated '  wait: 600s
  checks: {rdma: {run: rdma_link, on: nics, speed: 400Gb/s}}'
  mkdir -p "$rdma"
  for n in 0 1; do
    pf=PF$n
    device=devices/pci0000:00/${!pf}/infiniband/mlx5_$n
    port=$root/sys/$device/ports/1
    put "$port/state" "4: ACTIVE"
    put "$port/phys_state" "5: LinkUp"
    put "$port/link_layer" InfiniBand
    put "$port/rate" "200 Gb/sec (2X NDR)"
    ln -s "../../$device" "$rdma/mlx5_$n"
  done
  gate 7
  in_record '.verdict == "blocked" and ([.faults[].code] | unique) == ["RH-RDMA-SPEED"]'
  in_record '.faults[0].why | endswith("trained to a lower speed (2X NDR)")'
  # with a port that came up as it should, its neighbour that has not trained yet is awaited
  for n in 0 1; do
    put "$rdma/mlx5_$n/ports/1/state" "4: ACTIVE"
    put "$rdma/mlx5_$n/ports/1/rate" "400 Gb/sec (4X NDR)"
  done
  cp -a "$port" "${port%1}2"
  put "${port%1}2/state" "1: DOWN"
  gate 7 --again
  in_record '.verdict == "waiting"'
}

@test "a retry measures only what could not be measured, and only once the looks let work in" {
  gated '  checks:
    links: {run: carrier, on: nics}
    memory: {run: memory_bandwidth, per: node, min: 1GB/s}
    other: {run: memory_bandwidth, per: node, min: 1GB/s}'
  carrier 0
  bench_value 2e9
  run -7 with_bench "$railhead" gate --root "$root"
  [ "$(bench_runs)" = 4 ]
  in_record '.verdict == "waiting" and (.reasons | length) == 1'
  # One of them, as if its peer had not been there.
  edit_record '(.measurements[] | select(.id == "gate/other/node1")) |= . + {state: "not yet", reason: "no peer"}'
  run -7 with_bench "$railhead" gate --retry --root "$root"
  [ "$(bench_runs)" = 4 ]
  in_record '.verdict == "waiting" and (.reasons | length) == 2'
  carrier 1
  bench_says '{"bench": "memory_bandwidth", "result": "not yet", "reason": "the peer sleeps"}'
  run -7 with_bench "$railhead" gate --retry --root "$root"
  [ "$(bench_runs)" = 6 ] # both nodes of the check: they may be judged beside each other
  in_record '.verdict == "waiting" and (.reasons | length) == 2 and (.measurements | length) == 4'
  bench_value 3e9
  run -0 with_bench "$railhead" gate --retry --root "$root"
  [ "$(bench_runs)" = 8 ]
  in_record '.verdict == "ready" and ([.measurements[].observed] | sort) == ["2.0 GB/s", "2.0 GB/s", "3.0 GB/s", "3.0 GB/s"]'
}

@test "--again, --retry and --keep exclude each other" {
  gated "$LINKS"
  for two in "--retry --again" "--retry --keep" "--again --keep"; do
    # shellcheck disable=SC2086 # two words
    run -2 "$railhead" gate $two --root "$root"
  done
}

# --- admit -------------------------------------------------------------------------------------

blocked() {
  gated '  checks: {width: {run: pcie_link, on: nics, width: 32}}'
  gate 7
  in_record '.verdict == "blocked"'
}

@test "admit: a blocked node works, the verdict stays, all readers are told, and it can be taken back" {
  mkdir -p "$root/var/lib/prometheus/node-exporter"
  blocked
  SUDO_USER=alice run -0 "$railhead" admit --for 4h --reason "cable is on its way" --root "$root"
  [[ $output == "verdict: blocked (work is admitted by hand)"* ]]
  in_record '.verdict == "blocked" and .admit == false'
  in_record '.admission.until_usec - .admission.since_usec == 4 * 3600e6'
  in_record '.admission.who | startswith("alice (uid ")'
  in_record '(.admission.until | fromdate) - now | . > 14300 and . < 14500'
  run -0 "$railhead" status --root "$root"
  [[ $output == *"by hand: admitted until 20"*"Z by alice (uid "*": cable is on its way"* ]]
  [[ $(cat "$ready") == "blocked "*"admitted until 20"*"cable is on its way" ]]
  metrics=$root/var/lib/prometheus/node-exporter/railhead.prom
  grep -qx 'railhead_ready 1' "$metrics"
  grep -qx 'railhead_admitted_by_hand 1' "$metrics"
  grep -q 'verdict="blocked"' "$metrics"
  run -0 "$railhead" admit --end --root "$root"
  run -7 "$railhead" status --root "$root"
  [ ! -e "$ready" ]
  grep -qx 'railhead_admitted_by_hand 0' "$metrics"
  in_record 'has("admission") | not'
  run -0 "$railhead" admit --end --root "$root"
  [[ $output == "nothing is admitted by hand"* ]]
}

@test "admit: the newest admission is the one in force" {
  blocked
  run -0 "$railhead" admit --for 1h --reason x --root "$root"
  run -0 "$railhead" admit --for 1m --reason y --root "$root"
  in_record '.admission.until_usec - .admission.since_usec == 60e6 and .admission.reason == "y"'
  run -0 "$railhead" status --root "$root"
}

@test "admit: its end counts even if nobody clears it away" {
  blocked
  "$railhead" admit --for 1m --reason x --root "$root"
  run -0 "$railhead" status --root "$root"
  edit_record '.admission.until_usec = 1'
  run -7 "$railhead" status --root "$root"
  [[ $output != *"by hand"* ]]
  [ -e "$ready" ]
  run -0 "$railhead" admit --end --root "$root" # the timer, late
  [ ! -e "$ready" ]
}

@test "admit: of this boot and this profile alone" {
  blocked
  "$railhead" admit --for 1h --reason x --root "$root"
  run -0 "$railhead" status --root "$root"
  edit_record '.profile.digest = "another"'
  run -7 "$railhead" status --root "$root"
  edit_record '.profile.digest = .admission.digest'
  run -0 "$railhead" status --root "$root"
  put "$root/proc/sys/kernel/random/boot_id" 99999999-2222-3333-4444-555555555555
  run -7 "$railhead" status --root "$root"
}

@test "admit: a gate that blocks again leaves it, one that is ready makes it moot" {
  blocked
  "$railhead" admit --for 1h --reason "why not" --root "$root"
  gate 7 --again
  [ -e "$ready" ]
  in_record '.verdict == "blocked" and .admission.reason == "why not"'
  for pf in $PF0 $PF1; do put "$root/sys/devices/pci0000:00/$pf/current_link_width" 32; done
  gate 0
  in_record '.verdict == "ready" and (has("admission") | not)'
  run -0 "$railhead" admit --for 1h --reason x --root "$root"
  [[ $output == *"work is admitted already"* ]]
  in_record 'has("admission") | not'
}

@test "admit: a stage that fails by hand leaves the ready file" {
  blocked
  "$railhead" admit --for 1h --reason x --root "$root"
  run "$railhead" apply --root "$root"
  [ -e "$ready" ]
}

@test "admit: refused before the gate, with none and with off, each with what to do" {
  gated "$LINKS"
  run -7 "$railhead" admit --for 1h --reason x --root "$root"
  [[ $output == *"run \`railhead gate\`"* ]]
  run -0 "$railhead" apply --root "$root"
  run -7 "$railhead" admit --for 1h --reason x --root "$root"
  [[ $output == *"run \`railhead gate\`"* ]]
  put "$root/sys/class/dmi/id/sys_vendor" Nobody
  gate 7
  run -7 "$railhead" admit --for 1h --reason x --root "$root"
  [[ $output == *admit_none* ]]
  put "$root/proc/cmdline" "railhead=off"
  gate 7
  run -7 "$railhead" admit --for 1h --reason x --root "$root"
  [[ $output == *admit_off* ]]
  [ ! -e "$ready" ]
}

takes_times_and_reasons() { # VERB KEY-OF-THE-RECORD
  local time reason
  for time in 59s 8d 169h 4 "" h -1h 1w 99999999999999999999h; do
    run -2 "$railhead" "$1" --for "$time" --reason x --root "$root"
    [[ $output == "railhead: $1: --for $time: must be 1m to 7d"* ]]
  done
  for reason in "" "   " $'two\nlines' $'\e[31m' $'\xff' "$(printf 'x%.0s' {1..201})"; do
    run -2 "$railhead" "$1" --for 1h --reason "$reason" --root "$root"
    [[ $output == "railhead: $1: --reason TEXT: "* ]]
  done
  run -2 "$railhead" "$1" --for 1h --root "$root"
  run -2 "$railhead" "$1" --reason x --root "$root"
  run -2 "$railhead" "$1" --root "$root"
  run -2 "$railhead" "$1" --end --for 1h --reason x --root "$root"
  in_record "has(\"$2\") | not"
  for time in 1m 7d 168h; do
    run -0 "$railhead" "$1" --for "$time" --reason x --root "$root"
  done
  in_record "has(\"$2\")"
  run -0 "$railhead" "$1" --for 0s --root "$root"
  in_record "has(\"$2\") | not"
}

@test "admit: times and reasons that are refused" {
  blocked
  takes_times_and_reasons admit admission
}

# --- maintain ------------------------------------------------------------------------------------

METRICS=var/lib/prometheus/node-exporter/railhead.prom

published() { # 0|1: railhead_maintenance
  grep -qx "railhead_maintenance $1" "$root/$METRICS"
}

maintain() {
  run -0 "$railhead" maintain --for 2h --reason "driver reload" --root "$root"
}

with_metrics() {
  mkdir -p "$root/${METRICS%/*}"
}

@test "maintain: a ready node stays ready, all readers are told who, until when and why, and it can be ended" {
  with_metrics
  gated "$LINKS"
  gate 0
  published 0
  cp "$record" "$BATS_TEST_TMPDIR/before"
  SUDO_USER=alice maintain
  [[ $output == "verdict: ready (work is admitted)"*"by hand: maintenance until 20"*"Z by alice (uid "*": driver reload"* ]]
  in_record '.maintenance.until_usec - .maintenance.since_usec == 2 * 3600e6'
  in_record '(.maintenance.until | fromdate) - now | . > 7100 and . < 7300'
  diff <(jq . "$BATS_TEST_TMPDIR/before") <(jq 'del(.maintenance)' "$record") # nothing else
  [ -e "$ready" ]
  published 1
  run -0 "$railhead" status --root "$root"
  [[ $output == *"maintenance until"* ]]
  run -0 "$railhead" status --html - --root "$root"
  [[ $output == *"maintenance until 20"*": driver reload"* ]]
  [ "$("$railhead" status --json --root "$root" | jq -r .maintenance.reason)" = "driver reload" ]
  run -0 "$railhead" maintain --end --root "$root"
  [[ $output != *"maintenance until"* ]]
  published 0
  diff <(jq . "$BATS_TEST_TMPDIR/before") <(jq . "$record")
  run -0 "$railhead" maintain --end --root "$root"
  [[ $output == "no maintenance is announced"* ]]
}

@test "maintain: it admits nothing: blocked, waiting or lapsed, the verdict, the exit code and the files stay" {
  with_metrics
  blocked
  maintain
  [[ $output == "verdict: blocked (work is not admitted)"*"maintenance until"* ]]
  in_record '.verdict == "blocked" and (has("admission") | not)'
  [ ! -e "$ready" ]
  run -7 "$railhead" status --root "$root"
  published 1
  grep -qx 'railhead_ready 0' "$root/$METRICS"
  # beside an admission, each has its own end
  run -0 "$railhead" admit --for 1h --reason x --root "$root"
  [[ $output == *"by hand: admitted until"*"by hand: maintenance until"* ]]
  run -0 "$railhead" admit --end --root "$root"
  published 1
  run -0 "$railhead" admit --for 1h --reason x --root "$root"
  run -0 "$railhead" maintain --end --root "$root"
  run -0 "$railhead" status --root "$root"
  published 0
  # waiting
  gated "$LINKS"
  carrier 0
  gate 7
  in_record '.verdict == "waiting"'
  maintain
  in_record '.verdict == "waiting" and .waiting.until_usec > 0'
  published 1
}

@test "maintain: a lapse is recorded, shown and healed as ever, and the window stays through it and a gate" {
  with_metrics
  put "$root/proc/sys/vm/swappiness" 10
  gated "$LINKS" 'sysctl: {vm.swappiness: 10}'
  gate 0
  maintain
  put "$root/proc/sys/vm/swappiness" 60
  gate 7 --recheck
  run -7 "$railhead" status --root "$root"
  [[ $output == "verdict: lapsed (work is not admitted)"*"vm.swappiness"*"maintenance until"* ]]
  published 1
  grep -qx 'railhead_ready 0' "$root/$METRICS"
  put "$root/proc/sys/vm/swappiness" 10
  gate 0 --recheck
  in_record '.verdict == "ready" and .maintenance.reason == "driver reload"'
  gate 0 --again
  run -0 "$railhead" apply --root "$root"
  in_record '.verdict == "ready" and .maintenance.reason == "driver reload"'
  published 1
  # with another profile, too
  gated "$LINKS" 'sysctl: {vm.swappiness: 60}'
  gate 7
  in_record '.maintenance.reason == "driver reload"'
  published 1
}

@test "maintain: its end counts even if nobody clears it away, for each reader; the newest window is in force" {
  with_metrics
  gated "$LINKS"
  gate 0
  maintain
  run -0 "$railhead" maintain --for 1m --reason y --root "$root"
  in_record '.maintenance.until_usec - .maintenance.since_usec == 60e6 and .maintenance.reason == "y"'
  edit_record '.maintenance.until_usec = 1'
  run -0 "$railhead" status --root "$root"
  [[ $output != *maintenance* ]]
  [ "$("$railhead" status --json --root "$root" | jq 'has("maintenance")')" = false ]
  run -0 "$railhead" status --html - --root "$root"
  [[ $output != *maintenance* ]]
  gate 0 --recheck
  published 0
  in_record 'has("maintenance")' # for the journal's last entry
  run -0 "$railhead" maintain --end --root "$root" # the timer, late
  in_record 'has("maintenance") | not'
}

@test "maintain: the timer ends a window whose time is over, leaves a newer one, and tells readers of a lost one" {
  with_metrics
  gated "$LINKS"
  gate 0
  put "$root/cgroup" "0::/system.slice/railhead-maintain-end.service"
  timer() {
    # shellcheck disable=SC2016
    run -0 unshare -m sh -c 'mount --bind "$1/cgroup" "/proc/$$/cgroup"; exec "$2" maintain --end --root "$1"' sh "$root" "$(realpath "$railhead")"
  }
  maintain
  timer
  [ -z "$output" ]
  in_record '.maintenance.reason == "driver reload"'
  published 1
  edit_record '.maintenance.until_usec = 1'
  timer
  in_record 'has("maintenance") | not'
  published 0
  maintain
  edit_record 'del(.maintenance)'
  timer
  published 0
}

@test "maintain: of this boot and this user space alone" {
  with_metrics
  gated "$LINKS"
  gate 0
  maintain
  put "$root/proc/sys/kernel/random/boot_id" 99999999-2222-3333-4444-555555555555
  run -7 "$railhead" status --root "$root"
  [[ $output != *maintenance* ]]
  run -0 "$railhead" apply --stage early --root "$root"
  published 0
}

@test "maintain: refused without a record of this boot, or with one that can't be read, with what to do" {
  gated "$LINKS"
  run -7 "$railhead" maintain --for 1h --reason x --root "$root"
  [ "$output" = "railhead: maintain: railhead has not run in this boot; run \`railhead gate\`" ]
  run -0 "$railhead" apply --root "$root" # no gate yet, and a record
  maintain
  in_record '.maintenance.reason == "driver reload"'
  echo '{' >"$record"
  run -7 "$railhead" maintain --for 1h --reason x --root "$root"
  [[ $output == *"damaged"*"\`railhead gate --again\` writes it again" ]]
  run -0 "$railhead" maintain --end --root "$root"
  [ "$(cat "$record")" = '{' ]
}

@test "maintain: times and reasons that are refused" {
  gated "$LINKS"
  gate 0
  takes_times_and_reasons maintain maintenance
}

@test "maintain: without the right to write, nothing has begun" {
  gated "$LINKS"
  gate 0
  open=$(mktemp -d) # which another user may enter
  cp -a "$root" "$open/root"
  cp "$railhead" "$open/railhead"
  chmod -R a+rX "$open"
  run -1 setpriv --reuid=65534 --regid=65534 --clear-groups "$open/railhead" maintain --for 1h --reason x --root "$open/root"
  cmp "$record" "$open/root/run/railhead/status.json"
  rm -rf "$open"
  [[ $output == *"/run/railhead/lock: "*"ermission denied"* ]]
}

# --- a pass that is used again -------------------------------------------------------------------

kept() { echo "$root/var/lib/railhead/pass.json"; }

# A node that passes, with two functions, a BIOS and a driver that say what they are.
passing() { # REUSE [MORE-CHECKS NUMBERS]
  put "$root/sys/class/dmi/id/bios_version" 1.1
  put "$root/sys/class/dmi/id/product_serial" S3CRET
  put "$root/sys/module/mlx5_core/version" 24.10
  put "$root/proc/version" "Linux version 6.1.0"
  put "$root/sys/devices/system/clocksource/clocksource0/current_clocksource" tsc
  for n in 0 1; do
    put "$root/sys/devices/system/node/node$n/cpulist" "$((2 * n))-$((2 * n + 1))"
    put "$root/sys/devices/system/node/node$n/meminfo" "Node $n MemTotal:       16400000 kB"
  done
  gated "  reuse: $1
  checks: {memory: {run: memory_bandwidth, per: node, min: 1GB/s}, links: {run: carrier, on: nics}${2:-}}"
  bench_value 2e9
  run -0 with_bench "$railhead" gate --root "$root"
  [ "$(bench_runs)" = "${3:-2}" ]
}

# No word that is a program's name too: where the function is missing, that one would run.
next_boot() {
  rm -rf "$root/run/railhead"
  put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"
}

orderly_reboot() {
  "$railhead" gate --keep --root "$root"
  next_boot
}

# The gate of the next boot measures (2 nodes), or does not (0).
measures() { # HOW-MANY STATUS
  rm -f "$bench_log"
  run "-${2:-0}" with_bench "$railhead" gate --root "$root"
  [ "$(bench_runs)" = "${1#0}" ]
}

@test "when each measurement began is on record, and not of one that an earlier boot made" {
  passing 24h
  in_record '.stages.gate as $g | .measurements | length == 2 and all(.started_usec >= $g.started_usec and
    .started_usec + .duration_usec <= $g.started_usec + $g.duration_usec and (has("timings") | not))'
  run -0 "$railhead" status --html "$BATS_TEST_TMPDIR/page.html" --root "$root"
  grep -q '<rect class="sort-measurement"' "$BATS_TEST_TMPDIR/page.html"
  orderly_reboot
  measures 0
  in_record '.numbers.boots_ago == 1 and (.measurements | length == 2 and all(has("started_usec") or has("timings") | not))'
  run -0 "$railhead" status --html "$BATS_TEST_TMPDIR/page.html" --root "$root"
  ! grep -q '<rect class="sort-measurement"' "$BATS_TEST_TMPDIR/page.html"
  # one that is slow is measured twice
  bench_value 5e8
  run -7 with_bench "$railhead" gate --again --root "$root"
  in_record '.measurements | all(.timings[0].started_usec == .started_usec and (.timings | length) == 2 and
    ([.timings[].duration_usec] | add) == .duration_usec)'
}

@test "reuse: for days, as admit takes them" {
  passing 1d
  orderly_reboot
  measures 0
  in_record '.verdict == "ready" and .numbers.boots_ago == 1'
  gated '  reuse: 31d'
  run -3 "$railhead" check --root "$root"
  [[ $output == *"gate.reuse: 31d is out of range; must be 60s to 30d"* ]]
}

@test "reuse: after an orderly reboot the numbers stand, the looks are new, and it is said" {
  passing 24h
  orderly_reboot
  [ "$(stat -c %a "$(kept)")" = 600 ]
  run ! grep S3CRET "$(kept)"
  measures 0
  in_record '.verdict == "ready" and .numbers.boots_ago == 1 and (.measurements | length) == 2'
  run -0 "$railhead" status --root "$root"
  [[ $output == *"numbers: measured "*" ago, in the boot before"* ]]
  [ ! -e "$(kept)" ] # it serves once
  orderly_reboot
  measures 0
  in_record '.numbers.boots_ago == 2'
  orderly_reboot
  carrier 0
  measures 0 7
  in_record '.verdict == "waiting"'
  carrier 1
  run -0 with_bench "$railhead" gate --retry --root "$root"
  [ "$(bench_runs)" = "" ]
  orderly_reboot # a pass again
  measures 0
}

@test "reuse: nothing is left by a boot that did not end in an orderly reboot" {
  passing 24h
  next_boot
  measures 2
  in_record '.numbers.boots_ago == 0 and (.numbers | has("again_because") | not)'
}

@test "reuse: what differs is named, and no serial number is" {
  passing 24h
  while IFS='|' read -r file text why; do
    orderly_reboot
    old=$(cat "$root/$file" 2>/dev/null || :)
    put "$root/$file" "$text"
    measures 2
    echo "$file: $(jq -c .numbers "$record")"
    jq -e --arg why "$why" '.numbers.again_because == $why' "$record"
    orderly_reboot
    put "$root/$file" "$old"
    measures 2
  done <<'E2'
sys/class/dmi/id/bios_version|1.2|BIOS: 1.2, was 1.1
sys/class/dmi/id/product_serial|0THER|serial number of the machine: changed
sys/module/mlx5_core/version|24.12|driver mlx5_core: 24.12, was 24.10
proc/version|Linux version 6.1.1|build of the kernel: changed
proc/cmdline|root=/dev/vda2 ro mitigations=off|kernel arguments: changed
sys/devices/pci0000:00/0000:41:00.0/current_link_width|1|link width of 0000:41:00.0: x1, was x16
sys/devices/pci0000:00/0000:41:00.0/current_link_speed|2.5 GT/s PCIe|link speed of 0000:41:00.0: 2.5 GT/s PCIe, was 32.0 GT/s PCIe
sys/devices/system/clocksource/clocksource0/current_clocksource|hpet|clock source: hpet, was tsc
sys/devices/system/node/node1/cpulist|2|CPUs of node 1: 2, was 2-3
sys/devices/system/node/node1/meminfo|Node 1 MemTotal:       8200000 kB|memory of node 1: 8 GiB, was 16 GiB
E2
}

@test "reuse: a few pages of a node's memory are no difference" {
  passing 24h
  orderly_reboot
  put "$root/sys/devices/system/node/node0/meminfo" "Node 0 MemTotal:       16399960 kB"
  measures 0
}

@test "reuse: a link that trained narrower, a NUMA node less, and a member less" {
  passing 24h
  orderly_reboot
  put "$root/sys/devices/pci0000:00/$PF0/current_link_width" 1
  put "$root/sys/devices/pci0000:00/$PF0/current_link_speed" "2.5 GT/s PCIe"
  rm -r "$root/sys/devices/system/node/node1"
  put "$root/sys/devices/system/node/online" 0
  put "$root/sys/devices/system/node/has_cpu" 0
  measures 1
  in_record '[.measurements[].id] == ["gate/memory/node0"]'
  in_record '.numbers.again_because | startswith("NUMA nodes: 0, was 0-1; ")'
  orderly_reboot
  rm "$root/sys/bus/pci/devices/$PF1" "$root/sys/class/net/eth1"
  measures 1
  in_record '.numbers.again_because | startswith("members of nics: 1, was 2; ")'
}

@test "reuse: the pass has a number of each target that is there, and of no other" {
  passing 24h
  while IFS='|' read -r edit why; do
    orderly_reboot
    jq "$edit" "$(kept)" >"$root/x" && mv "$root/x" "$(kept)"
    measures 2
    in_record "$(printf '.numbers.again_because == "%s"' "$why")"
  done <<'E2'
.measurements[1].id = "gate/memory/node7"|gate/memory/node7: this target no longer exists
del(.measurements[1])|gate/memory/node1: was not measured before
E2
}

@test "reuse: a target that can't be measured now has no number from before" {
  for pf in $PF0 $PF1; do
    put "$root/sys/devices/pci0000:00/$pf/infiniband/mlx5_$pf/node_type" "1: CA"
  done
  passing 24h ', loop: {run: rdma_loopback, on: nics, min: 1GB/s}' 4
  orderly_reboot
  measures 0
  orderly_reboot
  rm -r "$root/sys/devices/pci0000:00/$PF1/infiniband"
  measures 3 7
  in_record '.numbers.again_because | test("^gate/loop/0000:81:00.0: not as the machine is now: .*no RDMA device")'
}

@test "reuse: too old, from the future, torn, of another form, with --again, and where none is asked for" {
  passing 24h
  orderly_reboot
  jq '.measured -= 90000' "$(kept)" >"$root/x" && mv "$root/x" "$(kept)"
  measures 2
  in_record '.numbers.again_because == "the earlier measurement is 1 day 1 h old"'
  orderly_reboot
  jq '.measured += 3600' "$(kept)" >"$root/x" && mv "$root/x" "$(kept)"
  measures 2
  in_record '.numbers.again_because | startswith("the earlier measurement has a time in the future")'
  for form in .schema=1 'del(.binding)' '.measurements=[]' '.measured="now"'; do
    orderly_reboot
    jq "$form" "$(kept)" >"$root/x" && mv "$root/x" "$(kept)"
    measures 2
  done
  orderly_reboot
  truncate -s 100 "$(kept)"
  measures 2
  orderly_reboot
  rm -f "$bench_log"
  run -0 with_bench "$railhead" gate --again --root "$root"
  [ "$(bench_runs)" = 2 ]
  [ ! -e "$(kept)" ]
  orderly_reboot
  put "$root/proc/cmdline" "BOOT_IMAGE=/x root=/dev/vda2 ro railhead.slot=a railhead.trial=1 panic=30"
  measures 2
  in_record '.numbers.again_because == "this boot tries kernel arguments"'
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro"
  gated '  checks: {memory: {run: memory_bandwidth, per: node, min: 1GB/s}}'
  run -0 with_bench "$railhead" gate --again --root "$root"
  orderly_reboot
  [ ! -e "$(kept)" ]
  measures 2
}

@test "reuse: only a ready node with nothing slow leaves a pass" {
  gated '  reuse: 24h
  checks: {memory: {run: memory_bandwidth, per: node, min: 3GB/s, on_fail: warn}}'
  bench_value 2e9
  run -0 with_bench "$railhead" gate --root "$root"
  in_record '.verdict == "ready" and .measurements[0].state == "slow"'
  orderly_reboot
  [ ! -e "$(kept)" ]
  bench_value 4e9
  measures 2
  put "$root/sys/devices/pci0000:00/$PF0/current_link_width" 8
  gated '  reuse: 24h
  checks: {memory: {run: memory_bandwidth, per: node, min: 3GB/s, on_fail: warn}, width: {run: pcie_link, on: nics, width: 16}}'
  run -7 with_bench "$railhead" gate --again --root "$root"
  orderly_reboot
  [ ! -e "$(kept)" ]
}

# --- disturbed, and slow now and then -------------------------------------------------------------

# What the benchmark prints in its first, its second and all later runs.
bench_says_in_turn() { # VALUE-AND-MORE...
  local i=0 fields
  for fields in "$@"; do
    i=$((i + 1))
    bench_value "${fields%%,*}" "${fields#*,}"
    mv "$BATS_TEST_TMPDIR/bench" "$BATS_TEST_TMPDIR/bench.$i"
  done
  cat >"$BATS_TEST_TMPDIR/bench" <<EOF
#!/bin/sh
n=\$(wc -l <'$bench_log' 2>/dev/null || echo 0)
exec '$BATS_TEST_TMPDIR/bench.'\$((n < $# ? n + 1 : $#))
EOF
  chmod 755 "$BATS_TEST_TMPDIR/bench"
}

MEMORY='  checks: {memory: {run: memory_bandwidth, per: node, min: 2GB/s}}'
OWN='"own_pct": 99' STARVED='"own_pct": 31'

@test "a disturbed measurement is waited for, and measured again until it is not" {
  put "$root/sys/devices/system/node/has_cpu" 0
  gated "$MEMORY"
  bench_says_in_turn "3e9,$STARVED" "1e9,$STARVED" "3e9,$STARVED" "3e9,$STARVED" "3e9,$OWN"
  run -7 with_bench "$railhead" gate --root "$root"
  in_record '.verdict == "waiting" and .measurements[0].state == "invalid"'
  in_record '.measurements[0].reason | test("could not be measured, disturbed: it had its CPUs for 31% of the time \\(1.0 GB/s, required 2GB/s\\); (other work meanwhile: |no process used much CPU time meanwhile)")'
  in_record '[.measurements[0].looks[] | .state, .readings.min, .own_pct] == ["invalid", 3e9, 31, "invalid", 1e9, 31]'
  [ "$(bench_runs)" = 2 ]
  run -7 with_bench "$railhead" gate --root "$root" --retry
  [ "$(bench_runs)" = 4 ]
  in_record '.verdict == "waiting"'
  run -0 with_bench "$railhead" gate --root "$root" --retry
  [ "$(bench_runs)" = 5 ]
  in_record '.verdict == "ready" and .measurements[0].state == "same" and (.measurements[0] | has("looks") | not)'
}

@test "a measurement that stays disturbed blocks after gate.wait, and says that it was not measured" {
  put "$root/sys/devices/system/node/has_cpu" 0
  gated "  wait: 10m
$MEMORY"
  bench_value 3e9 "$STARVED"
  run -7 with_bench "$railhead" gate --root "$root"
  in_record '.verdict == "waiting"'
  edit_record '.waiting.since_usec = 0 | .waiting.until_usec = 1'
  run -7 with_bench "$railhead" gate --root "$root" --retry
  in_record '.verdict == "blocked"'
  in_record '.reasons[0] | test("^gate/memory/node0: .*could not be measured, disturbed: ")'
  in_record '.reasons[1] | test("and gave up")'
  gated '  checks: {memory: {run: memory_bandwidth, per: node, min: 2GB/s, on_fail: warn}}'
  run -0 with_bench "$railhead" gate --root "$root" --again
  in_record '.verdict == "ready" and .measurements[0].state == "invalid"'
}

@test "slow beside load that has the node's CPUs is no finding; slow alone is" {
  put "$root/sys/devices/system/node/has_cpu" 0
  gated "$MEMORY"
  bench_value 1e9 '"own_pct": 97, "others_pct": 50'
  run -7 with_bench "$railhead" gate --root "$root"
  in_record '.verdict == "waiting" and .measurements[0].state == "invalid"'
  bench_value 1e9 '"own_pct": 97, "others_pct": 3'
  run -7 with_bench "$railhead" gate --root "$root" --retry
  in_record '.verdict == "blocked" and .measurements[0].state == "slow"'
}

@test "slow in one of two looks is a finding with a consequence of its own" {
  put "$root/sys/devices/system/node/has_cpu" 0
  gated "  reuse: 24h
$MEMORY"
  bench_says_in_turn "1e9,$OWN" "3e9,$OWN"
  run -0 with_bench "$railhead" gate --root "$root"
  in_record '.verdict == "ready" and .measurements[0].state == "intermittent" and .measurements[0].on_fail == "warn"'
  in_record '.reasons == ["gate/memory/node0: memory_bandwidth of node 0: slow in one look of 2: measured 1.0 GB/s, then 3.0 GB/s, required 2GB/s; a part that is slow at times slows down all programs that wait for the part: watch the part"]'
  in_record '[.measurements[0].looks[].state] == ["slow", "same"]'
  [ ! -e "$root/var/lib/railhead/pass.json" ] # reuse: no pass of it
  rm "$bench_log"
  gated '  checks: {memory: {run: memory_bandwidth, per: node, min: 2GB/s, on_fail: warn, on_intermittent: block}}'
  run -7 with_bench "$railhead" gate --root "$root" --again
  in_record '.verdict == "blocked" and .measurements[0].on_fail == "block"'
}

@test "a median that is well and a time as a whole that is not: slow, with what took the time" {
  put "$root/sys/devices/system/node/has_cpu" 0
  gated "$MEMORY"
  bench_value 2.4e9 "$OWN, \"whole\": 1.9e9"
  run -7 with_bench "$railhead" gate --root "$root"
  in_record '.verdict == "blocked" and .measurements[0].observed == "1.9 GB/s"'
  in_record '.measurements[0] | "\(.reason); \(.causes)" | test("measured 1.9 GB/s, required at least 2GB/s over the whole time, stalls included \\(2.4 GB/s without\\); likely: stalls that no other task accounts for took 21% of the time")'
}

# --- NUMA nodes compared with each other -------------------------------------------------------------

# One of 12 channels is 8% of a node's rate, which no profile's number for good nodes would show.
@test "memory of a node that lost a channel is slower than the others, and only warns if it shall" {
  gated '  checks: {even: {run: memory_bandwidth, per: node, min: 95% of set, floor: 100GB/s, on_fail: warn}}'
  cat >"$BATS_TEST_TMPDIR/bench" <<'E'
#!/bin/sh
rate=360e9
[ "$3" = 0 ] || rate=330e9
echo "{\"bench\": \"memory_bandwidth\", \"result\": \"measured\", \"value\": $rate, \"unit\": \"B/s\"}"
E
  chmod 755 "$BATS_TEST_TMPDIR/bench"
  run -0 with_bench "$railhead" gate --root "$root"
  [[ $output == *"memory_bandwidth of node 1: measured 330.0 GB/s, required at least 95% of the median of the other members (360.0 GB/s)"* ]]
  in_record '[.measurements[] | "\(.id) \(.state) \(.desired)"] == ["gate/even/node0 same 95% of set, and 100GB/s",
    "gate/even/node1 slow 95% of set, and 100GB/s"]'
  in_record '.verdict == "ready"'
}
