"""SR-IOV on real functions: igb NICs and NVMe controllers over two NUMA nodes.

What is asserted is read from the guest's kernel; of railhead's output only the error that a
case is about.
"""

import contextlib
import json

import prepare
from harness import (DEVICES, DEVICES_SNAPSHOT, case, contains, equal, eventually, exits, expect,
                     expect_fault, leave_devices, state, status_json)
from vm import NVMES

NICS = ("0000:41:00.0", "0000:81:00.0")
PCI = "/sys/bus/pci/devices"
PROFILE = "/etc/railhead/profiles/vm-bench.yaml"
APPLY = "railhead apply --stage devices 2>&1"

# With the kernel arguments of the profile that this was booted with, so that the gate opens.
HEAD = """schema: 1
name: vm-bench
version: 2.0.0
match:
  dmi: {sys_vendor: QEMU, product_name: "Standard PC*"}
kernel_args:
  iommu: passthrough
  set: [transparent_hugepage=never, skew_tick=1]
hugepages:
  - {size: 1G, per_node: 1, at: boot, default: true}
"""


def _profile(vm, text):
    leave_devices(vm)
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{HEAD}{text}PROFILE\nrailhead check {PROFILE}")


def _nics(vfs, driver):
    """The sections of a profile that has only the NICs."""
    return (f'devices:\n  nics: {{pci: "8086:10c9", expect: 2}}\n'
            f'sriov: {{nics: {{vfs: {vfs}, vf: {{driver: {driver}}}}}}}\n')


def _each_nic(first, second):
    """The same, with a count of its own for each NIC; None: no rule for it."""
    sets, vfs = "devices:\n", "sriov:\n"
    for n, (pf, number) in enumerate(zip(NICS, (first, second))):
        sets += f'  nic{n}: {{pci: "8086:10c9", address: "{pf}", expect: 1}}\n'
        if number is not None:
            vfs += f"  nic{n}: {{vfs: {number}, vf: {{driver: vfio-pci}}}}\n"
    return sets + vfs


def _apply(vm):
    """Apply; there is nothing left to do then."""
    vm.sh(APPLY, 180)
    vm.sh("railhead plan --stage devices 2>&1", 60)


# --- what the kernel shows ---------------------------------------------------

def _each_vf(vm, pf, command):
    """The output of a command in the directory of each VF, one line each."""
    lines = vm.sh(f"cd {PCI}/{pf}; for vf in $(ls -d virtfn* 2>/dev/null | sort -V); do"
                  f" (cd -P $vf; echo \"=$({command})\"); done").splitlines()
    return [line[1:] for line in lines]


def _drivers(vm, pf):
    """The driver of each VF, "" where it has none."""
    return _each_vf(vm, pf, "readlink driver | sed s,.*/,,")


def _expect_vfs(vm, pf, number, driver):
    """As many VFs as asked, with their driver, and the kernel left to itself again."""
    equal(f"VFs of {pf}", vm.read(f"{PCI}/{pf}/sriov_numvfs"), str(number))
    equal(f"drivers of the VFs of {pf}", _drivers(vm, pf), [driver] * number)
    equal(f"autoprobe of {pf}", vm.read(f"{PCI}/{pf}/sriov_drivers_autoprobe"), "1")


def _no_vfs(vm, pfs=NICS):
    """All at once: the kernel waits a second for each PF that loses its VFs."""
    leave_devices(vm)
    vm.sh(f"cd {PCI}; for pf in {' '.join(pfs)}; do"
          " (echo 0 >$pf/sriov_numvfs && echo 1 >$pf/sriov_drivers_autoprobe) & all=\"$all $!\";"
          " done; for one in $all; do wait $one || exit 1; done", 60)


def _port_of(vm, pf):
    """The bridge right above a function."""
    return vm.sh(f"readlink -f {PCI}/{pf}").split("/")[-2]


# --- what comes in between ------------------------------------------------------

def _kill_at_each_write(vm, pfs, vfs):
    """The profile's run is killed before its first write, its second ... and goes on after."""
    held, places = 0, 0
    for nth in range(1, 60):
        _no_vfs(vm, pfs)
        result = vm.run(f"/run/payload/atwrite {nth} /sys/ kill {APPLY}", 120)
        if result.status != 137:
            break
        places += 1
        held += "0" in [vm.read(f"{PCI}/{pf}/sriov_drivers_autoprobe") for pf in pfs]
        exits(vm, APPLY, 0, 120)
        for pf in pfs:
            _expect_vfs(vm, pf, vfs, "vfio-pci")
    equal(f"exit status of the apply that nothing kills:\n{result.output}", result.status, 0)
    # Two for each VF, three for each PF.
    expect(places >= len(pfs) * (2 * vfs + 3), f"killed at {places} writes only")
    expect(held > 0, "no kill has left autoprobe off")


