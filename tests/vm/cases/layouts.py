"""Two boots of machines with other disks (layouts/*.sh):

bootdir  BIOS, /boot is a directory of the root
efi      the same disk by EFI, railhead.env on the EFI system partition; besides a
         stranger's disk, which the kernel finds first
xfs      BIOS, /boot is a partition with XFS
lvm      EFI, the root with /boot on LVM on a RAID1, railhead.env on the EFI system partition
initramfs-tools  as bootdir, with an initramfs of initramfs-tools and not of dracut; more of it
         is in initramfs_tools.py
"""

import collections
import os
import re
import subprocess

import prepare
from harness import (ORDERLY, case, contains, equal, exits, expect, is_active, json_of, state,
                     status_json)
from prepare import STRANGER

BOOTDIR, EFI, XFS, LVM = "bootdir", "efi", "xfs", "lvm"
INITRAMFS_TOOLS = "initramfs-tools"
FIRST_BOOTS = "bootdir2"  # where other guests begin, too
BIOS_ENV = "/boot/grub/railhead.env"
# By the partition of the root, or, on LVM, by its file system (layouts/gpt.sh, layouts/common.sh).
ESP_ENV = "/boot/efi/EFI/railhead/20070000-7261-696c-6865-616400000006/railhead.env"
LVM_ENV = "/boot/efi/EFI/railhead/20070000-7261-696c-6865-616400000004/railhead.env"
PROFILE = "/etc/railhead/profiles/vm-layout.yaml"
SWITCH = "initrd-switch-root.service"  # on the console where the root is entered
ENTERED = "Welcome to"  # the same where the initramfs has no systemd
WANTED_ARGS = ("transparent_hugepage=never", "skew_tick=1")
PAGES_ARG = "hugepagesz=2M"  # not of Debian 11 (build-layouts)

Layout = collections.namedtuple("Layout", "env partition fstype no_env entered",
                                defaults=[SWITCH])
LAYOUTS = {
    BOOTDIR: Layout(BIOS_ENV, "2", "ext4", ESP_ENV),
    EFI: Layout(ESP_ENV, "1", "vfat", BIOS_ENV),
    XFS: Layout(BIOS_ENV, "1", "xfs", ESP_ENV),
    LVM: Layout(LVM_ENV, "1", "vfat", BIOS_ENV),
    INITRAMFS_TOOLS: Layout(BIOS_ENV, "2", "ext4", ESP_ENV, ENTERED),
}


def _disk(vm):
    """The disk that the root is on, like /dev/vda, whatever lies between."""
    lines = vm.sh("lsblk -nsrpo TYPE,NAME $(findmnt -no SOURCE /)").splitlines()
    return {line.split()[1] for line in lines if line.startswith("disk ")}.pop()


# --- what holds for all --------------------------------------------------------

def _declare(name, layout):
    @state(f"{name}2", guest=name)
    def boot2(vm):
        vm.first_boot()

    @case(f"{name}2", "the first boot comes to its gate, which arms the args and reboots in order")
    def reboots(vm):
        console = vm.boots_on_console()[1]
        line = re.search(r"\] Command line: (.*)", console).group(1).split()
        for arg in WANTED_ARGS:
            expect(arg not in line, f"the first boot has {arg} already")
        _, entered, root = console.partition(layout.entered)
        expect(entered, "the first boot did not enter the root")
        contains("console of the first boot", root, "rebooting with other kernel arguments")
        contains("console of the first boot", root, ORDERLY)

    @case(f"{name}2", "one reboot, and the args came through GRUB's variable")
    def args_arrived(vm):
        equal("reboots", vm.resets, 1)
        args = vm.read("/proc/cmdline").split()
        for arg in WANTED_ARGS + ((PAGES_ARG,) if prepare.DIST != "bullseye" else ()):
            expect(arg in args, f"{arg} is not in {' '.join(args)}")
        expect([arg for arg in args if re.fullmatch("railhead.slot=[ab]", arg)],
               f"no railhead.slot= in {' '.join(args)}")
        equal("2M pages", vm.read("/proc/sys/vm/nr_hugepages"), "16")

    @case(f"{name}2", "the verdict is ready")
    def ready(vm):
        equal("verdict", status_json(vm)["verdict"], "ready")
        expect(is_active(vm, "railhead-ready.target"), "railhead-ready.target is not active")

    @case(f"{name}2", "the commit is in the file, and the file on its partition")
    def committed(vm):
        slot = re.search("railhead.slot=(.)", vm.read("/proc/cmdline")).group(1)
        equal("place of the file", vm.sh(f"findmnt -no SOURCE,FSTYPE -T {layout.env}").split(),
              [_disk(vm) + layout.partition, layout.fstype])
        text = vm.sh(f"sync; dd if={layout.env} iflag=direct bs=4096 status=none")
        equal("size", vm.sh(f"stat -c %s {layout.env}"), "4096")
        contains("railhead.env", text, f"\nrailhead_good={slot}\n", "\nrailhead_try=-\n",
                 f"\nrailhead_{slot}=transparent_hugepage=never")
        expect(vm.run(f"test -e {layout.no_env}").status != 0, f"{layout.no_env} exists")

    @case(f"{name}2", "no file system had to be repaired")
    def clean(vm):
        for line in vm.console().splitlines():
            expect(not re.search("recovery complete|recovering journal|orphan"
                                 "|not properly unmounted|was not cleanly"
                                 "|Starting recovery", line),
                   f"on the console: {line}")

    @case(f"{name}2", "no unit failed, and the next run changes nothing")
    def converged(vm):
        equal("failed units", vm.sh("systemctl --failed --plain --no-legend --no-pager"), "")
        contains("railhead plan", vm.sh("railhead plan", 120), "converged")


