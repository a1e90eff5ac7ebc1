"""The boot partition is found from fstab while /boot is not mounted, as with
`noauto` there."""

from harness import SNAPSHOT, case, equal, expect

BOOT_UUID = "b0070000-7261-696c-6865-616400000001"
SOURCES = {
    "LABEL": "LABEL=boot",
    "UUID": f"UUID={BOOT_UUID}",
    "PARTUUID": "PARTUUID=52414c48-01",
    "device": "/dev/vda1",
}


def _unmount_boot(vm, source):
    vm.sh(f"umount /boot && sed -i 's#^[^ ]* /boot #{source} /boot #' /etc/fstab"
          " && systemctl daemon-reload")
    expect(vm.run("mountpoint -q /boot").status != 0, "/boot is still mounted")


def _plan(vm):
    """What the plan says, and that nothing stays mounted."""
    result = vm.run("railhead plan --stage gate", 120)
    equal("/boot after the plan", vm.run("mountpoint -q /boot").status != 0, True)
    mounts = vm.run("grep ^/dev/vda1 /proc/self/mountinfo; grep ' /dev/vda1 ' /proc/mounts")
    equal("mounts of the boot partition left", mounts.output, "")
    return result


def _declare(name, source):
    @case(SNAPSHOT, f"the boot partition is found by {name} in fstab")
    def found(vm):
        _unmount_boot(vm, source)
        result = _plan(vm)
        expect(result.status == 0, f"plan ends with {result.status}:\n{result.output}")


for _name, _source in SOURCES.items():
    _declare(_name, _source)


@case(SNAPSHOT, "a boot partition that is not there is an error, not another disk's")
def not_found(vm):
    _unmount_boot(vm, "LABEL=gone")
    result = _plan(vm)
    expect(result.status != 0, f"plan ends well:\n{result.output}")
    expect("gone" in result.output or "/boot" in result.output,
           f"the reason does not name the source:\n{result.output}")


@case(SNAPSHOT, "a /boot directory on the root file system is used as it is")
def directory(vm):
    vm.sh("cp -a /boot /run/boot && umount /boot && cp -a /run/boot/grub /boot/"
          " && sed -i '/ \\/boot /d' /etc/fstab && systemctl daemon-reload", 120)
    result = vm.run("railhead plan --stage gate", 120)
    expect(result.status == 0, f"plan ends with {result.status}:\n{result.output}")
