/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/bake.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/machine.h"
#include "sys/read.h"

enum { TEXT_MAX = 64 << 10, RECORD_MAX = 1 << 20, MODE = 0644 };

const char *bake_result_name(enum bake_result r)
{
	static const char *const names[] = {
		[BAKE_SAME] = "same",	    [BAKE_MADE] = "made", [BAKE_CHANGED] = "changed",
		[BAKE_REMOVED] = "removed", [BAKE_LEFT] = "left", [BAKE_RESTORED] = "restored",
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

static int read_record(struct bake *b, struct err *err)
{
	cleanup_free char *text = NULL;
	size_t len = 0;
	int r = read_file(b->root, RECORD_MAX, &text, &len, err, BAKE_RECORD);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : bake_record_parse(text ? text : "", &b->record, err);
}

int bake_open(const struct root *root, struct bake *ret, struct err *err)
{
	*ret = (struct bake){.root = root, .loader = BAKE_OTHER};
	ret->lock = take_tree(root, err);
	return ret->lock < 0 ? ret->lock : read_record(ret, err);
}

void bake_close(struct bake *b)
{
	for (size_t i = 0; i < b->items.n; i++)
		item_free(&b->items.v[i]);
	vec_free(&b->items);
	strv_free(&b->warnings);
	bake_record_free(&b->record);
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

static bool text_is(const char *a, const char *b)
{
	return a && b && streq(a, b);
}

/* Whether the path has the content that bake put there. */
static bool is_entrys(const struct bake_entry *e, enum there there, const char *text)
{
	return e && there == (e->link ? A_LINK : A_FILE) &&
	       (text_is(e->text, text) || text_is(e->was, text));
}

/* --- baking --------------------------------------------------------------------------------- */

/* Records the directories above path that are missing. */
static void record_dirs(struct bake *b, const char *path)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = xstrndup(path, (size_t)(slash - path));

		if (!root_exists(b->root, "%s", dir) && !strv_contains(&b->record.dirs, dir))
			strv_add(&b->record.dirs, dir);
	}
}

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = text ? xstrdup(text) : NULL;
}

static void record_item(struct bake *b, const struct bake_item *it, const char *current)
{
	struct bake_entry *e = bake_record_find(&b->record, it->path), fresh = {.link = it->link};

	record_dirs(b, it->path);
	if (!e) {
		fresh.path = xstrdup(it->path);
		set_text(&fresh.before, current);
		vec_push(&b->record.entries, fresh);
		e = &b->record.entries.v[b->record.entries.n - 1];
	} else {
		set_text(&e->was, current);
	}
	set_text(&e->text, it->text);
}

/* Decides about one item, and records the text that must be written. */
static int decide(struct bake *b, struct bake_item *it, struct err *err)
{
	const struct bake_entry *e = bake_record_find(&b->record, it->path);
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
		record_item(b, it, NULL);
	} else if (there == A_FILE && (it->takes_over || is_entrys(e, there, text))) {
		it->result = BAKE_CHANGED;
		record_item(b, it, text);
	} else {
		it->result = BAKE_LEFT;
		it->why = xstrdup("bake did not make this path: move the path away, or write "
				  "bake's content there by hand");
	}
	return 0;
}

static int save_record(struct bake *b, struct err *err)
{
	cleanup_free char *text = NULL;
	int r;

	if (b->record.entries.n)
		record_dirs(b, BAKE_RECORD);
	text = bake_record_text(&b->record);
	if (text_is(b->record.read, text) || (!b->record.read && !b->record.entries.n))
		return 0;
	r = machine_write_file(b->root, BAKE_RECORD, text, MODE, err);
	if (r == 0)
		set_text(&b->record.read, text);
	return r;
}

/* Drops the earlier texts, which the record kept while they were being replaced. */
static int settle_record(struct bake *b, struct err *err)
{
	for (size_t i = 0; i < b->record.entries.n; i++)
		set_text(&b->record.entries.v[i].was, NULL);
	return save_record(b, err);
}

