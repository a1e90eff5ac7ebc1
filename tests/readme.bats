#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# README.md, CONTRIBUTING.md, docs/ and the man pages: each command of their code blocks is run, in
# its order, as it stands there, on a simulated node; or it is named here, with what runs it instead.
# A command that is neither is an error. The other code blocks, and the commands within sentences, name
# what is there.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench
load lib/eventually

top=$(realpath "$BATS_TEST_DIRNAME/..")
# The order in which a reader works: a page's commands go on with what those before them left.
first=(operating ready profiles images development getting-started integrations)
pages=("$top"/README.md)
for page in "${first[@]}"; do
  [ ! -e "$top/docs/$page.md" ] || pages+=("$top/docs/$page.md")
done
for page in "$top"/docs/*.md "$top"/CONTRIBUTING.md; do
  [[ " ${pages[*]} " == *" $page "* ]] || pages+=("$page")
done
manuals=("$top"/packaging/man/*.[58])

# What each exits with; of a command that comes more than once, each time.
declare -gA runs=(
  ["make demo-sim"]=0
  ["build/railhead survey"]=0
  ["build/railhead draft"]=0
  ["build/railhead plan --profile profiles/soft-roce-lab.yaml"]=5 # nothing of it is set here
  ["railhead status"]=7 # no verdict yet
  ["railhead verify"]=5 # nothing was applied
  ["railhead why net.core.rmem_max"]=0
  ["railhead diff my-sku node"]=5 # nothing was applied
  ["railhead status --html node.html"]=7
  ["railhead history"]=0
  ["railhead gate"]=8 # a reboot is due
  ['railhead admit --for 4h --reason "cable ordered"']=0
  ['railhead maintain --for 2h --reason "driver reload"']=0
  ["railhead calibrate"]=0
  ["railhead kargs"]=5 # they are missing
  ["grub2-mkconfig -o /etc/grub2.cfg && railhead kargs --reset"]=0
  ["railhead kargs --mend"]=0
  ["railhead check my-sku.yaml"]=0
  ["railhead check --json - <my-sku.yaml"]=0
  ["railhead explain link.rails.mtu"]=0
  ["railhead draft my-sku >my-sku.yaml"]=0
  ["railhead survey"]=0
  ["railhead survey --snapshot node42.tar"]=0
  ["railhead match --explain"]=0
  ["railhead show --resolved my-sku.yaml"]=0
  ["railhead plan --profile my-sku.yaml"]=0 # a draft changes nothing
  ["railhead plan --root node42.tar --profile my-sku.yaml"]=0
  ["railhead bake --root ./tree --profile my-sku --gate kubelet"]=0
  ["railhead bake --root ./tree --undo"]=0
  ["make && sudo make install"]=0
  ["make help"]=0
  ["make all build/simnode"]=0
  ["python3 tests/lib/machine /tmp/sim tests/simnode/node.toml && mkdir /tmp/sim/mnt"]=0
  ["build/simnode --log /tmp/sim/log /tmp/sim/node /tmp/sim/mnt &"]=0
  ["echo 4 >/tmp/sim/mnt/sys/bus/pci/devices/0000:18:00.0/sriov_numvfs"]=0
  ["build/railhead survey --root /tmp/sim/mnt"]=0
  ["build/railhead draft --root /tmp/sim/mnt my-node >/tmp/sim/my-node.yaml"]=0
  ["echo 'sriov: {rails: {vfs: 4}}' >>/tmp/sim/my-node.yaml"]=0
  ["mkdir -p /tmp/sim/mnt/etc/railhead/profiles"]=0
  ["cp /tmp/sim/my-node.yaml /tmp/sim/mnt/etc/railhead/profiles/"]=0
  ["build/railhead gate --root /tmp/sim/mnt"]="7 0" # the second one is behind apply
  ["build/railhead explain RH-NIC-VF-DIFFERS"]=0
  ["build/railhead why --root /tmp/sim/mnt 0000:3a:00.0"]=0
  ["build/railhead apply --root /tmp/sim/mnt"]=0
  ["fusermount3 -u /tmp/sim/mnt"]=0
  ["sudo install -D -m 644 my-sku.yaml /etc/railhead/profiles/my-sku.yaml"]=0
  ["railhead calibrate >50-calibrated.yaml"]=0
  ["railhead status --json | jq -r '.faults[] | [.code, .action, .reason] | @tsv'"]=0
  ["railhead status --html - | ssh desk 'cat >node42.html'"]=0
  ["railhead survey --root node42.tar --html node42.html"]=0
  ["railhead kargs --format=bootc --profile my-sku.yaml"]=0
  ["railhead bake --root ./tree --profile my-sku --gate kubelet --gate slurmd"]=0
  ['railhead admit --for 4h --reason "link 3 is being replaced"']=0
  ["railhead calibrate --force > 50-calibrated.yaml"]=0
  ["railhead calibrate --force --json > node42.json"]=0
  ["railhead calibrate --merge *.json > 50-calibrated.yaml"]=0
  ["grub2-mkconfig -o /etc/grub2.cfg"]=0
  ["railhead kargs --reset"]=0
  ['railhead admit --for 2d --reason "spare cable ordered"']=0
  ["railhead plan --root ./node42 --profile ./my-sku.yaml"]=0
)

# What is not run: a file that does the same, and the text in it.
declare -gA elsewhere=(
  # it makes the program that runs here
  ["make"]="Makefile:all: "
  # it boots a guest several times, and makes its image before
  ["make demo"]="Makefile:tests/vm/demo"
  # this test is a part of it
  ["make check"]=".ci/run:make -k check"
  # they build an image
  ["make && make deb"]="Makefile:packaging/deb/build"
  ["cp -a docs/examples/mkosi image"]="tests/long/images:cp -a examples/mkosi mkosi"
  ["mkdir image/mkosi.packages && cp build/deb/*.deb image/mkosi.packages/"]="tests/long/images:cp debs/*.deb"
  ["cd image && mkosi build"]="tests/long/images:mkosi --force --local-mirror="
  # directories and bases of an author's own
  ["railhead check --bases profiles my-profiles/"]="tests/check.bats:check --bases one --bases two mine/a.yaml"
  # files of other tools
  ["railhead import /etc/sysctl.d tuned.conf"]="tests/import.bats:import sysctl.d modprobe.d"
  ["build/railhead kargs --format=line --profile profiles/my-sku.yaml"]="tests/long/images:kargs --format=line --profile vm-bench"
  # they install packages
  ["tests/lib/deps.sh build"]="tests/deps.bats:\"\$deps\" build"
  ["sudo tests/lib/deps.sh build"]="tests/deps.bats:\"\$deps\" build"
  # these tests are a part of it, or it is a part of them
  ["make check-fast"]="Makefile:check-fast: check-unit"
  ["make test-link"]="tests/inner_loop.bats:tests/lib/subject link"
  ["make lint"]=".ci/run:lint"
  ["make schema keys"]="tests/section.bats:tests/lint/keys\" --write"
  ["tests/lib/run-unit build/test/test_base"]="Makefile:tests/lib/run-unit"
  ["tests/lib/run-bats tests/explain.bats"]="Makefile:tests/lib/run-bats"
  # they measure this machine, and a NIC
  ["railhead-bench memory_bandwidth --node 0 --page 1G,2M --budget 5000"]="tests/bench_program.bats:memory_bandwidth --node 0 --page"
  ["railhead-bench rdma_loopback --device mlx5_0 --node 1"]="tests/bench_program.bats:rdma_loopback --device"
  # its VFs take a kernel, or simnode
  ["railhead apply && railhead gate"]="tests/faults.bats:run -0 \"\$railhead\" apply --root"
  # it goes on until ^C
  ["railhead status --watch"]="tests/watch.bats:status --watch"
  # a journal and units are there in the guest
  ["journalctl -x -t railhead"]="tests/vm/show_boot.py:-t railhead"
  ["systemctl mask --runtime railhead-device@.service"]="tests/vm/harness.py:--runtime railhead-device@.service"
)

# Code blocks: lines that begin with four blanks; those between fences are what a terminal shows.
# "FIRST LINE OF THE BLOCK<tab>LINE"
blocks() {
  awk '/^```/ { fenced = !fenced } fenced { next }
    /^    / { line = substr($0, 5); if (!inside) first = line; inside = 1; print first "\t" line; next }
    { inside = 0 }' "${pages[@]}"
}

# Their commands, without the comments behind them.
commands() {
  blocks | grep -vE '^(schema: |# yaml-language-server|src/base )' | cut -f 2- | sed 's/^   //; s/  *# .*//'
  sed -nE 's/^(\.Dl )?[#$] (.*)$/\2/p' "${manuals[@]}" | sed 's/\\(dq/"/g; s/  *# .*//'
}

