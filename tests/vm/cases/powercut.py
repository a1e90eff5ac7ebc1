"""Power cuts around the writes of kernel arguments and the reboot: whatever the moment, the
guest boots by itself and converges.

One run is recorded for each file system that railhead.env may be on: from the arming in
the initramfs over the reboot, GRUB's save_env and the trial to the commit at the verdict.
The disk of each moment is then booted (cutguest.py).
"""

import envfile
from harness import case, contains, equal, expect, state, status_json

PROFILE = "/etc/railhead/profiles/vm-layout.yaml"
NEW = "nosoftlockup"
FILE_SYSTEMS = ("ext4", "xfs", "vfat")

# Moments: the entry of the log that is the last one on the disk, relative to a change of
# railhead.env, or between two; and whether what was not flushed by then is lost in part.
MOMENTS = (
    ("in the initramfs, the slot is being written", lambda vm: vm.change("slot") + 1, True),
    ("in the initramfs, the trial is being armed", lambda vm: vm.change("arm") + 1, True),
    ("at the reboot", lambda vm: vm.change("taken"), False),
    ("GRUB has just taken the trial", lambda vm: vm.change("taken") + 1, False),
    ("in the middle of the trial",
     lambda vm: (vm.change("taken") + vm.change("commit")) // 2, True),
    ("right before the commit", lambda vm: vm.change("commit"), True),
    ("the commit is being written", lambda vm: vm.change("commit") + 1, True),
)


def _converged(vm, arg):
    vm.wait_until_booted()
    args = vm.read("/proc/cmdline").split()
    expect(arg in args, f"{arg} is not in {' '.join(args)}")
    equal("verdict", status_json(vm)["verdict"], "ready")
    contains("railhead plan", vm.sh("railhead plan", 120), "converged")


def _declare(name):
    guest = f"cut-{name}"

    @state(guest, guest=guest)
    def recorded(vm):
        vm.start()
        vm.wait_for_reset(1, 400)
        vm.wait_for_shell(400)
        _converged(vm, "skew_tick=1")
        vm.sh(f"sed -i 's#skew_tick=1#&, {NEW}#' {PROFILE}")
        vm.power_off()
        vm.record()
        vm.wait_for_shell(400, resets=1)
        _converged(vm, NEW)
        vm.end_record()

    @case(guest, "GRUB finds the args of before or after at each write, never less")
    def never_damaged(vm):
        found = set()
        for where, text in vm.all_that_grub_reads(vm.change("slot"), vm.change("commit") + 2):
            expect(text is not None, f"GRUB can't read railhead.env after {where}")
            meaning = envfile.meaning(envfile.parse(text))
            found.add((NEW in meaning.args, meaning.trial))
        equal("what the next boot gets: (the new args, on trial)", found,
              {(False, False), (True, True), (True, False)})

    for title, moment, lose in MOMENTS:
        _declare_moment(guest, title, moment, lose)


def _declare_moment(guest, title, moment, lose):
    @case(guest, f"power cut: {title}")
    def comes_back(vm):
        vm.at(moment(vm), lose)
        vm.power_on()
        try:
            vm.wait_for_shell(400, resets=2)
            _converged(vm, NEW)
        finally:
            vm.power_cut()


for _name in FILE_SYSTEMS:
    _declare(_name)
