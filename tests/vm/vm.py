"""One QEMU guest: its hardware, its control socket, its console, its shell.

Deadlines, here and in the cases, are only there to catch a hang: emulated on a
busy machine everything takes long.

A Guest is driven from outside by QMP (QEMU's control protocol) and from inside
by the test shell, a small program in the guest that runs commands which arrive
on a virtio port (files/usr/local/sbin/test-shell).
"""

import base64
import collections
import json
import os
import queue
import re
import resource
import shutil
import socket
import subprocess
import threading
import time

Result = collections.namedtuple("Result", "status output")


# What the console shows when no boot will come of it without a person.
DEAD_END = re.compile(
    "Kernel panic|Failed to boot both|grub rescue>|emergency mode|dracut-emergency")


# How a boot begins on the console, and the first word of railhead's program in it: the kernel's
# arguments and the trial's timer are named before.
BOOT_BEGINS = ("Loading Linux", "Linux version")
RAILHEAD_RUNS = re.compile(r"railhead-(initrd|early)|railhead\[|^(railhead|initrd): ", re.M)

# What has not come after so many seconds has hung, however busy the machine is that emulates it.
HANG = 1200

# A boot whose console is silent for so many seconds goes no further.
STANDSTILL = 60

# So long a silence of a boot that the emulator broke is waited for, rather than HANG.
SILENCE = 300

# For so many seconds the kernel waits for a serial line that sends no more, whenever systemd has
# written to the console (closing_wait in the kernel's serial_core.c).
CLOSING_WAIT = 30


def crawls(boot):
    """Do the last lines of a console come one by one, as if the interrupt of its line were lost?"""
    times = [float(stamp) for stamp in re.findall(r"^\[ *([0-9.]+)\]", boot, re.M)[-4:]]
    return len(times) == 4 and all(later - time >= CLOSING_WAIT
                                   for time, later in zip(times, times[1:]))


# In the stack of a process that waits until a terminal has sent what was written to it.
WAITS_FOR_LINE = re.compile(r"\b(n_tty_write|tty_wait_until_sent|uart_wait_until_sent)\b")


def line_stands(looks):
    """Does PID 1 wait, in each look at its stack and at the serial lines, for one that sends nothing?"""
    sent = [re.findall(r"\btx:(\d+)", look) for look in looks]
    return bool(sent[0]) and all(WAITS_FOR_LINE.search(look) for look in looks) \
        and all(one == sent[0] for one in sent)


# A kernel dumps the registers of a CPU that is stuck, or on which it found a fault of its own.
REGISTERS = re.compile(r"^\[ *[0-9.]+\] CR2: [0-9a-f]{16} CR3: ", re.M)


def ends_in_dump(boot):
    """Are a CPU's registers the last that a kernel said?"""
    return bool(REGISTERS.search(boot[-3000:]))


# systemd's line on a job that does not end, which it writes again and again.
JOB_RUNS = re.compile(r"Job \S+ running \((?:(\d+)min )?(\d+)s / [^)]*\)\s*\Z")


def waits_for_job(boot):
    """Has a console said nothing else for long than that systemd waits for a job, as for a disk?"""
    last = JOB_RUNS.search(boot[-200:])
    return bool(last) and int(last[1] or 0) * 60 + int(last[2]) > STANDSTILL


# The kernel names a task that waits for a grace period of RCU, which ends when each CPU has
# scheduled once: where none ends, the CPUs sleep on with the interrupt lost that wakes them.
HUNG_IN_RCU = re.compile(r"blocked for more than \d+ seconds\.(?:(?!blocked for).)*?\b__wait_rcu_gp\b",
                         re.S)


# Its own thread, which nothing but its timer wakes, was not woken for 21 s.
TIMER_LOST = "kthread timer wakeup didn't happen for"


# The kernel looks every 120 s for tasks that have been blocked for so long (kernel.hung_task_*), so it
# names one after at most twice that.
TASK_NAMED = 240


# The kernel's first thread while it sets up its own drivers; later it is called init or systemd.
KERNEL_INIT_HUNG = "task swapper/0:1 blocked for more than"


