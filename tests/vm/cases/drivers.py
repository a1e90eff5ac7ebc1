"""Drivers of VFs, and hugepages of a running kernel: what the main profile does not use."""

from harness import DEVICES_SNAPSHOT, case, equal, expect

PROFILE = "/etc/railhead/profiles/vm-bench.yaml"
VFS = [f"/sys/bus/pci/devices/0000:{bus}:00.0/virtfn{n}" for bus in ("41", "81") for n in (0, 1)]
SMALL_PAGES = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"


def _drivers(vm):
    """The name of each VF's driver, "" where it has none."""
    return [vm.run(f"readlink {vf}/driver").output.strip().split("/")[-1] for vf in VFS]


def _apply_with_driver(vm, driver):
    vm.sh(f"sed -i 's/driver: [a-z-]*/driver: {driver}/' {PROFILE}")
    vm.sh("railhead apply --stage devices 2>&1", 120)
    vm.sh("railhead plan --stage devices")  # exit 0: converged


@case(DEVICES_SNAPSHOT, "VFs change to vfio-pci, to no driver at all, and back to their netdev")
def vf_drivers(vm):
    _apply_with_driver(vm, "vfio-pci")
    equal("drivers for vfio-pci", _drivers(vm), ["vfio-pci"] * 4)
    expect(vm.run("test -c /dev/vfio/vfio").status == 0, "/dev/vfio/vfio is not there")
    _apply_with_driver(vm, "none")
    # A driver that is loaded later must not take them either.
    vm.sh("rmmod igbvf && modprobe igbvf")
    equal("drivers for none", _drivers(vm), [""] * 4)
    _apply_with_driver(vm, "netdev")
    equal("drivers for netdev", _drivers(vm), ["igbvf"] * 4)


@case(DEVICES_SNAPSHOT, "hugepages at run time are asked of each node by itself")
def runtime_pages(vm):
    vm.sh(f"sed -i '/^hugepages:/a\\  - {{size: 2M, nodes: {{0: 3, 1: 5}}, at: runtime}}' {PROFILE}")
    vm.sh("railhead apply --stage initrd 2>&1", 120)
    equal("2M pages", [vm.read(SMALL_PAGES.format(n)) for n in (0, 1)], ["3", "5"])
    vm.sh("railhead plan --stage initrd")
