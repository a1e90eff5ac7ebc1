"""The program behind tests/vm/run.

Builds the package, the guests' disks and what the cases bring along, boots the guests and runs the
cases. Logs and the console are kept in build/vm/run/; what is built, and the states in which guests
begin again, in the cache (cache.py). Cases that are chosen by words leave each state that they come
through there, so that they can be run again at once.

All cases of Debian 12 have the short form of Debian 13 beside them, in a guest of
that release: what is tried there at each change. The rest is DIST=trixie.
"""

import argparse
import contextlib
import ctypes
import json
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True

import cases      # noqa: E402 (declares them)
import harness    # noqa: E402
import host       # noqa: E402
import prepare    # noqa: E402

PR_SET_PDEATHSIG = 1
SHORT_DIST = "trixie"
WHOLE_DIST = "bookworm"  # beside whose cases that short form is run


def directory():
    return os.path.join(prepare.logs(), "run")


def list_cases(selected):
    for entry in selected:
        print(harness.title_of(entry))


def fresh_directory():
    shutil.rmtree(directory(), ignore_errors=True)
    os.makedirs(directory())


def count(groups):
    return sum(len(selected) for _, selected in groups)


NOTHING = (0, 0, [], [])


def add(one, other):
    """The sum of what two guests' cases came to (run_guest)."""
    return tuple(a + b for a, b in zip(one, other))


def say_slowest(spent):
    """The time that is no CPU's is waiting, for a CPU as well."""
    print("# the slowest:")
    for took, cpu, what in sorted(spent, reverse=True)[:10]:
        print(f"#   {took:6.1f} s, {cpu:6.1f} of a CPU: {what}")


def run_guest(name, selected, number, keep_all=False, on_first=None, again=False):
    """Returns how many cases of one guest passed, how many failed, what took how long, and why
    some failed.

    keep_all, on_first: see harness.Run. A guest whose emulator fails begins once more, with one
    thread for all its CPUs.
    """
    begin = time.monotonic()
    place = directory() if name == harness.MAIN else os.path.join(directory(), name)
    try:
        guest = prepare.guest(name, place)
    except prepare.PrepareError as error:
        # A test that cannot run is a failure, and so is each that it hides.
        print(f"not ok - {prepare.suite()} {name}: {error}")
        return 0, len(selected), [], [f"{name}: {error}"]
    guest.one_thread = again
    cpu = guest.cpu_seconds()
    run = harness.Run(guest, selected, name, number, prepare.suite(), again, keep_all, on_first)
    try:
        with guest:
            run.all()
    except harness.EmulatorFailed as error:
        for line in f"{error}\nthe guest {name} begins again".splitlines():
            print(f"# {line}", flush=True)
        return run_guest(name, selected, number, keep_all, on_first, again=True)
    print(f"# vm cases of the guest {name} took {time.monotonic() - begin:.0f} s in all,"
          f" {guest.cpu_seconds() - cpu:.0f} s of them of a CPU", flush=True)
    return run.passed, run.failed, run.spent, run.reasons


