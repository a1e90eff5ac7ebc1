"""Everything that must be there before the guest can start: kept in the cache by its content."""

import atexit
import fcntl
import functools
import os
import re
import subprocess
import sys
import time

import cache
import host
from cutguest import CutGuest
from harness import DEVICES, MAIN
from vm import (SLOT_DISK, Guest, make_overlay, other_disk, small_hardware, switch_with_acs,
                threaded_cores)

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

# Releases of Debian that can be guests, and where they leave their logs.
LOGS = {"bookworm": os.path.join(TOP, "build/vm"),
        **{name: os.path.join(TOP, f"build/vm-{name}") for name in ("bullseye", "trixie", "forky")}}

# Their libraries are older than this machine's: packages that were built here do not run there.
OLDER = ("bullseye",)

DIST = os.environ.get("DIST", "bookworm")
if DIST not in LOGS:
    sys.exit(f"DIST={DIST}: {', '.join(LOGS)} can be guests")

# What a guest's disks are made by, besides the packages.
IMAGE_SOURCES = ("build-image", "build-layouts", "release.sh", "bios_hole.S", "sources", "layouts",
                 "files", "profiles")

# In the order of Debian's releases: only the larger one is left in newer ones.
OVMF = ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_CODE.fd")


# What a step starts and mounts ends with it, and with this process, also by SIGKILL.
APART = ("setpriv", "--pdeathsig", "KILL", "unshare", "-mpf", "--kill-child", "--mount-proc")


class PrepareError(Exception):
    """The guest cannot be made on this machine."""


def use(release):
    """Whatever is made in this process from now on is of that release of Debian."""
    global DIST
    os.environ["DIST"] = DIST = release
    full_disk.cache_clear()
    basics.cache_clear()


def suite():
    return "vm" if DIST == "bookworm" else f"vm-{DIST}"


def logs():
    """The directory for what this process' guests say."""
    return LOGS[DIST]


def say(text):
    print(f"# {text}", flush=True)


def _step(what, *command, image=""):
    """Run a script; its standard output is a result, its errors are shown.

    image: the directory of the disks.
    """
    begin = time.monotonic()
    os.makedirs(cache.DIRECTORY, exist_ok=True)
    environment = {**os.environ, "RAILHEAD_VM_CACHE": cache.DIRECTORY, "RAILHEAD_VM_IMAGE": image}
    if os.geteuid() == 0:
        command = APART + command
    try:
        done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, text=True, env=environment)
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
        host.need_disk(cache.DIRECTORY, first=not os.path.exists(cache.DIRECTORY))
        host.need_disk(logs(), first=False)
    except host.HostError as error:
        raise PrepareError(str(error))
    atexit.register(cache.trim, time.time())


@functools.lru_cache(maxsize=None)
def qemu():
    return _last_line(_step("QEMU", os.path.join(HERE, "get-qemu")))


@functools.lru_cache(maxsize=None)
def _packages_of_machine():
    return _step("railhead packages", os.path.join(TOP, "packaging/deb/build")).split()


def packages():
    """The packages of this tree, built in the guest's release if need be, or built elsewhere."""
    ready = os.environ.get("RAILHEAD_VM_DEB")
    if ready:
        say(f"railhead packages: {ready}")
        return ready.split()
    built = _packages_of_machine()
    return _packages_of_release(built) if DIST in OLDER else built


def _packages_of_release(built):
    """built: those of this machine, which are others whenever the tree is another one."""
    parts = [DIST]
    for path in [os.path.join(HERE, name) for name in ("build-packages", "sources")] + built:
        parts += _contents(path)
    key = cache.digest(*parts)
    place = cache.find("packages", key)
    if not place:
        with cache.making("packages", key) as part:
            _step(f"railhead packages, built in {DIST}", os.path.join(HERE, "build-packages"), part)
        place = cache.find("packages", key)
    return sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".deb"))


