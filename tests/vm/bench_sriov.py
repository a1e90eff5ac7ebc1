"""How long until all VFs of four NICs have their driver, on a real kernel: by the shell loop
that railhead replaces, and by railhead. The guest's VFs have a driver that is slow on purpose
(slowvf). For tests/bench/sriov, which says more.

  bench_sriov.py MILLISECONDS RUNS
"""

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
OURS = """start=${EPOCHREALTIME/.}
railhead apply --stage devices >/run/said 2>&1 || { cat /run/said; exit 1; }
echo $((${EPOCHREALTIME/.} - start))"""
FRESH = "for pf in $pfs; do echo 0 >$pf/sriov_numvfs || exit 1; done; udevadm settle"
READY = "ls -d /sys/bus/pci/drivers/slowvf/0000:* | wc -l"


def _prepare(guest, probe_ms):
    """A boot with a slow driver in the place of igbvf, and the profile of this benchmark."""
    guest.start()
    guest.wait_for_reset(1, 300)
    guest.wait_for_shell(300)
    guest.wait_until_booted()
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


def main():
    probe_ms, runs = int(sys.argv[1]), int(sys.argv[2])
    prepare.claim()
    qemu = prepare.qemu()
    disk = prepare.image(prepare.packages())
    directory = os.path.join(prepare.logs(), "bench")
    with Guest(qemu, prepare.accelerator(qemu, disk), disk, directory, payload=prepare.payload(disk),
               hardware=full_hardware(NICS)) as guest:
        _prepare(guest, probe_ms)
        loops, ours = [], []
        for _ in range(runs):
            loops.append(_measure(guest, LOOP))
            ours.append(_measure(guest, OURS)[0])
    one, loop = (statistics.median(column) for column in zip(*loops))
    mine = statistics.median(ours)
    print(f"# VM: {NICS} PFs x {VFS} VFs, {probe_ms} ms a probe; seconds until all have their"
          f" driver, median of {runs}")
    print(f"{'kernel':<12} {'one PF':>10} {'shell loop':>12} {'railhead':>10}"
          f" {'times faster':>14} {'than one PF':>12}")
    print(f"{'stock':<12} {one:>10.2f} {loop:>12.2f} {mine:>10.2f}"
          f" {loop / mine:>14.1f} {one / mine:>12.1f}")


main()
