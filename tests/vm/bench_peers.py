"""The tables of tests/bench/settings and tests/bench/looks from a guest, with Debian's tuned in a tree
of its own. For tests/bench/guest, which says more.

  bench_peers.py RUNS
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True

import prepare                                # noqa: E402
from harness import leave_devices             # noqa: E402
from vm import Guest                          # noqa: E402

# In the guest; in memory, so that the disk's cache is no part of it.
PLACE = "/run/bench"
UNPACK = f"""mkdir {PLACE} && tar -C {PLACE} -xf /dev/disk/by-id/virtio-payload
for fs in proc sys dev; do mount --rbind /$fs {PLACE}/tuned/$fs; done"""
RUN = f"RAILHEAD=/usr/sbin/railhead TUNED_ROOT={PLACE}/tuned {PLACE}/tests/bench/%s %s"


def _payload(directory):
    """The benchmarks, their programs and the tree with tuned, as a tar."""
    tree, tar = os.path.join(directory, "tuned.tar"), os.path.join(directory, "payload.tar")
    sources = subprocess.run([os.path.join(prepare.HERE, "sources"), prepare.DIST], check=True,
                             stdout=subprocess.PIPE).stdout
    subprocess.run([*prepare.APART, "mmdebstrap", "--quiet", "--variant=minbase", "--mode=root",
                    "--include=tuned", "--dpkgopt=path-exclude=/usr/share/doc/*",
                    "--dpkgopt=path-exclude=/usr/share/locale/*", prepare.DIST, tree, "-"],
                   input=sources, check=True)
    subprocess.run(["tar", "-C", prepare.TOP, "-cf", tar, "tests/bench", "tests/lib",
                    "build/bench/race", "build/bench/floor"], check=True)
    unpacked = os.path.join(directory, "tuned")
    os.makedirs(unpacked)
    subprocess.run(["tar", "-C", unpacked, "-xf", tree], check=True)
    subprocess.run(["tar", "-C", directory, "-rf", tar, "tuned"], check=True)
    subprocess.run(["rm", "-rf", "--one-file-system", unpacked, tree], check=True)
    return tar


def main():
    runs = int(sys.argv[1])
    prepare.claim()
    qemu = prepare.qemu()
    disk = prepare.image(prepare.packages())
    directory = os.path.join(prepare.logs(), "bench-peers")
    subprocess.run(["rm", "-rf", "--one-file-system", directory], check=True)
    os.makedirs(directory)
    payload = _payload(directory)
    with Guest(qemu, prepare.accelerator(qemu, disk), disk, directory, payload=payload) as guest:
        guest.first_boot()
        leave_devices(guest)
        guest.sh(UNPACK, 180)
        print(f"# VM, {guest.accel}: by turns, {runs} runs of each")
        for table in ("settings", "looks"):
            print(guest.sh(RUN % (table, runs), 1800), flush=True)
    os.unlink(payload)


if __name__ == "__main__":
    main()