def _contents(path):
    """Names, modes and contents of a file or of all files below a directory."""
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            yield from _contents(os.path.join(path, name))
        return
    yield f"{os.path.relpath(path, HERE)} {os.stat(path).st_mode & 0o111}"
    with open(path, "rb") as text:
        yield text.read()


def image(debs):
    """The disk of a guest with these packages; the disks of other layouts come beside it."""
    parts = [DIST]
    for path in [os.path.join(HERE, name) for name in IMAGE_SOURCES] + debs:
        parts += _contents(path)
    key = cache.digest(*parts)
    place = cache.find("image", key)
    if not place:
        with cache.making("image", key) as part:
            _step("disk image", os.path.join(HERE, "build-image"), *debs, image=part)
        place = cache.find("image", key)
    with open(os.path.join(place, "base")) as name:
        cache.find("base", name.read().strip().removeprefix("base-") + ".tar")  # used, too
    return os.path.join(place, "disk.img")


def payload(disk):
    """What cases bring into the guest with this disk."""
    return _last_line(_step("what the cases bring along", os.path.join(HERE, "get-extras"),
                            image=os.path.dirname(disk)))


def _kvm_boots(qemu_dir, disk):
    """Does a stock kernel get as far as looking for its root under KVM?

    Nested or half-blocked KVM opens well, and hangs later: so try. A kernel
    without a root device panics, and panic=-1 makes QEMU end.
    """
    command = [os.path.join(qemu_dir, "bin/qemu-system-x86_64"),
               "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
               "-machine", "q35", "-accel", "kvm", "-m", "512", "-serial", "stdio",
               "-kernel", os.path.join(os.path.dirname(disk), "vmlinuz"),
               "-append", "console=ttyS0 panic=-1"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=15)
    except subprocess.TimeoutExpired:
        return False
    return b"Unable to mount root" in done.stdout


def accelerator(qemu_dir, disk):
    """KVM where it really works, else emulation. The answer is kept."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg,thread=multi"
    with open(os.path.join(cache.DIRECTORY, "accelerator"), "a+") as answer:
        fcntl.flock(answer, fcntl.LOCK_EX)  # one process tries, and the others wait for its answer
        answer.seek(0)
        found = answer.read()
        if not found:
            found = "kvm" if _kvm_boots(qemu_dir, disk) else "tcg,thread=multi"
            answer.write(found)
        return found


@functools.lru_cache(maxsize=None)
def full_disk():
    """The disk of the guests with full hardware, which the other layouts are made from."""
    return image(packages())


@functools.lru_cache(maxsize=None)
def basics():
    """What every guest is made from: QEMU's directory, the disk, the accelerator."""
    qemu_dir = qemu()
    accel = accelerator(qemu_dir, full_disk())
    say(f"guest: {DIST}, {qemu_version(qemu_dir)}, {accel}")
    return qemu_dir, full_disk(), accel


def main_guest(directory, with_payload=True):
    """Build what is missing; returns a guest that is ready to start."""
    qemu_dir, disk, accel = basics()
    return Guest(qemu_dir, accel, disk, directory, payload=payload(disk) if with_payload else None)


def _layouts(*names):
    """The directory with the disks of these guests (LAYOUTS)."""
    place = os.path.dirname(full_disk())
    missing = {LAYOUTS[name][0] for name in names} - set(os.listdir(place))
    if missing:
        _step("disks with other layouts", os.path.join(HERE, "build-layouts"), *sorted(missing),
              image=place)
    return place


# The files that a guest's own drives of EFI guests are.
VARIABLES, STRANGER = "efi-variables.qcow2", "stranger.qcow2"


