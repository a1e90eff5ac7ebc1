# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for railhead. Verbs and options are read from what the program prints for
# --help, so they are never behind it; only what an option's value may be is known here, by the
# word that the help has for it (DIR, STAGE, ...). Needs nothing of the bash-completion package.

# Of the lines of standard input, those that continue what is typed. They are data, such as a network
# device's name: compgen -W would expand them. bash puts a word on the line as it is, so words that it
# would read otherwise there are left out.
_railhead_words() {
  local word

  while IFS= read -r word; do
    [[ $word == "$cur"* && -n $word && $word != *[^][:alnum:]_.:@%+,=/[-]* ]] && COMPREPLY+=("$word")
  done
}

_railhead_files() {
  compopt -o default 2>/dev/null # readline's own, which quotes names as they need it
}

# Names of profiles, below the --root that is on the line; $1: "valid" leaves out bases.
_railhead_profiles() {
  local i
  local -a root=()

  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == --root ]] || continue
    [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
    [[ -d ${COMP_WORDS[i + 1]} ]] && root=(--root "${COMP_WORDS[i + 1]}")
  done
  "$program" show "${root[@]}" 2>/dev/null |
    awk -F '\t' -v only="$1" '$1 == "profile" && (only == "" || $4 == only) { print $2 }'
}

# What may stand for $1, the help's word for a value.
_railhead_value() {
  case $1 in
  STAGE) _railhead_words < <(printf '%s\n' initrd early devices gate) ;;
  FORMAT) _railhead_words < <(printf '%s\n' line bootc uki grubby) ;;
  WHEN) _railhead_words < <(printf '%s\n' auto always never) ;;
  HOW) _railhead_words < <(printf '%s\n' timer stop) ;;
  RELEASE) _railhead_words < <(ls /lib/modules 2>/dev/null) ;;
  ADDRESS) _railhead_words < <(ls /sys/bus/pci/devices 2>/dev/null) ;;
  UNIT) _railhead_words < <(systemctl list-unit-files --no-legend --type=service,target 2>/dev/null | cut -d ' ' -f 1) ;;
  KEY) _railhead_words < <({ "$program" explain; "$program" explain RH; } 2>/dev/null | cut -f 1) ;;
  "NAME|FILE")
    _railhead_words < <(_railhead_profiles "$2")
    ((${#COMPREPLY[@]})) || _railhead_files
    ;;
  "ID|KEY|DEVICE")
    _railhead_words < <({ "$program" explain | cut -f 1; ls /sys/bus/pci/devices; ls /sys/class/net; } 2>/dev/null)
    ;;
  SIDE)
    _railhead_words < <(printf '%s\n' node boot boot:-1; _railhead_profiles)
    ((${#COMPREPLY[@]})) || _railhead_files
    ;;
  "DIR|TAR" | DIR | FILE | FILE.tar | PROFILE) _railhead_files ;;
  DURATION | TEXT | N | PERCENT | NAME | "") ;; # the user's own words
  esac
}

# The options of the verb that are not on the line yet.
_railhead_options() {
  local rest=$usage name
  local -a list=(--help)

  while [[ $rest =~ \[(--[a-z-]+)(.*) ]]; do
    name=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
    [[ " ${COMP_WORDS[*]:0:COMP_CWORD} " == *" $name "* ]] || list+=("$name")
  done
  _railhead_words < <(printf '%s\n' "${list[@]}")
}

# bash parts words at "=" and ":": puts what is typed together again, in $cur, and the option
# that it is the value of, if any, in $option.
_railhead_typed() {
  local typed=${COMP_LINE:0:COMP_POINT}
  local -a before

  cur=${typed##*[[:space:]]}
  read -ra before <<<"${typed%"$cur"}"
  option=${before[-1]}
  if [[ $cur == --*=* ]]; then
    option=${cur%%=*} cur=${cur#*=}
  fi
  [[ $option == --* && $usage == *"[$option "* ]] || option=
}

_railhead() {
  local program=$1 verb=${COMP_WORDS[1]} cur option usage value i
  local -a words

  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    cur=${COMP_WORDS[1]}
    _railhead_words < <("$program" --help 2>/dev/null | awk 'NR > 1 && /^  [a-z]/ { print $1 }'
      printf '%s\n' --help --version)
    return
  fi
  usage=$("$program" "$verb" --help 2>/dev/null | head -n 1)
  _railhead_typed
  if [[ -n $option ]]; then
    value=${usage#*"[$option "}
    _railhead_value "${value%%]*}" valid
  elif [[ $cur == -* ]]; then
    _railhead_options
  else
    # the first word that is left of the usage without its options: "[NAME|FILE]", "PROFILE..."
    value=$usage
    while [[ $value =~ (.*)\[--[^]]*\](.*) ]]; do
      value=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
    done
    read -ra words <<<"$value" # "usage: railhead VERB ..."
    value=${words[3]}
    _railhead_value "${value//[].[]/}"
    ((${#COMPREPLY[@]})) || [[ -n $cur ]] || _railhead_options
  fi
  # of a word that bash parts at ":" it replaces the last part
  [[ $cur == *:* ]] || return 0
  for i in "${!COMPREPLY[@]}"; do
    COMPREPLY[i]=${COMPREPLY[i]#"${cur%"${cur##*:}"}"}
  done
}

complete -F _railhead railhead
