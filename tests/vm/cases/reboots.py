"""Later boots: nothing changes; a gate that fails and is mended; a profile that
is broken; railhead=off."""

from harness import (case, contains, equal, eventually, exits, expect, gate_ready, is_active,
                     state, status_json)
from vm import ORDERLY_REBOOT, REBOOT

from cases import gate

ENV = "/boot/grub/railhead.env"
RECORD_OF_ARGS = "/var/lib/railhead/kernel-args"
PROFILE = "/etc/railhead/profiles/vm-bench.yaml"
PFS = ("0000:41:00.0", "0000:81:00.0")

def _boot_again(vm, command=REBOOT):
    """One asked-for reboot; note how many the guest made of it."""
    resets = vm.resets
    vm.reboot(command=command)
    vm.wait_until_booted()
    vm.seen["resets made"] = vm.resets - resets


def _facts(vm):
    return vm.sh(f"sha256sum {ENV} {RECORD_OF_ARGS}; stat -c '%i %Y %Z' {ENV} {RECORD_OF_ARGS}")


# --- boot 3 ----------------------------------------------------------------

@state("boot3")
def boot3(vm):
    # As a boot has it (a snapshot has another): numbers are of one clock source.
    clock = "/sys/devices/system/clocksource/clocksource0"
    vm.sh(f"! grep -qw tsc {clock}/available_clocksource || echo tsc >{clock}/current_clocksource")
    vm.sh(f"sed -i 's/^  budget: 120s/&\\n  reuse: 24h/' {PROFILE}")
    gate_ready(vm)
    vm.seen["env"] = _facts(vm)
    # A time of the boot before would mean nothing on this boot's clock.
    of_a_boot = ("started_usec", "timings")
    vm.seen["measurements"] = [{key: value for key, value in one.items() if key not in of_a_boot}
                               for one in status_json(vm)["measurements"]]
    _boot_again(vm, ORDERLY_REBOOT)


@case("boot3", "the third boot does not reboot")
def no_more_reboots(vm):
    equal("boots made of one reboot", vm.seen["resets made"], 1)
    expect("railhead.trial" not in vm.read("/proc/cmdline"), "the boot is a trial")


@case("boot3", "neither GRUB nor railhead wrote what is kept of kernel arguments")
def arguments_untouched(vm):
    equal("railhead.env and the record", _facts(vm), vm.seen["env"])
    contains("railhead.env", vm.sh(f"cat {ENV}"), "\nrailhead_try=-\n", "\nrailhead_begun=-\n")


@case("boot3", "plan says converged and exits 0, and the node is ready")
def converged(vm):
    contains("railhead plan", exits(vm, "railhead plan", 0, 120), "converged")
    equal("verdict", status_json(vm)["verdict"], "ready")
    expect(is_active(vm, "gated.service"), "the gated unit did not run")


@case("boot3", "after an orderly reboot the numbers of the boot before are used, and the looks are new")
def numbers_used_again(vm):
    status = status_json(vm)
    expect(status["numbers"]["boots_ago"] == 1, f"measured anew: {status['numbers']}")
    equal("numbers", status["measurements"], vm.seen["measurements"])
    contains("railhead status", exits(vm, "railhead status", 0),
             "numbers: measured ", "in the boot before")
    expect(vm.run("test -e /var/lib/railhead/pass.json").status != 0, "they serve twice")


# --- a gate that cannot be passed -------------------------------------------

@state("blocked")
def blocked(vm):
    vm.sh(f"sed -i 's#min: 1MB/s#min: 900GB/s#' {PROFILE}")
    gate.add_checks(vm)
    _boot_again(vm, ORDERLY_REBOOT)
    vm.seen["boot id"] = vm.read("/proc/sys/kernel/random/boot_id")


@case("blocked", "the verdict is blocked, and says check, measured and wanted")
def reason_is_named(vm):
    equal("verdict", status_json(vm)["verdict"], "blocked")
    said = exits(vm, "railhead status", 7)
    contains("railhead status", said, "blocked", "memory", "900", "GB/s")
    contains("why it was measured anew", said, "(again: profile: ")
    expect(vm.run("test -e /run/railhead/ready").status != 0, "/run/railhead/ready exists")


