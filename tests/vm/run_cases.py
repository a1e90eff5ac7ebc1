"""The program behind tests/vm/run.

Builds the package, the guests' images and what the cases bring along, boots
the guests and runs the cases. Logs and the console are kept in build/vm/run/.
"""

import argparse
import multiprocessing
import os
import shutil
import sys
import time

sys.dont_write_bytecode = True

import cases      # noqa: E402 (declares them)
import harness    # noqa: E402
import prepare    # noqa: E402

DIRECTORY = os.path.join(prepare.BUILD, "run")


def list_cases(selected):
    for state, title, _ in selected:
        print(f"{state}: {title}")


def run_guest(name, selected, number):
    """Returns how many cases of one guest passed and how many failed."""
    begin = time.monotonic()
    place = DIRECTORY if name == harness.MAIN else os.path.join(DIRECTORY, name)
    try:
        guest = prepare.guest(name, place)
    except prepare.PrepareError as error:
        # A test that cannot run is a failure, and so is each that it hides.
        print(f"not ok - vm {name}: {error}")
        return 0, len(selected)
    with guest:
        run = harness.Run(guest, selected, name, number)
        run.all()
    print(f"# vm cases of the guest {name} took {time.monotonic() - begin:.0f} s in all",
          flush=True)
    return run.passed, run.failed


def run_guests(groups, number):
    passed = failed = 0
    for name, selected in groups:
        more = run_guest(name, selected, number + passed + failed)
        passed, failed = passed + more[0], failed + more[1]
    return passed, failed


def run_aside(groups, number, log, result):
    """In a process of its own: the small guests, while the large one boots.

    A guest that boots keeps one CPU busy, whatever it has; this uses another.
    """
    with open(log, "w", buffering=1) as out:
        os.dup2(out.fileno(), 1)
        sys.stdout = out
        result.put(run_guests(groups, number))


def run_cases(selected):
    """Returns how many passed and how many failed."""
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    os.makedirs(DIRECTORY)
    groups = harness.by_guest(selected)
    aside = [group for group in groups if group[0] != harness.MAIN]
    main = [group for group in groups if group[0] == harness.MAIN]
    if not aside or not main:
        return run_guests(groups, 0)
    prepare.images()  # both processes would build them
    result = multiprocessing.Queue()
    log = os.path.join(DIRECTORY, "aside.log")
    number = sum(len(group[1]) for group in main)
    other = multiprocessing.Process(target=run_aside, args=(aside, number, log, result))
    other.start()
    passed, failed = run_guests(main, 0)
    other.join()
    with open(log) as text:
        print(text.read(), end="")
    # A process that died has told nothing: all its cases have failed.
    more = (0, sum(len(group[1]) for group in aside)) if other.exitcode else result.get()
    return passed + more[0], failed + more[1]


def main():
    parser = argparse.ArgumentParser(prog="tests/vm/run")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("word", nargs="*", help="part of a case's name")
    options = parser.parse_args()
    selected = harness.select(options.word)
    if not selected:
        parser.error("no case has such a name")
    if options.list:
        list_cases(selected)
        return 0
    passed, failed = run_cases(selected)
    prepare.write_tally("vm", passed, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
