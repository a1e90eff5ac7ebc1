"""The Debian package and GRUB's menu, on the running guest."""

from harness import SNAPSHOT, case, contains, equal, expect, is_active

ENV = "/boot/grub/railhead.env"
# Triggers would make the initramfs again, a minute under emulation.
INSTALL = "dpkg --no-triggers -i /usr/local/share/railhead.deb 2>&1"


@case(SNAPSHOT, "the machine's own update-grub writes the menu that was booted")
def same_menu(vm):
    vm.sh("cp /boot/grub/grub.cfg /run/grub.cfg && update-grub 2>&1", 120)
    vm.sh("diff -u --ignore-all-space --ignore-blank-lines /run/grub.cfg /boot/grub/grub.cfg")


@case(SNAPSHOT, "installing the package again restarts nothing and keeps the args")
def upgrade_is_quiet(vm):
    def invocations():
        return vm.sh("systemctl show -p Id,InvocationID,ActiveState gated.service"
                     " railhead-ready.target railhead-gate.service"
                     " railhead-devices.service railhead-early.service")

    def environment():
        return vm.sh(f"sha256sum {ENV}; stat -c %Y {ENV}")

    units, args = invocations(), environment()
    vm.sh(INSTALL, 300)
    equal("units after the upgrade", invocations(), units)
    equal("environment file after the upgrade", environment(), args)
    expect(is_active(vm, "railhead-ready.target"), "the target is not active")


@case(SNAPSHOT, "removing the package takes the args out, purging leaves nothing")
def purge_cleans_up(vm):
    vm.sh("dpkg -L railhead | grep -E '90-railhead.rules|railhead-device@.service' | xargs ls")
    published = ("/var/lib/prometheus/node-exporter/railhead.prom",
                 "/etc/kubernetes/node-feature-discovery/features.d/railhead")
    for path in published:
        vm.sh(f"mkdir -p $(dirname {path}) && touch {path}")
    vm.sh("dpkg --no-triggers --remove railhead 2>&1", 300)
    for path in published:
        expect(vm.run(f"test -e {path}").status != 0, f"{path} is there with nobody to withdraw it")
    expect("railhead.env" not in vm.read("/boot/grub/grub.cfg"),
           "GRUB still reads railhead.env after the package was removed")
    vm.sh("dpkg --no-triggers --purge railhead 2>&1", 300)
    for path in (ENV, "/etc/grub.d/05_railhead", "/etc/default/grub.d/railhead.cfg",
                 "/usr/lib/udev/rules.d/90-railhead.rules",
                 "/lib/systemd/system/railhead-device@.service"):
        expect(vm.run(f"test -e {path}").status != 0, f"{path} is still there")
    expect("railhead" not in vm.read("/boot/grub/grub.cfg"),
           "grub.cfg still speaks of railhead")
    equal("links to our units left", vm.sh("find /etc/systemd -lname '*railhead*'"), "")
    contains("grub.cfg", vm.read("/boot/grub/grub.cfg"), "menuentry")


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
dpkg-deb --build /run/new /run/new.deb
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
    vm.sh(NEW_KERNEL, 300)
    own_line(2, True)
    equal("railhead.env", vm.sh(env), args)
    contains("railhead plan", vm.sh("railhead plan", 120), "converged")
    vm.sh("railhead kargs --reset && update-grub 2>&1", 120)
    own_line(2, True)
    # The drop-in is a conffile: it stays until the purge, and nothing sets the variable.
    vm.sh("dpkg --no-triggers --remove railhead 2>&1", 300)
    own_line(2, True)
    expect("set railhead_kargs" not in vm.read("/boot/grub/grub.cfg"), "GRUB sets the variable")
    vm.sh("dpkg --no-triggers --purge railhead 2>&1", 300)
    own_line(2, False)
