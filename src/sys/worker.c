/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/worker.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <fcntl.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/waiting.h"

struct reply {
	int result;
	uint64_t written;
	struct err err;
};

static uint64_t written_at;

void worker_note_write(void)
{
	written_at = clock_usec();
}

/* A reply passes through the pipe in one write, so the parent reads all of it or nothing. */
_Static_assert(sizeof(struct reply) <= PIPE_BUF, "a reply must fit one atomic pipe write");

/* A child that hangs must not hold the caller's pipes open, so that `railhead apply | tee` ends. */
static void detach_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
}

static void __attribute__((noreturn)) child(int fd, worker_fn fn, void *arg)
{
	struct reply reply = {.result = 0};

	/* Die with the parent, so that nothing is written after the unit has ended. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Above the standard descriptors, which the caller may have closed. */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	detach_output();
	reply.result = fn(arg, &reply.err);
	reply.written = written_at;
	/*
	 * _exit(), because the child must not run the parent's stdio buffers and cleanup handlers.
	 */
	_exit(write(fd, &reply, sizeof(reply)) == (ssize_t)sizeof(reply) ? 0 : 1);
}

int worker_start(struct worker *w, worker_fn fn, void *arg, uint64_t deadline, struct err *err)
{
	int pipefd[2];

	memset(w, 0, sizeof(*w));
	w->fd = -1;
	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "worker pipe");
	w->started = clock_usec();
	w->deadline = deadline;
	w->pid = fork();
	if (w->pid < 0) {
		int r = -errno;

		close(pipefd[0]);
		close(pipefd[1]);
		return err_errno(err, r, "worker");
	}
	if (w->pid == 0)
		child(pipefd[1], fn, arg);
	close(pipefd[1]);
	w->fd = pipefd[0];
	return 0;
}

static void finish(struct worker *w)
{
	struct reply reply;
	ssize_t n;
	int status;

	do
		n = read(w->fd, &reply, sizeof(reply));
	while (n < 0 && errno == EINTR);
	close(w->fd);
	w->fd = -1;
	w->duration = clock_usec() - w->started;
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n == (ssize_t)sizeof(reply)) {
		w->result = reply.result;
		w->written = reply.written;
		w->err = reply.err;
	} else if (WIFSIGNALED(status)) {
		w->result = err_set(&w->err, -EIO, "worker was killed by signal %d (%s)",
				    WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else {
		w->result = err_set(&w->err, -EIO, "worker ended without a result");
	}
}

void worker_abandon(struct worker *w)
{
	/* SIGKILL takes effect when the kernel releases the child, possibly never. */
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, WNOHANG);
	close(w->fd);
	w->fd = -1;
	w->abandoned = true;
	w->duration = clock_usec() - w->started;
	err_set(&w->err, -ETIMEDOUT, "has not returned from the kernel in %llu.%llu s; abandoned",
		(unsigned long long)(w->duration / 1000000),
		(unsigned long long)(w->duration / 100000 % 10));
	w->result = err_fault(&w->err, -ETIMEDOUT, FAULT_KERNEL_STUCK);
}

static int ms_until(uint64_t deadline)
{
	uint64_t now = clock_usec(), ms = deadline <= now ? 0 : (deadline - now + 999) / 1000;

	return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* Returns the first running worker; *running: their number. */
static const struct worker *prepare(struct worker *const *workers, size_t n, struct pollfd *fds,
				    int *timeout, size_t *running)
{
	const struct worker *first = NULL;

	*running = 0;
	for (size_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){.fd = workers[i]->fd, .events = POLLIN};
		if (workers[i]->fd < 0)
			continue;
		++*running;
		first = first ? first : workers[i];
		if (ms_until(workers[i]->deadline) < *timeout)
			*timeout = ms_until(workers[i]->deadline);
	}
	return first;
}

/* The index of a worker that has ended, or has passed its deadline; n: none. */
static size_t find_due(struct worker *const *workers, size_t n, const struct pollfd *fds)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i].fd < 0)
			continue;
		if (fds[i].revents)
			finish(workers[i]);
		else if (clock_usec() < workers[i]->deadline)
			continue;
		return i;
	}
	return n;
}

int workers_wait_with(struct worker *const *workers, size_t n, int also, uint64_t until)
{
	struct pollfd *fds cleanup_free = xcalloc(n + 1, sizeof(*fds));

	for (;;) {
		int timeout = ms_until(until);
		size_t running, due;
		const struct worker *first = prepare(workers, n, fds, &timeout, &running);

		if (!running && until == UINT64_MAX)
			return -ENOENT;
		fds[n] = (struct pollfd){.fd = also, .events = POLLIN};
		if (first && first->name)
			timeout = waiting_for(first->name, running - 1, first->started,
					      first->deadline, timeout);
		if (poll(fds, n + 1, timeout) < 0 && errno != EINTR)
			return -errno;
		due = find_due(workers, n, fds);
		if (due < n)
			return (int)due;
		if (fds[n].revents || clock_usec() >= until)
			return -EAGAIN;
	}
}

int workers_wait(struct worker *const *workers, size_t n)
{
	return workers_wait_with(workers, n, -1, UINT64_MAX);
}

int worker_run(struct worker *w, worker_fn fn, void *arg, uint64_t deadline, struct err *err)
{
	struct worker *const list[] = {w};
	int r = worker_start(w, fn, arg, deadline, err);

	if (r < 0)
		return r;
	workers_wait(list, 1);
	if (w->fd >= 0) /* still running */
		worker_abandon(w);
	return w->result < 0 ? err_copy(err, w->result, &w->err) : w->result;
}
