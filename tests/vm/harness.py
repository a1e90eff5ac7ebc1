"""The list of cases and the states of the guest that they are seen in.

A state is a place in the guest's life ("third boot"), reached from the state
before it in the list; a case looks at the guest in one state. Cases of a
snapshot each start from a copy of the guest as it was after the second boot,
and may break it. States are the life of the guest MAIN if they do not say
another one.
"""

import json
import os
import sys
import time
import traceback

from vm import GuestError

MAIN = "main"
DEVICES = "devices"  # the same machine, for the cases about NICs: the two run side by side
SNAPSHOT = "snapshot"
DEVICES_SNAPSHOT = "devices"
# Of which guest each is, and the state that it is taken in.
_snapshots = {SNAPSHOT: (MAIN, "boot2"), DEVICES_SNAPSHOT: (DEVICES, "devices' boot2")}

# Those that take longest begin first, so that no CPU is idle at the end.
LONGEST = (DEVICES, "trials", "trials-more", MAIN)

# The states whose cases are the short form: what CI sees on another release of Debian.
SHORT = ("trials", "panic", "soft-reboot", "soft-reboot, bad")

# They need systemd 254, which Debian 12 has not.
SOFT_REBOOTS = ("soft-reboot", "soft-reboot, bad")

_states = []  # (name, function, guest), in the order in which a guest runs through
_needs = {}   # of a state that does not need all states before it: those that it does
_cases = []   # (state, title, function)


class Failed(Exception):
    """An assertion of a case."""


def state(name, guest=MAIN, needs=None):
    """Declare a state; the function takes the guest there.

    needs: the states that it can't do without, if these are not all before it.
    """
    def declare(function):
        _states.append((name, function, guest))
        if needs is not None:
            _needs[name] = needs
        return function
    return declare


def case(state_name, title):
    """Declare a case: what is seen in a state."""
    def declare(function):
        _cases.append((state_name, title, function))
        return function
    return declare


def expect(condition, message):
    if not condition:
        raise Failed(message)


def equal(what, got, wanted):
    expect(got == wanted, f"{what}: got {got!r}, wanted {wanted!r}")


def contains(what, text, *wanted):
    for word in wanted:
        expect(word in text, f"{what}: {word!r} is not in:\n{text}")


def _shorten(text):
    """The reason stands at the beginning, the newest lines at the end."""
    lines = text.rstrip().splitlines()
    if len(lines) > 60:
        lines = lines[:10] + [f"... ({len(lines) - 50} lines left out)"] + lines[-40:]
    return lines


def select(words):
    """The cases whose state or title contains one of the words; all if none."""
    lacking = SOFT_REBOOTS if os.environ.get("DIST", "bookworm") == "bookworm" else ()
    return [entry for entry in _cases if entry[0] not in lacking
            if not words or any(word in f"{entry[0]}: {entry[1]}" for word in words)]


def short():
    return [entry for entry in _cases if entry[0] in SHORT]


def by_guest(selected):
    """The cases of each guest: those that take longest first."""
    guest_of = {name: guest for name, _, guest in _states}
    guest_of.update({name: guest for name, (guest, _) in _snapshots.items()})
    found = {}
    for entry in selected:
        found.setdefault(guest_of[entry[0]], []).append(entry)
    rank = {guest: i for i, guest in enumerate(LONGEST)}
    return sorted(found.items(), key=lambda item: (rank.get(item[0], len(rank)), -len(item[1])))


class EmulatorFailed(Exception):
    """QEMU, not the guest, is why a state was not reached or a case failed."""