@case(DEVICES_SNAPSHOT, "killed before each write of the creation of an igb VF, the next run converges")
def killed_igb(vm):
    # One PF: this driver takes seconds for each change of the number.
    _profile(vm, _each_nic(1, None))
    _kill_at_each_write(vm, NICS[:1], 1)


@case(DEVICES_SNAPSHOT, "a PF that has another count gets its own by way of 0; an equal one is left alone")
def other_count(vm):
    _profile(vm, _nics(2, "netdev"))
    names = "cd /sys/bus/pci/devices/0000:81:00.0; cat virtfn*/net/*/ifindex"
    before = vm.sh(names)
    vm.sh(f"cd {PCI}/{NICS[0]} && echo 0 >sriov_numvfs && echo 3 >sriov_numvfs", 60)
    refused = vm.run(f"echo 2 >{PCI}/{NICS[0]}/sriov_numvfs")
    expect(refused.status != 0 and "busy" in refused.output.lower(),
           f"this kernel goes from 3 VFs to 2 at once: {refused.output}")
    _apply(vm)
    for pf in NICS:
        _expect_vfs(vm, pf, 2, "igbvf")
    equal("interfaces of the VFs that were right", vm.sh(names), before)


@case(DEVICES_SNAPSHOT, "more VFs than the PF can have: it is named and left alone, the other PF is done")
def too_many(vm):
    _no_vfs(vm)
    _profile(vm, _each_nic(8, 2))
    said = exits(vm, APPLY, 6, 120)
    contains("railhead apply", said, f"sriov/{NICS[0]}/numvfs: failed", "8 VFs requested")
    _expect_vfs(vm, NICS[0], 0, "")
    _expect_vfs(vm, NICS[1], 2, "vfio-pci")


def _vanishes(vm, path):
    """Apply; the first NIC goes away right before the first write to a file below a path."""
    _profile(vm, _each_nic(2, 2))
    said = exits(vm, f"/run/payload/atwrite 1 {path}"
                 f" 'echo 1 >{PCI}/{NICS[0]}/remove' {APPLY}", 6, 180)
    contains("railhead apply", said, NICS[0])
    expect_fault(vm, "RH-PCI-GONE", NICS[0])
    expect(vm.run(f"test -e {PCI}/{NICS[0]}").status != 0, f"{NICS[0]} is still there")
    _expect_vfs(vm, NICS[1], 2, "vfio-pci")


@case(DEVICES_SNAPSHOT, "a PF that vanishes before its VFs are made is named, and the other PF is done")
def vanishes_early(vm):
    _no_vfs(vm)
    _vanishes(vm, vm.sh(f"readlink -f {PCI}/{NICS[0]}/sriov_numvfs"))


@case(DEVICES_SNAPSHOT, "a PF that vanishes with its VFs is named, and the other PF is done")
def vanishes_late(vm):
    vfs = vm.sh(f"readlink -f {PCI}/{NICS[0]}/virtfn0 | sed 's/[.][0-9]*$/./'")
    _no_vfs(vm)
    _vanishes(vm, vfs)


# --- what the PF sets for its VFs -------------------------------------------------

ATTRIBUTES = "mac: derived, vlan: {vlan}, spoof_check: {spoof}, trust: {trust}"


def _vf_infos(vm, pf):
    """What the PF's driver says of each VF."""
    name = vm.sh(f"ls {PCI}/{pf}/net")
    return json.loads(vm.sh(f"ip -j -d link show {name}"))[0]["vfinfo_list"]


def _macs(vm, pf):
    return [info["address"] for info in _vf_infos(vm, pf)]


def _expect_attributes(vm, vlan, spoof, trust):
    for pf in NICS:
        for number, info in enumerate(_vf_infos(vm, pf)):
            what = f"of VF {number} of {pf}: {info}"
            equal(f"VLAN {what}", [entry["vlan"] for entry in info.get("vlan_list", [])], [vlan])
            equal(f"spoof check {what}", info["spoofchk"], spoof)
            equal(f"trust {what}", info["trust"], trust)


