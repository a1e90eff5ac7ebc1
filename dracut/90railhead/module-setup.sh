#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # moddir, initdir, systemdsystemunitdir, SYSTEMCTL: dracut's
#
# Nothing that could go stale is put into the initramfs: a unit and the hook that starts
# it. The unit runs the real root's own railhead with the real root's profiles. And the
# timer that ends a trial which gets stuck here, and the watchdog for one that hangs, with what
# it needs: the drivers also where the image is made on a machine that has none of them loaded.

check() {
	return 0
}

depends() {
	echo systemd-initrd
	return 0
}

install() {
	inst_hook pre-pivot 90 "$moddir/railhead-pre-pivot.sh"
	inst_simple "$moddir/railhead-initrd.service" \
		"$systemdsystemunitdir/railhead-initrd.service"
	inst_multiple "$systemdsystemunitdir/railhead-trial.timer" \
		"$systemdsystemunitdir/railhead-trial.service"
	$SYSTEMCTL -q --root "$initdir" add-wants sysinit.target railhead-trial.timer

	inst_simple "$systemdsystemunitdir/railhead-trial-guard.service"
	inst_multiple /usr/libexec/railhead/trial-guard modprobe mkdir rm
	inst_multiple -o wdctl od dd
	$SYSTEMCTL -q --root "$initdir" add-wants sysinit.target railhead-trial-guard.service
}

installkernel() {
	hostonly='' instmods i6300esb lpc_ich i2c-i801 iTCO_wdt
	return 0
}
