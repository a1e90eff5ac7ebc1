"""What guests are made from and the states that they are kept in, by content: one cache for the
machine, whatever trees there are on it, of at most SIZE; what was used longest ago goes first.

Only the process that has its turn with the guests (host.take_turn) and those that it starts use
the cache.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile

GIB = 1 << 30
SIZE = 10 * GIB

DIRECTORY = os.path.abspath(
    os.environ.get("RAILHEAD_VM_CACHE")
    or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                    "railhead-vm"))


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        total.update(b"%d:" % len(data))
        total.update(data)
    return total.hexdigest()[:16]


def _path(kind, key):
    return os.path.join(DIRECTORY, f"{kind}-{key}")


def find(kind, key):
    """The directory or file of an entry, used from now on; None if there is none."""
    found = _path(kind, key)
    if not os.path.exists(found):
        return None
    os.utime(found)
    return found


@contextlib.contextmanager
def making(kind, key):
    """A directory to be filled, which becomes the entry; nothing comes of it by an exception."""
    os.makedirs(DIRECTORY, exist_ok=True)
    part = tempfile.mkdtemp(prefix="part-", dir=DIRECTORY)
    try:
        yield part
        try:
            os.rename(part, _path(kind, key))
        except OSError:
            if find(kind, key) is None:  # made meanwhile by another one
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _size(top):
    if not os.path.isdir(top):
        return os.stat(top).st_blocks * 512
    return sum(_size(entry.path) for entry in os.scandir(top) if not entry.is_symlink())


def trim(begin, size=SIZE):
    """At the end of a run that has begun then: remove what was used longest ago, until the rest is
    small enough, and unfinished parts. What states begin from counts as used after these.
    """
    if not os.path.isdir(DIRECTORY):
        return
    for entry in os.scandir(DIRECTORY):
        if entry.stat().st_mtime >= begin and not entry.name.startswith("state-"):
            os.utime(entry.path)
    entries = sorted(os.scandir(DIRECTORY), key=lambda entry: entry.stat().st_mtime, reverse=True)
    total = 0
    for entry in entries:
        total += _size(entry.path)
        if total > size or entry.name.startswith("part-"):
            remove(entry.path)
