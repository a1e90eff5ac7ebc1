#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # moddir, systemdsystemunitdir: dracut's
#
# Nothing that could go stale is put into the initramfs: a unit and the hook that starts
# it. The unit runs the real root's own railhead with the real root's profiles.

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
}
