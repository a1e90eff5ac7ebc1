#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A site's own programs in the gate, and what becomes of it when they behave as badly as they can.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/gate
load lib/clock

setup() {
  gate_setup
  mark=72$$ # in the command line of whatever a child leaves behind
}

# A profile whose checks are shell scripts; NAME [KEYS]: SCRIPT a line, from stdin.
site() { # BUDGET
  local name script keys
  {
    cat <<Y
schema: 1
name: site
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro}}
gate:
  budget: $1
  checks:
Y
    while IFS='|' read -r name keys script; do
      printf '    %s: {run: command, %scommand: [/bin/sh, -c, %s]}\n' "$name" "$keys" \
        "$(jq -Rn --arg s "$script" '$s')"
    done
  } | profile "$root" site
}

good='echo '\''{"result": "measured", "value": 1}'\'

# What the tests show to programs, for which /tmp is empty. Only root writes there.
shown() {
  mktemp -d /run/railhead-gate.XXXXXX
}

status_is() { # WANTED COMMAND...
  local wanted=$1 status=0
  shift
  "$@" || status=$?
  [ "$status" -eq "$wanted" ]
}

is_gone() { # PATTERN
  ! pgrep -f "$1" >/dev/null
}

no_process() { # PATTERN
  eventually is_gone "$1" || {
    pgrep -fa "$1" >&2
    return 1
  }
}

@test "20 checks of which one hangs: its deadline, and nothing of the others is lost" {
  {
    for i in {1..19}; do echo "good$i||$good"; done
    echo "hangs|timeout: 500ms, |trap '' TERM; sleep $mark.1 & wait; sleep $mark.1"
  } | site 240s
  status_is 7 on_slow_clock gate --root "$root"
  [ "$(jq '[.measurements[] | select(.state == "same")] | length' "$gate_out")" = 19 ]
  measured gate/hangs/command failed "^command /bin/sh: no result within 500 ms, so it was killed; "
  no_process "^sleep $mark"
}

@test "20 checks of which one hangs for the whole budget: the verdict comes with it" {
  {
    for i in {1..9}; do echo "good$i||$good"; done
    echo "hangs|timeout: 240s, |exec sleep $mark.2"
    for i in {1..10}; do echo "late$i||$good"; done
  } | site 240s
  clock=$(mktemp /run/clock.XXXXXX) # not in /tmp, which is another one where the program ends
  pass_when 240000 pgrep -f "^sleep $mark.2" >/dev/null
  status_is 7 on_clock gate --root "$root"
  [ "$(jq '.measurements | length' "$gate_out")" = 20 ]
  [ "$(jq '[.measurements[] | select(.state == "same")] | length' "$gate_out")" = 9 ]
  measured gate/hangs/command failed "no result within [0-9]+ ms, when gate.budget was used up; raise gate.budget"
  measured gate/late10/command "cannot measure" \
    "its turn did not come within the budget of [0-9]+ ms, most of which went to gate/hangs/command"
  no_process "^sleep $mark"
}

@test "a program that failed without a remedy of its own: status has the fault's; one that hung: its own" {
  site 240s <<<"fails||echo no such rack >&2; exit 3"
  status_is 7 gate --root "$root"
  run "$railhead" status --root "$root"
  [[ $output == *"exit status 3 (output: no such rack)"*remedy:* ]]
  [[ $(tr -s ' \n' ' ' <<<"$output") == *"remedy: $("$railhead" explain RH-HOST-COMMAND --json | jq -r '.faults[0].remedy')"* ]]
  site 240s <<<"hangs|timeout: 500ms, |sleep 600"
  status_is 7 on_slow_clock gate --again --root "$root"
  run "$railhead" status --root "$root"
  [[ $output == *"so it was killed; see in the kernel log"* && $output != *remedy:* ]]
}

