/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a command where it can't harm the machine: `tests/lib/sandbox COMMAND [ARG...]`, which
 * compiles this file and runs it with the work tree as its first argument.
 *
 * Namespaces of its own for users, mounts, PIDs, IPC and the network. User ids are the caller's
 * (root sees all ids, so that tests can use several), but no privilege reaches beyond the sandbox:
 * freezing a file system, a reboot, the clock, modules and real-time priorities are refused by the
 * kernel. Files that belong to root need no privilege to be written, so everything but the work
 * tree is read-only, and what remains is replaced:
 *
 *   /tmp /var/tmp /dev/shm   memory of limited size, programs can be executed
 *   /run                     empty, so that no daemon of the machine is reached
 *   /dev                     null zero full random urandom tty fuse, and terminals of its own;
 *                            kmsg is null
 *   /proc                    the sandbox's processes; what belongs to the machine is read-only
 *   /sys                     read-only; of network devices the loopback alone
 *   the environment          what the list below names; TMPDIR is dropped
 *   the umask                022
 *
 * Everything ends with the command, or with the death of this program: processes, mounts, memory.
 * /run/railhead-sandbox tells tests that they are inside, and what protects the machine:
 *
 *   users        the user namespace
 *   privileges   root may make none (sysctl user.max_user_namespaces): then the privileges that
 *                the namespace would have made harmless are dropped. CAP_SYS_ADMIN is kept with
 *                SANDBOX_ADMIN in the environment, for tests/lib/confined.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* <sys/mount.h> can't be included beside <linux/mount.h> in every glibc. */
int mount(const char *source, const char *target, const char *type, unsigned long flags,
	  const void *data);
enum { REC = 0x4000, PRIVATE = 0x40000, RDONLY = 1, NOSUID = 2, NODEV = 4, NOEXEC = 8 };

#define MARK "/run/railhead-sandbox"
enum { CANNOT = 125 }; /* as timeout(1) and env(1) */

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	int e = errno;
	va_list ap;

	fputs("sandbox: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s%s\n", e ? ": " : "", e ? strerror(e) : "");
	_exit(CANNOT);
}

/* --- environment -------------------------------------------------------------------------- */

/* A name, or the beginning of one. Tests use other variables, which the caller must not set. */
static const char *const passed[] = {
	"PATH=",     "TERM=",	       "LANG=",		"LC_ALL=",
	"CI=",	     "MAKE",	       "MFLAGS=",	"V=",
	"NO_COLOR=", "SIMNODE=",       "RAILHEAD",	"CMOCKA_",
	"BATS_",     "ASAN_OPTIONS=",  "CC=",		"CFLAGS=",
	"DIST=",     "UBSAN_OPTIONS=", "LSAN_OPTIONS=", "QEMU_LD_PREFIX=",
	"GOLDEN=",   "GRUB_READER_",   "SUDO_UID=", /* whose repository git takes for ours */
};

static bool passes(const char *variable)
{
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		if (strncmp(variable, passed[i], strlen(passed[i])) == 0)
			return true;
	return false;
}

static void clean_environment(void)
{
	char **out = environ;

	for (char **in = environ; *in; in++)
		if (passes(*in))
			*out++ = *in;
	*out = NULL;
	setenv("HOME", "/tmp", 1);
}

/* --- file systems -------------------------------------------------------------------------- */

static int clone_tree(const char *path)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, path,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

