#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Files and directories that are absent, empty or not to be read: the exit code, and a remedy. A
# profile that can't be read is 3, any other operand 2, a machine without profiles or settings 4.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  open=$(mktemp -d) # which another user may enter
  chmod 755 "$open"
  cp "$railhead" "$open/railhead"
  cd "$open"
  mkdir -p root/proc root/sys empty closed
  : >empty.yaml
  : >empty.tar
  printf 'schema: 1\nname: a\nabstract: true\n' | tee a.yaml closed.yaml >/dev/null
  chmod 0 closed closed.yaml
}

teardown() {
  cd /
  rm -rf "$open"
}

# Each line: the exit code, the words of the command, and after " | " a part of the message.
all_say() {
  local line code words part
  while read -r line; do
    code=${line%% *}
    words=${line#* }
    part=${words#* | }
    words=${words% | *}
    # shellcheck disable=SC2086
    run "-$code" setpriv --reuid=65534 --regid=65534 --clear-groups ./railhead $words </dev/null
    [[ $output == *"$part"* ]] || {
      printf 'railhead %s: no "%s" in:\n%s\n' "$words" "$part" "$output"
      return 1
    }
  done
}

@test "check" {
  all_say <<'END'
3 check absent.yaml | absent.yaml: No such file or directory; check the path
3 check absent/ | absent/: No such file or directory; check the path
3 check empty.yaml | empty.yaml: the file is empty; a profile begins with schema: and name:
3 check empty | empty: no *.yaml below this directory; give the directory of the profiles
3 check closed.yaml | closed.yaml: Permission denied; run railhead as root, or make the path readable
3 check closed | closed: Permission denied; run railhead as root, or make the path readable
4 check --root empty | check: empty has no profiles in /etc/railhead/profiles, /run/railhead/profiles or /usr/lib/railhead/profiles; install one there, or give the path of a profile
END
}

@test "plan --profile and why --profile" {
  local verb
  for verb in "plan --root root" "why --root root vm.swappiness"; do
    all_say <<END
3 $verb --profile absent.yaml | absent.yaml: No such file or directory; check the path
3 $verb --profile absent/ | absent/: No such file or directory; check the path
3 $verb --profile absent | no profile 'absent' in /etc/railhead/profiles, /run/railhead/profiles or /usr/lib/railhead/profiles; for a file write its path, such as ./absent.yaml
3 $verb --profile empty.yaml | empty.yaml: the file is empty; a profile begins with schema: and name:
3 $verb --profile ./empty | empty: this is no regular file; give the path of a YAML file
3 $verb --profile closed.yaml | closed.yaml: Permission denied; run railhead as root, or make the path readable
END
  done
}

@test "--root" {
  local verb
  for verb in "check" "plan" "why vm.swappiness" "import" "diff node a.yaml"; do
    all_say <<END
2 $verb --root absent | railhead: absent: No such file or directory; check the path
2 $verb --root absent/ | railhead: absent/: No such file or directory; check the path
2 $verb --root closed | railhead: closed: Permission denied; run railhead as root, or make the path readable
2 $verb --root empty.tar | railhead: empty.tar: neither a directory nor a tar archive
END
  done
}

@test "diff" {
  all_say <<'END'
2 diff --root root node absent/ | absent/: No such file or directory; check the path
2 diff --root root node absent.tar | absent.tar: No such file or directory; check the path
2 diff a.yaml ./empty | ./empty: holds neither proc/ nor sys/; `railhead survey --snapshot FILE` captures a machine
2 diff empty/ a.yaml | empty/: holds neither proc/ nor sys/
2 diff ./closed a.yaml | ./closed: Permission denied; run railhead as root, or make the path readable
2 diff empty.tar a.yaml | empty.tar: neither a directory nor a tar archive
3 diff a.yaml absent.yaml | absent.yaml: No such file or directory; check the path
3 diff a.yaml absent | no profile 'absent' in
3 diff empty.yaml a.yaml | empty.yaml: the file is empty; a profile begins with schema: and name:
3 diff a.yaml closed.yaml | closed.yaml: Permission denied; run railhead as root, or make the path readable
END
}

@test "import" {
  mkdir sysctl.d
  : >sysctl.d/empty.conf
  all_say <<'END'
2 import absent.conf | import: absent.conf: No such file or directory; check the path
2 import absent/ | import: absent/: No such file or directory; check the path
2 import closed.yaml | import: closed.yaml: Permission denied; run railhead as root, or make the path readable
2 import closed | import: closed: Permission denied; run railhead as root, or make the path readable
2 import empty | import: found no file of sysctl.d, modprobe.d, modules-load.d, a kernel command line, default/grub or tuned; give the path of a file
2 import empty.tar | import: empty.tar: neither the path nor the text shows the format; known formats are sysctl.d,
4 import --root empty | import: found no file of sysctl.d
0 import sysctl.d/empty.conf | 0 of 0 settings
END
}
