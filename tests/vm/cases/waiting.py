"""A port without a link at boot: the node waits, and is ready by itself or blocked; and work that
is let in by hand, until a timer ends it.

The gate is begun anew as a boot does it, by its unit and the target, in a copy of a guest that
was ready: what a boot has of it is the same, and takes a tenth of the time.
"""

from harness import (SNAPSHOT, case, contains, equal, eventually, exits, expect, expect_fault, gate_ready,
                     is_active, leave_devices, let_stop, status_json)

PROFILE = "/etc/railhead/profiles/vm-bench.yaml"
READY = "/run/railhead/ready"
VERDICTS = "journalctl -b --no-pager -o cat MESSAGE_ID=08aeee404ff1439b87d937ddb6a75466"


def _carrier(vm, up):
    """Of the first NIC: the other end of its cable."""
    vm.qmp("set_link", name="nic0", up=up)
    eventually(vm, f"grep -q {1 if up else 0} /sys/bus/pci/devices/0000:41:00.0/net/*/carrier")


def _judged(vm):
    """Nothing is judged yet, and the target's start comes; the verdict."""
    vm.sh("systemctl stop gated.service railhead-ready.target railhead-gate.service"
          " && rm -f /run/gated", 60)
    expect(vm.run(f"test -e {READY}").status != 0, "the gate was stopped, and the node is ready")
    vm.sh("rm /run/railhead/status.json /run/railhead/profile")
    vm.sh("systemctl reset-failed railhead-gate.service || :;"
          " systemctl --no-block start railhead-ready.target")
    eventually(vm, "systemctl is-failed -q railhead-gate.service")
    return status_json(vm)


def _as_in_a_boot(vm, wait):
    """The verdict of a boot of which one port has no carrier; the profile waits that long."""
    leave_devices(vm)
    vm.sh(f"sed -i 's/^  budget: 120s/  budget: 120s\\n  wait: {wait}/;"
          f" s/run: carrier, on: rails/&, timeout: 1s/' {PROFILE} && railhead check {PROFILE}")
    let_stop(vm, "railhead-gate.service")
    _carrier(vm, False)
    status = _judged(vm)
    for _ in range(4):  # the host is busy
        if not any(one["state"] == "invalid" for one in status["measurements"]):
            break
        status = _judged(vm)
    equal("verdict, reasons and measurements that passed",
          (status["verdict"], len(status["reasons"]),
           [one["state"] for one in status["measurements"]]), ("waiting", 1, ["same", "same"]))
    contains("reason", status["reasons"][0], "gate/links/0000:41:00.0", "no carrier")
    expect(is_active(vm, "railhead-retry.timer"), "nothing looks again")
    expect(not is_active(vm, "gated.service"), "the gated unit is active")
    return status


def _verdicts(vm):
    """The first lines of the journal's entries."""
    return [line for line in vm.sh(VERDICTS).splitlines() if line.startswith("verdict: ")]


@case(SNAPSHOT, "waiting: no carrier at boot; when it comes the node is ready by itself, and measures nothing anew")
def carrier_comes(vm):
    before = _as_in_a_boot(vm, "5m")
    said = len(_verdicts(vm))
    eventually(vm, "test $(systemctl show -p ExecMainStartTimestampMonotonic --value"
                   " railhead-retry.service) -gt 0")
    eventually(vm, "! systemctl is-active -q railhead-retry.service")
    equal("verdict after a look in vain", status_json(vm)["verdict"], "waiting")
    expect_fault(vm, "RH-GATE-NOT-YET", "0000:41:00.0")
    # it may be at work again by now
    equal("result of the look in vain", vm.sh("systemctl show -p Result --value railhead-retry.service"),
          "success")
    equal("entries of a verdict that is not new", len(_verdicts(vm)), said)
    _carrier(vm, True)
    eventually(vm, "systemctl is-active -q gated.service")
    status = status_json(vm)
    equal("verdict", status["verdict"], "ready")
    expect("waiting" not in status, f"it waits still: {status.get('waiting')}")
    equal("measurements", status["measurements"], before["measurements"])
    vm.sh(f"test -e {READY}")
    for unit in ("railhead-gate.service", "railhead-ready.target"):
        expect(is_active(vm, unit), f"{unit} is not active")
    eventually(vm, "! systemctl is-active -q railhead-retry.timer")
    equal("newest verdict in the journal", _verdicts(vm)[-1], "verdict: ready")


