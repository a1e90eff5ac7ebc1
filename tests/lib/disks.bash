# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks and their controllers for a machine that is a directory tree, below $root.

DEVICES=sys/devices/pci0000:00

controller() { # ADDRESS DRIVER CLASS
  put "$root/$DEVICES/$1/vendor" 0x144d
  put "$root/$DEVICES/$1/device" 0xa80a
  put "$root/$DEVICES/$1/class" "$3"
  mkdir -p "$root/sys/bus/pci/drivers/$2"
  ln -sfn "/sys/bus/pci/drivers/$2" "$root/$DEVICES/$1/driver"
  ln -sfn "../../../devices/pci0000:00/$1" "$root/sys/bus/pci/devices/$1"
}

disk() { # NAME MAJOR:MINOR DIR: below sys/devices
  local dir=$root/sys/devices/$3/$1 number=$2
  put "$dir/dev" "$number"
  put "$dir/queue/scheduler" "[mq-deadline] kyber none"
  put "$dir/queue/nr_requests" 256
  put "$dir/queue/wbt_lat_usec" 2000
  put "$dir/queue/rq_affinity" 1
  put "$dir/queue/nomerges" 0
  put "$dir/queue/read_ahead_kb" 128
  put "$dir/queue/io_poll" 0
  place_disk "$1" "$number" "$3/$1"
}

place_disk() { # NAME MAJOR:MINOR DEVICE
  mkdir -p "$root/sys/block" "$root/sys/class/block" "$root/sys/dev/block"
  [ -e "$root/sys/devices/$3/partition" ] || ln -sfn "../devices/$3" "$root/sys/block/$1"
  ln -sfn "../../devices/$3" "$root/sys/class/block/$1"
  ln -sfn "../../devices/$3" "$root/sys/dev/block/$2"
}

partition() { # NAME MAJOR:MINOR DISK-DIR
  put "$root/sys/devices/$3/$1/partition" 1
  put "$root/sys/devices/$3/$1/dev" "$2"
  place_disk "$1" "$2" "$3/$1"
}

mounted() { # LINE...
  printf '%s\n' "$@" >"$root/proc/self/mountinfo"
}