@test "children that crash, print garbage, and say what no result is" {
  site 240s <<S
crash||kill -SEGV \$\$
garbage||echo Segmentation fault
nothing||:
fails||echo no such rack >&2; exit 3
closed||exec >&- 2>&-; sleep 0.1
nul||head -c 100 /dev/zero
number||echo '{"result": "measured"}'
own||echo '{"result": "cannot measure", "reason": "no licence"}'
later||echo '{"result": "not yet", "reason": "rack 7 boots"}'
lacks||echo '{"result": "unsupported", "reason": "no such rack"}'
good||$good
S
  status_is 7 gate --root "$root"
  measured gate/crash/command failed "killed by signal 11 .Segmentation fault."
  measured gate/garbage/command failed "not one line of JSON \\(output: Segmentation fault\\)$"
  measured gate/nothing/command failed "\\(no output\\)$"
  measured gate/fails/command failed "exit status 3 \\(output: no such rack\\)$"
  measured gate/closed/command failed "\\(no output\\)$"
  measured gate/nul/command failed "not one line of JSON"
  measured gate/number/command failed "not a result"
  measured gate/own/command "cannot measure" "^command /bin/sh: no licence$"
  measured gate/later/command "not yet" "rack 7 boots"
  measured gate/lacks/command unsupported "no such rack"
  measured gate/good/command same
}

# Each way in which there is no figure.
no_figures() { # ON_FAIL
  site 240s <<S
crash|on_fail: $1, |kill -SEGV \$\$
garbage|on_fail: $1, |echo Segmentation fault
own|on_fail: $1, |echo '{"result": "cannot measure", "reason": "no licence"}'
lacks|on_fail: $1, |echo '{"result": "unsupported", "reason": "no such rack"}'
missing|on_fail: $1, user: nemo, |$good
hangs|on_fail: $1, timeout: 300ms, |exec sleep $mark.4
S
  sed -i 's/^  checks:/&\n    nothing: {run: gpu_copy, on: gpus, min: 1GB\/s, on_fail: '"$1"'}/; s/^gate:/devices: {gpus: {pci: "10de:2330", expect: ">=0"}}\n&/' \
    "$root/etc/railhead/profiles/site.yaml"
}

@test "no figure: the consequence is on_fail's, and a check that warns keeps no work out" {
  put "$root/etc/passwd" "root:x:0:0::/root:/bin/sh"
  while read -r on_fail status verdict; do
    no_figures "$on_fail"
    status_is "$status" gate --again --root "$root"
    [ "$(jq -r .verdict "$gate_out")" = "$verdict" ]
    jq -e --arg f "$on_fail" '([.measurements[] | .state] | all(. != "same")) and (.reasons | length) >= 6
      and ([.faults[].on_fail] | unique) == [$f]' "$gate_out" >/dev/null || {
      jq '.reasons, .faults' "$gate_out" >&2
      return 1
    }
  done <<'E2'
warn 0 ready
degrade 7 degraded
block 7 blocked
E2
}

@test "a child that prints 1 GB costs the gate no memory" {
  site 240s <<S
out||head -c 1G /dev/zero
err||head -c 1G /dev/zero >&2
both||yes & yes >&2
good||$good
S
  ulimit -S -v 300000 # KiB, of the gate and each of its children
  status_is 7 gate --root "$root"
  for name in out err both; do
    measured gate/$name/command failed "killed, because it printed more than 64 KiB"
  done
  measured gate/good/command same
}

@test "what children start ends with them: in the background, as daemons, as bombs" {
  site 240s <<S
background||sleep $mark.3 & $good
daemon||(setsid sleep $mark.3 >/dev/null 2>&1 &) & wait; $good
bomb|timeout: 1s, |b() { b & b & sleep $mark.3; }; b
stubborn|timeout: 500ms, |(setsid sh -c 'trap "" TERM HUP; while :; do sleep $mark.3; done' &) & wait; sleep $mark.3
good||$good
S
  status_is 7 on_slow_clock gate --root "$root"
  for name in background daemon good; do measured gate/$name/command same; done
  # the bomb meets the limit of processes, or its deadline
  measured gate/bomb/command failed "killed|[Cc]annot fork"
  measured gate/stubborn/command failed "no result within 500 ms, so it was killed"
  no_process "$mark\.3"
}

@test "what a program may write: segments of shared memory, and no file that fills a disk" {
  site 240s <<S
shared||f=\$(mktemp /dev/shm/railhead.XXXXXX) && truncate -s 2G "\$f" && rm "\$f" && $good
grows||f=\$(mktemp /tmp/railhead.XXXXXX); truncate -s 5G "\$f"; s=\$?; rm "\$f"; exit \$s
S
  status_is 7 gate --root "$root"
  measured gate/shared/command same
  measured gate/grows/command failed "exit status 153" # of a shell whose child SIGXFSZ ended
}

