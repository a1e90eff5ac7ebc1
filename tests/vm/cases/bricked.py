"""Settings that the kernel takes, and with which no boot comes up: they are held back after two.

Nothing but the power switch ends such a boot, so each is ended by a power cut.
"""

import os
import time

from harness import case, contains, equal, exits, expect, is_active, state, status_json

from vm import HANG

from cases.layouts import FIRST_BOOTS
from cases.trials import PROFILE, settle

GUEST = "bricked"
DROP_IN = "/etc/railhead/profiles/vm-layout.d/brick.yaml"


def _boot_until(vm, text, timeout=HANG):
    """Cut the power, and wait for a text on the console of the next boot."""
    begin = vm.console_size()
    vm.power_cut()
    vm.power_on()
    end = time.monotonic() + timeout
    while text not in vm.console(begin):
        expect(time.monotonic() < end, f"no {text!r}; the console ends with:\n{vm.console()[-2000:]}")
        time.sleep(0.2)
    return vm.console(begin)


def _brick(vm, settings, sign):
    """Two boots with these settings that do not come up, by that sign, and a third one."""
    vm.sh(f"mkdir -p {DROP_IN.rpartition('/')[0]} && cat >{DROP_IN} <<'Y'\nschema: 1\n{settings}\nY")
    exits(vm, f"railhead check {DROP_IN}", 0)
    settle(vm)
    for _ in range(2):
        _boot_until(vm, sign)
    vm.power_cut()
    vm.power_on()
    vm.wait_for_shell(HANG)
    vm.wait_until_booted()


def _is_held_back(vm, key):
    equal("verdict", status_json(vm)["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), key,
             "the last 2 boots that set the lines of sysctl, sysfs and mounts did not come up",
             "railhead apply --retry")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")
    expect(is_active(vm, "dbus.service"), "dbus.service is not active")


@state("overcommit", guest=GUEST, after=FIRST_BOOTS)
def overcommit(vm):
    # check refuses it without force, which says that it is meant.
    equal("the mark of a boot that came up", vm.run("test -e /var/lib/railhead/early-mark").status, 1)
    vm.sh(f"echo 'sysctl: {{vm.swappiness: 10}}' >>{PROFILE}")
    _brick(vm, "sysctl: {vm.overcommit_memory: 2, vm.overcommit_ratio: {value: 0, force: true}}", "FAILED")


@case("overcommit", "no memory for programs: the third boot comes up without the setting, and is blocked")
def overcommit_is_held_back(vm):
    _is_held_back(vm, "sysctl/vm.overcommit")
    equal("vm.overcommit_memory", vm.read("/proc/sys/vm/overcommit_memory"), "0")


@case("overcommit", "another boot holds back too; with the profile mended the settings are set again")
def mended(vm):
    vm.reboot()
    vm.wait_until_booted()
    _is_held_back(vm, "sysctl/vm.overcommit")
    vm.sh(f"rm {DROP_IN}")
    vm.reboot()
    vm.wait_until_booted()
    equal("verdict", status_json(vm)["verdict"], "ready")
    equal("vm.swappiness", vm.read("/proc/sys/vm/swappiness"), "10")


@state("pid_max", guest=GUEST)
def pid_max(vm):
    _brick(vm, "sysctl: {kernel.pid_max: {value: 301, force: true}}", "FAILED")


@case("pid_max", "no numbers for processes: held back")
def pid_max_is_held_back(vm):
    _is_held_back(vm, "sysctl/kernel.pid_max")


SLOT_OF_ROOT = """
function=$(realpath /sys/class/block/$(basename $(findmnt -no SOURCE /)) | grep -o '[0-9a-f:.]*/virtio' | head -c 10)
grep -l "^$function" /sys/bus/pci/slots/*/address || {
  grep . /sys/bus/pci/slots/*/address
  exit 1
}"""


@state("offline", guest="offline")
def offline(vm):
    vm.first_boot()
    vm.seen["power"] = os.path.dirname(vm.sh(SLOT_OF_ROOT)) + "/power"
    _brick(vm, f"sysfs: {{{vm.seen['power']}: {{value: 0, force: true}}}}", "I/O error")


@case("offline", "the system's disk switched off in its slot: held back")
def offline_is_held_back(vm):
    _is_held_back(vm, vm.seen["power"])
    equal("power", vm.read(vm.seen["power"]), "1")
