"""Kernel arguments that an image was baked with, and one of them kills the kernel: the node comes back
by itself after one such boot, tries them twice, and names what it rejected.
"""

from cases.layouts import FIRST_BOOTS
from cases.trials import (DEADLY, PANIC, STUCK, WANTED, kernels, power_cycle, trials, want)
from harness import case, contains, equal, exits, expect, state

# As docs/examples/packer: without /run, what is mounted there is no root that a systemd has booted from.
BAKE = """set -e
railhead kargs --reset
mount --bind / /mnt
railhead bake --root /mnt --profile vm-layout
umount /mnt
sync
"""


@state("baked", guest=DEADLY, after=FIRST_BOOTS, kept=False)
def baked(vm):
    vm.dead_end = STUCK
    want(vm, WANTED + [PANIC])
    contains("railhead bake", vm.sh(BAKE, 120), "railhead.env", PANIC)
    # The operator's reboot, the first boot's panic; and twice railhead's own and the trial's panic.
    power_cycle(vm, 6)


@case("baked", "bad args of an image: one boot is lost, then two trials, and the node is back without")
def comes_back(vm):
    equal("reboots", vm.seen["resets"], 6)
    lines = kernels(vm)
    equal("boots", len(lines), 6)
    for line, has in zip(lines, (True, False) * 3):
        equal(f"{PANIC} in {line}", PANIC in line, has)
    equal("trials", trials(vm), [lines[2], lines[4]])


@case("baked", "the bad args of an image are rejected, by name")
def rejected(vm):
    expect(PANIC not in vm.seen["args"], f"{PANIC} is in {' '.join(vm.seen['args'])}")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), PANIC, "REJECTED")
