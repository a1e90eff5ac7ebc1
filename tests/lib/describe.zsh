# SPDX-License-Identifier: GPL-2.0-or-later
# Verbs, or options of VERB, with the descriptions that the completion hands to zsh, one a line:
#   zsh -f describe.zsh DIRECTORY-OF-COMPLETIONS [VERB]
_describe() { print -rl -- ${(P)2} }
_arguments() { print -rl -- $@ }
functions[complete_railhead]="$(<$1/_railhead)"
words=(railhead $2 --)
CURRENT=$(($# + 1))
complete_railhead
