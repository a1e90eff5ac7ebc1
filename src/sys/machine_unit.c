/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uses systemctl instead of the bus library: systemctl uses PID 1's private socket, so it works
 * without a bus daemon (the initramfs), and it waits for jobs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"

enum { START_MS = 60000, RELOAD_MS = 10000, REBOOT_ASK_MS = 30000 };

/*
 * The exit status, or a negative errno; kills the process and returns -ETIMEDOUT at the deadline.
 */
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
 * In the initramfs this runs with the real root as its root directory. systemctl would treat that
 * as a chroot and succeed without any action, so set SYSTEMD_IGNORE_CHROOT. Looks for argv[0] in
 * /usr/bin and, where /bin is not merged, in /bin.
 */
static int run_tool_to(const char *const argv[], unsigned int deadline_ms, int out)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
					  "SYSTEMD_IGNORE_CHROOT=1", "SYSTEMCTL_SKIP_AUTO_KEXEC=1",
					  "SYSTEMCTL_SKIP_AUTO_SOFT_REBOOT=1", NULL};
	static const char *const dirs[] = {"/usr/bin", "/bin"};
	posix_spawn_file_actions_t files;
	int r = ENOENT;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	for (size_t i = 0; r == ENOENT && i < array_len(dirs); i++) {
		cleanup_free char *path = xasprintf("%s/%s", dirs[i], argv[0]);

		r = posix_spawn(&pid, path, &files, NULL, (char *const *)argv, (char *const *)env);
	}
	posix_spawn_file_actions_destroy(&files);
	return r ? -r : wait_for(pid, deadline_ms);
}

static int run_tool(const char *const argv[], unsigned int deadline_ms)
{
	return run_tool_to(argv, deadline_ms, -1);
}

int machine_reboot(const struct root *root, struct err *err)
{
	static const char *const argv[] = {"systemctl", "--no-wall", "reboot", NULL};
	int r;

	if (!root->live)
		return err_set(err, -EOPNOTSUPP, "reboot: %s is not this machine's root",
			       root->path);
	if (access("/run/systemd/system", F_OK) < 0)
		return err_set(err, -EOPNOTSUPP, "reboot: the service manager is not systemd");
	r = run_tool(argv, REBOOT_ASK_MS);
	return r == 0 ? 0
		      : err_set(err, r < 0 ? r : -EIO, "reboot: `systemctl reboot` %s",
				r < 0 ? strerror(-r) : "failed");
}

/* what: for messages, "starting". */
static int unit_job_within(const char *const argv[], unsigned int ms, const char *what,
			   const char *unit, struct err *err)
{
	int r = run_tool(argv, ms);

	if (r < 0)
		return err_errno(err, r, "%s %s: systemctl", what, unit);
	if (r > 0)
		return err_set(err, -EIO, "%s %s failed; see `systemctl status '%s'`", what, unit,
			       unit);
	return 0;
}

static int unit_job(const char *const argv[], const char *what, const char *unit, struct err *err)
{
	return unit_job_within(argv, START_MS, what, unit, err);
}

int machine_start_unit_within(const char *unit, unsigned int ms, struct err *err)
{
	const char *const argv[] = {"systemctl", "start", "--", unit, NULL};

	return unit_job_within(argv, ms, "starting", unit, err);
}

int machine_start_unit(const char *unit, bool wait, struct err *err)
{
	const char *const block[] = {"systemctl", "start", "--", unit, NULL};
	const char *const no_block[] = {"systemctl", "--no-block", "start", "--", unit, NULL};

	return unit_job(wait ? block : no_block, "starting", unit, err);
}

/* The standard output of a tool; NULL: the tool failed, or printed nothing. */
static char *output_of(const char *const argv[])
{
	cleanup_close int out = memfd_create(argv[0], MFD_CLOEXEC);
	char *text = NULL;

	if (out < 0 || run_tool_to(argv, RELOAD_MS, out) != 0 || lseek(out, 0, SEEK_SET) < 0 ||
	    read_fd(out, 4096, &text, NULL) != 0)
		return NULL;
	return text;
}

char *machine_unit_words(const char *unit)
{
	cleanup_free char *match = xasprintf("_SYSTEMD_UNIT=%s", unit);
	const char *const argv[] = {"journalctl",   "--quiet",	 "--boot", "--no-pager",
				    "--output=cat", "--lines=4", match,	   NULL};
	cleanup_free char *text = output_of(argv);
	char *rest = text, *line, *last = NULL;

	while (rest && (line = strsep(&rest, "\n"))) {
		line += strspn(line, " ");
		if (*line &&
		    !str_starts(line,
				"dmesg(1) may have more")) /* a line that any mount(8) prints */
			last = line;
	}
	return last ? xstrdup(last) : NULL;
}

