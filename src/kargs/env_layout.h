/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of railhead.env, the GRUB environment block that carries our kernel args. GRUB reads
 * the selectors, the two slots and the count; the rest is railhead's own.
 *
 * The file is 4096 bytes of text that GRUB's envblk parser accepts (grub-core/lib/envblk.c): a
 * signature line, then "name=value" lines, comment lines that begin with '#', and '#' up to the
 * end. Every value has a fixed width and is padded with blanks, so that neither we nor GRUB's
 * save_env ever move a byte: each change overwrites bytes in place. Nothing is escaped, because
 * quotes, backslashes and control characters are rejected earlier.
 *
 * The first sector has the selectors, each slot three sectors of its own, and the last one the
 * count. A disk writes a sector whole or not at all, so a power cut while one slot is written can
 * harm neither the other slot nor the selectors.
 *
 *    offset  width  name              value
 *        39      1  railhead_good     the slot that boots: a, b, or - (none: no args of ours)
 *        54      1  railhead_try      a, b: boot this slot once; t: GRUB has taken it; -: none
 *        72      1  railhead_layout   1
 *        91      1  railhead_reboots  reboots by railhead in a row, without a settled verdict
 *       106     24  railhead_sum      8 digits for good, layout, reboots and the other 16 digits,
 *                                     8 for slot a, 8 for slot b (the first of their SHA-256)
 *       523   1524  railhead_a        the args of slot a
 *      2059   1524  railhead_b        the args of slot b
 *      3599      1  railhead_begun    -: GRUB counts no boots. 0, 1, 2: a kernel was installed, and
 *                                     so many boots with the good slot in a row have begun since
 *                                     without a verdict; at 2 GRUB leaves the args out
 *
 * src/loader/gen-snippet.sh generates the grub.d snippet from this header.
 */
#pragma once

#define ENV_FILE_NAME "railhead.env"
#define ENV_SIGNATURE "# GRUB Environment Block\n"
#define ENV_SIZE 4096
#define ENV_SLOT_SIZE 1524
#define ENV_LAYOUT "1"
#define ENV_SUM_SIZE 24

/* GRUB's variables. The snippet needs the first five and sets the last. */
#define ENV_VAR_GOOD "railhead_good"
#define ENV_VAR_TRY "railhead_try"
#define ENV_VAR_BEGUN "railhead_begun"
#define ENV_VAR_A "railhead_a"
#define ENV_VAR_B "railhead_b"
#define ENV_VAR_KARGS "railhead_kargs"

/*
 * The snippet puts these marks before and behind the args of the slot, so that the line itself
 * shows which of its args are railhead's. If GRUB left the args of the good slot out, nothing is
 * between the marks, and the second has ENV_LEFT_OUT before its slot ("railhead.slot=-a").
 */
#define ENV_ARG_BEGIN "railhead.args"
#define ENV_ARG_SLOT "railhead.slot="
#define ENV_LEFT_OUT "-"
/*
 * The snippet puts this mark and ENV_TRIAL_EXTRA before those of a trial. The args come last, so
 * that a profile's panic=10 is in force in its trial, too.
 */
#define ENV_ARG_TRIAL "railhead.trial="
/* The same for a boot that GRUB counts, whose args were never tried on a kernel that is new. */
#define ENV_ARG_BEGUN "railhead.begun="
#define ENV_BEGUN_EXTRA "panic=30"
/*
 * An oops and a panic reboot after 30 s, as do dracut's shell and its emergency mode. In a dracut
 * initramfs systemd waits without end for a root that does not appear; rd.timeout limits that. The
 * limit must be above dracut's own rd.retry (180 s), after which degraded arrays are started. A
 * hang of user space ends by units/railhead-trial.timer, one of the kernel by the site's hardware
 * watchdog or a power cycle. The first two words are set back when the trial is over
 * (boot/panic.h).
 */
#define ENV_TRIAL_EXTRA "panic=30 oops=panic rd.shell=0 rd.emergency=reboot rd.timeout=240"
/*
 * The words of an older snippet, which a grub.cfg has until update-grub is run. The words of
 * snippets before that are a part of this text, in this order. railhead takes these words off the
 * line, and sets back the two that ENV_TRIAL_EXTRA has.
 */
/* clang-format off */
#define ENV_TRIAL_OLDER "panic=30 rd.shell=0 rd.emergency=reboot rd.timeout=240 oops=panic rcupdate.rcu_cpu_stall_timeout=120 sysctl.kernel.watchdog_thresh=60 sysctl.kernel.hung_task_timeout_secs=300 sysctl.kernel.softlockup_panic=1 sysctl.kernel.hardlockup_panic=1 sysctl.kernel.panic_on_rcu_stall=1 sysctl.kernel.hung_task_panic=1"
/* clang-format on */

enum {
	ENV_NONE = '-',	 /* no slot; no count */
	ENV_TAKEN = 't', /* GRUB has taken the trial */
};

/* X(member, name, offset of the value, width of the value) */
#define ENV_FIELDS(X)                             \
	X(GOOD, "railhead_good", 39, 1)           \
	X(TRY, "railhead_try", 54, 1)             \
	X(LAYOUT, "railhead_layout", 72, 1)       \
	X(REBOOTS, "railhead_reboots", 91, 1)     \
	X(SUM, "railhead_sum", 106, ENV_SUM_SIZE) \
	X(A, "railhead_a", 523, ENV_SLOT_SIZE)    \
	X(B, "railhead_b", 2059, ENV_SLOT_SIZE)   \
	X(BEGUN, "railhead_begun", 3599, 1)

enum env_field {
#define X(member, name, offset, width) ENV_F_##member,
	ENV_FIELDS(X)
#undef X
		ENV_F_COUNT
};
