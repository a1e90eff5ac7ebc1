"""The Debian packages and GRUB's menu, on the running guest."""

import json

from harness import RECORD, SNAPSHOT, case, contains, equal, exits, expect, is_active, status_json

ENV = "/boot/grub/railhead.env"
# Triggers would make the initramfs again, a minute under emulation: that they wait is seen.
DPKG = "dpkg --no-triggers"
DEBS = "/usr/local/share/railhead"
INSTALL = f"{DPKG} -i {DEBS}/*.deb 2>&1"
# From that directory alone, which build-image made an archive of.
SOURCE = "/etc/apt/sources.list.d/railhead.list"
APT = (f"apt-get -q -y -o Dir::Etc::SourceList={SOURCE} -o Dir::Etc::SourceParts=-"
       " -o DPkg::Options::=--no-triggers")
ALL = "railhead railhead-gate railhead-profiles"


def _start_worker(vm):
    """A process that requires the target, as kubelet's would; the PID that it must keep."""
    vm.sh("systemd-run --quiet --unit=worker -p Requires=railhead-ready.target"
          " -p After=railhead-ready.target sleep 1d")
    return _worker(vm)


def _worker(vm):
    return vm.sh("systemctl show -p MainPID,ActiveState worker.service")


def _initramfs_waits(vm):
    """Whether dracut was asked for the initramfs, and has not made it yet."""
    return "update-initramfs" in vm.sh("dpkg-query -W -f '${Triggers-Pending}' dracut")


def _as_schema_2(record):
    """As a railhead before schema 3 wrote the record: reasons are sentences."""
    faults = [{key: fault[key] for key in ("code", "action", "on_fail", "reason", "remedy")}
              for fault in record["faults"]]
    return record | {"schema": 2, "faults": faults}


@case(SNAPSHOT, "a record that the package before wrote in this boot keeps the node ready")
def older_record(vm):
    worker = _start_worker(vm)
    before = status_json(vm)
    equal("schema and verdict", (before["schema"], before["verdict"]), (3, "ready"))
    text = json.dumps(_as_schema_2(before))
    vm.sh(f"cat >{RECORD} <<'RECORD'\n{text}\nRECORD")
    contains("status", vm.sh("railhead status"), "verdict: ready (work is admitted)")
    ready = vm.sh("stat -c '%i %Z' /run/railhead/ready")
    vm.sh("systemctl start railhead-retry.service", 60)  # looks, as its timer would
    contains("a gate by hand", vm.sh("railhead gate", 60), "ready, from earlier in this boot")
    exits(vm, "railhead apply --stage early", 0, 60)
    after = status_json(vm)
    equal("schema and verdict", (after["schema"], after["verdict"]), (3, "ready"))
    equal("states of measurements", [one["state"] for one in after["measurements"]],
          [one["state"] for one in before["measurements"]])
    equal("the ready file", vm.sh("stat -c '%i %Z' /run/railhead/ready"), ready)
    equal("a gated process", _worker(vm), worker)


@case(SNAPSHOT, "the machine's own update-grub writes the menu that was booted")
def same_menu(vm):
    vm.sh("cp /boot/grub/grub.cfg /run/grub.cfg && update-grub 2>&1", 120)
    vm.sh("diff -u --ignore-all-space --ignore-blank-lines /run/grub.cfg /boot/grub/grub.cfg")


