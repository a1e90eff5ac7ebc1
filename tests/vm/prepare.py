"""Everything that must be there before the guest can start."""

import functools
import os
import re
import shutil
import subprocess
import sys
import time

import host
from cutguest import CutGuest
from harness import DEVICES, MAIN
from vm import Guest, other_disk, small_hardware

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("RAILHEAD_VM_BUILD", os.path.join(TOP, "build", "vm"))

# Releases of Debian that can be guests; what each is made from is kept apart (release.sh).
BUILDS = {"bookworm": SHARED, "trixie": f"{SHARED}-trixie"}
DIST = os.environ.get("DIST", "bookworm")
if DIST not in BUILDS:
    sys.exit(f"DIST={DIST}: {' and '.join(BUILDS)} can be guests")
BUILD = BUILDS[DIST]


# In the order of Debian's releases: only the larger one is left in newer ones.
OVMF = ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_CODE.fd")


# What a step starts and mounts ends with it, and with this process, also by SIGKILL.
APART = ("setpriv", "--pdeathsig", "KILL", "unshare", "-mpf", "--kill-child", "--mount-proc")


class PrepareError(Exception):
    """The guest cannot be made on this machine."""


def use(release):
    """Whatever is made in this process from now on is of that release of Debian."""
    global DIST, BUILD
    os.environ["DIST"] = DIST = release
    BUILD = BUILDS[release]
    _basics.cache_clear()
    _layouts_made.clear()


def suite():
    return "vm" if BUILD == SHARED else f"vm-{DIST}"


def say(text):
    print(f"# {text}", flush=True)


def _step(what, *command):
    """Run a script; its standard output is a result, its errors are shown."""
    begin = time.monotonic()
    if os.geteuid() == 0:
        command = APART + command
    try:
        done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        raise PrepareError(f"{what}: {error}")
    if done.returncode != 0:
        sys.stdout.write(done.stdout)
        raise PrepareError(f"{what} failed: {' '.join(command)}")
    for line in done.stdout.splitlines():
        if line.startswith("# "):
            print(line)
    say(f"{what}: {time.monotonic() - begin:.0f} s")
    return done.stdout


def _last_line(text):
    return text.strip().splitlines()[-1]


def claim(memory=host.LARGE):
    """This machine for the guests of this process, the largest of which needs so much memory.

    Whatever builds images or starts guests begins with it.
    """
    try:
        host.take_turn()
        host.need_memory(memory)
        host.need_disk(BUILD, first=not os.path.exists(disk_image()))
    except host.HostError as error:
        raise PrepareError(str(error))


def qemu():
    return _last_line(_step("QEMU", os.path.join(HERE, "get-qemu")))


def packages():
    """The packages of this tree, or those that were built elsewhere."""
    ready = os.environ.get("RAILHEAD_VM_DEB")
    if ready:
        say(f"railhead packages: {ready}")
        return ready.split()
    return _step("railhead packages", os.path.join(TOP, "packaging/deb/build")).split()


def disk_image():
    return os.path.join(BUILD, "disk.img")


def image(debs):
    _step("disk image", os.path.join(HERE, "build-image"), *debs)
    return disk_image()


def payload():
    _step("what the cases bring along", os.path.join(HERE, "get-extras"))
    return os.path.join(BUILD, "payload.tar")


def _kvm_boots(qemu_dir):
    """Does a stock kernel get as far as looking for its root under KVM?

    Nested or half-blocked KVM opens well, and hangs later: so try. A kernel
    without a root device panics, and panic=-1 makes QEMU end.
    """
    command = [os.path.join(qemu_dir, "bin/qemu-system-x86_64"),
               "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
               "-machine", "q35", "-accel", "kvm", "-m", "512", "-serial", "stdio",
               "-kernel", os.path.join(BUILD, "vmlinuz"),
               "-append", "console=ttyS0 panic=-1"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=15)
    except subprocess.TimeoutExpired:
        return False
    return b"Unable to mount root" in done.stdout


def accelerator(qemu_dir):
    """KVM where it really works, else emulation. The answer is kept."""
    answer = os.path.join(SHARED, "accelerator")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg,thread=multi"
    if not os.path.exists(answer):
        found = "kvm" if _kvm_boots(qemu_dir) else "tcg,thread=multi"
        with open(answer, "w") as out:
            out.write(found)
    with open(answer) as text:
        return text.read()