def _nics_with(attributes):
    return (f'devices:\n  nics: {{pci: "8086:10c9", expect: 2}}\n'
            f"sriov: {{nics: {{vfs: 2, vf: {{driver: netdev, {attributes}}}}}}}\n")


@case(DEVICES_SNAPSHOT, "addresses and attributes of VFs are what the PF says of them")
def attributes(vm):
    _profile(vm, _nics_with(ATTRIBUTES.format(vlan=5, spoof="false", trust="true")))
    _apply(vm)
    _expect_attributes(vm, 5, False, True)
    macs = [_macs(vm, pf) for pf in NICS]
    equal("different addresses", len(set(macs[0] + macs[1])), 4)
    for pf, expected in zip(NICS, macs):
        _expect_vfs(vm, pf, 2, "igbvf")
        equal(f"addresses of the VFs' own interfaces of {pf}",
              _each_vf(vm, pf, "cat net/*/address"), expected)
        for mac in expected:
            equal(f"{mac}: locally administered, unicast", int(mac[:2], 16) & 3, 2)
    # Derived ones are the same when the VFs are made anew.
    _no_vfs(vm)
    # This driver takes no rate while its link is down, which making VFs does to it.
    _profile(vm, _nics_with(ATTRIBUTES.format(vlan=6, spoof="true", trust="false")
                            + ", max_rate: 100Mb/s"))
    _apply(vm)
    for pf in NICS:
        equal(f"rates of {pf}", [info["rate"]["max_tx"] for info in _vf_infos(vm, pf)], [100] * 2)
    _expect_attributes(vm, 6, True, False)
    equal("addresses when made anew", [_macs(vm, pf) for pf in NICS], macs)


@case(DEVICES_SNAPSHOT, "VFs get the addresses of a list; what the driver can't do is named")
def address_list(vm):
    macs = [f"02:00:00:00:00:0{number}" for number in (1, 2)]
    listed = ", ".join(f'"{mac}"' for mac in macs)
    text = _each_nic(2, None).replace("driver: vfio-pci", f"driver: vfio-pci, mac: [{listed}]")
    _profile(vm, text)
    _apply(vm)
    equal("addresses", _macs(vm, NICS[0]), macs)
    _profile(vm, text.replace("mac:", "link_state: enable, mac:"))
    said = exits(vm, APPLY, 6, 120)
    contains("railhead apply", said, NICS[0], "link_state")


@case(DEVICES_SNAPSHOT, "network managers leave the VFs alone where the profile asks for it")
def unmanaged(vm):
    everything = "[Match]\\nName=*\\n[Network]\\nLinkLocalAddressing=ipv6\\n"
    vm.sh("mkdir -p /run/systemd/network"
          f" && printf '{everything}' >/run/systemd/network/99-all.network"
          " && systemctl start systemd-networkd", 60)
    _no_vfs(vm)
    _profile(vm, _nics_with("unmanaged: true"))
    _apply(vm)
    for pf in NICS:
        [own] = vm.sh(f"ls {PCI}/{pf}/net").split()
        for name, wanted in [(own, False)] + [(vf, True) for vf in _each_vf(vm, pf, "ls net")]:
            marked = "NM_UNMANAGED=1" in vm.sh(f"udevadm info -q property /sys/class/net/{name}")
            equal(f"NetworkManager is to leave {name} alone", marked, wanted)
            # It comes to that a moment after udev does.
            verdict = "unmanaged" if wanted else "(configuring|configured)"
            eventually(vm, f"networkctl --no-legend list {name} | grep -qwE '{verdict}'")
    _profile(vm, _nics(2, "netdev"))
    _apply(vm)
    vm.sh("test ! -e /run/udev/rules.d/70-railhead-vf.rules")


# --- NVMe -----------------------------------------------------------------------

# QEMU takes no snapshot of a guest with such a controller, and dies when it is unplugged:
# so they come late, and stay for all that follows.
@state("nvme", guest=DEVICES, after="boot2", kept=False)
def nvme(vm):
    vm.sh("modprobe nvme")
    for name in NVMES:
        _disks[name] = vm.plug(name)


_disks = {}  # the PCI address of each of NVMES


@contextlib.contextmanager
def _other_profile(vm, text):
    """A profile for one case, after which the next boot is to find the usual one."""
    vm.sh(f"cp {PROFILE} /run/usual.yaml")
    try:
        _profile(vm, text)
        yield
    finally:
        vm.sh(f"cp /run/usual.yaml {PROFILE}")


