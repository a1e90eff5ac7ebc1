"""GRUB as a site with A/B slots has it: the script around the entries is RAUC's
(contrib/grub.conf), its variables lie in the grubenv of Debian's GRUB. Then greenboot's script
(grub2/08_greenboot.cfg). The counters of both hold railhead's own reboot back.

Neither RAUC nor greenboot runs in the guest: what they write is written by grub-editenv. At last
boot-complete.target, which with boot_complete in railhead.conf waits for the verdict.
"""

import re

from cases.layouts import FIRST_BOOTS
from cases.trials import (MENU, OTHERS, PROFILE, STUCK, WANTED, came_back, is_converged, kernels,
                          power_cycle, settle, trials, want)
from harness import (case, contains, equal, exits, expect, expect_fault, is_active, state,
                     status_json)

BLOCK = "/boot/grub/grubenv"

# Behind Debian's own menu, whose last word on the default this is. One kernel serves both slots:
# which one came is seen by rauc.slot= on its line.
RAUC = r"""
set ORDER="A B"
set A_OK=0
set B_OK=0
set A_TRY=0
set B_TRY=0
load_env
set default=slot-R
for SLOT in $ORDER; do
    if [ "$SLOT" == "A" ]; then
        OK=$A_OK
        TRY=$A_TRY
        A_TRY=1
    fi
    if [ "$SLOT" == "B" ]; then
        OK=$B_OK
        TRY=$B_TRY
        B_TRY=1
    fi
    if [ "$OK" -eq 1 -a "$TRY" -eq 0 ]; then
        set default=slot-$SLOT
        break
    fi
done
save_env A_TRY A_OK B_TRY B_OK ORDER
"""

# The command `decrement` is a patch of Fedora's GRUB: here three words do it.
GREENBOOT = r"""
load_env
if [ -n "${boot_counter}" -a "${boot_success}" = "0" ]; then
  if [ "${boot_counter}" = "0" -o "${boot_counter}" = "-1" ]; then
    set boot_counter=-1
  elif [ "${boot_counter}" = "1" ]; then
    set boot_counter=0
  elif [ "${boot_counter}" = "2" ]; then
    set boot_counter=1
  else
    set boot_counter=2
  fi
  save_env boot_counter
fi
set boot_success=0
save_env boot_success
"""


def _add_script(vm, script, slots):
    """The script goes behind the menu, with a copy of its first entry for each slot."""
    menu = vm.sh(f"cat {MENU}")
    entry = re.search(r"^menuentry .*?^\}$", menu, re.M | re.S).group(0)
    contains("the first entry", entry, "$railhead_kargs")
    text = menu + "\n" + script
    for slot in slots:
        body = re.sub(r"^(\s*linux\s.*)$", rf"\1 rauc.slot={slot}", entry.split("\n", 1)[1],
                      flags=re.M)
        text += f"menuentry 'Slot {slot}' --id slot-{slot} {{\n{body}\n"
    vm.sh(f"cat >{MENU} <<'END-OF-MENU'\n{text}\nEND-OF-MENU")
    settle(vm)


def _set(vm, *values):
    vm.sh(f"grub-editenv {BLOCK} set {' '.join(values)}")


def _block(vm):
    return dict(line.split("=", 1) for line in vm.sh(f"grub-editenv {BLOCK} list").splitlines())


def _slots(vm):
    """Of each kernel that was started."""
    return [re.findall(r"rauc\.slot=(\w+)", line) for line in kernels(vm)]


@state("rauc", guest=OTHERS, after=FIRST_BOOTS)
def rauc(vm):
    _add_script(vm, RAUC, "ABR")
    # The image of slot A was installed, and brings a profile with other arguments.
    _set(vm, "'ORDER=A B'", "A_OK=1", "B_OK=1", "A_TRY=0", "B_TRY=0")
    want(vm, WANTED + ["version=7"])
    power_cycle(vm, 1)


