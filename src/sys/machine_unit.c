/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemctl rather than the bus library: it speaks to PID 1's private socket, so it works
 * where no bus daemon runs (the initramfs), and it waits for jobs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/machine.h"

enum { START_MS = 60000, REBOOT_ASK_MS = 10000, REBOOT_WAIT_MS = 30000 };

/* The exit status, or a negative errno; -ETIMEDOUT kills it. */
static int wait_for(pid_t pid, unsigned int deadline_ms)
{
	uint64_t deadline = clock_usec() + deadline_ms * 1000ULL;
	int status;

	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);

		if (r == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -ECANCELED;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (clock_usec() >= deadline) {
			kill(pid, SIGKILL);
			return -ETIMEDOUT;
		}
		poll(NULL, 0, 20);
	}
}

/*
 * In the initramfs this runs with the real root as its root directory, which systemctl
 * would take for a chroot and do nothing, successfully: SYSTEMD_IGNORE_CHROOT.
 */
static int run_systemctl(const char *const argv[], unsigned int deadline_ms)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
					  "SYSTEMD_IGNORE_CHROOT=1", NULL};
	pid_t pid;
	int r = posix_spawn(&pid, "/usr/bin/systemctl", NULL, NULL, (char *const *)argv,
			    (char *const *)env);

	if (r == ENOENT)
		r = posix_spawn(&pid, "/bin/systemctl", NULL, NULL, (char *const *)argv,
				(char *const *)env);
	return r ? -r : wait_for(pid, deadline_ms);
}

/*
 * While it exists the pre-pivot hook holds the boot back (dracut/90railhead): nothing of
 * the real root must start between the request and its fulfilment.
 */
#define REBOOT_MARK "/run/railhead/reboot"

static void mark_reboot(bool on)
{
	int fd;

	if (!on) {
		unlink(REBOOT_MARK);
		return;
	}
	mkdir("/run/railhead", 0755);
	fd = open(REBOOT_MARK, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0)
		close(fd);
}

static int reboot_failed(int r, int systemctl, struct err *err)
{
	mark_reboot(false);
	return err_errno(err, r,
			 "reboot: asked for, but nothing happened (systemctl ended with %d)",
			 systemctl);
}

int machine_reboot(const struct root *root, struct err *err)
{
	static const char *const argv[] = {"systemctl", "--force", "reboot", NULL};
	int r;

	if (!root->live)
		return err_set(err, -EOPNOTSUPP, "reboot: %s is not this machine's root",
			       root->path);
	if (access("/run/systemd/system", F_OK) < 0)
		return err_set(err, -EOPNOTSUPP, "reboot: the service manager is not systemd");
	mark_reboot(true);
	sync();
	r = run_systemctl(argv, REBOOT_ASK_MS);
	if (r == 0)
		poll(NULL, 0, REBOOT_WAIT_MS);
	/*
	 * The same request without the bus: "immediately reboots the machine" (systemd(1),
	 * SIGRTMIN+15). Unmounts, and never uses kexec.
	 */
	if (kill(1, SIGRTMIN + 15) < 0)
		return reboot_failed(-errno, r, err);
	poll(NULL, 0, REBOOT_WAIT_MS);
	return reboot_failed(-ETIME, r, err);
}

/* what: for people, "starting". */
static int unit_job(const char *const argv[], const char *what, const char *unit, struct err *err)
{
	int r = run_systemctl(argv, START_MS);

	if (r < 0)
		return err_errno(err, r, "%s %s: systemctl", what, unit);
	if (r > 0)
		return err_set(err, -EIO, "%s %s failed; see `systemctl status %s`", what, unit,
			       unit);
	return 0;
}

int machine_start_unit(const char *unit, bool wait, struct err *err)
{
	const char *const block[] = {"systemctl", "start", "--", unit, NULL};
	const char *const no_block[] = {"systemctl", "--no-block", "start", "--", unit, NULL};

	return unit_job(wait ? block : no_block, "starting", unit, err);
}

int machine_restart_unit(const char *unit, struct err *err)
{
	const char *const argv[] = {"systemctl", "try-restart", "--", unit, NULL};

	return unit_job(argv, "restarting", unit, err);
}

int machine_stop_unit(const char *unit, struct err *err)
{
	const char *const argv[] = {"systemctl", "stop", "--", unit, NULL};

	return unit_job(argv, "stopping", unit, err);
}
