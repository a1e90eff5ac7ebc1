"""The list of cases and the states of the guest that they are seen in.

A state is a place in a guest's life ("panic again"), come to from the state that it is declared
to be after; so the states form a tree, at whose root a guest is switched on. A case looks at a
guest in one state. Where several states or cases begin from one state, the guest goes back to a
snapshot of it for each of them.

The states of a guest, in a process of its own, can begin from one of another guest with the same
disk and hardware: the first that comes there keeps it for the others in the cache, as the states
of chosen cases are all kept, so that the next run of these cases begins there.
"""

import collections
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import time
import traceback

import cache
from vm import GuestError

RECORD = "/run/railhead/status.json"
ORDERLY = "guest: units are stopped"  # on the console, by orderly.service of the guests
MAIN = "main"
DEVICES = "devices"  # the same machine, for the cases about NICs: the two run side by side

# Cases that each begin from a snapshot of a state, and may break the guest: the guest and the
# state. Their names stand before those of the cases like a state's.
SNAPSHOT = "snapshot"
DEVICES_SNAPSHOT = "devices"
_snapshots = {SNAPSHOT: (MAIN, "boot2"), DEVICES_SNAPSHOT: (DEVICES, "boot2")}

# Those that take longest begin first, so that no CPU is idle at the end; before them those whose
# first state others begin from.
LONGEST = ("bootdir", MAIN, DEVICES, "trials-more", "trials")

# They need systemd 254, which Debian 12 has not.
SOFT_REBOOTS = ("soft-reboot", "soft-reboot, bad")

# What Debian 12 and 11 lack: that systemd, and Linux 6.11 with pci=config_acs=.
NEWER = SOFT_REBOOTS + ("translated way",)

# It needs GRUB 2.14.
BLSCFG = ("blscfg",)

# The states that each release lacks.
LACKING = {"bullseye": NEWER + BLSCFG, "bookworm": NEWER + BLSCFG, "trixie": BLSCFG, "forky": ()}

# The states whose cases are all that is run of the oldest release and of the next one, unless cases
# are named: the boots with arguments by trial, by BIOS and by EFI, the verdict, and a trial that
# panics and comes back.
CORE = ("bootdir2", "efi2", "panic", "panic again") + BLSCFG
ONLY_CORE = ("bullseye", "forky")

# The states whose cases are the short form: what CI sees on another release of Debian.
SHORT = SOFT_REBOOTS

# States, guests and cases that `make check` has no time for: variations of a trial, whose decision
# the unit tests and the model see too, of a disk's layout and of a package's life, and power cuts.
# `make check-long` runs them, of both releases.
LONG = ("shell", "emergency", "memory", "version back", "no reboot", "own reboot", "entry", "entries",
        "menu back", "direct", "uplink", "read-only", "writable", "recovery", "rescue", "single", "crash",
         "malformed", "reset", "cut trials", "orderly stops", "left alone", "forgiven",
         "offline update", "update first", "masked gate",
         "pid_max", "offline", "two cuts", "other image", "other kernel", "kernel back", "converged", "dead trial",
        "initramfs-tools: hang", "initramfs-tools: none", "initramfs-tools: break", "lost env",
        "rauc", "rauc, good", "rauc, dead", "greenboot", "green", "boot complete", "boot complete, fit",
        "xfs", "lvm", "cut-ext4", "cut-xfs", "cut-vfat", "p2p",
        "snapshot: reinstall, downgrade and upgrade restart nothing and keep the args and edits",
        "snapshot: a user's own GRUB_CMDLINE_LINUX outlives apply, a new kernel, reset and removal",
        "snapshot: removing takes the args out, purging leaves nothing, and the guest boots",
        "devices: irqbalance of Debian is told to leave the vectors of the profile alone",
        "devices: mounts: NFS over RDMA without a device, and where the server has TCP alone: why, in time;"
        " then it comes",
        "devices: mounts: NFS at a wrong port is refused, and reported with the server's words in time",
        "devices: killed before each write of the creation of an igb VF, the next run converges",
        "devices: network managers leave the VFs alone where the profile asks for it",
        "devices: VFs get the addresses of a list; what the driver can't do is named",
        "devices: the double's faults: on one PF or all, and it leaves nothing behind")

