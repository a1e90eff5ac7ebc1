"""What a guest wrote to its disk, write by write: the log of QEMU's blklogwrites filter.

The format is that of the kernel's dm-log-writes (Documentation/admin-guide/device-mapper/
log-writes.rst): after a first sector, entries of one sector each that tell where and what
was written, each followed by the data. An entry is there before the guest hears that its
write is done.
"""

import collections
import os
import struct

SECTOR = 512
_FLUSH, _DISCARD = 1, 4

# A write of data at offset; or, with flush, the end of all writes before it; or neither.
Entry = collections.namedtuple("Entry", "offset data flush")


class WriteLog:
    """A log that QEMU may still be writing to."""

    def __init__(self, path):
        self.path = path
        self._position = SECTOR

    def read(self):
        """The entries since the last call."""
        entries = []
        with open(self.path, "rb") as log:
            size = os.fstat(log.fileno()).st_size
            while True:
                log.seek(self._position)
                header = log.read(SECTOR)
                if len(header) < SECTOR or not any(header[:32]):
                    return entries  # not written yet
                sector, count, flags, _ = struct.unpack("<4Q", header[:32])
                length = 0 if flags & _DISCARD else count * SECTOR
                end = self._position + SECTOR + length
                if end > size:
                    return entries
                entries.append(Entry(sector * SECTOR, log.read(length), bool(flags & _FLUSH)))
                self._position = end
