"""The program behind tests/vm/demo.

Builds the package and a Debian 12 guest, boots it in QEMU and prints the
interesting lines of its console, then asks the guest what came of it. Leaves
build/ and the cache behind, nothing else.
"""

import argparse
import os
import re
import shutil
import sys
import time

sys.dont_write_bytecode = True

import prepare      # noqa: E402
import vm           # noqa: E402

INTERESTING = re.compile(
    r"railhead|Linux version|\] Command line:|HugeTLB: registered 1|Welcome to|Switching root"
    r"|reboot: |Kernel panic|Reached target .*(Multi-User|Network \(Pre|rails|Reboot)"
    r"|igb .*(VFs allocated|SR-IOV)|gated")
# Railhead's name is in these lines too, and they say nothing.
DULL = re.compile(r"Hostname set to|Kernel command line:|login:$")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# What the guest is asked at the end: the kernel first, railhead last.
QUESTIONS = (
    ("kernel arguments that arrived", "cat /proc/cmdline"),
    ("1G pages on each NUMA node",
     "grep . /sys/devices/system/node/node*/hugepages/hugepages-1048576kB/nr_hugepages"),
    ("VFs and their drivers",
     "for f in /sys/bus/pci/devices/*/virtfn*; do"
     " echo \"$f: $(basename \"$(readlink $f)\") $(basename \"$(readlink $f/driver)\")\"; done"),
    ("values", "sysctl net.core.rmem_max vm.swappiness"),
    ("what railhead logged in this boot",
     "journalctl -b --no-pager -o short-monotonic -t railhead _TRANSPORT=journal"),
    ("the unit that waited for the verdict",
     "systemctl show -p ActiveState,ExecMainStartTimestampMonotonic gated.service"),
    ("railhead status", "railhead status"),
)


class Show:
    """Prints the console's new lines, with the seconds since power-on."""

    def __init__(self, guest, everything):
        self.guest = guest
        self.everything = everything
        self.start = time.monotonic()
        self.position = 0
        self.rest = ""

    def seconds(self):
        return time.monotonic() - self.start

    def say(self, text):
        print(f"{self.seconds():6.1f} s  == {text}", flush=True)

    def new_lines(self):
        size = self.guest.console_size()
        text = self.rest + self.guest.console(self.position)
        self.position = size
        *lines, self.rest = text.split("\n")
        for line in lines:
            line = ESCAPES.sub("", line).strip()
            shown = INTERESTING.search(line) and not DULL.search(line)
            if line and (self.everything or shown):
                print(f"{self.seconds():6.1f} s  {line}", flush=True)

    def until(self, condition, what, timeout):
        end = time.monotonic() + timeout
        while not condition():
            self.new_lines()
            self.guest.check_alive()
            if time.monotonic() > end:
                raise vm.GuestError(f"waited {timeout} s for {what}")
            time.sleep(0.2)
        self.new_lines()


def show_boots(show, guest):
    show.say("power on; the first boot lacks kernel arguments")
    guest.start()
    show.until(lambda: guest.resets >= 1, "the reboot by the first boot's gate", 600)
    first = show.seconds()
    show.say(f"first boot: {first:.0f} s; its gate armed a trial of the arguments, and rebooted in order")
    guest.shell_said("ready")  # in the first boot
    show.until(lambda: guest.shell_said("ready"), "the second boot", 300)
    booted = guest.send("systemctl is-system-running --wait", 300)
    show.until(lambda: guest.poll(booted), "the end of the second boot", 300)
    show.say(f"second boot: {show.seconds() - first:.0f} s")


def ask(show, guest):
    for title, command in QUESTIONS:
        show.say(title)
        print(guest.run(command).output.rstrip(), flush=True)
    return guest.run("railhead status").status


def run(everything):
    prepare.claim()
    begin = time.monotonic()
    directory = os.path.join(prepare.logs(), "demo")
    shutil.rmtree(directory, ignore_errors=True)
    guest = prepare.main_guest(directory, with_payload=False)
    prepared = time.monotonic() - begin
    with guest:
        show = Show(guest, everything)
        show_boots(show, guest)
        status = ask(show, guest)
        booted = show.seconds()
    ready = "READY" if status == 0 else f"NOT READY (railhead status exits {status})"
    print(f"\n{ready}: {prepared:.0f} s to build and prepare, {booted:.0f} s for both boots.")
    print(f"The whole console is in {os.path.relpath(guest.console_path)}.")
    return 0 if status == 0 else 1


def main():
    parser = argparse.ArgumentParser(prog="tests/vm/demo")
    parser.add_argument("--all", action="store_true", help="show the whole console")
    options = parser.parse_args()
    try:
        return run(options.all)
    except (prepare.PrepareError, vm.GuestError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
