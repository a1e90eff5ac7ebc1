// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kills a program, and all that it has forked, at one exact place, or does something else
 * there, for tests:
 *
 *   atwrite N PREFIX kill COMMAND [ARG...]
 *   atwrite N PREFIX ACTION COMMAND [ARG...]
 *
 * The place is before the Nth write(2) to a file below PREFIX, counted over all processes. kill:
 * the write is not carried out, and each process gets SIGKILL. Anything else is a line for the
 * shell; the write comes after it. Exits with 137 if it has killed, with 125 in trouble or if
 * there were fewer writes than the action needs, else as the command does. The file's name goes
 * to standard error.
 *
 * A seccomp filter stops the processes at their writes alone, so that all else runs as fast as
 * ever. Only for x86-64.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED = 137, TROUBLE = 125 };

static void check(long result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	exit(TROUBLE);
}

static void run(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	check(ptrace(PTRACE_TRACEME, 0, 0, 0), "PTRACE_TRACEME");
	raise(SIGSTOP); /* until the options are set */
	check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "PR_SET_SECCOMP");
	execvp(argv[0], argv);
	check(-1, argv[0]);
}

/* Is the process about to write below the prefix? */
static int writes_below(pid_t pid, const char *prefix, char *path, size_t size)
{
	struct user_regs_struct regs;
	char link[64];
	ssize_t n;

	check(ptrace(PTRACE_GETREGS, pid, 0, &regs), "PTRACE_GETREGS");
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)regs.rdi);
	n = readlink(link, path, size - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* SIGKILL for each process that is left; one in the kernel ends what it does there first. */
static void kill_all(const pid_t *pids, size_t n)
{
	int status;
	pid_t pid;

	for (size_t i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
		if (pid > 0 && WIFSTOPPED(status)) /* just forked, and not yet known */
			kill(pid, SIGKILL);
}

struct traced {
	pid_t pids[4096];
	size_t n;
};

static void remember(struct traced *all, pid_t pid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->pids[i] == pid)
			return;
	if (all->n == sizeof(all->pids) / sizeof(all->pids[0])) {
		fputs("atwrite: too many processes\n", stderr);
		exit(TROUBLE);
	}
	all->pids[all->n++] = pid;
}

static void forget(struct traced *all, pid_t pid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->pids[i] == pid)
			all->pids[i--] = all->pids[--all->n];
}

/* The signal that the process goes on with: that which it stopped for, if it was one. */
static int signal_of(int status)
{
	int sig = WSTOPSIG(status);

	return status >> 16 || sig == SIGSTOP || sig == SIGTRAP ? 0 : sig;
}

struct place {
	long nth; /* counts down */
	const char *prefix;
	const char *action;
};

/* Returns true if that is the end of it. */
static bool arrived(struct place *at, pid_t pid, const struct traced *all)
{
	char path[4096];

	if (!writes_below(pid, at->prefix, path, sizeof(path)) || --at->nth != 0)
		return false;
	fprintf(stderr, "before writing %s: %s\n", path, at->action);
	if (strcmp(at->action, "kill") != 0) {
		check(system(at->action) == 0 ? 0 : -1, at->action);
		return false;
	}
	kill_all(all->pids, all->n);
	return true;
}

static int watch(pid_t first, struct place *at)
{
	static struct traced all;
	int status, result = TROUBLE;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			forget(&all, pid);
			if (pid == first)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : TROUBLE;
			continue;
		}
		remember(&all, pid);
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8) && arrived(at, pid, &all))
			return KILLED;
		ptrace(PTRACE_CONT, pid, 0, signal_of(status));
	}
	return at->nth > 0 && strcmp(at->action, "kill") != 0 ? TROUBLE : result;
}

int main(int argc, char **argv)
{
	long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
		       PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	struct place at;
	pid_t pid;

	if (argc < 5) {
		fputs("usage: atwrite N PREFIX ACTION COMMAND [ARG...]\n", stderr);
		return TROUBLE;
	}
	at = (struct place){strtol(argv[1], NULL, 10), argv[2], argv[3]};
	pid = fork();
	check(pid, "fork");
	if (pid == 0)
		run(argv + 4);
	check(waitpid(pid, NULL, 0), "waitpid");
	check(ptrace(PTRACE_SETOPTIONS, pid, 0, options), "PTRACE_SETOPTIONS");
	check(ptrace(PTRACE_CONT, pid, 0, 0), "PTRACE_CONT");
	return watch(pid, &at);
}
