"""The guest "initramfs-tools" (layouts/initramfs-tools.sh), after its first two boots, which
layouts.py sees: args that kill a boot in that initramfs, a railhead that hangs there, an
initramfs without railhead, and one that a person stopped.
"""

import re
import time

from cases.layouts import INITRAMFS_TOOLS
from cases.trials import (MENU, STUCK, WANTED, arm, is_converged, kernels, power_cycle, settle, trials)
from harness import case, contains, equal, exits, expect, state, status_json
from vm import HANG, REBOOT

IMAGE = "/boot/initrd.img-$(uname -r)"
DEADLINE = 10  # of initrd.short
USUAL = "initramfs-tools2"

# Hangs in the initramfs alone, and takes no hint.
HANGS = """cat >/usr/sbin/railhead.hangs <<'S'
#!/bin/sh
if [ -n "$RAILHEAD_INITRAMFS" ]; then
  trap '' TERM
  echo the stand-in hangs
  while :; do sleep 1; done
fi
exec /usr/sbin/railhead.real "$@"
S
chmod 755 /usr/sbin/railhead.hangs
mv /usr/sbin/railhead /usr/sbin/railhead.real
mv /usr/sbin/railhead.hangs /usr/sbin/railhead
"""


def use_initramfs(vm, name):
    """The next boots are with one of the image's initramfs."""
    vm.sh(f"cp /boot/{name} {IMAGE}")
    settle(vm)


def kernel_log(vm, word):
    """The lines of railhead's in the kernel's log, as (seconds since boot, text)."""
    lines = re.findall(r"^\[ *([0-9.]+)\] railhead: (.*)", vm.sh("dmesg"), re.MULTILINE)
    found = [(float(seconds), text) for seconds, text in lines if word in text]
    expect(found, f"{word!r} is not in the kernel's log: {lines}")
    return found


# --- the usual boots ---------------------------------------------------------------

@case("initramfs-tools2", "the stage ran in that initramfs, without dracut, and said so to the kernel")
def stage_ran(vm):
    expect(vm.run("command -v dracut").status != 0, "dracut is installed")
    kernel_log(vm, "initrd: ")
    stages = status_json(vm)["stages"]
    expect("initrd" in stages, f"no stage initrd: {list(stages)}")
    expect("lacks" not in stages["early"], f"early lacks {stages['early'].get('lacks')}")
    equal("mounts left below the root", vm.run("findmnt -rno TARGET /root").output, "")


# --- args that kill a boot there; in the boot that follows, railhead hangs there -----------------

NO_DISK = "module_blacklist=virtio_blk"


@state("initramfs-tools: hang", guest=INITRAMFS_TOOLS, after=USUAL)
def hang(vm):
    vm.dead_end = STUCK
    # One trial is enough: that a second one's death rejects is seen in trials.py.
    vm.sh("printf 'schema: 1\nreboot: false\n' >/etc/railhead/railhead.conf")
    arm(vm, WANTED + [NO_DISK])
    vm.sh(HANGS)
    use_initramfs(vm, "initrd.short")
    power_cycle(vm, 2)


@case("initramfs-tools: hang", "args that end in its shell: it reboots, and the good ones come back")
def shell_comes_back(vm):
    contains("console", vm.seen["console"], "Rebooting automatically due to panic= boot argument")
    equal("trials", [NO_DISK in line for line in kernels(vm)], [True, False])
    equal("reboots", vm.seen["resets"], 2)
    contains("command line", vm.seen["args"], *WANTED)
    contains("railhead status", exits(vm, "railhead status", 7), NO_DISK)
    contains("railhead kargs", exits(vm, "railhead kargs", 5), "1 of 2 trials died")


@case("initramfs-tools: hang", "a railhead that hangs is killed at its deadline, the boot goes on and says so")
def hang_is_killed(vm):
    killed, _ = kernel_log(vm, f"did not end within {DEADLINE} s, and is killed")[0]
    expect(killed > DEADLINE, f"killed {killed} s after the boot's begin")
    kernel_log(vm, "the stand-in hangs")
    kernel_log(vm, "the initrd stage failed (status 137)")
    equal("processes left", vm.run("pgrep -f '[a]pply --stage initrd'").output, "")
    expect("initrd" not in status_json(vm)["stages"], "the stage has a result")
    contains("railhead status", exits(vm, "railhead status", 7), "lacks", "left no result",
             "stage early did its work")


# --- an initramfs without railhead -----------------------------------------------------

@state("initramfs-tools: none", guest=INITRAMFS_TOOLS, after=USUAL)
def none(vm):
    arm(vm, WANTED + ["version=2"])
    use_initramfs(vm, "initrd.none")
    power_cycle(vm, 1)


@case("initramfs-tools: none", "no railhead in the initramfs: a trial is made and kept, all the same")
def trial_is_kept(vm):
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=2"])


@case("initramfs-tools: none", "it is ready, and says what the boot lacked")
def says_what_lacks(vm):
    equal("words of the initramfs in the kernel's log",
          vm.run("dmesg | grep '\\] railhead: '").output, "")
    lack = status_json(vm)["stages"]["early"]["lacks"]
    contains("what is lacking", lack, "did not run in the initramfs", "update-initramfs -u")
    contains("railhead status", exits(vm, "railhead status", 0), lack)
    contains("journal", vm.sh("journalctl -b --no-pager -o cat -u railhead-early.service"), lack)


# --- an initramfs that a person stopped ------------------------------------------------

# Nobody types into that shell.
@state("initramfs-tools: break", guest=INITRAMFS_TOOLS, after=USUAL, kept=False)
def stopped(vm):
    vm.dead_end = STUCK
    vm.sh(f"sed -i 's/$railhead_kargs/& break=init/' {MENU}")
    settle(vm)
    console, before = vm.console_size(), vm.resets
    vm.send(REBOOT)
    end = time.monotonic() + HANG
    while "(initramfs)" not in vm.console(console):
        expect(time.monotonic() < end, f"no shell; the console ends with:\n{vm.console()[-2000:]}")
        vm.check_alive()
        time.sleep(0.2)
    vm.seen.update(console=vm.console(console), resets=vm.resets - before)


@case("initramfs-tools: break", "break=init: railhead leaves the shell alone, and says so")
def nothing_is_done(vm):
    equal("reboots", vm.seen["resets"], 1)
    equal("kernels started", len(kernels(vm)), 1)
    contains("command line", kernels(vm)[0], " break=init")
    contains("console", vm.seen["console"], "an initramfs stopped for debugging (break=init)")
    equal("remounts of the root", re.findall("EXT4-fs.* re-mounted", vm.seen["console"].split(
        "Linux version")[1]), [])