def waits_for_itself(boot):
    """Does a task wait for long for what only the kernel or its CPUs themselves can do?"""
    return TIMER_LOST in boot or KERNEL_INIT_HUNG in boot or bool(HUNG_IN_RCU.search(boot))


# Without stopping each service, which takes half as long as a boot; file systems are in order. Then
# as an operator does it, for what is to be seen of that.
REBOOT = "systemctl --force reboot"
ORDERLY_REBOOT = "systemctl reboot"


# States of systemd in which a boot does not go on: a shutdown is under way, or the timer of a trial ends it.
ENDS_SOON = ("stopping", "maintenance")


class GuestError(Exception):
    """The guest, or QEMU, did not do what the harness asked."""


class _JsonLines(threading.Thread):
    """Reads QMP lines; replies go to a queue, events to a list."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream = stream
        self.replies = queue.Queue()
        self.events = []
        self.start()

    def run(self):
        try:
            for line in self.stream:
                message = json.loads(line)
                if "event" in message:
                    self.events.append(message)
                else:
                    self.replies.put(message)
        except (OSError, ValueError):
            pass


class _ShellLines(threading.Thread):
    """Reads answers of the test shell."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream = stream
        self.lines = queue.Queue()
        self.start()

    def run(self):
        try:
            for line in self.stream:
                self.lines.put(line.decode(errors="replace").rstrip("\n"))
        except OSError:
            pass


# Without an event descriptor between a CPU that kicks a disk's queue and the thread that serves
# it: under emulation a kick was lost now and then, one in some hundred boots, and whoever had
# asked the disk (udev for its serial number) waited for ever. It costs no time there.
SYNCHRONOUS_DISKS = ["-global", "virtio-blk-pci.ioeventfd=off"]

# What the guest's disk is; -kernel is 0. In a slot it can be switched off by a file of sysfs.
BLOCK_DISK = ["-device", "virtio-blk,bus=pcie.0,drive=disk,bootindex=1"]
SLOT_DISK = ["-device", "pcie-root-port,id=disk-slot,bus=pcie.0,chassis=9,slot=9",
             "-device", "virtio-blk,bus=disk-slot,drive=disk,bootindex=1"]

# Without RDRAND a boot gathers entropy, for a second and more of an emulated CPU; with SVM udev loads
# KVM's modules, for almost as long.
CPU = "qemu64,+rdrand,-svm"

# Beside the disks' images: what saves an emulated guest the moving of its kernel (bios_hole.S).
BIOS_HOLE = "bios-hole.rom"

# Controllers with SR-IOV that a case can plug in, each into a port of its own: QEMU takes no
# snapshot of a guest that has one. acs: is it behind a port with Access Control Services?
NVMe = collections.namedtuple("NVMe", "name pxb slot vfs acs")
NVMES = {nvme.name: nvme for nvme in (
    NVMe("nvme0", "pxb0", 3, 4, True),
    NVMe("nvme1", "pxb1", 4, 4, True),
    NVMe("nvme2", "pxb1", 5, 2, False),
)}


NIC_SLOTS = (1, 2, 6, 7)


def _nvme_ports():
    args = []
    for nvme in NVMES.values():
        args += [
            "-device", f"pcie-root-port,id=port-{nvme.name},bus={nvme.pxb},"
                       f"chassis={nvme.slot},slot={nvme.slot}"
                       + ("" if nvme.acs else ",disable-acs=on"),
            "-device", f"nvme-subsys,id=subsystem-{nvme.name},nqn={nvme.name}",
        ]
    return args


def _nic(number, node):
    port = NIC_SLOTS[number]
    return [
        "-device", f"pcie-root-port,id=rp{number},bus=pxb{node},chassis={port},slot={port}",
        "-netdev", f"hubport,id=n{number},hubid={number}",  # nobody hears another
        "-device", f"igb,id=nic{number},bus=rp{number},netdev=n{number},"
                   f"mac=52:54:00:00:00:{16 + number:02x},romfile=",
    ]


