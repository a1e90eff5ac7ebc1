"""CPUs of two NUMA nodes, with SMT siblings: one core of each stays, the others are isolated.

The guest "cores" has two sockets of two cores with two threads each. What stays is worked out here
from the guest's own sysfs, not from what railhead says.
"""

from cases.trials import PROFILE, power_cycle
from harness import case, contains, equal, exits, expect, json_of, state, status_json

CORES = "cores"
CPU = "/sys/devices/system/cpu"
KUBELET = "/var/lib/kubelet/config.yaml"


@state("cores2", guest=CORES)
def two_nodes(vm):
    vm.first_boot()


def _cpus(text):
    found = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def _kept(vm):
    """The first core of each node, by what the kernel shows."""
    kept = set()
    for node in _cpus(vm.read("/sys/devices/system/node/has_cpu")):
        first = min(_cpus(vm.read(f"/sys/devices/system/node/node{node}/cpulist")))
        kept |= _cpus(vm.read(f"{CPU}/cpu{first}/topology/thread_siblings_list"))
    return kept


@state("isolated", guest=CORES, after="cores2")
def isolated(vm):
    equal("CPUs that stay", len(_kept(vm)), 4)  # two nodes, two threads
    vm.sh(f"mkdir -p {KUBELET.rpartition('/')[0]} && cat >{KUBELET} <<'X'\n"
          "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
          "cpuManagerPolicy: static\nreservedSystemCPUs: 0,2\n"
          "topologyManagerPolicy: restricted\nX")
    # Eight emulated CPUs are more than the host has, so that no benchmark has its own.
    vm.sh(f"sed -i -e 's/^  set: .*/  isolate_cpus: {{keep: 1 per node}}\\n&/'"
          f" -e '/^gate:/,$d' {PROFILE}"
          f" && railhead check {PROFILE}", 60)
    exits(vm, "railhead gate", 8, 180)
    power_cycle(vm, 1)


def _arg(vm, key):
    """The CPUs of an argument of this boot, which has it once."""
    values = [arg.partition("=")[2] for arg in vm.seen["args"] if arg.startswith(f"{key}=")]
    equal(f"arguments {key}", len(values), 1)
    return _cpus(values[0])


@case("isolated", "one reboot more isolates all but the first core of each node, siblings together")
def kernel_isolates(vm):
    kept, all_cpus = _kept(vm), _cpus(vm.read(f"{CPU}/present"))
    equal("reboots", vm.seen["resets"], 1)
    for key, cpus in (("isolcpus", all_cpus - kept), ("nohz_full", all_cpus - kept),
                      ("irqaffinity", kept)):
        equal(key, _arg(vm, key), cpus)
    equal("CPUs that the kernel isolates", _cpus(vm.read(f"{CPU}/isolated")), all_cpus - kept)
    # Of kernel threads: the cpuset controller allows PID 1 and services all CPUs, isolcpus= or not.
    equal("CPUs of kernel threads", _cpus(vm.sh("taskset -pc 2").rpartition(":")[2]), kept)
    mask = int(vm.read("/sys/devices/virtual/workqueue/cpumask").replace(",", ""), 16)
    equal("CPUs of workqueues", {n for n in all_cpus if mask >> n & 1}, kept)


@case("isolated", "kubelet's configuration that disagrees is named, and the node is ready")
def kubelet_disagrees(vm):
    equal("verdict", status_json(vm)["verdict"], "ready")
    found = {change["id"]: change for change in json_of(vm, "railhead plan --json", (0, 5), 120)["changes"]}
    kubelet = found["kernel_args/isolate_cpus/kubelet"]
    equal("kubelet", (kubelet["state"], kubelet["on_fail"]), ("differs", "warn"))
    contains("reason", kubelet["reason"], f"{KUBELET}:4: reservedSystemCPUs", f"{PROFILE}:7")
    equal("isolated", found["kernel_args/isolate_cpus/isolated"]["state"], "same")
    # Debian 12 builds its kernel without CONFIG_NO_HZ_FULL, which then shows no file
    shown = vm.run(f"test -e {CPU}/nohz_full").status == 0
    equal("tickless", found["kernel_args/isolate_cpus/tickless"]["state"],
          "same" if shown else "unsupported")
    expect(found["kernel_args/isolate_cpus/workqueues"]["state"] == "same", "workqueues differ")
