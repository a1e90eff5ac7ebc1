/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for libFuzzer where there is no clang: runs a target over files, and over the
 * files of directories. An input that the target does not survive is the last one named.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"

static void replay_file(const char *path)
{
	cleanup_fclose FILE *f = fopen(path, "r");
	/* As long as the input: the sanitizer sees a read behind its end. */
	cleanup_free uint8_t *data = NULL;
	struct stat st;

	fprintf(stderr, "# %s\n", path);
	must(f && fstat(fileno(f), &st) == 0);
	data = xcalloc((size_t)st.st_size, 1);
	must(fread(data, 1, (size_t)st.st_size, f) == (size_t)st.st_size);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
}

static size_t replay(const char *path)
{
	cleanup_closedir DIR *dir = opendir(path);
	cleanup_strv struct strv names = {0};

	if (!dir) {
		must(errno == ENOTDIR);
		replay_file(path);
		return 1;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (*e->d_name != '.')
			strv_add(&names, e->d_name);
	strv_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *file = xasprintf("%s/%s", path, names.v[i]);

		replay_file(file);
	}
	return names.n;
}

int main(int argc, char **argv)
{
	size_t n = 0;

	for (int i = 1; i < argc; i++)
		n += replay(argv[i]);
	printf("%zu inputs\n", n);
	return n == 0; /* an empty corpus proves nothing */
}