@test "a program has the privileges that its check names, and no others" {
  caps='for c in Prm Eff Inh Bnd Amb; do grep -q "Cap$c:.0*WANTED$" /proc/self/status || exit 9; done'
  site 240s <<S
own||[ "\$(id -u)" -ge 61184 ] && ${caps/WANTED/0}; $good
root|user: root, |[ "\$(id -u) \$(id -G)" = "0 0" ] && ${caps/WANTED/0}; $good
site|user: site, capabilities: [CAP_NET_RAW, CAP_IPC_LOCK], |[ "\$(id -u) \$(id -g)" = "4711 4712" ] && ${caps/WANTED/6000}; $good
missing|user: nemo, |$good
tree||[ ! -w / ] && [ ! -r /etc/shadow ] && $good
S
  put "$root/etc/passwd" "root:x:0:0::/root:/bin/sh
site:x:4711:4712::/:/bin/false"
  status_is 7 gate --root "$root"
  for name in own root site tree; do measured gate/$name/command same; done
  measured gate/missing/command "cannot measure" "not run: /etc/passwd has no user nemo"
}

@test "a capability that the gate's unit lacks: not run, and why" {
  site 240s <<S
clock|capabilities: [CAP_SYS_TIME], |$good
other|capabilities: [CAP_NET_RAW], |$good
S
  status_is 7 setpriv --bounding-set=-sys_time "$railhead" gate --json --root "$root" >"$gate_out"
  measured gate/clock/command "cannot measure" "not run: could not give it capabilities that the gate itself lacks .CapabilityBoundingSet= of its unit.: "
  measured gate/other/command same
}

@test "a program that others could have written is not run" {
  local dir
  dir=$(shown)
  printf '#!/bin/sh\ntouch %s\n%s\n' "$dir/ran" "$good" >"$dir/check"
  chmod 755 "$dir"
  chmod 775 "$dir/check"
  profile "$root" site <<Y
schema: 1
name: site
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro}}
gate:
  checks:
    open: {run: command, user: root, command: [$dir/check]}
    relative: {run: command, command: [check]}
    absent: {run: command, command: [/no/such/check]}
Y
  status_is 7 gate --root "$root"
  measured gate/open/command "cannot measure" "not run: .* is writable by users other than root: run chmod go-w "
  measured gate/relative/command "cannot measure" "not run: check: write the program's absolute path"
  measured gate/absent/command "cannot measure" "not run: /no/such/check: No such file"
  [ ! -e "$dir/ran" ]
  rm -r "$dir"
}

