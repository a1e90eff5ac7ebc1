"""systemd's view of our units, alone and beside other people's."""

from harness import SNAPSHOT, case, contains, equal, expect, let_stop, status_json

UNITS = ("railhead-early.service railhead-devices.service railhead-gate.service"
         " railhead-ready.target railhead-device@.service railhead-retry.timer"
         " railhead-admit-end.service railhead-maintain-end.service railhead-trial.timer railhead-trial.service"
         " railhead-trial-stop.service")


@case(SNAPSHOT, "systemd-analyze verify has nothing to say about our units")
def verify_units(vm):
    # The manual pages are left out of the test image, so they are not asked for.
    equal("systemd-analyze verify",
          vm.sh(f"systemd-analyze verify --man=no {UNITS} 2>&1", 120), "")


@case(SNAPSHOT, "what runs for the node's life does its work within its limits, on the machine's own mounts")
def within_limits(vm):
    features = "/etc/kubernetes/node-feature-discovery/features.d"
    vm.sh(f"mkdir -p {features}")
    own = vm.sh("readlink /proc/1/ns/mnt")
    for unit in ("recheck", "settled", "admit-end", "maintain-end"):
        vm.sh(f"mkdir -p /run/systemd/system/railhead-{unit}.service.d"
              f" && cat >/run/systemd/system/railhead-{unit}.service.d/look.conf <<'U'\n[Service]\n"
              "ExecStartPost=/bin/sh -c 'readlink /proc/self/ns/mnt; cat /proc/self/status; "
              "touch /usr/local/written || echo not written; unshare -U true || echo no namespace'\n"
              f"StandardOutput=truncate:/run/look-{unit}\nU")
        if unit == "recheck": # the bench lets it run when it is told to
            vm.sh("mkdir -p /run/systemd/system/railhead-recheck.timer.d && printf '[Timer]\nOnUnitInactiveSec=7min\n'"
                  " >/run/systemd/system/railhead-recheck.timer.d/zz-interval.conf")
        vm.sh("systemctl daemon-reload")
        # A recheck waits for the gate; none is at work.
        vm.sh(f"systemctl start railhead-{unit}.service", 300)
        equal(f"railhead-{unit}.service", vm.sh(f"systemctl show -P Result railhead-{unit}.service"), "success")
        seen = vm.read(f"/run/look-{unit}")
        contains(unit, seen, "NoNewPrivs:\t1", "Seccomp:\t2", "no namespace")
        equal(f"{unit}: has the machine's mounts", own in seen, True)
        equal(f"{unit}: writes anywhere", "not written" not in seen, True)
    contains("the label that recheck wrote", vm.read(f"{features}/railhead"), "ready=true")
    equal("verdict", status_json(vm)["verdict"], "ready")
    equal("interval of the timer", status_json(vm)["last_look"]["interval_usec"], 420 * 10**6)
    equal("faults and warnings", status_json(vm)["faults"], [])
    equal("complaints", vm.sh("journalctl -b -q --no-pager -o cat -u 'railhead-*' --grep 'ermission denied|not permitted"
                              "|ead-only file' || true"), "")


@case(SNAPSHOT, "stage early that is started again, as a login does where it failed, leaves the verdict")
def early_again(vm):
    let_stop(vm, "railhead-early.service")
    vm.sh("systemctl restart railhead-early.service", 120)
    equal("verdict", status_json(vm)["verdict"], "ready")
    vm.sh("test -e /run/railhead/ready")


@case(SNAPSHOT, "no ordering cycle beside cloud-init and NetworkManager")
def verify_beside_neighbours(vm):
    vm.sh("tar -C / -xf /run/payload/neighbours.tar --keep-directory-symlink")
    # For scripts of SysV systemctl runs update-rc.d, which reloads systemd each time: minutes.
    vm.sh("rm -f /etc/init.d/cloud-*")
    # cloud-init.service has become two others in Debian 13.
    vm.sh("cd /lib/systemd/system && systemctl --no-reload enable NetworkManager NetworkManager-wait-online"
          " systemd-networkd systemd-networkd-wait-online cloud-init*.service cloud-config.service"
          " cloud-final.service 2>&1", 120)
    # cloud-init's generator leaves its target out where no data source is found.
    vm.sh("mkdir -p /etc/systemd/system/multi-user.target.wants && ln -sf"
          " /lib/systemd/system/cloud-init.target"
          " /etc/systemd/system/multi-user.target.wants/")
    vm.sh("systemctl daemon-reload")
    said = vm.sh("systemd-analyze verify --man=no multi-user.target 2>&1; true", 180)
    for line in said.splitlines():
        expect("cycle" not in line and "railhead" not in line,
               f"systemd-analyze verify says:\n{said}")
    # The check sees the neighbours at all.
    wanted = vm.sh("systemctl list-dependencies --plain multi-user.target")
    expect("NetworkManager.service" in wanted and "cloud-init-local.service" in wanted,
           f"the neighbours are not part of the boot:\n{wanted}")