@functools.lru_cache(maxsize=None)
def _basics():
    """What every guest is made from: QEMU's directory, the disk, the accelerator."""
    qemu_dir = qemu()
    disk = image(packages())
    accel = accelerator(qemu_dir)
    say(f"guest: {DIST}, {qemu_version(qemu_dir)}, {accel}")
    return qemu_dir, disk, accel


def everything(directory):
    """Build what is missing; returns a guest that is ready to start."""
    qemu_dir, disk, accel = _basics()
    return Guest(qemu_dir, accel, disk, directory, payload=payload())


_layouts_made = set()


def _layouts(*names):
    """The disks of these guests (LAYOUTS)."""
    missing = {LAYOUTS[name][0] for name in names} - _layouts_made
    if missing:
        _step("disks with other layouts", os.path.join(HERE, "build-layouts"), *sorted(missing))
        _layouts_made.update(missing)


def _ovmf(directory):
    """EFI firmware, with variables of the guest's own."""
    source = next((path for path in OVMF if os.path.exists(path)), None)
    if source is None:
        raise PrepareError(f"no EFI firmware: {' and '.join(OVMF)} are not there")
    variables = os.path.join(directory, "efi-variables")
    shutil.copyfile(source.replace("_CODE", "_VARS"), variables)
    return ["-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={source}",
            "-drive", f"if=pflash,unit=1,format=raw,file={variables}"]


# The disk of each guest with another layout, and whether it starts by EFI.
LAYOUTS = {
    "bootdir": ("layouts.img", False),
    "trials": ("layouts.img", False),
    "trials-more": ("layouts.img", False),
    "efi": ("layouts.img", True),
    "xfs": ("xfs.img", False),
    "lvm": ("lvm.img", True),
    "lvm-bios": ("lvm.img", False),
    "initramfs-tools": ("initramfs-tools.img", False),
}


def layout(name, directory):
    """A guest with another layout of its disk (LAYOUTS)."""
    qemu_dir, _, accel = _basics()
    _layouts(name)
    os.makedirs(directory, exist_ok=True)
    image_name, efi = LAYOUTS[name]
    hardware = small_hardware() + (_ovmf(directory) if efi else [])
    if name == "efi":
        stranger = os.path.join(directory, "stranger.img")
        shutil.copyfile(os.path.join(BUILD, "stranger.img"), stranger)
        hardware += other_disk(stranger)
    return Guest(qemu_dir, accel, os.path.join(BUILD, image_name), directory,
                 hardware=hardware)


# The layout of each guest whose power is cut, and where railhead.env is there: the number
# of the partition, and the path on it.
CUTS = {
    "cut-ext4": ("bootdir", (2, "/boot/grub/railhead.env")),
    "cut-xfs": ("xfs", (1, "/grub/railhead.env")),
    "cut-vfat": ("efi", (1, "/EFI/railhead/railhead.env")),
}


def cut_guest(name, directory):
    qemu_dir, _, accel = _basics()
    layout_name, env = CUTS[name]
    _layouts(layout_name)
    os.makedirs(directory, exist_ok=True)
    image_name, efi = LAYOUTS[layout_name]
    hardware = small_hardware() + (_ovmf(directory) if efi else [])
    return CutGuest(qemu_dir, accel, os.path.join(BUILD, image_name), directory,
                    hardware=hardware, env=env)


def images(names):
    """Build whatever the guests with these names are made from."""
    try:
        _basics()
        _layouts(*(CUTS[name][0] if name in CUTS else name
                   for name in names if name not in (MAIN, DEVICES)))
        if MAIN in names or DEVICES in names:
            payload()
    except PrepareError:
        pass  # whoever asks for that guest fails, and says why


def guest(name, directory):
    """The guest that cases are declared for (harness.py)."""
    if name in CUTS:
        return cut_guest(name, directory)
    return everything(directory) if name in (MAIN, DEVICES) else layout(name, directory)


def qemu_version(qemu_dir):
    done = subprocess.run([os.path.join(qemu_dir, "bin/qemu-system-x86_64"), "--version"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return re.sub(r" \(.*", "", done.stdout.splitlines()[0])


def write_tally(suite, passed, failed):
    """Leave the counts for whoever sums over all suites."""
    directory = os.path.join(TOP, "build", "tally.d")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, suite), "w") as out:
        out.write(f"{passed} {failed}\n")
