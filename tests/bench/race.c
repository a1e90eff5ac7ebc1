/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race RUNS BEFORE NAME COMMAND [NAME COMMAND]...: runs the commands by turns and prints of each
 * its name, and the median, the lower and the upper quartile of its wall time in microseconds.
 * BEFORE is run before each of them, untimed ("" for nothing). A command is split at its spaces and
 * started without a shell; its output goes nowhere. An exit code above 5 (railhead: a plan with
 * changes) ends the race.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { WORDS = 64, RACERS = 16, RUNS_MOST = 10000 };

extern char **environ;

struct racer {
	const char *name;
	char *word[WORDS];
	double took[RUNS_MOST];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void split(char *command, char **word)
{
	size_t n = 0;

	for (char *w = strtok(command, " "); w && n < WORDS - 1; w = strtok(NULL, " "))
		word[n++] = w;
	word[n] = NULL;
}

static void run(char **word)
{
	posix_spawn_file_actions_t quiet;
	int status;
	pid_t child;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&child, word[0], &quiet, NULL, word, environ) ||
	    waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 5) {
		fprintf(stderr, "race: %s %s failed\n", word[0], word[1] ? word[1] : "");
		exit(1);
	}
	posix_spawn_file_actions_destroy(&quiet);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static struct racer racer[RACERS];
	static char *before[WORDS];
	long runs = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	int n = (argc - 3) / 2;

	if (runs < 1 || runs > RUNS_MOST || n < 1 || n > RACERS || argc % 2 == 0)
		return 2;
	split(argv[2], before);
	for (int i = 0; i < n; i++) {
		racer[i].name = argv[3 + 2 * i];
		split(argv[4 + 2 * i], racer[i].word);
	}
	for (long turn = -1; turn < runs; turn++) /* the first warms up */
		for (int i = 0; i < n; i++) {
			double start;

			if (before[0])
				run(before);
			start = now();
			run(racer[i].word);
			if (turn >= 0)
				racer[i].took[turn] = now() - start;
		}
	for (int i = 0; i < n; i++) {
		double *t = racer[i].took;

		qsort(t, (size_t)runs, sizeof(*t), compare);
		printf("%s %.0f %.0f %.0f\n", racer[i].name, t[runs / 2], t[runs / 4],
		       t[runs * 3 / 4]);
	}
	return 0;
}