def ovmf(qemu_dir, directory):
    """EFI firmware, with variables of the guest's own."""
    source = next((path for path in OVMF if os.path.exists(path)), None)
    if source is None:
        raise PrepareError(f"no EFI firmware: {' and '.join(OVMF)} are not there")
    variables = os.path.join(directory, VARIABLES)
    subprocess.run([os.path.join(qemu_dir, "bin/qemu-img"), "convert", "-f", "raw", "-O", "qcow2",
                    source.replace("_CODE", "_VARS"), variables], check=True)
    return ["-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={source}",
            "-drive", f"if=pflash,unit=1,format=qcow2,file={variables}"]


# The disk of each guest with another layout, and whether it starts by EFI.
LAYOUTS = {
    "bootdir": ("layouts.img", False),
    "trials": ("layouts.img", False),
    "trials-more": ("layouts.img", False),
    "bricked": ("layouts.img", False),
    "offline": ("layouts.img", False),
    "efi": ("layouts.img", True),
    "cores": ("layouts.img", False),
    "p2p": ("layouts.img", False),
    "xfs": ("xfs.img", False),
    "lvm": ("lvm.img", True),
    "lvm-bios": ("lvm.img", False),
    "initramfs-tools": ("initramfs-tools.img", False),
}


def layout(name, directory):
    """A guest with another layout of its disk (LAYOUTS)."""
    qemu_dir, _, accel = basics()
    disks = _layouts(name)
    os.makedirs(directory, exist_ok=True)
    image_name, efi = LAYOUTS[name]
    hardware = small_hardware() + (ovmf(qemu_dir, directory) if efi else [])
    files = [VARIABLES] if efi else []
    if name == "cores":
        hardware += threaded_cores()
    if name == "p2p":
        hardware += switch_with_acs()
    if name == "efi":
        stranger = os.path.join(directory, STRANGER)
        make_overlay(qemu_dir, os.path.join(disks, "stranger.img"), stranger)
        hardware += other_disk(stranger)
        files += [STRANGER]
    made = Guest(qemu_dir, accel, os.path.join(disks, image_name), directory, hardware=hardware,
                 files=files)
    if name == "offline":
        made.disk_device = SLOT_DISK
    return made


# The layout of each guest whose power is cut, and where railhead.env is there: the number
# of the partition, and the path on it.
CUTS = {
    "cut-ext4": ("bootdir", (2, "/boot/grub/railhead.env")),
    "cut-xfs": ("xfs", (1, "/grub/railhead.env")),
    "cut-vfat": ("efi", (1, "/EFI/railhead/20070000-7261-696c-6865-616400000006/railhead.env")),
}


def cut_guest(name, directory):
    qemu_dir, _, accel = basics()
    layout_name, env = CUTS[name]
    disks = _layouts(layout_name)
    os.makedirs(directory, exist_ok=True)
    image_name, efi = LAYOUTS[layout_name]
    hardware = small_hardware() + (ovmf(qemu_dir, directory) if efi else [])
    return CutGuest(qemu_dir, accel, os.path.join(disks, image_name), directory,
                    hardware=hardware, env=env, moves=layout_name == "xfs")


def disks_of(names):
    """Build what the guests with these names are made from besides full_disk()."""
    if {MAIN, DEVICES, "trials-more"} & set(names):
        payload(full_disk())
    _layouts(*(CUTS[name][0] if name in CUTS else name
               for name in names if name not in (MAIN, DEVICES)))


def can_be_built_side_by_side(names):
    """The names of guests in rows: disks_of() may be called for one row beside others, and in each
    row for one list of names after the other. The first ones are what most guests wait for.
    """
    full = [name for name in names if name in (MAIN, DEVICES)]
    small = [name for name in names if name not in full]
    first = [name for name in small if LAYOUTS[CUTS.get(name, (name,))[0]][0] == "layouts.img"]
    rows = [[full], [first, [name for name in small if name not in first]]]
    return [[part for part in row if part] for row in rows if any(row)]


def guest(name, directory):
    """The guest that cases are declared for (harness.py)."""
    if name in CUTS:
        return cut_guest(name, directory)
    return main_guest(directory) if name in (MAIN, DEVICES) else layout(name, directory)


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
