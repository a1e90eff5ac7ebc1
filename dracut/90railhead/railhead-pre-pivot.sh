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
	return 0
}

railhead_pre_pivot || :
