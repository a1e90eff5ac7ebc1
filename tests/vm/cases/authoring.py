"""What an author does on a real node: survey it, capture it, draft a profile from it."""

import json

from harness import SNAPSHOT, case, contains, equal, expect

PROFILE = "/etc/railhead/profiles/vm-bench.yaml"


def _changes(vm, options):
    """What a plan sees of /proc and /sys: a snapshot holds no boot partition and no drop-ins.
    And what it sees of the boot's figures, which a snapshot does not hold either."""
    out = vm.run(f"railhead verify --json --profile {PROFILE} {options}", 120).output
    seen = [c for c in json.loads(out)["changes"]
            if c["kind"] not in ("bootenv", "file", "netlink", "module", "mount")
            and c["id"] != "kernel_args/loader"]  # of /boot, which is not captured
    return ([(c["id"], c["state"], c.get("observed")) for c in seen if c["kind"] != "benchmark"],
            [(c["id"], c["state"], "observed" in c) for c in seen if c["kind"] == "benchmark"])


@case(SNAPSHOT, "survey says of the PCI functions what lspci says, and of the CPUs what lscpu says")
def survey_agrees(vm):
    found = json.loads(vm.sh("railhead survey --json"))
    ours = sorted((f["address"], f["vendor"], f["device"]) for f in found["pci"])
    theirs = sorted((line.split()[0], *line.split()[2].split(":"))
                    for line in vm.sh("lspci -Dn").splitlines())
    equal("functions", ours, theirs)
    nodes = vm.sh("lscpu | sed -n 's/^NUMA node(s): *//p'")
    equal("NUMA nodes", str(len(found["numa_nodes"])), nodes.strip())


@case(SNAPSHOT, "a snapshot gives the same answers as the node, and no MAC, UUID or boot id")
def snapshot_is_the_node(vm):
    vm.sh("railhead survey --snapshot /tmp/node.tar 2>/dev/null")
    captured, figures = _changes(vm, "--root /tmp/node.tar")
    equal("verify", captured, _changes(vm, "")[0])
    nodes = ("gate/memory/node0", "gate/memory/node1")
    equal("figures of a snapshot", figures, [(node, "to measure", False) for node in nodes])
    equal("figures of the node", _changes(vm, "")[1], [(node, "same", True) for node in nodes])
    # the command line is the one thing shown that holds a UUID
    survey = "railhead survey {} | grep -v ^arguments"
    equal("survey", vm.sh(survey.format("--root /tmp/node.tar")), vm.sh(survey.format("")))
    uuid = vm.sh("sed 's/.*root=UUID=\\([^ ]*\\).*/\\1/' /proc/cmdline")
    macs = vm.sh("cat /sys/class/net/*/address | sort -u | grep -v 00:00:00:00:00:00")
    for secret in macs.split() + [uuid, vm.sh("cat /proc/sys/kernel/random/boot_id")]:
        expect(vm.run(f"tar xOf /tmp/node.tar | grep -qaiF {secret}").status != 0,
               f"{secret} is in the snapshot")


@case(SNAPSHOT, "a drafted profile passes check, matches, and leaves all but our own args alone")
def draft_holds(vm):
    vm.sh("railhead draft starter >/tmp/starter.yaml 2>/dev/null")
    vm.sh("railhead check /tmp/starter.yaml")
    equal("match", vm.sh("railhead match /tmp/starter.yaml").strip(), "starter")
    contains("starter.yaml", vm.sh("cat /tmp/starter.yaml"),
             '  rails: {pci: "8086:10c9", link: ethernet, expect: 2}',
             "  rails: {vfs: 2, vf: {driver: netdev}}",
             "  - {size: 1G, nodes: {0: 1, 1: 1}, at: runtime}")
    plan = json.loads(vm.run("railhead plan --json --profile /tmp/starter.yaml", 120).output)
    pending = [c["id"] for c in plan["changes"]
               if c["state"] not in ("same", "unsupported", "to measure")]
    equal("pending", [i for i in pending if not i.startswith("kernel_args/")], [])