@case(SNAPSHOT, "reinstall, downgrade and upgrade restart nothing and keep the args and edits")
def upgrade_is_quiet(vm):
    cfg = "/etc/default/grub.d/railhead.cfg"

    def invocations():
        return vm.sh("systemctl show -p Id,InvocationID,ActiveState gated.service"
                     " railhead-ready.target railhead-gate.service"
                     " railhead-devices.service railhead-early.service")

    def environment():
        return vm.sh(f"sha256sum {ENV}; stat -c %Y {ENV}; cat {cfg}; readlink -f /run/railhead/ready")

    def versions():
        return vm.sh(f"dpkg-query -W -f '${{Version}}\n' {ALL} | uniq").split()

    vm.sh(f"echo '# by an operator' >>{cfg}")
    worker = _start_worker(vm)
    units, args, now = invocations(), environment(), versions()
    vm.sh(f"echo 'deb [trusted=yes] file:{DEBS} ./' >{SOURCE} && {APT} update 2>&1", 120)
    for what, command, wanted in (
            ("reinstall", f"{APT} install --reinstall {ALL}", now),
            ("downgrade", f"{DPKG} -i {DEBS}/older/*.deb", [f"{now[0]}~older"]),
            ("upgrade", f"{APT} upgrade", now)):
        vm.sh(f"{command} 2>&1", 300)
        equal(f"versions after the {what}", versions(), wanted)
        equal(f"units after the {what}", invocations(), units)
        equal(f"a gated process after the {what}", _worker(vm), worker)
        equal(f"environment file and edits after the {what}", environment(), args)
        expect(not _initramfs_waits(vm), f"the {what} makes an initramfs that is the same again")
    expect(is_active(vm, "railhead-ready.target"), "the target is not active")
    vm.sh("echo '#' >>/usr/lib/dracut/modules.d/90railhead/module-setup.sh")
    vm.sh(f"{DPKG} -i {DEBS}/railhead_*.deb 2>&1", 300)
    expect(_initramfs_waits(vm), "a changed dracut module does not come into the initramfs")


def _no_file_of_ours(vm):
    # What is the guest's own: the packages themselves, a profile, the drop-in that keeps later looks
    # away, the tests' payload in /run.
    left = vm.sh("find / -xdev -path /run -prune -o -path /proc -prune -o -path /sys -prune"
                 f" -o -path {DEBS} -prune -o -path /etc/railhead -prune"
                 " -o -path /etc/systemd/system/railhead-recheck.timer.d -prune"
                 " -o -path '/var/log/*' -prune -o -iname '*railhead*' -print"
                 "; find /boot -iname '*railhead*'", 120)
    equal("files left", left, "")


@case(SNAPSHOT, "removing takes the args out, purging leaves nothing, and the guest boots")
def purge_cleans_up(vm):
    vm.sh("dpkg -L railhead | grep -E '90-railhead.rules|railhead-device@.service' | xargs ls")
    published = ("/run/railhead/ready", "/var/lib/prometheus/node-exporter/railhead.prom",
                 "/etc/kubernetes/node-feature-discovery/features.d/railhead")
    for path in published:
        vm.sh(f"mkdir -p $(dirname {path}) && touch {path}")
    args = vm.sh("railhead kargs --format=line", 60).split()
    contains("/proc/cmdline", vm.read("/proc/cmdline").split(), *args)
    worker = _start_worker(vm)
    vm.sh(f"{DPKG} --remove {ALL} 2>&1", 300)
    equal("a gated process after the removal", _worker(vm), worker)
    for path in published:
        expect(vm.run(f"test -e {path}").status != 0, f"{path} is there with nobody to withdraw it")
    for path in ("gated.service.d", "railhead-ready.target.d"):
        expect(vm.run(f"test -e /etc/systemd/system/{path}").status != 0,
               f"{path} is there, and gated.service could not be started any more")
    expect("railhead.env" not in vm.read("/boot/grub/grub.cfg"),
           "GRUB still reads railhead.env after the package was removed")
    vm.sh(f"{DPKG} --purge {ALL} 2>&1", 300)
    _no_file_of_ours(vm)
    expect("railhead" not in vm.read("/boot/grub/grub.cfg"),
           "grub.cfg still speaks of railhead")
    equal("links to our units left", vm.sh("find /etc/systemd -lname '*railhead*'"), "")
    contains("grub.cfg", vm.read("/boot/grub/grub.cfg"), "menuentry")
    expect(_initramfs_waits(vm), "the dracut module stays in the initramfs")
    line = _linux_lines(vm)[0]
    vm.reboot()
    vm.wait_until_booted()
    # GRUB puts BOOT_IMAGE=, the path that it is told, before the words of the menu.
    equal("words of /proc/cmdline", vm.read("/proc/cmdline").split()[1:], line[2:])
    for arg in args:
        expect(arg not in line, f"{arg} is there after the purge")
    expect(is_active(vm, "gated.service"), "gated.service does not start")
    equal("units that failed", vm.sh("systemctl --failed --no-legend --plain"), "")