State = collections.namedtuple("State", "name enter guest after kept")
PREVIOUS = "the state of the same guest that is declared before"

_states = {}  # by name, as declared
_cases = []   # (state, title, function)


class Failed(Exception):
    """An assertion of a case."""


def state(name, guest=MAIN, after=PREVIOUS, kept=True):
    """Declare a state; the function takes a guest there that is in the state "after".

    A guest's first one, if it is after none, switches the guest on.

    kept: False if QEMU can't take a snapshot of the guest then.
    """
    def declare(function):
        before = after
        if before is PREVIOUS:
            before = next((one.name for one in reversed(_states.values()) if one.guest == guest),
                          None)
        _states[name] = State(name, function, guest, before, kept)
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


def _of_release(release):
    return [entry for entry in _cases if entry[0] not in LACKING[release]]


def select(words, release):
    """The cases whose state or title contains one of the words; if none, all that are run."""
    found = _of_release(release)
    if words:
        return [entry for entry in found if any(word in title_of(entry) for word in words)]
    return [entry for entry in found if release not in ONLY_CORE or entry[0] in CORE]


def title_of(entry):
    return f"{entry[0]}: {entry[1]}"


def _is_long(entry):
    return bool({entry[0], _guest_and_state(entry)[0], title_of(entry)}.intersection(LONG))


def without_long(selected):
    return [entry for entry in selected if not _is_long(entry)]


def long(release):
    return [entry for entry in _of_release(release) if _is_long(entry)]


def short(release):
    return [entry for entry in _of_release(release) if entry[0] in SHORT]


def by_guest(selected):
    """The cases of each guest: those that take longest first."""
    found = {}
    for entry in selected:
        found.setdefault(_guest_and_state(entry)[0], []).append(entry)
    rank = {guest: i for i, guest in enumerate(LONGEST)}
    return sorted(found.items(), key=lambda item: (rank.get(item[0], len(rank)), -len(item[1])))


def _guest_and_state(entry):
    name = entry[0]
    return _snapshots.get(name) or (_states[name].guest, name)


def _ancestors(one):
    """A state and all those on the way to it."""
    while one:
        yield one
        one = _states.get(one.after)


def begins_from(guest, selected):
    """The other guests whose states the guest begins from, for these cases of it."""
    return {way.guest for entry in selected
            for way in _ancestors(_states[_guest_and_state(entry)[1]])} - {guest}


# --- what a state is made by -------------------------------------------------

def _code(code):
    """What a function does, as text, wherever it stands."""
    yield f"{code.co_code.hex()} {code.co_names}"
    for value in code.co_consts:
        if inspect.iscode(value):
            yield from _code(value)
        else:
            yield repr(sorted(value, key=repr) if isinstance(value, frozenset) else value)


def _made_by(value, known):
    """A function and what it names in the cases' modules, as text."""
    if inspect.isfunction(value):
        if value in known or not value.__module__.startswith("cases"):
            return []
        known.add(value)
        named = inspect.getclosurevars(value)
        found = [repr(value.__defaults__), *_code(value.__code__)]
        for name, one in sorted({**named.globals, **named.nonlocals}.items()):
            found += [name] + _made_by(one, known)
        return found
    return [repr(value)] if isinstance(value, (str, int, tuple, list)) else []


def state_key(name, vm):
    """Of a state of this guest: another one once the way there is another."""
    parts = [repr(vm.identity)]
    for way in _ancestors(_states[name]):
        parts += [way.name] + _made_by(way.enter, set())
    return cache.digest(*parts)


def _tag(name):
    """A state's name for QEMU."""
    return re.sub(r"\W+", "-", name)


class EmulatorFailed(Exception):
    """QEMU, not the guest, is why a state was not reached or a case failed."""


