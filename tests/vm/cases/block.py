"""Queues of disks by set: what a real kernel takes, and whom it leaves alone. The guest has two disks
of virtio: one carries its system, the other the payload of the tests."""

from harness import DEVICES_SNAPSHOT, case, contains, equal, exits, expect

from cases.sriov import APPLY, HEAD, PROFILE


def _queue(vm, disk, name):
    """The value of a queue's file, of several words the one in brackets."""
    return vm.sh(f"sed 's/.*\\[\\(.*\\)\\].*/\\1/' /sys/block/{disk}/queue/{name}").strip()


def _queues(vm, disk):
    return {name: _queue(vm, disk, name) for name in
            ("scheduler", "nr_requests", "wbt_lat_usec", "rq_affinity", "nomerges", "read_ahead_kb")}


def _id(vm, disk):
    """Of the PCI function that the disk hangs on."""
    return vm.sh(f"cd -P /sys/block/{disk}/device/.. && sed 's/^0x//' vendor device | paste -sd:").strip()


def _profile(vm, disk, text):
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{HEAD}devices: {{disks: {{pci: \"{_id(vm, disk)}\"}}}}\n"
          f"block: {{disks: {{{text}}}}}\nPROFILE\nrailhead check {PROFILE}")


@case(DEVICES_SNAPSHOT, "queues of a set's disks are as sysfs shows them, and the boot disk keeps its own")
def queues(vm):
    source = vm.sh("findmnt -no SOURCE /").strip().rpartition("/")[2]
    system = vm.sh(f"basename $(readlink -f /sys/class/block/{source}/..)").strip()
    disks = [name for name in vm.sh("ls /sys/block").split() if name.startswith("vd")]
    expect(system in disks and len(disks) > 1, f"disks {disks}, of which {system} has the system")
    data = next(name for name in disks if name != system)
    equal("kinds of the two disks", _id(vm, data), _id(vm, system))
    before = _queues(vm, system)
    other = "none" if _queue(vm, data, "scheduler") == "mq-deadline" else "mq-deadline"
    _profile(vm, data, f"scheduler: {other}, nr_requests: 64, wbt_latency: 5ms, rq_affinity: 2,"
                       " nomerges: 1, read_ahead: 512K")
    said = vm.sh(f"{APPLY} --json", 60)
    contains("railhead apply", said, f"{system} left as it is, because it carries / of the running system")
    for name, value in (("scheduler", other), ("nr_requests", "64"), ("wbt_lat_usec", "5000"),
                        ("rq_affinity", "2"), ("nomerges", "1"), ("read_ahead_kb", "512")):
        equal(f"{name} of {data}", _queue(vm, data, name), value)
    equal(f"queue of {system}", _queues(vm, system), before)
    vm.sh(f"strace -f -e trace=openat,openat2 -o /run/trace {APPLY}", 60)
    equal("queues that a second run opens for writing",
          vm.run("grep -c '/queue/.*O_\\(WRONLY\\|RDWR\\)' /run/trace").output.strip(), "0")

    # Another scheduler takes the requests with it: they are set again in the same run.
    vm.sh(f"echo bfq >/sys/block/{data}/queue/scheduler")
    vm.sh(APPLY, 60)
    equal(f"scheduler of {data}", _queue(vm, data, "scheduler"), other)
    equal(f"nr_requests of {data}", _queue(vm, data, "nr_requests"), "64")

    # What the kernel lacks, or the hardware, is named with what there is.
    vm.sh("mkdir -p /run/modprobe.d && echo 'install kyber-iosched /bin/false'"
          " >/run/modprobe.d/no-kyber.conf")
    _profile(vm, data, "scheduler: kyber")
    contains("railhead apply", exits(vm, APPLY, 6, 60),
             f"{data}: this kernel has no scheduler kyber (no module kyber-iosched), but ")
    _profile(vm, data, "scheduler: none, nr_requests: 10240")
    tags = vm.sh(f"cat /sys/block/{data}/mq/0/nr_tags").strip()
    contains("railhead apply", exits(vm, APPLY, 6, 60),
             f"without a scheduler the queue has at most the {tags} of the hardware")
    equal(f"queue of {system}", _queues(vm, system), before)
