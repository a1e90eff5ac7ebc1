"""Checks of a site's own in a boot whose gate blocks: 20 programs of which one hangs, and the
looks that need running units and real devices. The boot is the one of reboots.blocked()."""

import json

from harness import case, equal, expect, status_json

DROP_IN = "/etc/railhead/profiles/vm-bench.d/gate-checks.yaml"
HANGS_S = 2
MARK = "73001"

_GOOD = 'echo \'{"result": "measured", "value": 1}\''
# As whom it runs, whatever the unit of the gate is allowed.
_NOBODY = ('[ "$(id -u) $(id -G)" = "65534 65534" ] && grep -q "CapEff:.0000000000000000" '
           f"/proc/self/status && {_GOOD}")
_HANGS = f"trap '' TERM; (setsid sleep {MARK} &); sleep {MARK} & wait; sleep {MARK}"


def _command(script, **keys):
    return {"run": "command", "command": ["/bin/sh", "-c", script], **keys}


def add_checks(vm):
    """The drop-in is JSON, which is YAML."""
    checks = {f"good{i}": _command(_GOOD) for i in range(18)}
    checks["hangs"] = _command(_HANGS, timeout=f"{HANGS_S}s")
    checks["nobody"] = _command(_NOBODY)
    checks["memlock"] = {"run": "memlock", "limit": "64K",
                         "units": ["systemd-journald.service", "gated.service"]}
    checks["rdma"] = {"run": "rdma_link", "on": "rails", "timeout": "1s", "on_fail": "warn"}
    checks["errors"] = {"run": "pcie_errors", "on": "rails"}
    text = json.dumps({"schema": 1, "gate": {"checks": checks}}, indent=1)
    vm.sh(f"mkdir -p {DROP_IN.rsplit('/', 1)[0]}; cat >{DROP_IN} <<'EOT'\n{text}\nEOT")


def remove_checks(vm):
    vm.sh(f"rm {DROP_IN}")


def _changes(vm):
    return {c["id"]: c for c in status_json(vm)["stages"]["gate"]["changes"]}


@case("blocked", "20 programs of a site of which one hangs: all are reported, the boot went on")
def twenty_checks(vm):
    found = {m["id"].split("/")[1]: m for m in status_json(vm)["measurements"]
             if m["id"].endswith("/command")}
    equal("checks", len(found), 20)
    for name, one in found.items():
        if name != "hangs":
            equal(f"outcome of {name}: {one.get('reason')}", one["outcome"], "pass")
    equal("outcome of the one that hangs", found["hangs"]["outcome"], "broken")
    expect(f"no result within {HANGS_S * 1000} ms; killed" in found["hangs"]["reason"],
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
        expect("igb made no RDMA device" in one["reason"], one)
    for name, one in changes.items():
        if name.startswith("gate/errors/"):
            expect(one["state"] in ("same", "unsupported"), one)
