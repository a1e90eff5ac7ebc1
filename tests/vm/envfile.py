"""railhead.env, read by the letter of src/kargs/env_layout.h."""

import collections
import os
import re

_HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/kargs/env_layout.h")

# What the next boot gets: args ("" for none), and whether they are on trial.
Meaning = collections.namedtuple("Meaning", "args trial")


class Damaged(Exception):
    """The file is not as railhead or GRUB leave it."""


def _layout():
    with open(_HEADER) as header:
        text = header.read()
    numbers = dict(re.findall(r"^#define (ENV_\w+) (\d+)$", text, re.M))
    fields = {name: (int(offset), int(numbers.get(width, width))) for name, offset, width in
              re.findall(r"^\s+X\(\w+, \"(\w+)\", (\d+), (\w+)\)", text, re.M)}
    return int(numbers["ENV_SIZE"]), fields


SIZE, FIELDS = _layout()
SECTOR = 512
COUNT = "railhead_begun"
SIGNATURE = b"# GRUB Environment Block\n"
# So begins the first sector of the file.
BEGINNING = SIGNATURE + b"railhead_good="


def parse(data):
    """The values by name, padding cut off; Damaged if a byte is where it can't be."""
    if len(data) != SIZE:
        raise Damaged(f"{len(data)} bytes instead of {SIZE}")
    frame = bytearray(b"#" * SIZE)
    frame[:len(SIGNATURE)] = SIGNATURE
    frame[SECTOR - 1:SECTOR] = b"\n"  # of the comment behind the selectors
    values = {}
    for name, (offset, width) in FIELDS.items():
        value = data[offset:offset + width]
        if not re.fullmatch(rb"[ !#%&(-\[\]-~]*", value):
            raise Damaged(f"{name} is {value!r}")
        values[name] = value.decode().rstrip(" ")
        line = name.encode() + b"=" + value + b"\n"
        frame[offset - len(name) - 1:offset + width + 1] = line
    wrong = [i for i in range(SIZE) if data[i] != frame[i]]
    if wrong:
        raise Damaged(f"byte {wrong[0]} is {data[wrong[0]]:#x}, and {len(wrong) - 1} others")
    for name, wanted in (("railhead_good", "[ab-]"), ("railhead_try", "[abt-]"),
                         ("railhead_layout", "1"), ("railhead_reboots", "[0-9]"),
                         (COUNT, "[0-2-]")):
        if not re.fullmatch(wanted, values[name]):
            raise Damaged(f"{name} is {values[name]!r}")
    return values


def meaning(values):
    armed = values["railhead_try"] in ("a", "b")
    slot = values["railhead_try"] if armed else values["railhead_good"]
    if not armed and values[COUNT] == "2":
        return Meaning("", False)  # GRUB leaves the args out
    return Meaning(values.get(f"railhead_{slot}", ""), armed)