for _name, _layout in LAYOUTS.items():
    _declare(_name, _layout)


# --- /boot on the root ---------------------------------------------------------

@case("bootdir2", "the root stays read-only in the initramfs, which writes nothing")
def not_remounted(vm):
    for console in vm.boots_on_console()[1:]:
        initramfs, switch, _ = console.partition(SWITCH)
        expect(switch, "the console does not show where the initramfs ends")
        equal("remounts of the root", re.findall("EXT4-fs.* re-mounted", initramfs), [])


# --- railhead.env on a partition of its own -----------------------------------

@case("efi2", "a recheck reads railhead.env though its partition is not mounted, and the node stays ready")
def recheck_unmounted(vm):
    vm.sh("umount /boot/efi")
    vm.sh("systemctl start railhead-recheck.service", 300)
    equal("verdict", status_json(vm)["verdict"], "ready")
    equal("news of the recheck", vm.sh("journalctl -b -q -o cat _SYSTEMD_UNIT=railhead-recheck.service"), "")
    vm.sh("mount /boot/efi")


# --- durable writes --------------------------------------------------------------

# A tracer that logs to the file system of /boot, and SIGKILL at each step of the write: after
# each a writer must go on, and the next run must make the file.
TRACED = """set -e
env=/boot/grub/railhead.env trace=/boot/railhead-trace
cp $env /run/env.kept
writer_goes_on() {
  timeout 60 sh -c 'echo x >/boot/railhead-writer && sync /boot/railhead-writer' || {
    echo "no writer goes on after $1"
    return 1
  }
}
for call in fsync renameat syncfs ioctl; do
  killed=0
  until rm -f $env
    strace -f -o $trace -e trace=fsync,renameat,syncfs,ioctl -e inject=$call:signal=SIGKILL:when=$((killed + 1)) \
      railhead kargs --reset >/run/reset 2>&1; do
    killed=$((killed + 1))
    writer_goes_on "SIGKILL at $call number $killed"
    [ $killed -lt 30 ]
  done
  echo "$call killed: $killed"
  writer_goes_on "a traced run"
  cat $trace >>/run/trace
done
[ "$(stat -c %s $env)" = 4096 ]
cat /run/env.kept >$env
rm $trace /boot/railhead-writer
sync
"""


def _declare_traced(name, journal_is_emptied):
    @case(f"{name}2", "a tracer's log beside railhead.env, and SIGKILL at each step of making it, stop no writer")
    def traced(vm):
        said = vm.sh(TRACED, 300)
        killed = dict(re.findall("^([a-z]+) killed: ([0-9]+)$", said, re.M))
        for call in ("fsync", "renameat"):
            expect(int(killed[call]) > 0, f"no {call} was killed: {said}")
        trace = vm.read("/run/trace")
        contains("the trace", trace, "renameat(")
        expect(not re.search("FIFREEZE|0x58, 0x77", trace), "the file system is frozen")
        emptied = re.search(r"_IOC_WRITE, 0x66, 0x2b|EXT4_IOC_CHECKPOINT", trace) is not None
        equal("EXT4_IOC_CHECKPOINT", emptied, journal_is_emptied)


