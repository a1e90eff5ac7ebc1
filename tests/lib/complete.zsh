# SPDX-License-Identifier: GPL-2.0-or-later
# What an interactive zsh offers where the Tab key is pressed:
#   zsh -f complete.zsh DIRECTORY-OF-COMPLETIONS LINE SCRATCH-FILE DUMP
# A line of output for each. DUMP is where zsh keeps what it found for the next call. Exit status
# 1: no answer within five minutes.
export OFFERED=$3
: >$OFFERED
rc="fpath=(${(q)1} \$fpath)
autoload -Uz compinit && compinit -u -C -d ${(q)4}
compadd() {
  local -a got
  (( \${@[(I)-[OAD]]} )) || {
    builtin compadd -O got \"\$@\"
    print -rl -- \$got >>\$OFFERED
  }
  builtin compadd \"\$@\"
}
finish() { print -r -- '(end)' >>\$OFFERED }
zle -N finish
bindkey '^X' finish"

zmodload zsh/zpty zsh/datetime
zpty -b shell zsh -f -i
zpty -w shell "eval ${(qqqq)rc}"
zpty -w -n shell "$2"$'\t\x18'
for ((until = EPOCHSECONDS + 300; EPOCHSECONDS < until;)); do
  zpty -r -t shell seen # or its terminal fills
  [[ $(tail -n 1 $OFFERED) == '(end)' ]] && { sed '/^$/d; $d' $OFFERED; exit 0 }
done
exit 1
