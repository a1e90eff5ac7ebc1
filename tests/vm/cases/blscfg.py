"""A menu that GRUB makes of the entries in /boot/loader/entries, as Fedora and RHEL have it, and Debian
since GRUB 2.14. How GRUB reads the words there is seen in tests/long/blscfg."""

import re

from cases.layouts import BOOTDIR, FIRST_BOOTS
from cases.trials import MENU, WANTED, arm, is_converged, power_cycle, trials
from harness import case, equal, expect, state

# For the block of 10_linux: the kernel's lines in an entry, and blscfg.
ENTRY = r"""set -e
mkdir -p /boot/loader/entries
{ echo title blscfg; echo version 1
  sed -nE 's/^\s*(linux|initrd)\s+(\S+).*/\1 \2/p' %(menu)s | head -n 2
  sed -nE 's/^\s*linux\s+\S+\s+/options /p' %(menu)s | head -n 1
} >/boot/loader/entries/vm.conf
sed -i '/BEGIN .*10_linux/,/END .*10_linux/d' %(menu)s
echo 'blscfg --path /boot/loader/entries' >>%(menu)s
cat /boot/loader/entries/vm.conf"""


@state("blscfg", guest=BOOTDIR, after=FIRST_BOOTS)
def blscfg(vm):
    entry = vm.sh(ENTRY % {"menu": MENU})
    expect(re.search(r"^options .*\$railhead_kargs", entry, re.M), f"no variable in\n{entry}")
    arm(vm, WANTED + ["version=9"])
    power_cycle(vm, 1)


@case("blscfg", "by blscfg the args arrive in one trial, and are kept")
def args_arrive(vm):
    equal("reboots", vm.seen["resets"], 1)
    equal("trials", len(trials(vm)), 1)
    is_converged(vm, WANTED + ["version=9"])
