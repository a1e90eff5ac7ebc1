"""Kernel arguments that kill a boot, hang it, never arrive or come another way: the node
comes back by itself, and is rebooted no oftener than it must.

Two small guests, side by side, begin from the guest "bootdir" after its first boots, for most
states anew: half of the time they wait for panics and timers. A trial is armed by the gate of a
boot that comes to it; here mostly by `railhead gate`, so that one boot less is needed.
"""

import os
import re
import subprocess
import time

import prepare
from cases.layouts import FIRST_BOOTS
from harness import (ORDERLY, case, contains, equal, eventually, exits, expect, expect_fault,
                     is_active, json_of, state, status_json)
from vm import HANG, ORDERLY_REBOOT, REBOOT

DEADLY = "trials"      # lives through args that kill a boot
OTHERS = "trials-more"  # ... and through those that come another way, or not at all
ENV = "/boot/grub/railhead.env"
MENU = "/boot/grub/grub.cfg"
PROFILE = "/etc/railhead/profiles/vm-layout.yaml"
WANTED = ["transparent_hugepage=never", "skew_tick=1"]

# Panics and emergency shells are what is seen here: only these need a person.
STUCK = re.compile("grub rescue>|Failed to boot both")

def want(vm, args):
    vm.sh(f"sed -i 's#^  set: .*#  set: [{', '.join(args)}]#' {PROFILE}")
    contains(PROFILE, vm.read(PROFILE), args[-1])


def arm(vm, args):
    """As want(), and the next boot is a trial already: that a boot's own gate arms is seen elsewhere."""
    want(vm, args)
    exits(vm, "railhead gate", 8, 300)


def wait_for_boot(vm, console, number, line=""):
    """Wait until so many kernels have started since, with that on their lines.

    Boots before that one may come as far as the shell, and reboot.
    """
    end = time.monotonic() + HANG
    while len(re.findall(r"\] Command line: .*" + line, vm.console(console))) < number:
        vm.shell_said("ready")
        expect(time.monotonic() < end, f"boot {number} {line} did not begin; the console ends"
               f" with:\n{vm.console()[-2000:]}")
        vm.check_alive()
        time.sleep(0.1)


def power_cycle(vm, boots, command=REBOOT):
    """A reboot from inside, after which the node boots so many times; note what came of it."""
    before, console = vm.resets, vm.console_size()
    vm.send(command)
    finish(vm, boots, before, console)


def finish(vm, boots, before, console):
    """The last of so many boots since goes on to its verdict."""
    wait_for_boot(vm, console, boots)
    vm.wait_for_shell()
    vm.wait_until_booted()
    look(vm, vm.resets - before, console)


def look(vm, resets, console):
    vm.seen.update(resets=resets, console=vm.console(console),
                   args=vm.read("/proc/cmdline").split(), status=status_json(vm),
                   env=vm.sh(f"cat {ENV}"))


def kernels(vm):
    """The command lines of the kernels that were started, from the console."""
    return re.findall(r"\] Command line: (.*)", vm.seen["console"])


def trials(vm):
    return [line for line in kernels(vm) if "railhead.trial=" in line]


def is_converged(vm, args):
    for arg in args:
        expect(arg in vm.seen["args"], f"{arg} is not in {' '.join(vm.seen['args'])}")
    equal("verdict", vm.seen["status"]["verdict"], "ready")
    contains("railhead plan", exits(vm, "railhead plan", 0, 120), "converged")


def came_back(vm, bad, *words):
    """The good args are in force, work is blocked for a named reason, the boot is whole."""
    for arg in WANTED:
        expect(arg in vm.seen["args"], f"{arg} is not in {' '.join(vm.seen['args'])}")
    expect(bad not in vm.seen["args"], f"{bad} is in {' '.join(vm.seen['args'])}")
    expect(not [arg for arg in vm.seen["args"] if arg.startswith("railhead.trial")],
           "the boot is a trial")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), bad, *words)
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")


def rejected(vm, bad):
    equal("trials", len(trials(vm)), 2)
    expect(all(bad in line for line in trials(vm)), f"a trial without {bad}: {trials(vm)}")
    came_back(vm, bad, "REJECTED", "2 trial boots", "railhead apply --retry")


@case(FIRST_BOOTS, "the first boot lacks args: one orderly reboot, by its gate, and no unit fails")
def first_boot(vm):
    equal("reboots", vm.resets, 1)
    before, after = vm.boots_on_console()[1:]
    for what, text, wanted in (("first", before, False), ("second", after, True)):
        equal(f"args on the line of the {what} boot", "railhead.trial=" in text, wanted)
        equal(f"the {what} boot was shut down in order", ORDERLY in text, not wanted)
    equal("failed units", vm.sh("systemctl --failed --plain --no-legend --no-pager"), "")