@case(SNAPSHOT, "waiting: after gate.wait it is blocked; admit lets work in, a timer ends that, and work goes on")
def blocked_and_admitted(vm):
    _as_in_a_boot(vm, "2m")
    eventually(vm, "railhead status | grep -q verdict:.blocked")
    contains("reasons", " ".join(status_json(vm)["reasons"]), "gate.wait: waited ",
             "for gate/links/0000:41:00.0, and gave up")
    expect_fault(vm, "RH-GATE-WAIT-OVER", "0000:41:00.0")
    eventually(vm, "! systemctl is-active -q railhead-retry.timer")
    exits(vm, "railhead admit --for 1h --reason 'the cable is on its way' 2>&1", 0, 120)
    eventually(vm, "systemctl is-active -q gated.service")
    expect(is_active(vm, "railhead-ready.target"), "the target is not active")
    contains("railhead status", exits(vm, "railhead status", 0),
             "verdict: blocked (work is admitted by hand)", "uid 0", "the cable is on its way")
    equal("verdict", status_json(vm)["verdict"], "blocked")
    # A gate meanwhile finds what it found, and leaves it.
    exits(vm, "railhead gate 2>&1", 7, 120)
    exits(vm, "railhead status", 0)
    exits(vm, "railhead admit --for 1m --reason 'the cable is on its way' 2>&1", 0, 120)
    work = vm.sh("systemctl show -p InvocationID,ActiveState gated.service railhead-ready.target")
    eventually(vm, f"! test -e {READY}")
    exits(vm, "railhead status", 7)
    equal("work", vm.sh("systemctl show -p InvocationID,ActiveState gated.service"
                        " railhead-ready.target"), work)
    eventually(vm, "! systemctl list-units --all --no-legend | grep -q railhead-admit-end.timer")
    exits(vm, "railhead maintain --for 1m --reason 'a new cable' 2>&1", 0, 120)
    contains("railhead status", exits(vm, "railhead status", 7), "by hand: maintenance until", "a new cable")
    eventually(vm, "! railhead status | grep -q maintenance")
    eventually(vm, "! systemctl list-units --all --no-legend | grep -q railhead-maintain-end.timer")
    contains("journal", vm.sh("journalctl -b --no-pager -o cat -t railhead"),
             "admission by hand: until", "admission by hand: its time is over; it was until",
             "maintenance: until", "maintenance: its time is over; it was until")


CHECK = "/root/check"  # a site's command, which hangs while there is /run/hang
KILLED = "systemctl kill -s KILL --kill-whom=main railhead-gate.service"


def _begin_to_judge(vm):
    """The gate's unit is at work on a check that hangs."""
    leave_devices(vm)
    vm.sh(f"""cat >{CHECK} <<'E' && chmod 755 {CHECK}
#!/bin/sh
while [ -e /run/hang ]; do sleep 0.1; done
echo '{{"result": "measured", "value": 1e9}}'
E""")
    vm.sh(f"sed -i 's#^  checks:#&\\n    hang: {{run: command, command: [{CHECK}], user: root,"
          f" min: 1MB/s, timeout: 60s}}#' {PROFILE} && railhead check {PROFILE}")
    let_stop(vm, "railhead-gate.service")
    vm.sh("systemctl stop gated.service railhead-ready.target railhead-gate.service"
          " && rm /run/railhead/profile && touch /run/hang", 60)
    vm.sh("systemctl --no-block start railhead-ready.target")


def _kill_when_at_work(vm, begun):
    eventually(vm, f'grep -q "begun.: {begun}" /run/railhead/status.json')
    expect(vm.run(f"test -e {READY}").status != 0, "it is ready while it is judged")
    contains("railhead status", exits(vm, "railhead status", 7), "the gate has been at work since")
    vm.sh(KILLED)


@case(SNAPSHOT, "a gate that is killed at boot is begun again by its unit, and the node is ready")
def killed_gate_begins_again(vm):
    _begin_to_judge(vm)
    _kill_when_at_work(vm, 1)
    eventually(vm, 'grep -q "begun.: 2" /run/railhead/status.json')
    # Now, because the next start of the unit begins at 0: a look again, after a disturbed one.
    equal("restarts", vm.sh("systemctl show -p NRestarts --value railhead-gate.service"), "1")
    vm.sh("rm /run/hang")
    eventually(vm, "systemctl is-active -q gated.service")
    equal("verdict", status_json(vm)["verdict"], "ready")
    equal("oom_score_adj", vm.sh("systemctl show -p OOMScoreAdjust --value railhead-gate.service"),
          "-900")


@case(SNAPSHOT, "a gate that is killed each time: after three the node is blocked, and says so")
def killed_gate_ends(vm):
    _begin_to_judge(vm)
    for begun in (1, 2, 3):
        _kill_when_at_work(vm, begun)
    eventually(vm, "railhead status | grep -q verdict:.blocked")
    expect_fault(vm, "RH-GATE-KILLED", "the gate began 3 times, and each time was killed")
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")
    vm.sh("rm /run/hang")
    gate_ready(vm)
    eventually(vm, "systemctl is-active -q gated.service")