def full_hardware(nics=2):
    """Two NUMA nodes, each with a PCIe root bridge of its own, 1G pages, an IOMMU.

    nics: how many SR-IOV NICs there are behind the root bridges, by turns; 2 or 4.
    """
    args = [
        "-machine", "q35",
        "-cpu", CPU + ",vendor=GenuineIntel,+pdpe1gb",
        "-smp", "2,sockets=2",
        "-m", "12G",
        "-device", "intel-iommu,intremap=off,caching-mode=off",
    ]
    for node in (0, 1):
        args += [
            "-object", f"memory-backend-ram,id=m{node},size=6G",
            "-numa", f"node,nodeid={node},memdev=m{node},cpus={node}",
            "-device", f"pxb-pcie,id=pxb{node},bus=pcie.0,"
                       f"bus_nr={64 + 64 * node},numa_node={node}",
        ]
    for number in range(nics):
        args += _nic(number, number % 2)
    return args + _nvme_ports()


def small_hardware():
    """A guest that only has to boot: what it does is the same on any hardware.

    One CPU: a second one makes no boot faster under emulation, but takes as much from the
    guests beside it.
    """
    return ["-machine", "q35", "-cpu", CPU, "-smp", "1", "-m", "2G"]


def threaded_cores():
    """Behind small_hardware(), for the last of an option counts: two NUMA nodes of two cores with
    two threads each. Intel's CPUs tell their threads by leaves that QEMU always has."""
    args = ["-cpu", CPU + ",vendor=GenuineIntel", "-smp", "8,sockets=2,cores=2,threads=2"]
    for node in (0, 1):
        args += ["-object", f"memory-backend-ram,id=m{node},size=1G",
                 "-numa", f"node,nodeid={node},memdev=m{node},cpus={4 * node}-{4 * node + 3}"]
    return args


def switch_with_acs():
    """Behind small_hardware(): an IOMMU, and a switch with a NIC and what stands in for a GPU.

    QEMU's ports of switches have no ACS, and its root ports have: two of these are below a switch's
    upper port. ACS and config space are as of any port then, the type in it is a root port's.
    """
    args = ["-cpu", CPU + ",vendor=GenuineIntel",
            "-device", "intel-iommu,intremap=off,device-iotlb=on",
            "-device", "pcie-root-port,id=above,bus=pcie.0,chassis=1,slot=1,hotplug=off",
            "-device", "x3130-upstream,id=switch,bus=above"]
    for slot, name in ((1, "above-nic"), (2, "above-gpu")):
        args += ["-device", f"pcie-root-port,id={name},bus=switch,chassis=2,slot={slot},hotplug=off"]
    return args + [
        "-netdev", "hubport,id=net,hubid=0",
        "-device", "virtio-net-pci,bus=above-nic,netdev=net,romfile=,disable-legacy=on,"
                   "iommu_platform=on,ats=on",
        "-device", "virtio-rng-pci,bus=above-gpu,disable-legacy=on,iommu_platform=on",
    ]


def other_disk(path):
    """A disk that is not booted from; the kernel sees it before the guest's own."""
    return ["-drive", f"if=none,id=other,file={path},format=qcow2,cache=unsafe",
            "-device", "virtio-blk,bus=pcie.0,drive=other"]


def payload_disk(path):
    """What cases bring into the guest."""
    return ["-drive", f"if=none,id=payload,file={path},format=raw,readonly=on",
            "-device", "virtio-blk,bus=pcie.0,drive=payload,serial=payload"]


def make_overlay(qemu, image, to):
    """A disk that is a raw image until it is written to."""
    if os.path.exists(to):
        os.unlink(to)
    subprocess.run([os.path.join(qemu, "bin/qemu-img"), "create", "-q", "-f", "qcow2",
                    "-b", os.path.abspath(image), "-F", "raw", to], check=True)


def _copy_sparse(source, to):
    subprocess.run(["cp", "--sparse=always", source, to], check=True)


def _answer(line, request):
    """Answers to requests from before a snapshot was loaded are stale."""
    parts = line.split(" ")
    if parts[0] != str(request):
        return None
    output = base64.b64decode(parts[2]).decode(errors="replace")
    return Result(int(parts[1]), output)


