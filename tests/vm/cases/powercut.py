"""Power cuts around every write of railhead.env, on ext4, XFS and vfat.

Each guest lives a few lives: its profile asks for other kernel arguments, and on the way
there its power is cut again and again, each time at a moment that is known to the write
(cutguest.py). It must boot by itself after each, and come to the arguments in the end with
at most one more reboot; in none of the moments may GRUB read anything but the state before
or the state after. In each life there is at most one cut in a trial, because two trials that died
are rejected by design, and at most two around the arming, which counts a reboot each time.

RAILHEAD_POWER_CUTS=N adds N lives to each guest, each with one cut at any moment.
"""

import base64
import collections
import io
import os
import subprocess
import tarfile

import envfile
from harness import case, contains, equal, exits, expect, state, status_json
from cases.layouts import ESP_ENV
from prepare import CUTS

PROFILE = "/etc/railhead/profiles/vm-layout.yaml"
PAGES = ["hugepagesz=2M", "hugepages=0:16"]
FIRST = ["transparent_hugepage=never", "skew_tick=1"]
# Fills all sectors of a slot, each with something else. The kernel leaves it alone.
LONG = ["transparent_hugepage=never", "skew_tick=0"] + [f"pad.{c}={c * 400}" for c in "abc"]

ENV_FILES = {"cut-ext4": "/boot/grub/railhead.env", "cut-xfs": "/boot/grub/railhead.env",
             "cut-vfat": ESP_ENV}

RECORD = "/var/lib/railhead/kernel-args"

NO_FILE, ODD_FILE = "no file", "odd file"  # the first and the last life
Life = collections.namedtuple("Life", "name args cuts")
Cut = collections.namedtuple("Cut", "name reach")


# What makes in-place writes not so, before the last life: data that goes to the journal
# first, and blocks that a copy shares, which are not written to but replaced.
ODD = {"cut-ext4": f"chattr +j {ENV_FILES['cut-ext4']}",
       "cut-xfs": "cp --reflink=always {0} {0}.copy".format(ENV_FILES["cut-xfs"]),
       "cut-vfat": ":"}


# --- moments: each gives how many writes are kept, and whether unflushed ones get lost ----

def amid(kind):
    """When this change has been written, and not been flushed yet."""
    return lambda vm: (vm.until_change(kind) + 1, True)


def before(kind):
    """Somewhere on the way from power-on, or from the file's first write, to this change."""
    def reach(vm):
        number = vm.until_change(kind)
        first = max([n for found, n in vm.kinds if found == "create"], default=0)
        return vm.chance.randint(first + 1, number), True
    return reach


def told(vm):
    """When railhead says that all is written: from then on it must be what GRUB reads."""
    vm.until("word of a reboot", lambda: True if "rebooting with other kernel arguments"
             in vm.console(vm.begin_of_console) else None)
    return vm.count, True


def kept(kind):
    """When this change has been written, as QEMU's end alone leaves it."""
    return lambda vm: (vm.until_change(kind) + 1, False)


def reboot(vm):
    """When the machine has been reset after arming."""
    told(vm)
    resets = vm.resets
    vm.until("reboot", lambda: True if vm.resets > resets else None)
    return vm.count, False


def trial(vm):
    """When the kernel of the trial has been started."""
    vm.until("trial", lambda: True if "railhead.trial=" in vm.console(vm.begin_of_console)
             else None)
    return vm.count, False


def any_moment(vm):
    """After some write of this life, at the latest when it is committed."""
    wanted = vm.begun[0] + vm.chance.randint(1, 3000)
    vm.until("write", lambda: True if vm.count >= wanted or "commit" in
             [kind for kind, number in vm.kinds if number >= vm.begun[0]] else None)
    return min(vm.count, wanted), True


def lives(name):
    """All cuts on ext4. Elsewhere one or two of each life: what GRUB reads after every single
    write is looked at in any case, and a boot goes on from it as it does on ext4. A new file is
    another matter on XFS, of whose journal no call writes the names back."""
    found = [
        (NO_FILE, [
            Cut("a new file is written", amid("create")),
            Cut("the new file gets its name", before("slot"))]),
        ("long args", [
            Cut("the long args are written", amid("slot")),
            Cut("the trial is armed", amid("arm"))]),
        ("short args", [
            Cut("the reboot into the trial", reboot),
            Cut("the verdict commits", amid("commit"))]),
        (ODD_FILE, [
            Cut("railhead says that the trial is armed", told),
            Cut("the trial's kernel runs", trial)]),
    ] if name == "cut-ext4" else [
        (NO_FILE, [
            Cut("a new file is written", amid("create")),
            Cut("the new file gets its name", before("slot")),
        ] if name == "cut-xfs" else [Cut("the args are written", amid("slot"))]),
        ("long args", [
            Cut("the long args are written", amid("slot")),
            Cut("the trial is armed", amid("arm")),
        ] if name == "cut-xfs" else [Cut("the trial is armed", amid("arm"))]),
        (ODD_FILE, [
            Cut("railhead says that the trial is armed", told),
            Cut("GRUB takes the trial", kept("taken"))]),
    ]
    more = int(os.environ.get("RAILHEAD_POWER_CUTS", "0"))
    found[-1:-1] = [(f"another {i + 1}", [Cut("any moment", any_moment)]) for i in range(more)]
    return [Life(life, (FIRST, LONG)[i % 2], cuts) for i, (life, cuts) in enumerate(found)]


# --- a life ------------------------------------------------------------------------------

def _line(args):
    return " ".join(args + PAGES)


