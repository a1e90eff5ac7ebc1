/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper and the program. Both are forks of the gate, which has one thread: until exec they may
 * call any function.
 */
#include "gate/spawn.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "gate/neighbours.h"
#include "sys/clock.h"
#include "sys/isolation.h"
#include "sys/syscalls.h"

/* Shared with the keeper: outlives it, so that the gate has the result if the keeper hangs. */
struct spawn_note {
	atomic_bool ended;
	int status;
	uint64_t ended_us;
	char refused[128];
};

/* --- the program --------------------------------------------------------------------- */

static void limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now) < 0)
		return;
	if (now.rlim_max > most) /* RLIM_INFINITY is the largest value */
		now.rlim_max = most;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	setrlimit(what, &now);
}

static void take_limits(const struct privileges *as)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, SPAWN_FILE_MAX);
	limit(RLIMIT_NOFILE, SPAWN_FDS_MAX);
	if (as && as->own_user)
		limit(RLIMIT_NPROC, SPAWN_PROCESSES_MAX);
	if (fd < 0)
		return;
	/* If writing fails (a captured /proc, a container), the kernel chooses by size alone. */
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

/* Resets the signals that the gate ignores or blocks, because the child inherits them. */
static void let_signals_through(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void refuse(struct spawn_note *note, const char *what, int r)
{
	snprintf(note->refused, sizeof(note->refused), "could not %s: %s", what, strerror(-r));
	_exit(127);
}

/* Becomes the program, or reports why not and exits with 127. parent: getpid() of the keeper. */
static void become(const struct spawn *s, struct spawn_note *note, pid_t parent)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
	const char *what = NULL;
	int r = 0;

	setsid();
	take_limits(s->as);
	let_signals_through();
	umask(077);
	if (chdir("/") < 0)
		_exit(127);
	if (s->as)
		r = privileges_take(s->as, &what);
	if (r < 0)
		refuse(note, what, r);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which resets this setting */
	if (getppid() != parent)	  /* the parent died before the line above */
		_exit(127);
	execve(s->argv[0], (char *const *)s->argv, (char *const *)env);
	dprintf(2, "%s: %s\n", s->argv[0], strerror(errno));
	_exit(127);
}

/* --- what is below a process --------------------------------------------------------- */

/* Calls each() with the children of a process. True: a call returned true, and ended the walk. */
static bool each_child(pid_t of, bool (*each)(pid_t pid, void *arg), void *arg)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	struct dirent *e;
	bool stop = false;

	while (proc && !stop && (e = readdir(proc))) {
		struct neighbour one;

		if (isdigit((unsigned char)e->d_name[0]) &&
		    neighbour_read(dirfd(proc), e->d_name, &one) && one.parent == of)
			stop = each(one.pid, arg);
	}
	return stop;
}

static bool kill_it(pid_t pid, void *arg)
{
	kill(pid, SIGKILL); /* a child not yet waited for: its number can't be reused */
	*(pid_t *)arg = pid;
	return false;
}

/*
 * For a subreaper: ends all processes below it. An orphan becomes its child, and the next walk
 * finds it. Many of them take long on a machine that is busy: it goes on for as long as some end.
 * Waits as long as a killed child hangs in the kernel, so that the gate sees the hang
 * (spawn_where()).
 */
static void sweep(void)
{
	static const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t begun = clock_usec(), ended = begun; /* the last of them */

	for (;;) {
		uint64_t now = clock_usec();
		pid_t last = 0, pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			continue;
		if (pid < 0 || now - begun > SPAWN_SWEEP_MS * 1000u ||
		    now - ended > SPAWN_STILL_MS * 1000u)
			return;
		each_child(getpid(), kill_it, &last);
		if (last) {
			waitpid(last, NULL, 0);
			ended = clock_usec();
		} else {
			nanosleep(&pause, NULL); /* it started during the walk */
		}
	}
}

/* --- the keeper ---------------------------------------------------------------------- */

/*
 * If no process reads our output, the gate died before PR_SET_PDEATHSIG. getppid() can't show this
 * inside a PID namespace.
 */
static void die_with_gate(const struct spawn *s)
{
	struct pollfd p = {.fd = s->out};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&p, 1, 0) > 0 && p.revents & POLLERR)
		_exit(127);
}

static void take_streams(const struct spawn *s)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (in < 0 || dup2(in, 0) < 0 || dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0)
		_exit(127);
	syscall(SYS_close_range, 3u, ~0u, 0u); /* before 5.9: our fds are O_CLOEXEC anyway */
}

