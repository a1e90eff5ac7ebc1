"""Config space, interrupts and the near GPU: what the kernel and pciutils show of two igb NICs."""

import re

from harness import DEVICES_SNAPSHOT, case, contains, equal, eventually, exits, expect

from cases.sriov import APPLY, HEAD, NICS, PCI, PROFILE

DEVICES = 'devices: {nics: {pci: "8086:10c9", expect: 2}}\n'


def _profile(vm, text, devices=DEVICES):
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{HEAD}{devices}{text}PROFILE\nrailhead check {PROFILE}")


def _word(vm, addr, register):
    """A register of the PCI Express capability."""
    return int(vm.sh(f"setpci -s {addr} CAP_EXP+{register:x}.w"), 16)


def _config(vm, addr):
    """What lspci says of Device Control."""
    return vm.sh(f"lspci -s {addr} -vvv")


def _opened(vm):
    """Apply; how many times config space was opened for writing."""
    vm.sh(f"strace -f -e trace=openat,openat2 -o /run/trace {APPLY}", 60)
    return int(vm.run("grep -c '/config.*O_RDWR' /run/trace").output)


def _nothing_to_do(vm):
    vm.sh("railhead plan --stage devices 2>&1", 60)


@case(DEVICES_SNAPSHOT, "read requests and relaxed ordering are set as lspci shows them, bit by bit")
def config_space(vm):
    text = "pcie: {nics: {max_read_request: 4096, relaxed_ordering: false}}\n"
    _profile(vm, text)
    # QEMU's own registers take no value: what a device does not have is named.
    said = exits(vm, APPLY, 6, 60)
    contains("railhead apply", said, f"pcie/{NICS[0]}/max_read_request", "did not accept 0x5000")
    vm.sh(f"insmod /run/payload/softregs.ko functions={','.join(NICS)}")
    before = [_word(vm, nic, 8) for nic in NICS]
    expect(_opened(vm) >= 4, "what opens config space for writing is not seen")
    for nic, old in zip(NICS, before):
        equal(f"Device Control of {nic}", _word(vm, nic, 8), old & ~0x7010 | 0x5000)
        shown = _config(vm, nic)
        contains(f"lspci of {nic}", shown, "MaxReadReq 4096 bytes", "RlxdOrd-")
    _nothing_to_do(vm)
    equal("config spaces that the second run opens for writing", _opened(vm), 0)
    vm.sh(f"setpci -s {NICS[1]} CAP_EXP+8.w=0010:0010")
    said = exits(vm, "railhead verify --stage devices 2>&1", 5)
    contains("railhead verify", said, f"pcie/{NICS[1]}/relaxed_ordering")
    # Secure Boot's lockdown: nobody writes, all read.
    vm.sh("echo integrity >/sys/kernel/security/lockdown")
    said = exits(vm, APPLY, 6, 60)
    contains("railhead apply", said, "the kernel is locked down (Secure Boot)")
    _profile(vm, text.replace("nics: {", "nics: {optional: true, "))
    vm.sh(APPLY, 60)


def _vectors(vm, nic):
    """The CPUs that each vector with a handler is asked to go to, and goes to."""
    lines = vm.sh(f"for i in $(ls {PCI}/{nic}/msi_irqs | sort -n); do cd /proc/irq/$i 2>/dev/null"
                  " && echo $i $(cat smp_affinity_list) $(cat effective_affinity_list); done; true")
    return [line.split() for line in lines.splitlines()]


def _expect_cpus(vm, nic, cpu):
    vectors = _vectors(vm, nic)
    expect(len(vectors) > 1, f"vectors of {nic}: {vectors}")
    equal(f"CPUs of the vectors of {nic}", {asked for _, asked, *_ in vectors}, {cpu})
    return vectors