def _begin(vm, name, life):
    """From nothing, or from what the last life has come to."""
    if life.name == NO_FILE:
        vm.life = life.name
        vm.start()
        return
    vm.begin_life(life.name)
    if life.name == ODD_FILE:
        vm.sh(ODD[name])
    vm.sh(f"sed -i 's#^  set: .*#  set: [{', '.join(life.args)}]#' {PROFILE} && sync")
    contains(PROFILE, vm.read(PROFILE), life.args[-1])
    # Without stopping all services first, which takes as long as a boot.
    vm.send("systemctl --force reboot")


def _declare_cut(name, life, before, cut):
    left = {}

    @state(f"{name}, {life.name}: {cut.name}", guest=name)
    def enter(vm):
        if cut is life.cuts[0]:
            _begin(vm, name, life)
        vm.cut(*cut.reach(vm))
        left["file"] = vm.grub_reads()
        vm.power_on()

    @case(f"{name}, {life.name}: {cut.name}", "the power is cut, and leaves a file that GRUB can take")
    def leaves(vm):
        _judge(left["file"], "after the cut", _allowed(life, before), may_lack=not before)


def _declare_end(name, life):
    @state(f"{name}, {life.name}", guest=name)
    def enter(vm):
        vm.wait_until_settled(1)

    @case(f"{name}, {life.name}", "boots by itself after each cut, and converges")
    def converges(vm):
        expect(vm.resets <= 1, f"{vm.resets} reboots after the last cut")
        line = vm.read("/proc/cmdline")
        contains("/proc/cmdline", line, f" {_line(life.args)} railhead.slot=")
        equal("verdict", status_json(vm)["verdict"], "ready")
        contains("railhead plan", exits(vm, "railhead plan", 0, 120), "converged")
        text = vm.sh(f"sync; dd if={ENV_FILES[name]} iflag=direct bs=4096 status=none | base64")
        values = envfile.parse(base64.b64decode(text))
        equal("next boot", envfile.meaning(values), envfile.Meaning(_line(life.args), False))
        equal("trial and reboots", (values["railhead_try"], values["railhead_reboots"]), ("-", "0"))
        record = vm.read(RECORD)
        contains(RECORD, record, "\nreboots 0\n", "\ndeaths 0\n")
        expect("\nrefused " not in record, f"{RECORD}: {record}")


def _declare_judgement(name, all_lives):
    """The last state: nothing more comes, and all of the log can be looked at."""
    @case(f"{name}, {all_lives[-1][0].name}", "railhead reads whatever was in the file on the way")
    def railhead_reads(vm):
        # as for GRUB (_judge()): what a removed file has left on the disk is no environment block
        texts = {data for data in vm.seen | {data for _, data in vm.found}
                 if data and data.startswith(envfile.SIGNATURE)}
        _put_files(vm, texts)
        said = vm.sh(
            f"for f in /run/envs/*; do mount --bind $f {ENV_FILES[name]} || exit 1;"
            f" railhead kargs | grep ^state; umount {ENV_FILES[name]}; done", 400).splitlines()
        equal("answers", len(said), len(texts))
        for line in said:
            expect("damaged" not in line, line)

    @state(f"{name}: the log", guest=name)
    def end(vm):
        vm.follow()
        vm.cut(vm.count)

    for life, before in all_lives:
        _declare_reads(name, life, before)

    @case(f"{name}: the log", "GRUB's editor and railhead agree on what is in the file")
    def editor_agrees(vm):
        path = os.path.join(vm.directory, "railhead.env")
        for data in {data for _, data in vm.found if data and data.startswith(envfile.SIGNATURE)}:
            with open(path, "wb") as out:
                out.write(data)
            listed = subprocess.run(["grub-editenv", path, "list"], stdout=subprocess.PIPE,
                                    check=True, text=True).stdout.splitlines()
            equal("what grub-editenv lists", {line.split("=", 1)[0]: line.split("=", 1)[1].rstrip()
                                              for line in listed}, envfile.parse(data))


def _declare_reads(name, life, before):
    @case(f"{name}: the log", f"{life.name}: GRUB reads the state before or the state after")
    def reads(vm):
        allowed, met = _allowed(life, before), set()
        for (found_in, data), where in vm.found.items():
            if found_in == life.name:
                met.add(_judge(data, where, allowed, may_lack=not before))
        equal("what was met", met - {None}, allowed)


def _allowed(life, before):
    """What the next boot may get on the way from one life's args to the next one's."""
    wanted = _line(life.args)
    return {envfile.Meaning(before, False), envfile.Meaning(wanted, True),
            envfile.Meaning(wanted, False)}


def _judge(data, where, allowed, may_lack):
    """What a file of that content means to GRUB.

    In a moment of the making of a new file its name may lead to what a removed file has left on the
    disk: GRUB, which does not read the journal, takes that for no environment block.
    """
    if may_lack and data and not data.startswith(envfile.SIGNATURE):
        return None
    if not data:
        expect(may_lack, f"{where}, GRUB finds {'no' if data is None else 'an empty'} file")
        return None
    try:
        found = envfile.meaning(envfile.parse(data))
    except envfile.Damaged as reason:
        expect(False, f"{where}, GRUB finds a damaged file: {reason}")
    expect(found in allowed, f"{where}, GRUB finds {found}, not one of {allowed}")
    return found


def _put_files(vm, texts):
    """Into /run/envs of the guest."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for number, text in enumerate(sorted(texts)):
            info = tarfile.TarInfo(str(number))
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    encoded = base64.b64encode(packed.getvalue()).decode()
    vm.sh(f"mkdir /run/envs && echo {encoded} | base64 -d | tar -C /run/envs -xzf -")


for _name in CUTS:
    _lives, _before = [], ""
    for _life in lives(_name):
        _lives.append((_life, _before))
        for _cut in _life.cuts:
            _declare_cut(_name, _life, _before, _cut)
        _declare_end(_name, _life)
        _before = _line(_life.args)
    _declare_judgement(_name, _lives)
