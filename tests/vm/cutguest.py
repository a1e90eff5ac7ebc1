"""A guest whose power is cut at moments that are known to the write.

One run is recorded: QEMU logs each write to the disk (writelog.py) and is killed at the
end. The disk of any moment is then a copy of the disk before the run with the writes up to
there put on it. A disk with a cache of its own may have lost what was not flushed yet: then,
sector by sector, some of it is there and some is not. A sector is written whole or not at
all.
"""

import json
import os
import random
import re
import subprocess

import envfile
from vm import Guest, GuestError
from writelog import SECTOR, WriteLog


def partition(image, number):
    """Where a partition of an image begins, and what GRUB calls it."""
    done = subprocess.run(["sfdisk", "--json", image], stdout=subprocess.PIPE, check=True)
    table = json.loads(done.stdout)["partitiontable"]
    entry = next(e for e in table["partitions"]
                 if re.fullmatch(rf".*\D{number}", e["node"]))
    label = "msdos" if table["label"] == "dos" else table["label"]
    return entry["start"] * SECTOR, f"{label}{number}"


class Disk:
    """A disk as it was at a moment, and what of it may not be on the medium yet."""

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
    """env: the number of railhead.env's partition, and the file's path on it."""

    def __init__(self, *arguments, env, **options):
        super().__init__(*arguments, **options)
        self.number, self.env_path = env
        self.before = os.path.join(self.directory, "before.img")
        self.moment = os.path.join(self.directory, "moment.img")
        self.log_path = os.path.join(self.directory, "writes.log")
        self.chance = random.Random(os.path.basename(self.directory))
        self.recording = False
        self.log = []     # of the recorded run
        self.changes = []  # (kind, number of the entry) of each change of railhead.env

    def stop(self):
        super().stop()
        for path in (self.before, self.moment, self.log_path):
            if os.path.exists(path):
                os.unlink(path)

    def _disk(self, read_only):
        if not self.recording:
            return super()._disk(read_only)
        return [
            "-blockdev", f"file,node-name=log,filename={self.log_path},cache.no-flush=on",
            "-blockdev", "qcow2,node-name=overlay,cache.no-flush=on,file.driver=file,"
                         f"file.filename={self.overlay},file.cache.no-flush=on",
            "-blockdev", "blklogwrites,node-name=disk,file=overlay,log=log",
        ]

    # --- the run that is recorded ----------------------------------------------

    def record(self):
        """Power on; all that is written from now on is recorded until end_record()."""
        subprocess.run([os.path.join(self.qemu, "bin/qemu-img"), "convert", "-O", "raw",
                        self.overlay, self.before], check=True)
        self._make_overlay(self.before)
        with open(self.log_path, "wb"):
            pass
        self.recording = True
        self.power_on()

    def end_record(self):
        self.power_cut()
        self.recording = False
        self.log = WriteLog(self.log_path).read()
        self.begin, self.grub_name = partition(self.before, self.number)
        self._find_changes()

    def _find_changes(self):
        at = None
        env = self.grub_reads(self.before)
        for number, entry in enumerate(self.log):
            if not entry.data:
                continue
            for offset in range(0, len(entry.data), SECTOR):
                if entry.data.startswith(envfile.BEGINNING, offset):
                    at = entry.offset + offset
            if at is None or not at - len(entry.data) < entry.offset < at + envfile.SIZE:
                continue
            after = bytearray(env)
            skip = max(at - entry.offset, 0)
            piece = entry.data[skip:skip + envfile.SIZE - max(entry.offset - at, 0)]
            begin = max(entry.offset - at, 0)
            after[begin:begin + len(piece)] = piece
            if after != env:
                self.changes.append((_kind(env, after), number))
            env = bytes(after)

    def change(self, kind):
        """The number of the entry that changes railhead.env so."""
        found = [number for name, number in self.changes if name == kind]
        if not found:
            raise GuestError(f"railhead.env was never changed so ({kind}): {self.changes}")
        return found[0]

    # --- moments ---------------------------------------------------------------

    def at(self, entries, lose):
        """The disk after so many entries of the log; what is not flushed may be lost."""
        subprocess.run(["cp", "--sparse=always", self.before, self.moment], check=True)
        disk = Disk(self.moment)
        with disk.file:
            for entry in self.log[:entries]:
                disk.apply(entry)
            if lose:
                disk.lose(self.chance)
        self._make_overlay(self.moment)

    def grub_reads(self, image):
        """railhead.env as GRUB's own code reads it from a disk, None if it can't."""
        done = subprocess.run(
            ["grub-fstest", image, "cat", f"(loop0,{self.grub_name}){self.env_path}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout if done.returncode == 0 else None

    def all_that_grub_reads(self, first, last):
        """What GRUB finds in railhead.env after each entry, with and without a loss.

        Yields where, and the bytes; each once.
        """
        self.at(first, False)
        disk, seen = Disk(self.moment), set()
        with disk.file:
            for number in range(first, last):
                disk.apply(self.log[number])
                if not self.log[number].data:
                    continue
                found = [(f"entry {number}", self.grub_reads(self.moment))]
                disk.lose(self.chance)
                found.append((f"entry {number}, with a loss", self.grub_reads(self.moment)))
                disk.regain()
                for where, text in found:
                    if text not in seen:
                        seen.add(text)
                        yield where, text


def _kind(before, after):
    old, new = (_selectors(text) for text in (before, after))
    if new["good"] != old["good"]:
        return "commit"
    if new["try"] != old["try"]:
        return {"t": "taken", "-": "disarm"}.get(new["try"], "arm")
    return "slot" if before[512:] != after[512:] else "state"


def _selectors(text):
    return {name: chr(text[envfile.FIELDS[f"railhead_{name}"][0]]) for name in ("good", "try")}
