"""Good arguments that kill another kernel behind its initramfs: that kernel boots without them by itself,
and the kernel that they are good on has them again.

The other kernel is Debian's for clouds. It boots from the guest's initramfs, to which its modules are
added, and a unit of the real root crashes it, before stage early, where one of the arguments is on
the line. Nobody presses a button.
"""

import re

import prepare
from cases.layouts import FIRST_BOOTS, SWITCH
from cases.trials import (MENU, OTHERS, STUCK, WANTED, cut_and_boot, is_converged, kernels, look,
                          power_cycle, settle, trials)
from harness import case, contains, equal, exits, expect, is_active, json_of, state
from vm import REBOOT, payload_disk

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
"""


def versions(vm):
    """Of the kernels that were started."""
    return re.findall(r"\] Linux version (\S+)", vm.seen["console"])


@state("other kernel", guest=OTHERS, after=FIRST_BOOTS, kept=False)  # another QEMU
def other_kernel(vm):
    vm.dead_end = STUCK
    cut_and_boot(vm, more=payload_disk(prepare.payload(prepare.full_disk())))
    vm.seen["version"] = vm.sh("uname -r")
    vm.sh(INSTALL, 300)
    settle(vm)
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    # The operator's reboot, three panics and railhead's own.
    vm.wait_for_shell(resets=5)
    vm.wait_until_booted()
    look(vm, vm.resets - before, console)


@case("other kernel", "good args kill another kernel behind its initramfs: three boots are lost, no more")
def three_boots_are_lost(vm):
    equal("reboots", vm.seen["resets"], 5)
    lines = kernels(vm)
    equal("boots", len(lines), 5)
    for line, mark in zip(lines, ("begun=1 .*slot=[ab]", "begun=2 .*slot=[ab]", "begun=3 .*slot=-[ab]",
                                  "trial=[ab] .*slot=[ab]")):
        expect(re.search(rf"railhead\.{mark}( |$)".replace("slot", r"railhead\.slot"), line),
               f"no {mark} in {line}")
    expect(re.search(r"railhead\.slot=[ab]( |$)", lines[4]) and WANTED[0] not in lines[4],
           f"not the slot without args: {lines[4]}")
    equal("panics", len(re.findall("end Kernel panic|Rebooting in [0-9]+ seconds", vm.seen["console"])), 3)
    boots = re.split(r"(?=\[ +0\.000000\] Linux version)", vm.seen["console"])[1:]
    equal("boots that entered the root", [SWITCH in boot for boot in boots],
          [True, True, False, True, True])


@case("other kernel", "it boots without the args, which are rejected on that kernel, by name")
def boots_without(vm):
    equal("kernels", [version.endswith("-cloud-amd64") for version in versions(vm)], [True] * 5)
    expect(not set(WANTED).intersection(vm.seen["args"]), f"args in {' '.join(vm.seen['args'])}")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "REJECTED", "skew_tick=1",
             f"on kernel {vm.sh('uname -r')}")
    contains("railhead kargs", exits(vm, "railhead kargs", 9), "REJECTED", "trial 1", "trial 2")
    equal("state", json_of(vm, "railhead kargs --json", (9,))["state"], "rejected")
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
