"""Mounted file systems: the kernel's own table of mounts, hugetlbfs over both NUMA nodes, and NFS
over soft-RoCE from a server in the same guest."""

import json

from harness import (DEVICES_SNAPSHOT, case, contains, equal, eventually, exits, expect,
                     leave_devices, status_json)

from cases.rdma import _soft_roce
from cases.sriov import NICS

DROP_IN = "/etc/railhead/profiles/vm-bench.d/mounts.yaml"
FREE = "/sys/devices/system/node/node{}/hugepages/hugepages-{}kB/free_hugepages"
RESERVED = "/sys/kernel/mm/hugepages/hugepages-{}kB/resv_hugepages"
SERVER = "10.8.0.1"


def _profile(vm, mounts, **sections):
    text = json.dumps({"schema": 1, "mounts": mounts, **sections}, indent=1)
    vm.sh(f"mkdir -p {DROP_IN.rsplit('/', 1)[0]}; cat >{DROP_IN} <<'EOT'\n{text}\nEOT")


def _mounts(vm):
    """Of each mount point: type, source and options, as the kernel shows them."""
    return {fields[1]: (fields[2], fields[0], fields[3].split(","))
            for fields in (line.split() for line in vm.read("/proc/mounts").splitlines())}


def _mount_change(vm, path):
    said = vm.run("railhead verify --json", timeout=120).output
    found = [c for c in json.loads(said)["changes"] if c["id"] == f"mounts{path}"]
    equal(f"changes of {path}", len(found), 1)
    return found[0]


@case(DEVICES_SNAPSHOT, "mounts: hugetlbfs of two page sizes with pages reserved on both nodes, and a larger /dev/shm")
def memory(vm):
    _profile(vm, {
        "/dev/hugepages1G": {"type": "hugetlbfs", "pagesize": "1G", "size": "2G",
                             "min_size": "2G", "gid": 42, "mode": "1770"},
        "/dev/hugepages2M": {"type": "hugetlbfs", "pagesize": "2M", "min_size": "16M"},
        "/dev/shm": {"type": "tmpfs", "size": "96M"},
        "/mnt/scratch": {"type": "tmpfs", "size": "8M", "mode": "700"},
    }, **{"hugepages": [{"size": "1G", "per_node": 1, "at": "boot", "default": True},
                        {"size": "2M", "per_node": 4, "at": "runtime"}]})
    was = _mounts(vm)["/dev/shm"][2]
    exits(vm, "railhead apply", 0, 120)
    mounts = _mounts(vm)
    equal("types", [mounts[p][0] for p in ("/dev/hugepages1G", "/dev/hugepages2M", "/dev/shm",
                                           "/mnt/scratch")],
          ["hugetlbfs", "hugetlbfs", "tmpfs", "tmpfs"])
    for option in ("pagesize=1024M", "size=2147483648", "min_size=2147483648", "gid=42",
                   "mode=1770"):
        expect(option in mounts["/dev/hugepages1G"][2], f"{option}: {mounts['/dev/hugepages1G']}")
    expect("size=98304k" in mounts["/dev/shm"][2], mounts["/dev/shm"])
    equal("other options of /dev/shm", [o for o in mounts["/dev/shm"][2] if "size" not in o],
          [o for o in was if "size" not in o])
    equal("reserved pages", [vm.read(RESERVED.format(kb)) for kb in (1048576, 2048)], ["2", "8"])
    equal("their nodes", [vm.read(FREE.format(node, 1048576)) for node in (0, 1)], ["1", "1"])
    equal("mode of /mnt/scratch", vm.sh("stat -c %a /mnt/scratch").strip(), "700")
    equal("systemd's", vm.sh("systemctl is-active dev-hugepages1G.mount mnt-scratch.mount").split(),
          ["active", "active"])
    said = vm.sh("railhead apply 2>&1", 120)
    expect(" 0 set" in said and " 0 failed" in said, f"a second run: {said}")


@case(DEVICES_SNAPSHOT, "mounts: too few pages, a disk that is not there and a mount of another kind fail by name, in time")
def memory_faults(vm):
    vm.sh("mkdir -p /mnt/other && mount -t tmpfs -o size=1M none /mnt/other")
    _profile(vm, {
        "/dev/hugepages1G": {"type": "hugetlbfs", "pagesize": "1G", "min_size": "64G",
                             "timeout": "5s"},
        "/mnt/disk": {"type": "ext4", "what": "/dev/disk/by-label/nothing", "timeout": "3s"},
        "/mnt/maybe": {"type": "ext4", "what": "/dev/vdz", "timeout": "3s", "optional": True},
        "/mnt/other": {"type": "hugetlbfs", "pagesize": "1G"},
    })
    vm.sh("railhead apply >/run/said 2>&1; echo $? >/run/code", 300)
    equal("exit status of apply", vm.read("/run/code"), "6")
    states = {p: _mount_change(vm, p) for p in ("/dev/hugepages1G", "/mnt/disk", "/mnt/maybe",
                                                "/mnt/other")}
    for path in ("/dev/hugepages1G", "/mnt/disk"):
        equal(f"{path}: {states[path]}", states[path]["observed"], "not mounted")
    changes = [c for stage in status_json(vm)["stages"].values() for c in stage["changes"]]
    reasons = {c["id"]: c.get("reason", "") for c in changes}
    contains("why there is no disk", reasons["mounts/mnt/disk"],
             "/dev/disk/by-label/nothing is not there")
    contains("why there are no pages", reasons["mounts/dev/hugepages1G"].lower(), "memory")
    equal(f"optional: {states['/mnt/maybe']}", states["/mnt/maybe"]["state"], "unsupported")
    contains("another mount", vm.read("/run/said"), "is mounted with other settings: tmpfs")
    equal("/mnt/other", _mounts(vm)["/mnt/other"][0], "tmpfs")


