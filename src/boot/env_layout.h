/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of railhead.env, the GRUB environment block that carries our kernel args. The layout
 * is final, because boot loaders configured by an older railhead read it.
 *
 * The file is 4096 bytes of text that GRUB's envblk parser accepts (grub-core/lib/envblk.c): a
 * signature line, then "name=value" lines, comment lines that begin with '#', and '#' up to the
 * end. Every value has a fixed width and is padded with blanks, so that neither we nor GRUB's
 * save_env ever move a byte: each change overwrites bytes in place. Nothing is escaped, because
 * quotes, backslashes and control characters are rejected earlier.
 *
 * The selectors and the state fill the first 512 bytes, and each slot three sectors of its own. A
 * disk writes a sector whole or not at all, so a power cut while one slot is written can harm
 * neither the other slot nor the selectors.
 *
 *    offset  width  name             value
 *        39      1  railhead_good    the slot that boots: a, b, or - (none: no args of ours)
 *        54      1  railhead_try     a, b: boot this slot once; t: GRUB has taken it; -: none
 *        72      1  railhead_layout  1
 *        90      2  railhead_deaths  trials of these args on this kernel that died, without
 *                                    the trial that "t" stands for
 *       109      1  railhead_result  v: GRUB took the trial, but booted a menu entry without
 *                                    the variable; l: something failed in the trial, and the
 *                                    next boot, with the earlier args, looks whether it fails
 *                                    without them; s: that boot has looked, and the args are
 *                                    on trial for the second time; else -
 *       125     16  railhead_hash    of the args that deaths and result describe
 *       158     64  railhead_kernel  release of the kernel that armed them
 *       237     36  railhead_boot    id of the boot that wrote this file last, 28 digits
 *                                    without dashes, and 8 digits with the sum of all values
 *                                    of this sector except railhead_try, which GRUB writes
 *       288     12  railhead_time    when that boot wrote it, in seconds since 1970
 *       318    193  railhead_refused args that must not be tried again, at most four of
 *                                    "ARGS.KERNEL.RESULT.TIME", newest last: hash of the
 *                                    args; first 8 digits of the hash of the kernel's
 *                                    release; number of dead trials (1-9), or n: the args did
 *                                    not arrive, or h: an item failed that holds without
 *                                    them; and when the last trial was armed
 *       523   1524  railhead_a       the args of slot a
 *      2059   1524  railhead_b       the args of slot b
 *      3599      1  railhead_begun   consecutive boots with the good slot that have begun and not
 *                                    reached stage early: 0, 1, 2; from 2 on GRUB leaves the args
 *                                    out of every other boot: a boot without args sets 3, a boot
 *                                    with them sets 2; -: GRUB does not count, as when no slot has
 *                                    args
 *      3615    326  railhead_copy    the values of the first sector except railhead_try, one
 *                                    after the other, written after them and used to mend them
 *      3956      8  railhead_ends    how each trial of the args of hash ended, oldest first:
 *                                    enum env_end (boot/ends.h)
 *      3982      2  railhead_healthy boots without the rejected args that reached a healthy
 *                                    verdict: after as many as the site configures, the args are
 *                                    tried again
 *      3985    111  #
 *
 * src/boot/gen-snippet.sh generates the grub.d snippet from this header.
 */
#pragma once

#define ENV_FILE_NAME "railhead.env"
#define ENV_SIGNATURE "# GRUB Environment Block\n"
#define ENV_SIZE 4096
#define ENV_SLOT_SIZE 1524
#define ENV_LAYOUT "1"

/* GRUB's variables. The snippet needs the first five and sets the last. */
#define ENV_VAR_GOOD "railhead_good"
#define ENV_VAR_TRY "railhead_try"
#define ENV_VAR_BEGUN "railhead_begun"
#define ENV_VAR_A "railhead_a"
#define ENV_VAR_B "railhead_b"
#define ENV_VAR_KARGS "railhead_kargs"