@case(FIRST_BOOTS, "the verdict ends the trial's timer, and commits it")
def timer_is_stopped(vm):
    look(vm, vm.resets, 0)
    is_converged(vm, WANTED)
    equal("trials", len(trials(vm)), 1)
    journal = vm.sh("journalctl -b --no-pager -o cat -u railhead-trial.timer")
    contains("journal of the timer", journal, "Started", "Stopped")
    expect(not is_active(vm, "railhead-trial.timer"), "the timer still runs")


@case(FIRST_BOOTS, "after the verdict an oops and a panic are the kernel's own again")
def panic_is_set_back(vm):
    contains("/proc/cmdline", vm.read("/proc/cmdline"), "railhead.trial=", " panic=30 oops=panic ")
    for name in ("panic", "panic_on_oops"):
        equal(name, vm.read(f"/proc/sys/kernel/{name}"), "0")


# --- args that kill ------------------------------------------------------------

PANIC = "rdinit=/nonexistent"


def _end_panic(vm, console, number):
    """Press the button once so many kernels have said that they reboot: they would spin until then.

    The firmware then resets the machine once more, which counts as a reboot of the guest's.
    """
    end = time.monotonic() + HANG
    while len(re.findall("Rebooting in [0-9]+ seconds", vm.console(console))) < number:
        expect(time.monotonic() < end, f"no panic {number}:\n" + vm.console(console)[-2000:])
        vm.check_alive()
        time.sleep(0.2)
    vm.qmp("system_reset")


def _panic_twice(vm, *buttons):
    """The trials that are armed panic; which of them the button ends."""
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    for number in buttons:
        _end_panic(vm, console, number)
    finish(vm, 4, before, console)


@state("panic", guest=DEADLY, after=FIRST_BOOTS)
def panic(vm):
    vm.dead_end = STUCK
    arm(vm, WANTED + [PANIC])
    # That a kernel reboots by itself is seen once: until then it spins for half a minute.
    _panic_twice(vm, *((2,) if prepare.DIST == "bookworm" else (1, 2)))


@case("panic", "args that panic the kernel: two trials, the good ones come back")
def panic_comes_back(vm):
    equal("panics", len(re.findall("end Kernel panic|Kernel panic - not", vm.seen["console"])) > 0,
          True)
    equal("reboots, the button's too", vm.seen["resets"], 4)
    lines = kernels(vm)
    equal("trials", ["railhead.trial=" in line for line in lines], [True, False, True, False])
    equal("the line after the second trial, beside that after the first", lines[3], lines[1])
    rejected(vm, PANIC)


@state("panic again", guest=DEADLY)
def panic_again(vm):
    vm.seen["env_before"] = vm.sh(f"cat {ENV}")
    vm.seen["line_before"] = vm.read("/proc/cmdline")
    power_cycle(vm, 1)


@case("panic again", "rejected args are remembered: no trial, the same line, and no write")
def rejection_is_remembered(vm):
    equal("reboots", vm.seen["resets"], 1)
    came_back(vm, PANIC, "REJECTED", "2 trial boots")
    equal("railhead.env", vm.seen["env"], vm.seen["env_before"])
    equal("command line", vm.read("/proc/cmdline"), vm.seen["line_before"])
    before = vm.sh(f"stat -c '%Y %Z' {ENV}")
    exits(vm, "railhead gate", 7, 180)
    expect_fault(vm, "RH-BOOT-ARGS-REJECTED", "2 trial boots")
    equal("times of railhead.env", vm.sh(f"stat -c '%Y %Z' {ENV}"), before)


@case("panic again", "kargs says which args, in JSON too, and exits 9; after --retry the gate arms")
def retry(vm):
    said = json_of(vm, "railhead kargs --json", (9,))
    equal("state", said["state"], "rejected")
    equal("missing", said["missing"], [PANIC])
    equal("what became of the trials", said["story"]["state"], "died")
    exits(vm, "railhead apply --retry", 0, 120)
    equal("state", json_of(vm, "railhead kargs --json", (5,))["state"], "reboot")
    exits(vm, "railhead gate", 8, 300)
    contains("railhead.env", vm.sh(f"cat {ENV}"), PANIC)
    equal("state", json_of(vm, "railhead kargs --json", (5,))["state"], "armed")
    # Thought better of it: what is armed is disarmed, and no boot is needed.
    want(vm, WANTED)
    exits(vm, "railhead gate", 0, 300)
    equal("state", json_of(vm, "railhead kargs --json", (0,))["state"], "same")
    contains("railhead.env", vm.sh(f"cat {ENV}"), "\nrailhead_try=-\n")