class Run:
    """Runs the cases of one guest, prints a line for each, counts.

    keep_all: whether the guest is kept in each state, not only in its first one.
    on_first: called when others can begin from the first one, or never will.
    """

    def __init__(self, vm, selected, guest=MAIN, number=0, suite="vm", again=False, keep_all=False,
                 on_first=None):
        self.vm = vm
        self.again = again  # the second time: whatever fails now counts
        self.suite = suite
        self.guest = guest
        self.selected = selected
        self.keep_all = keep_all
        self.on_first = on_first
        self.at = None          # the state that the guest is in, untouched
        self.entered = set()    # the states that it was in
        self.saved = set()      # the states that its disk has a snapshot of
        self.unreached = {}     # why, by the state's name
        self.passed = 0
        self.failed = 0
        self.number = number
        self.spent = []  # seconds, those of a CPU, and by what: each state and case
        self.reasons = []  # a line for each case that failed

    def all(self):
        """Go to all states that selected cases need, in the order in which they are declared.

        Raises EmulatorFailed while no case has failed; the rest is then as if it had not been.
        """
        wanted = {_guest_and_state(entry)[1] for entry in self.selected}
        self.path = [one for one in _states.values() if one.name in wanted]
        for self.position, one in enumerate(self.path):
            reached = self._reach(one.name)
            if self.on_first:
                self.on_first()
            if reached:
                self._cases_of(one.name)
                # Right after it, so that what comes later cannot take these cases with it.
                for snapshot in self._snapshots_of(one.name):
                    self._snapshot_cases(snapshot, one.name)
            else:
                self._fail(one.name)

    # --- states --------------------------------------------------------------

    def _reach(self, name):
        """Bring the guest into a state; False if that can't be done (unreached)."""
        if self.at == name:
            return True
        if name in self.unreached:
            return False
        before = _states[name].after
        try:
            if name in self.saved:
                self._load(name)
            elif not self._begin_from_cache(name):
                if before and not self._reach(before):
                    self.unreached[name] = self.unreached[before]
                    return False
                self._enter(_states[name])
        except Exception as error:
            self._blame_emulator(error)
            self.unreached[name] = f"{name} was not reached: {_describe(error)}"
            return False
        self.at = name
        return True

    def _load(self, name):
        self.at = None
        self.vm.load(_tag(name))

    def _begin_from_cache(self, name):
        place = self.vm.can_save and cache.find("state", state_key(name, self.vm))
        if not place:
            return False
        begin = self._clock()
        self.at = None
        try:
            self.vm.begin_at(place)
        except GuestError as error:
            print(f"# {name} in the cache is of no use: {error}", flush=True)
            cache.remove(place)
            return False
        self.entered.add(name)
        self.saved = {name}
        print(f"# {name}: begun from the cache in {self._spend(begin, f'beginning from {name}')}",
              flush=True)
        return True

    def _enter(self, one):
        begin = self._clock()
        self.at = None
        one.enter(self.vm)
        self.entered.add(one.name)
        # A new QEMU with a new disk has no snapshots.
        if one.after is None:
            self.saved = set()
        print(f"# {one.name}: reached in {self._spend(begin, f'reaching {one.name}')}", flush=True)
        if not (one.kept and self.vm.can_save):
            return
        self._forget()
        keep = self.keep_all or one.after is None
        if keep or self._comes_back(one.name):
            self.vm.save(_tag(one.name))
            self.saved.add(one.name)
        if keep:
            self._keep(one)

    def _keep(self, one):
        """In the cache; if that has no room, whoever would begin there comes there by himself."""
        try:
            with cache.making("state", state_key(one.name, self.vm)) as place:
                self.vm.keep(_tag(one.name), place)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"# {one.name} is not kept: {error}", flush=True)
        for way in _ancestors(one):  # as used now: of more use than what is after them
            cache.find("state", state_key(way.name, self.vm))

    def _forget(self):
        """The snapshots that nothing begins from any more: else each state's copy has them all."""
        ahead = {way.after for one in self.path[self.position:] for way in _ancestors(one)
                 if way.name not in self.entered}
        for name in self.saved - ahead:
            self.vm.forget(_tag(name))
            self.saved.remove(name)

    def _comes_back(self, name):
        """Is a state more than a step on the way to the next one?"""
        ways = {way.name: way for one in self.path for way in _ancestors(one)}
        return (sum(way.after == name for way in ways.values()) > 1
                or any(entry[0] in self._snapshots_of(name) for entry in self.selected))

    def _snapshots_of(self, name):
        """What the cases that begin from a snapshot of a state are declared for."""
        return [snapshot for snapshot, place in _snapshots.items() if place == (self.guest, name)]

    def _clock(self):
        return time.monotonic(), self.vm.cpu_seconds()

    def _spend(self, begin, what):
        """Note what took so long since the clock was read."""
        took, cpu = (now - then for now, then in zip(self._clock(), begin))
        self.spent.append((took, cpu, what))
        return f"{took:.1f} s, {cpu:.1f} of a CPU"

    def _blame_emulator(self, error):
        reason = self.vm.emulator_failed()
        if reason and not self.failed and not self.again:
            raise EmulatorFailed(reason) from error

    # --- cases ---------------------------------------------------------------

    def _cases_of(self, name):
        for entry in self._take(name):
            self._run(entry)
            # What is after a state begins from the state, not from what cases made of the guest.
            if name in self.saved:
                self.at = None

    def _snapshot_cases(self, snapshot, name):
        for entry in self._take(snapshot):
            self._run(entry, begin_from=name)

    def _take(self, name):
        entries = [entry for entry in self.selected if entry[0] == name]
        self.selected = [entry for entry in self.selected if entry[0] != name]
        return entries

    def _run(self, entry, begin_from=None):
        begin = self._clock()
        try:
            if begin_from:
                self._load(begin_from)
            entry[2](self.vm)
        except Exception as error:
            self._blame_emulator(error)
            self._report(entry, begin, _describe(error))
            self._explain()
        else:
            self._report(entry, begin, None)

    def _report(self, entry, begin, reason):
        self.number += 1
        took = f" # {self._spend(begin, title_of(entry))}" if begin else ""
        print(f"{'not ok' if reason else 'ok'} {self.number} - {self.suite} {title_of(entry)}{took}")
        if reason:
            self.failed += 1
            self.reasons.append(f"{self.number} - {title_of(entry)}: {reason.splitlines()[0]}"
                                f" (logs in {os.path.relpath(self.vm.directory)})")
            print("".join(f"#   {line}\n" for line in _shorten(reason)), end="")
        else:
            self.passed += 1
        sys.stdout.flush()

    def _fail(self, name):
        """All cases of a state that was not reached."""
        reason = self.unreached[name]
        for declared_for in [name] + self._snapshots_of(name):
            for entry in self._take(declared_for):
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
    record = json.loads(vm.read(RECORD))
    uncoded = [fault["reason"] for fault in record.get("faults", []) if not fault.get("code")]
    expect(not uncoded, f"reasons without a fault code: {uncoded}")
    return record