def _disk_set(*names):
    """The sections of a profile that has some NVMe controllers, all VFs of each."""
    return "".join(f'  {name}: {{pci: "1b36:0010", address: "{_disks[name]}", expect: 1}}\n'
                   for name in names)


@case("nvme", "every VF of igb and NVMe PFs on both nodes, on its own driver")
def all_vfs(vm):
    text = ('devices:\n  nics: {pci: "8086:10c9", expect: 2}\n' + _disk_set("nvme0", "nvme1")
            + "sriov:\n  nics: {vfs: 7, vf: {driver: netdev}}\n"
            "  nvme0: {vfs: max, vf: {driver: none}}\n"
            "  nvme1: {vfs: max, vf: {driver: none}}\n")
    disks = [_disks["nvme0"], _disks["nvme1"]]
    with _other_profile(vm, text):
        _apply(vm)
        for pf in disks:
            _expect_vfs(vm, pf, 4, "")
        # No driver can start such a VF before the controller has given it queues.
        for controller in (0, 1):
            vm.sh(f"/run/payload/nvmevf /dev/nvme{controller} 4")
        _profile(vm, text.replace("driver: none", "driver: netdev"))
        _apply(vm)
        for node, pf in enumerate(disks):
            _expect_vfs(vm, pf, 4, "nvme")
            equal(f"nodes of the VFs of {pf}", _each_vf(vm, pf, "cat numa_node"), [str(node)] * 4)
            equal(f"controllers of the VFs of {pf}", _each_vf(vm, pf, "ls nvme | wc -l"),
                  ["1"] * 4)
        for node, pf in enumerate(NICS):
            _expect_vfs(vm, pf, 7, "igbvf")
            equal(f"nodes of the VFs of {pf}", _each_vf(vm, pf, "cat numa_node"), [str(node)] * 7)
            equal(f"netdevs of the VFs of {pf}", _each_vf(vm, pf, "ls net | wc -l"), ["1"] * 7)


@case("nvme", "VFs for vfio-pci: each has a group and a device file of its own")
def vfio(vm):
    text = ('devices:\n  nics: {pci: "8086:10c9", expect: 2}\n' + _disk_set("nvme0")
            + "sriov:\n  nics: {vfs: 3, vf: {driver: vfio-pci}}\n"
            "  nvme0: {vfs: 3, vf: {driver: vfio-pci}}\n"
            "gate:\n  checks:\n"
            "    nics: {run: iommu_groups, on: vfs of nics, isolated: true}\n"
            "    disks: {run: iommu_groups, on: vfs of nvme0, isolated: true}\n")
    with _other_profile(vm, text):
        _apply(vm)
        groups = []
        for pf in NICS + (_disks["nvme0"],):
            _expect_vfs(vm, pf, 3, "vfio-pci")
            groups += _each_vf(vm, pf, "readlink iommu_group | sed s,.*/,,")
        equal("groups", len(set(groups)), 9)
        for group in groups:
            vm.sh(f"test -c /dev/vfio/{group}")
            equal(f"type of group {group}",
                  vm.read(f"/sys/kernel/iommu_groups/{group}/type"), "identity")
        exits(vm, "railhead gate 2>&1", 0, 120)


@case("nvme", "a root port without ACS is named by the verdict, and only that one")
def no_acs(vm):
    names = ("nvme1", "nvme2")
    text = ("devices:\n" + _disk_set(*names)
            + "sriov:\n" + "".join(f"  {name}: {{vfs: 2, vf: {{driver: none}}}}\n" for name in names)
            + "gate:\n  checks:\n"
            + "".join(f"    of_{name}: {{run: iommu_groups, on: vfs of {name}, isolated: true}}\n"
                      for name in names))
    with _other_profile(vm, text):
        _apply(vm)
        groups = [_each_vf(vm, _disks[name], "readlink iommu_group") for name in names]
        equal("groups with ACS and without", [len(set(group)) for group in groups], [2, 1])
        exits(vm, "railhead gate 2>&1", 7, 120)
        equal("verdict", status_json(vm)["verdict"], "blocked")
        said = vm.run("railhead status").output
        with_acs, without = (_port_of(vm, _disks[name]) for name in names)
        contains("railhead status", said, without, "no ACS", "hardware")
        expect_fault(vm, "RH-PCI-IOMMU-GROUP", without)
        expect(with_acs not in said, f"{with_acs} has ACS, and is named:\n{said}")


