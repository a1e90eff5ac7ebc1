"""Good arguments that kill a kernel that was installed, behind its initramfs: that kernel boots without
them by itself, and the kernel that they are good on has them again.

The other kernel is Debian's for clouds. It boots from the guest's initramfs, to which its modules are
added, and a unit of the real root crashes it, before stage early, where one of the arguments is on
the line. Nobody presses a button.
"""

import re

import prepare
from cases.layouts import FIRST_BOOTS, SWITCH
from cases.trials import (MENU, OTHERS, STUCK, WANTED, cut_and_boot, is_converged, kernels, power_cycle,
                          settle, trials)
from harness import case, contains, equal, exits, expect, is_active, json_of, state
from vm import payload_disk

INSTALL = f"""set -e
tar -xOf /dev/disk/by-id/virtio-payload ./other-kernel.tar | tar -C / -x
image=$(ls /boot/vmlinuz-*-cloud-amd64)
version=${{image#/boot/vmlinuz-}}
depmod $version
(cd / && find usr/lib/modules/$version | cpio --quiet -o -H newc) >/boot/other-modules.img
cp {MENU} /root/menu
sed -i -e "s#/boot/vmlinuz-$(uname -r)#$image#" \\
  -e 's#^\\s*initrd\\s.*#& /boot/other-modules.img#' {MENU}
cat >/etc/systemd/system/guest-crash.service <<'X'
[Unit]
DefaultDependencies=no
Before=railhead-early.service
ConditionKernelVersion=*-cloud-amd64
ConditionKernelCommandLine=skew_tick=1
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo c >/proc/sysrq-trigger'
X
systemctl add-wants sysinit.target guest-crash.service
railhead kargs --new-kernel $version
"""


def versions(vm):
    """Of the kernels that were started."""
    return re.findall(r"\] Linux version (\S+)", vm.seen["console"])


@state("other kernel", guest=OTHERS, after=FIRST_BOOTS, kept=False)  # another QEMU
def other_kernel(vm):
    vm.dead_end = STUCK
    cut_and_boot(vm, more=payload_disk(prepare.payload(prepare.full_disk())))
    vm.seen["version"] = vm.sh("uname -r")
    contains("what the installation says", vm.sh(INSTALL, 300), "GRUB counts boots until a verdict")
    settle(vm)
    # The operator's reboot, two panics, railhead's own reboot and the panic of the trial.
    power_cycle(vm, 5)


@case("other kernel", "good args kill the new kernel behind its initramfs: three boots are lost, no more")
def three_boots_are_lost(vm):
    equal("reboots", vm.seen["resets"], 5)
    lines = kernels(vm)
    equal("boots", len(lines), 5)
    slot = r"railhead\.slot="
    for line, words in zip(lines, (
            rf"railhead\.begun=1 panic=30 railhead\.args {' '.join(WANTED)} .*{slot}[ab]",
            rf"railhead\.begun=2 panic=30 railhead\.args {' '.join(WANTED)} .*{slot}[ab]",
            rf"{slot}-[ab]", rf"railhead\.trial=[ab] .*{slot}[ab]", rf"{slot}[ab]")):
        expect(re.search(rf" {words}( |$)", line), f"no {words} in {line}")
    for number in (2, 4):
        expect(WANTED[0] not in lines[number], f"args in {lines[number]}")
    equal("panics", len(re.findall("end Kernel panic|Rebooting in [0-9]+ seconds", vm.seen["console"])), 3)
    boots = re.split(r"(?=\[ +0\.000000\] Linux version)", vm.seen["console"])[1:]
    equal("boots that entered the root", [SWITCH in boot for boot in boots], [True] * 5)


@case("other kernel", "it boots without the args, which are rejected on that kernel, by name")
def boots_without(vm):
    equal("kernels", [version.endswith("-cloud-amd64") for version in versions(vm)], [True] * 5)
    expect(not set(WANTED).intersection(vm.seen["args"]), f"args in {' '.join(vm.seen['args'])}")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "REJECTED", "skew_tick=1",
             f"on kernel {vm.sh('uname -r')}")
    said = json_of(vm, "railhead kargs --json", (9,))
    equal("state and deaths", (said["state"], said["story"]["deaths"]), ("rejected", 2))
    contains("railhead.env", vm.seen["env"], "\nrailhead_try=-\n", "\nrailhead_begun=-\n")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")


@state("kernel back", guest=OTHERS, kept=False)
def kernel_back(vm):
    vm.sh(f"cat /root/menu >{MENU}")
    settle(vm)
    power_cycle(vm, 2)


@case("kernel back", "the kernel that the args are good on has them again, after one trial")
def kernel_is_back(vm):
    equal("kernels", set(versions(vm)), {vm.seen["version"]})
    equal("reboots", vm.seen["resets"], 2)
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED)
