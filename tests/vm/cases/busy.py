"""A reboot for kernel arguments that would cut something off: the gate of a boot waits until a package
is installed and a lock of systemd-logind is gone, and then reboots in order. Beside that an item fails
that has nothing to do with the arguments: it costs no reboot, and they are kept.

The gate is begun again by its unit, as in waiting.py: what a boot has of it is the same.
"""

from cases.layouts import FIRST_BOOTS
from cases.trials import ENV, OTHERS, PROFILE, WANTED, finish, trials, want
from harness import case, contains, equal, eventually, exits, expect, let_stop, state, status_json

# Logs how it ends: a service manager that stops it in order runs ExecStop= before the signal.
FLASH = """cat >/etc/systemd/system/flash.service <<'E' && systemctl enable --now flash.service
[Service]
ExecStart=/bin/sh -c 'echo begin >>/var/flash.log; \
 trap "echo term >>/var/flash.log; sleep 1; echo end >>/var/flash.log; exit" TERM; while :; do sleep 0.1; done'
ExecStop=/bin/sh -c 'echo stop >>/var/flash.log'
KillMode=mixed
TimeoutStopSec=60
[Install]
WantedBy=multi-user.target
E"""

# A package that is being installed until it is told to go on.
PACKAGE = """mkdir -p /run/slow/DEBIAN && cd /run/slow/DEBIAN
printf '%s\\n' 'Package: slow' 'Version: 1' 'Architecture: all' 'Maintainer: nobody <nobody@localhost>' \\
  'Description: takes its time' >control
printf '%s\\n' '#!/bin/sh' 'touch /run/at-work' 'until [ -e /run/go-on ]; do sleep 0.1; done' >postinst
chmod 755 postinst
dpkg-deb -Znone --build /run/slow /run/slow.deb && systemd-run --quiet --unit=install dpkg -i /run/slow.deb"""

LOCK = ("systemctl unmask systemd-logind.service && systemctl start systemd-logind.service"
        " && systemd-run --quiet --unit=writer systemd-inhibit --what=shutdown --mode=block"
        " --who=flash --why='firmware is written' sleep infinity")


def _waits_for(vm, text):
    eventually(vm, f"grep -q '{text}' /run/railhead/status.json")
    status = status_json(vm)
    return {"verdict": status["verdict"], "reasons": " ".join(status["reasons"]), "env": vm.read(ENV)}


@state("busy", guest=OTHERS, after=FIRST_BOOTS)
def busy(vm):
    want(vm, WANTED + ["version=15"])
    vm.sh(f"sed -i 's/^  budget: .*/&\\n  wait: 1h/' {PROFILE}"
          f" && echo 'modules: {{load: [no_such_module]}}' >>{PROFILE} && railhead check {PROFILE}", 60)
    vm.sh(FLASH, 60)
    vm.sh(PACKAGE, 60)
    eventually(vm, "test -e /run/at-work")
    let_stop(vm, "railhead-gate.service")
    vm.sh("systemctl stop railhead-ready.target railhead-gate.service"
          " && rm /run/railhead/status.json /run/railhead/profile"
          " && systemctl --no-block start railhead-ready.target", 60)
    vm.seen["for_package"] = _waits_for(vm, "apt or dpkg is at work")
    vm.sh(LOCK, 60)
    eventually(vm, "systemd-inhibit --list | grep -q flash")
    vm.sh("touch /run/go-on")
    vm.seen["for_lock"] = _waits_for(vm, "blocks a shutdown")
    before, console = vm.resets, vm.console_size()
    vm.sh("systemctl stop writer.service", 60)
    finish(vm, 1, before, console)


@case("busy", "no reboot while a package is installed, nor while a lock forbids one: named, and nothing is armed")
def waits_for_others(vm):
    for what, words in (("for_package", ("process ", "/var/lib/dpkg/lock-frontend")),
                        ("for_lock", ("flash", "firmware is written", "systemd-inhibit --list"))):
        found = vm.seen[what]
        equal("verdict", found["verdict"], "waiting")
        contains("reasons", found["reasons"], "railhead does not reboot now", *words)
        contains("railhead.env", found["env"], "\nrailhead_try=-\n")


@case("busy", "then one reboot by railhead, in order: what runs is stopped, and comes to its end")
def reboots_in_order(vm):
    equal("reboots", vm.seen["resets"], 1)
    equal("how the service ended", vm.read("/var/flash.log").split(), ["begin", "stop", "term", "end", "begin"])


@case("busy", "an item that fails with and without the args: they are kept after one trial, and it blocks")
def args_are_kept(vm):
    equal("trials", len(trials(vm)), 1)
    contains("command line", vm.seen["args"], "version=15")
    exits(vm, "railhead kargs", 0)
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    others = [fault["reason"] for fault in vm.seen["status"]["faults"]
              if "no_such_module" not in fault["reason"]
              and fault["code"] != "RH-GATE-DISTURBED"]  # by a busy machine
    expect(not others, f"other reasons: {others}")
