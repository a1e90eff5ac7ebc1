/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * floor LIST: the least that must be done to bring files to their values. Each line of LIST is a
 * path and a value; the file is opened, read and compared, and where it differs written and read
 * back. Fails where the value does not hold afterwards.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool holds(const char *path, const char *value)
{
	char text[4096], *chosen;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	chosen = strchr(text, '['); /* "always [madvise] never" */
	chosen = chosen ? chosen + 1 : text;
	chosen[strcspn(chosen, "]\n")] = '\0';
	return strcmp(chosen, value) == 0;
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		perror(path);
	close(fd);
}

int main(int argc, char **argv)
{
	FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
	char line[4096];

	if (!list)
		return 2;
	while (fgets(line, sizeof(line), list)) {
		char *value = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!value)
			return 2;
		*value++ = '\0';
		if (holds(line, value))
			continue;
		set(line, value);
		if (!holds(line, value))
			return 1;
	}
	return 0;
}
