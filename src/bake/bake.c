/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bake/bake.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/str.h"
#include "sys/machine.h"
#include "sys/read.h"

enum { TEXT_MAX = 64 << 10, MODE = 0644, SUM_LEN = 16 };

/* Then the sum of what follows the line, and more words. */
#define MARK "# Made by railhead bake, sum "

const char *bake_result_name(enum bake_result r)
{
	static const char *const names[] = {
		[BAKE_SAME] = "same",	    [BAKE_MADE] = "made", [BAKE_CHANGED] = "changed",
		[BAKE_REMOVED] = "removed", [BAKE_LEFT] = "left",
	};

	return names[r];
}

static void item_free(struct bake_item *it)
{
	free(it->path);
	free(it->what);
	free(it->text);
	free(it->why);
}

struct bake_item *bake_want(struct bake *b, char *path, char *text, char *what)
{
	struct bake_item it = {.path = path, .text = text, .what = what};

	vec_push(&b->items, it);
	return &b->items.v[b->items.n - 1];
}

static void sum(const char *text, char ret[SUM_LEN + 1])
{
	char hex[SHA256_HEX];

	sha256_hex(text, strlen(text), hex);
	memcpy(ret, hex, SUM_LEN);
	ret[SUM_LEN] = '\0';
}

char *bake_mark(const char *text)
{
	char digits[SUM_LEN + 1];

	sum(text, digits);
	return xasprintf(MARK "%s; `railhead bake --undo` removes it.\n%s", digits, text);
}

void bake_warn(struct bake *b, const char *fmt, ...)
{
	cleanup_str struct str text = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	strv_add(&b->warnings, str_get(&text));
}

bool bake_changed(const struct bake *b)
{
	for (size_t i = 0; i < b->items.n; i++)
		if (b->items.v[i].result != BAKE_SAME && b->items.v[i].result != BAKE_LEFT)
			return true;
	return false;
}

/* --- the tree ------------------------------------------------------------------------------- */

/* Locks the directory itself, so that no lock file is left in an image. */
static int take_tree(const struct root *root, struct err *err)
{
	cleanup_close int fd = root_open(root, O_RDONLY | O_DIRECTORY, err, "/");

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? err_set(err, -EBUSY,
					 "%s: another railhead bake is at work there; wait for it",
					 root->path)
			       : err_errno(err, -errno, "%s: lock", root->path);
	return take_fd(fd);
}

int bake_open(const struct root *root, struct bake *ret, struct err *err)
{
	*ret = (struct bake){.root = root, .loader = BAKE_OTHER};
	ret->lock = take_tree(root, err);
	return ret->lock < 0 ? ret->lock : 0;
}

void bake_close(struct bake *b)
{
	for (size_t i = 0; i < b->items.n; i++)
		item_free(&b->items.v[i]);
	vec_free(&b->items);
	strv_free(&b->warnings);
	if (b->lock >= 0)
		close(b->lock);
	b->lock = -1;
}

/* --- the content of a path -------------------------------------------------------------------- */

enum there { NOTHING, A_FILE, A_LINK, ANOTHER };

static int read_here(const struct root *root, const char *path, enum there *ret, char **ret_text,
		     struct err *err)
{
	size_t len = 0;
	int r = read_file(root, TEXT_MAX, ret_text, &len, err, path);

	if (r < 0 && r != -EFBIG)
		return r;
	*ret = A_FILE;
	if (r == 0 && !*ret_text)
		*ret_text = xstrdup("");
	/* bake wrote no file that is too long, or not text */
	if (r == -EFBIG || strlen(*ret_text) != len)
		*ret = ANOTHER;
	return 0;
}

/*
 * Never follows a link, nor opens a file that might block. The caller frees *ret_text, which may be
 * NULL.
 */
static int look(const struct root *root, const char *path, enum there *ret, char **ret_text,
		struct err *err)
{
	cleanup_close int fd = root_open_path(root, path, O_PATH | O_NOFOLLOW);
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	*ret = NOTHING;
	*ret_text = NULL;
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (S_ISREG(st.st_mode))
		return read_here(root, path, ret, ret_text, err);
	*ret = ANOTHER;
	if (!S_ISLNK(st.st_mode))
		return 0;
	n = readlinkat(fd, "", target, sizeof(target));
	if (n < 0)
		return err_errno(err, -errno, "%s", path);
	*ret = A_LINK;
	*ret_text = xstrndup(target, (size_t)n);
	return 0;
}

