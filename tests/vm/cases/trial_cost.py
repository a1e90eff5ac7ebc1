"""What trials cost a boot that has its arguments, and to which nothing happens: GRUB's writes are counted
by the disk of the emulator, railhead's by strace, in the initramfs too.
"""

import re
import time

import prepare
from cases.layouts import FIRST_BOOTS
from cases.trials import OTHERS, WANTED, is_converged, look, settle
from harness import case, equal, expect, state
from vm import HANG, REBOOT

TRACES = "/run/traces"
# The initramfs runs the program of the real root.
TRACED = f"""mv /usr/sbin/railhead /usr/sbin/railhead.real
cat >/usr/sbin/railhead <<'S'
#!/bin/sh
mkdir -p {TRACES}
exec strace -f -qq -y -T \\
  -e trace=%desc,sync,syncfs,mount,fsmount,move_mount -o "$(mktemp {TRACES}/XXXXXX)" /usr/sbin/railhead.real "$@"
S
chmod 755 /usr/sbin/railhead
"""


def written(vm):
    """Writes to the guest's disk so far: how many, and their bytes."""
    stats = next(device["stats"] for device in vm.qmp("query-blockstats")
                 if device["device"] == "disk")
    return stats["wr_operations"], stats["wr_bytes"]


def wait_for(vm, what, reached):
    end = time.monotonic() + HANG
    while not reached():
        expect(time.monotonic() < end, f"{what} does not come:\n" + vm.console()[-2000:])
        time.sleep(0.1)


@state("converged", guest=OTHERS, after=FIRST_BOOTS)
def converged(vm):
    vm.sh(TRACED)
    settle(vm)
    resets, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    wait_for(vm, "the firmware", lambda: vm.resets > resets)
    before = written(vm)
    wait_for(vm, "the kernel", lambda: "] Command line: " in vm.console(console))
    vm.seen["grub"] = [now - was for now, was in zip(written(vm), before)]
    vm.wait_for_shell()
    vm.wait_until_booted()
    look(vm, vm.resets - resets, console)
    vm.seen["traces"] = vm.sh(f"cat {TRACES}/*")
    vm.sh("mv /usr/sbin/railhead.real /usr/sbin/railhead")


def calls_on_env(vm):
    """Of all stages: name, arguments and result, seconds."""
    return re.findall(r"^\d+ +(\w+)\(\d+<[^>]*/railhead\.env>(.*) <([0-9.]+)>$", vm.seen["traces"],
                      re.M)


@case("converged", "a boot that has its args: GRUB writes one block of railhead.env, railhead 16 bytes")
def one_write_each(vm):
    is_converged(vm, WANTED)
    equal("GRUB's writes, and their bytes", vm.seen["grub"], [1, 4096])
    calls = [(name, rest) for name, rest, _ in calls_on_env(vm) if re.search("write|sync", name)]
    equal("calls that write to railhead.env, or wait for it", [name for name, _ in calls],
          ["pwrite64", "fsync"])
    expect('"railhead_begun=0", 16, 3584) = 16' in calls[0][1], f"it wrote {calls[0][1]}")
    equal("mounts", re.findall(r"^\d+ +\w*mount\(.*", vm.seen["traces"], re.M), [])


@case("converged", "all calls on railhead.env together take a boot no time that matters")
def time_is_small(vm):
    # With what strace itself takes.
    times = [float(second) for _, _, second in calls_on_env(vm)]
    prepare.say(f"{len(times)} calls on railhead.env in this boot: {1000 * sum(times):.1f} ms")
    expect(len(times) > 10 and sum(times) < 1, f"{len(times)} calls, {sum(times)} s")