@case("rauc", "RAUC: no reboot by railhead in a boot that is not marked good, and it is named")
def rauc_holds_back(vm):
    equal("reboots", vm.seen["resets"], 1)
    equal("slots of the kernels", _slots(vm), [["A"]])
    equal("verdict", status_json(vm)["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "version=7", "RAUC counts", BLOCK)
    expect_fault(vm, "RH-BOOT-COUNTED", "rauc.slot=A, ORDER=A B, A_OK=1 A_TRY=1, B_OK=1 B_TRY=0")
    exits(vm, "railhead gate 2>&1", 7, 180)
    # What GRUB has counted stays counted.
    block = _block(vm)
    equal("A_TRY, B_TRY", (block["A_TRY"], block["B_TRY"]), ("1", "0"))


def _mark_good_and_arm(vm):
    _set(vm, "A_TRY=0")
    exits(vm, "railhead gate 2>&1", 8, 180)


@state("rauc, good", guest=OTHERS)
def rauc_good(vm):
    _mark_good_and_arm(vm)
    power_cycle(vm, 1)


@case("rauc, good", "RAUC: once the boot is marked good, the gate arms the trial, which comes in the same slot")
def rauc_stays(vm):
    equal("reboots", vm.seen["resets"], 1)
    equal("slots of the kernels", _slots(vm), [["A"]])
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=7"])


@state("rauc, dead", guest=OTHERS)
def rauc_dead(vm):
    want(vm, WANTED + ["rdinit=/nonexistent"])
    _mark_good_and_arm(vm)
    vm.dead_end = STUCK
    power_cycle(vm, 2)


@case("rauc, dead", "RAUC: a trial that dies ends in the other slot, and is not made there again")
def rauc_goes_back(vm):
    equal("slots of the kernels", _slots(vm), [["A"], ["B"]])
    equal("reboots", vm.seen["resets"], 2)
    came_back(vm, "rdinit=/nonexistent", "RAUC counts the boots")
    expect_fault(vm, "RH-BOOT-COUNTED", "rauc.slot=B, ORDER=A B, A_OK=1 A_TRY=1, B_OK=1 B_TRY=1")


@state("greenboot", guest=OTHERS, after=FIRST_BOOTS)
def greenboot(vm):
    _add_script(vm, GREENBOOT, "")
    _set(vm, "boot_counter=3", "boot_success=0")
    want(vm, WANTED + ["version=8"])
    power_cycle(vm, 1)


@case("greenboot", "greenboot: no reboot by railhead while the counter is armed, and it is named")
def greenboot_holds_back(vm):
    equal("reboots", vm.seen["resets"], 1)
    equal("boot_counter", _block(vm)["boot_counter"], "2")
    equal("verdict", status_json(vm)["verdict"], "blocked")
    contains("railhead status", exits(vm, "railhead status", 7), "version=8", "greenboot counts",
             "boot_counter=2", BLOCK)
    expect_fault(vm, "RH-BOOT-COUNTED", "greenboot counts")


@state("green", guest=OTHERS)
def green(vm):
    # what greenboot does with a boot that is well
    _set(vm, "boot_success=1")
    vm.sh(f"grub-editenv {BLOCK} unset boot_counter")
    power_cycle(vm, 2)


@case("green", "greenboot: the boot after the confirmed one tries the arguments by itself")
def green_tries(vm):
    equal("reboots", vm.seen["resets"], 2)
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=8"])


# --- boot-complete.target -------------------------------------------------------------

CONFIRM = """[Unit]
Requires=boot-complete.target
After=boot-complete.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/true
[Install]
WantedBy=multi-user.target
"""


@state("boot complete", guest=OTHERS, after=FIRST_BOOTS)
def boot_complete(vm):
    vm.sh("printf 'schema: 1\\nboot_complete: true\\n' >/etc/railhead/railhead.conf")
    vm.sh(f"cat >/etc/systemd/system/confirm.service <<'END'\n{CONFIRM}END")
    vm.sh("systemctl enable confirm.service")
    vm.sh(f"sed -i 's/^hugepages:/hugepagez:/' {PROFILE}")
    power_cycle(vm, 1)


@case("boot complete", "boot_complete: a node that is blocked is not confirmed, and the boot goes on")
def blocked_is_not_confirmed(vm):
    equal("verdict", vm.seen["status"]["verdict"], "blocked")
    for unit in ("boot-complete.target", "confirm.service"):
        expect(not is_active(vm, unit), f"{unit} is active")
    expect(is_active(vm, "multi-user.target"), "multi-user.target is not active")


@state("boot complete, fit", guest=OTHERS)
def boot_complete_fit(vm):
    vm.sh(f"sed -i 's/^hugepagez:/hugepages:/' {PROFILE}")
    power_cycle(vm, 1)


@case("boot complete, fit", "boot_complete: a node that is ready is confirmed after its verdict")
def ready_is_confirmed(vm):
    equal("verdict", vm.seen["status"]["verdict"], "ready")
    if "could not be measured, disturbed" in vm.seen["console"]:
        # Ready after its gate had ended: as the manual says.
        vm.sh("systemctl start boot-complete.target confirm.service", 120)
    for unit in ("boot-complete.target", "confirm.service"):
        expect(is_active(vm, unit), f"{unit} is not active")
    started = [int(vm.sh(f"systemctl show -P {stamp} {unit}")) for stamp, unit in
               (("ActiveEnterTimestampMonotonic", "railhead-gate.service"),
                ("ActiveEnterTimestampMonotonic", "boot-complete.target"))]
    equal("order of the gate and the target", started, sorted(started))