@case(DEVICES_SNAPSHOT, "vectors go to the CPUs of their own node; one that was moved is named, and comes back")
def affinity(vm):
    _profile(vm, "irq: {nics: {affinity: local_node}}\n")
    for nic in NICS:  # interfaces that are down have no handlers
        vm.sh(f"ip link set $(ls {PCI}/{nic}/net) up")
    vm.sh(APPLY, 60)
    _nothing_to_do(vm)
    for node, nic in enumerate(NICS):
        vectors = _expect_cpus(vm, nic, str(node))
    said = vm.sh("railhead verify --all --stage devices 2>&1")
    contains("railhead verify", said, f"{len(vectors)} vectors on node 1")
    moved = vectors[-1][0]
    vm.sh(f"echo 0 >/proc/irq/{moved}/smp_affinity_list")
    said = exits(vm, "railhead verify --stage devices 2>&1", 5)
    contains("railhead verify", said, f"irq {moved} on CPU 0")
    vm.sh(f"strace -f -e trace=openat,openat2,write -o /run/trace {APPLY}", 60)
    equal("vectors written", vm.run("grep -c 'smp_affinity_list.*O_WRONLY' /run/trace").output.strip(),
          "1")
    _expect_cpus(vm, NICS[1], "1")
    # The driver makes its vectors anew: the next run places them again.
    vm.sh(f"echo {NICS[1]} >/sys/bus/pci/drivers/igb/unbind"
          f" && echo {NICS[1]} >/sys/bus/pci/drivers/igb/bind", 60)
    vm.sh(f"until ls {PCI}/{NICS[1]}/net >/dev/null 2>&1; do sleep 0.1; done;"
          f" udevadm settle; ip link set $(ls {PCI}/{NICS[1]}/net) up", 60)
    vm.sh(APPLY, 60)
    _expect_cpus(vm, NICS[1], "1")
    # What the profile is going to isolate takes none, and all of a node can't be isolated.
    isolating = r"isolate_cpus: 1\n  iommu:"
    vm.sh(f"sed -i 's/affinity: local_node/affinity: 0-1/; s/^  iommu:/  {isolating}/' {PROFILE}")
    vm.sh(APPLY, 60)
    for nic in NICS:
        _expect_cpus(vm, nic, "0")
    vm.sh(f"sed -i 's/affinity: 0-1/affinity: local_node/' {PROFILE}")
    said = exits(vm, APPLY, 6, 60)
    contains("railhead apply", said, f"irq/{NICS[1]}/affinity", "all CPUs of node 1 are isolated")


@case(DEVICES_SNAPSHOT, "vectors that the kernel manages itself are named and left alone, the others are moved")
def managed(vm):
    disk = vm.sh("readlink -f /sys/block/vda/device/..").split("/")[-1]
    ids = ":".join(vm.read(f"{PCI}/{disk}/{file}")[2:] for file in ("vendor", "device"))
    before = _vectors(vm, disk)
    _profile(vm, "irq: {disk: {affinity: 1}}\n",
             f'devices: {{disk: {{pci: "{ids}", address: "{disk}"}}}}\n')
    # Newer kernels show which these are; older ones refuse the write, and nothing tells before.
    shown = not int(vm.sh(f"stat -c %a /proc/irq/{before[1][0]}/smp_affinity_list"), 8) & 0o200
    said = exits(vm, APPLY, 0 if shown else 6, 60)
    if shown:
        said = exits(vm, "railhead verify --stage devices --json 2>&1", 0, 60)
    contains("railhead", said, f"irq/{disk}/affinity",
             *(["managed by the kernel, left alone"] if shown else ["because the kernel manages them", "virtio"]))
    after = _vectors(vm, disk)
    equal("the configuration's vector", after[0][1], "1")
    equal("the queues' vectors", after[1:], before[1:])


@case(DEVICES_SNAPSHOT, "irqbalance of Debian is told to leave the vectors of the profile alone")
def irqbalance(vm):
    vm.sh("tar -C / -xf /run/payload/irqbalance.tar --keep-directory-symlink"
          " && ldconfig && systemctl daemon-reload && systemctl start irqbalance", 60)
    _profile(vm, "irq: {nics: {affinity: local_node}}\n")
    for nic in NICS:
        vm.sh(f"ip link set $(ls {PCI}/{nic}/net) up")
    vm.sh("railhead apply --stage initrd 2>&1 && railhead apply --stage devices 2>&1", 120)
    eventually(vm, "tr '\\0' ' ' </proc/$(pidof irqbalance)/cmdline"
                   " | grep -q policyscript=/usr/libexec/railhead/irqbalance-policy")
    # What it would move, with our script and, to see that this tells something, without.
    ask = "timeout 30 irqbalance --foreground --debug --oneshot --interval=1"
    script = "--policyscript=/usr/libexec/railhead/irqbalance-policy"
    vectors = [irq for nic in NICS for irq, *_ in _vectors(vm, nic)]
    for arguments, wanted in (("", vectors), (script, [])):
        told = vm.run(f"{ask} {arguments}", 60).output
        found = [irq for irq in vectors if re.search(rf"Interrupt {irq} ", told)]
        equal(f"vectors that irqbalance {arguments} moves", found, wanted)
    vm.sh(APPLY, 60)  # where the run without it has left them is mended
    for node, nic in enumerate(NICS):
        _expect_cpus(vm, nic, str(node))
