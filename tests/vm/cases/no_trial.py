"""BIOS with /boot where GRUB can't write: a trial could not be disarmed, so there is
none, and no reboot; the node is blocked, with the reason and the wanted arguments.

The guest "lvm-bios" boots from such a disk; the other devices are shown to a converged
guest as its /boot while it runs.
"""

from harness import case, contains, equal, exits, expect, expect_fault, is_active, state, status_json

LVM_BIOS = "lvm-bios"
BOOTDIR = "bootdir"
ENV = "/boot/grub/railhead.env"
PROFILE = "/etc/railhead/profiles/vm-layout.yaml"
NEW_ARG = "nosoftlockup"
NO_TRIAL = "so no trial could be disarmed"


# --- a boot from LVM on a RAID1 ------------------------------------------------

@state("lvm-bios1", guest=LVM_BIOS)
def lvm_bios1(vm):
    vm.start()
    vm.wait_for_shell()
    vm.wait_until_booted()


@case("lvm-bios1", "/boot on LVM: no reboot, and the boot goes on")
def lvm_no_reboot(vm):
    equal("reboots", vm.resets, 0)
    equal("kernels started", len(vm.boots_on_console()) - 1, 1)
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")


@case("lvm-bios1", "/boot on LVM: blocked, with the reason and the wanted arguments")
def lvm_says_so(vm):
    wanted = "Wanted: transparent_hugepage=never skew_tick=1 hugepagesz=2M hugepages=0:16"
    equal("verdict", status_json(vm)["verdict"], "blocked")
    for command, status in (("status", 7), ("plan", 5), ("kargs", 9)):
        said = exits(vm, f"railhead {command}", status, 120)
        contains(f"railhead {command}", said, "GRUB can't write to the LVM volume vm-root",
                 NO_TRIAL, wanted)
    expect_fault(vm, "RH-BOOT-NO-LOADER", "transparent_hugepage=never")
    contains("console", vm.console(), NO_TRIAL)


@case("lvm-bios1", "/boot on LVM: nothing is written, not by another gate either")
def lvm_not_written(vm):
    exits(vm, "railhead gate --again 2>&1", 7, 180)
    equal("files of railhead's below /boot",
          vm.sh("find /boot -name 'railhead.env*'"), "")
    equal("reboots", vm.resets, 0)


# --- /boot on other devices, in a machine that runs --------------------------------

# How a device is made of the disk $1, which file system is on it, and what is said.
DISKS = {
    "a RAID1": (
        "mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.0 $1 missing"
        " && mkfs.ext4 -q /dev/md0 && dev=/dev/md0",
        "ext4", "GRUB can't write to the RAID array /dev/md0"),
    "a partition of a RAID1": (
        "modprobe loop max_part=8; mdadm --create /dev/md1 --run --level=1 --raid-devices=2"
        # One partition, of type 83, from sector 2048 on.
        " --metadata=1.2 $1 missing && { printf '\\0\\0\\0\\0\\203\\0\\0\\0\\0\\10\\0\\0\\200\\32\\6\\0';"
        " head -c 48 /dev/zero; printf '\\125\\252'; } | dd of=/dev/md1 bs=1 seek=446 status=none"
        " && blockdev --rereadpt /dev/md1 && udevadm settle && mkfs.ext4 -q /dev/md1p1"
        " && dev=/dev/md1p1",
        "ext4", "GRUB can't write to the RAID array /dev/md1"),
    "LVM": (
        "vgcreate -q vg $1 && lvcreate -q -y -Wn -l 100%FREE -n boot vg"
        " && mkfs.ext4 -q /dev/vg/boot && dev=/dev/vg/boot",
        "ext4", "GRUB can't write to the LVM volume vg-boot"),
    "btrfs": ("mkfs.btrfs -q $1 && dev=$1", "btrfs", "GRUB can't write to btrfs"),
}

# Moves /boot to a disk of its own, as fstab says from then on.
MOVE_BOOT = """set -e
truncate -s 300M /run/disk%d
set -- $(losetup -f --show /run/disk%d)
{ %s; } >/run/disk.log 2>&1 || { cat /run/disk.log; exit 1; }
udevadm settle
mkdir -p /run/new
mount -t %s $dev /run/new
cp -a /boot/. /run/new/
umount /run/new
! mountpoint -q /boot || umount /boot
sed -i "/ \\/boot /d" /etc/fstab
echo "$dev /boot %s defaults 0 0" >>/etc/fstab
systemctl daemon-reload
mount /boot
"""


@state("bootdir: other devices", guest=BOOTDIR)
def new_arg(vm):
    vm.sh(f"sed -i 's/skew_tick=1\\]/skew_tick=1, {NEW_ARG}]/' {PROFILE}")


def _declare(number, name, make, fstype, reason):
    @case("bootdir: other devices", f"/boot on {name}: no trial, no reboot, and the reason is told")
    def recognised(vm):
        vm.sh(MOVE_BOOT % (number, number, make, fstype, fstype), 180)
        vm.sh("rm -rf /run/railhead")
        before, resets = vm.sh(f"sha256sum {ENV}"), vm.resets
        for command, status in (("plan", 5), ("kargs", 9), ("gate", 7)):
            said = exits(vm, f"railhead {command} 2>&1", status, 180)
            contains(f"railhead {command}", said, reason, NO_TRIAL, "Wanted: ", f" {NEW_ARG}")
        # Where fstab does not mount it at boot.
        vm.sh("umount /boot")
        said = exits(vm, "railhead plan --stage gate", 5, 120)
        contains("plan with /boot unmounted", said, reason, NO_TRIAL)
        vm.sh("mount /boot")
        equal("verdict", status_json(vm)["verdict"], "blocked")
        contains("railhead status", vm.run("railhead status").output, reason)
        equal("railhead.env", vm.sh(f"sha256sum {ENV}"), before)
        equal("reboots", vm.resets - resets, 0)


for _number, (_name, _disk) in enumerate(DISKS.items()):
    _declare(_number, _name, *_disk)