@case("blocked", "the journal has an entry for each fault code, with meaning and remedy")
def codes_in_journal(vm):
    codes = {fault["code"] for fault in status_json(vm)["faults"]}
    contains("codes in the journal", vm.sh("journalctl -b -F RAILHEAD_FAULT").split(), *codes)
    expect("RH-HOST-COMMAND" in codes, f"codes: {codes}")
    said = vm.sh("journalctl -b -x --no-pager RAILHEAD_FAULT=RH-HOST-COMMAND")
    contains("journalctl -x", said, "fault RH-HOST-COMMAND (site)",
             "A program of the site failed, or measured less than required.", "remedy:")
    expect("@" not in said.split("Subject: railhead found fault")[1],
           f"a field of the catalog's text is missing:\n{said}")


@case("blocked", "the gated unit does not run, and the boot reaches multi-user")
def gate_is_closed(vm):
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")
    expect(not is_active(vm, "gated.service"), "the gated unit is active")
    expect(vm.run("test -e /run/gated").status != 0, "the gated unit has run")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")
    equal("boots made of one reboot", vm.seen["resets made"], 1)


@state("mended")
def mended(vm):
    vm.sh(f"sed -i 's#min: 900GB/s#min: 1MB/s#' {PROFILE}")
    gate.remove_checks(vm)


@case("mended", "the gate run again is ready and starts the gated unit, no reboot")
def gate_again(vm):
    gate_ready(vm)
    # The target is started without waiting for what it wants.
    eventually(vm, "systemctl is-active -q gated.service")
    expect(is_active(vm, "railhead-ready.target"), "the target is not active")
    equal("boot id", vm.read("/proc/sys/kernel/random/boot_id"), vm.seen["boot id"])


# --- a broken profile -------------------------------------------------------

@state("malformed")
def malformed(vm):
    vm.seen["env"] = _facts(vm)
    vm.sh(f"sed -i 's/^hugepages:/hugepagez:/' {PROFILE}")
    _boot_again(vm)


@case("malformed", "a malformed profile: blocked with its place, the boot goes on")
def malformed_blocks(vm):
    equal("verdict", status_json(vm)["verdict"], "blocked")
    said = exits(vm, "railhead status", 7)
    line = vm.sh(f"grep -n '^hugepagez:' {PROFILE}").split(":")[0]
    contains("railhead status", said, "hugepagez", f"vm-bench.yaml:{line}:")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")
    expect(not is_active(vm, "gated.service"), "the gated unit is active")
    equal("boots made of one reboot", vm.seen["resets made"], 1)


@case("malformed", "a malformed profile: nothing is written or changed")
def malformed_changes_nothing(vm):
    equal("railhead.env", _facts(vm), vm.seen["env"])
    for pf in PFS:
        equal(f"VFs of {pf}", vm.read(f"/sys/bus/pci/devices/{pf}/sriov_numvfs"), "0")


# --- railhead=off -----------------------------------------------------------

@state("off", after="mended")
def off(vm):
    vm.sh(r"sed -i 's#^\(\s*linux\s.*\)$#\1 railhead=off#' /boot/grub/grub.cfg")
    vm.seen["env"] = _facts(vm)
    _boot_again(vm)


@case("off", "railhead=off: the verdict is off and the target stays closed")
def off_verdict(vm):
    contains("/proc/cmdline", vm.read("/proc/cmdline"), "railhead=off")
    equal("verdict", status_json(vm)["verdict"], "off")
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")
    expect(not is_active(vm, "gated.service"), "the gated unit is active")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")


@case("off", "railhead=off: nothing is done")
def off_does_nothing(vm):
    equal("railhead.env", _facts(vm), vm.seen["env"])
    equal("boots made of one reboot", vm.seen["resets made"], 1)
    for pf in PFS:
        equal(f"VFs of {pf}", vm.read(f"/sys/bus/pci/devices/{pf}/sriov_numvfs"), "0")
    expect(vm.run("test -d /sys/module/dummy").status != 0, "dummy is loaded")
    expect(vm.read("/proc/sys/net/core/rmem_max") != "268435456", "rmem_max was set")