@contextlib.contextmanager
def _without_redirect(vm, port):
    """Request redirect is off there for a while, as some firmware leaves it."""
    vm.sh(f"setpci -s {port} ECAP_ACS+6.w=0:4")
    try:
        yield
    finally:
        vm.sh(f"setpci -s {port} ECAP_ACS+6.w=4:4")


def _way_to(disk, nic):
    """The sections of a profile in which a drive stands in for the GPU of a NIC."""
    return (f'devices:\n  nic: {{pci: "8086:10c9", address: "{nic}", expect: 1}}\n' + _disk_set(disk)
            + f"pairs: {{nics: nic, gpus: {disk}, within: numa_node, p2p: isolated}}\n")


def _verify_way(vm, disk, nic, status):
    with _other_profile(vm, _way_to(disk, nic)):
        return exits(vm, "railhead verify --all --stage gate 2>&1", status, 120)


@case("nvme", "pairs.p2p: the ports between a NIC and its GPU are judged by their registers; none is written")
def way_between(vm):
    ports = [_port_of(vm, one) for one in (NICS[0], _disks["nvme0"], NICS[1], _disks["nvme2"])]
    # What an IOMMU has the kernel set: source validation, redirects and upstream forwarding.
    equal("ACS", [vm.sh(f"setpci -s {port} ECAP_ACS+6.w") for port in ports[:3]], ["001d"] * 3)
    said = _verify_way(vm, "nvme0", NICS[0], 0)
    contains("railhead verify", said, f"pairs/{NICS[0]}/p2p ", "'isolated'")
    with _without_redirect(vm, ports[0]):
        said = _verify_way(vm, "nvme0", NICS[0], 5)
        contains("railhead verify", said, f"{ports[0]} (root port above {NICS[0]}): "
                 "ACS request redirect is off", "can bypass the IOMMU")
        # An argument of Linux 6.11 can set it, in Debian 12 the firmware alone.
        contains("railhead verify", said, "in the BIOS" if prepare.DIST == "bookworm"
                 else f"pci=config_acs=0011101@{ports[0]}")
        expect(f"{ports[1]} (" not in said, f"{ports[1]} is as it must be, and is named:\n{said}")
        equal("ACS", vm.sh(f"setpci -s {ports[0]} ECAP_ACS+6.w"), "0019")
    said = _verify_way(vm, "nvme2", NICS[1], 5)
    contains("railhead verify", said, f"{ports[3]} (root port above {_disks['nvme2']}) has no ACS")
    expect("config_acs" not in said, f"an argument for hardware that lacks ACS:\n{said}")


@case("nvme", "a drive's critical warning is read from the drive, by its bit, and blocks; one that is over does not")
def nvme_warns(vm):
    drive = _disks["nvme0"]
    text = ("devices:\n" + _disk_set("nvme0")
            + "gate:\n  checks:\n    drives: {run: nvme_health, on: nvme0, wear: 90}\n")

    def warn(bits):
        vm.qmp("qom-set", path="/machine/peripheral/nvme0", property="smart_critical_warning",
               value=bits)

    with _other_profile(vm, text):
        _apply(vm)
        exits(vm, "railhead gate 2>&1", 0, 120)
        warn(1 << 3)
        exits(vm, "railhead gate --again 2>&1", 7, 120)
        expect_fault(vm, "RH-STORAGE-FAILING", "it is read-only")
        contains("the reason", status_json(vm)["reasons"][0], f"gate/drives/{drive}: found")
        warn(1 << 1)
        exits(vm, "railhead gate --again 2>&1", 7, 120)
        expect_fault(vm, "RH-STORAGE-HOT", "its temperature is beyond a threshold")
        warn(0)
        exits(vm, "railhead gate --again 2>&1", 0, 120)


@case("nvme", "killed before each write of the creation of NVMe VFs, the next run converges")
def killed_nvme(vm):
    names = ("nvme0", "nvme1")
    text = ("devices:\n" + _disk_set(*names) + "sriov:\n"
            + "".join(f"  {name}: {{vfs: 1, vf: {{driver: vfio-pci}}}}\n" for name in names))
    with _other_profile(vm, text):
        _kill_at_each_write(vm, [_disks[name] for name in names], 1)
