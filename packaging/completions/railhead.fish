# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for railhead. Verbs and options are read from what the program prints for
# --help, so they are never behind it; only what an option's value may be is known here, by the
# word that the help has for it (DIR, STAGE, ...).

function __railhead_verbs -a program
    $program --help 2>/dev/null | string match -r '^  [a-z].*' |
        string replace -r '^  ([a-z]+) +(\[?[A-Z|]+(\.\.\.)?\]? +)?' '$1\t'
    printf '%s\t%s\n' --help 'list verbs and options' --version 'print the version'
end

# Names of profiles, below the --root that is on the line; "valid" leaves out bases.
function __railhead_profiles -a state
    set -l words (commandline -opc | string replace -r -- '^(--root)=(.*)' '$1\n$2' | string split '\n')
    set -l root
    if set -l i (contains -i -- --root $words)
        set -l dir $words[(math $i + 1)]
        test -d "$dir"; and set root --root $dir
    end
    $words[1] show $root 2>/dev/null |
        awk -F '\t' -v only="$state" '$1 == "profile" && (only == "" || $4 == only) { print $2 }'
end

# What may stand for a value, by the word that the help has for it.
function __railhead_value -a what typed state
    switch $what
        case STAGE
            printf '%s\n' initrd early devices gate
        case FORMAT
            printf '%s\n' line bootc uki grubby
        case WHEN
            printf '%s\n' auto always never
        case HOW
            printf '%s\n' timer stop
        case RELEASE
            command ls /lib/modules 2>/dev/null
        case ADDRESS
            command ls /sys/bus/pci/devices 2>/dev/null
        case UNIT
            systemctl list-unit-files --no-legend --type=service,target 2>/dev/null |
                string replace -r ' .*' ''
        case KEY # with the text that describes it
            set -l words (commandline -opc)
            $words[1] explain 2>/dev/null
            $words[1] explain RH 2>/dev/null | string replace -r '\t.*\t' '\t'
        case 'NAME|FILE'
            __railhead_profiles $state
            __fish_complete_path $typed
        case 'ID|KEY|DEVICE' # keys with the text that describes them
            set -l words (commandline -opc)
            $words[1] explain 2>/dev/null
            command ls /sys/bus/pci/devices /sys/class/net 2>/dev/null | string match -v '*:'
        case SIDE
            printf "%s\n" node boot boot:-1
            __railhead_profiles
            __fish_complete_path $typed
        case 'DIR|TAR' DIR FILE FILE.tar PROFILE
            __fish_complete_path $typed
        case DURATION TEXT N PERCENT NAME '' # the user's own words
    end
end

# The options of the verb, with the text that its help has for each.
function __railhead_options
    string match -r -- '^  --.*' $argv |
        string replace -r -- '^  (--[a-z-]+) +([A-Z|]+(\.tar)? +)?' '$1\t'
    printf '%s\t%s\n' --help 'print the usage of this verb'
end

function __railhead_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    command -q $words[1]; or return
    if not set -q words[2]
        __railhead_verbs $words[1]
        return
    end
    set -l help ($words[1] $words[2] --help 2>/dev/null)
    set -l option $words[-1]
    set -l prefix
    if string match -qr -- '^--[a-z-]+=' $typed
        set option (string replace -r '=.*' '' -- $typed)
        set prefix $option=
        set typed (string replace -r '^[^=]*=' '' -- $typed)
    end
    set -l what (string match -r -- '\['$option' ([^]]*)\]' $help[1])
    if set -q what[2]
        __railhead_value $what[2] "$typed" valid | string replace -r '^' -- "$prefix"
    else if string match -q -- '-*' $typed
        __railhead_options $help
    else
        # the first word that is left of the usage without its options: "[NAME|FILE]", "PROFILE..."
        __railhead_value (string replace -ar '\[--[^]]*\]' '' -- $help[1] |
            string replace -r "^usage: [^ ]+ $words[2] *" '' |
            string replace -ar '[].[]|(?<=[^ ]) .*' '') "$typed"
    end
end

complete -c railhead -f -a '(__railhead_complete)'