_declare_traced(BOOTDIR, True)
_declare_traced(XFS, False)


# --- the menu --------------------------------------------------------------------

def _declare_menu(name):
    @case(f"{name}2", "the machine's own update-grub writes the menu that was booted")
    def same_menu(vm):
        # But for an entry for the firmware's settings, which an image builder has not.
        show = "sed '/BEGIN .*uefi-firmware/,/END .*uefi-firmware/d' /boot/grub/grub.cfg"
        vm.sh(f"{show} >/run/before && update-grub 2>&1 && {show} >/run/after", 120)
        vm.sh("diff -u --ignore-all-space --ignore-blank-lines /run/before /run/after")


for _name in (EFI, XFS, LVM):
    _declare_menu(_name)


# --- XFS -------------------------------------------------------------------------

@state("xfs3", guest=XFS)
def xfs3(vm):
    vm.sh("sed -i 's#/boot xfs defaults#/boot xfs ro#' /etc/fstab && mount -o remount,ro /boot"
          f" && sed -i s/skew_tick=1/skew_tick=0/ {PROFILE} && sync")
    exits(vm, "railhead gate", 8, 180)
    vm.reboot()
    vm.wait_until_booted()


@case("xfs3", "a /boot that fstab mounts read-only is written to, and read-only again")
def read_only_boot(vm):
    contains("/proc/cmdline", vm.read("/proc/cmdline"), " skew_tick=0 ", "railhead.trial=")
    equal("verdict", status_json(vm)["verdict"], "ready")
    contains("railhead.env", vm.sh(f"dd if={BIOS_ENV} iflag=direct bs=4096 status=none"),
             "\nrailhead_try=-\n")
    options = vm.sh("findmnt -no OPTIONS /boot").split(",")
    expect("ro" in options, f"/boot is mounted {','.join(options)}")
    expect(vm.run("touch /boot/x").status != 0, "/boot is writable")
    contains("railhead plan", vm.sh("railhead plan", 120), "converged")


# --- an EFI system partition -------------------------------------------------------

@case("efi2", "configuring the package again keeps the args")
def upgrade_keeps(vm):
    before = vm.sh(f"sha256sum {ESP_ENV}")
    vm.sh("/var/lib/dpkg/info/railhead.postinst configure 0.0.1 2>&1", 180)
    equal("environment file", vm.sh(f"sha256sum {ESP_ENV}"), before)


# A chroot with another root on top of this one's files, as image builders have it.
CHROOT = """set -e; mkdir -p /run/image && mount -t tmpfs image /run/image
mkdir /run/image/upper /run/image/work /run/image/tree
mount -t overlay image -o lowerdir=/,upperdir=/run/image/upper,workdir=/run/image/work /run/image/tree
for dir in proc sys dev; do mount --rbind --make-rslave /$dir /run/image/tree/$dir; done
mkdir -p /run/image/tree/boot/efi/EFI"""
VARIABLES = "/sys/firmware/efi/efivars"


@case("efi2", "in the chroot of an image, railhead leaves the host's partition, firmware and record alone")
def chroot_leaves_host(vm):
    look = ("find /boot/efi /var/lib/railhead -type f -exec sha256sum {} + | sort;"
            f" sha256sum {VARIABLES}/*; findmnt -rno TARGET,SOURCE,OPTIONS | grep -v /run/image")
    before = vm.sh(look)
    contains("what is there", before, ESP_ENV, "/var/lib/railhead/kernel-args", VARIABLES)
    vm.sh(CHROOT)
    for command in ("kargs --ended timer", "kargs --mend", "kargs --new-kernel 6.99", "kargs --reset"):
        vm.run(f"chroot /run/image/tree railhead {command}", 120)
        equal(f"the host after {command}", vm.sh(look), before)
    contains("files of the tree", vm.sh("find /run/image/upper -name railhead.env"), "/upper/boot/")
    vm.sh("umount -R -l /run/image")


@case("lvm2", "the root is on LVM on both members of a RAID1")
def really_lvm(vm):
    lines = vm.sh("lsblk -nsrpo TYPE,NAME $(findmnt -no SOURCE /)").splitlines()
    equal("devices below the root", sorted(line.split()[0] for line in lines),
          ["disk", "disk", "lvm", "part", "part", "raid1"])
    contains("/proc/mdstat", vm.read("/proc/mdstat"), "[UU]")


