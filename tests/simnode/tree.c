/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory that holds the state of the simulated machine. */
#include "simnode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

int tree_fd = -1;

/* A reader of a file sees the old text or the new one, never half of it. */
static pthread_mutex_t contents = PTHREAD_MUTEX_INITIALIZER;

int tree_open(const char *dir, struct err *err)
{
	tree_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return tree_fd < 0 ? err_errno(err, -errno, "%s", dir) : 0;
}

void tree_close(void)
{
	if (tree_fd >= 0)
		close(tree_fd);
	tree_fd = -1;
}

static char *make_path(const char *fmt, va_list ap)
{
	struct str path = {0};

	str_vaddf(&path, fmt, ap);
	return str_take(&path);
}

#define MAKE_PATH(path, fmt)                    \
	do {                                    \
		va_list ap_;                    \
		va_start(ap_, fmt);             \
		(path) = make_path((fmt), ap_); \
		va_end(ap_);                    \
	} while (0)

/* Paths begin with a slash; those of openat(2) must not. */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

char *tree_get(const char *fmt, ...)
{
	cleanup_free char *path = NULL;
	cleanup_close int fd = -1;
	struct str text = {0};
	char buf[ATTR_MAX];
	ssize_t n;

	MAKE_PATH(path, fmt);
	fd = openat(tree_fd, below(path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	pthread_mutex_lock(&contents);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_addn(&text, buf, (size_t)n);
	pthread_mutex_unlock(&contents);
	if (n < 0) {
		str_free(&text);
		return NULL;
	}
	str_add(&text, "");
	if (text.len && text.s[text.len - 1] == '\n')
		text.s[--text.len] = '\0';
	return str_take(&text);
}

uint64_t tree_number(const char *fmt, ...)
{
	cleanup_free char *path = NULL, *text = NULL;

	MAKE_PATH(path, fmt);
	text = tree_get("%s", path);
	return text ? strtoull(text, NULL, 0) : 0;
}

static void make_parents(const char *path)
{
	cleanup_free char *dir = xstrdup(below(path));
	char *last = strrchr(dir, '/');

	if (!last)
		return;
	*last = '\0';
	if (faccessat(tree_fd, dir, F_OK, 0) == 0) /* mostly */
		return;
	*last = '/';
	for (char *slash = strchr(dir, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(tree_fd, dir, 0755) < 0 && errno != EEXIST)
			sim_die("%s: %s", dir, strerror(errno));
		*slash = '/';
	}
}

static void write_all(int fd, const void *data, size_t len, const char *path)
{
	pthread_mutex_lock(&contents);
	if (ftruncate(fd, 0) < 0 || write(fd, data, len) != (ssize_t)len)
		sim_die("%s: %s", path, strerror(errno));
	pthread_mutex_unlock(&contents);
}

void tree_put_data(const void *data, size_t len, const char *path)
{
	cleanup_close int fd = -1;

	make_parents(path);
	fd = openat(tree_fd, below(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		sim_die("%s: %s", path, strerror(errno));
	write_all(fd, data, len, path);
}

void tree_put(const char *text, const char *fmt, ...)
{
	cleanup_free char *path = NULL, *line = xasprintf("%s\n", text);

	MAKE_PATH(path, fmt);
	tree_put_data(line, strlen(line), path);
}

int tree_replace(const char *text, const char *path)
{
	cleanup_free char *line = xasprintf("%s\n", text);
	cleanup_close int fd = openat(tree_fd, below(path), O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -ENODEV;
	write_all(fd, line, strlen(line), path);
	return 0;
}

void tree_link(const char *target, const char *fmt, ...)
{
	cleanup_free char *path = NULL;
	cleanup_str struct str text = {0};

	MAKE_PATH(path, fmt);
	make_parents(path);
	for (const char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/'))
		str_add(&text, "../");
	str_add(&text, target + 1);
	if (symlinkat(text.s, tree_fd, below(path)) < 0 && errno != EEXIST)
		sim_die("%s: %s", path, strerror(errno));
}

void tree_rename(const char *from, const char *to)
{
	if (renameat(tree_fd, below(from), tree_fd, below(to)) < 0)
		sim_die("%s: %s", from, strerror(errno));
}

static void remove_at(int dirfd, const char *name);

static void empty_dir(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d cleanup(cleanup_closedirp) = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (!d)
		sim_die("%s: %s", name, strerror(errno));
	while ((e = readdir(d)))
		if (!streq(e->d_name, ".") && !streq(e->d_name, ".."))
			remove_at(fd, e->d_name);
}

static void remove_at(int dirfd, const char *name)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return;
	if (errno != EISDIR)
		sim_die("%s: %s", name, strerror(errno));
	empty_dir(dirfd, name);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0)
		sim_die("%s: %s", name, strerror(errno));
}

void tree_remove(const char *fmt, ...)
{
	cleanup_free char *path = NULL;

	MAKE_PATH(path, fmt);
	remove_at(tree_fd, below(path));
}

bool tree_has(const char *fmt, ...)
{
	cleanup_free char *path = NULL;

	MAKE_PATH(path, fmt);
	return faccessat(tree_fd, below(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static char *read_link(const char *path)
{
	char buf[4096];
	ssize_t n = readlinkat(tree_fd, below(path), buf, sizeof(buf));

	return n < 0 || n == sizeof(buf) ? NULL : xstrndup(buf, (size_t)n);
}

char *tree_link_name(const char *fmt, ...)
{
	cleanup_free char *path = NULL, *text = NULL;
	const char *slash;

	MAKE_PATH(path, fmt);
	text = read_link(path);
	if (!text)
		return NULL;
	slash = strrchr(text, '/');
	return xstrdup(slash ? slash + 1 : text);
}

/* Enough for the links of sysfs, which all climb to /sys first and then go down. */
char *tree_follow(const char *fmt, ...)
{
	cleanup_free char *path = NULL, *text = NULL;
	const char *rest;
	char *slash;

	MAKE_PATH(path, fmt);
	text = read_link(path);
	if (!text)
		sim_die("%s: no link", path);
	slash = strrchr(path, '/');
	for (rest = text; str_starts(rest, "../"); rest += 3) {
		*slash = '\0';
		slash = strrchr(path, '/');
		if (!slash)
			sim_die("%s leads out of the tree", text);
	}
	*slash = '\0';
	return xasprintf("%s/%s", path, rest);
}

void tree_list(struct strv *ret, const char *fmt, ...)
{
	cleanup_free char *path = NULL;
	DIR *d cleanup(cleanup_closedirp) = NULL;
	struct dirent *e;
	int fd;

	MAKE_PATH(path, fmt);
	fd = openat(tree_fd, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	while (d && (e = readdir(d)))
		if (!streq(e->d_name, ".") && !streq(e->d_name, ".."))
			strv_add(ret, e->d_name);
	strv_sort(ret);
}
