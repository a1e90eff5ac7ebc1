/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/mem.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0; /* go on, to remove as much as possible */
}

/* In the child: waits until the parent has closed its end, or has died. */
static void __attribute__((noreturn)) clean_up(const char *path, int alive)
{
	char c;

	/* A Ctrl-C at the terminal is meant for the parent. */
	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* Close the output, because a reader waits until all writers are gone. */
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	while (read(alive, &c, 1) < 0 && errno == EINTR)
		;
	nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

int scratch_make(struct scratch *ret, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct scratch s = {0};
	int fds[2], r;

	snprintf(s.path, sizeof(s.path), "%s/railhead-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(s.path))
		return err_errno(err, -errno, "%s", s.path);
	if (pipe2(fds, O_CLOEXEC) < 0) {
		r = -errno;
		rmdir(s.path);
		return err_errno(err, r, "pipe");
	}
	s.child = fork();
	if (s.child == 0) {
		close(fds[1]);
		clean_up(s.path, fds[0]);
	}
	r = -errno;
	close(fds[0]);
	if (s.child < 0) {
		close(fds[1]);
		rmdir(s.path);
		return err_errno(err, r, "fork");
	}
	s.alive = fds[1];
	*ret = s;
	return 0;
}

void scratch_remove(struct scratch *s)
{
	if (!s->child)
		return;
	close(s->alive);
	while (waitpid(s->child, NULL, 0) < 0 && errno == EINTR)
		;
	s->child = 0;
}
