"""Config space, interrupts and the near GPU: what the kernel and pciutils show of two igb NICs."""

import re

from harness import SNAPSHOT, case, contains, equal, exits, expect

NICS = ("0000:41:00.0", "0000:81:00.0")
PCI = "/sys/bus/pci/devices"
PROFILE = "/etc/railhead/profiles/vm-bench.yaml"
APPLY = "railhead apply --stage devices 2>&1"

# Without VFs and the gate: quick. With the kernel arguments that this was booted with.
HEAD = """schema: 1
name: vm-bench
version: 2.0.0
match:
  dmi: {sys_vendor: QEMU, product_name: "Standard PC*"}
devices:
  nics: {pci: "8086:10c9", expect: 2}
kernel_args:
  iommu: passthrough
  set: [transparent_hugepage=never, skew_tick=1]
"""


def _profile(vm, text):
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{HEAD}{text}PROFILE\nrailhead check {PROFILE}")


def _word(vm, addr, register):
    """A register of the PCI Express capability."""
    return int(vm.sh(f"setpci -s {addr} CAP_EXP+{register:x}.w"), 16)


@case(SNAPSHOT, "probe")
def probe(vm):
    out = []
    for cmd in ("lspci -Dnn", "lspci -s 0000:41:00.0 -vvv", "setpci -s 0000:41:00.0 CAP_EXP+8.w",
                "setpci -s 0000:41:00.0 CAP_EXP+8.w=5000:7000; setpci -s 0000:41:00.0 CAP_EXP+8.w",
                "for d in $(ls /sys/bus/pci/devices); do o=$(setpci -s $d CAP_EXP+8.w 2>/dev/null) || continue; setpci -s $d CAP_EXP+8.w=5010:7010; echo $d $o $(setpci -s $d CAP_EXP+8.w); setpci -s $d CAP_EXP+8.w=$o; done",
                "ls /sys/bus/pci/devices/0000:41:00.0/link /sys/bus/pci/devices/0000:41:00.0/msi_irqs; cat /sys/module/pcie_aspm/parameters/policy",
                "cat /proc/interrupts; for i in $(ls /sys/bus/pci/devices/0000:41:00.0/msi_irqs); do ls -ld /proc/irq/$i/smp_affinity_list; cat /proc/irq/$i/smp_affinity_list /proc/irq/$i/effective_affinity_list; ls /proc/irq/$i; done",
                "ip link; cat /sys/kernel/security/lockdown; cat /sys/devices/system/cpu/isolated /sys/devices/system/cpu/nohz_full",
                "for i in $(ls /sys/bus/pci/devices/0000:41:00.0/msi_irqs); do echo 0 >/proc/irq/$i/smp_affinity_list; echo $?; cat /proc/irq/$i/smp_affinity_list /proc/irq/$i/effective_affinity_list; done"):
        out.append(f"$ {cmd}\n" + vm.run(cmd).output)
    open("/tmp/pcie-probe.txt", "w").write("\n".join(out))
