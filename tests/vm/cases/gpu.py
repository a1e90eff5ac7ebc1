"""The gate with stand-ins for NVIDIA's libraries (tests/gpu): two igb stand in the place of GPUs.

The kernel's log, soft-RoCE and the children of the gate are real; no GPU is.
"""

import json
import time

from harness import DEVICES_SNAPSHOT, case, contains, equal, exits, expect, status_json

from cases.rdma import _soft_roce
from cases.sriov import APPLY, HEAD, NICS, PROFILE

LIB = "/usr/lib/x86_64-linux-gnu"
A, B = NICS

GATE = HEAD + """devices:
  gpus: {pci: "8086:10c9", expect: 2}
gate:
  budget: 60s
  checks:
    health: {run: gpu_health, on: gpus}
    xid: {run: gpu_xid, on: gpus}
    copy: {run: gpu_copy, on: gpus, min: 1GB/s, timeout: 6s}
    peer: {run: gpu_peer, on: gpus, min: 1GB/s}
    direct: {run: gpu_rdma, on: gpus, with: gpus, min: 1MB/s, size: 64K}
"""

HEALTHY = f"""{A} gpu 1
{B} gpu 0
{A} {B} 2000000000
{B} {A} 2000000000
"""


def _model(vm, *lines):
    """What there is, and what is wrong with it."""
    text = HEALTHY + "".join(f"{line}\n" for line in lines)
    vm.sh(f"cat >{LIB}/node <<'MODEL'\n{text}MODEL")


def _gate(vm, status):
    start = time.monotonic()
    exits(vm, "railhead gate --again 2>&1", status, 180)
    return status_json(vm), time.monotonic() - start


def _blocked(vm, *words):
    status, took = _gate(vm, 7)
    equal("verdict", status["verdict"], "blocked")
    contains("reasons", "\n".join(status["reasons"]), *words)
    return status, took


@case(DEVICES_SNAPSHOT, "the gate with stand-ins of GPUs: ready, slow, faulty, hanging, waiting, and Xids of the kernel's log")
def gate(vm):
    _soft_roce(vm, *NICS)
    vm.sh(f"cp /run/payload/lib*.so.1 {LIB}/ && ldconfig")
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{GATE}PROFILE\nrailhead check {PROFILE} && {APPLY}", 180)
    _model(vm)
    vm.sh(f"echo 'NVRM: Xid (PCI:{A[:-2]}): 31, pid=7, name=x, MMU Fault' >/dev/kmsg")
    status, _ = _gate(vm, 0)
    equal("verdict", status["verdict"], "ready")
    shown = json.dumps(status)
    for nic in NICS:
        contains("status", shown, f"gate/copy/{nic}", f"gate/health/{nic}", f"gate/xid/{nic}")
    contains("status", shown, f"gate/peer/{A}-{B}", '"path": "peermem"', '"d2h"', '"setup_ms"')

    _model(vm, f"{A} d2h 500000000")
    status, _ = _blocked(vm, f"gpu_copy of {A}: measured", "wanted at least 1GB/s", "PCIe width")
    expect(f"gpu_copy of {B}" not in json.dumps(status["reasons"]), "the other one is blamed")

    _model(vm, f"{B} remap_pending 1", f"{B} width 8")
    _blocked(vm, f"gpu_health of {B}: a row of its memory waits to be remapped", "8 lanes of 16")

    # Both copies hang: each is ended at its deadline, and the others are told.
    _model(vm, "cuMemcpyHtoDAsync_v2 hangs 0", f"{A} uncorrected 2")
    status, took = _blocked(vm, f"gpu_copy of {A}: no result within 6000 ms; killed",
                            f"gpu_copy of {B}: no result within 6000 ms; killed",
                            f"gpu_health of {A}: 2 uncorrectable memory errors")
    expect(took < 40, f"a gate with two that hang took {took:.0f} s")
    equal("children that are left", vm.run("pgrep -c railhead-bench").output.strip(), "0")

    _model(vm, "cuMemHostAlloc crashes 0")
    _blocked(vm, f"gpu_copy of {A}: exit status 1; it said: gpu_copy: killed by signal 11")

    _model(vm, "cuInit fails 802")
    status, _ = _gate(vm, 7)
    contains("reasons", "\n".join(status["reasons"]), "nvidia-fabricmanager")

    _model(vm)
    vm.sh(f"echo 'NVRM: Xid (PCI:{A[:-2]}): 79, GPU has fallen off the bus.' >/dev/kmsg")
    _blocked(vm, f"gate/xid/{A}", "Xid 79, the GPU has fallen off the bus")
    said = exits(vm, "railhead verify --stage gate 2>&1", 5, 60)
    contains("railhead verify", said, "Xid 79")
    vm.sh(f"rm {LIB}/libcuda.so.1 {LIB}/libnvidia-ml.so.1")
    _blocked(vm, "libcuda.so.1: cannot open shared object file", "install NVIDIA's driver")