@state("memory", guest=DEADLY, after=FIRST_BOOTS)
def memory(vm):
    vm.dead_end = STUCK
    # As many pages as there is memory: the kernel takes what it can get. That of Debian 13 lives on
    # with 100 MB.
    vm.seen["pages"] = vm.sh("awk '/^MemTotal/ { print int($2 / 2048) - 8 }' /proc/meminfo")
    vm.sh(f"sed -i 's/per_node: 16/per_node: {vm.seen['pages']}/' {PROFILE}")
    exits(vm, "railhead gate", 8, 300)
    _panic_twice(vm, 1, 2)


@case("memory", "pages that exhaust memory: two trials, the good args come back")
def memory_comes_back(vm):
    pages = f"hugepages=0:{vm.seen['pages']}"
    equal("trials with all memory", len([line for line in trials(vm) if pages in line]), 2)
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    expect(any("REJECTED" in reason for reason in vm.seen["status"]["reasons"]),
           f"not rejected: {vm.seen['status']['reasons']}")
    expect(pages not in vm.seen["args"], "the boot has the args")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")


# --- args that hang --------------------------------------------------------------

SHELL = "module_blacklist=virtio_blk"


@state("shell", guest=DEADLY, after=FIRST_BOOTS)
def shell(vm):
    vm.dead_end = STUCK
    # The user's own word behind ours: a trial waits four minutes for its root.
    vm.sh(f"sed -i 's/$railhead_kargs/& rd.timeout=60/' {MENU}")
    arm(vm, WANTED + [SHELL])
    power_cycle(vm, 4)


@case("shell", "args that end in dracut's shell: two trials, the good ones come back")
def shell_comes_back(vm):
    rejected(vm, SHELL)


EMERGENCY = "module_blacklist=vfat"


@state("emergency", guest=DEADLY, after=FIRST_BOOTS)
def emergency(vm):
    vm.dead_end = STUCK
    arm(vm, WANTED + [EMERGENCY])
    # The timer's ten minutes are too long to be waited for here.
    vm.sh("mkdir -p /etc/systemd/system/railhead-trial.timer.d && printf"
          " '[Timer]\\nOnActiveSec=\\nOnActiveSec=40s\\n'"
          " >/etc/systemd/system/railhead-trial.timer.d/short.conf")
    power_cycle(vm, 4)


@case("emergency", "a trial in emergency mode is ended by its timer, the good args come back")
def emergency_comes_back(vm):
    contains("console", vm.seen["console"], "Emergency Mode")
    contains("console", vm.seen["console"], "no verdict in this trial")
    rejected(vm, EMERGENCY)


# --- good args on another image ------------------------------------------------------

# An older image: its initramfs crashes the kernel where one of the args is on the line.
CRASH = ("mkdir -p /run/image/usr/lib/dracut/hooks/cmdline && cd /run/image"
         " && printf 'case \" $(cat /proc/cmdline) \" in *\" skew_tick=1 \"*)"
         " echo c >/proc/sysrq-trigger ;; esac\\n' >usr/lib/dracut/hooks/cmdline/00-crash.sh"
         " && find . | cpio --quiet -o -H newc | gzip >/boot/older.img"
         f" && sed -i 's#^\\(\\s*initrd\\s.*\\)#\\1 /boot/older.img#' {MENU}")


def _end_crash(vm, console, number):
    """The button ends a kernel that nothing told to reboot when it panics."""
    end = time.monotonic() + HANG
    while len(re.findall("end Kernel panic|Rebooting in [0-9]+ seconds", vm.console(console))) < number:
        expect(time.monotonic() < end, f"no crash {number}:\n" + vm.console(console)[-2000:])
        time.sleep(0.2)
    vm.qmp("system_reset")


@state("other image", guest=OTHERS, after=FIRST_BOOTS)
def other_image(vm):
    vm.dead_end = STUCK
    # As the hooks of a kernel's package do.
    vm.sh("railhead kargs --new-kernel \"$(uname -r)\"")
    vm.sh(CRASH)
    settle(vm)
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    for number in (1, 2, 3):
        _end_crash(vm, console, number)
    finish(vm, 5, before, console)


