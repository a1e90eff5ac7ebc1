"""Profiles that do not fit, and profiles that are wrong."""

from harness import SNAPSHOT, case, contains, equal, exits, expect, status_json

PROFILE = "/etc/railhead/profiles/vm-bench.yaml"
FACTS = ("cat /proc/sys/vm/swappiness /proc/sys/net/core/rmem_max"
         " /sys/bus/pci/devices/0000:?1:00.0/sriov_numvfs; sha256sum /boot/grub/railhead.env")


def _as_at_boot(vm):
    """Let railhead start anew, as after a reboot, with one value out of place."""
    vm.sh("rm -rf /run/railhead; echo 60 >/proc/sys/vm/swappiness")



@case(SNAPSHOT, "no profile matches: the verdict is none, and nothing is done")
def none_matches(vm):
    vm.sh(f"sed -i 's/sys_vendor: QEMU/sys_vendor: Nobody/' {PROFILE}")
    _as_at_boot(vm)
    before = vm.sh(FACTS)
    equal("exit status of apply", vm.run("railhead apply", 120).status, 4)
    vm.run("railhead gate", 120)
    equal("verdict", status_json(vm)["verdict"], "none")
    equal("exit status of status", vm.run("railhead status").status, 7)
    equal("the machine", vm.sh(FACTS), before)
    expect(vm.run("test -e /run/railhead/ready").status != 0, "/run/railhead/ready exists")


@case(SNAPSHOT, "two profiles match: blocked, with both names")
def two_match(vm):
    vm.sh(f"sed 's/name: vm-bench/name: vm-twin/' {PROFILE}"
          " >/etc/railhead/profiles/vm-twin.yaml")
    _as_at_boot(vm)
    before = vm.sh(FACTS)
    equal("exit status of apply", vm.run("railhead apply", 120).status, 4)
    vm.run("railhead gate", 120)
    equal("verdict", status_json(vm)["verdict"], "blocked")
    said = vm.run("railhead status").output
    contains("railhead status", said, "vm-bench", "vm-twin")
    equal("the machine", vm.sh(FACTS), before)


@case(SNAPSHOT, "an unknown key is refused with its place and the nearest key")
def unknown_key(vm):
    vm.sh(f"sed -i 's/^sysctl:/sysctll:/' {PROFILE}")
    _as_at_boot(vm)
    before = vm.sh(FACTS)
    equal("exit status of apply", vm.run("railhead apply", 120).status, 3)
    line = vm.sh(f"grep -n '^sysctll:' {PROFILE}").split(":")[0]
    said = vm.run(f"railhead check {PROFILE} 2>&1")
    equal("exit status of check", said.status, 3)
    contains("railhead check", said.output, f"vm-bench.yaml:{line}:1", "sysctll", "sysctl")
    equal("the machine", vm.sh(FACTS), before)


@case(SNAPSHOT, "a parameter that a module has not is named; one that sysfs does not show is let be")
def parameters(vm):
    # numdummies is of mode 0, and every module takes async_probe.
    vm.sh(f"sed -i 's/numdummies: 3/numdummies: 3, nmdummies: 3, async_probe: 1/' {PROFILE}")
    result = vm.run("railhead verify", 120)
    equal("exit status of verify", result.status, 5)
    contains("railhead verify", result.output, "modules/options/dummy/nmdummies",
             "the module has no such parameter", "modinfo -p dummy")
    contains("railhead verify", result.output, "unsupported modules/options/dummy/numdummies",
             "unsupported modules/options/dummy/async_probe")


@case(SNAPSHOT, "pages that a NUMA node has no memory for: no trial, and all else is applied")
def too_many_pages(vm):
    vm.sh(f"sed -i 's/per_node: 1,/per_node: 64,/' {PROFILE}")
    _as_at_boot(vm)
    env = vm.sh("sha256sum /boot/grub/railhead.env")
    exits(vm, "railhead apply", 0, 120)
    contains("railhead gate", exits(vm, "railhead gate 2>&1", 7, 180), "check for a missing DIMM",
             "kernel_args/next_boot: ", "the pages need 65536M on NUMA node 0")
    equal("railhead.env", vm.sh("sha256sum /boot/grub/railhead.env"), env)
    equal("vm.swappiness", vm.read("/proc/sys/vm/swappiness"), "10")
