#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by dracut's pre-pivot script, which has no deadline of its own: the work is done
# in a unit that has one. Never exits and never fails, for that would stop the boot.

railhead_pre_pivot() {
	if [ ! -x "${NEWROOT:-/sysroot}/usr/sbin/railhead" ]; then
		info "railhead: ${NEWROOT:-/sysroot}/usr/sbin/railhead is not there; skipped"
		return 0
	fi
	systemctl start railhead-initrd.service ||
		warn "railhead: the initrd stage failed; see journalctl -u railhead-initrd.service"

	# It asked for a reboot: the real root must not be entered meanwhile. The reboot takes
	# well under a second; if it does not come at all, the boot goes on after a minute.
	_railhead_wait=0
	while [ -e /run/railhead/reboot ] && [ "$_railhead_wait" -lt 60 ]; do
		sleep 1
		_railhead_wait=$((_railhead_wait + 1))
	done
	rm -f /run/railhead/reboot
	unset _railhead_wait
	return 0
}

railhead_pre_pivot || :