int bake_apply(struct bake *b, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < b->items.n && r == 0; i++)
		r = decide(b, &b->items.v[i], err);
	if (r == 0)
		r = save_record(b, err);
	for (size_t i = 0; i < b->items.n && r == 0; i++) {
		const struct bake_item *it = &b->items.v[i];

		if (it->result != BAKE_MADE && it->result != BAKE_CHANGED)
			continue;
		r = it->link ? machine_make_link(b->root, it->path, it->text, err)
			     : machine_write_file(b->root, it->path, it->text, MODE, err);
	}
	return r < 0 ? r : settle_record(b, err);
}

/* --- undoing -------------------------------------------------------------------------------- */

/* Removes the temporary file of a run that was killed in the middle of a write. */
static int remove_leftover(const struct root *root, const char *path, struct err *err)
{
	const char *name = strrchr(path, '/') + 1;
	cleanup_free char *tmp = xasprintf("%.*s.%s.tmp", (int)(name - path), path, name);

	return machine_remove_file(root, tmp, err);
}

static int undo_entry(struct bake *b, const struct bake_entry *e, struct err *err)
{
	struct bake_item *it = bake_want(b, xstrdup(e->path), NULL, xstrdup(""));
	cleanup_free char *text = NULL;
	enum there there;
	int r = look(b->root, e->path, &there, &text, err);

	if (r == 0)
		r = remove_leftover(b->root, e->path, err);
	if (r < 0)
		return r;
	/* removed already; or never made, and the earlier content is still there */
	if (there == NOTHING || (there == A_FILE && text_is(e->before, text))) {
		it->result = BAKE_SAME;
		return 0;
	}
	if (!is_entrys(e, there, text)) {
		it->result = BAKE_LEFT;
		it->why = xstrdup("changed since bake made the file: remove the file by hand if it "
				  "is no longer needed");
		return 0;
	}
	it->result = e->before ? BAKE_RESTORED : BAKE_REMOVED;
	return e->before ? machine_write_file(b->root, e->path, e->before, MODE, err)
			 : machine_remove_file(b->root, e->path, err);
}

/* Directories that hold other files by now stay. */
static int remove_dirs(struct bake *b, struct err *err)
{
	for (size_t i = b->record.dirs.n; i > 0; i--) {
		int r = machine_remove_dir(b->root, b->record.dirs.v[i - 1], err);

		if (r < 0 && r != -ENOTEMPTY && r != -EEXIST && r != -ENOTDIR)
			return r;
	}
	return 0;
}

/* Keeps the items that are BAKE_LEFT, so that the next --undo names them again. */
static void keep_left(struct bake *b)
{
	struct bake_record left = {0};

	for (size_t i = 0; i < b->items.n; i++) {
		struct bake_entry *e = bake_record_find(&b->record, b->items.v[i].path);

		if (b->items.v[i].result != BAKE_LEFT)
			continue;
		vec_push(&left.entries, *e);
		*e = (struct bake_entry){.path = xstrdup("")};
	}
	left.read = take_ptr(b->record.read);
	left.dirs = b->record.dirs;
	b->record.dirs = (struct strv){0};
	bake_record_free(&b->record);
	b->record = left;
}

int bake_undo(struct bake *b, struct err *err)
{
	int r = 0;

	if (!b->record.read)
		return 0;
	for (size_t i = b->record.entries.n; i > 0 && r == 0; i--)
		r = undo_entry(b, &b->record.entries.v[i - 1], err);
	if (r == 0)
		r = remove_dirs(b, err);
	if (r < 0)
		return r;
	keep_left(b);
	if (b->record.entries.n)
		return save_record(b, err);
	r = machine_remove_file(b->root, BAKE_RECORD, err);
	/* also the directory of the record */
	return r < 0 ? r : remove_dirs(b, err);
}
