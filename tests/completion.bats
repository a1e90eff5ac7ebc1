#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash, zsh and fish offer at the Tab key. They read verbs and options from --help; so what
# is held here is that they read it right, and that they know each word of it for a value.

bats_require_minimum_version 1.5.0
load lib/fakenode

completions=$BATS_TEST_DIRNAME/../packaging/completions

setup() {
  PATH=$(dirname "$(realpath "$railhead")"):$PATH
  cd "$BATS_TEST_TMPDIR" || return 1 # where files are offered from
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  profile "$root" alpha <<<$'schema: 1\nname: alpha\nmatch: {dmi: {sys_vendor: Supermicro}}'
  profile "$root" alpine <<<$'schema: 1\nname: alpine\nabstract: true'
  touch alpha-node.tar notes.txt
}

# As readline calls it: words are parted at blanks, and "=" and ":" are words by themselves.
in_bash() { # LINE
  (
    compopt() { [ "$*" != "-o default" ] || offers_files=1; }
    # shellcheck source=/dev/null
    . "$completions/railhead.bash"
    COMP_LINE=$1 COMP_POINT=${#1} offers_files=
    read -ra COMP_WORDS < <(sed 's/[=:]/ & /g' <<<"$1")
    [[ $1 != *[[:space:]=] ]] || COMP_WORDS+=("")
    [[ $1 != *= ]] || unset 'COMP_WORDS[-1]'
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    "$(complete -p railhead | sed 's/.*-F \([^ ]*\) .*/\1/')" railhead "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    [ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort
    [ -z "$offers_files" ] || echo "(files)"
  )
}

in_zsh() { # LINE
  zsh -f "$BATS_TEST_DIRNAME/lib/complete.zsh" "$completions" "$1" \
    "$BATS_TEST_TMPDIR/offered" "$BATS_FILE_TMPDIR/zsh-dump" | sort
}

in_fish() { # LINE; without the descriptions
  HOME=$BATS_TEST_TMPDIR fish -N -c 'source $argv[1]; complete -C $argv[2]' \
    "$completions/railhead.fish" "$1" | cut -f 1 | sort
}

# offered SHELL LINE WORD...: just these, in any order.
offered() {
  local got want shell=$1 line=$2
  shift 2
  got=$("in_$shell" "$line")
  want=$([ $# -eq 0 ] || printf '%s\n' "$@" | sort)
  [ "$got" = "$want" ] || {
    printf '%s: "%s" offers:\n%s\nand not:\n%s\n' "$shell" "$line" "$got" "$want"
    return 1
  }
}

verbs() {
  "$railhead" --help | awk 'NR > 1 && /^  [a-z]/ { print $1 }'
}

options_of() { # VERB
  "$railhead" "$1" --help | head -n 1 | grep -oE -- '\[--[a-z-]+' | tr -d '['
  echo --help
}

@test "all verbs, and all options of each" {
  [ "$(verbs | wc -l)" -ge 13 ]
  # shellcheck disable=SC2046
  for shell in bash zsh fish; do
    offered $shell "railhead " $(verbs) --help --version
  done
  for verb in $(verbs); do
    # shellcheck disable=SC2046
    offered bash "railhead $verb --" $(options_of "$verb")
    # shellcheck disable=SC2046
    offered fish "railhead $verb --" $(options_of "$verb")
  done
  for verb in gate calibrate; do
    # shellcheck disable=SC2046
    offered zsh "railhead $verb --" $(options_of "$verb")
  done
  offered bash "railhead show --json --" --color --help --no-pager --resolved --root
}

@test "stages and formats are those that the program takes" {
  stages=$("$railhead" plan --stage none 2>&1 | sed 's/.*one of: //; s/,//g') || :
  formats=$("$railhead" kargs --format none 2>&1 | sed 's/.*one of: //; s/,//g') || :
  [ "$(wc -w <<<"$stages") $(wc -w <<<"$formats")" = "4 4" ]
  for shell in bash zsh fish; do
    # shellcheck disable=SC2086
    offered $shell "railhead plan --stage " $stages
    # shellcheck disable=SC2086
    offered $shell "railhead kargs --format " $formats
    offered $shell "railhead verify --stage ea" early
    offered $shell "railhead verify --color " auto always never
  done
  offered bash "railhead verify --json --stage=ea" early
  offered zsh "railhead verify --json --stage=ea" early
  offered fish "railhead verify --json --stage=ea" --stage=early
}

@test "names of profiles, of the tree that --root names; a base is for show alone" {
  for shell in bash zsh fish; do
    offered $shell "railhead plan --root $root --profile alph" alpha $([ $shell = bash ] || echo alpha-node.tar)
    offered $shell "railhead plan --root=$root --profile alpi" $([ $shell != bash ] || echo "(files)")
    offered $shell "railhead show --root $root alpi" alpine
  done
  offered bash "railhead plan --root $root --profile=alph" alpha
  offered fish "railhead plan --root=$root --profile=alph" --profile=alpha --profile=alpha-node.tar
}

@test "files where a file is meant, and nothing where the words are the user's" {
  for line in "check not" "calibrate --merge not" "survey --snapshot not" "status --html not" "plan --root=not" "show not"; do
    offered bash "railhead $line" "(files)"
    offered zsh "railhead $line" notes.txt
    offered fish "railhead $line" "$([[ $line != *=not ]] || echo --root=)notes.txt"
  done
  for line in "admit --for not" "calibrate --runs not" "draft not" "status not" "nonsense not"; do
    offered bash "railhead $line"
    offered fish "railhead $line"
  done
  offered zsh "railhead admit --for not"
  offered zsh "railhead status not"
}

@test "addresses of PCI functions, from behind the colon that bash parts them at" {
  ls() { printf '%s\n' 0000:18:00.0 0000:19:00.0; }
  offered bash "railhead apply --device 0000:1" 18:00.0 19:00.0
  offered bash "railhead apply --device=0000:18:" 00.0
}

@test "explain: the keys of profiles, and fault codes" {
  for shell in bash zsh fish; do
    offered "$shell" "railhead explain link.SET.p" \
      link.SET.pause.rx link.SET.pause.tx link.SET.private_flags.NAME
    offered "$shell" "railhead explain hugepages[].s" "hugepages[].size"
    offered "$shell" "railhead explain RH-NIC-LINK" RH-NIC-LINK-SPEED RH-NIC-LINK-WIDTH
  done
}

@test "why: keys and devices of this machine; diff: node, profiles and files" {
  for shell in bash zsh fish; do
    offered "$shell" "railhead why hugepages[].s" "hugepages[].size"
    offered "$shell" "railhead why lo" $([ $shell = bash ] && echo lo || ls /sys/class/net | grep ^lo)
    offered "$shell" "railhead diff --root $root nod" node
    offered "$shell" "railhead diff --root $root boo" boot boot:-1
    offered "$shell" "railhead diff --root $root node alph" alpha $([ $shell = bash ] || echo alpha-node.tar)
  done
  offered bash "railhead diff node not" "(files)"
}

# What stands for a value in --help is a case of each shell's table of values.
@test "each word of the help for a value is known to all three" {
  for verb in $(verbs); do
    "$railhead" "$verb" --help | head -n 1
  done >usages
  { grep -oE -- '\[--[a-z-]+ [^]]+\]' usages | sed 's/.* //'; sed 's/\[--[^]]*\]//g' usages |
    awk '{ print $4 }'; } | sed -E 's/\.\.\.|[][]//g' | sort -u | sed '/^$/d' >words
  [ "$(wc -l <words)" -ge 11 ]
  for file in railhead.bash _railhead; do
    sed -nE "/^_railhead_value/,/^}/s/^ +([^)]*)\).*/\1/p" "$completions/$file" | tr -d "'\"" |
      sed 's/ | /\n/g' | sort -u >known
    run -0 comm -23 words known
    [ -z "$output" ] || { echo "$file knows no $output"; return 1; }
  done
  sed -nE "/^function __railhead_value/,/^end/s/^ +case (.*)/\1/p" "$completions/railhead.fish" |
    sed 's/#.*//' | tr -d "'" | tr ' ' '\n' | sort -u >known
  run -0 comm -23 words known
  [ -z "$output" ] || { echo "railhead.fish knows no $output"; return 1; }
}

# The help has them in columns; an option's have their brackets and colons quoted.
@test "zsh: verbs and options have the descriptions of the help, and nothing before these" {
  diff <(zsh -f "$BATS_TEST_DIRNAME/lib/describe.zsh" "$completions") \
    <("$railhead" --help | awk '/^  [a-z]/ { print $1 ":" substr($0, 27) }'
      printf '%s\n' '--help:list verbs and options' '--version:print the version')
  for verb in $(verbs); do
    diff <(zsh -f "$BATS_TEST_DIRNAME/lib/describe.zsh" "$completions" "$verb" |
      sed -nE 's/^(--[a-z-]+)=?\[((\\.|[^]\\])*)\].*/\1 \2/p' | sed 's/\\//g') \
      <("$railhead" "$verb" --help | awk '/^  --/ { print $1, substr($0, 28) }')
  done
}

# Programs that say such names, in the place of each source of words. A name that no shell may run,
# split or take for a pattern, and behind it a good one.
say_names() { # GOOD
  local name program
  mkdir -p bin
  printf '%s\n' "\$(touch ran1)$1" '`touch ran2`' ';touch ran3;' '>ran4' '&touch ran5&' '${x:=$(touch ran6)}' \
    "'$1'" '"$1"' 'a\b' '*' '[a-z]*' '~root' '-x' '#x' '!x' 'l?' $'a\eb' "$1" >names
  for name in ls systemctl; do
    printf '#!/bin/sh\ncat %s/names\n' "$PWD" >"bin/$name"
  done
  program=$(realpath "$railhead")
  cat >bin/railhead <<S
#!/bin/sh
case \$1 in
  show) case \$* in *--help*) ;; *) sed 's/.*/profile\t&\t1\tvalid/' "$PWD/names"; exit ;; esac ;;
  explain) case \$* in *--help*) ;; *) cat "$PWD/names"; exit ;; esac ;;
