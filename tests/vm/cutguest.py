"""A guest whose power is cut at moments that are known to the write.

QEMU runs on an overlay and logs each write (writelog.py). At a cut it is killed, and the
disk becomes what it was at the wanted moment: the writes up to there are put on a plain
copy of the image, and what came in the milliseconds until the kill is forgotten. A disk
with a cache of its own may lose what was not flushed yet: then, sector by sector, some is
on it and some is not. A sector is written whole or not at all.

While the writes are put on the copy, GRUB's own reader looks at railhead.env after each of
them, and once more with some of the unflushed ones lost: what it finds is judged.
"""

import json
import os
import random
import re
import subprocess
import time

import envfile
from vm import HANG, Guest, GuestError, make_overlay
from writelog import SECTOR, WriteLog


def partition(image, number):
    """Where a partition of an image begins and ends, and what GRUB calls it."""
    done = subprocess.run(["sfdisk", "--json", image], stdout=subprocess.PIPE, check=True)
    table = json.loads(done.stdout)["partitiontable"]
    entry = next(e for e in table["partitions"]
                 if re.fullmatch(rf".*\D{number}", e["node"]))
    begin = entry["start"] * SECTOR
    label = "msdos" if table["label"] == "dos" else table["label"]
    return begin, begin + entry["size"] * SECTOR, f"{label}{number}"


class Disk:
    """The plain copy, and what of it may not be on the medium yet."""

    def __init__(self, path):
        self.file = open(path, "r+b", buffering=0)
        self.unflushed = {}  # sector: all that it may hold, the newest last

    def apply(self, entry):
        if entry.flush:
            self.unflushed.clear()
        if not entry.data:
            return
        old = os.pread(self.file.fileno(), len(entry.data), entry.offset)
        os.pwrite(self.file.fileno(), entry.data, entry.offset)
        for at in range(0, len(entry.data), SECTOR):
            held = self.unflushed.setdefault(entry.offset + at, [old[at:at + SECTOR]])
            held.append(entry.data[at:at + SECTOR])

    def lose(self, chance):
        """Lose some of what is not flushed, as chance has it."""
        for offset, held in self.unflushed.items():
            os.pwrite(self.file.fileno(), chance.choice(held), offset)

    def regain(self):
        for offset, held in self.unflushed.items():
            os.pwrite(self.file.fileno(), held[-1], offset)


