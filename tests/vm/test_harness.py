"""How the harness goes through states, with a guest that only notes what is asked of it."""

import fcntl
import itertools
import os
import queue
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True

import cache      # noqa: E402
import harness    # noqa: E402
import prepare    # noqa: E402
import vm         # noqa: E402
from cases import qos    # noqa: E402
from vm import GuestError    # noqa: E402


class NeverWaits(queue.Queue):
    def get(self, block=True, timeout=None):
        return super().get(block=False)


class Guest:
    """Notes what is done to it; states and cases note themselves."""

    can_save, identity, directory, console_path = True, ["a guest"], ".", "console.log"

    def __init__(self, refuses=()):
        self.log = []
        self.refuses = refuses  # states that are not reached, or not begun from
        for name in ("save", "load", "forget"):
            setattr(self, name, lambda what, name=name: self.note(f"{name} {what}"))

    def note(self, what):
        self.log.append(what)
        if what in self.refuses:
            raise GuestError(f"no {what}")

    def keep(self, name, _):
        self.note(f"keep {name}")

    def begin_at(self, place):
        self.note(f"begin at {os.path.basename(place).rpartition('-')[2]}")

    def cpu_seconds(self):
        return 0

    def emulator_failed(self):
        return None

    def run(self, *_):
        return mock.Mock(output="")


def declare(tree):
    """(state, the one that it is after or None) for each; a case for each."""
    for name, after in tree:
        harness.state(name, "guest", after)(lambda vm, name=name: vm.note(f"enter {name}"))
        harness.case(name, "case")(lambda vm, name=name: vm.note(f"case {name}"))


TREE = (("a", None), ("b", "a"), ("c", "b"), ("d", "a"))


