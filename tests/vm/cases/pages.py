"""Pages of --html, of the guest's own PCI tree, boot and figures."""

import os
import subprocess

from harness import SNAPSHOT, case, contains, expect, status_json

CHECK = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../lib/html_check.py")


def _page(vm):
    """The text of the guest's page, which is complete and well formed. The page stays for a look."""
    page, survey = (os.path.join(vm.directory, name) for name in ("page.html", "survey.json"))
    for path, command in ((page, "railhead status --html -"), (survey, "railhead survey --json")):
        with open(path, "w") as file:
            file.write(vm.run(command, 120).output)
    done = subprocess.run([CHECK, page, survey], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    expect(done.returncode == 0, done.stdout[-3000:])
    return done.stdout


@case(SNAPSHOT, "status --html draws each function and each stage of the guest")
def page_of_guest(vm):
    contains("the page", _page(vm), "0000:41:00.0", "0000:81:00.0", "Stage devices", "gate", "memory")


@case("blocked", "status --html of a blocked guest has each fault, with its remedy")
def page_of_blocked(vm):
    page = _page(vm)
    for fault in status_json(vm)["faults"]:
        contains("the page", page, fault["code"], "Remedy")
