"""The way between a NIC and its GPU: ACS of a switch's ports, and what an argument makes of it.

The guest "p2p" has a switch of two ports with ACS: a virtio NIC with ATS is below the one, a
source of random numbers, which stands in for a GPU, below the other. With its IOMMU the kernel turns redirection
on, as on any machine. What is asserted is read from config space by setpci and from sysfs.
"""

import re

import prepare
from cases.trials import ENV, PROFILE, WANTED, power_cycle
from harness import (case, contains, equal, exits, expect, expect_fault, state, status_json)

P2P = "p2p"
PCI = "/sys/bus/pci/devices"
NIC, GPU = "1af4:1041", "1af4:1044"
VERIFY = "railhead verify --all --stage gate 2>&1"

# What pci_std_enable_acs() sets, and direct translated P2P behind it.
KERNELS, DIRECT_TRANSLATED = 0x1d, 0x40
# Request, completion and egress redirect.
REDIRECTS = 0x2c

# Debian 12's kernel has no pci=config_acs=, and disable_acs_redir= switches these bits off alone.
OLD = prepare.DIST == "bookworm"


def _want(vm, p2p, *args):
    """A profile with the wish and these arguments behind those that each boot has."""
    listed = ", ".join(f'"{arg}"' for arg in WANTED + list(args))
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n"
          "schema: 1\nname: vm-layout\nversion: 2.0.0\n"
          'match: {dmi: {sys_vendor: QEMU, product_name: "Standard PC*"}}\n'
          f"kernel_args: {{iommu: lazy, set: [{listed}]}}\n"
          f'devices: {{rails: {{pci: "{NIC}", expect: 1}}, gpus: {{pci: "{GPU}", expect: 1}}}}\n'
          f"pairs: {{nics: rails, gpus: gpus, within: pcie_switch, p2p: {p2p}}}\n"
          f"PROFILE\nrailhead check {PROFILE}", 60)


def _boot_with(vm, p2p, *args):
    """The same, and the one boot that tries the arguments."""
    _want(vm, p2p, *args)
    exits(vm, "railhead gate", 8, 180)
    power_cycle(vm, 1)
    equal("reboots", vm.seen["resets"], 1)
    contains("railhead.env", vm.seen["env"], "\nrailhead_try=-\n")


# --- what the kernel shows ---------------------------------------------------

def _function(vm, device):
    """Its address, and those of the bridges above it, the root port first."""
    return vm.sh(f"readlink -f {PCI}/$(lspci -Dn -d {device} | cut -d' ' -f1)"
                 ).partition("/pci0000:00/")[2].split("/")


def _ports(vm):
    """The root port, that above the NIC, that above the GPU; NIC and GPU."""
    nic, gpu = _function(vm, NIC), _function(vm, GPU)
    equal("bridges above both", nic[:2], gpu[:2])
    equal("bridges above each, and itself", (len(nic), len(gpu)), (4, 4))
    return nic[0], nic[2], gpu[2], nic[3], gpu[3]


def _acs(vm, port):
    return int(vm.sh(f"setpci -s {port} ECAP_ACS+6.w"), 16)


def _ats_is_on(vm, function):
    return bool(int(vm.sh(f"setpci -s {function} ECAP_ATS+6.w"), 16) & 0x8000)


def _groups(vm, *functions):
    return [vm.sh(f"basename $(readlink {PCI}/{one}/iommu_group)") for one in functions]


def _argument(said):
    """What `railhead verify` says is to be written."""
    found = re.findall(r'kernel_args: \{set: \["([^"]*)"\]\}', said)
    equal(f"arguments in:\n{said}", len(set(found)), 1)
    return found[0]


def _direct(*ports):
    """The argument by which no port redirects."""
    if OLD:
        return f"pci=disable_acs_redir={';'.join(ports)}"
    return "pci=config_acs=" + ";".join(f"0000000@{port}" for port in ports)


# --- an IOMMU alone ------------------------------------------------------------

@state("p2p2", guest=P2P)
def boot2(vm):
    vm.first_boot()


@state("redirected", guest=P2P, after="p2p2")
def redirected(vm):
    _boot_with(vm, "direct")


@case("redirected", "with an IOMMU the kernel redirects: verdict, ports, bits and the argument are named")
def kernel_redirects(vm):
    root, nic_port, gpu_port, nic, gpu = _ports(vm)
    equal("ACS", [_acs(vm, port) for port in (root, nic_port, gpu_port)], [KERNELS] * 3)
    equal("groups", len(set(_groups(vm, nic, gpu))), 2)
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    expect_fault(vm, "RH-PCI-ACS", f"above {nic})")
    said = exits(vm, VERIFY, 5, 120)
    bits = "ACS request redirect and completion redirect are on"
    contains("railhead verify", said, f"{nic_port} (root port above {nic}): {bits}",
             f"{gpu_port} (root port above {gpu}): {bits}",
             f"traffic between {nic} and {gpu} goes through the root complex")
    equal("argument", _argument(said), _direct(nic_port, gpu_port))


