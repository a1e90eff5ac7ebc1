"""The program behind tests/vm/run.

Builds the package, the guest's image and what the cases bring along, boots
the guest and runs the cases. Logs and the console are kept in build/vm/run/.
"""

import argparse
import os
import shutil
import sys
import time

sys.dont_write_bytecode = True

import cases      # noqa: E402 (declares them)
import harness    # noqa: E402
import prepare    # noqa: E402
import vm         # noqa: E402


def list_cases(selected):
    for state, title, _ in selected:
        print(f"{state}: {title}")


def run_guest(name, selected, directory, number):
    """Returns how many cases of one guest passed and how many failed."""
    begin = time.monotonic()
    try:
        guest = prepare.guest(name, directory)
    except prepare.PrepareError as error:
        # A test that cannot run is a failure, and so is each that it hides.
        print(f"not ok - vm {name}: {error}")
        return 0, len(selected)
    with guest:
        run = harness.Run(guest, selected, name, number)
        run.all()
    print(f"# vm cases of the guest {name} took {time.monotonic() - begin:.0f} s in all")
    return run.passed, run.failed


def run_cases(selected):
    """Returns how many passed and how many failed."""
    directory = os.path.join(prepare.BUILD, "run")
    shutil.rmtree(directory, ignore_errors=True)
    passed = failed = 0
    for name, entries in harness.by_guest(selected):
        place = directory if name == harness.MAIN else os.path.join(directory, name)
        more = run_guest(name, entries, place, passed + failed)
        passed, failed = passed + more[0], failed + more[1]
    return passed, failed


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
