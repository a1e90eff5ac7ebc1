#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The PCI core's part in SR-IOV, over a directory tree: see fakenode.bash.

A non-zero sriov_numvfs gets its virtfn links; after a write to drivers_probe each VF that is
there gets a driver, and with it a netdev that udev has named (not the written address alone,
because of writes side by side a file keeps the last). With a number, each PF has so many VFs with their driver, and that is all.
"""

import os
import re
import sys
import time

ROOT = sys.argv[1]
DEVICES = os.path.join(ROOT, "sys/devices/pci0000:00")
BUS = os.path.join(ROOT, "sys/bus/pci")
DRIVER = "/sys/bus/pci/drivers/mlx5_core"


def read(path):
    with open(path) as file:
        return file.read().strip()


def vf_address(pf, index):
    """The functions behind the PF, one by one."""
    bus, device, function = pf[:-5], int(pf[-4:-2], 16), int(pf[-1], 16)
    number = device * 8 + function + index + 1
    return f"{bus}:{number // 8:02x}.{number % 8}"


def create_vf(pf, index):
    address = vf_address(pf, index)
    device = os.path.join(DEVICES, address)
    os.makedirs(device, exist_ok=True)
    with open(os.path.join(device, "class"), "w") as file:
        file.write("0x020000\n")
    with open(os.path.join(device, "modalias"), "w") as file:
        file.write("pci:v000015B3d0000101Esv000015B3sd00000023bc02sc00i00\n")
    os.symlink(f"../{pf}", os.path.join(device, "physfn"))
    os.symlink(f"../../../devices/pci0000:00/{address}", os.path.join(BUS, "devices", address))
    os.symlink(f"../{address}", os.path.join(DEVICES, pf, f"virtfn{index}"))


def create_vfs():
    for pf in os.listdir(DEVICES):
        path = os.path.join(DEVICES, pf)
        numvfs = os.path.join(path, "sriov_numvfs")
        if not os.path.exists(numvfs):
            continue
        have = sum(name.startswith("virtfn") for name in os.listdir(path))
        for index in range(have, int(read(numvfs) or 0)):
            create_vf(pf, index)


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text + "\n")


def create_netdev(address):
    index = 100 + len(os.listdir(os.path.join(ROOT, "run/udev/data")))
    net = os.path.join(DEVICES, address, "net", f"eth{index}")
    put(os.path.join(net, "ifindex"), str(index))
    put(os.path.join(net, "flags"), "0x1002")
    os.symlink(
        f"../../devices/pci0000:00/{address}/net/eth{index}",
        os.path.join(ROOT, "sys/class/net", f"eth{index}"),
    )
    put(os.path.join(ROOT, f"run/udev/data/n{index}"), "I:1")


def is_vf(address):
    return os.path.islink(os.path.join(DEVICES, address, "physfn"))


def bind(text):
    for address in re.findall(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", text):
        link = os.path.join(DEVICES, address, "driver")
        if os.path.isdir(os.path.dirname(link)) and not os.path.islink(link):
            os.symlink(DRIVER, link)
            create_netdev(address)


def main():
    probe = os.path.join(BUS, "drivers_probe")
    while os.path.isdir(DEVICES):
        create_vfs()
        if os.stat(probe).st_size:
            os.truncate(probe, 0)  # before: a write from now on is seen in the next round
            bind(" ".join(a for a in os.listdir(DEVICES) if is_vf(a)))
        time.sleep(0.01)


def made(numvfs):
    """As a boot has left it."""
    for pf in os.listdir(DEVICES):
        if os.path.exists(os.path.join(DEVICES, pf, "sriov_totalvfs")):
            put(os.path.join(DEVICES, pf, "sriov_totalvfs"), str(max(8, numvfs)))
            put(os.path.join(DEVICES, pf, "sriov_numvfs"), str(numvfs))
            put(os.path.join(DEVICES, pf, "sriov_drivers_autoprobe"), "0")
            create_vfs()
            bind(" ".join(vf_address(pf, index) for index in range(numvfs)))


if len(sys.argv) > 2:
    made(int(sys.argv[2]))
else:
    main()