# The first process of a user whose words have TEXT gets another number in its memory.
forge() { # USER TEXT FROM TO
  # shellcheck disable=SC2016 # of perl
  setpriv --reuid "$1" --regid "$1" --clear-groups --no-new-privs --bounding-set=-all /usr/bin/perl -e '
    my ($text, $from, $to) = @ARGV;
    sub all { local $/; open(my $f, "<", $_[0]) or return ""; return <$f> // "" }
    for my $pid (grep { $_ ne $$ } map { m{(\d+)} } glob("/proc/[0-9]*")) {
      next unless index(all("/proc/$pid/cmdline"), $text) >= 0 && open(my $mem, "+<", "/proc/$pid/mem");
      for (split(/\n/, all("/proc/$pid/maps"))) {
        my ($at, $end) = /^(\w+)-(\w+) rw/ or next;
        sysseek($mem, hex($at), 0);
        sysread($mem, my $page, hex($end) - hex($at)) or next;
        while ($page =~ /$from/g) {
          sysseek($mem, hex($at) + $-[0], 0);
          syswrite($mem, $to);
        }
      }
    }' -- "${@:2}"
}

@test "the result of a program is its own: a process of nobody can't alter its memory" {
  local dir
  dir=$(shown)
  chmod 755 "$dir"
  mkdir -m 777 "$dir/begun"
  site 240s <<S
rate|min: 100MB/s, |n=1000000; : $mark.5; until [ -e $dir/go ]; do sleep 0.05; done; echo "{\"result\": \"measured\", \"value\": \$n}"
S
  gate --root "$root" &
  eventually pgrep -f "$mark\.5; until" >/dev/null
  forge 65534 "$mark.5" 1000000 "9e12   "
  : >"$dir/go"
  wait $! || :
  rm -r "$dir"
  measured gate/rate/command slow "measured 1.0 MB/s, required at least 100MB/s"
}

@test "others' processes use up nothing of a program's own" {
  setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/perl -e '
    for (1 .. 600) { defined(my $pid = fork) or die; if (!$pid) { sleep 1000; exit } }
    $SIG{TERM} = sub { kill("KILL", -getpgrp) }; sleep 1000' 3>&- &
  eventually eval '[ "$(pgrep -cu 65534 perl)" -ge 600 ]'
  site 240s <<S
own||$good
named|user: nobody, |$good
S
  put "$root/etc/passwd" "nobody:x:65534:65534::/:/bin/false"
  status_is 0 gate --root "$root"
  pkill -KILL -u 65534 -x perl
}

@test "a program has a user, directories, IPC and a network of its own, and leaves nothing" {
  local dir
  dir=$(shown)
  mkdir -m 1777 "$dir/open"
  : >/tmp/left.$$
  site 240s <<S
user||id=\$(id -u); [ "\$(id -g) \$(id -G)" = "\$id \$id" ] && [ \$id -ge 61184 ] && [ \$id -le 65519 ] && $good
empty||for d in /tmp /var/tmp /dev/shm; do [ -z "\$(ls -A \$d)" ] && : >\$d/left.$$ || exit 9; done; $good
bounded||[ "\$(stat -fc %b /tmp)" -gt 0 ] && [ "\$(stat -fc %b /tmp)" -lt "\$(stat -fc %b /dev/shm)" ] && $good
others||! touch $dir/open/left 2>&- && $good
ipc||ipcmk -M 4096 >&2 && [ "\$(ipcs -m | grep -c ^0x)" = 1 ] && $good
shut||[ "\$(readlink /proc/self/ns/net)" != $(readlink /proc/self/ns/net) ] && $good
open|network: true, |[ "\$(readlink /proc/self/ns/net)" = $(readlink /proc/self/ns/net) ] && $good
named|user: root, |: >$dir/named && [ -z "\$(ls -A /tmp)" ] && $good
S
  put "$root/etc/passwd" "root:x:0:0::/root:/bin/sh"
  status_is 0 gate --root "$root"
  [ ! -e /var/tmp/left.$$ ] && [ ! -e /dev/shm/left.$$ ] && [ -e /tmp/left.$$ ]
  [ -e "$dir/named" ] && [ -z "$(ls -A "$dir/open")" ] && [ "$(ipcs -m | grep -c ^0x)" = 0 ]
  rm -r "$dir" /tmp/left.$$
}

@test "a program without the node's network has a loopback of its own" {
  cat >/run/loop.$$ <<'P'
use Socket;
socket(L, AF_INET, SOCK_STREAM, 0) && bind(L, sockaddr_in(0, INADDR_LOOPBACK)) && listen(L, 1) or die $!;
socket(C, AF_INET, SOCK_STREAM, 0) && connect(C, getsockname(L)) or die $!;
print q({"result": "measured", "value": 1});
P
  profile "$root" site <<Y
schema: 1
name: site
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro}}
gate: {checks: {loop: {run: command, command: [/usr/bin/perl, /run/loop.$$]}}}
Y
  status_is 0 gate --root "$root"
  rm /run/loop.$$
}

@test "an argument is a file that others could have written: the program is not run" {
  local dir
  dir=$(shown)
  printf 'touch %s\n%s\n' "$dir/ran" "$good" >"$dir/check"
  chmod 755 "$dir"
  chown 1234 "$dir/check"
  mkdir "$dir/theirs"
  chown 1234 "$dir/theirs"
  echo "$good" >"$dir/ours"
  profile "$root" site <<Y
schema: 1
name: site
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro}}
gate:
  checks:
    script: {run: command, user: root, command: [/bin/sh, $dir/check]}
    option: {run: command, user: root, command: [/bin/sh, -e, --file=$dir/check]}
    later: {run: command, user: root, command: [/bin/sh, $dir/theirs/check]}
    ours: {run: command, user: root, command: [/bin/sh, $dir/ours]}
    hidden: {run: command, command: [/tmp/check.$$]}
Y
  put "$root/etc/passwd" "root:x:0:0::/root:/bin/sh"
  printf '#!/bin/sh\n%s\n' "$good" >"/tmp/check.$$"
  chmod 755 "/tmp/check.$$"
  status_is 7 gate --root "$root"
  measured gate/script/command "cannot measure" "not run: $dir/check belongs to user 1234"
  measured gate/option/command "cannot measure" "not run: $dir/check belongs to user 1234"
  measured gate/later/command "cannot measure" "not run: $dir/theirs belongs to user 1234"
  measured gate/hidden/command "cannot measure" "not run: /tmp/check.$$ is in a directory that is empty for the program"
  measured gate/ours/command same
  [ ! -e "$dir/ran" ]
  rm -r "$dir" "/tmp/check.$$"
}