static bool has_mark(enum there there, const char *text)
{
	return there == A_FILE && str_starts(text, MARK);
}

/* bake made the file, and nobody has changed it since. */
static bool is_bakes(enum there there, const char *text)
{
	char digits[SUM_LEN + 1];
	const char *rest = has_mark(there, text) ? strchr(text, '\n') : NULL;

	if (!rest)
		return false;
	sum(rest + 1, digits);
	return strncmp(text + strlen(MARK), digits, SUM_LEN) == 0;
}

/* --- baking --------------------------------------------------------------------------------- */

static int decide(struct bake *b, struct bake_item *it, struct err *err)
{
	cleanup_free char *text = NULL;
	enum there there;
	int r = look(b->root, it->path, &there, &text, err);

	if (r < 0)
		return r;
	/* a link of that name enables the unit, with any target */
	if (there == A_LINK ? it->link : there == A_FILE && !it->link && streq(text, it->text)) {
		it->result = BAKE_SAME;
	} else if (there == NOTHING) {
		it->result = BAKE_MADE;
	} else if (there == A_FILE && (it->takes_over || is_bakes(there, text))) {
		it->result = BAKE_CHANGED;
	} else {
		it->result = BAKE_LEFT;
		it->why = xstrdup("bake did not make this file, or it was changed since: move it "
				  "away, or write bake's content there by hand");
	}
	return 0;
}

int bake_apply(struct bake *b, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < b->items.n && r == 0; i++)
		r = decide(b, &b->items.v[i], err);
	for (size_t i = 0; i < b->items.n && r == 0; i++) {
		const struct bake_item *it = &b->items.v[i];

		if (it->result != BAKE_MADE && it->result != BAKE_CHANGED)
			continue;
		r = it->link ? machine_make_link(b->root, it->path, it->text, err)
			     : machine_write_file(b->root, it->path, it->text, MODE, err);
	}
	return r;
}

/* --- undoing -------------------------------------------------------------------------------- */

/* With the directory, if that was the last file in it. */
static int remove_file(struct bake *b, const char *path, struct err *err)
{
	cleanup_free char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	int r = machine_remove_file(b->root, path, err);

	if (r == 0)
		r = machine_remove_dir(b->root, dir, err);
	return r == -ENOTEMPTY || r == -EEXIST ? 0 : r;
}

static int undo_file(struct bake *b, const char *path, struct err *err)
{
	cleanup_free char *text = NULL;
	struct bake_item *it;
	enum there there;
	int r = look(b->root, path, &there, &text, err);

	if (r < 0 || !has_mark(there, text))
		return r;
	it = bake_want(b, xstrdup(path), NULL, xstrdup(""));
	if (is_bakes(there, text)) {
		it->result = BAKE_REMOVED;
		return remove_file(b, path, err);
	}
	it->result = BAKE_LEFT;
	it->why = xstrdup("changed since bake made the file: remove the file by hand if it is no "
			  "longer needed");
	return 0;
}

/* The new file of a run that was killed before its rename. */
static int remove_leftovers(struct bake *b, const char *pattern, struct err *err)
{
	const char *name = strrchr(pattern, '/') + 1;
	cleanup_free char *tmp = xasprintf("%.*s.%s.tmp", (int)(name - pattern), pattern, name);
	cleanup_strv struct strv paths = {0};
	int r = read_glob(b->root, tmp, &paths, err);

	for (size_t i = 0; i < paths.n && r == 0; i++)
		r = remove_file(b, paths.v[i], err);
	return r;
}

int bake_undo(struct bake *b, const char *pattern, struct err *err)
{
	cleanup_strv struct strv paths = {0};
	int r = remove_leftovers(b, pattern, err);

	if (r == 0)
		r = read_glob(b->root, pattern, &paths, err);
	for (size_t i = 0; i < paths.n && r == 0; i++)
		r = undo_file(b, paths.v[i], err);
	return r;
}
