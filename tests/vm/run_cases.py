"""The program behind tests/vm/run.

Builds the package, the guests' images and what the cases bring along, boots
the guests and runs the cases. Logs and the console are kept in build/vm/run/.

All cases of Debian 12 have the short form of Debian 13 beside them, in a guest of
that release: what is tried there at each change. The rest is DIST=trixie.
"""

import argparse
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


def directory():
    return os.path.join(prepare.BUILD, "run")


def list_cases(selected):
    for state, title, _ in selected:
        print(f"{state}: {title}")


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


def run_guest(name, selected, number, again=False):
    """Returns how many cases of one guest passed, how many failed, what took how long, and why
    some failed.

    A guest whose emulator fails begins once more, from its first boot.
    """
    begin = time.monotonic()
    place = directory() if name == harness.MAIN else os.path.join(directory(), name)
    try:
        guest = prepare.guest(name, place)
    except prepare.PrepareError as error:
        # A test that cannot run is a failure, and so is each that it hides.
        print(f"not ok - {prepare.suite()} {name}: {error}")
        return 0, len(selected), [], [f"{name}: {error}"]
    cpu = guest.cpu_seconds()
    run = harness.Run(guest, selected, name, number, prepare.suite(), again)
    try:
        with guest:
            run.all()
    except harness.EmulatorFailed as error:
        for line in f"{error}\nthe guest {name} begins again".splitlines():
            print(f"# {line}", flush=True)
        return run_guest(name, selected, number, again=True)
    print(f"# vm cases of the guest {name} took {time.monotonic() - begin:.0f} s in all,"
          f" {guest.cpu_seconds() - cpu:.0f} s of them of a CPU", flush=True)
    return run.passed, run.failed, run.spent, run.reasons


def run_guests(groups, number):
    """One guest after the other."""
    total = NOTHING
    for name, selected in groups:
        total = add(total, run_guest(name, selected, number + total[0] + total[1]))
    return total


def run_to_log(groups, number, release, log):
    """In a process of its own, so that nothing of one guest reaches another."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with open(log, "w", buffering=1) as out:
        os.dup2(out.fileno(), 1)
        sys.stdout = out
        if release != prepare.DIST:
            prepare.use(release)
            fresh_directory()
        total = run_guests(groups, number)
        with open(f"{log}.json", "w") as result:
            json.dump(total, result)


class Worker:
    """Guests' cases, one guest's as a rule, run beside others."""

    def __init__(self, name, groups, number, release):
        self.name = name
        self.cases = count(groups)
        self.log = os.path.join(directory(), f"{name}.log")
        self.process = multiprocessing.Process(
            target=run_to_log, args=(groups, number, release, self.log))
        self.process.start()

    def finish(self):
        """Print what it said; returns what run_guest does."""
        self.process.join()
        with open(self.log) as text:
            sys.stdout.write(text.read())
        sys.stdout.flush()
        # A process that died has told nothing: all its cases have failed.
        if self.process.exitcode:
            return 0, self.cases, [], [f"{self.name}: its process died; see {self.log}"]
        with open(f"{self.log}.json") as result:
            return json.load(result)


# A guest that boots keeps one CPU busy, whatever it has. One more than there are CPUs: guests
# also wait, for a panic's reboot or for a timer.
AT_ONCE = min(len(os.sched_getaffinity(0)), 4) + 1


def memory_of(name):
    """What a task's guest takes at most."""
    return host.LARGE if name in (harness.MAIN, harness.DEVICES) else host.SMALL


def next_task(waiting, running, memory):
    """The first that has room beside those that run; one always runs."""
    left = memory - sum(memory_of(worker.name) for worker in running)
    if len(running) >= AT_ONCE:
        return None
    return next((task for task in waiting if not running or memory_of(task[0]) <= left), None)


def run_beside(tasks):
    """All guests, some of them at once; each one's log when it has ended."""
    total = NOTHING
    number = 0
    waiting, running = list(tasks), []
    memory = host.memory_available() - host.SPARE
    while waiting or running:
        while task := next_task(waiting, running, memory):
            waiting.remove(task)
            name, groups, release = task
            running.append(Worker(name, groups, number, release))
            number += count(groups)
        ended = multiprocessing.connection.wait([worker.process.sentinel for worker in running])
        for worker in [worker for worker in running if worker.process.sentinel in ended]:
            running.remove(worker)
            total = add(total, worker.finish())
    return total


def run_cases(selected, short):
    """Returns what run_guest does, of all guests.

    short: the cases for a guest of SHORT_DIST beside these.
    """
    fresh_directory()
    groups = harness.by_guest(selected)
    if len(groups) == 1 and not short:
        return run_guest(*groups[0], 0)
    prepare.images([name for name, _ in groups])  # each process would build them
    tasks = [(name, [(name, entries)], prepare.DIST) for name, entries in groups]
    if short:
        # Neither among the longest, nor begun so late that it ends last.
        tasks.insert(len(harness.LONGEST), (SHORT_DIST, harness.by_guest(short), SHORT_DIST))
    return run_beside(tasks)


def main():
    parser = argparse.ArgumentParser(prog="tests/vm/run")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--short", action="store_true", help="only those of the short form")
    parser.add_argument("word", nargs="*", help="part of a case's name")
    options = parser.parse_args()
    selected = harness.short() if options.short else harness.select(options.word)
    whole = not options.short and not options.word and prepare.DIST != SHORT_DIST
    if not selected:
        parser.error("no case has such a name")
    if options.list:
        list_cases(selected)
        return 0
    try:
        prepare.claim(max(memory_of(name) for name, _ in harness.by_guest(selected)))
    except prepare.PrepareError as error:
        print(f"not ok - {prepare.suite()}: {error}")
        prepare.write_tally(prepare.suite(), 0, len(selected))
        return 1
    passed, failed, spent, reasons = run_cases(selected, harness.short() if whole else [])
    say_slowest(spent)
    for reason in reasons:
        print(f"# failed: {reason}")
    prepare.write_tally(prepare.suite(), passed, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