def expect_fault(vm, code, about):
    """The record has a fault of that code, whose reason has the words."""
    faults = [(fault["code"], fault["reason"]) for fault in status_json(vm).get("faults", [])]
    expect(any(one == code and about in reason for one, reason in faults),
           f"no {code} of {about}: {faults}")


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


EVENTUALLY_S = 300


def eventually(vm, condition):
    """Wait until a condition of the shell is met, inside the guest: slow questions from outside would
    miss what is there for a moment."""
    until = shlex.quote(f"until {condition}; do sleep 0.1; done")
    if vm.run(f"timeout {EVENTUALLY_S} sh -c {until}", EVENTUALLY_S + 10).status != 0:
        raise GuestError(f"not within {EVENTUALLY_S} s: {condition}\n"
                         + vm.run("railhead status; systemctl list-jobs;"
                                  " journalctl -b --no-pager -u 'railhead-*' | tail -n 40").output)


def gate_ready(vm, more="", timeout=180):
    """Run the gate; it must end ready, perhaps only after what disturbed a measurement is over."""
    said = vm.run(f"railhead gate {more} 2>&1", timeout).output
    vm.wait_until_undisturbed()
    expect(verdict(vm) == "ready", f"verdict: got {verdict(vm)!r}, wanted 'ready':\n{said}")


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
