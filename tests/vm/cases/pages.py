"""Pages of --html, of the guest's own PCI tree, boot and figures."""

import os
import subprocess

from harness import SNAPSHOT, case, expect

CHECK = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../lib/html_check.py")


@case(SNAPSHOT, "status --html draws each function and each stage of the guest")
def page_of_guest(vm):
    page, survey = (os.path.join(vm.directory, name) for name in ("page.html", "survey.json"))
    for path, command in ((page, "railhead status --html -"), (survey, "railhead survey --json")):
        with open(path, "w") as file:
            file.write(vm.run(command, 120).output)
    done = subprocess.run([CHECK, page, survey], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    expect(done.returncode == 0, done.stdout[-3000:])
    for word in ("0000:41:00.0", "0000:81:00.0", "Stage devices", "gate", "memory"):
        expect(word in done.stdout, f"{word} is not in the page:\n{done.stdout[-3000:]}")
