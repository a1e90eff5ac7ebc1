"""Runs that must not alter the machine, seen by strace."""

import re

from harness import SNAPSHOT, case, equal, expect, json_of, leave_devices

# Everything that could change a file, and the calls that change the machine
# without one. -y shows what a descriptor stands for.
TRACE = ("strace -f -y -qq -s 256 -o /run/trace -e trace=open,openat,openat2,creat,"
         "truncate,ftruncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,"
         "rmdir,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,chown,fchown,lchown,"
         "fchownat,mknod,mknodat,mount,umount2,move_mount,fsmount,open_tree,init_module,"
         "finit_module,delete_module,reboot,sendto,sendmsg,sendmmsg")
OPENS = ("open", "openat", "openat2", "creat")
SENDS = ("sendto", "sendmsg", "sendmmsg")


def traced(vm, command, timeout=120):
    """Run a command under strace; returns its successful calls, as text."""
    vm.sh(f"{TRACE} {command} >/run/traced.out 2>&1 ||"
          " { status=$?; cat /run/traced.out; exit $status; }", timeout)
    lines = [re.sub(r"^\d+ +", "", line) for line in vm.read("/run/trace").splitlines()]
    calls = [line for line in lines if re.match(r"\w+\(.*\) += +\d", line)]
    expect(calls, "strace saw no call at all")
    return calls


def _writes(call):
    name = call.split("(")[0]
    if name in SENDS:
        return False
    if name in OPENS:
        return bool(re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", call)
                    or name == "creat") and "</dev/null>" not in call
    return True


def writes(calls):
    """The calls that may write: opens for writing, changes of names, modules."""
    return [call for call in calls if _writes(call)]


def netlink_changes(calls):
    return [call for call in calls if call.split("(")[0] in SENDS
            and re.search(r"RTM_(SET|NEW|DEL)|DEVLINK_CMD_\w*SET", call)]


@case(SNAPSHOT, "a second apply writes nothing outside /run/railhead")
def second_apply_is_quiet(vm):
    vm.sh("railhead apply", 120)
    calls = traced(vm, "railhead apply")
    equal("writes outside /run/railhead",
          [call for call in writes(calls) if "/run/railhead" not in call], [])
    equal("netlink changes", netlink_changes(calls), [])


@case(SNAPSHOT, "plan opens nothing for writing")
def plan_is_quiet(vm):
    calls = traced(vm, "railhead plan")
    equal("writes", writes(calls), [])
    equal("netlink changes", netlink_changes(calls), [])


@case(SNAPSHOT, "plan says converged after the boot")
def plan_converged(vm):
    said = vm.sh("railhead plan", 120)
    expect("converged" in said, f"railhead plan says:\n{said}")


@case(SNAPSHOT, "the ids of plan are the ids of verify after apply")
def same_ids(vm):
    leave_devices(vm)
    vm.sh("for pf in 0000:41:00.0 0000:81:00.0; do"
          " echo 0 >/sys/bus/pci/devices/$pf/sriov_numvfs; done;"
          " echo 60 >/proc/sys/vm/swappiness", 120)
    planned = _ids(json_of(vm, "railhead plan --json", (5,)))
    vm.sh("railhead apply", 180)
    verified = _ids(json_of(vm, "railhead verify --json", (0,)))
    equal("planned and not verified", sorted(planned - verified), [])
    equal("verified and not planned", sorted(verified - planned), [])
    expect(planned, "no id at all")


def _ids(value):
    """All ids of changes, wherever they stand in what a verb prints."""
    if isinstance(value, list):
        return set().union(*[_ids(item) for item in value])
    if isinstance(value, dict):
        found = {value["id"]} if isinstance(value.get("id"), str) else set()
        return found.union(*[_ids(item) for item in value.values()])
    return set()