int machine_remount_with(const struct root *root, const char *path, const char *options,
			 struct err *err)
{
	cleanup_free char *remount = xasprintf("remount,%s", options);
	const char *const argv[] = {"mount", "-o", remount, "--", path, NULL};
	int r;

	if (!root->live)
		return err_set(err, -EOPNOTSUPP, "%s: mounts are those of the running machine",
			       path);
	r = run_tool(argv, START_MS);
	if (r < 0)
		return err_errno(err, r, "%s: mount", path);
	if (r > 0)
		return err_set(err, -EIO,
			       "%s: mount -o %s ended with %d; see its output in the "
			       "journal",
			       path, remount, r);
	return 0;
}

int machine_restart_unit(const char *unit, struct err *err)
{
	const char *const argv[] = {"systemctl", "try-restart", "--", unit, NULL};

	return unit_job(argv, "restarting", unit, err);
}

int machine_restart_unit_later(const char *unit, struct err *err)
{
	const char *const argv[] = {"systemctl", "--no-block", "try-restart", "--", unit, NULL};

	return unit_job(argv, "restarting", unit, err);
}

int machine_stop_unit(const char *unit, struct err *err)
{
	const char *const argv[] = {"systemctl", "stop", "--", unit, NULL};

	return unit_job(argv, "stopping", unit, err);
}

bool machine_reboots(void)
{
	/* At a shutdown the bus may already be gone; is-active does not show jobs. */
	static const char *const argv[] = {"systemctl", "list-jobs",	 "--no-legend",
					   "--plain",	"reboot.target", "kexec.target",
					   NULL};
	cleanup_free char *text = output_of(argv);

	return text && strstr(text, " start ");
}

/* A transient timer that has ended is not loaded; `systemctl stop` would report an error. */
int machine_run_never(const char *name, struct err *err)
{
	cleanup_free char *timer = xasprintf("%s.timer", name);
	const char *const active[] = {"systemctl", "--quiet", "is-active", "--", timer, NULL};

	return run_tool(active, RELOAD_MS) == 0 ? machine_stop_unit(timer, err) : 0;
}

int machine_run_later(const char *name, uint64_t seconds, struct err *err)
{
	cleanup_free char *unit = xasprintf("--unit=%s.service", name);
	cleanup_free char *when = xasprintf("--on-active=%" PRIu64, seconds);
	const char *const argv[] = {
		"systemd-run", "--quiet", when, "--timer-property=AccuracySec=1s", unit, NULL};
	int r = machine_run_never(name, err);

	return r < 0 ? r : unit_job(argv, "arranging the start of", name, err);
}

static int tell(const char *const argv[], const char *who, struct err *err)
{
	int r = run_tool(argv, RELOAD_MS);

	if (r < 0)
		return err_errno(err, r, "can't notify %s of new files: %s", who, argv[0]);
	if (r > 0)
		return err_set(err, -EIO, "could not notify %s of new files: %s %s ended with %d",
			       who, argv[0], argv[1], r);
	return 0;
}

static bool udev_runs(void)
{
	return access("/run/udev/control", F_OK) == 0;
}

int machine_reload_udev(struct err *err)
{
	static const char *const argv[] = {"udevadm", "control", "--reload", NULL};

	return udev_runs() ? tell(argv, "udev", err) : 0;
}

int machine_trigger_udev(const char *subsystem, const char *attr, struct err *err)
{
	const char *const argv[] = {
		"udevadm", "trigger",	   "--action", "change", "--subsystem-match",
		subsystem, "--attr-match", attr,       NULL};

	return udev_runs() ? tell(argv, "udev", err) : 0;
}

int machine_reload_networkd(struct err *err)
{
	static const char *const active[] = {
		"systemctl", "--quiet", "is-active", "--", "systemd-networkd.service", NULL};
	static const char *const argv[] = {"networkctl", "reload", NULL};

	return run_tool(active, RELOAD_MS) == 0 ? tell(argv, "systemd-networkd", err) : 0;
}

bool machine_units_are_ours(void)
{
	struct stat own, its;

	return access("/run/systemd/system", F_OK) == 0 && stat("/", &own) == 0 &&
	       stat("/proc/1/root/", &its) == 0 && own.st_dev == its.st_dev &&
	       own.st_ino == its.st_ino;
}

int machine_reload_units(struct err *err)
{
	static const char *const argv[] = {"systemctl", "daemon-reload", NULL};
	int r = run_tool(argv, START_MS);

	return r ? err_set(err, r < 0 ? r : -EIO, "systemctl daemon-reload failed") : 0;
}
