"""How long until all VFs of four NICs have their driver, on a real kernel: by the shell loop
that railhead replaces, by the least that must be done, and by railhead. The second time of the
least is until udev has named their interfaces, too, which railhead waits for. The guest's VFs have
a driver that is slow on purpose (slowvf). For tests/bench/sriov, which says more.

  bench_sriov.py MILLISECONDS RUNS
"""

import json
import os
import statistics
import sys

sys.dont_write_bytecode = True

import prepare                                # noqa: E402
from harness import leave_devices             # noqa: E402
from vm import Guest, full_hardware           # noqa: E402

NICS, VFS = 4, 7
PROFILE = """schema: 1
name: vm-bench
version: 2.0.0
match:
  dmi: {sys_vendor: QEMU, product_name: "Standard PC*"}
devices:
  rails: {pci: "8086:10c9", expect: %d}
sriov: {rails: {vfs: %d, timeout: 60s, vf: {driver: netdev}}}
""" % (NICS, VFS)

# Each prints microseconds. The loop's first number is that of one PF alone.
LOOP = """start=${EPOCHREALTIME/.}
for pf in $pfs; do
  echo %d >$pf/sriov_numvfs || exit 1
  : ${one:=$((${EPOCHREALTIME/.} - start))}
done
echo $one $((${EPOCHREALTIME/.} - start))""" % VFS
FLOOR = """start=${EPOCHREALTIME/.}
for pf in $pfs; do
  echo 0 >$pf/sriov_drivers_autoprobe
  echo %d >$pf/sriov_numvfs || exit 1
  echo 1 >$pf/sriov_drivers_autoprobe
done
for vf in $(ls -d $(printf '%%s/virtfn* ' $pfs)); do
  basename $(readlink $vf) >/sys/bus/pci/drivers_probe &
done
wait
echo $((${EPOCHREALTIME/.} - start))
udevadm settle --timeout=60
echo $((${EPOCHREALTIME/.} - start))""" % VFS
OURS = """start=${EPOCHREALTIME/.}
railhead apply --stage devices >/run/said 2>&1 || { cat /run/said; exit 1; }
echo $((${EPOCHREALTIME/.} - start))"""
FRESH = "for pf in $pfs; do echo 0 >$pf/sriov_numvfs || exit 1; done; udevadm settle"
READY = "ls -d /sys/bus/pci/drivers/slowvf/0000:* | wc -l"


def _prepare(guest, probe_ms):
    """A boot with a slow driver in the place of igbvf, and the profile of this benchmark."""
    guest.first_boot()
    guest.sh("mkdir -p /run/payload && tar -C /run/payload -xf /dev/disk/by-id/virtio-payload")
    leave_devices(guest)
    guest.sh("rm $(modinfo -n igbvf) && depmod && { rmmod igbvf || true; }", 120)
    guest.sh(f"insmod /run/payload/slowvf.ko probe_ms={probe_ms}")
    guest.sh(f"cat >/etc/railhead/profiles/vm-bench.yaml <<'PROFILE'\n{PROFILE}PROFILE")


def _measure(guest, what):
    """Seconds, all that a script has printed."""
    pfs = "pfs=$(for vfs in /sys/bus/pci/devices/*/sriov_numvfs; do dirname $vfs; done)\n"
    guest.sh(pfs + FRESH, 180)
    took = [int(word) / 1e6 for word in guest.sh(pfs + what, 180).split()]
    ready = guest.sh(READY)
    if ready != str(NICS * VFS):  # as a mistake here would make any figure good
        raise SystemExit(f"{ready} VFs have their driver, not {NICS * VFS}")
    return took


def _timeline(guest):
    """Where railhead's time went, of the PF that was last: a line."""
    devices = json.loads(guest.sh("cat /run/railhead/status.json"))["stages"]["devices"]
    slowest = max(devices["vfs"], key=lambda vfs: vfs["timeline"][-2]["to_usec"])
    parts = ", ".join(f"{part['part']} {part['from_usec'] / 1e6:.2f}..{part['to_usec'] / 1e6:.2f}"
                      for part in slowest["timeline"])
    return f"# {slowest['pf']}, of {devices['duration_usec'] / 1e6:.2f} s: {parts}"


def main():
    probe_ms, runs = int(sys.argv[1]), int(sys.argv[2])
    prepare.claim()
    qemu = prepare.qemu()
    disk = prepare.image(prepare.packages())
    directory = os.path.join(prepare.logs(), "bench")
    took = {"loop": [], "floor": [], "ours": []}
    with Guest(qemu, prepare.accelerator(qemu, disk), disk, directory, payload=prepare.payload(disk),
               hardware=full_hardware(NICS)) as guest:
        _prepare(guest, probe_ms)
        for _ in range(runs):
            for name, script in (("loop", LOOP), ("floor", FLOOR), ("ours", OURS)):
                took[name].append(_measure(guest, script))
        timeline = _timeline(guest)
    one, loop, least, named, ours = (statistics.median(column) for name in took
                                     for column in zip(*took[name]))
    print(f"# VM: {NICS} PFs x {VFS} VFs, {probe_ms} ms a probe; seconds until all have their"
          f" driver, median of {runs}; in brackets until udev has named their interfaces")
    print(f"{'kernel':<12} {'one PF':>10} {'shell loop':>12} {'floor':>14} {'railhead':>10}"
          f" {'times faster':>14} {'over floor':>12}")
    print(f"{'stock':<12} {one:>10.2f} {loop:>12.2f} {f'{least:.2f} ({named:.2f})':>14}"
          f" {f'({ours:.2f})':>10} {loop / ours:>14.1f} {ours / named:>12.2f}")
    print(timeline)


if __name__ == "__main__":
    main()
