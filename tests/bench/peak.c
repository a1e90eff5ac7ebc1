/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peak COMMAND [ARG...]: prints the most memory, in KiB, that the command had mapped and present
 * (getrusage(2)). The fork's own counts too, so this is small; a shell would be the larger one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t child;

	if (argc < 2 || null < 0)
		return 2;
	child = fork();
	if (child == 0) {
		dup2(null, STDOUT_FILENO);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || wait4(child, NULL, 0, &usage) < 0)
		return 1;
	printf("%ld\n", usage.ru_maxrss);
	return 0;
}