def _declare_esp(name):
    @case(f"{name}2", "without a line in fstab, it is the partition of the boot disk")
    def found_by_partition_table(vm):
        esp = _disk(vm) + "1"
        vm.sh("sed -i '/ \\/boot\\/efi /d' /etc/fstab && systemctl daemon-reload"
              " && umount /boot/efi")
        equal("mounts of the partition", vm.run(f"findmnt {esp}").output, "")
        said = json_of(vm, "railhead kargs --json", timeout=120)
        equal("device", said["device"], esp)
        equal("file", said["file"], LAYOUTS[name].env.replace("/boot/efi", "ESP:"))
        equal("state", said["state"], "same")
        equal("args of the next boot", said["next_boot"], said["wanted"])
        equal("mounts left", vm.run(f"findmnt {esp}").output, "")

    @case(f"{name}2", "that partition is written to without being mounted anywhere")
    def written_by_partition_table(vm):
        esp = _disk(vm) + "1"
        vm.sh("railhead kargs --reset", 120)
        equal("mounts left", vm.run(f"findmnt {esp}").output, "")
        equal("selector on the disk",
              vm.sh(f"dd if={esp} bs=1M iflag=direct status=none | grep -ao 'railhead_good=.'"),
              "railhead_good=-")


    @case(f"{name}2", "that partition, mounted elsewhere, is read and written there")
    def used_where_mounted(vm):
        esp, at = _disk(vm) + "1", "/run/esp"
        vm.sh("sed -i '/ \\/boot\\/efi /d' /etc/fstab && systemctl daemon-reload"
              " && { ! mountpoint -q /boot/efi || umount /boot/efi; }")
        # Writable, while railhead reads; and with a line in fstab that names another place.
        vm.sh(f"mkdir -p {at} && mount {esp} {at}")
        file = LAYOUTS[name].env.replace("/boot/efi", at)
        equal("file", json_of(vm, "railhead kargs --json", (0, 5), 120)["file"], file)
        vm.sh(f"echo '{esp} /boot/efi vfat noauto 0 1' >>/etc/fstab")
        equal("file", json_of(vm, "railhead kargs --json", (0, 5), 120)["file"], file)
        vm.sh("sed -i '/ \\/boot\\/efi /d' /etc/fstab")
        # Read-only, while railhead writes.
        vm.sh(f"mount -o remount,ro {at} && railhead kargs --reset", 120)
        equal("mounts left", vm.sh(f"findmnt -no TARGET {esp}"), at)
        expect("ro" in vm.sh(f"findmnt -no OPTIONS {at}").split(","), "the mount stays writable")
        vm.sh(f"umount {at}")
        # In another mount namespace, where railhead does not see it: with other flags it can't be mounted.
        hidden = vm.sh(f"{{ unshare -m sh -c 'mount {esp} {at} && : >/run/hidden && exec sleep 600'"
                       " >/dev/null 2>&1 & } && until [ -e /run/hidden ]; do sleep 0.1; done; echo $!")
        said = vm.run("railhead kargs", 120)
        vm.sh(f"kill {hidden}; until ! kill -0 {hidden} 2>/dev/null; do sleep 0.1; done")
        contains("railhead kargs", said.output, f"mount {esp}", "another mount namespace", "mount it here too")


for _name in (EFI, LVM):
    _declare_esp(_name)


# The last one: whatever happened before must have spared that disk.
@case("efi2", "the stranger's disk has kept every byte")
def stranger_untouched(vm):
    equal("disks of the guest", vm.sh("lsblk -dno PATH").split(), ["/dev/vda", "/dev/vdb"])
    equal("the disk of the root", _disk(vm), "/dev/vdb")
    vm.sh("sync")
    vm.monitor('qemu-io other "flush"')
    done = subprocess.run([os.path.join(vm.qemu, "bin/qemu-img"), "compare", "-U",
                           os.path.join(vm.directory, STRANGER),
                           os.path.join(os.path.dirname(vm.image), "stranger.img")],
                          stdout=subprocess.PIPE, text=True)
    equal("the stranger's disk", done.stdout, "Images are identical.\n")
    expect("stranger" not in vm.read("/proc/cmdline"), "the stranger's args came")