@case("other image", "good args crash a kernel that was installed: it boots without them, named")
def other_image_boots(vm):
    lines = kernels(vm)
    for number in (0, 1):
        contains(f"line {number}", lines[number], f"railhead.begun={number + 1} panic=30")
        expect(re.search("railhead.slot=[ab]( |$)", lines[number]), f"no slot in {lines[number]}")
    expect(re.search("railhead.slot=-[ab]( |$)", lines[2]), f"the args are in {lines[2]}")
    equal("trials", ["railhead.trial=" in line for line in lines], [False, False, False, True, False])
    for arg in WANTED:
        expect(arg not in vm.seen["args"], f"{arg} is in {' '.join(vm.seen['args'])}")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "REJECTED", "skew_tick=1")
    contains("railhead.env", vm.seen["env"], "\nrailhead_begun=-\n")


# --- power cuts, versions -----------------------------------------------------------

@state("reset", guest=OTHERS, after=FIRST_BOOTS)
def reset(vm):
    arm(vm, WANTED + ["version=2"])
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    wait_for_boot(vm, console, 1, r"railhead\.trial=")
    vm.qmp("system_reset")  # the button
    finish(vm, 3, before, console)


@case("reset", "a trial that was cut short by a reset is made again, and rejects nothing")
def reset_is_no_rejection(vm):
    equal("trials", ["railhead.trial=" in line for line in kernels(vm)], [True, False, True])
    is_converged(vm, WANTED + ["version=2"])


@state("two cuts", guest=OTHERS)
def two_cuts(vm):
    power_cycle(vm, 1)
    vm.seen["env_before"], line = vm.seen["env"], vm.read("/proc/cmdline")
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    for cut in (1, 2):
        wait_for_boot(vm, console, cut)
        vm.qmp("system_reset")
    finish(vm, 3, before, console)
    vm.seen["line_before"] = line


@case("two cuts", "two cuts in a row before railhead runs change nothing of the next line, and no byte")
def two_cuts_change_nothing(vm):
    equal("command line", vm.read("/proc/cmdline"), vm.seen["line_before"])
    equal("different lines", len(set(kernels(vm))), 1)
    equal("railhead.env", vm.seen["env"], vm.seen["env_before"])
    is_converged(vm, WANTED + ["version=2"])


@state("version back", guest=OTHERS)
def version_back(vm):
    arm(vm, WANTED)
    power_cycle(vm, 1)


@case("version back", "back to the earlier args of the profile: one trial, the others are gone")
def version_is_back(vm):
    equal("reboots", vm.seen["resets"], 1)
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED)
    expect("version=2" not in vm.seen["args"], "version=2 is still there")


@state("cut trials", guest=OTHERS, after=FIRST_BOOTS)
def cut_trials(vm):
    arm(vm, WANTED + ["version=4"])
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    for cut in (1, 2):
        wait_for_boot(vm, console, cut, r"railhead\.trial=")
        vm.qmp("system_reset")
    finish(vm, 4, before, console)


@case("cut trials", "good args, and two power cuts in their trials: rejected")
def cut_trials_reject(vm):
    equal("trials", len(trials(vm)), 2)
    came_back(vm, "version=4", "REJECTED", "2 trial boots")


@state("forgiven", guest=OTHERS)
def forgiven(vm):
    vm.sh(f"sed -i 's/^version: .*/version: 2.0.0/' {PROFILE}")
    power_cycle(vm, 2)


@case("forgiven", "rejected args with a new version of the profile: one trial by itself, and they are kept")
def forgiven_and_kept(vm):
    equal("reboots", vm.seen["resets"], 2)
    equal("trials", ["railhead.trial=" in line for line in kernels(vm)], [False, True])
    is_converged(vm, WANTED + ["version=4"])
    expect(re.search(r"railhead\.trial=[ab] panic=30 .* version=4 .*railhead\.slot=", trials(vm)[0]),
           f"the args do not stand last: {trials(vm)[0]}")


@state("no reboot", guest=OTHERS, after=FIRST_BOOTS)
def no_reboot(vm):
    vm.sh("printf 'schema: 1\\nreboot: false\\n' >/etc/railhead/railhead.conf")
    want(vm, WANTED + ["version=3"])
    power_cycle(vm, 1)


@case("no reboot", "reboot: false in railhead.conf: armed, named, and not rebooted")
def site_says_no(vm):
    equal("reboots", vm.seen["resets"], 1)
    expect(vm.seen["status"]["verdict"] in ("waiting", "blocked"), vm.seen["status"]["verdict"])
    contains("railhead status", exits(vm, "railhead status", 7), "version=3", "reboot")
    contains("journal", vm.sh("journalctl -b -q -o cat -u railhead-gate.service"), "reboot: false")
    equal("state", json_of(vm, "railhead kargs --json", (5,))["state"], "armed")


@state("own reboot", guest=OTHERS)
def own_reboot(vm):
    power_cycle(vm, 1, command=ORDERLY_REBOOT)


