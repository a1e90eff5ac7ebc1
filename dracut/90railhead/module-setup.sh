#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # moddir, initdir, systemdsystemunitdir: dracut's
#
# Nothing that could go stale is put into the initramfs: a unit and the hook that starts
# it. The unit runs the real root's own railhead with the real root's profiles. And the
# timer that ends a trial which gets stuck here.

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
	# As `systemctl add-wants` does: dracut 051, Debian 11's, has no $SYSTEMCTL.
	mkdir -p "$initdir$systemdsystemunitdir/sysinit.target.wants"
	ln -sf ../railhead-trial.timer "$initdir$systemdsystemunitdir/sysinit.target.wants/"
}