@test "an argument leads to a path that others decide, however it is written" {
  local dir word n=0 theirs ours
  dir=$(shown)
  chmod 755 "$dir"
  mkdir "$dir/theirs" "$dir/ours"
  touch "$dir/ours/x"
  chown 1234 "$dir/theirs"
  theirs=(
    "\"$dir/theirs\"" "\"$dir/theirs/\"" "\"PYTHONPATH=$dir/theirs\"" "\"PATH=$dir/theirs:/usr/bin\""
    "\"PATH=/usr/bin:$dir/theirs\"" "\"A=${dir#/}/theirs/x\"" "\"A=B=$dir/theirs/x\""
    "\"-f$dir/theirs/x\"" "\"-f${dir#/}/theirs/x\"" "\"-vf$dir/theirs/x\"" "\"-S/bin/sh $dir/theirs/x\""
    "\"--split-string=/bin/sh $dir/theirs/x\"" "\" $dir/theirs/x\"" "\"@$dir/theirs/x\""
    "\"file:$dir/theirs/x\"" "\"a,b=$dir/theirs/x,c\"" "\"open('$dir/theirs/x')\""
    "x.sh, -c, \"A=$dir/theirs/x\"" "--rcfile, -c, --, \"$dir/theirs/x\""
    "\"/proc/self/cwd/$dir/ours\"" "/proc/1/root/etc" "\"--x=/proc/./thread-self//fd/3\"" /dev/../proc/self/cwd
  )
  ours=(
    "\"$dir/ours\"" "\"$dir/ours/x\"" "\"PYTHONPATH=$dir/ours:/usr/lib\"" "\"-f$dir/ours/x\"" "--dir=/tmp"
    /var/tmp/x "\"-c\", \"cd $dir/theirs && cat /proc/self/fd/0\"" "-e, -lc, \"exec $dir/theirs/x -v\""
    "\"0000:41:00.0\"" "http://127.0.0.1/x" -- "\"/\"" "\"{a: [1, 2]}\"" --device=/dev/null /proc/self/status
  )
  {
    printf 'schema: 1\nname: site\nversion: 1.0.0\nmatch: {dmi: {sys_vendor: Supermicro}}\ngate:\n  checks:\n'
    for word in "${theirs[@]}"; do
      printf '    theirs%d: {run: command, command: [/bin/sh, %s]}\n' "$((n++))" "$word"
    done
    for word in "${ours[@]}"; do
      printf '    ours%d: {run: command, command: [/bin/sh, %s]}\n' "$((n++))" "$word"
    done
  } | profile "$root" site
  status_is 7 gate --root "$root"
  rm -r "$dir"
  n=0
  for word in "${theirs[@]}"; do
    echo "$word"
    measured "gate/theirs$((n++))/command" "cannot measure" \
      "not run: .*(theirs belongs to user 1234|leads each process to another place)"
  done
  for word in "${ours[@]}"; do
    echo "$word"
    jq -e --arg id "gate/ours$((n++))/command" '.measurements[] | select(.id == $id) | .reason // "" |
      startswith("not run") | not' "$gate_out"
  done
}

@test "its figures are judged: a rate, a latency, both; slow is measured twice" {
  site 240s <<'S'
rate|min: 2GB/s, |echo '{"result": "measured", "value": 2100000000}'
slow|min: 2GB/s, on_fail: degrade, |echo '{"result": "measured", "value": 1900000000}'
late|max: 50us, on_fail: warn, |echo '{"result": "measured", "value": 51000}'
both|min: 2GB/s, max: 50us, |echo '{"result": "measured", "value": 2100000000, "latency": 49000}'
S
  status_is 7 gate --root "$root" # degraded does not admit by itself
  [ "$(jq -r .verdict "$gate_out")" = degraded ]
  measured gate/rate/command same
  measured gate/both/command same
  measured gate/slow/command slow "measured 1.9 GB/s, required at least 2GB/s"
  measured gate/late/command slow "measured 51.00 us, required at most 50us"
}