block() { # PATTERN OF ITS FIRST LINE
  blocks | grep -E "^$1" | cut -f 2-
}

# A node like those that the README's profile is for, and with it as the only profile there.
new_node() {
  [ -d "$BATS_TEST_TMPDIR/made" ] ||
    python3 "$top/tests/lib/machine" "$BATS_TEST_TMPDIR/made" "$top/tests/simnode/node.toml"
  rm -rf "$root"
  cp -a "$BATS_TEST_TMPDIR/made/node" "$root"
  put "$root/sys/class/dmi/id/sys_vendor" Supermicro
  put "$root/sys/class/dmi/id/product_name" SYS-821GE-TNHR
  block "schema: " | profile "$root" my-sku
}

# An image's tree: what the packages install, and the README's profile.
new_tree() {
  command make -s -C "$top" -o build/railhead -o build/05_railhead install-railhead DESTDIR="$PWD/tree"
  mkdir -p tree/proc tree/boot tree/usr/lib/systemd/system
  block "schema: " | profile "$PWD/tree" my-sku
}

# --- what the commands find in the place of the node's own ------------------------------

# On that node, with a benchmark that says the same each time; calibrate in two runs of ten.
railhead() {
  local more=()
  [[ " $* " == *" --root "* || " $* " == *" --merge "* || $1 == explain ]] || more=(--root "$root")
  [[ $1 != calibrate || $2 == --merge ]] || more+=(--runs 3)
  with_bench "$railhead" "$@" "${more[@]}"
}

