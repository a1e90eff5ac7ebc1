#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is shipped for those who act on a verdict (packaging/integrations): Slurm's health check and
# node-problem-detector's plugin, with a scontrol that is a script; the files for Kubernetes and Prometheus.
# tests/long/integrations has a real Slurm, and Prometheus' own reader.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  shipped=$BATS_TEST_DIRNAME/../packaging/integrations
  root=$BATS_TEST_TMPDIR/root
  bin=$BATS_TEST_TMPDIR/bin
  fake_node "$root"
  put "$root/proc/sys/vm/swappiness" 10
  gated '  checks: {}' 'sysctl: {vm.swappiness: 10}'
  node_has_railhead
  node_has_slurm
  export SLURMD_NODENAME=n1
}

program() { # NAME; the text from stdin
  mkdir -p "$bin"
  cat >"$bin/$1"
  chmod 755 "$bin/$1"
}

node_has_railhead() {
  printf '#!/bin/sh\nexec "%s" "$@" --root "%s"\n' "$(realpath "$railhead")" "$root" | program railhead
}

# As scontrol of 22.05 prints a node; `update` is done and kept in calls.
node_has_slurm() {
  export SLURM=$BATS_TEST_TMPDIR/slurm
  mkdir -p "$SLURM"
  slurm_has IDLE
  program scontrol <<'S'
#!/bin/sh
set_to() { # FILE TEXT; at once, for another reader
  echo "$2" >"$SLURM/$1.$$"
  mv "$SLURM/$1.$$" "$SLURM/$1"
}
[ "$1" != update ] || {
  echo "$*" >>"$SLURM/calls"
  for word; do
    case $word in
      NodeName=*) [ "$word" = NodeName=n1 ] || { echo "Invalid node name specified" >&2; exit 1; } ;;
      State=RESUME) set_to state IDLE; set_to reason "" ;;
      State=*) set_to state "IDLE+${word#*=}" ;;
      Reason=*) set_to reason "${word#*=} [root@2026-11-30T02:00:00]" ;;
    esac
  done
  exit
}
[ "$*" = "show node n1" ] || { echo "Node $3 not found" >&2; exit 1; }
echo "NodeName=n1 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=1 CPUTot=1 CPULoad=0.10
   NodeAddr=127.0.0.1 NodeHostName=n1 Version=22.05.8
   State=$(cat "$SLURM/state") ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=all"
reason=$(cat "$SLURM/reason")
[ -z "$reason" ] || echo "   Reason=$reason"
echo "   Comment=(null)
"
S
}

slurm_has() { # STATE [REASON]
  echo "$1" >"$SLURM/state"
  { [ -z "${2:-}" ] || echo "$2 [bob@2026-11-30T01:00:00]"; } >"$SLURM/reason"
  rm -f "$SLURM/calls"
}

# Only so much is set by the next health check; nothing: it leaves Slurm alone.
sets() { # [WORDS OF scontrol update]
  rm -f "$SLURM/calls"
  health
  [ "$status" -eq 0 ] && [ -z "$output" ]
  [ "$(cat "$SLURM/calls" 2>/dev/null)" = "${1:+update NodeName=n1 $1}" ]
}

with_path() {
  PATH=$bin:$PATH "$@"
}

health() {
  PATH=$bin:$PATH run "$shipped/slurm-health"
}