@case("own reboot", "reboot: false: the operator's own reboot is the trial")
def operators_trial(vm):
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=3"])


# --- ends that say nothing against the args ------------------------------------------------

# Somebody's first-boot service that reboots the node before railhead has judged, three boots long.
STOPPER = """cat >/etc/systemd/system/stopper.service <<'E' && systemctl enable stopper.service
[Unit]
Before=railhead-gate.service
After=railhead-early.service
ConditionKernelCommandLine=railhead.trial
ConditionPathExists=!/var/stopped3
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'for n in 1 2 3; do test -e /var/stopped$n || break; done; touch /var/stopped$n; \
 test $n = 3 || { systemctl --no-block reboot; sleep 300; }'
[Install]
WantedBy=multi-user.target
E"""


@state("orderly stops", guest=OTHERS, after=FIRST_BOOTS)
def orderly_stops(vm):
    vm.sh(STOPPER)
    arm(vm, WANTED + ["version=8"])
    power_cycle(vm, 5)


@case("orderly stops", "two trials that others reboot in order count for nothing: the third is kept")
def orderly_stops_are_no_deaths(vm):
    equal("trials", ["railhead.trial=" in line for line in kernels(vm)],
          [True, False, True, False, True])
    equal("reboots", vm.seen["resets"], 5)
    is_converged(vm, WANTED + ["version=8"])
    equal("deaths", json_of(vm, "railhead kargs --json", (0,))["story"]["deaths"], 0)
    expect(not is_active(vm, "railhead-trial-stop.service"), "the unit is active after the verdict")


@state("left alone", guest=OTHERS, after=FIRST_BOOTS)
def left_alone(vm):
    arm(vm, WANTED + ["version=9"])
    vm.sh(f"sed -i 's/set default=\"0\"/set default=\"1>1\"/' {MENU}")
    settle(vm)
    vm.send(REBOOT)
    vm.wait_for_shell(resets=1)
    vm.seen["in_recovery"] = vm.sh(f"cat {ENV}")
    vm.sh(f"sed -i 's/set default=\"1>1\"/set default=\"0\"/' {MENU}")
    settle(vm)
    power_cycle(vm, 2)


@case("left alone", "the recovery entry in place of a trial costs that trial: the next is made, and kept")
def left_alone_is_made_again(vm):
    contains("railhead.env in the recovery boot", vm.seen["in_recovery"], "\nrailhead_try=t\n")
    equal("trials", ["railhead.trial=" in line for line in kernels(vm)], [False, True])
    is_converged(vm, WANTED + ["version=9"])


# --- trials that do not come to the gate -----------------------------------------------

# As systemd.offline-updates(7) has it, at work until it is told to go on.
UPDATE = """cat >/etc/systemd/system/site-update.service <<'E'
[Unit]
DefaultDependencies=no
Requires=sysinit.target
After=sysinit.target system-update-pre.target
Before=system-update.target shutdown.target
Conflicts=shutdown.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'rm /system-update && echo begin >>/var/update.log; \
 until [ -e /var/go-on ]; do sleep 0.1; done; echo end >>/var/update.log; systemctl --no-block reboot'
E
mkdir -p /etc/systemd/system/system-update.target.wants
ln -sf ../site-update.service /etc/systemd/system/system-update.target.wants/
rm -f /var/go-on /var/update.log
ln -s /var/update /system-update"""


def look_at_limit(vm):
    """In a boot that has come as far as the timer of a trial would start."""
    eventually(vm, "systemctl -q is-active sysinit.target")
    vm.seen.update(line=vm.read("/proc/cmdline"), timer=is_active(vm, "railhead-trial.timer"),
                   jobs=vm.sh("systemctl list-jobs --no-legend"))


def has_no_limit(vm):
    contains("command line", vm.seen["line"], "railhead.trial=")
    expect(not vm.seen["timer"], "the trial's timer runs")
    expect("railhead-trial.timer" not in vm.seen["jobs"], f"it is to start: {vm.seen['jobs']}")


def update(vm):
    """Reboots into the update, lets it end, and goes on to the verdict, two boots later."""
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    vm.wait_for_shell(resets=1)
    eventually(vm, "grep -q begin /var/update.log")
    look_at_limit(vm)
    vm.seen["in_update"] = vm.sh(f"cat {ENV}")
    vm.sh("touch /var/go-on")
    finish(vm, 3, before, console)
    equal("the update's log", vm.read("/var/update.log").split(), ["begin", "end"])


