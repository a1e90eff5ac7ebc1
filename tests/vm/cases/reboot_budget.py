"""railhead.env is lost before each boot, as where the disk or the ESP is restored: railhead's reboots
end after the budget, and the node is up and says why.

The loss needs nobody between the boots: GRUB's menu empties railhead's variable, as if it had found
no file, and the program of the real root is a script that removes the file before it does anything
in the initramfs. On the guest with EFI the count on the root file system is lost with it, so that
the EFI variable counts alone.
"""

import re

from cases.layouts import EFI, ESP_ENV, FIRST_BOOTS
from cases.trials import MENU, OTHERS, WANTED, kernels, settle
from harness import case, contains, equal, exits, expect, expect_fault, is_active, state, status_json
from vm import REBOOT

BUDGET = 5
COUNT = "/etc/railhead/reboots"
VARIABLE = "/sys/firmware/efi/efivars/RailheadReboots-9ed6c038-6883-4b4d-8f41-05088c4e7023"

LOSES = """cat >/usr/sbin/railhead.loses <<'S'
#!/bin/sh
case "$*" in
*'--stage initrd'*)
  {
    mount -o remount,rw /
    %s
    mount -o remount,ro /
  } >/dev/kmsg 2>&1
  ;;
esac
exec /usr/sbin/railhead.real "$@"
S
chmod 755 /usr/sbin/railhead.loses
mv /usr/sbin/railhead /usr/sbin/railhead.real
mv /usr/sbin/railhead.loses /usr/sbin/railhead
"""
ON_THE_ROOT = "rm -f /boot/grub/railhead.env"
# udev has made the links of the initramfs, fstab knows the partition.
ON_THE_ESP = ("modprobe -a vfat nls_cp437 nls_ascii; mount /boot/efi &&"
              f" rm -f {ESP_ENV}; umount /boot/efi; rm -f {COUNT}")


def _lose_and_reboot(vm, how):
    vm.sh(LOSES % how)
    vm.sh(f"sed -i 's/^[[:space:]]*linux[[:space:]].*/  set railhead_kargs=\\n&/' {MENU}")
    contains(MENU, vm.sh(f"cat {MENU}"), "  set railhead_kargs=\n")
    settle(vm)
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    vm.wait_for_shell(resets=1 + BUDGET)
    vm.wait_until_booted()
    vm.seen.update(resets=vm.resets - before, console=vm.console(console))


@state("lost env", guest=OTHERS, after=FIRST_BOOTS)
def lost(vm):
    _lose_and_reboot(vm, ON_THE_ROOT)


@state("lost env, efi", guest=EFI, after="efi2")
def lost_efi(vm):
    _lose_and_reboot(vm, ON_THE_ESP)


def _count(vm, place):
    return vm.sh(f"tr -d '\\000\\007' <{place}").strip()


def _is_held(vm, place):
    # the first is the operator's
    equal("reboots", vm.seen["resets"], 1 + BUDGET)
    equal("kernels", len(kernels(vm)), 1 + BUDGET)
    expect(not any(arg in line for line in kernels(vm) for arg in WANTED), "a boot has the arguments")
    equal("verdict", status_json(vm)["verdict"], "blocked")
    expect_fault(vm, "RH-BOOT-LOOP", "railhead has made 5 reboots with no verdict in between")
    contains("railhead kargs", exits(vm, "railhead kargs", 9), "held", "railhead kargs --reset")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")
    contains(place, _count(vm, place), f"reboots={BUDGET} boot=")


def _retry(vm, *places):
    exits(vm, "railhead apply --retry", 8, 120)
    for place in places:
        expect(vm.run(f"test -e {place}").status != 0, f"{place} is still there")


@case("lost env", "railhead.env is lost before each boot: five reboots by railhead, then the node is up")
def ends(vm):
    _is_held(vm, COUNT)


@case("lost env", "the root is made writable for each count, and nothing had to be repaired")
def root_is_whole(vm):
    expect(not re.search("recovery complete|recovering journal|orphan", vm.seen["console"]),
           "the root file system was repaired")
    equal("remounts of the root in a boot that counts",
          len(re.findall("EXT4-fs.* re-mounted", vm.boots_on_console()[-2])), 8)


@case("lost env", "--retry sets the count back and arms a trial")
def retry(vm):
    _retry(vm, COUNT)


@case("lost env, efi", "EFI: the file and the root's count are lost before each boot, the variable counts")
def ends_efi(vm):
    _is_held(vm, VARIABLE)


@case("lost env, efi", "EFI: --retry removes the immutable variable, too")
def retry_efi(vm):
    contains("flags of the variable", vm.sh(f"lsattr {VARIABLE}"), "i")
    _retry(vm, COUNT, VARIABLE)