@case("redirected", "the same registers are what isolated wants, and no port of them is touched")
def is_isolated(vm):
    _want(vm, "isolated")
    contains("railhead verify", exits(vm, VERIFY, 0, 120), "'isolated'")
    _, nic_port, gpu_port, nic, _ = _ports(vm)
    vm.sh(f"setpci -s {gpu_port} ECAP_ACS+6.w=0:4")
    said = exits(vm, VERIFY, 5, 120)
    contains("railhead verify", said, f"{gpu_port} (root port", "ACS request redirect is off",
             "can bypass the IOMMU")
    equal("ACS", [_acs(vm, port) for port in (nic_port, gpu_port)], [KERNELS, KERNELS & ~4])
    expect(f"{nic_port} (" not in said, f"{nic_port} is as it must be, and is named:\n{said}")


# --- the argument ----------------------------------------------------------------

@state("direct way", guest=P2P, after="redirected")
def direct(vm):
    # Both as they were: the case before has touched them.
    _, _, gpu_port, _, _ = _ports(vm)
    vm.sh(f"setpci -s {gpu_port} ECAP_ACS+6.w={KERNELS:x}")
    _want(vm, "direct")
    vm.seen["argument"] = _argument(exits(vm, VERIFY, 5, 120))
    _boot_with(vm, "direct", vm.seen["argument"])


@case("direct way", "the printed argument comes through GRUB's file and a trial, and the ports obey")
def argument_arrives(vm):
    root, nic_port, gpu_port, nic, gpu = _ports(vm)
    equal("the argument on the kernel's line", vm.seen["args"].count(vm.seen["argument"]), 1)
    slot = next(arg[-1] for arg in vm.seen["args"] if arg.startswith("railhead.trial="))
    contains("railhead.env", vm.sh(f"cat {ENV}"), f"\nrailhead_good={slot}\n",
             f"{vm.seen['argument']} ")
    equal("ACS", [_acs(vm, port) for port in (root, nic_port, gpu_port)],
          [KERNELS] + [KERNELS & ~REDIRECTS if OLD else 0] * 2)
    # The kernel puts each together with its port, and leaves the two ports apart.
    nic_group, gpu_group = _groups(vm, nic, gpu)
    equal("groups of the ports", _groups(vm, nic_port, gpu_port), [nic_group, gpu_group])
    contains("railhead verify", exits(vm, VERIFY, 0, 120), f"pairs/{nic}/p2p ", "'direct'")
    equal("verdict", vm.seen["status"]["verdict"], "ready")


@case("direct way", "a port that is not as this boot's argument says is named, with who can have set it")
def argument_overruled(vm):
    _, nic_port, gpu_port, _, _ = _ports(vm)
    vm.sh(f"setpci -s {nic_port} ECAP_ACS+6.w={KERNELS:x}")
    said = exits(vm, VERIFY, 5, 120)
    contains("railhead verify", said, f"{nic_port} (",
             f"this boot has {vm.seen['argument']}, but the ports differ", "setpci")
    expect(f"{gpu_port} (" not in said, f"{gpu_port} is as it must be, and is named:\n{said}")


@state("set by railhead", guest=P2P, after="p2p2")
def set_by_railhead(vm):
    _boot_with(vm, "direct, acs: set")


@case("set by railhead", "acs: set: IOMMU and ACS in one trial, and the boot that has them wants the same")
def derived(vm):
    root, nic_port, gpu_port, nic, _ = _ports(vm)
    equal("the argument on the kernel's line", vm.seen["args"].count(_direct(nic_port, gpu_port)), 1)
    equal("ACS", [_acs(vm, port) for port in (root, nic_port, gpu_port)],
          [KERNELS] + [KERNELS & ~REDIRECTS if OLD else 0] * 2)
    contains("railhead verify", exits(vm, VERIFY, 0, 120), f"pairs/{nic}/p2p ", "'direct'")
    equal("verdict", vm.seen["status"]["verdict"], "ready")
    contains("railhead plan", exits(vm, "railhead plan", 0, 120), "converged")


# --- one bit more ------------------------------------------------------------------

@state("translated way", guest=P2P, after="redirected")
def translated(vm):
    _want(vm, "translated")
    vm.seen["argument"] = _argument(exits(vm, VERIFY, 5, 120))
    _boot_with(vm, "translated", vm.seen["argument"])


@case("translated way", "direct translated P2P is set above the NIC alone, and NIC and GPU stay apart")
def is_translated(vm):
    root, nic_port, gpu_port, nic, gpu = _ports(vm)
    equal("argument", vm.seen["argument"], f"pci=config_acs=1011101@{nic_port}")
    equal("the argument on the kernel's line", vm.seen["args"].count(vm.seen["argument"]), 1)
    equal("ACS", [_acs(vm, port) for port in (root, nic_port, gpu_port)],
          [KERNELS, KERNELS | DIRECT_TRANSLATED, KERNELS])
    expect(_ats_is_on(vm, nic), f"ATS of {nic} is off")
    equal("groups", len(set(_groups(vm, nic, gpu))), 2)
    contains("railhead verify", exits(vm, VERIFY, 0, 120), f"pairs/{nic}/p2p ", "'translated'")
    equal("verdict", status_json(vm)["verdict"], "ready")