static void put(int tree, const char *path)
{
	if (syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		die("mount on %s", path);
}

static void attach(int tree, const char *path)
{
	put(tree, path);
	close(tree);
}

static void read_only(const char *path)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	if (syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		die("%s can't be made read-only%s", path,
		    errno == ENOSYS ? " (Linux before 5.12)" : "");
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* A mount of its own, read-only, where there is such a path. */
static void read_only_part(const char *path)
{
	int tree = exists(path) ? clone_tree(path) : -1;

	if (tree < 0)
		return;
	attach(tree, path);
	read_only(path);
}

static void memory(const char *path, const char *options)
{
	if (exists(path) && mount("sandbox", path, "tmpfs", NOSUID | NODEV, options) < 0)
		die("tmpfs on %s", path);
}

static void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s", path);
	close(fd);
}

static void make_dev(void)
{
	static const char *const nodes[][2] = {
		{"/dev/null", "/dev/null"},	  {"/dev/zero", "/dev/zero"},
		{"/dev/full", "/dev/full"},	  {"/dev/random", "/dev/random"},
		{"/dev/urandom", "/dev/urandom"}, {"/dev/tty", "/dev/tty"},
		{"/dev/fuse", "/dev/fuse"},	  {"/dev/null", "/dev/kmsg"}};
	static const char *const links[][2] = {{"/proc/self/fd", "/dev/fd"},
					       {"/proc/self/fd/0", "/dev/stdin"},
					       {"/proc/self/fd/1", "/dev/stdout"},
					       {"/proc/self/fd/2", "/dev/stderr"},
					       {"pts/ptmx", "/dev/ptmx"}};
	int trees[sizeof(nodes) / sizeof(*nodes)];

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		trees[i] = clone_tree(nodes[i][0]);
	memory("/dev", "mode=755,size=1m");
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		if (trees[i] < 0)
			continue;
		make_file(nodes[i][1], "");
		attach(trees[i], nodes[i][1]);
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			die("%s", links[i][1]);
	if (mkdir("/dev/pts", 0755) < 0 || mkdir("/dev/shm", 01777) < 0)
		die("/dev");
	if (mount("sandbox", "/dev/pts", "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=0666") <
	    0)
		die("/dev/pts");
	memory("/dev/shm", "mode=1777,size=2g");
}

/* Whose files ask for root's id alone, not for a privilege (or are not worth a doubt). */
static void make_proc(void)
{
	static const char *const machine[] = {
		"/proc/acpi", "/proc/bus",	     "/proc/driver", "/proc/dynamic_debug",
		"/proc/fs",   "/proc/irq",	     "/proc/mtrr",   "/proc/scsi",
		"/proc/sys",  "/proc/sysrq-trigger",
	};

	if (mount("sandbox", "/proc", "proc", NOSUID | NODEV | NOEXEC, NULL) < 0)
		die("/proc");
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); i++)
		read_only_part(machine[i]);
}

static void make_directories(const char *path)
{
	char *copy = strdup(path);

	for (char *p = copy; p && (p = strchr(p + 1, '/'));) {
		*p = '\0';
		mkdir(copy, 0755);
		*p = '/';
	}
	mkdir(path, 0755);
	free(copy);
}

/* Also where it lies below /tmp, which is another directory by then. */
static void put_back(int tree, const char *path)
{
	make_directories(path);
	attach(tree, path);
}

/* Directories that may lie below /tmp as well: read-only. */
struct also {
	char *path[8];
	int tree[8];
	size_t n;
};

static void open_also(struct also *also, char *list)
{
	for (char *path; list && also->n < 8 && (path = strsep(&list, ":"));) {
		if (!*path)
			continue;
		also->path[also->n] = path;
		also->tree[also->n] = clone_tree(path);
		if (also->tree[also->n++] < 0)
			die("%s", path);
	}
}

/*
 * The root of a chroot may be no mount point, and then what is mounted below could reach the
 * machine. So a copy of it becomes the root: on /proc, which is a mount point that can be private.
 */
static void leave_chroot(void)
{
	int tree;

	if (mount(NULL, "/proc", NULL, REC | PRIVATE, NULL) < 0)
		die("private mounts: in a chroot, /proc must be mounted");
	tree = clone_tree("/");
	if (tree < 0)
		die("/");
	put(tree, "/proc");
	if (fchdir(tree) < 0 || chroot(".") < 0)
		die("root");
	close(tree);
}

static void make_private(void)
{
	if (mount(NULL, "/", NULL, REC | PRIVATE, NULL) == 0)
		return;
	if (errno == EINVAL)
		leave_chroot();
	if (mount(NULL, "/", NULL, REC | PRIVATE, NULL) < 0)
		die("private mounts");
}

static void make_mounts(const char *work, char *list, const char *mark)
{
	struct also also = {.n = 0};
	int tree;

	make_private();
	tree = clone_tree(work);
	if (tree < 0)
		die("%s", work);
	open_also(&also, list);
	read_only("/");
	make_proc();
	/* A new one: from the machine's, which has others mounted in it, no part could be bound. */
	if (mount("sandbox", "/sys", "sysfs", RDONLY | NOSUID | NODEV | NOEXEC, NULL) < 0)
		die("/sys");
	make_dev();
	memory("/tmp", "mode=1777,size=3g");
	memory("/var/tmp", "mode=1777,size=3g");
	memory("/run", "mode=755,size=256m");
	for (size_t i = 0; i < also.n; i++) {
		put_back(also.tree[i], also.path[i]);
		read_only(also.path[i]);
	}
	put_back(tree, work);
	make_file(MARK, mark);
	if (chdir(work) < 0)
		die("%s", work);
}