# --- NFS --------------------------------------------------------------------

def _server(vm, rdma=True):
    """An NFS server at an address of the first NIC, and over RDMA where the device is there."""
    leave_devices(vm)
    vm.sh("mkdir -p /srv/export && echo data >/srv/export/file &&"
          " head -c 4M /dev/urandom >/srv/export/large")
    vm.sh(f"ip link set $(ls /sys/bus/pci/devices/{NICS[0]}/net) up &&"
          f" ip addr add {SERVER}/24 dev $(ls /sys/bus/pci/devices/{NICS[0]}/net)", 60)
    vm.sh("echo '/srv/export *(rw,no_root_squash,insecure,fsid=0,no_subtree_check)' >/etc/exports")
    vm.sh("systemctl start rpcbind.service nfs-server.service", 180)
    if rdma:
        vm.sh("modprobe rpcrdma && echo 'rdma 20049' >/proc/fs/nfsd/portlist", 60)


def _nfs(**keys):
    return {"/mnt/ai-data": {"type": "nfs", "what": f"{SERVER}:/", "vers": "4.2", "timeout": "120s",
                             **keys}}


@case(DEVICES_SNAPSHOT, "mounts: NFS over soft-RoCE is mounted with proto=rdma, and the gate measures it")
def nfs_rdma(vm):
    _soft_roce(vm, NICS[0])
    _server(vm)
    _profile(vm, _nfs(proto="rdma", port=20049, rsize="64K"),
             gate={"checks": {"data": {"run": "storage_read", "path": "/mnt/ai-data/large",
                                       "size": "64K", "min": "1MB/s", "on_fail": "warn"}}})
    exits(vm, "railhead apply", 0, 180)
    vm.sh("railhead gate >/run/said 2>&1 || true", 300)
    fs, source, options = _mounts(vm)["/mnt/ai-data"]
    equal("type and source", (fs, source), ("nfs4", f"{SERVER}:/"))
    for option in ("proto=rdma", "port=20049", "rsize=65536", "vers=4.2"):
        expect(option in options, f"{option} is not in {options}")
    equal("a file", vm.read("/mnt/ai-data/file"), "data")
    one = _mount_change(vm, "/mnt/ai-data")
    equal(f"{one}", one["state"], "same")
    gate = [m for m in status_json(vm)["measurements"] if m["check"] == "data"][0]
    equal(f"transport of {gate}", gate.get("detail", {}).get("transport"), "rdma")
    vm.sh("systemctl stop '/mnt/ai-data'", 60)
    # What the kernel drops without a word is seen: Linux 6.1 has one connection over RDMA.
    _profile(vm, _nfs(proto="rdma", port=20049, nconnect=2))
    vm.run("railhead apply >/run/said 2>&1", 300)
    eventually(vm, "mountpoint -q /mnt/ai-data")
    one = _mount_change(vm, "/mnt/ai-data")
    if "nconnect=2" in _mounts(vm)["/mnt/ai-data"][2]:
        equal(f"{one}", one["state"], "same")
    else:
        equal(f"{one}", (one["state"], one["observed"]), ("differs", "no nconnect"))
        contains("the reason", one["reason"], "ignores nconnect")
    vm.sh("systemctl stop '/mnt/ai-data'", 60)


def _waits(vm, mounts, words):
    _profile(vm, mounts)
    exits(vm, "railhead apply >/run/said 2>&1; railhead gate >/run/verdict 2>&1", 7, 600)
    status = status_json(vm)
    equal(f"verdict: {vm.read('/run/verdict')}", status["verdict"], "waiting")
    said = [r for r in status["reasons"] if r.startswith("mounts/mnt/ai-data: ")]
    equal(f"reasons: {status['reasons']}", len(said), 1)
    contains("the reason", said[0], "not mounted", *words)
    expect("/mnt/ai-data" not in _mounts(vm), "it is mounted")


@case(DEVICES_SNAPSHOT, "mounts: NFS over RDMA without a device, and where the server has TCP alone: why, in time; then it comes")
def nfs_waits(vm):
    _server(vm, rdma=False)
    _waits(vm, _nfs(proto="rdma", port=20049, timeout="60s"), ["no RDMA device"])
    _soft_roce(vm, NICS[0])
    _waits(vm, _nfs(proto="rdma", port=20049, timeout="60s"), ["rdma", "20049"])
    vm.sh("modprobe rpcrdma && echo 'rdma 20049' >/proc/fs/nfsd/portlist", 60)
    eventually(vm, "grep -q ' /mnt/ai-data nfs4 .*proto=rdma' /proc/mounts")
    vm.sh("systemctl stop '/mnt/ai-data'", 60)


@case(DEVICES_SNAPSHOT, "mounts: NFS at a wrong port is refused, and reported with the server's words in time")
def nfs_wrong_port(vm):
    _server(vm, rdma=False)
    _waits(vm, _nfs(proto="tcp", port=4711, timeout="60s"), ["refused", "4711"])
