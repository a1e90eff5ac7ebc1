"""The gate with stand-ins for NVIDIA's libraries (tests/gpu): two igb stand in the place of GPUs.

The kernel's log, soft-RoCE and the children of the gate are real; no GPU is. What the gate makes
of faults, and of a library that hangs, is in tests/gate_gpu.bats.
"""

import json

from harness import DEVICES_SNAPSHOT, case, contains, equal, exits, status_json

from cases.rdma import _soft_roce
from cases.sriov import APPLY, HEAD, NICS, PROFILE

LIB = "/usr/lib/x86_64-linux-gnu"
A, B = NICS

GATE = HEAD + """devices:
  gpus: {pci: "8086:10c9", expect: 2}
gate:
  budget: 120s
  checks:
    health: {run: gpu_health, on: gpus}
    xid: {run: gpu_xid, on: gpus}
    copy: {run: gpu_copy, on: gpus, min: 1GB/s, timeout: 50s}
    peer: {run: gpu_peer, on: gpus, min: 1GB/s, timeout: 50s}
    direct: {run: gpu_rdma, on: gpus, with: gpus, min: 1MB/s, size: 64K, timeout: 50s}
"""

HEALTHY = f"""{A} gpu 1
{B} gpu 0
{A} {B} 2000000000
{B} {A} 2000000000
"""


XID = "NVRM: Xid (PCI:{}): 79, GPU has fallen off the bus"


def _forge(vm, address):
    """What others can write into the kernel's log: root, and a user by the name of a library."""
    xid = XID.format(address[:-2])
    vm.sh(f"echo '{xid}' >/dev/kmsg")
    vm.sh("mkdir -m 755 /tmp/forge && cp /lib/x86_64-linux-gnu/libc.so.6 "
          f"'/tmp/forge/{xid}' && ln -s '{xid}' /tmp/forge/libc.so.6")
    # strlen(3) of the address 1
    vm.sh("setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --bounding-set=-all "
          "env LD_LIBRARY_PATH=/tmp/forge perl -e 'unpack(\"p\", pack(\"J\", 1))' || :")
    contains("dmesg", vm.sh("dmesg"), f" in {xid}")


@case(DEVICES_SNAPSHOT, "the gate with stand-ins of GPUs is ready; one writes through soft-RoCE, and a forged Xid is none")
def gate(vm):
    _soft_roce(vm, *NICS)
    vm.sh(f"cp /run/payload/lib*.so.1 {LIB}/ && ldconfig")
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{GATE}PROFILE\nrailhead check {PROFILE} && {APPLY}", 180)
    vm.sh(f"cat >{LIB}/node <<'MODEL'\n{HEALTHY}MODEL")
    _forge(vm, A)
    exits(vm, "railhead gate --again 2>&1", 0, 180)
    status = status_json(vm)
    equal("verdict", status["verdict"], "ready")
    shown = json.dumps(status)
    for nic in NICS:
        contains("status", shown, f"gate/copy/{nic}", f"gate/health/{nic}", f"gate/xid/{nic}")
    contains("status", shown, f"gate/peer/{A}-{B}", '"path": "peermem"', '"d2h"', '"setup_ms"')
    # what the log loses after it was read is no loss; what it loses before is
    exits(vm, "railhead gate --recheck 2>&1", 0, 60)
    vm.sh("sysctl -q kernel.printk_devkmsg=on && seq -f '<7>%.f fills the ring' 20000 | "
          "while read -r line; do echo \"$line\" >/dev/kmsg; done", 180)
    exits(vm, "railhead gate --recheck 2>&1", 0, 60)
    equal("verdict", status_json(vm)["verdict"], "ready")
    exits(vm, "railhead gate --again 2>&1", 7, 180)
    contains("status", json.dumps(status_json(vm)), "RH-GATE-LOG-LOST", "records of its log")