# It is Fedora's, and tests/kargs_mend.bats has its menu entries.
grub2-mkconfig() {
  [ "$*" = "-o /etc/grub2.cfg" ]
}

# Below the node's root.
install() { # OPTION... FILE /PATH
  command install "${@:1:$#-1}" "$root${*: -1}"
}

ssh() { # HOST COMMAND
  sh -c "$2"
}

# Nothing that other tests run is made again meanwhile.
make() {
  command make -C "$top" -o build/railhead -o build/railhead-bench -o build/05_railhead \
    -o build/simnode DESTDIR="$BATS_TEST_TMPDIR/installed" "$@"
}

sudo() {
  "$@"
}

# Until what a command in the background mounts is there.
wait_for_mount() {
  eventually mountpoint -q "$BATS_TEST_TMPDIR/sim/mnt" || {
    echo "nothing was mounted in time"
    return 1
  }
}

teardown() {
  fusermount3 -u -z -q "$BATS_TEST_TMPDIR/sim/mnt" 2>/dev/null || :
}

@test "every command of a code block is run below, or known to run elsewhere" {
  commands >"$BATS_TEST_TMPDIR/commands"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/commands")" -ge 25 ]
  while read -r command; do
    [ -n "${runs[$command]:-}${elsewhere[$command]:-}" ] || {
      echo "README.md, or docs/, has the command '$command', which is neither run here nor known to run elsewhere"
      return 1
    }
  done <"$BATS_TEST_TMPDIR/commands"
  for command in "${!runs[@]}" "${!elsewhere[@]}"; do
    grep -qxF -e "$command" "$BATS_TEST_TMPDIR/commands" || {
      echo "neither README.md nor docs/ has the command '$command' any more"
      return 1
    }
  done
  for command in "${!elsewhere[@]}"; do
    [ -z "${runs[$command]:-}" ]
    grep -qF -e "${elsewhere[$command]#*:}" "$top/${elsewhere[$command]%%:*}" || {
      echo "'$command' is not in ${elsewhere[$command]%%:*} any more"
      return 1
    }
  done
}

@test "the commands do what README.md says, in its order" {
  root=$BATS_TEST_TMPDIR/root
  railhead=$(realpath "$railhead")
  bench_value 200e9
  cd "$BATS_TEST_TMPDIR"
  block "schema: " >my-sku.yaml
  while read -r command <&9; do
    [ -n "${runs[$command]:-}" ] || continue
    case $command in # the others go on with what those before them left
      "railhead status" | "railhead calibrate"* | "railhead check "*) new_node ;;
      "railhead bake "*--gate*) rm -rf tree && new_tree ;;
      "railhead admit "* | "railhead maintain --for"*) railhead gate >/dev/null 2>&1 || : ;;
      "railhead plan --root ./node42 "*) cp -a "$root" node42 ;;
    esac
    case $command in
      *tests/* | *build/*) cd "$top" ;;
      *) cd "$BATS_TEST_TMPDIR" ;;
    esac
    status=0
    eval "${command//\/tmp\/sim/$BATS_TEST_TMPDIR/sim}" >"$BATS_TEST_TMPDIR/out" 2>&1 9>&- 3>&- || status=$?
    read -r wanted later <<<"${runs[$command]}"
    runs[$command]=${later:-$wanted}
    [ "$status" = "$wanted" ] || {
      echo "'$command' exits with $status, and not with $wanted:"
      cat "$BATS_TEST_TMPDIR/out"
      return 1
    }
    [[ $command != *"&" ]] || wait_for_mount
  done 9< <(commands)
  # not only their exit codes
  [ -s node42.tar ]
  grep -qx "name: my-sku" my-sku.yaml
  [ -x installed/usr/sbin/railhead ]
  grep -qE "^[0-9.]+ sriov 0000:18:00.0 4" sim/log
}

@test "the profile is taken without a warning, and fits the machine that it is for" {
  block "schema: " >"$BATS_TEST_TMPDIR/my-sku.yaml"
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/my-sku.yaml"
  [ "$output" = "$BATS_TEST_TMPDIR/my-sku.yaml: ok, profile my-sku, digest ${output##* }" ]
  # by its match, and with the count of each of its sets
  python3 "$top/tests/lib/machine" "$BATS_TEST_TMPDIR" "$top/tests/fixtures/machines/hgx-h100-cx7.toml"
  root=$BATS_TEST_TMPDIR/hgx-h100-cx7
  mkdir -p "$root/etc/railhead/profiles"
  cp "$BATS_TEST_TMPDIR/my-sku.yaml" "$root/etc/railhead/profiles"
  counts "$railhead" plan --json --root "$root"
}

# The sets of the profile that the node matches have as many members as the profile expects.
counts() { # COMMAND...
  "$@" >"$BATS_TEST_TMPDIR/plan" || [ "$?" -eq 5 ]
  jq -e '[.changes[] | select(.id | test("^devices/.*/expect$"))] | length > 0 and all(.state == "same")' \
    "$BATS_TEST_TMPDIR/plan" || {
    jq -c '.changes[] | select(.id | startswith("devices/")) | {id, state, reason}' "$BATS_TEST_TMPDIR/plan"
    return 1
  }
}