class Guest:
    """A running guest. Use as a context manager, so that QEMU ends with it."""

    """files: names in the directory, of what the hardware writes to; qcow2, or QEMU takes no
    snapshots."""

    def __init__(self, qemu, accel, image, directory, payload=None, hardware=None, files=()):
        self.qemu = qemu
        self.accel = accel
        self.disk_device = BLOCK_DISK
        self.one_thread = False  # for all emulated CPUs: slower, and none loses a write to a device
        self.image = image
        self.directory = directory
        self.payload = payload
        self.hardware = hardware or full_hardware()
        self.console_path = os.path.join(directory, "console.log")
        self.overlay = os.path.join(directory, "overlay.qcow2")
        self._written = ("overlay.qcow2",) + tuple(files)
        self.can_save = True
        self.seen = {}  # what states have noted for their cases, as JSON can have it
        self._process = None
        self._request = 0
        self._resets_before = 0
        self._line_stands = None  # PID 1's stack, if it waits for its console for ever
        self._as_usual = True  # without further options and with a disk that takes writes
        self.dead_end = DEAD_END  # cases that see panics on purpose take less
        os.makedirs(directory, exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    # --- QEMU ------------------------------------------------------------

    def start(self):
        """Start from the base image, with a fresh overlay."""
        if os.path.exists(self.console_path):
            os.unlink(self.console_path)
        make_overlay(self.qemu, self.image, self.overlay)
        self.power_on()

    def first_boot(self):
        """Start from the base image; returns once the boot behind its one reboot is done, the trial of the
        arguments which the first one lacked."""
        self.start()
        self.wait_until_settled(1)
        if self.resets != 1:
            raise GuestError("the first boot did not reboot:\n" + self.run("railhead status").output)

    def power_on(self, more=(), read_only=False):
        """Start QEMU on the disk as it is now; more: further options, like -kernel."""
        self._resets_before = 0
        self._line_stands = None
        self._as_usual = not more and not read_only
        self._log = open(os.path.join(self.directory, "qemu.log"), "wb")
        # Socket pairs, since a socket's path must be short and build/ may not be.
        self._qmp_socket, qmp = socket.socketpair()
        self._shell_socket, shell = socket.socketpair()
        with qmp, shell:
            self._process = subprocess.Popen(
                self._command(qmp.fileno(), shell.fileno(), read_only) + list(more),
                pass_fds=(qmp.fileno(), shell.fileno()),
                stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        self._qmp = _JsonLines(self._qmp_socket.makefile("rb"))
        self._shell = _ShellLines(self._shell_socket.makefile("rb"))
        try:
            self._qmp.replies.get(timeout=30)  # the greeting
        except queue.Empty:
            raise GuestError("QEMU does not start: " + self._qemu_log())
        self.qmp("qmp_capabilities")
        self.qmp("cont")

    def _command(self, qmp_fd, shell_fd, read_only):
        # Whatever ends us, a guest must not go on and take the CPUs from the next run. And if
        # memory gets short after all, a guest is what the kernel ends.
        command = ["choom", "-n", "1000", "--", "setpriv", "--pdeathsig", "KILL",
                   os.path.join(self.qemu, "bin/qemu-system-x86_64")]
        command += ["-nodefaults", "-no-user-config", "-display", "none", "-S"]
        command += ["-accel", self._accelerator()] + self.hardware
        if self.accel.startswith("tcg"):
            command += SYNCHRONOUS_DISKS
            rom = os.path.join(os.path.dirname(self.image), BIOS_HOLE)
            # No BIOS starts an image without it: tests/long/images builds images for EFI alone.
            command += ["-option-rom", rom] if os.path.exists(rom) else []
        command += [
            "-chardev", f"file,id=console,path={self.console_path},append=on",
            "-serial", "chardev:console",
            "-chardev", f"socket,id=qmp,fd={qmp_fd}",
            "-mon", "chardev=qmp,mode=control",
            "-chardev", f"socket,id=shell,fd={shell_fd}",
            "-device", "virtio-serial,bus=pcie.0",
            "-device", "virtserialport,chardev=shell,name=railhead.test",
        ]
        command += self.disk_device + self._disk(read_only)
        if self.payload:
            command += payload_disk(self.payload)
        return command

    def _accelerator(self):
        return self.accel.replace("thread=multi", "thread=single") if self.one_thread else self.accel

    def _disk(self, read_only):
        """QEMU's options for what the device "disk" is made of."""
        return ["-drive", f"if=none,id=disk,file={self.overlay},cache=unsafe"
                          + (",readonly=on" if read_only else "")]

    def _qemu_log(self):
        self._log.flush()
        with open(self._log.name, errors="replace") as log:
            return log.read()[-2000:]

    def cpu_seconds(self):
        """CPU time of QEMU so far, and of all other children of this process that have ended."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime + self._cpu_of_qemu()

    def _cpu_of_qemu(self):
        if self._process is None or self._process.poll() is not None:
            return 0
        with open(f"/proc/{self._process.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def power_off(self, timeout=HANG):
        """Shut down from inside, in order."""
        self.send("systemctl poweroff")
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise GuestError("the guest does not power off; the console ends with:\n"
                             + self.console()[-3000:])
        self.power_cut()

    def power_cut(self):
        """The light goes out; the disk stays as it is."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process = None
        self._qmp_socket.close()
        self._shell_socket.close()
        self._log.close()

    def stop(self):
        self.power_cut()
        # A snapshot of the memory is in there: hundreds of megabytes.
        if os.path.exists(self.overlay):
            os.unlink(self.overlay)

    def qmp(self, command, timeout=120, **arguments):
        message = {"execute": command}
        if arguments:
            message["arguments"] = arguments
        self._qmp_socket.sendall(json.dumps(message).encode() + b"\n")
        try:
            reply = self._qmp.replies.get(timeout=timeout)
        except queue.Empty:
            raise GuestError(f"QEMU does not answer {command}: {self._qemu_log()}")
        if "error" in reply:
            raise GuestError(f"{command}: {reply['error']['desc']}")
        return reply["return"]

    def monitor(self, line):
        text = self.qmp("human-monitor-command", **{"command-line": line})
        if text.strip():
            raise GuestError(f"{line}: {text.strip()}")

    # --- states ----------------------------------------------------------

    @property
    def identity(self):
        """All that a state of this guest depends on, besides what was done to come to it."""
        # An image that is built again has other bytes, below which a kept disk would be rubble.
        built = [(path, os.stat(path).st_mtime_ns)
                 for path in (self.image, os.path.join(self.qemu, "bin/qemu-system-x86_64"))]
        hardware = [word.replace(self.directory, "") for word in self.hardware]
        return built + [self.payload, self.accel, hardware]

    def save(self, name):
        """Keep the guest's memory, devices and disk under a name, within its own disk."""
        # A snapshot that is loaded does not set the emulated TSC back: a clock by it would jump, and
        # systemd's watchdogs with it. Debian 12's kernel notices, and gives it up by itself.
        clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        self.sh(f"! grep -qx tsc {clock} || echo hpet >{clock}")
        self.monitor(f"savevm {name}")

    def forget(self, name):
        """Nobody goes back to where save(name) was called any more."""
        self.monitor(f"delvm {name}")

    def load(self, name):
        """Go back to where save(name) was called."""
        if self._as_usual and self._process and self._process.poll() is None:
            self.monitor(f"loadvm {name}")
        else:
            self.power_cut()
            self._power_on_at(name)

    def keep(self, name, directory):
        """Copy what save(name) has kept to a directory, from which other guests can begin."""
        self.qmp("stop")
        try:
            for device in self.qmp("query-block"):
                if "inserted" in device and not device["inserted"]["ro"]:
                    self.monitor(f'qemu-io {device["device"]} "flush"')
            shutil.copyfile(self.console_path, os.path.join(directory, "console.log"))
            for file in self._written:
                _copy_sparse(os.path.join(self.directory, file), os.path.join(directory, file))
            with open(os.path.join(directory, "state.json"), "w") as out:
                json.dump({"name": name, "resets": self.resets, "seen": self.seen}, out)
        finally:
            self.qmp("cont")

    def begin_at(self, directory):
        """Begin where another guest of the same identity was when it was kept there."""
        with open(os.path.join(directory, "state.json")) as text:
            kept = json.load(text)
        self.power_cut()
        shutil.copyfile(os.path.join(directory, "console.log"), self.console_path)
        for file in self._written:
            _copy_sparse(os.path.join(directory, file), os.path.join(self.directory, file))
        self.seen = kept["seen"]
        self._power_on_at(kept["name"])
        self._resets_before = kept["resets"]
        # Its clock stood still meanwhile, the machine's has gone on.
        self.sh(f"date -s @{time.time():.0f}")

    def _power_on_at(self, name):
        self.power_on(more=("-loadvm", name))
        self._as_usual = True

    def plug(self, name):
        """Hot-plug one of NVMES; returns the PCI address that the guest gives it."""
        nvme = NVMES[name]
        before = set(self.sh("ls /sys/class/nvme").split())
        self.qmp("device_add", driver="nvme", id=name, bus=f"port-{name}", serial=name,
                 subsys=f"subsystem-{name}", sriov_max_vfs=nvme.vfs,
                 sriov_vq_flexible=2 * nvme.vfs, sriov_vi_flexible=nvme.vfs,
                 max_ioqpairs=2 * nvme.vfs + 2, msix_qsize=nvme.vfs + 4)
        # An interrupt that the emulator loses costs a minute: then the driver looks by itself.
        end = time.monotonic() + 200
        while time.monotonic() < end:
            for controller in set(self.sh("ls /sys/class/nvme").split()) - before:
                device = f"/sys/class/nvme/{controller}"
                if self.run(f"grep -q live {device}/state").status == 0:
                    return self.read(f"{device}/address")
            time.sleep(0.2)
        raise GuestError(f"{name} was plugged in, and does not come up:\n"
                         + self.console()[-3000:])

    @property
    def resets(self):
        """How many times the guest has rebooted itself.

        The firmware resets the machine once more when it is entered warm, a
        moment later: that belongs to the same reboot.
        """
        count, last = self._resets_before, 0
        for second, _ in self._reset_events():
            count += second - last > 3
            last = second
        return count

    def _reset_events(self):
        """When, and by QEMU's word why."""
        return [(event["timestamp"]["seconds"], event["data"].get("reason"))
                for event in list(self._qmp.events)
                if event["event"] == "RESET" and event["data"].get("guest")]

    # --- the console -----------------------------------------------------

    def console(self, start=0):
        try:
            with open(self.console_path, "rb") as log:
                log.seek(start)
                return log.read().decode(errors="replace").replace("\r", "")
        except FileNotFoundError:
            return ""

    def console_size(self):
        try:
            return os.path.getsize(self.console_path)
        except FileNotFoundError:
            return 0

    def boots_on_console(self):
        """The console's text, cut where a kernel starts; [0] is before the first."""
        return re.split(r"(?=\[ +0\.000000\] Linux version)", self.console())

    # --- the shell -------------------------------------------------------

    def wait_for_shell(self, resets=0):
        """Wait until the shell of the next boot says that it is ready.

        More reboots than allowed on the way there are a boot loop.
        """
        begin = time.monotonic()
        limit = self.resets + resets
        while True:
            line = self._shell_line(
                begin + HANG - time.monotonic(), "the test shell to start",
                lambda: self.resets > limit or self._goes_no_further(begin))
            if line == "ready":
                return

    def shell_said(self, word):
        """Has the test shell said this since the last look? Does not wait."""
        said = False
        while not self._shell.lines.empty():
            said = self._shell.lines.get() == word or said
        return said

    def _goes_no_further(self, begin):
        """Will the boot that has been waited for since then not come?"""
        if self.dead_end.search(self.console()):
            return True
        silent = min(self._still_for(), time.monotonic() - begin)
        return silent > SILENCE and self.emulator_failed() is not None

    def emulator_failed(self):
        """Why no more can come of this guest that is not its own fault, or None.

        QEMU 10.0.2 with several CPUs in threads of their own loses a CPU's write to a device now
        and then, one in some hundred boots: firmware or a kernel that waits for a disk then waits
        for ever, or for 30 s at each line of a console, and sometimes QEMU ends itself
        (iotlb_to_section: Assertion ... failed).

        The same is a PID 1 that waits for the serial line: QEMU sends at once what it is given.

        A boot that stands still before railhead's first word is the emulator's fault once, and so
        is one whose kernel waits for itself or its own CPUs, whoever runs on them. A fault of the arguments
        that railhead gave to that kernel is there the second time, too.
        """
        if self._process is None:
            return None
        if (self._process.poll() or 0) < 0:
            return "QEMU ended: " + self._qemu_log()
        if self._line_stands:
            return "PID 1 waits for a serial line that sends no more:\n" + self._line_stands
        console = self.console()
        boot = console[max(map(console.rfind, BOOT_BEGINS)):]
        if waits_for_itself(boot):
            return "a kernel waits for itself or its own CPUs; the boot ends with:\n" + boot[-600:]
        if ends_in_dump(boot) and self._still_for() > STANDSTILL:
            return "a kernel is stuck, and dumped a CPU's registers:\n" + boot[-3000:]
        if boot.startswith(BOOT_BEGINS) and not RAILHEAD_RUNS.search(boot) \
                and (self._still_for() > STANDSTILL or crawls(boot) or waits_for_job(boot)):
            return "a boot stands still before railhead runs; it ends with:\n" + boot[-600:]
        return None

    def _still_for(self):
        """For how many seconds the console has said nothing."""
        try:
            return time.time() - os.path.getmtime(self.console_path)
        except FileNotFoundError:
            return 0

    def _check_qemu(self):
        if self._process.poll() is not None:
            raise GuestError("QEMU ended: " + self._qemu_log())

    def check_alive(self):
        self._check_qemu()
        if self.dead_end.search(self.console()):
            raise GuestError("the boot has come to a dead end; the console ends with:\n"
                             + self.console()[-3000:])

    def _shell_line(self, timeout, what, dead_end=None):
        end = time.monotonic() + timeout
        while True:
            try:
                return self._shell.lines.get(timeout=1)
            except queue.Empty:
                pass
            self._check_qemu()
            hopeless = dead_end and dead_end()
            if hopeless or time.monotonic() > end:
                raise GuestError(f"waited in vain for {what}; {self._story()}")

    def _story(self):
        """The resets, how each boot before ended, and the end of the console."""
        resets = "".join(f", {second % 3600} s {reason}"
                         for second, reason in self._reset_events())
        earlier = "".join("a boot ended with:\n" + boot[-600:] + "\n"
                          for boot in self.boots_on_console()[1:-1])
        return (f"{self.resets} reboots so far (resets{resets}; now {int(time.time()) % 3600} s)\n"
                f"{self._standstill()}{earlier}the console ends with:\n{self.console()[-3000:]}")

    def _standstill(self):
        """What the emulated CPUs and disks do, twice: firmware that hangs says nothing itself."""
        story = ""
        try:
            for _ in range(2):
                registers = self.qmp("human-monitor-command", timeout=10,
                                     **{"command-line": "info registers -a"})
                at = re.findall(r"CPU#|[RE]IP=[0-9a-f]+|HLT=[01]|^CS =\w+ \w+", registers, re.M)
                disks = {disk["device"]: disk["stats"]["rd_operations"]
                         for disk in self.qmp("query-blockstats", timeout=10)}
                story += f"QEMU: {' '.join(at)}; reads {disks}\n"
                time.sleep(1)
        except (GuestError, OSError) as error:
            story += f"QEMU does not say more: {error}\n"
        return story

    def send(self, command, timeout=60):
        """Start a command without waiting for its end; returns its number."""
        self._request += 1
        encoded = base64.b64encode(command.encode()).decode()
        self._shell_socket.sendall(f"{self._request} {timeout} {encoded}\n".encode())
        return self._request

    def run(self, command, timeout=180):
        """Run a command in the guest; returns its exit status and output."""
        resets = self.resets
        request = self.send(command, timeout)
        # The guest kills the command in time. One that outlives this is in the kernel, which says
        # where before the wait for it ends; or QEMU lost a notification of the shell's device (see
        # emulator_failed()), and a further request brings the device's next.
        late = time.monotonic() + timeout + 60
        end = late + TASK_NAMED

        def is_hopeless():
            if self._request == request and time.monotonic() > late:
                self.send("true")
            return self.resets > resets  # a guest that reboots takes the question with it

        while True:
            line = self._shell_line(end - time.monotonic(), f"an answer to: {command}", is_hopeless)
            result = _answer(line, request)
            if result:
                return result

    def poll(self, request):
        """The answer to a command that was sent, or None if there is none yet."""
        while not self._shell.lines.empty():
            result = _answer(self._shell.lines.get(), request)
            if result:
                return result
        return None

    def sh(self, command, timeout=180):
        """Run a command that must succeed; returns its output, stripped."""
        result = self.run(command, timeout)
        if result.status != 0:
            raise GuestError(f"exit status {result.status} of: {command}\n{result.output}")
        return result.output.strip()

    def read(self, path):
        return self.sh(f"cat {path}")

    def reboot(self, command=REBOOT):
        """Reboot from inside; returns once the next boot's shell is there."""
        self.send(command)
        self.wait_for_shell(resets=1)

    def wait_until_settled(self, resets):
        """Wait for a boot that runs all its jobs, and in which nobody asks for a reboot.

        resets: how many reboots the guest may have made by then, since its start.
        """
        while True:
            self.wait_for_shell(resets - self.resets)
            now = self.resets
            try:
                state = self._state_of_boot()
                if state not in ENDS_SOON:
                    return self._finish_boot(state)
            except GuestError:
                if self.resets == now:
                    raise

    def wait_until_booted(self):
        """Wait for systemd to have run every job of the boot."""
        return self._finish_boot(self._state_of_boot())

    def _state_of_boot(self):
        """By systemd's word, once the boot has run its jobs or ends; "" if that does not come."""
        end = time.monotonic() + HANG
        state = ""  # while the wait for it is cut off
        while not state and not self._line_stands and time.monotonic() < end:
            state = self.run("systemctl is-system-running --wait", SILENCE).output.strip()
            self._line_stands = None if state else self._look_at_line()
        return state

    def _finish_boot(self, state):
        if state not in ("running", "degraded"):
            jobs = self.run("systemctl list-jobs; systemctl --failed; cat /proc/1/stack").output
            raise GuestError(f"the boot does not finish (state {state}):\n{jobs}")
        self.wait_until_undisturbed()
        return state

    def _look_at_line(self):
        """PID 1's stack, if it waits for a serial line that sends nothing; else None."""
        looks = [self.run("cat /proc/1/stack /proc/tty/driver/serial; sleep 5").output
                 for _ in range(3)]
        return looks[0] if line_stands(looks) else None

    def wait_until_undisturbed(self):
        """Wait while the verdict waits for nothing but measurements that other work disturbed.

        On a loaded host the work of a boot lasts into its gate. railhead measures again by itself,
        and starts what is behind the verdict once that is written.
        """
        end = time.monotonic() + HANG
        behind = ("systemctl is-active railhead-ready.target "
                  "&& [ -z \"$(systemctl list-jobs --no-legend)\" ]")
        waited = False
        while time.monotonic() < end:
            text = self.run("cat /run/railhead/status.json").output
            status = json.loads(text) if text.startswith("{") else {}
            reasons = status.get("reasons", [])
            if status.get("verdict") == "ready" and waited:
                if self.run(behind).status == 0:
                    return
            elif status.get("verdict") != "waiting" or not reasons:
                return
            elif not all("could not be measured, disturbed:" in reason for reason in reasons):
                return
            waited = True
            time.sleep(1)
        raise GuestError(f"the verdict has waited for {HANG} s for what others disturb: {reasons}")
