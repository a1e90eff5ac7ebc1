"""A boot that has no gate arms no trial, since no boot would judge it. And an EFI system partition that
fstab does not need, and whose disk is gone, holds up no stage of such a boot: the job of its mount waits
for ever here.
"""

from cases.layouts import FIRST_BOOTS
from cases.trials import ENV, OTHERS, WANTED, want
from harness import case, contains, equal, eventually, exits, expect, is_active, state, status_json

KEPT = f"sha256sum {ENV} /var/lib/railhead/kernel-args"


@state("no gate", guest=OTHERS, after=FIRST_BOOTS)
def no_gate(vm):
    want(vm, WANTED + ["version=14"])
    vm.sh("systemctl mask railhead-gate.service && mkdir /efi"
          " && echo 'UUID=DEAD-BEEF /efi vfat nofail,x-systemd.device-timeout=infinity 0 0' >>/etc/fstab")
    vm.seen["kept"] = vm.sh(f"{KEPT} && sync")
    vm.reboot()
    for target in ("sysinit", "multi-user"):
        eventually(vm, f"systemctl -q is-active {target}.target")
    vm.seen["jobs"] = vm.sh("systemctl list-jobs --no-legend")


@case("no gate", "an optional EFI system partition whose disk is gone does not hold up the boot")
def optional_partition(vm):
    contains("jobs of systemd", vm.seen["jobs"], "efi.mount")
    for unit in ("railhead-early.service", "railhead-devices.service"):
        expect(is_active(vm, unit), f"{unit} is not active")
    equal("stages", sorted(status_json(vm)["stages"]), ["devices", "early", "initrd"])


@case("no gate", "the gate is masked: the boot arms nothing, and it is said why")
def masked(vm):
    equal("railhead.env and the record", vm.sh(KEPT), vm.seen["kept"])
    contains("railhead kargs", exits(vm, "railhead kargs", 9), "version=14",
             "railhead-gate.service is masked", "systemctl unmask railhead-gate.service")


@case("no gate", "the gate's unit has not run: a gate by hand arms nothing either, and names the units")
def has_not_run(vm):
    vm.sh("systemctl unmask railhead-gate.service", 60)
    contains("railhead gate", exits(vm, "railhead gate 2>&1", 7, 180), "version=14",
             "has not run in this boot", "systemctl enable railhead-early")
    contains("railhead.env", vm.read(ENV), "\nrailhead_try=-\n")