@state("offline update", guest=OTHERS, after=FIRST_BOOTS)
def offline_update(vm):
    arm(vm, WANTED + ["version=10"])
    vm.sh(UPDATE)
    contains("railhead kargs", exits(vm, "railhead kargs", 9), "offline update (/system-update)")
    update(vm)


@case("offline update", "an offline update that begins in a trial has no time limit, and is no death")
def update_is_no_death(vm):
    has_no_limit(vm)
    equal("trials", ["railhead.trial=" in line for line in kernels(vm)], [True, False, True])
    equal("deaths", json_of(vm, "railhead kargs --json", (0,))["story"]["deaths"], 0)
    is_converged(vm, WANTED + ["version=10"])


@state("update first", guest=OTHERS)
def update_first(vm):
    want(vm, WANTED + ["version=11"])
    vm.sh(UPDATE)
    update(vm)


@case("update first", "no trial is armed before an offline update; the gate after it arms one")
def update_comes_first(vm):
    expect("railhead.trial=" not in vm.seen["line"], f"the update was a trial: {vm.seen['line']}")
    contains("railhead.env in the update", vm.seen["in_update"], "\nrailhead_try=-\n")
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=11"])


@state("masked gate", guest=OTHERS, after=FIRST_BOOTS)
def masked_gate(vm):
    mask = "systemctl mask railhead-gate.service"
    vm.sh(mask)
    want(vm, WANTED + ["version=12"])
    vm.seen["refused"] = exits(vm, "railhead gate", 7, 300)
    vm.seen["in_refused"] = vm.sh(f"cat {ENV}")
    vm.sh("systemctl unmask railhead-gate.service")
    exits(vm, "railhead gate", 8, 300)
    vm.sh(mask)
    vm.send(REBOOT)
    vm.wait_for_shell(resets=1)
    vm.run("systemctl is-system-running --wait", 600)
    look_at_limit(vm)
    vm.sh("systemctl unmask railhead-gate.service")
    power_cycle(vm, 2, command=ORDERLY_REBOOT)


@case("masked gate", "where the gate is masked nothing is armed, and a trial has no time limit")
def masked_gate_has_no_limit(vm):
    contains("the gate by hand", vm.seen["refused"], "railhead-gate.service is masked", "systemctl unmask")
    contains("railhead.env then", vm.seen["in_refused"], "\nrailhead_try=-\n")
    has_no_limit(vm)
    equal("trials after it", ["railhead.trial=" in line for line in kernels(vm)], [False, True])
    is_converged(vm, WANTED + ["version=12"])


@state("rescue word", guest=OTHERS, after=FIRST_BOOTS)
def rescue_word(vm):
    arm(vm, WANTED + ["version=13"])
    vm.sh(f"sed -i 's/$railhead_kargs/& s/' {MENU}")
    settle(vm)
    vm.send(REBOOT)
    vm.wait_for_shell(resets=1)
    eventually(vm, "systemctl -q is-active rescue.target")
    look_at_limit(vm)
    vm.sh(f"sed -i 's/$railhead_kargs s/$railhead_kargs/' {MENU}")
    settle(vm)
    power_cycle(vm, 2)


@case("rescue word", "`s` added to the entry of a trial: no time limit, and the trial is made after it")
def rescue_word_has_no_limit(vm):
    has_no_limit(vm)
    is_converged(vm, WANTED + ["version=13"])


# --- args that never arrive ------------------------------------------------------------

def settle(vm):
    """GRUB replays no journal, and may find half of a renamed menu: all goes to its place."""
    vm.sh("sync && fsfreeze --freeze / && fsfreeze --unfreeze /")


def cut_and_boot(vm, boots=1, **options):
    """A power cycle without a word to the guest, after which it boots so many times.

    Returns the reboots that it made.
    """
    vm.power_cut()
    console = vm.console_size()
    vm.power_on(**options)
    finish(vm, boots, 0, console)
    return vm.resets


@state("entry", guest=OTHERS, after=FIRST_BOOTS)
def entry(vm):
    want(vm, WANTED + ["version=4"])
    # A machine that has not had any args yet. The other entries keep the variable, so that only
    # the boot itself can show it.
    vm.sh(f"rm {ENV} /var/lib/railhead/kernel-args")
    first = "0,/^[[:space:]]*linux[[:space:]]/"
    vm.sh(f"cp {MENU} /root/menu && sed -i '{first}{{/^[[:space:]]*linux/s/ $railhead_kargs//}}'"
          f" {MENU}")
    equal("lines that lost the variable", vm.run(f"diff /root/menu {MENU} | grep -c '^<'").output,
          "1\n")
    settle(vm)
    vm.seen["made"] = [cut_and_boot(vm, boots) for boots in (2, 1, 1)]