/*
 * The snippet adds the slot to the kernel command line. If GRUB left the args of the good slot out,
 * it adds ENV_LEFT_OUT and that slot ("railhead.slot=-a").
 */
#define ENV_ARG_SLOT "railhead.slot="
#define ENV_LEFT_OUT "-"
/*
 * The snippet puts this mark and ENV_TRIAL_EXTRA before the args of a trial; an older snippet puts
 * both behind the slot. The args come last, so that a profile's panic=10 is in force in its trial,
 * too.
 */
#define ENV_ARG_TRIAL "railhead.trial="
/*
 * The snippet puts this mark, with the count, and ENV_BEGUN_EXTRA before the args of a boot that
 * GRUB counts as begun. Good args can kill a kernel that they were not tried on, also behind
 * railhead's initrd stage; the panic then ends in a reboot. Stage early sets the panic time back
 * (boot/panic.h), and the count too.
 */
#define ENV_ARG_BEGUN "railhead.begun="
#define ENV_BEGUN_EXTRA "panic=30"
/*
 * A panic reboots after 30 s, an oops is a panic, and dracut's shell and emergency mode reboot. In
 * a dracut initramfs systemd waits without end for a root that does not appear; rd.timeout limits
 * that. The limit must be above dracut's own rd.retry (180 s), after which degraded arrays are
 * started. A hang of user space is ended by units/railhead-trial.timer, a hang of the kernel by the
 * site's hardware watchdog or a power cycle. The first two words are set back when the trial is
 * over (boot/panic.h).
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
	ENV_NONE = '-',	 /* no slot */
	ENV_TAKEN = 't', /* GRUB has taken the trial */
};

/*
 * How a trial ended. The letter of a trial is a capital, U at first, from its arming on. The trial
 * itself replaces U by the cause that it sees, and the next boot makes the letter small.
 */
enum env_end {
	ENV_END_PANIC = 'p',	/* the kernel's last words are in pstore (boot/pstore.h) */
	ENV_END_TIMER = 't',	/* railhead-trial.timer: no verdict in time */
	ENV_END_STOP = 's',	/* an orderly shutdown or reboot before the verdict */
	ENV_END_UNKNOWN = 'u',	/* reset, power cut, or a panic that left nothing */
	ENV_END_ALONE = 'a',	/* railhead was told to leave the boot alone (boot/mode.h) */
	ENV_END_LOST = 'l',	/* the trial failed at its verdict, or the args were not in force */
	ENV_END_LEFT_OUT = 'o', /* no trial: two boots with the args as good ones ended before stage
				   early, and GRUB left the args out. Never a capital */
	ENV_ENDS_MAX = 8,
};

/* X(member, name, offset of the value, width of the value) */
#define ENV_FIELDS(X)                                \
	X(GOOD, "railhead_good", 39, 1)              \
	X(TRY, "railhead_try", 54, 1)                \
	X(LAYOUT, "railhead_layout", 72, 1)          \
	X(DEATHS, "railhead_deaths", 90, 2)          \
	X(RESULT, "railhead_result", 109, 1)         \
	X(HASH, "railhead_hash", 125, 16)            \
	X(KERNEL, "railhead_kernel", 158, 64)        \
	X(BOOT, "railhead_boot", 237, 36)            \
	X(TIME, "railhead_time", 288, 12)            \
	X(REFUSED, "railhead_refused", 318, 193)     \
	X(A, "railhead_a", 523, ENV_SLOT_SIZE)       \
	X(B, "railhead_b", 2059, ENV_SLOT_SIZE)      \
	X(BEGUN, "railhead_begun", 3599, 1)          \
	X(COPY, "railhead_copy", 3615, 326)          \
	X(ENDS, "railhead_ends", 3956, ENV_ENDS_MAX) \
	X(HEALTHY, "railhead_healthy", 3982, 2)

enum env_field {
#define X(member, name, offset, width) ENV_F_##member,
	ENV_FIELDS(X)
#undef X
		ENV_F_COUNT
};