static void loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		die("loopback");
	close(fd);
}

/* --- processes ------------------------------------------------------------------------------ */

/* Of a root that may not make user namespaces: what the kernel would otherwise refuse. */
static void drop_privileges(bool admin)
{
	static const int dropped[] = {CAP_SYS_BOOT,  CAP_SYS_MODULE, CAP_SYS_TIME,
				      CAP_SYS_RAWIO, CAP_SYS_PACCT,  CAP_SYS_NICE,
				      CAP_MKNOD,     CAP_WAKE_ALARM, CAP_SYSLOG};

	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		if (prctl(PR_CAPBSET_DROP, dropped[i], 0, 0, 0) < 0)
			die("capability %d", dropped[i]);
	if (!admin && prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) < 0)
		die("CAP_SYS_ADMIN");
}

/* Tests crash on purpose: 1 also keeps the machine's crash collector out (fs/coredump.c). */
static void no_cores(void)
{
	struct rlimit one = {1, 1};

	setrlimit(RLIMIT_CORE, &one);
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* PID 1 of the sandbox: reaps; when it ends the kernel kills whatever is left. */
static int be_init(char *const command[])
{
	pid_t pid = fork(), ended;
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		execvp(command[0], command);
		fprintf(stderr, "sandbox: %s: %s\n", command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	for (;;) {
		ended = wait(&status);
		if (ended == pid)
			return status_of(status);
		if (ended < 0 && errno != EINTR)
			die("wait");
	}
}

static void write_text(pid_t pid, const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("%s", path);
	close(fd);
}

/* Each id is itself: those that the caller's own namespace has. */
static void map_all(pid_t pid, const char *name)
{
	unsigned long first, outer, count;
	char path[64], text[4096] = "";
	size_t len = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	f = fopen(path, "re");
	if (!f)
		die("%s", path);
	while (fscanf(f, "%lu %lu %lu", &first, &outer, &count) == 3 && len < sizeof(text) - 64)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%lu %lu %lu\n", first,
					first, count);
	fclose(f);
	write_text(pid, name, text);
}

static void map_own(pid_t pid)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u 1\n", geteuid(), geteuid());
	write_text(pid, "uid_map", text);
	write_text(pid, "setgroups", "deny");
	snprintf(text, sizeof(text), "%u %u 1\n", getegid(), getegid());
	write_text(pid, "gid_map", text);
}

static pid_t clone_with(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

int main(int argc, char *argv[])
{
	const unsigned long spaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET;
	char *also = getenv("SANDBOX_ALSO");
	bool admin = getenv("SANDBOX_ADMIN") != NULL;
	bool users = getenv("SANDBOX_NO_USERS") == NULL;
	int go[2], status;
	pid_t pid = -1;
	char byte = 0;

	umask(022); /* what tests make other users read, too */
	errno = 0;
	if (argc < 3)
		die("usage: tests/lib/sandbox COMMAND [ARG...]");
	if (pipe2(go, O_CLOEXEC) < 0)
		die("pipe");
	if (users)
		pid = clone_with(spaces | CLONE_NEWUSER);
	if (pid < 0 && geteuid() == 0 && (!users || errno != EAGAIN)) {
		users = false;
		pid = clone_with(spaces);
	}
	if (pid < 0 && errno == EAGAIN)
		die("fork");
	if (pid < 0)
		die("no namespaces; an ordinary user needs user namespaces (sysctl "
		    "kernel.unprivileged_userns_clone, user.max_user_namespaces)");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(CANNOT); /* the parent has said why */
		clean_environment();
		no_cores();
		loopback_up();
		make_mounts(argv[1], also, users ? "users" : "privileges");
		if (!users)
			drop_privileges(admin);
		exit(be_init(argv + 2));
	}
	close(go[0]);
	if (users && geteuid() == 0) {
		map_all(pid, "uid_map");
		map_all(pid, "gid_map");
	} else if (users) {
		map_own(pid);
	}
	if (write(go[1], &byte, 1) != 1)
		die("pipe");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("wait");
	return status_of(status);
}
