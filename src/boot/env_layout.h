/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of railhead.env, the GRUB environment block that carries our kernel args.
 * It is final: boot loaders configured by an older railhead read it.
 *
 * The file is 4096 bytes of text that GRUB's envblk parser accepts (grub-core/lib/
 * envblk.c): a signature line, then "name=value" lines, comment lines that begin with
 * '#', and '#' up to the end. Every value has a fixed width and is padded with blanks, so
 * that neither we nor GRUB's save_env ever move a byte: each change is an overwrite of
 * bytes that stay where they are. Nothing is escaped: quotes, backslashes and control
 * characters are refused before they get here.
 *
 * The selectors and the state fill the first 512 bytes, each slot three sectors of its
 * own. A disk writes a sector whole or not at all, so that a power cut while one slot is
 * written can't harm the other slot, nor the selectors.
 *
 *    offset  width  name             value
 *        39      1  railhead_good    the slot that boots: a, b, or - (none: no args of ours)
 *        54      1  railhead_try     a, b: boot this slot once; t: GRUB has taken it; -: none
 *        72      1  railhead_layout  1
 *        90      2  railhead_deaths  trials of these args on this kernel that died, but for
 *                                    the one that "t" stands for
 *       109      1  railhead_result  v: GRUB took the trial, but the menu entry that was
 *                                    booted had not the variable; l: something failed in the
 *                                    trial, and the next boot, with the earlier args, looks
 *                                    whether that fails without them; s: that was so, and
 *                                    the args are on trial for the second time; else -
 *       125     16  railhead_hash    of the args that deaths and result speak of
 *       158     64  railhead_kernel  release of the kernel that armed them
 *       237     36  railhead_boot    id of the boot that wrote this file last, without dashes
 *                                    and 28 digits long, and 8 digits that sum up all values
 *                                    of this sector but railhead_try, which GRUB writes
 *       288     12  railhead_time    when, in seconds since 1970
 *       318    193  railhead_refused args that are not to be tried again, at most four of
 *                                    "ARGS.KERNEL.RESULT.TIME", the newest last: hash of the
 *                                    args, first 8 digits of the hash of the kernel's
 *                                    release, how many trials died (1-9), n: they did not
 *                                    arrive, or h: something failed that held without them,
 *                                    and when the last trial was armed
 *       523   1524  railhead_a       the args of slot a
 *      2059   1524  railhead_b       the args of slot b
 *      3599      1  railhead_begun   boots with the good slot in a row that have begun and not come
 *                                    to stage early: 0, 1, 2; from 2 on GRUB leaves the args out
 *                                    of every other boot: 3 is set by one without, 2 by one with
 *                                    them; -: GRUB counts none, as where no slot has args
 *      3615    326  railhead_copy    the values of the first sector but railhead_try, one behind
 *                                    the other, written after them: what they are mended from
 *      3956      8  railhead_ends    how each trial of the args of hash ended, the oldest first:
 *                                    enum env_end (boot/ends.h)
 *      3982      2  railhead_healthy boots that came to a healthy verdict, without args that are
 *                                    refused: after so many as the site says they are tried again
 *      3985    111  #
 *
 * The grub.d snippet is generated from this header (src/boot/gen-snippet.sh).
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
 * What the snippet adds to the kernel command line: the slot, or, where GRUB left the args of the
 * good slot out, ENV_LEFT_OUT and that slot ("railhead.slot=-a").
 */
#define ENV_ARG_SLOT "railhead.slot="
#define ENV_LEFT_OUT "-"
/*
 * Before the args of a trial, with what it adds; an older snippet puts both behind the slot. The
 * args come last, so that a profile's panic=10 is in force in its trial, too.
 */
#define ENV_ARG_TRIAL "railhead.trial="
/*
 * Before the args of a boot that GRUB counts as begun, with the count and what it adds: where good
 * args kill a kernel that they were not tried on, behind railhead's initrd stage too, the panic
 * ends in a reboot. Set back by stage early (boot/detectors.c), as the count is.
 */
#define ENV_ARG_BEGUN "railhead.begun="
#define ENV_BEGUN_EXTRA "panic=30"
/*
 * A panic reboots after 30 s; dracut's shell and its emergency mode reboot too. A root that
 * does not appear is waited for without end by systemd in a dracut initramfs: not here. Its
 * limit must be above dracut's own rd.retry (180 s), after which degraded arrays are started.
 *
 * The rest makes the kernel panic where it finds that it hangs (admin-guide/kernel-parameters.txt,
 * admin-guide/sysctl/kernel.rst): an oops, a CPU that does not schedule for two minutes (twice
 * watchdog_thresh, 60 being its maximum), that takes no interrupt for one minute (needs a PMU) or
 * holds up RCU for two (needs none), a task that stands in D for five to ten minutes. The kernel's
 * own times, of 20, 10, 21 and 120 s, are for messages: GPU drivers, large memories, slow arrays
 * and busy hypervisors are known to pass them on healthy nodes, and a trial that hangs may last as
 * long as one that waits (units/railhead-trial.timer). sysctl.X is in force from Linux 5.8 on,
 * before the initramfs's first program; for older kernels units/trial-guard does it in the
 * initramfs, where their own words (softlockup_panic=1) would come into force without the times.
 * They are set back when the trial is over (boot/detectors.c). What an older snippet added must
 * stay a part of it, in this order.
 */
/* One line, which src/boot/gen-snippet.sh reads. */
/* clang-format off */
#define ENV_TRIAL_EXTRA "panic=30 rd.shell=0 rd.emergency=reboot rd.timeout=240 oops=panic rcupdate.rcu_cpu_stall_timeout=120 sysctl.kernel.watchdog_thresh=60 sysctl.kernel.hung_task_timeout_secs=300 sysctl.kernel.softlockup_panic=1 sysctl.kernel.hardlockup_panic=1 sysctl.kernel.panic_on_rcu_stall=1 sysctl.kernel.hung_task_panic=1"
/* clang-format on */

enum {
	ENV_NONE = '-',	 /* no slot */
	ENV_TAKEN = 't', /* GRUB has taken the trial */
};

/*
 * How a trial ended. The letter of a trial is a capital from its arming on, U at first; the trial
 * itself replaces U by the cause that it sees, and the boot after it makes the letter small.
 */
enum env_end {
	ENV_END_PANIC = 'p',   /* the kernel's last words are in pstore (boot/pstore.h) */
	ENV_END_TIMER = 't',   /* railhead-trial.timer: no verdict in time */
	ENV_END_STOP = 's',    /* an orderly shutdown or reboot before the verdict */
	ENV_END_UNKNOWN = 'u', /* reset, power cut, or a panic that left nothing */
	ENV_END_ALONE = 'a',   /* railhead was told to leave that boot alone (boot/mode.h) */
	ENV_END_LOST = 'l',    /* it came to its verdict, and lost, or the args were not in force */
	ENV_END_LEFT_OUT = 'o', /* no trial: as good ones they ended two boots before stage early,
				 * and GRUB left them out. Never a capital */
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