class States(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        for target, name, value in (
                (harness, "_states", {}), (harness, "_cases", []),
                (harness, "state_key", lambda name, vm: name), (harness, "print", mock.Mock()),
                (cache, "DIRECTORY", self.place.name)):
            patch = mock.patch.object(target, name, value, create=name == "print")
            patch.start()
            self.addCleanup(patch.stop)
        declare(TREE)

    def run_cases(self, names, **options):
        guest = Guest(options.pop("refuses", ()))
        selected = [entry for entry in harness._cases if entry[0] in names]
        self.run = harness.Run(guest, selected, "guest", **options)
        with mock.patch.object(self.run, "_explain"):
            self.run.all()
        return guest.log

    def test_each_state_is_entered_once(self):
        self.assertEqual(self.run_cases("abcd"), [
            "enter a", "save a", "keep a", "case a", "load a", "enter b", "case b", "enter c",
            "case c", "load a", "enter d", "forget a", "case d"])

    def test_states_on_the_way_are_entered(self):
        self.assertEqual(self.run_cases("c"), [
            "enter a", "save a", "keep a", "enter b", "forget a", "enter c", "case c"])

    def test_chosen_cases_keep_their_states_and_begin_there(self):
        self.run_cases("c", keep_all=True)
        self.assertEqual(self.run_cases("c", keep_all=True), ["begin at c", "case c"])

    def test_what_the_cache_has_is_of_no_use(self):
        self.run_cases("b", keep_all=True)
        log = self.run_cases("b", refuses=["begin at b"])
        self.assertEqual(log, ["begin at b", "begin at a", "enter b", "forget a", "case b"])
        self.assertEqual(os.listdir(self.place.name), ["state-a"])

    def test_a_state_that_is_not_reached_takes_only_those_after_it_along(self):
        log = self.run_cases("abcd", refuses=["enter b"])
        self.assertEqual(log[4:], ["load a", "enter b", "load a", "enter d", "forget a", "case d"])
        self.assertEqual((self.run.passed, self.run.failed), (2, 2))
        self.assertIn("b was not reached: no enter b", self.run.reasons[1])

    def test_a_cache_without_room(self):
        with mock.patch.object(Guest, "keep", side_effect=OSError("no space")):
            self.assertEqual(self.run_cases("a"), ["enter a", "save a", "case a"])
        self.assertEqual(os.listdir(self.place.name), [])

    def test_a_case_that_fails(self):
        self.run_cases("ab", refuses=["case a"])
        self.assertEqual((self.run.passed, self.run.failed), (1, 1))


def key(function):
    with mock.patch.dict(harness._states, {"s": harness.State("s", function, "g", None, True)}):
        return harness.state_key("s", Guest())


def ways(text):
    """The function way() of a module of cases with this text."""
    names = {"__name__": "cases.some"}
    exec(compile(text, "some.py", "exec"), names)
    return names["way"]


class Keys(unittest.TestCase):
    WAY = "ARGS = ['a']\ndef helper(vm):\n    vm.sh('x')\ndef way(vm):\n    helper(vm, ARGS)\n"

    def test_of_the_same_way(self):
        self.assertEqual(key(ways(self.WAY)), key(ways("# a comment\n" + self.WAY)))

    def test_of_another_way(self):
        for old, new in (("'a'", "'b'"), ("'x'", "'y'"), ("helper(vm, ARGS)", "helper(vm)")):
            self.assertNotEqual(key(ways(self.WAY)), key(ways(self.WAY.replace(old, new))))


class Identity(unittest.TestCase):
    def test_of_an_image_that_is_built_again(self):
        with tempfile.TemporaryDirectory() as place:
            os.mkdir(os.path.join(place, "bin"))
            image = os.path.join(place, "disk.img")
            for path in (image, os.path.join(place, "bin/qemu-system-x86_64")):
                open(path, "w").close()
            guest = vm.Guest(place, "tcg", image, os.path.join(place, "run"))
            before = guest.identity
            self.assertEqual(guest.identity, before)
            os.utime(image, (1, 1))
            self.assertNotEqual(guest.identity, before)


class Long(unittest.TestCase):
    def test_each_name_is_one_of_a_state_a_guest_or_a_case(self):
        states = harness._states.values()
        known = {one.name for one in states} | {one.guest for one in states}
        known |= {harness.title_of(entry) for entry in harness._cases}
        self.assertEqual(set(harness.LONG) - known, set())

    def test_of_the_oldest_and_the_next_release_only_the_core_is_run_unless_cases_are_named(self):
        self.assertEqual(set(harness.CORE) - set(harness._states), set())
        for release in prepare.LOGS:
            whole, named = harness.select([], release), harness.select(["xfs2"], release)
            self.assertEqual({entry[0] for entry in whole} <= set(harness.CORE),
                             release in harness.ONLY_CORE)
            self.assertTrue(named)
            self.assertEqual("blscfg" in {entry[0] for entry in whole}, release == "forky")


class Console(unittest.TestCase):
    def test_a_serial_line_without_interrupts(self):
        lost = "".join(f"[{at:12.6f}] systemd[1]: Reached target\n" for at in (68.5, 99.2, 129.9, 160.7))
        self.assertTrue(vm.crawls("Linux version 6.1\n" + lost))
        self.assertFalse(vm.crawls(lost + "[  161.683138] systemd[1]: Reached target\n"))
        self.assertFalse(vm.crawls("[    3.574025] x86/mm: Checked\n[   35.756176] systemd[1]: None\n"))

    def test_a_serial_line_that_stands_still(self):
        waits = "[<0>] uart_wait_until_sent+0x8a/0x130\n[<0>] tty_port_close_start+0x1/0x2\n"
        line = "0: uart:16550A port:000003F8 irq:4 tx:%d rx:0 RTS|CTS|DTR|CD\n"
        self.assertTrue(vm.line_stands([waits + line % 9311] * 3))
        self.assertFalse(vm.line_stands([waits + line % sent for sent in (9311, 9311, 9312)]))
        self.assertFalse(vm.line_stands([waits + line % 9311, "[<0>] ep_poll+0x1/0x2\n" + line % 9311]))
        self.assertFalse(vm.line_stands([waits, waits]))  # whose line, nobody knows

    def test_a_disk_without_interrupts(self):
        line = "M\x1b[K[ \x1b[0;31m*\x1b[0m] Job systemd-fsck-root.service/start running (%s)\r\n"
        self.assertTrue(vm.waits_for_job("Found device\n" + line % "3min 45s / no limit"))
        self.assertFalse(vm.waits_for_job(line % "45s / no limit"))
        self.assertFalse(vm.waits_for_job(line % "3min 45s / no limit" + "Started.\n"))

    def test_cpus_without_interrupts(self):
        hung = "INFO: task (tmpfiles):149 blocked for more than 120 seconds.\nCall Trace:\n"
        self.assertTrue(vm.waits_for_itself(hung + " schedule+0x5a/0xd0\n __wait_rcu_gp+0x12b/0x140\n"))
        self.assertTrue(vm.waits_for_itself(
            "rcu: rcu_preempt kthread timer wakeup didn't happen for 5255 jiffies! g-1139 f0x0\n"))
        self.assertTrue(vm.waits_for_itself("INFO: task swapper/0:1 blocked for more than 120 seconds.\n"))
        # a frozen file system, and a grace period that somebody else only mentions
        self.assertFalse(vm.waits_for_itself(hung + " percpu_rwsem_wait+0x1/0x2\n __sb_start_write+0x1\n"))
        self.assertFalse(vm.waits_for_itself(" __wait_rcu_gp+0x12b/0x140\n" + hung))

    def test_a_boot_is_waited_for_unless_it_is_dead_or_the_emulator_broke_it(self):
        with tempfile.TemporaryDirectory() as place:
            guest = vm.Guest(place, "tcg", os.path.join(place, "image"), place, hardware=["-none"])
            guest._process = mock.Mock(poll=lambda: None)
            now = time.monotonic()

            def goes_no_further(console, silent, waited):
                with open(guest.console_path, "w") as out:
                    out.write(console)
                os.utime(guest.console_path, (time.time() - silent,) * 2)
                return bool(guest._goes_no_further(now - waited))

            still, runs = "Linux version 6.1\n", "Linux version 6.1\nrailhead: \n"
            self.assertTrue(goes_no_further(still, vm.SILENCE + 60, vm.SILENCE + 60))
            self.assertFalse(goes_no_further(still, vm.SILENCE - 60, vm.HANG))
            self.assertFalse(goes_no_further(still, vm.HANG, vm.SILENCE - 60))
            self.assertFalse(goes_no_further(runs, vm.HANG, vm.HANG))
            self.assertTrue(goes_no_further("Kernel panic\n", 0, 0))

    def test_a_guest_settles_in_the_boot_in_which_nobody_asks_for_a_reboot(self):
        class Rebooting(vm.Guest):
            """Each boot: systemd's word for it, or "" if the reset comes before the answer."""
            resets, boots = 0, []

            def wait_for_shell(self, resets=0):
                if resets < 0:
                    raise GuestError("more reboots than there may be")

            def _state_of_boot(self):
                state = self.boots.pop(0)
                self.resets += state in ("", *vm.ENDS_SOON)
                if not state:
                    raise GuestError("no answer")
                return state

            def run(self, command, timeout=60):
                return vm.Result(0, "")

        def settle(resets, *boots):
            with tempfile.TemporaryDirectory() as place:
                guest = Rebooting(place, "tcg", os.path.join(place, "image"), place, hardware=["-none"])
                guest.boots = list(boots)
                state = guest.wait_until_settled(resets)
                return state, guest.resets

        self.assertEqual(settle(3, "", "stopping", "maintenance", "degraded"), ("degraded", 3))
        self.assertEqual(settle(3, "running"), ("running", 0))
        for boots in ((2, "", "", ""), (1, "starting")):
            with self.assertRaises(GuestError):
                settle(*boots)

    def test_an_answer_that_the_emulator_forgot_comes_with_the_next(self):
        class Silent(vm.Guest):
            resets = 0

            def send(self, command, timeout=60):
                self._request += 1
                for request in (1, 2) if self._request == 2 else ():
                    self._shell.lines.put(f"{request} 0 eWVz")
                return self._request

        with tempfile.TemporaryDirectory() as place, \
                mock.patch.object(vm.time, "monotonic", mock.Mock(side_effect=itertools.count(0, 50))):
            guest = Silent(place, "tcg", os.path.join(place, "image"), place, hardware=["-none"])
            guest._process = mock.Mock(poll=lambda: None)
            guest._shell = mock.Mock(lines=NeverWaits())
            self.assertEqual(guest.run("late"), vm.Result(0, "yes"))
            with mock.patch.object(guest, "_story", return_value=""), self.assertRaises(GuestError):
                guest.run("never")  # the third, to which nothing comes

    def test_a_dump_of_registers_is_the_last_word(self):
        dump = "[   75.345976] CS:  0010 DS: 0000\n[   75.346007] CR2: 0000000000000042 CR3: 0000000103ee8000 CR4: 6e0\n"
        self.assertTrue(vm.ends_in_dump("rcu: INFO: rcu_preempt detected stalls\n" + dump + "[   75.3] Call Trace:\n"))
        self.assertFalse(vm.ends_in_dump(dump + "[   80.0] systemd[1]: Started x.\n" * 100))
        self.assertFalse(vm.ends_in_dump("[   75.3] railhead[1]: CR2: no dump\n"))


class Dcb(unittest.TestCase):
    def test_an_acknowledgement_of_the_second_before(self):
        lost = vm.Result(1, "Attribute write: Protocol error")
        guest = mock.Mock(sh=lambda _: "eth0", run=lambda _: lost)
        qos._takes(guest, "pfc set dev IF prio-pfc 3:on")
        with self.assertRaises(harness.Failed):
            qos._takes(guest, "app add dev IF dscp-prio 26:3")


class Cache(unittest.TestCase):
    def test_trim(self):
        with tempfile.TemporaryDirectory() as place, mock.patch.object(cache, "DIRECTORY", place):
            now = time.time()
            for age, name in enumerate(("state-new", "image-used", "part-x", "state-old")):
                path = os.path.join(place, name)
                with open(path, "wb") as out:
                    out.write(b"x" * 8192)
                os.utime(path, (now - age, now - age))
            cache.trim(now - 1.5, size=3 * 8192)
            self.assertEqual(sorted(os.listdir(place)), ["image-used", "state-new"])
            cache.trim(now - 1.5, size=8192)
            self.assertEqual(os.listdir(place), ["image-used"])

    def test_what_failed_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as place, mock.patch.object(cache, "DIRECTORY", place):
            with self.assertRaises(GuestError), cache.making("state", "k"):
                raise GuestError("no disk")
            self.assertEqual(os.listdir(place), [])
            self.assertIsNone(cache.find("state", "k"))


class Accelerator(unittest.TestCase):
    def setUp(self):
        self.place = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(cache, "DIRECTORY", self.place))
        self.enterContext(mock.patch.object(os, "access", return_value=True))

    def tried(self, **outcome):
        return mock.patch.object(prepare, "_kvm_boots", **outcome)

    def test_kvm_is_tried_until_there_is_an_answer(self):
        with self.tried(side_effect=[KeyboardInterrupt, True]):
            with self.assertRaises(KeyboardInterrupt):
                prepare.accelerator("qemu", "disk")
            for _ in range(2):
                self.assertEqual(prepare.accelerator("qemu", "disk"), "kvm")

    def test_others_wait_for_the_answer(self):
        def boots(*_):
            with open(os.path.join(self.place, "accelerator")) as answer:
                with self.assertRaises(BlockingIOError):
                    fcntl.flock(answer, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False

        with self.tried(side_effect=boots):
            self.assertEqual(prepare.accelerator("qemu", "disk"), "tcg,thread=multi")


unittest.main()