class CutGuest(Guest):
    """env: the number of railhead.env's partition, and the file's path on it; moves: a write to
    blocks that a copy shares goes to other blocks of the partition.
    """

    def __init__(self, *arguments, env, moves, **options):
        super().__init__(*arguments, **options)
        self.moves = moves
        number, self.env_path = env
        self.can_save = False  # its disk is a log, too
        self.begin, self.end, self.grub_name = partition(self.image, number)
        self.disk = os.path.join(self.directory, "disk.img")
        self.log_path = os.path.join(self.directory, "writes.log")
        self.chance = random.Random(os.path.basename(self.directory))
        self.env_at = None     # where the file lies
        self.env = None        # what is in it, as the guest wrote it
        self.seen = set()      # all that was ever in it
        self.life = None       # what the cases call this part of the guest's life
        self.found = {}        # (life, what GRUB's reader found): where first
        self.looks = 0         # how often it has looked

    # --- power ---------------------------------------------------------------

    def start(self):
        """From the base image, of which the disk is a copy."""
        if os.path.exists(self.console_path):
            os.unlink(self.console_path)
        subprocess.run(["cp", "--sparse=always", self.image, self.disk], check=True)
        self.power_on()

    def power_on(self, more=(), read_only=False):
        make_overlay(self.qemu, self.disk, self.overlay)
        with open(self.log_path, "wb"):
            pass
        self.writes = WriteLog(self.log_path)
        self.count = 0         # entries seen
        self.flushes = []      # their numbers
        self.kinds = []        # (kind, number) of each change of railhead.env
        self.begun = (0, None)  # the entry at which the life has changed, and from which
        self.begin_of_console = self.console_size()
        self._look_back()
        super().power_on(more, read_only)

    def _disk(self, read_only):
        if read_only:
            raise GuestError("this guest has no read-only disk")
        return [
            "-blockdev", f"file,node-name=log,filename={self.log_path},cache.no-flush=on",
            "-blockdev", "qcow2,node-name=overlay,cache.no-flush=on,file.driver=file,"
                         f"file.filename={self.overlay},file.cache.no-flush=on",
            "-blockdev", "blklogwrites,node-name=disk,file=overlay,log=log",
        ]

    def stop(self):
        super().stop()
        for path in (self.disk, self.log_path):
            if os.path.exists(path):
                os.unlink(path)

    def cut(self, entries, lose=False):
        """Cut the power after so many entries of the log, and look at all that led there."""
        self.power_cut()
        log = WriteLog(self.log_path).read()
        if entries > len(log):
            raise GuestError(f"the log has {len(log)} entries, {entries} were to be kept")
        disk = Disk(self.disk)
        with disk.file:
            for number, entry in enumerate(log[:entries]):
                disk.apply(entry)
                if entry.data and self.begin <= entry.offset < self.end:
                    life = self.life if number >= self.begun[0] else self.begun[1]
                    self._look(disk, life, f"after write {number} of the log")
            if lose:
                disk.lose(self.chance)

    # --- moments ---------------------------------------------------------------

    def begin_life(self, life):
        """What is awaited from here on, and what GRUB may find, is that of another life."""
        self.follow()
        self.begun = (self.count, self.life)
        self.life = life
        self.begin_of_console = self.console_size()

    def follow(self):
        """Read on in the log."""
        for entry in self.writes.read():
            if entry.flush:
                self.flushes.append(self.count)
            elif entry.data:
                kind = self._env_change(entry)
                if kind:
                    self.kinds.append((kind, self.count))
            self.count += 1

    def until(self, what, condition):
        """Wait until a condition is met that may look at all that follow() has found."""
        end = time.monotonic() + HANG
        next_look = 0
        while True:
            self.follow()
            result = condition()
            if result is not None:
                return result
            if time.monotonic() > next_look:
                self._check_way(what, end)
                next_look = time.monotonic() + 0.5
            time.sleep(0.002)

    def _check_way(self, what, end):
        self.check_alive()
        console = self.console(self.begin_of_console)
        # Another verdict than that of the gate which arms is told after its commit.
        if re.search("verdict: (?!waiting)", console) or time.monotonic() > end:
            raise GuestError(f"there was no {what}; changes of railhead.env: {self.kinds};"
                             f" the console ends with:\n{console[-3000:]}")

    def until_change(self, kind):
        """The number of the first entry that changes railhead.env so in this life."""
        def seen():
            return next((number for found, number in self.kinds
                         if found == kind and number >= self.begun[0]), None)
        return self.until(f"change of railhead.env ({kind})", seen)

    def until_flush(self, since):
        return self.until("a flush", lambda: next((n for n in self.flushes if n > since), None))

    def _env_change(self, entry):
        """What a write does to railhead.env: None, or the kind of change."""
        if self.env_at is None or self.moves:
            self._find_place(entry)
        if self.env_at is None:
            return None
        at = entry.offset - self.env_at
        if at >= envfile.SIZE or at + len(entry.data) <= 0:
            return None
        before = self.env
        after = bytearray(before or envfile.SIZE)
        skip = max(-at, 0)
        piece = entry.data[skip:envfile.SIZE - at]
        after[at + skip:at + skip + len(piece)] = piece
        self.env = bytes(after)
        self.seen.add(self.env)
        return _kind(before, self.env)

    def _find_place(self, entry):
        """A file that has moved is what it was before, but for this write."""
        for at in range(0, len(entry.data), SECTOR):
            if entry.data.startswith(envfile.BEGINNING, at):
                if self.env_at is None:
                    self.env = None
                self.env_at = entry.offset + at

    # --- what GRUB sees ----------------------------------------------------------

    def grub_reads(self):
        """railhead.env as GRUB's own code reads it from the copy, None if it can't."""
        done = subprocess.run(
            ["grub-fstest", self.disk, "cat", f"(loop0,{self.grub_name}){self.env_path}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout if done.returncode == 0 else None

    def _look(self, disk, life, where):
        self._find(life, where)
        if disk.unflushed:
            disk.lose(self.chance)
            self._find(life, where + ", some unflushed ones lost")
            disk.regain()

    def _find(self, life, where):
        self.looks += 1
        self.found.setdefault((life, self.grub_reads()), where)

    def _look_back(self):
        """What is in the file now, and where it is."""
        self.env = self.grub_reads()
        if self.env and len(self.env) == envfile.SIZE:
            with open(self.disk, "rb") as disk:
                if not self._is_at(disk, self.env_at):
                    self.env_at = self._search(disk)
        else:
            self.env_at = None  # it is found by the first write of its beginning

    def _is_at(self, disk, at):
        return at is not None and os.pread(disk.fileno(), envfile.SIZE, at) == self.env

    def _search(self, disk):
        """A copy of the file that was made before its last change has other contents."""
        at = self.begin
        while True:
            try:
                at = os.lseek(disk.fileno(), at, os.SEEK_DATA)
            except OSError:
                return None
            end = os.lseek(disk.fileno(), at, os.SEEK_HOLE)
            found = os.pread(disk.fileno(), min(end, self.end) - at, at).find(self.env)
            if found >= 0 or end >= self.end:
                return at + found if found >= 0 else None
            at = end


def _kind(before, after):
    if before is None:
        return "create"
    old, new = (_selectors(text) for text in (before, after))
    if new["good"] != old["good"]:
        return "commit"
    if new["try"] != old["try"]:
        return {"t": "taken", "-": "disarm"}.get(new["try"], "arm")
    if before[envfile.SECTOR:] != after[envfile.SECTOR:]:
        return "slot"
    return "state" if before != after else None


def _selectors(text):
    return {name: text[envfile.FIELDS[f"railhead_{name}"][0]:][:1].decode("latin-1")
            for name in ("good", "try")}
