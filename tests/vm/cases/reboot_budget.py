"""railhead.env is lost at the end of each boot, as where the disk or the ESP is restored: railhead's
reboots end after the budget, and the node is up and says why.
"""

from cases.layouts import FIRST_BOOTS
from cases.trials import ENV, OTHERS, WANTED, kernels
from harness import case, contains, equal, exits, expect, expect_fault, is_active, state, status_json
from vm import ORDERLY_REBOOT

BUDGET = 3
RECORD = "/var/lib/railhead/kernel-args"

# Stopped after the gate, which has armed a trial by then.
LOSES = f"""cat >/etc/systemd/system/loses.service <<'E' && systemctl enable --now loses.service
[Unit]
Before=railhead-gate.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/rm -f {ENV}
[Install]
WantedBy=multi-user.target
E"""


@state("lost env", guest=OTHERS, after=FIRST_BOOTS)
def lost(vm):
    vm.sh(LOSES, 60)
    before, console = vm.resets, vm.console_size()
    vm.send(ORDERLY_REBOOT)
    vm.wait_until_settled(before + 1 + BUDGET)
    vm.seen.update(resets=vm.resets - before, console=vm.console(console))


@case("lost env", "railhead.env is lost after each boot: three reboots by railhead, then the node is up")
def ends(vm):
    # the first is the operator's
    equal("reboots", vm.seen["resets"], 1 + BUDGET)
    equal("kernels", len(kernels(vm)), 1 + BUDGET)
    expect(not any(arg in line for line in kernels(vm) for arg in WANTED), "a boot has the arguments")
    equal("verdict", status_json(vm)["verdict"], "blocked")
    expect_fault(vm, "RH-BOOT-LOOP", "it has made 3 reboots with no settled verdict in between")
    contains("railhead kargs", exits(vm, "railhead kargs", 9), "held", "railhead apply --retry")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")
    contains(RECORD, vm.read(RECORD), f"\nreboots {BUDGET}\n")


@case("lost env", "apply --retry sets the count back, and the gate arms a trial")
def retry(vm):
    exits(vm, "railhead apply --retry 2>&1", 0, 120)
    exits(vm, "railhead gate", 8, 180)
    expect(not is_active(vm, "railhead-retry.timer"), "the retry timer would reboot after a gate by hand")
    contains(RECORD, vm.read(RECORD), "\nreboots 1\n", "\narmed yes ")
