/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

static pid_t pager;

/* The pager that the environment requests; NULL: none. */
static const char *command(void)
{
	const char *asked = getenv("PAGER"), *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !term || streq(term, "dumb"))
		return NULL;
	if (asked && (!*asked || streq(asked, "cat")))
		return NULL;
	return asked && geteuid() != 0 ? asked : "less";
}

/*
 * Disables the commands of less that run programs and write files, because the reader may be root.
 * On a machine without the pager the output is printed plainly.
 */
static void be_the_pager(const char *asked, pid_t parent)
{
	char *text = xstrdup(asked), *rest;
	VEC(char *) words = {0};

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	setenv("LESS", "FRXMK", 1);
	setenv("LESSSECURE", "1", 1);
	for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		vec_push(&words, word);
	vec_push(&words, NULL);
	if (words.v[0])
		execvp(words.v[0], words.v);
	execlp("cat", "cat", NULL);
	_exit(EXIT_FAILURE);
}

void pager_begin(void)
{
	const char *asked = command();
	pid_t parent = getpid();
	int ends[2];

	if (!asked || pipe2(ends, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	pager = fork();
	if (pager == 0) {
		dup2(ends[0], STDIN_FILENO);
		be_the_pager(asked, parent);
	}
	if (pager > 0) {
		signal(SIGPIPE, SIG_IGN); /* the reader may quit the pager early */
		dup2(ends[1], STDOUT_FILENO);
	}
	close(ends[0]);
	close(ends[1]);
}

bool pager_end(void)
{
	bool was_used = pager > 0;

	while (was_used && waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
	return was_used;
}
