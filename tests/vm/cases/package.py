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
    vm.sh("dpkg --no-triggers --remove railhead 2>&1", 300)
    expect("railhead.env" not in vm.read("/boot/grub/grub.cfg"),
           "GRUB still reads railhead.env after the package was removed")
    vm.sh("dpkg --no-triggers --purge railhead 2>&1", 300)
    for path in (ENV, "/etc/grub.d/05_railhead", "/etc/default/grub.d/railhead.cfg"):
        expect(vm.run(f"test -e {path}").status != 0, f"{path} is still there")
    expect("railhead" not in vm.read("/boot/grub/grub.cfg"),
           "grub.cfg still speaks of railhead")
    equal("links to our units left", vm.sh("find /etc/systemd -lname '*railhead*'"), "")
    contains("grub.cfg", vm.read("/boot/grub/grub.cfg"), "menuentry")