class Run:
    """Runs the cases of one guest, prints a line for each, counts."""

    def __init__(self, vm, selected, guest=MAIN, number=0, suite="vm", again=False):
        self.vm = vm
        self.again = again  # the second time: whatever fails now counts
        self.suite = suite
        self.selected = selected
        self.states = [entry[:2] for entry in _states if entry[2] == guest]
        self.passed = 0
        self.failed = 0
        self.number = number
        self.spent = []  # seconds, those of a CPU, and by what: each state and case
        self.reasons = []  # a line for each case that failed

    def all(self):
        """Go through all states that selected cases need, in order.

        Raises EmulatorFailed while no case has failed; the rest is then as if it had not been.
        """
        for name, enter in self._path():
            reason = self._enter(name, enter)
            if reason:
                self._fail_the_rest(reason)
                return
            self._cases_of(name)
            # Right after the state that the snapshot was taken in, so that a
            # broken later boot cannot take these cases with it.
            for snapshot, (_, taken_in) in _snapshots.items():
                if name == taken_in:
                    self._snapshot_cases(snapshot)

    def _path(self):
        """The states to go through, for the cases that are selected."""
        needed = {entry[0] for entry in self.selected}
        needed.update(state for name, (_, state) in _snapshots.items() if name in needed)
        for i in range(len(self.states) - 1, -1, -1):
            name = self.states[i][0]
            if name in needed:
                before = [state[0] for state in self.states[:i]]
                needed.update(_needs.get(name, before))
        return [state for state in self.states if state[0] in needed]

    def _clock(self):
        return time.monotonic(), self.vm.cpu_seconds()

    def _spend(self, begin, what):
        """Note what took so long since the clock was read."""
        took, cpu = (now - then for now, then in zip(self._clock(), begin))
        self.spent.append((took, cpu, what))
        return f"{took:.1f} s, {cpu:.1f} of a CPU"

    def _enter(self, name, enter):
        begin = self._clock()
        try:
            enter(self.vm)
        except Exception as error:
            self._blame_emulator(error)
            return f"{name} was not reached: {_describe(error)}"
        print(f"# {name}: reached in {self._spend(begin, f'reaching {name}')}", flush=True)
        return None

    def _blame_emulator(self, error):
        reason = self.vm.emulator_failed()
        if reason and not self.failed and not self.again:
            raise EmulatorFailed(reason) from error

    def _cases_of(self, name):
        for entry in self._take(name):
            self._run(entry)

    def _snapshot_cases(self, snapshot):
        entries = self._take(snapshot)
        for entry in entries:
            self._run(entry, load=True)
        if entries:
            self.vm.load("ready")

    def _take(self, name):
        entries = [entry for entry in self.selected if entry[0] == name]
        self.selected = [entry for entry in self.selected if entry[0] != name]
        return entries

    def _run(self, entry, load=False):
        begin = self._clock()
        try:
            if load:
                self.vm.load("ready")
            entry[2](self.vm)
        except Exception as error:
            self._blame_emulator(error)
            self._report(entry, begin, _describe(error))
            self._explain()
        else:
            self._report(entry, begin, None)

    def _report(self, entry, begin, reason):
        self.number += 1
        took = f" # {self._spend(begin, f'{entry[0]}: {entry[1]}')}" if begin else ""
        print(f"{'not ok' if reason else 'ok'} {self.number} - {self.suite} {entry[0]}: {entry[1]}"
              f"{took}")
        if reason:
            self.failed += 1
            self.reasons.append(f"{self.number} - {entry[0]}: {entry[1]}: {reason.splitlines()[0]}"
                                f" (logs in {os.path.relpath(self.vm.directory)})")
            print("".join(f"#   {line}\n" for line in _shorten(reason)), end="")
        else:
            self.passed += 1
        sys.stdout.flush()

    def _fail_the_rest(self, reason):
        for entry in self.selected:
            self._report(entry, None, reason)
            reason = reason.split("\n")[0]
        print(f"#   the console's log is {os.path.relpath(self.vm.console_path)}")

    def _explain(self):
        """Leave what a person would look at first, beside the console's log."""
        path = os.path.join(self.vm.directory, f"failure-{self.number}.txt")
        command = ("railhead status; systemctl --failed --no-pager; systemctl list-jobs;"
                   " cat /proc/cmdline; journalctl -b --no-pager -o short-monotonic"
                   " | tail -n 400")
        try:
            text = self.vm.run(command, 30).output
        except GuestError as error:
            text = str(error)
        with open(path, "w") as out:
            out.write(text)
        print(f"#   the guest's state is in {os.path.relpath(path)}", flush=True)


def _describe(error):
    if isinstance(error, (Failed, GuestError)) and str(error):
        return str(error)
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


# --- what many cases ask of the guest -------------------------------------

def status_json(vm):
    return json.loads(vm.read("/run/railhead/status.json"))


def json_of(vm, command, statuses=(0,), timeout=60):
    """Run a railhead command that prints JSON, with one of the exit statuses."""
    result = vm.run(f"{command} 2>/run/stderr", timeout)
    stderr = vm.run("cat /run/stderr").output
    expect(result.status in statuses,
           f"exit status {result.status} of {command}, wanted one of {statuses}:\n"
           f"{result.output}{stderr}")
    try:
        return json.loads(result.output)
    except ValueError:
        raise Failed(f"{command} printed no JSON:\n{result.output}")


def exits(vm, command, status, timeout=60):
    """Run a command that must end with this exit status; returns its output."""
    result = vm.run(command, timeout)
    expect(result.status == status,
           f"exit status {result.status} of: {command}, wanted {status}:\n{result.output}")
    return result.output


def verdict(vm):
    return status_json(vm)["verdict"]


def leave_devices(vm):
    """What a case takes from a device stays away: railhead does not bring it back by itself."""
    vm.sh("test -e /run/systemd/system/railhead-device@.service"
          " || systemctl mask --quiet --runtime railhead-device@.service", 60)


def load_igb(vm):
    """Without IPv6 on its netdevs. Its search for duplicate addresses adds multicast addresses, and
    igb of 6.1 then looks into the table of VFs, which is not there yet while VFs are made: it panics,
    once in some hundred times (igb_enable_sriov() sets vfs_allocated_count before vf_data).
    """
    vm.sh("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 && modprobe igb", 60)


def let_stop(vm, unit):
    """From now on the unit may be stopped by hand: only a shutdown may otherwise."""
    directory = f"/run/systemd/system/{unit}.d"
    vm.sh(f"mkdir -p {directory} && printf '[Unit]\\nRefuseManualStop=no\\n' >{directory}/stop.conf"
          " && systemctl daemon-reload", 60)


def is_active(vm, unit):
    return vm.run(f"systemctl is-active {unit}").output.strip() == "active"
