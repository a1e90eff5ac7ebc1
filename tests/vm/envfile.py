"""railhead.env, read by the letter of src/boot/env_layout.h."""

import collections
import os
import re

_HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/boot/env_layout.h")

# What the next boot gets: args ("" for none), and whether they are on trial.
Meaning = collections.namedtuple("Meaning", "args trial")


class Damaged(Exception):
    """The file is not as railhead or GRUB leave it."""


def _layout():
    with open(_HEADER) as header:
        text = header.read()
    fields = {name: (int(offset), int(width)) for name, offset, width in
              re.findall(r"^\s+X\(\w+, \"(\w+)\", (\d+), (\d+)\)", text, re.M)}
    slot = int(re.search(r"#define ENV_SLOT_SIZE (\d+)", text).group(1))
    for name in re.findall(r"^\s+X\(\w+, \"(\w+)\", \d+, ENV_SLOT_SIZE\)", text, re.M):
        offset = re.search(rf"\"{name}\", (\d+), ENV_SLOT_SIZE", text).group(1)
        fields[name] = (int(offset), slot)
    return int(re.search(r"#define ENV_SIZE (\d+)", text).group(1)), fields


SIZE, FIELDS = _layout()
# Absent until args are committed.
COUNT = "railhead_begun"
COUNT_LINE = FIELDS[COUNT][0] - len(COUNT + "=")
SIGNATURE = b"# GRUB Environment Block\n"
# So begins the first sector of the file.
BEGINNING = SIGNATURE + b"railhead_good="


def parse(data):
    """The values by name, padding cut off; Damaged if a byte is where it can't be."""
    if len(data) != SIZE:
        raise Damaged(f"{len(data)} bytes instead of {SIZE}")
    frame = bytearray(b"#" * SIZE)
    frame[:len(SIGNATURE)] = SIGNATURE
    values = {}
    for name, (offset, width) in FIELDS.items():
        if name == COUNT and data[COUNT_LINE:COUNT_LINE + 1] == b"#":
            continue
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
                         ("railhead_layout", "1"), ("railhead_deaths", "[0-9]+"),
                         (COUNT, "[0-3-]")):
        if not re.fullmatch(wanted, values.get(name, "-")):
            raise Damaged(f"{name} is {values[name]!r}")
    return values


def meaning(values):
    armed = values["railhead_try"] in ("a", "b")
    slot = values["railhead_try"] if armed else values["railhead_good"]
    if not armed and values.get(COUNT) == "2":
        return Meaning("", False)  # GRUB leaves the args out
    return Meaning(values.get(f"railhead_{slot}", ""), armed)
