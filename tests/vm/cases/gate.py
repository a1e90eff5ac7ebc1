"""Checks of a site's own in a boot whose gate blocks: 20 programs of which one hangs, and the
looks that need running units and real devices; and the limits of services and logins. The boot is
the one of reboots.blocked()."""

import json

from harness import case, contains, equal, exits, expect, status_json

DROP_IN = "/etc/railhead/profiles/vm-bench.d/gate-checks.yaml"
LOGINS = "/etc/security/limits.d/zz-railhead.conf"
HANGS_S = 2
MARK = "73001"

_GOOD = 'echo \'{"result": "measured", "value": 1}\''
# As whom it runs, whatever the unit of the gate is allowed.
_OWN_USER = ('[ "$(id -u)" -ge 61184 ] && [ "$(id -u)" -le 65519 ] && [ "$(id -G)" = "$(id -u)" ] && '
             f'grep -q "CapEff:.0000000000000000" /proc/self/status && {_GOOD}')
_HANGS = f"trap '' TERM; (setsid sleep {MARK} &); sleep {MARK} & wait; sleep {MARK}"


def _command(script, **keys):
    return {"run": "command", "command": ["/bin/sh", "-c", script], **keys}


def add_checks(vm):
    """The drop-in is JSON, which is YAML."""
    checks = {f"good{i}": _command(_GOOD) for i in range(18)}
    checks["hangs"] = _command(_HANGS, timeout=f"{HANGS_S}s")
    checks["own_user"] = _command(_OWN_USER)
    checks["memlock"] = {"run": "memlock", "limit": "64K",
                         "units": ["systemd-journald.service", "gated.service"]}
    checks["rdma"] = {"run": "rdma_link", "on": "rails", "timeout": "1s", "on_fail": "warn"}
    checks["errors"] = {"run": "pcie_errors", "on": "rails"}
    limits = {"memlock": "unlimited", "nofile": 262144, "nproc": "unlimited", "rtprio": 20}
    mounts = {"/mnt/memory": {"type": "tmpfs", "size": "1M"},
              # Version 3 would have mount.nfs start rpc.statd, for which systemd is reloaded.
              "/mnt/nobody": {"type": "nfs", "what": "127.0.0.1:/none", "options": "vers=4.2",
                              "optional": True}}
    text = json.dumps({"schema": 1, "limits": limits, "mounts": mounts,
                       "gate": {"checks": checks}}, indent=1)
    vm.sh(f"mkdir -p {DROP_IN.rsplit('/', 1)[0]}; cat >{DROP_IN} <<'EOT'\n{text}\nEOT")


def remove_checks(vm):
    """And what the sections beside them have written, which would fail the gate."""
    vm.sh(f"rm {DROP_IN}")
    exits(vm, "railhead apply", 0, 180)
    expect(vm.run(f"test -e {LOGINS}").status != 0, f"{LOGINS} is still there")


def _changes(vm):
    return {c["id"]: c for c in status_json(vm)["stages"]["gate"]["changes"]}


@case("blocked", "20 programs of a site of which one hangs: all are reported, the boot went on")
def twenty_checks(vm):
    found = {m["id"].split("/")[1]: m for m in status_json(vm)["measurements"]
             if m["id"].endswith("/command")}
    equal("checks", len(found), 20)
    for name, one in found.items():
        if name != "hangs":
            equal(f"state of {name}: {one.get('reason')}", one["state"], "same")
    equal("state of the one that hangs", found["hangs"]["state"], "failed")
    expect(f"no result within {HANGS_S * 1000} ms, so it was killed" in found["hangs"]["reason"],
           found["hangs"]["reason"])
    equal("what it left behind", vm.run(f"pgrep -fx 'sleep {MARK}'").output.strip(), "")
    equal("multi-user.target", vm.run("systemctl is-active multi-user.target").output.strip(),
          "active")


