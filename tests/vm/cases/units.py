"""systemd's view of our units, alone and beside other people's."""

from harness import SNAPSHOT, case, equal, expect, let_stop, status_json

UNITS = ("railhead-early.service railhead-devices.service railhead-gate.service"
         " railhead-ready.target railhead-device@.service railhead-retry.timer"
         " railhead-admit-end.service")


@case(SNAPSHOT, "systemd-analyze verify has nothing to say about our units")
def verify_units(vm):
    # The manual pages are left out of the test image, so they are not asked for.
    equal("systemd-analyze verify",
          vm.sh(f"systemd-analyze verify --man=no {UNITS} 2>&1", 120), "")


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
