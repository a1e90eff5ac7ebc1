"""The machine that the guests run on: one run at a time, and only what has room on it."""

import errno
import fcntl
import os
import shutil
import tempfile
import time

GIB = 1 << 30

# Resident at most, seen on both releases; the rest of a guest's memory is never touched.
LARGE, SMALL = 6 * GIB, 5 * GIB // 2
SPARE = 1 * GIB

# The cache as a first run leaves it, and what guests write.
DISK_FIRST, DISK = 11 * GIB, 3 * GIB

LOCK_WAIT_S = 5400


class HostError(Exception):
    """The guests have no room here."""


def _lock_directory():
    return "/run/lock" if os.access("/run/lock", os.W_OK) else tempfile.gettempdir()


def take_turn():
    """Wait until no other run has guests on this machine; none has until this process ends."""
    path = os.path.join(_lock_directory(), f"railhead-guests.{os.getuid()}")
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    end = time.monotonic() + LOCK_WAIT_S
    said = False
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise
        if not said:
            holder = os.pread(lock, 100, 0).decode(errors="replace").strip()
            print(f"# waiting for the guests of another run (PID {holder})", flush=True)
            said = True
        if time.monotonic() > end:
            raise HostError(f"another run has had its guests for {LOCK_WAIT_S // 60} minutes"
                            f" ({path}): end it first")
        time.sleep(1)
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)


def memory_available():
    with open("/proc/meminfo") as info:
        for line in info:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    raise HostError("/proc/meminfo has no MemAvailable")


def need_memory(bytes_needed):
    """A run that has no room for its largest guest does not begin."""
    available = memory_available()
    if bytes_needed + SPARE > available:
        raise HostError(f"a guest needs {bytes_needed / GIB:.1f} GB of memory and the machine"
                        f" another {SPARE / GIB:.0f}, of which {available / GIB:.1f} are available")


def need_disk(directory, first):
    """first: nothing has been built there yet."""
    needed = DISK_FIRST if first else DISK
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise HostError(f"the guests need {needed / GIB:.0f} GB of disk, and {directory} has"
                        f" {free / GIB:.1f} GB left (RAILHEAD_VM_CACHE names another place for the cache)")