@contextlib.contextmanager
def alone(log):
    """In a process of its own, which ends with its parent: what it prints goes to a log."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with open(log, "w", buffering=1) as out:
        os.dup2(out.fileno(), 1)
        sys.stdout = out
        yield


def run_to_log(groups, number, release, log, keep_all, on_first):
    """So that nothing of one guest reaches another."""
    with alone(log):
        if release != prepare.DIST:
            prepare.use(release)
            fresh_directory()
        total = NOTHING
        for name, selected in groups:
            total = add(total, run_guest(name, selected, number + total[0] + total[1], keep_all,
                                         on_first))
        with open(f"{log}.json", "w") as result:
            json.dump(total, result)


class Worker:
    """Guests' cases, one guest's as a rule, run beside others."""

    def __init__(self, task, number, keep_all):
        self.task = task
        self.log = os.path.join(directory(), f"{task.name}.log")
        self.process = multiprocessing.Process(
            target=run_to_log,
            args=(task.groups, number, task.release, self.log, keep_all, task.first.set))
        self.process.start()

    def finish(self):
        """Print what it said; returns what run_guest does."""
        self.process.join()
        with open(self.log) as text:
            sys.stdout.write(text.read())
        sys.stdout.flush()
        # A process that died has told nothing: all its cases have failed.
        if self.process.exitcode:
            return (0, count(self.task.groups), [],
                    [f"{self.task.name}: its process died; see {self.log}"])
        with open(f"{self.log}.json") as result:
            return json.load(result)


# How many CPUs guests keep busy that also wait, for timers and for what takes too long on purpose, as
# the figures of a run are; others one.
BUSY = {harness.MAIN: 0.8, harness.DEVICES: 0.5, "trials": 0.6, "initramfs-tools": 0.5}


def memory_of(name):
    """What the guest takes at most."""
    return host.LARGE if name in (harness.MAIN, harness.DEVICES) else host.SMALL


class Task:
    """What a worker does."""

    def __init__(self, name, groups, release):
        self.name = name
        self.groups = groups
        self.release = release
        self.first = multiprocessing.Event()  # others can begin where this guest was first
        self.disks = multiprocessing.Event()  # they are built, or the guest says why not
        self.cpus = BUSY.get(name, 1)
        self.memory = memory_of(name)
        self.begins_from = harness.begins_from(*groups[0]) if len(groups) == 1 else set()

    def may_begin(self, others):
        """Not while its disks or the state that it begins from are still being made."""
        return self.disks.is_set() and not any(
            other.name in self.begins_from and not other.first.is_set() for other in others)


def build_disks(row, tasks, log):
    """What the guests of these tasks are made from."""
    with alone(log):
        for names in row:
            try:
                prepare.disks_of(names)
            except prepare.PrepareError:
                pass  # whoever asks for that guest fails, and says why
            for task in tasks:
                if task.name in names:
                    task.disks.set()


class Builder:
    """Builds disks while other guests run already."""

    def __init__(self, number, row, tasks):
        self.log = os.path.join(directory(), f"disks{number}.log")
        self.task = None
        self.tasks = tasks
        self.process = multiprocessing.Process(target=build_disks, args=(row, tasks, self.log))
        self.process.start()

    def finish(self):
        self.process.join()
        with open(self.log) as text:
            sys.stdout.write(text.read())
        for task in self.tasks:
            task.disks.set()  # if the process died: nobody waits for it
        return NOTHING


# Three guests that boot on two CPUs take an eighth more of them, all in all, than two.
CPUS = min(len(os.sched_getaffinity(0)), 4) + 0.3


def next_task(waiting, running, memory):
    """The first that can begin and has room beside those that run; one always runs."""
    tasks = [worker.task for worker in running if worker.task]
    left = memory - sum(task.memory for task in tasks)
    busy = len(running) - len(tasks) + sum(task.cpus for task in tasks)
    return next((task for task in waiting
                 if task.may_begin([other for other in waiting + tasks if other is not task])
                 and (not tasks or task.memory <= left)
                 and (not running or busy + task.cpus <= CPUS)), None)


def run_beside(tasks, running, number, keep_all):
    """All guests, some of them at once, beside what runs already; each one's log when it has ended.

    number: of the last case of those.
    """
    total = NOTHING
    waiting = list(tasks)
    memory = host.memory_available() - host.SPARE
    while waiting or running:
        while task := next_task(waiting, running, memory):
            waiting.remove(task)
            running.append(Worker(task, number, keep_all))
            number += count(task.groups)
        # Whether a guest has come to its first state, or a disk is there, is looked at once a second.
        ended = multiprocessing.connection.wait([worker.process.sentinel for worker in running], 1)
        for worker in [worker for worker in running if worker.process.sentinel in ended]:
            running.remove(worker)
            total = add(total, worker.finish())
    return total


def run_cases(selected, short, keep_all):
    """Returns what run_guest does, of all guests.

    short: the cases for guests of SHORT_DIST beside these.
    """
    fresh_directory()
    groups = harness.by_guest(selected)
    if len(groups) == 1 and not short:
        return run_guest(*groups[0], 0, keep_all)
    tasks = [Task(name, [(name, entries)], prepare.DIST) for name, entries in groups]
    running = []
    try:
        # Each process would build them.
        prepare.qemu()
        prepare.packages()
        if short:  # with disks of its own, so that it can begin meanwhile
            running = [Worker(Task(SHORT_DIST, harness.by_guest(short), SHORT_DIST), 0, keep_all)]
        prepare.full_disk()
    except prepare.PrepareError as error:
        print(f"# {error}")  # each guest begins, and fails by it
    rows = prepare.can_be_built_side_by_side([task.name for task in tasks])
    running += [Builder(number, row, [task for task in tasks
                                      if any(task.name in names for names in row)])
                for number, row in enumerate(rows)]
    with contextlib.suppress(prepare.PrepareError):
        prepare.basics()  # tries KVM, which takes a while, but only once
    return run_beside(tasks, running, len(short), keep_all)


def select(options, whole):
    if options.short:
        return harness.short(prepare.DIST)
    if options.long:
        return harness.long(prepare.DIST)
    selected = harness.select(options.word, prepare.DIST)
    return harness.without_long(selected) if whole else selected


def main():
    parser = argparse.ArgumentParser(prog="tests/vm/run")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--short", action="store_true", help="only those of the short form")
    parser.add_argument("--long", action="store_true", help="only those that `make check` leaves out")
    parser.add_argument("word", nargs="*", help="part of a case's name")
    options = parser.parse_args()
    whole = not (options.word or options.short or options.long) and prepare.DIST == WHOLE_DIST
    selected = select(options, whole)
    if not selected:
        parser.error("no case has such a name")
    if options.list:
        list_cases(selected)
        return 0
    if whole:
        print(f"# not run: {len(harness.long(prepare.DIST))} cases of make check-long")
    try:
        prepare.claim(max(memory_of(name) for name, _ in harness.by_guest(selected)))
    except prepare.PrepareError as error:
        print(f"not ok - {prepare.suite()}: {error}")
        prepare.write_tally(prepare.suite(), 0, len(selected))
        return 1
    passed, failed, spent, reasons = run_cases(
        selected, harness.short(SHORT_DIST) if whole else [], keep_all=bool(options.word))
    say_slowest(spent)
    for reason in reasons:
        print(f"# failed: {reason}")
    if reasons:
        print("# one of them again, from its state: [DIST=...] tests/vm/run 'STATE: CASE'")
    prepare.write_tally(prepare.suite(), passed, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