# What the plugin says: one line of at most 80 characters.
says() { # STATUS LINE
  PATH=$bin:$PATH run --separate-stderr "-$1" "$shipped/node-problem"
  [ "$output" = "$2" ]
  [ -z "$stderr" ]
  [ ${#output} -le 80 ]
}

ready() {
  put "$root/proc/sys/vm/swappiness" 10
  run -0 "$railhead" gate --root "$root"
}

lapse() {
  put "$root/proc/sys/vm/swappiness" 60
  run -7 "$railhead" gate --recheck --root "$root"
}

code=RH-KERNEL-SYSCTL-DIFFERS

# --- node-problem --------------------------------------------------------------------------

@test "plugin: 0 while work is admitted, 1 with verdict and code if not" {
  ready
  says 0 admitted
  lapse
  says 1 "lapsed: $code"
  run -7 "$railhead" gate --root "$root"
  says 1 "blocked: $code"
  run -0 "$railhead" admit --for 1h --reason test --root "$root"
  says 0 admitted
}

@test "plugin: no verdict, and no profile" {
  says 1 "no verdict"
  rm "$root/etc/railhead/profiles/sku.yaml"
  run -7 "$railhead" gate --root "$root"
  says 1 "none: RH-PROFILE-NONE"
}

@test "plugin: a record that is empty, cut off, of another schema or no JSON is no verdict, ready file or not" {
  ready
  record=$root/run/railhead/status.json
  cp "$record" "$BATS_TEST_TMPDIR/good"
  for bad in '' '{' '{"schema": 99, "boot_id": "11111111-2222-3333-4444-555555555555", "verdict": "ready", "admit": true}' \
    "$(head -c 300 "$record")" '[]' "$(head -c 5000 /dev/zero | tr '\0' x)"; do
    printf %s "$bad" >"$record"
    says 1 "unreadable record"
  done
  # a record of another boot is none
  sed 's/11111111-2222/99999999-2222/' "$BATS_TEST_TMPDIR/good" >"$record"
  says 1 "no verdict"
  # and the record alone admits nothing
  cp "$BATS_TEST_TMPDIR/good" "$record"
  says 0 admitted
  rm "$root/run/railhead/ready"
  run -1 --separate-stderr with_path "$shipped/node-problem"
  [[ $output == lapsed* ]]
}

@test "plugin: the first fault that blocks is named, before those that warn" {
  program railhead <<'S'
#!/bin/sh
cat <<'J'
{
  "verdict": "blocked",
  "reasons": [
    "\"code\": \"RH-FAKE-FAKE\""
  ],
  "faults": [
    {
      "code": "RH-ONE-WARNS",
      "reason": "  \"on_fail\": \"block\",",
      "on_fail": "warn"
    },
    {
      "code": "RH-TWO-BLOCKS",
      "on_fail": "block"
    },
    {
      "code": "RH-THREE-BLOCKS",
      "on_fail": "block"
    }
  ],
  "stages": {
      "code": "RH-NO-FAULT",
      "on_fail": "block"
  }
}
J
exit 7
S
  says 1 "blocked: RH-TWO-BLOCKS"
  sed -i '/"faults"/,/^  ]/s/"block"$/"degrade"/; s/"blocked"/"degraded"/' "$bin/railhead"
  says 1 "degraded: RH-ONE-WARNS"
}

@test "plugin: a verdict that is ready, and admits nothing, is too old; its warning is not the reason" {
  {
    echo '#!/bin/sh'
    echo "cat <<'J'"
    printf '{\n  "verdict": "ready",\n  "faults": [\n    {\n      "code": "RH-WARNS",\n      "on_fail": "warn"\n    }\n  ]\n}\nJ\nexit 7\n'
  } | program railhead
  says 1 "not looked at for too long"
}

@test "plugin: 2 if railhead is absent, hangs, crashes or fails; a longer line is cut" {
  rm "$bin/railhead"
  PATH=$bin:/usr/bin:/bin run -2 "$shipped/node-problem"
  [ "$output" = "unknown: not installed" ]
  for status in 1 2 3 4 125; do
    printf '#!/bin/sh\necho "{}"\nexit %s\n' $status | program railhead
    says 2 "unknown: exit status $status"
  done
  printf '#!/bin/sh\nkill -SEGV $$\n' | program railhead
  says 2 "unknown: exit status 139"
  printf '#!/bin/sh\nexec sleep 1000000\n' | program railhead
  short_deadlines
  says 2 "unknown: no end within 10 s"
  rm "$bin/timeout"
  { printf '#!/bin/sh\nprintf "  \\"verdict\\": \\"blocked\\",\\n  \\"faults\\": [\\n      \\"code\\": \\"RH-'
    printf 'LONG%.0s' {1..40}
    printf '\\"\\n  ]\\n"\nexit 7\n'; } | program railhead
  PATH=$bin:$PATH run -1 "$shipped/node-problem"
  [[ $output == "blocked: RH-LONGLONG"* ]]
  [ ${#output} -eq 80 ]
}

# What would be over after ten seconds is over at once.
short_deadlines() {
  printf '#!/bin/sh\n[ "$1 $3" = "-k 10" ] || exit 99\nshift 3\nexec /usr/bin/timeout -k 5 0.1 "$@"\n' | program timeout
}

@test "plugin: in a container, the node's railhead by chroot" {
  printf '#!/bin/sh\n[ "$*" = "/host railhead status --json" ] && : >>"%s" && shift && "$@"\n' "$bin/entered" | program chroot
  ready
  PATH=$bin:$PATH run -0 "$shipped/node-problem" /host
  [ "$output" = admitted ]
  [ -e "$bin/entered" ]
  lapse
  PATH=$bin:$PATH run -1 "$shipped/node-problem" /host
  [ "$output" = "lapsed: $code" ]
}

# --- slurm-health --------------------------------------------------------------------------

@test "slurm: a lapsed node is drained once, and resumed when it is ready again" {
  ready
  sets ""
  lapse
  sets "State=DRAIN Reason=railhead: $code"
  sets ""
  ready
  sets State=RESUME
  sets ""
}

# A maintenance window silences alerts, and neither admits work nor takes it away.
@test "slurm, plugin: planned work drains a node that lapses, and leaves a ready one alone" {
  ready
  run -0 "$railhead" maintain --for 1h --reason test --root "$root"
  says 0 admitted
  sets ""
  lapse
  says 1 "lapsed: $code"
  sets "State=DRAIN Reason=railhead: $code"
  put "$root/proc/sys/vm/swappiness" 10
  run -0 "$railhead" gate --recheck --root "$root"
  sets State=RESUME
}

@test "slurm: a node of another code gets the code of now, and is resumed whatever else Slurm says of it" {
  other="railhead: RH-NIC-LINK-WIDTH"
  for state in IDLE+DRAIN MIXED+DRAIN ALLOCATED+DRAIN 'DOWN*+DRAIN' IDLE+DRAIN+NOT_RESPONDING; do
    ready
    lapse
    slurm_has "$state" "$other"
    sets "State=DRAIN Reason=railhead: $code"
    ready
    slurm_has "$state" "$other"
    sets State=RESUME
  done
}

# As slurmctld of 24.11 adds; of other additions, each is a reason of its own.
@test "slurm: a drained node that was off is still ours; one that Slurm has something against is not" {
  ready
  for added in " : Not responding" " : Node unexpectedly rebooted" " : Not responding : Node unexpectedly rebooted"; do
    slurm_has DOWN+DRAIN+NOT_RESPONDING "railhead: $code$added"
    lapse
    sets ""
    ready
    sets State=RESUME
  done
  for added in " : Kill task failed" " : Not responding : Low RealMemory (reported:1 < 100.00% of configured:2)" ": Not responding"; do
    slurm_has IDLE+DRAIN "railhead: $code$added"
    lapse
    sets ""
    ready
    sets ""
  done
  slurm_has 'DOWN*' "Not responding"
  sets ""
}

@test "slurm: what a person or another program took out stays as it is, ready or not" {
  for reason in "disk swap" "" "railhead: $code, RMA 17" "see railhead: $code" "Railhead: $code" "railhead:" \
    "railhead: " "railhead: rh-x" "railhead: $code [bob] keep" "Not responding" "railhead: off duty" "railhead: card is replaced"; do
    for state in IDLE+DRAIN ALLOCATED+DRAIN DOWN 'DOWN*' IDLE+FAIL DOWN+DRAIN; do
      slurm_has "$state" "$reason"
      ready
      sets ""
      lapse
      sets ""
    done
  done
  # a reason of several lines
  slurm_has IDLE+DRAIN $'railhead: off\nhe said'
  ready
  sets ""
  slurm_has IDLE+DRAIN $'railhead: off\n   Reason=railhead: off\n   and more'
  sets ""
}

@test "slurm: a node that Slurm reboots or powers is left alone" {
  for state in IDLE+REBOOT_REQUESTED IDLE+DRAIN+REBOOT_ISSUED IDLE+POWERED_DOWN IDLE+POWERING_UP; do
    slurm_has "$state" "railhead: $code"
    ready
    sets ""
    lapse
    sets ""
  done
}

@test "slurm: each answer of node-problem makes a reason that is short, and its own" {
  local own=$BATS_TEST_TMPDIR/own
  cp -r "$shipped" "$own"
  shipped=$own
  answer() { # STATUS LINE
    printf '#!/bin/sh\nprintf "%%s\\n" "%s"\nexit %s\n' "$2" "$1" >"$own/node-problem"
    slurm_has IDLE
    health
    [ "$status" -eq 0 ]
    said=$(sed 's/ \[root@.*//' "$SLURM/reason")
    [ ${#said} -le 100 ]
    answers "$3"
    printf '#!/bin/sh\nexit 0\n' >"$own/node-problem"
    sets State=RESUME
  }
  answers() { [ "$said" = "railhead: $1" ]; }
  answer 1 "lapsed: $code" $code
  answer 1 off off
  answer 1 none none
  answer 1 "no verdict" "no verdict"
  answer 1 "unreadable record" "unreadable record"
  answer 1 "not looked at for too long" "not looked at for too long"
  answer 2 "unknown: not installed" "not installed"
  answer 2 "unknown: no end within 10 s" "no end within 10 s"
  answer 2 "unknown: exit status 139" "exit status 139"
  answer 1 "" "no answer"
  answer 1 "blocked: RH-A; drop table" "no answer"
  answer 127 "sh: not found" "no answer"
  answer 1 "lapsed: RH-$(printf 'X%.0s' {1..65})" "RH-$(printf 'X%.0s' {1..65})"
  slurm_has IDLE
  rm "$own/node-problem"
  health
  [ "$(cat "$SLURM/calls")" = "update NodeName=n1 State=DRAIN Reason=railhead: no answer" ]
}

@test "slurm: each line of node-problem is known to slurm-health" {
  # its verdicts, from where they are named
  sed -n '/^static const char \*const names\[\]/,/^};/s/.*"\(.*\)".*/&/p' "$BATS_TEST_DIRNAME/../src/gate/verdict.c" |
    grep -o '"[a-z]*"' | tr -d '"' | grep -vx ready >"$BATS_TEST_TMPDIR/verdicts"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/verdicts")" -eq 6 ]
  while read -r verdict; do
    grep -qE "^reasons=.*[|]$verdict([|]|\$)" "$shipped/slurm-health"
  done <"$BATS_TEST_TMPDIR/verdicts"
}

@test "slurm: a node without railhead, or with a broken record, gets no work" {
  ready
  rm "$bin/railhead"
  PATH=$bin:/usr/bin:/bin run -0 "$shipped/slurm-health"
  [ "$(cat "$SLURM/calls")" = "update NodeName=n1 State=DRAIN Reason=railhead: not installed" ]
  node_has_railhead
  : >"$root/run/railhead/status.json"
  sets "State=DRAIN Reason=railhead: unreadable record"
  rm -r "$root/run/railhead"
  sets "State=DRAIN Reason=railhead: no verdict"
  ready
  sets State=RESUME
}

@test "slurm: an unknown node, no scontrol, a scontrol that fails, hangs or says nothing: 1, with the reason" {
  ready
  SLURMD_NODENAME=n2 health
  [ "$status" -eq 1 ]
  [ "$output" = "slurm-health: scontrol show node n2: exit status 1: Node n2 not found" ]
  printf '#!/bin/sh\n[ $1 = show ] && echo "   State=IDLE X=y" && exit; echo "Access/permission denied" >&2; exit 1\n' | program scontrol
  lapse
  health
  [ "$status" -eq 1 ]
  [ "$output" = "slurm-health: scontrol update NodeName=n1: exit status 1: Access/permission denied" ]
  printf '#!/bin/sh\nexit 0\n' | program scontrol
  health
  [ "$status" -eq 1 ]
  [[ $output == "slurm-health: scontrol show node n1: no state: "* ]]
  rm "$bin/scontrol"
  health
  [ "$status" -eq 1 ]
  [[ $output == "slurm-health: scontrol show node n1: exit status 127: "* ]]
  printf '#!/bin/sh\nexec sleep 1000000\n' | program scontrol
  short_deadlines
  health
  [ "$status" -eq 1 ]
  [ "$output" = "slurm-health: scontrol show node n1: exit status 124: " ]
}

# slurmd kills the program after 60 s.
@test "slurm: all deadlines together are shorter than slurmd's" {
  both=$(cat "$shipped/slurm-health" "$shipped/node-problem")
  [ "$(grep -c 'timeout -k' <<<"$both")" -eq 2 ]
  grep -qF 'timeout -k 5 10 scontrol' <<<"$both"
  grep -qF 'timeout -k 1 "$deadline"' <<<"$both"
  grep -qx 'deadline=10 # .*' <<<"$both"
  [ "$(grep -c '=$(slurm ' <<<"$both")" -eq 2 ]
  [ $((10 + 1 + 2 * (10 + 5))) -lt 60 ]
}

# Old versions of slurmd pass no variables.
@test "slurm: without SLURMD_NODENAME, the node is that of the host name" {
  ready
  lapse
  printf '#!/bin/sh\n[ "$*" = -n ] && echo n1.example.org\n' | program uname
  unset SLURMD_NODENAME
  sets "State=DRAIN Reason=railhead: $code"
}

@test "slurm: two at once do no more than one" {
  ready
  for round in 1 2 3 4 5; do
    lapse
    with_path "$shipped/slurm-health" &
    with_path "$shipped/slurm-health"
    wait $!
    [ "$(cat "$SLURM/state")" = IDLE+DRAIN ]
    [[ $(cat "$SLURM/reason") == "railhead: $code ["* ]]
    ready
    with_path "$shipped/slurm-health" &
    with_path "$shipped/slurm-health"
    wait $!
    [ "$(cat "$SLURM/state")" = IDLE ]
  done
}

# --- files for others ----------------------------------------------------------------------

# As node-problem-detector checks them (pkg/custompluginmonitor/types).
@test "node-problem-detector: its configuration names the plugin, and nobody is healthy before it ran" {
  jq -e '.plugin == "custom" and .source == "railhead" and .pluginConfig.max_output_length == 80
    and .pluginConfig.skip_initial_status and (.rules | length) == 1
    and .rules[0].path == "/usr/libexec/railhead/node-problem" and .rules[0].type == "permanent"
    and .rules[0].condition == .conditions[0].type
    and .rules[0].timeout == .pluginConfig.timeout and .pluginConfig.timeout == "15s"' "$shipped/node-problem.json"
}

@test "node-feature-discovery: the rule is about labels that railhead writes" {
  mkdir -p "$root/etc/kubernetes/node-feature-discovery/features.d"
  ready
  lapse
  grep -qx railhead.io/ready=false "$root/etc/kubernetes/node-feature-discovery/features.d/railhead"
  python3 - "$shipped/node-feature-rule.yaml" <<'P'
import sys, yaml
doc = yaml.safe_load(open(sys.argv[1]))
assert (doc["apiVersion"], doc["kind"]) == ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule")
says = []
for rule in doc["spec"]["rules"]:
    assert rule["taints"] == [{"key": "railhead.io/not-ready", "effect": "NoSchedule"}], rule
    label = rule["matchFeatures"][0]
    assert label["feature"] == "local.label", rule
    says.append(label["matchExpressions"])
assert says == [{"railhead.io/ready": {"op": "In", "value": ["false"]}},
                {"railhead.io/ready": {"op": "DoesNotExist"}}], says
P
}

@test "Prometheus: the rules are about metrics that railhead writes" {
  python3 - "$shipped/prometheus-rules.yaml" "$BATS_TEST_DIRNAME/../src/engine/publish.c" <<'P'
import re, sys, yaml
(group,) = yaml.safe_load(open(sys.argv[1]))["groups"]
published = open(sys.argv[2]).read()
for rule in group["rules"]:
    assert rule["for"] and rule["labels"]["severity"] and rule["annotations"]["summary"], rule
    of_verdict = rule["alert"] not in ("RailheadMetricsGone", "RailheadMetricsAbsent")
    assert (" unless on (job, instance) railhead_maintenance == 1" in rule["expr"]) == of_verdict, rule
    for name in re.findall(r"railhead_\w+", rule["expr"]):
        assert name in published, name
P
}