@test "ready.md has the rules that the incidents of tests/lies are filed under, word for word" {
  sed -n '/^RULES = {/,/^}/s/^ *"\(.*\)": "\(.*\)",$/| \1 | \2 |/p' "$top/tests/lies/run" >"$BATS_TEST_TMPDIR/rules"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/rules")" -ge 10 ]
  sed -n '/^| rule |/,/^$/p' "$top/docs/ready.md" | tail -n +3 | sed '/^$/d' | diff "$BATS_TEST_TMPDIR/rules" -
}

@test "the layout names the rooms that there are; the schema's line is where it is installed" {
  block "src/base" | grep -oE '\bsrc/[a-z]+' | sort >"$BATS_TEST_TMPDIR/named"
  (cd "$top" && ls -d src/*/) | sed 's,/$,,' | sort >"$BATS_TEST_TMPDIR/there"
  run -0 diff "$BATS_TEST_TMPDIR/named" "$BATS_TEST_TMPDIR/there"
  [ "$(block "# yaml-language-server")" = \
    "# yaml-language-server: \$schema=/usr/lib/railhead/profiles/railhead-profile.schema.json" ]
  [ -s "$top/profiles/railhead-profile.schema.json" ]
}

@test "verbs, options, targets and files that sentences name are there" {
  grep -hv '^    ' "${pages[@]}" | grep -oE '`[^`]+`' | tr -d '`' >"$BATS_TEST_TMPDIR/code"
  while read -r program verb options; do
    case $program in
      railhead)
        [ -n "$verb" ] || continue # the package
        run -0 "$railhead" "$verb" --help
        for option in $(grep -oE -e '--[a-z]+(-[a-z]+)*' <<<"$options"); do
          [[ $output == *"  $option "* ]] || { echo "railhead $verb takes no $option"; return 1; }
        done
        ;;
      make)
        [ -n "$verb" ] || continue
        grep -qE "^$verb:" "$top/Makefile" || { echo "there is no target $verb"; return 1; }
        ;;
      tests/* | packaging/* | profiles/* | src/* | docs/*)
        # NAME and * stand for any
        compgen -G "$top/${program//NAME/*}" >/dev/null || { echo "there is no $program"; return 1; }
        ;;
    esac
  done < <(sed 's/^[A-Z_]*=[^ ]* //' "$BATS_TEST_TMPDIR/code")
  [ "$(grep -c '^railhead ' "$BATS_TEST_TMPDIR/code")" -ge 3 ]
}

@test "README.md fits two screens, its picture is what the program prints, its links lead somewhere" {
  local screens=$top/tests/fixtures/screens screen link
  [ "$(wc -l <"$top/README.md")" -le 130 ]
  [ "$(wc -c <"$top/README.md")" -le 9216 ]
  for screen in verify status; do
    sed '/^exit/d; /TIME/d' "$screens/$screen-three-80" >"$BATS_TEST_TMPDIR/wanted"
    awk -v of="# railhead $screen" '/^# railhead|^```/ { inside = $0 == of; next } inside' "$top/README.md" |
      sed '${/^$/d}' | diff -u "$BATS_TEST_TMPDIR/wanted" -
  done
  for link in $(grep -ohE '\]\([^)]*\)' "${pages[@]}" | tr -d '()]'); do
    [ -e "$top/$link" ] || [ -e "$top/docs/$link" ]
  done
}
