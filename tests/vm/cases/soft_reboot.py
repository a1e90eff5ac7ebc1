"""A soft-reboot (systemd 254): the kernel, its boot id, its command line and /run stay, and all that
was judged was another user space.

In a boot that was a trial: its command line says so for as long as it lives.
"""

from cases.layouts import FIRST_BOOTS
from cases.trials import arm, DEADLY, power_cycle, PROFILE, WANTED
from harness import case, contains, equal, exits, expect, is_active, state, status_json

CHECK = "/root/check"  # a site's command: fails while there is /var/bad, and counts its starts
TIMER = "/etc/systemd/system/railhead-trial.timer.d"


def _soft_reboot(vm):
    before = vm.resets
    vm.seen["boot_id"] = vm.read("/proc/sys/kernel/random/boot_id")
    vm.seen["runs"] = int(vm.sh("wc -l </run/check.log"))
    vm.send("systemctl soft-reboot")
    vm.wait_for_shell()
    vm.wait_until_booted()
    vm.seen.update(status=status_json(vm), resets=vm.resets - before)


def _is_another_user_space(vm, count):
    equal("boot id", vm.read("/proc/sys/kernel/random/boot_id"), vm.seen["boot_id"])
    equal("SoftRebootsCount", vm.sh("systemctl show -p SoftRebootsCount --value"), str(count))
    equal("user space of the record", vm.seen["status"]["user_space"], f"soft-reboots {count}")
    equal("starts of the site's check", int(vm.sh("wc -l </run/check.log")), vm.seen["runs"] + 1)
    equal("stages", sorted(vm.seen["status"]["stages"]), ["devices", "early", "gate", "initrd"])
    expect("lacks" not in vm.seen["status"]["stages"]["early"], "early missed the initramfs")


@state("soft-reboot", guest=DEADLY, after=FIRST_BOOTS)
def soft_reboot(vm):
    arm(vm, WANTED + ["audit=0"])
    power_cycle(vm, 1)
    vm.sh(f"""cat >{CHECK} <<'E' && chmod 755 {CHECK}
#!/bin/sh
echo >>/run/check.log
[ ! -e /var/bad ] || exit 1
echo '{{"result": "measured", "value": 1e9}}'
E""")
    vm.sh(f"sed -i 's#^  checks:#&\\n    site: {{run: command,"
          f" command: [{CHECK}], user: root, min: 1MB/s}}#' {PROFILE}; railhead check {PROFILE}")
    # If anything started it, a boot of so few seconds would be ended before it is looked at.
    vm.sh(f"mkdir -p {TIMER}; printf '[Timer]\\nOnActiveSec=\\nOnActiveSec=2s\\n' >{TIMER}/z.conf;"
          " systemctl daemon-reload")
    exits(vm, "railhead apply 2>&1", 0, 120)
    exits(vm, "railhead gate 2>&1", 0, 120)
    _soft_reboot(vm)


@case("soft-reboot", "a soft-reboot: the new user space is judged anew, and is ready")
def judged_anew(vm):
    _is_another_user_space(vm, 1)
    equal("verdict", vm.seen["status"]["verdict"], "ready")
    vm.sh("test -e /run/railhead/ready")
    expect(is_active(vm, "railhead-ready.target"), "the target is not active")


@case("soft-reboot", "the timer of a trial that is over stays away, and nothing reboots")
def trial_stays_over(vm):
    contains("/proc/cmdline", vm.read("/proc/cmdline"), "railhead.trial=")
    contains("the timer", vm.sh("systemctl show railhead-trial.timer"
                                " -p ActiveState,ConditionResult"), "ActiveState=inactive",
             "ConditionResult=no")
    vm.sh("systemctl start railhead-trial.timer")
    expect(not is_active(vm, "railhead-trial.timer"), "the timer runs")
    equal("reboots", vm.seen["resets"], 0)


@state("soft-reboot, bad", guest=DEADLY)
def soft_reboot_bad(vm):
    vm.sh("touch /var/bad")
    _soft_reboot(vm)


@case("soft-reboot, bad", "a soft-reboot of a ready node whose check then fails: blocked")
def blocked(vm):
    _is_another_user_space(vm, 2)
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "gate/site")
    expect(vm.run("test -e /run/railhead/ready").status != 0, "the ready file is there")
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")
