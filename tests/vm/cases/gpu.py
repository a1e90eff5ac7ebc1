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


@case(DEVICES_SNAPSHOT, "the gate with stand-ins of GPUs is ready; one writes through soft-RoCE, and an application's Xid is no fault")
def gate(vm):
    _soft_roce(vm, *NICS)
    vm.sh(f"cp /run/payload/lib*.so.1 {LIB}/ && ldconfig")
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{GATE}PROFILE\nrailhead check {PROFILE} && {APPLY}", 180)
    vm.sh(f"cat >{LIB}/node <<'MODEL'\n{HEALTHY}MODEL")
    vm.sh(f"echo 'NVRM: Xid (PCI:{A[:-2]}): 31, pid=7, name=x, MMU Fault' >/dev/kmsg")
    exits(vm, "railhead gate --again 2>&1", 0, 180)
    status = status_json(vm)
    equal("verdict", status["verdict"], "ready")
    shown = json.dumps(status)
    for nic in NICS:
        contains("status", shown, f"gate/copy/{nic}", f"gate/health/{nic}", f"gate/xid/{nic}")
    contains("status", shown, f"gate/peer/{A}-{B}", '"path": "peermem"', '"d2h"', '"setup_ms"')