# A kernel package as Debian's: its postinst runs /etc/kernel/postinst.d. Without the
# initramfs (INITRD=No), which takes minutes under emulation and has no part in this.
NEW_KERNEL = r"""
set -e
version=6.99.0-test
mkdir -p /run/new/DEBIAN /run/new/boot
cp /boot/vmlinuz-$(uname -r) /run/new/boot/vmlinuz-$version
cp /boot/initrd.img-$(uname -r) /boot/initrd.img-$version
cat >/run/new/DEBIAN/control <<EOF
Package: linux-image-$version
Version: 1
Architecture: amd64
Maintainer: nobody <nobody@localhost>
Description: the same kernel under another name
EOF
cat >/run/new/DEBIAN/postinst <<EOF
#!/bin/sh
exec run-parts --report --exit-on-error --arg=$version --arg=/boot/vmlinuz-$version \
  /etc/kernel/postinst.d
EOF
chmod 755 /run/new/DEBIAN/postinst
dpkg-deb -Znone --build /run/new /run/new.deb
INITRD=No dpkg -i /run/new.deb
"""


def _linux_lines(vm):
    """The words of the lines that start a kernel, but for those of recovery entries."""
    return [line.split() for line in vm.read("/boot/grub/grub.cfg").splitlines()
            if line.split()[:1] == ["linux"] and "single" not in line.split()]


@case(SNAPSHOT, "a user's own GRUB_CMDLINE_LINUX outlives apply, a new kernel, reset and removal")
def users_line_is_kept(vm):
    vm.sh("sed -i 's/^GRUB_CMDLINE_LINUX=\"/&user.own=1 skew_tick=0 /' /etc/default/grub"
          " && update-grub 2>&1", 120)
    before = vm.read("/etc/default/grub")
    contains("/etc/default/grub", before, "user.own=1 skew_tick=0")
    env = f"sha256sum {ENV}; stat -c '%Y %Z' {ENV}"
    args = vm.sh(env)

    def own_line(kernels, with_variable):
        equal("/etc/default/grub", vm.read("/etc/default/grub"), before)
        lines = _linux_lines(vm)
        equal("kernels in the menu", len({line[1] for line in lines}), kernels)
        for line in lines:
            contains("linux line", line, "user.own=1", "skew_tick=0")
            equal("times of the variable", line.count("$railhead_kargs"), int(with_variable))

    own_line(1, True)
    vm.sh(INSTALL, 300)
    vm.sh("railhead apply", 120)
    own_line(1, True)
    equal("railhead.env", vm.sh(env), args)
    vm.sh(NEW_KERNEL, 300)
    own_line(2, True)
    # Until a verdict with that kernel GRUB counts its boots.
    contains("railhead.env", vm.read(ENV), "\nrailhead_begun=0\n")
    contains("railhead.env but for that", vm.sh(f"sed 's/^railhead_begun=0/railhead_begun=-/' {ENV}"
                                                " | sha256sum"), args.split()[0])
    contains("railhead plan", vm.sh("railhead plan", 120), "converged")
    vm.sh("railhead kargs --reset && update-grub 2>&1", 120)
    own_line(2, True)
    # The drop-in is a conffile: it stays until the purge, and nothing sets the variable.
    vm.sh(f"{DPKG} --remove {ALL} 2>&1", 300)
    own_line(2, True)
    expect("set railhead_kargs" not in vm.read("/boot/grub/grub.cfg"), "GRUB sets the variable")
    vm.sh(f"{DPKG} --purge {ALL} 2>&1", 300)
    own_line(2, False)