/* True once the program has ended; other ended processes are orphans below the keeper. */
static bool reap(struct spawn_note *note, pid_t program)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != program)
			continue;
		note->status = status;
		note->ended_us = clock_usec();
		atomic_store(&note->ended, true);
		return true;
	}
	return false;
}

/* Passes SIGTERM on; SIGUSR1 ends all processes. */
static void keep(const struct spawn *s, struct spawn_note *note)
{
	sigset_t set;
	pid_t program, self = getpid();
	const char *what;
	bool over = false;
	int r;

	die_with_gate(s);
	take_streams(s);
	r = s->as ? isolation_enter(s->as, &what) : 0;
	if (r < 0)
		refuse(note, what, r);
	if (!s->as)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	program = fork();
	if (program == 0)
		become(s, note, self);
	if (program < 0) {
		dprintf(2, "fork: %s\n", strerror(errno));
		_exit(127);
	}
	while (!over) {
		int sig = sigwaitinfo(&set, NULL);

		if (sig == SIGTERM && kill(-program, SIGTERM) < 0)
			kill(program, SIGTERM); /* the program has no session of its own yet */
		over = sig == SIGUSR1;
		if (over)
			kill(program, SIGKILL);
		over |= reap(note, program);
	}
	if (!s->as)
		sweep();
	_exit(0);
}

static int take_user(struct privileges *as, struct dynamic_user *ret, struct err *err)
{
	struct root machine;
	int r = root_init(&machine, NULL, err);

	if (r < 0)
		return r;
	r = dynamic_user_take(&machine, ret, err);
	root_close(&machine);
	as->uid = as->gid = ret->id;
	return r;
}

static int start_isolated(const struct spawn *s, struct spawned *ret, struct err *err)
{
	struct privileges as = *s->as;
	struct spawn own = *s;
	int r = as.own_user ? take_user(&as, &ret->user, err) : 0;

	if (r < 0)
		return r;
	own.as = &as;
	ret->sealed = true;
	ret->keeper = isolation_fork(&as);
	if (ret->keeper == 0)
		keep(&own, ret->note);
	if (ret->keeper < 0)
		return err_errno(err, ret->keeper,
				 "no namespaces, which need root with CAP_SYS_ADMIN");
	return 0;
}

static int start_plainly(const struct spawn *s, struct spawned *ret, struct err *err)
{
	ret->keeper = fork();
	if (ret->keeper == 0)
		keep(s, ret->note);
	return ret->keeper < 0 ? err_errno(err, -errno, "fork") : 0;
}

int spawn_start(const struct spawn *s, struct spawned *ret, struct err *err)
{
	void *page = mmap(NULL, sizeof(struct spawn_note), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (page == MAP_FAILED)
		return err_errno(err, -errno, "mmap");
	*ret = (struct spawned){.note = page};
	r = s->as ? start_isolated(s, ret, err) : start_plainly(s, ret, err);
	if (r < 0)
		spawn_free(ret);
	return r;
}

/* --- the gate's side ----------------------------------------------------------------- */

void spawn_term(const struct spawned *s)
{
	kill(s->keeper, SIGTERM);
}

void spawn_kill(const struct spawned *s)
{
	kill(s->keeper, s->sealed ? SIGKILL : SIGUSR1);
}

bool spawn_ended(const struct spawned *s, int *ret_status, uint64_t *ret_us)
{
	if (!s->note || !atomic_load(&s->note->ended))
		return false;
	*ret_status = s->note->status;
	*ret_us = s->note->ended_us;
	return true;
}

const char *spawn_refused(const struct spawned *s)
{
	return s->note ? s->note->refused : "";
}

struct where {
	char *text;
	size_t size;
};

static bool look_where(pid_t pid, void *arg)
{
	struct where *w = arg;
	cleanup_fclose FILE *f = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	w->text[fread(w->text, 1, w->size - 1, f)] = '\0';
	if (strcmp(w->text, "0") == 0) /* the process runs, or this kernel hides the place */
		w->text[0] = '\0';
	return w->text[0] != '\0';
}

void spawn_where(const struct spawned *s, char *ret, size_t size)
{
	struct where w = {ret, size};

	ret[0] = '\0';
	each_child(s->keeper, look_where, &w);
}

void spawn_free(struct spawned *s)
{
	if (s->note)
		munmap(s->note, sizeof(*s->note));
	s->note = NULL;
	dynamic_user_release(&s->user);
}