@case("entry", "the default entry lost the variable: one reboot in three power cycles, named")
def entry_is_named(vm):
    equal("reboots made in each power cycle", vm.seen["made"], [1, 0, 0])
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "did not arrive", "version=4",
             "booted a menu entry without $railhead_kargs")


@state("entries", guest=OTHERS)
def entries(vm):
    vm.sh(f"sed -i 's/ \\$railhead_kargs//' {MENU}")
    settle(vm)
    vm.seen["made"] = [cut_and_boot(vm)]


@case("entries", "no entry has the variable: no reboot at all, named")
def entries_are_named(vm):
    equal("reboots made in each power cycle", vm.seen["made"], [0])
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "version=4",
             "no menu entry of GRUB", "update-grub")


@state("menu back", guest=OTHERS)
def menu_back(vm):
    vm.sh(f"cat /root/menu >{MENU} && sync")
    power_cycle(vm, 2)


@case("menu back", "the menu is mended: the args come with one trial, without --retry")
def menu_is_back(vm):
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=4"])


# --- boots that come another way --------------------------------------------------------

def _boot_files(vm):
    """The kernel and the initramfs, as a loader outside of the guest has them."""
    version = vm.sh("uname -r")
    found = []
    for name in (f"vmlinuz-{version}", f"initrd.img-{version}"):
        path = os.path.join(vm.directory, name)
        subprocess.run(["debugfs", "-R", f"dump /boot/{name} {path}",
                        f"{vm.image}?offset={42 << 20}"], check=True, stderr=subprocess.DEVNULL)
        expect(os.path.getsize(path) > 1 << 20, f"{name} was not found in the image")
        found.append(path)
    return found


@state("direct", guest=OTHERS, after=FIRST_BOOTS, kept=False)  # another QEMU
def direct(vm):
    want(vm, WANTED + ["version=5"])
    kernel, initrd = _boot_files(vm)
    line = " ".join(arg for arg in vm.read("/proc/cmdline").split()
                    if arg.split("=")[0] in ("root", "ro", "console", "systemd.show_status"))
    vm.seen["before"] = vm.sh(f"sha256sum {ENV}; sync")
    vm.seen["made"] = [cut_and_boot(vm, more=("-kernel", kernel, "-initrd", initrd,
                                               "-append", line))]


@case("direct", "a kernel that GRUB did not bring (PXE, kexec): no reboot, nothing written, named")
def direct_is_named(vm):
    equal("reboots", vm.seen["made"], [0])
    expect(not [arg for arg in vm.seen["args"] if arg.startswith("railhead")], "GRUB brought it")
    equal("railhead.env", vm.sh(f"sha256sum {ENV}; sync"), vm.seen["before"])
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "railhead.slot=", "kexec",
             "network boot")


@state("read-only", guest=OTHERS, after=FIRST_BOOTS, kept=False)
def read_only(vm):
    arm(vm, WANTED + ["version=5"])
    vm.power_off()
    console = vm.console_size()
    vm.power_on(read_only=True)
    finish(vm, 1, 0, console)


# The boot that armed it was shut down in order, so that GRUB has read the file as it is.
@case("read-only", "a read-only disk: an armed trial is not taken, no reboot, named")
def read_only_takes_no_trial(vm):
    equal("trials", trials(vm), [])
    equal("reboots", vm.seen["resets"], 0)
    expect("version=5" not in vm.seen["args"], "the trial was taken")
    contains("the line", " ".join(vm.seen["args"]), "railhead.slot=")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "version=5", "can't write")


@state("writable", guest=OTHERS)
def writable(vm):
    cut_and_boot(vm)


@case("writable", "the disk takes writes again: the armed trial is made, and commits")
def trial_is_made(vm):
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=5"])


# --- args that take something away ----------------------------------------------------------

NIC_AWAY = "module_blacklist=igb"
NIC = ("-device", "pcie-root-port,id=rpup,bus=pcie.0,chassis=9,slot=9",
       "-netdev", "hubport,id=up,hubid=9", "-device", "igb,id=nicup,bus=rpup,netdev=up,romfile=")