@case("blocked", "locked memory of units that run, RDMA ports and PCIe errors are looked at")
def looks(vm):
    changes = _changes(vm)
    running = changes["gate/memlock/systemd-journald.service"]
    equal(f"a running unit: {running}", (running["state"], running["observed"]), ("same", "64K"))
    waiting = changes["gate/memlock/gated.service"]
    equal(f"a unit that waits for the gate: {waiting}",
          (waiting["state"], waiting["observed"]), ("unsupported", "not running"))
    rails = [c for name, c in changes.items() if name.startswith("gate/rdma/")]
    equal("rails", len(rails), 2)
    for one in rails:
        expect("igb has made no RDMA device" in one["reason"], one)
    for name, one in changes.items():
        if name.startswith("gate/errors/"):
            expect(one["state"] in ("same", "unsupported"), one)


# --- limits ------------------------------------------------------------------

def _limits(vm, pid):
    """Soft and hard limit of a process, by the names of /proc/PID/limits."""
    found = {}
    for line in vm.read(f"/proc/{pid}/limits").splitlines()[1:]:
        name, soft, hard = line[:26].strip(), *line[26:].split()[:2]
        found[name] = (soft, hard)
    return found


@case("blocked", "limits: services, a runtime and its container have them from their start, with no reload")
def limits_of_services(vm):
    unlimited = ("unlimited", "unlimited")
    of_default = _limits(vm, "self")  # of test-shell.service, whose file has none
    equal("locked memory of a service", of_default["Max locked memory"], unlimited)
    equal("open files of a service", of_default["Max open files"], ("1024", "262144"))
    equal("real-time priority of a service", of_default["Max realtime priority"], ("20", "20"))
    # Its own file says LimitNOFILE=infinity.
    for whose, pid in (("the runtime", vm.sh("systemctl show -P MainPID containerd").strip()),
                       ("its container", vm.read("/run/container.pid"))):
        limits = _limits(vm, pid)
        equal(f"locked memory of {whose}", limits["Max locked memory"], unlimited)
        equal(f"open files of {whose}", limits["Max open files"], ("262144", "262144"))
        equal(f"processes of {whose}", limits["Max processes"], unlimited)
        equal(f"real-time priority of {whose}", limits["Max realtime priority"], ("20", "20"))
    contains("group of the container",
             vm.read(f"/proc/{vm.read('/run/container.pid')}/cgroup"), "containerd.service/pods/")
    said = vm.sh("journalctl -b -o cat _PID=1")
    expect("Reloading" not in said, "systemd was reloaded in this boot")
    changes = _changes(vm)
    for key, value in (("memlock", "unlimited"), ("nofile", "262144")):
        for whose in ("services", "containerd.service"):
            one = changes[f"limits/{whose}/{key}"]
            equal(f"{one}", (one["state"], one["observed"]), ("same", value))


@case("blocked", "limits: logins have them, root's and others'")
def limits_of_logins(vm):
    for user in ("root", "nobody"):
        said = vm.sh(f"prlimit --memlock=65536 --nofile=1000:2000 su -s /bin/sh {user} -c"
                     " 'ulimit -l; ulimit -Sn; ulimit -Hn; ulimit -r'").split()
        equal(f"limits of {user}", said, ["unlimited", "262144", "262144", "20"])


@case("blocked", "mounts: tmpfs is there early in the boot; NFS waits for the network, and fails no stage")
def mounts_of_a_boot(vm):
    contains("mounts", vm.read("/proc/mounts"), " /mnt/memory tmpfs ")
    stages = status_json(vm)["stages"]
    early = {c["id"]: c for c in stages["early"]["changes"]}
    equal(f"{early['mounts/mnt/memory']}", early["mounts/mnt/memory"]["state"], "set")
    devices = {c["id"]: c for c in stages["devices"]["changes"]}
    equal(f"{devices['mounts/mnt/nobody']}", devices["mounts/mnt/nobody"]["state"], "waits")
    equal("railhead-devices", vm.sh("systemctl is-active railhead-devices.service").strip(),
          "active")
    one = _changes(vm)["mounts/mnt/nobody"]
    equal(f"{one}", (one["state"], one["observed"]), ("unsupported", "not mounted"))