esac
exec "$program" "\$@"
S
  chmod 755 bin/*
}

@test "names are data: none is expanded, and bash offers none that it would expand on the line" {
  local shell line words
  say_names good
  PATH=$PWD/bin:$PATH
  for line in "show " "plan --profile " "diff " "explain " "why " "apply --device " "bake --gate "; do
    for shell in bash zsh fish; do
      words=$(in_$shell "railhead $line")
      grep -qx good <<<"$words" || { echo "$shell: railhead $line offers: $words"; return 1; }
      [ -z "$(find . "$HOME" -maxdepth 1 -name 'ran*')" ] || { echo "$shell: railhead $line ran a name"; return 1; }
      [ $shell != bash ] || ! grep "[]\$\`;&>*~#!?\\\"'[]" <<<"$words" || { echo "offered by railhead $line"; return 1; }
    done
  done
}

@test "the verb on the line is no script of sed's" {
  in_bash "railhead /;etouch-ran;# "
  in_bash "railhead x//;w_ran "
  in_bash 'railhead $(touch${IFS}ran) '
  [ -z "$(find . -maxdepth 1 -name '*ran*')" ]
}

@test "they are installed where each shell looks" {
  make -s -C "$BATS_TEST_DIRNAME/.." -o build/railhead -o build/05_railhead install-railhead \
    DESTDIR="$BATS_TEST_TMPDIR/dest"
  cd dest/usr/share
  cmp bash-completion/completions/railhead "$completions/railhead.bash"
  cmp zsh/site-functions/_railhead "$completions/_railhead"
  cmp fish/vendor_completions.d/railhead.fish "$completions/railhead.fish"
}
