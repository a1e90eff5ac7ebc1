#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""figures.py STATUS.json HISTORY.json BOOTS [slow]: adds figures as the gate of a machine with eight GPUs
measures them, to the record of this boot and to a history of so many boots before it. With
`slow` the memory of node 1 is too slow in this boot, and is measured twice. The stage gate takes as long as
the measurements. No randomness: two runs write the same."""
import copy
import json
import sys

RAILS = ["18", "3a", "4e", "5d", "9a", "bc", "cc", "db"]
GPUS = ["19", "3b", "4f", "5e", "9b", "bd", "cd", "dc"]
# check, member, key, figure, unit, how many of it the text has, threshold
FIGURES = [
    ("memory", "node0", "min", 211.4e9, "GB/s", 1e9, "180GB/s"),
    ("memory", "node1", "min", 210.7e9, "GB/s", 1e9, "180GB/s"),
    ("latency", "node0", "max", 118.4, "ns", 1, "150ns"),
    ("latency", "node1", "max", 121.9, "ns", 1, "150ns"),
    ("jitter", "cpus", "p9999", 38.2e3, "us", 1e3, "50us"),
    *[("loopback", f"0000:{bus}:00.0", "min", (46.1 + 0.07 * i) * 1e9, "GB/s", 1e9, "92% of line")
      for i, bus in enumerate(RAILS)],
    *[("copy", f"0000:{bus}:00.0", "min", (54.8 + 0.05 * i) * 1e9, "GB/s", 1e9, "50GB/s")
      for i, bus in enumerate(GPUS)],
]
SLOW = 163.2e9
# When a check has its turn, in microseconds since the stage began, and how long its programs take.
TURN = {"memory": 200000, "latency": 1100000, "jitter": 2000000, "loopback": 3000000, "copy": 3900000}
TOOK = 812000
AGAIN, TOOK_AGAIN, GATE_TOOK = 4800000, 6200000, 11200000
WAVE = [0, 4, -3, 2, -1, 5, -4, 1, 3, -2]


def text_of(value, unit, divisor):
    digits = 2 if unit in ("us", "ms") else 1
    return f"{value / divisor:.{digits}f} {unit}"


def measurement(gate, slow, check, member, key, value, unit, divisor, wanted):
    if slow:
        value = SLOW
    ident = f"gate/{check}/{member}"
    m = {"id": ident, "check": check, "state": "same", "desired": wanted,
         "observed": text_of(value, unit, divisor), "duration_usec": TOOK,
         "started_usec": gate["started_usec"] + TURN[check],
         "origin": "/etc/railhead/profiles/sim.yaml:20:5", "on_fail": "block", "demanded": True,
         "readings": {key: value}}
    if slow:
        runs = [(m["started_usec"], TOOK), (gate["started_usec"] + AGAIN, TOOK_AGAIN)]
        m.update(duration_usec=TOOK + TOOK_AGAIN,
                 timings=[{"started_usec": s, "duration_usec": d} for s, d in runs])
        m.update(state="slow", fault="RH-MEMORY-BANDWIDTH", looks=[
            {"state": "slow", "observed": "162.8 GB/s", "readings": {key: 162.8e9}},
            {"state": "slow", "observed": m["observed"], "readings": {key: value}}])
        m["reason"] = ("memory_bandwidth of node 1: measured 163.2 GB/s, required at least 180GB/s;"
                       " check the DIMM population, the memory speed and the power profile in the"
                       " BIOS")
    return m


def main():
    record_path, history_path, boots = sys.argv[1], sys.argv[2], int(sys.argv[3])
    slow = sys.argv[4:] == ["slow"]
    with open(record_path) as f:
        record = json.load(f)
    gate = record["stages"]["gate"]
    gate["duration_usec"] = GATE_TOOK if slow else AGAIN
    record["judged_usec"] = gate["started_usec"] + gate["duration_usec"]
    record["measurements"] = [measurement(gate, slow and f[:2] == ("memory", "node1"), *f)
                              for f in FIGURES]
    for m in record["measurements"]:
        if m["state"] == "slow":
            reason = f"{m['id']}: {m['reason']}"
            record["reasons"].append(reason)
            record["faults"].append({"code": m["fault"], "reason": reason, "on_fail": "block"})
    with open(record_path, "w") as f:
        json.dump(record, f)
    with open(history_path) as f:
        history = json.load(f)
    now = history["boots"][-1]
    past = []
    for i in range(boots):
        boot = copy.deepcopy(now)
        boot.update(boot_id=f"00000000-0000-4000-8000-{i:012d}", verdict="ready", admit=True,
                    faults=[], reason="", time=now["time"] - (boots - i) * 604800)
        boot["figures"] = [
            {"check": c, "subject": m, "key": k, "fresh": True,
             "value": v * (1 + WAVE[(i + n) % len(WAVE)] / 400)}
            for n, (c, m, k, v, *_) in enumerate(FIGURES)]
        past.append(boot)
    history["boots"] = [*past, now]
    with open(history_path, "w") as f:
        json.dump(history, f)


main()
