"""Kernel arguments that hang a trial where systemd's timer does not help.

hangs   starts by EFI
stalls  has two CPUs, one of which hangs

The times are shortened in the guest, never in what is tried.
"""

import re

from cases.trials import MENU as BIOS_MENU, STUCK, WANTED, want
from harness import case, contains, equal, exits, expect, is_active, state, status_json
from vm import REBOOT

HANGS = "hangs"
BOOTED = "hangs2"
MENU = BIOS_MENU


def power_cycle(vm, resets):
    """Into two trials and back; note what came of it."""
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    vm.wait_for_shell(resets=resets)
    vm.wait_until_booted()
    vm.seen.update(resets=vm.resets - before, console=vm.console(console),
                   args=vm.read("/proc/cmdline").split(), status=status_json(vm))


def arm(vm, args):
    vm.dead_end = STUCK
    want(vm, args)
    exits(vm, "railhead apply", 8, 120)


def trials(vm):
    return [line for line in re.findall(r"\] Command line: (.*)", vm.seen["console"])
            if "railhead.trial=" in line]


def came_back(vm, bad):
    """Two trials were reset, and the node stands with the args before them."""
    equal("trials", len(trials(vm)), 2)
    expect(all(bad in line for line in trials(vm)), f"a trial without {bad}: {trials(vm)}")
    equal("reboots", vm.seen["resets"], 4)
    expect(bad not in vm.seen["args"], f"{bad} is in {' '.join(vm.seen['args'])}")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), bad, "REJECTED")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")


def first_boots(vm):
    vm.start()
    vm.wait_for_reset(1)
    vm.wait_for_shell()
    vm.wait_until_booted()


def hang_by_unit(vm, word, command, user):
    """Into a trial in which a unit hangs before the gate; user: words behind ours, the user's own."""
    unit = "/etc/systemd/system/guest-hang.service"
    text = (f"[Unit]\nDefaultDependencies=no\nAfter=local-fs.target\nBefore=railhead-gate.service\n"
            f"ConditionKernelCommandLine={word}\n[Service]\nType=oneshot\n"
            f"TimeoutStartSec=infinity\nExecStart=/bin/sh -c '{command}'\n")
    vm.sh(f"cat >{unit} <<'X'\n{text}X\nsystemctl add-wants sysinit.target guest-hang.service")
    vm.sh(f"sed -i 's/$railhead_kargs/& {user}/' {MENU}")
    arm(vm, WANTED + [word])
    power_cycle(vm, 4)


@state(BOOTED, guest=HANGS)
def boot(vm):
    first_boots(vm)


@case(BOOTED, "after the verdict a hang of the workload does not panic: the detectors are set back")
def detectors_are_back(vm):
    contains("/proc/cmdline", vm.read("/proc/cmdline"), "sysctl.kernel.hung_task_panic=1")
    for name, value in (("panic", 0), ("panic_on_oops", 0), ("softlockup_panic", 0),
                        ("hardlockup_panic", 0), ("panic_on_rcu_stall", 0), ("hung_task_panic", 0),
                        ("hung_task_timeout_secs", 120), ("watchdog_thresh", 10)):
        equal(name, vm.read(f"/proc/sys/kernel/{name}"), str(value))
    equal("rcu_cpu_stall_timeout",
          vm.read("/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout"), "21")


TASK = "guest.hang=task"


@state("hung task", guest=HANGS, after=BOOTED)
def hung_task(vm):
    # A writer on a file system that is frozen stands in D. Five minutes are too long to be waited for.
    hang_by_unit(vm, TASK, "fsfreeze --freeze / && touch /root/hangs",
                 "sysctl.kernel.hung_task_timeout_secs=20 panic=3")


@case("hung task", "a task that stands in D: the kernel panics, twice")
def hung_task_comes_back(vm):
    came_back(vm, TASK)
    equal("panics", len(re.findall("Kernel panic - not syncing: hung_task", vm.seen["console"])), 2)


# --- a CPU ------------------------------------------------------------------------------------

STALLS = "stalls"
CPU = "guest.hang=cpu"


@state("stalls2", guest=STALLS)
def two_cpus(vm):
    first_boots(vm)


@state("stall", guest=STALLS)
def stall(vm):
    vm.sh("tar -C /root -xf /dev/disk/by-id/virtio-payload ./irqsoff.ko")
    hang_by_unit(vm, CPU, "insmod /root/irqsoff.ko && sleep infinity",
                 "rcupdate.rcu_cpu_stall_timeout=15 panic=3")


@case("stall", "a CPU with interrupts off, and no PMU that would find out: RCU does, twice")
def stall_comes_back(vm):
    came_back(vm, CPU)
    equal("panics", len(re.findall("Kernel panic - not syncing: RCU Stall", vm.seen["console"])), 2)