@state("uplink", guest=OTHERS, after=FIRST_BOOTS, kept=False)  # another QEMU
def uplink(vm):
    vm.sh(f"printf 'devices:\\n  mgmt: {{pci: \"8086:10c9\", protect: true}}\\n' >>{PROFILE}")
    vm.sh("echo 'ACTION==\"add\", SUBSYSTEM==\"net\", RUN+=\"/bin/ip link set $name up\"'"
          " >/etc/udev/rules.d/99-up.rules")
    settle(vm)
    vm.seen["made"] = [cut_and_boot(vm, more=NIC)]
    vm.seen["nic"] = vm.sh("basename $(realpath /sys/bus/pci/drivers/igb/0*)").strip()
    # What a later look learns, too, five minutes after the verdict.
    eventually(vm, "grep -q 1 /sys/bus/pci/drivers/igb/0*/net/*/carrier")
    exits(vm, "railhead gate --again", 0, 180)
    contains("what held", vm.read("/var/lib/railhead/kernel-args"), f"\nup {vm.seen['nic']}\n")
    arm(vm, WANTED + [NIC_AWAY])
    power_cycle(vm, 2)


@case("uplink", "args that take the uplink away: one boot back by itself, refused, and it is said why")
def uplink_is_back(vm):
    equal("reboots", vm.seen["resets"], 2)
    equal("trials", [NIC_AWAY in line for line in trials(vm)], [True])
    expect(NIC_AWAY not in vm.seen["args"], f"{NIC_AWAY} is in {' '.join(vm.seen['args'])}")
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "REFUSED",
             f"carrier/{vm.seen['nic']}", "railhead apply --retry")
    contains("railhead kargs", exits(vm, "railhead kargs", 9), NIC_AWAY)
    expect_fault(vm, "RH-BOOT-ARGS-UNFIT", f"carrier/{vm.seen['nic']}")
    contains("console", vm.seen["console"], "rebooting with other kernel arguments")
    equal("state", json_of(vm, "railhead kargs --json", (9,))["state"], "unfit")


# --- boots in which nothing is to be done ---------------------------------------------------

def _special(name, title, menu):
    """A boot of the menu, with work pending: railhead must not do any of it."""

    @state(name, guest=OTHERS, after=FIRST_BOOTS)
    def enter(vm):
        want(vm, WANTED + ["version=6"])
        vm.seen["before"] = vm.sh(f"sha256sum {ENV}")
        vm.sh(f"{menu} {MENU} && sync")
        console, before = vm.console_size(), vm.resets
        vm.send(REBOOT)
        vm.wait_for_shell(resets=1)
        vm.seen["resets"] = vm.resets - before
        vm.seen["console"] = vm.console(console)

    @case(name, title)
    def nothing_is_done(vm):
        equal("reboots", vm.seen["resets"], 1)
        expect("trial" not in vm.seen["console"].split("Command line:")[-1].split("\n")[0],
               "a trial was taken")
        equal("railhead.env", vm.sh(f"sha256sum {ENV}"), vm.seen["before"])
        expect(vm.run("test -e /run/railhead/status.json").status != 0,
               "there is a status: " + vm.run("cat /run/railhead/status.json").output)


_special("recovery", "the menu's recovery entry: nothing is done",
         "sed -i 's/set default=\"0\"/set default=\"1>1\"/'")
_special("rescue", "rescue mode: nothing is done",
         "sed -i 's/$railhead_kargs/& systemd.unit=rescue.target/'")
_special("single", "the word single: nothing is done",
         "sed -i 's/$railhead_kargs/& single/'")


# --- a crash kernel ------------------------------------------------------------------------

@state("crash", guest=OTHERS, after=FIRST_BOOTS)
def crash(vm):
    # The user's own argument: the crash kernel's memory is set aside at boot.
    vm.dead_end = STUCK
    vm.sh(f"sed -i 's/$railhead_kargs/& crashkernel=256M/' {MENU}")
    power_cycle(vm, 1)
    want(vm, WANTED + ["version=7"])
    vm.seen["before"] = vm.sh(f"sha256sum {ENV}; sync")
    vm.sh("kexec -p /boot/vmlinuz-$(uname -r) --initrd=/boot/initrd.img-$(uname -r)"
          " --append=\"$(sed 's/ crashkernel=[^ ]*//' /proc/cmdline) nr_cpus=1 reset_devices\"")
    vm.send("sync; echo c >/proc/sysrq-trigger")
    vm.wait_for_shell()
    vm.run("systemctl is-system-running --wait", 300)


@case("crash", "a crash kernel, with all marks of a normal boot on its line: nothing is done")
def crash_kernel(vm):
    vm.sh("test -e /proc/vmcore")
    contains("/proc/cmdline", vm.read("/proc/cmdline"), "railhead.slot=")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")
    expect(vm.run("test -e /run/railhead/status.json").status != 0,
           "there is a status: " + vm.run("cat /run/railhead/status.json").output)
    equal("railhead.env", vm.sh(f"sha256sum {ENV}; sync"), vm.seen["before"])
    contains("railhead apply", vm.run("railhead apply 2>&1").output, "kdump")
