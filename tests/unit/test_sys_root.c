/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening and reading below a root, by openat2 and by the walk that stands in for it, and
 * railhead's own files there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../lib/clock.h"
#include "hooks.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/state.h"
#include "tree.h"

static atomic_bool renamed_enough;

static const struct tree_file files[] = {
	{"file", "text\n"},
	{"dir/file", "inner\n"},
	{"dir/sub/file", "deep\n"},
	{"etc/hostname", "of the tree\n"},
	{"rel", "->dir/file"},
	{"abs", "->/dir/file"},
	{"dir/abs", "->/file"},
	{"dir/up", "->../file"},
	{"dir/sub/up2", "->../../file"},
	{"dir/sub/over", "->../../../../../../file"},
	{"outside", "->/etc/hostname"},
	{"outside2", "->../../../../../../../etc/hostname"},
	{"dangling", "->nowhere"},
	{"absdangling", "->/proc/version"}, /* is there, but not below this root */
	{"loop", "->loop"},
	{"loop1", "->loop2"},
	{"loop2", "->loop1"},
	{"dirlink", "->dir"},
	{"absdirlink", "->/dir/sub/"},
	{"filelink", "->file/"},
	{"dotlink", "->."},
	{"rootlink", "->/"},
	{"chain0", "->file"},
	{"dir/tofifo", "->/fifo"},
};

/* chain40 leads through 40 links more to the file, as many as the kernel follows. */
static void make_chain(const struct tmp *t)
{
	for (int i = 1; i <= 40; i++) {
		cleanup_free char *name = xasprintf("chain%d", i);
		cleanup_free char *to = xasprintf("chain%d", i - 1);

		tree_link(t, name, to);
	}
}

/* What is no regular file, and opens all the same: a FIFO only when somebody writes, or never. */
static void make_nodes(const struct tmp *t)
{
	assert_int_equal(mkfifo(tmp_path(t, "fifo"), 0600), 0);
	assert_int_equal(mknod(tmp_path(t, "socket"), S_IFSOCK | 0600, 0), 0);
}

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	tree_write(*state, files, array_len(files));
	make_chain(*state);
	make_nodes(*state);
	return 0;
}

static int teardown(void **state)
{
	test_openat2(true);
	return tmp_teardown(state);
}

/* What an open gives: the text, "DIR", "LINK" or "OPEN", or the error's name. */
static char *outcome(const struct root *root, const char *path, int flags)
{
	cleanup_close int fd = root_open_path(root, path, flags);
	cleanup_free char *text = NULL;
	struct stat st;

	if (fd < 0)
		return xstrdup(strerrorname_np(-fd));
	assert_int_equal(fstat(fd, &st), 0);
	if (S_ISDIR(st.st_mode))
		return xasprintf("DIR");
	if (S_ISLNK(st.st_mode))
		return xasprintf("LINK");
	if (flags & (O_PATH | O_WRONLY))
		return xasprintf("OPEN");
	assert_int_equal(read_fd(fd, 4096, &text, NULL), 0);
	str_chomp(text);
	return take_ptr(text);
}

static const struct {
	const char *path;
	int flags;
	const char *want;
} opens[] = {
	{"file", O_RDONLY, "text"},
	{"/file", O_RDONLY, "text"},
	{"//file", O_RDONLY, "text"},
	{"./file", O_RDONLY, "text"},
	{"dir//file", O_RDONLY, "inner"},
	{"dir/./sub/../file", O_RDONLY, "inner"},
	{"", O_RDONLY, "EISDIR"},
	{"/", O_RDONLY, "EISDIR"},
	{".", O_RDONLY, "EISDIR"},
	{"..", O_RDONLY, "EISDIR"},
	{"dir", O_RDONLY, "EISDIR"},
	{"dir/", O_RDONLY, "EISDIR"},
	{"dir/.", O_RDONLY, "EISDIR"},
	{"dir/..", O_RDONLY, "EISDIR"},
	/* above the root is the root */
	{"../file", O_RDONLY, "text"},
	{"../../../../file", O_RDONLY, "text"},
	{"/../file", O_RDONLY, "text"},
	{"dir/../../../file", O_RDONLY, "text"},
	{"../etc/hostname", O_RDONLY, "of the tree"},
	/* links */
	{"rel", O_RDONLY, "inner"},
	{"abs", O_RDONLY, "inner"},
	{"dir/abs", O_RDONLY, "text"},
	{"dir/up", O_RDONLY, "text"},
	{"dir/sub/up2", O_RDONLY, "text"},
	{"dir/sub/over", O_RDONLY, "text"},
	{"outside", O_RDONLY, "of the tree"},
	{"outside2", O_RDONLY, "of the tree"},
	{"dirlink/file", O_RDONLY, "inner"},
	{"dirlink/sub/up2", O_RDONLY, "text"},
	{"dirlink/../file", O_RDONLY, "text"},
	{"absdirlink/file", O_RDONLY, "deep"},
	{"absdirlink/../file", O_RDONLY, "inner"},
	{"dotlink/dotlink/file", O_RDONLY, "text"},
	{"rootlink/dir/file", O_RDONLY, "inner"},
	{"dir/sub/../../rootlink", O_RDONLY, "EISDIR"},
	{"chain39", O_RDONLY, "text"},
	{"chain40", O_RDONLY, "ELOOP"},
	{"loop", O_RDONLY, "ELOOP"},
	{"loop1", O_RDONLY, "ELOOP"},
	{"loop/file", O_RDONLY, "ELOOP"},
	{"dangling", O_RDONLY, "ENOENT"},
	{"absdangling", O_RDONLY, "ENOENT"},
	/* missing */
	{"nowhere", O_RDONLY, "ENOENT"},
	{"nowhere/file", O_RDONLY, "ENOENT"},
	{"dir/nowhere/../file", O_RDONLY, "ENOENT"},
	{"nowhere/", O_RDONLY, "ENOENT"},
	/* a file where a directory must be, and the other way round */
	{"file/", O_RDONLY, "ENOTDIR"},
	{"file/.", O_RDONLY, "ENOTDIR"},
	{"file/..", O_RDONLY, "ENOTDIR"},
	{"file/x", O_RDONLY, "ENOTDIR"},
	{"rel/", O_RDONLY, "ENOTDIR"},
	{"rel/x", O_RDONLY, "ENOTDIR"},
	{"filelink", O_RDONLY, "ENOTDIR"},
	{"file", O_RDONLY | O_DIRECTORY, "ENOTDIR"},
	{"rel", O_RDONLY | O_DIRECTORY, "ENOTDIR"},
	{"dir", O_WRONLY, "EISDIR"},
	{"dirlink", O_RDONLY | O_DIRECTORY, "DIR"},
	{"dirlink/", O_RDONLY, "EISDIR"},
	{"absdirlink", O_RDONLY, "EISDIR"},
	{"file", O_WRONLY, "OPEN"},
	{"abs", O_WRONLY, "OPEN"},
	/* neither waits nor opens */
	{"fifo", O_RDONLY, "EBADFD"},
	{"fifo", O_WRONLY, "EBADFD"},
	{"fifo", O_RDWR, "EBADFD"},
	{"fifo", O_RDONLY | O_NOFOLLOW, "EBADFD"},
	{"dir/tofifo", O_RDONLY, "EBADFD"},
	{"dir/tofifo", O_RDONLY | O_NOFOLLOW, "ELOOP"},
	{"fifo", O_RDONLY | O_DIRECTORY, "ENOTDIR"},
	{"fifo", O_PATH, "OPEN"},
	{"fifo/", O_RDONLY, "ENOTDIR"},
	{"socket", O_RDONLY, "EBADFD"},
	{"socket", O_WRONLY, "EBADFD"},
	/* the link itself */
	{"rel", O_PATH | O_NOFOLLOW, "LINK"},
	{"loop", O_PATH | O_NOFOLLOW, "LINK"},
	{"dangling", O_PATH | O_NOFOLLOW, "LINK"},
	{"dirlink/abs", O_PATH | O_NOFOLLOW, "LINK"},
	{"file", O_PATH | O_NOFOLLOW, "OPEN"},
	{"rel", O_RDONLY | O_NOFOLLOW, "ELOOP"},
	{"dirlink/", O_PATH | O_NOFOLLOW, "DIR"},
	{"dirlink/.", O_PATH | O_NOFOLLOW, "DIR"},
};

static void opens_by(struct tmp *t, bool fallback)
{
	test_openat2(!fallback);
	for (size_t i = 0; i < array_len(opens); i++) {
		cleanup_free char *got = outcome(&t->root, opens[i].path, opens[i].flags);

		if (!streq(got, opens[i].want))
			fail_msg("%s '%s' (%o): %s, not %s", fallback ? "walk" : "openat2",
				 opens[i].path, (unsigned int)opens[i].flags, got, opens[i].want);
	}
}

static void test_open(void **state)
{
	opens_by(*state, false);
	opens_by(*state, true);
}

/* With a writer at its other end a FIFO is as little a file as without, and stays unread. */
static void test_fifo_with_writer(void **state)
{
	struct tmp *t = *state;
	cleanup_close int writer = open(tmp_path(t, "fifo"), O_RDWR | O_CLOEXEC);
	struct err err = {0};
	char *text = NULL, buf[8];

	assert_int_equal(write(writer, "1\n", 2), 2);
	assert_int_equal(read_text(&t->root, &text, &err, "/%s", "fifo"), -EBADFD);
	assert_string_equal(err.text, "/fifo: is not a regular file");
	assert_int_equal(machine_write_attr(&t->root, "fifo", "2", &err), -EBADFD);
	assert_int_equal(read(writer, buf, sizeof(buf)), 2);
}

/* The kernel acts on an open of a device; those that are meant are opened by name. */
static void test_devices(void **state)
{
	struct tmp *t = *state;
	struct root dev, live;
	int fd;

	assert_int_equal(root_init(&dev, "/dev", &t->err), 0);
	assert_int_equal(root_init(&live, NULL, &t->err), 0);
	for (int fallback = 0; fallback <= 1; fallback++) {
		test_openat2(!fallback);
		cleanup_free char *mask = outcome(&dev, "null", O_RDONLY);
		cleanup_free char *live_mask = outcome(&live, "/dev/null", O_RDONLY);

		assert_string_equal(mask, "");
		assert_string_equal(live_mask, "");
		assert_int_equal(root_open_path(&dev, "zero", O_RDONLY), -EBADFD);
		assert_int_equal(root_open_path(&dev, "null", O_WRONLY), -EBADFD);
		assert_int_equal(root_open_path(&live, "/dev/zero", O_RDONLY), -EBADFD);
		fd = root_open_device(&live, "/dev/null");
		assert_true(fd >= 0);
		close(fd);
		fd = root_open_device(&t->root, "file");
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(root_open_device(&t->root, "fifo"), -EBADFD);
		assert_int_equal(root_open_device(&t->root, "dir"), -EISDIR);
		assert_true(root_open_device(&dev, "zero") < 0);
		dev.nodev = false; /* where the kernel would open it */
		assert_int_equal(root_open_device(&dev, "zero"), -EBADFD);
		assert_int_equal(root_open_device(&t->root, "nowhere"), -ENOENT);
	}
	root_close(&dev);
	root_close(&live);
}

/* Below an open directory, which no link leaves. */
static void test_open_at(void **state)
{
	struct tmp *t = *state;
	cleanup_close int dir = root_open_path(&t->root, "dir", O_RDONLY | O_DIRECTORY);
	int fd = root_open_at(dir, "sub/over", O_RDONLY);
	struct stat st;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(st.st_size, strlen("inner\n"));
	close(fd);
	assert_int_equal(root_open_at(dir, "up", O_RDONLY | O_NOFOLLOW), -ELOOP);
	assert_int_equal(root_open_at(dir, "abs", O_RDONLY | O_DIRECTORY), -ENOTDIR);
}

/* Names and paths at their limits: both ways must agree. */
static void test_long_paths(void **state)
{
	struct tmp *t = *state;
	cleanup_str struct str deep = {0}, dots = {0}, slashes = {0}, much = {0};
	char name[NAME_MAX + 2];
	const char *paths[6];

	for (int i = 0; i < 60; i++)
		str_addf(&deep, "d%d/", i);
	str_add(&deep, "file");
	tmp_write(t, deep.s, "far down\n");
	while (dots.len < PATH_MAX - 100)
		str_add(&dots, "dir/../");
	str_add(&dots, "file");
	while (slashes.len < PATH_MAX - 10)
		str_add(&slashes, "//////");
	str_add(&slashes, "file");
	while (much.len < PATH_MAX)
		str_add(&much, "dir/../");
	memset(name, 'n', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	paths[0] = deep.s;
	paths[1] = dots.s;
	paths[2] = slashes.s;
	paths[3] = much.s;
	paths[4] = name;
	paths[5] = name + 1; /* as long as a name may be, and not there */
	for (size_t i = 0; i < array_len(paths); i++) {
		static const char *const want[] = {"far down",	   "text",	   "text",
						   "ENAMETOOLONG", "ENAMETOOLONG", "ENOENT"};

		for (int fallback = 0; fallback <= 1; fallback++) {
			cleanup_free char *got = NULL;

			test_openat2(!fallback);
			got = outcome(&t->root, paths[i], O_RDONLY);
			assert_string_equal(got, want[i]);
		}
	}
}

/* No fd may be left open, however an open ended. */
static void test_no_fd_leaks(void **state)
{
	struct tmp *t = *state;
	int before, after;

	for (int round = 0; round <= 1; round++) {
		cleanup_close int probe = open("/dev/null", O_RDONLY | O_CLOEXEC);

		before = probe;
		opens_by(t, round);
	}
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(after);
	assert_int_equal(after, before);
}

static void test_init(void **state)
{
	struct tmp *t = *state;
	cleanup_free char *missing = xasprintf("%s/nowhere", t->dir);
	cleanup_free char *file = xasprintf("%s/file", t->dir);
	struct root root;
	struct err err = {0};

	assert_false(t->root.live);
	assert_int_equal(root_init(&root, NULL, &err), 0);
	assert_true(root.live);
	root_close(&root);
	assert_int_equal(root.fd, -1);
	assert_int_equal(root_init(&root, "/../usr/..", &err), 0);
	assert_true(root.live); /* another name of it */
	root_close(&root);
	assert_int_equal(root_init(&root, "", &err), -ENOENT); /* not "/" */
	assert_int_equal(root_init(&root, missing, &err), -ENOENT);
	assert_text(err.text, missing);
	assert_int_equal(root_init(&root, file, &err), -ENOTDIR);
}

static void test_exists(void **state)
{
	struct tmp *t = *state;
	struct err err = {0};
	struct stat st;

	for (int fallback = 0; fallback <= 1; fallback++) {
		test_openat2(!fallback);
		assert_true(root_exists(&t->root, "/%s/%d/../file", "dir/sub", 0) == false);
		assert_true(root_exists(&t->root, "/%s", "dirlink/file"));
		assert_false(root_exists(&t->root, "dangling"));
		assert_false(root_exists(&t->root, "/%*s", PATH_MAX, "x"));
		assert_int_equal(root_stat(&t->root, &st, "abs"), 0);
		assert_int_equal(st.st_size, 6);
		assert_int_equal(root_stat(&t->root, &st, "loop"), -ELOOP);
		assert_int_equal(root_open(&t->root, O_RDONLY, &err, "dir/%s", "no"), -ENOENT);
		assert_text(err.text, "dir/no: No such file");
		assert_int_equal(root_open(&t->root, O_RDONLY, &err, "%*s", PATH_MAX, "x"),
				 -ENAMETOOLONG);
	}
}

/* A directory as a root: its files, what its links say, and no way out of it. */
static void test_directory_as_root(void **state)
{
	struct tmp *t = *state;
	struct err err = {0};
	struct root none;

	tmp_write(t, "sys/devices/a/vendor", "0x15b3\n");
	tmp_write(t, "sys/devices/a/net/eth0/mtu", "1500\n");
	tmp_write(t, "sys/devices/secret", "1");
	tree_link(t, "sys/devices/a/driver", "/sys/bus/pci/drivers/mlx5_core");
	tree_link(t, "sys/devices/a/out", "../secret");
	tree_link(t, "sys/bus/a", "../devices/a");
	for (int fallback = 0; fallback <= 1; fallback++) {
		cleanup_free char *vendor = NULL, *driver = NULL, *text = NULL;
		cleanup_strv struct strv net = {0};
		struct root dir cleanup_root;

		test_openat2(!fallback);
		assert_int_equal(root_open_dir(&t->root, &dir, "/sys/bus/a"), 0);
		assert_false(dir.live);
		assert_int_equal(read_attr(&dir, &vendor, &err, "vendor"), 0);
		assert_string_equal(vendor, "0x15b3");
		assert_int_equal(read_link_name(&dir, &driver, &err, "driver"), 0);
		assert_string_equal(driver, "mlx5_core");
		assert_int_equal(read_link(&dir, &text, &err, "vendor"), -EINVAL);
		assert_int_equal(read_link(&dir, &text, &err, "physfn"), -ENOENT);
		assert_int_equal(read_dir(&dir, &net, &err, "net"), 0);
		assert_string_equal(net.v[0], "eth0");
		assert_int_equal(read_attr(&dir, &text, &err, "out"), -ENOENT);
		assert_int_equal(read_attr(&dir, &text, &err, "../secret"), -ENOENT);
		assert_null(text);
	}
	assert_int_equal(root_open_dir(&t->root, &none, "/sys/bus/b"), -ENOENT);
	assert_int_equal(root_open_dir(&t->root, &none, "/sys/devices/secret"), -ENOTDIR);
	root_close(&none);
}

/* --- reading ------------------------------------------------------------------------- */

static void test_glob(void **state)
{
	static const struct tree_file nodes[] = {
		{"sys/block/nvme0n1/queue/scheduler", "none"},
		{"sys/block/nvme10n1/queue/scheduler", "none"},
		{"sys/block/nvme1n1/queue/scheduler", "none"},
		{"sys/block/sda/queue/scheduler", "none"},
		{"sys/block/nvme2n1/plain", "x"},
		{"sys/block/nvmefile", "x"},
		{"sys/block/.hidden/queue/scheduler", "x"},
		{"sys/links/gone", "->/nowhere"},
		{"sys/links/there", "->/sys/block/sda"},
		{"sys/links/round", "->round"},
	};
	static const struct {
		const char *pattern;
		const char *paths; /* with a blank after each */
	} t[] = {
		{"/sys/block/nvme*n*/queue/scheduler",
		 "/sys/block/nvme0n1/queue/scheduler /sys/block/nvme10n1/queue/scheduler "
		 "/sys/block/nvme1n1/queue/scheduler "},
		{"/sys/block/*/queue/sched*",
		 "/sys/block/nvme0n1/queue/scheduler /sys/block/nvme10n1/queue/scheduler "
		 "/sys/block/nvme1n1/queue/scheduler /sys/block/sda/queue/scheduler "},
		{"/sys/block/sd?/queue/scheduler", "/sys/block/sda/queue/scheduler "},
		{"/sys/block/sd[a-c]/queue/scheduler", "/sys/block/sda/queue/scheduler "},
		{"sys/block/sda/queue/scheduler", "/sys/block/sda/queue/scheduler "},
		{"/sys/block/sdb/queue/scheduler", ""},
		{"/sys/block/sd[b-c]/queue/scheduler", ""},
		{"/sys/nowhere/*", ""},
		{"/sys/block/sda/queue/scheduler/*", ""},
		{"/sys/links/*/queue/scheduler", "/sys/links/there/queue/scheduler "},
		{"/sys/links/g*", "/sys/links/gone "},
		{"/*/block/sda/queue/scheduler", "/sys/block/sda/queue/scheduler "},
	};
	struct tmp *tmp = *state;

	tree_write(tmp, nodes, array_len(nodes));
	for (size_t i = 0; i < 2 * array_len(t); i++) {
		cleanup_strv struct strv paths = {0};
		cleanup_str struct str all = {0};
		struct err err = {0};

		test_openat2(!(i % 2));
		if (read_glob(&tmp->root, t[i / 2].pattern, &paths, &err) < 0)
			fail_msg("%s: %s", t[i / 2].pattern, err.text);
		for (size_t j = 0; j < paths.n; j++)
			str_addf(&all, "%s ", paths.v[j]);
		assert_string_equal(str_get(&all), t[i / 2].paths);
	}
}

/* /sys/links/STAR/x/STAR meets a link loop on its way: that is one that does not match. */
static void test_glob_past_loops(void **state)
{
	struct tmp *t = *state;
	cleanup_strv struct strv paths = {0};
	struct err err = {0};

	tree_link(t, "sys/links/a", "a");
	tree_link(t, "sys/links/b", "/nowhere");
	tmp_write(t, "sys/links/c/x1", "");
	if (read_glob(&t->root, "/sys/links/*/x*", &paths, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(paths.n, 1);
	assert_string_equal(paths.v[0], "/sys/links/c/x1");
}

/*
 * Links that go round give a pattern as many paths as there are links to the power of its stars.
 * Paths of more than 20 links would not do: a walk that the kernel begins again, as when somebody
 * mounts something meanwhile, counts the links of both against its 40 (ELOOP; fs/namei.c).
 */
static void test_glob_ends(void **state)
{
	struct tmp *t = *state;
	cleanup_strv struct strv paths = {0};
	struct err err = {0};

	for (const char *name = "abcd"; *name; name++) {
		cleanup_free char *link = xasprintf("sys/%c", *name);

		tree_link(t, link, ".");
	}
	assert_int_equal(read_glob(&t->root, "/sys/*/*", &paths, &err), 0);
	assert_int_equal(paths.n, 16);
	assert_int_equal(read_glob(&t->root, "/sys/*/*/*/*/*/*/*/*/*/*", &paths, &err), -E2BIG);
	assert_text(err.text, "write more of the path out");
}

/* What does not match leaves no message behind. */
static void test_glob_keeps_err(void **state)
{
	struct tmp *t = *state;
	cleanup_strv struct strv paths = {0};
	struct err err = {0};

	tmp_write(t, "sys/file", "");
	assert_int_equal(read_glob(&t->root, "/sys/*/*", &paths, &err), 0);
	assert_int_equal(paths.n, 0);
	assert_string_equal(err.text, "");
}

static void write_much(const struct tmp *t, const char *name, size_t len)
{
	FILE *f = fopen(tmp_path(t, name), "w");

	assert_non_null(f);
	for (size_t i = 0; i < len; i++)
		fputc('x', f);
	fclose(f);
}

static void test_text(void **state)
{
	struct tmp *t = *state;
	cleanup_free char *most = NULL, *text = NULL, *raw = NULL, *none = NULL;
	struct err err = {0};
	size_t len = 0;

	write_much(t, "most", READ_TEXT_MAX);
	write_much(t, "more", READ_TEXT_MAX + 1);
	assert_int_equal(read_text(&t->root, &most, &err, "most"), 0);
	assert_int_equal(strlen(most), READ_TEXT_MAX);
	assert_int_equal(read_text(&t->root, &none, &err, "more"), -EFBIG);
	assert_text(err.text, "more: File too large");
	tmp_write(t, "padded", " a b \t\n\n");
	assert_int_equal(read_text(&t->root, &text, &err, "%s", "padded"), 0);
	assert_string_equal(text, " a b");
	assert_int_equal(read_file(&t->root, 64, &raw, &len, &err, "padded"), 0);
	assert_int_equal(len, 8);
	assert_string_equal(raw, " a b \t\n\n");
	assert_int_equal(read_file(&t->root, 7, &none, &len, &err, "padded"), -EFBIG);
	assert_int_equal(read_text(&t->root, &none, &err, "dir"), -EISDIR);
	assert_int_equal(read_text(&t->root, &none, &err, "nowhere"), -ENOENT);
	assert_text(err.text, "nowhere: No such file");
	assert_null(none); /* failures leave it alone */
	assert_int_equal(len, 8);
}

/* A read that fills the block may not be the last; one that leaves room is. */
static void test_attributes(void **state)
{
	static const size_t lengths[] = {0, 1, 4095, 4096, 4097, 8192, 70000};
	struct tmp *t = *state;
	cleanup_free char *none = NULL;
	struct err err = {0};

	for (size_t i = 0; i < array_len(lengths); i++) {
		cleanup_free char *text = NULL;

		write_much(t, "attr", lengths[i]);
		assert_int_equal(read_attr(&t->root, &text, &err, "%s", "attr"), 0);
		assert_int_equal(strlen(text), lengths[i]);
	}
	write_much(t, "attr", READ_TEXT_MAX + 1);
	assert_int_equal(read_attr(&t->root, &none, &err, "attr"), -EFBIG);
	assert_text(err.text, "attr: File too large");
	assert_int_equal(read_attr(&t->root, &none, &err, "dir"), -EISDIR);
	assert_int_equal(read_attr(&t->root, &none, &err, "nowhere"), -ENOENT);
	assert_text(err.text, "nowhere: No such file");
	assert_null(none);
}

/* The file is no attribute, and comes in pieces: a short read is not its end. */
static void test_text_in_pieces(void **state)
{
	cleanup_free char *text = NULL;
	int ends[2];
	size_t len;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(write(ends[1], "one ", 4), 4);
	assert_int_equal(write(ends[1], "two", 3), 3);
	close(ends[1]);
	assert_int_equal(read_fd(ends[0], 64, &text, &len), 0);
	assert_string_equal(text, "one two");
	close(ends[0]);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int code;
		int64_t value;
		int unsigned_code;
	} t[] = {
		{"0\n", 0, 0, 0},
		{"16\n", 0, 16, 0},
		{"-1\n", 0, -1, -ERANGE},
		{"0x15b3\n", 0, 0x15b3, 0},
		{"0X0f", 0, 15, 0},
		{"0x020000\n", 0, 0x20000, 0},
		{"010\n", 0, 10, 0}, /* decimal: nothing in sysfs is octal but modes */
		{"9223372036854775807\n", 0, INT64_MAX, 0},
		{"-9223372036854775808\n", 0, INT64_MIN, -ERANGE},
		{"9223372036854775808\n", -ERANGE, 0, -ERANGE},
		{"\n", -EINVAL, 0, -EINVAL},
		{"", -EINVAL, 0, -EINVAL},
		{"0x\n", -EINVAL, 0, -EINVAL},
		{"12 apples\n", -EINVAL, 0, -EINVAL},
		{"none\n", -EINVAL, 0, -EINVAL},
		{"1.5\n", -EINVAL, 0, -EINVAL},
	};
	struct tmp *tmp = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		struct err err = {0};
		int64_t v = 4711;
		uint64_t u = 4711;
		int r;

		tmp_write(tmp, "number", t[i].text);
		r = read_i64(&tmp->root, &v, &err, "%s", "number");
		if (r != t[i].code || v != (r < 0 ? 4711 : t[i].value))
			fail_msg("'%s': %d, %lld", t[i].text, r, (long long)v);
		if (r < 0)
			assert_text(err.text, "number: ");
		r = read_u64(&tmp->root, &u, &err, "number");
		if (r != t[i].unsigned_code || u != (r < 0 ? 4711 : (uint64_t)t[i].value))
			fail_msg("'%s': %d, %llu", t[i].text, r, (unsigned long long)u);
	}
	{
		struct err err = {0};
		uint64_t u = 0;

		assert_int_equal(read_u64(&tmp->root, &u, &err, "no/such"), -ENOENT);
		assert_int_equal(read_u64(&tmp->root, &u, NULL, "no/such"), -ENOENT);
	}
}

static void test_links_and_dirs(void **state)
{
	struct tmp *t = *state;
	cleanup_strv struct strv names = {0};
	cleanup_free char *text = NULL, *name = NULL, *none = NULL;
	struct err err = {0};

	assert_int_equal(read_link(&t->root, &text, &err, "dir/%s", "abs"), 0);
	assert_string_equal(text, "/file");
	assert_int_equal(read_link_name(&t->root, &name, &err, "abs"), 0);
	assert_string_equal(name, "file");
	assert_int_equal(read_link(&t->root, &none, &err, "file"), -EINVAL);
	assert_int_equal(read_link_name(&t->root, &none, &err, "nowhere"), -ENOENT);
	assert_null(none);
	strv_add(&names, "before");
	assert_int_equal(read_dir(&t->root, &names, &err, "dir/%s", "sub"), 0);
	assert_int_equal(names.n, 4);
	assert_true(strv_contains(&names, "before"));
	assert_true(strv_contains(&names, "file"));
	assert_int_equal(read_dir(&t->root, &names, &err, "file"), -ENOTDIR);
	assert_int_equal(read_dir(&t->root, &names, &err, "nowhere"), -ENOENT);
	assert_int_equal(names.n, 4);
}

/* More names than one call of the kernel returns. */
static void test_great_directory(void **state)
{
	struct tmp *t = *state;
	cleanup_strv struct strv names = {0};
	struct err err = {0};

	for (int i = 0; i < 400; i++) {
		cleanup_free char *name = xasprintf("great/%03d%0200d", i, 0);

		tmp_write(t, name, "");
	}
	assert_int_equal(read_dir(&t->root, &names, &err, "great"), 0);
	assert_int_equal(names.n, 400);
	for (size_t i = 0; i < names.n; i++)
		assert_int_equal(strlen(names.v[i]), 203);
	assert_int_equal(strncmp(names.v[399], "399", 3), 0);
}

/* --- writing --------------------------------------------------------------------------- */

static int count_files(const struct tmp *t, const char *dir)
{
	cleanup_strv struct strv names = {0};

	assert_int_equal(read_dir(&t->root, &names, NULL, "%s", dir), 0);
	return (int)names.n;
}

static void test_state_files(void **state)
{
	struct tmp *t = *state;
	cleanup_free char *text = NULL, *again = NULL, *none = NULL;
	struct err err = {0};

	assert_int_equal(state_read(&t->root, "x", &none, &err), -ENOENT);
	assert_int_equal(state_remove(&t->root, "x", &err), 0);
	assert_false(tree_has(t, "run/railhead")); /* looking makes nothing */
	assert_int_equal(state_write(&t->root, "x", "one\n", &err), 0);
	assert_int_equal(state_read(&t->root, "x", &text, &err), 0);
	assert_string_equal(text, "one\n");
	/* what a killed run left is replaced */
	tmp_write(t, "run/railhead/.x.tmp", "half of a very long te");
	assert_int_equal(state_write(&t->root, "x", "two\n", &err), 0);
	assert_int_equal(state_read(&t->root, "x", &again, &err), 0);
	assert_string_equal(again, "two\n");
	assert_int_equal(count_files(t, "run/railhead"), 1);
	assert_int_equal(state_remove(&t->root, "x", &err), 0);
	assert_int_equal(state_remove(&t->root, "x", &err), 0);
	assert_int_equal(count_files(t, "run/railhead"), 0);
}

/* A leftover that is a link must not be followed to where it leads. */
static void test_state_leftover_link(void **state)
{
	struct tmp *t = *state;
	struct err err = {0};

	tree_link(t, "run/railhead/.x.tmp", "../../file");
	tree_link(t, "run/railhead/x", "../../dir/file");
	assert_int_equal(state_write(&t->root, "x", "new\n", &err), 0);
	assert_string_equal(tree_text(t, "file"), "text\n");
	assert_string_equal(tree_text(t, "dir/file"), "inner\n");
	assert_string_equal(tree_text(t, "run/railhead/x"), "new\n");
}

/* A write that fails leaves the old file and nothing else. */
static void test_write_fails(void **state)
{
	struct tmp *t = *state;
	struct err err = {0};

	tmp_write(t, "run/railhead/x/inner", "a directory is in the way\n");
	assert_int_equal(state_write(&t->root, "x", "new\n", &err), -EISDIR);
	assert_text(err.text, "/run/railhead/x is no regular file; remove it");
	assert_int_equal(count_files(t, "run/railhead"), 1);
	assert_true(tree_has(t, "run/railhead/x/inner"));
	tmp_write(t, "flat", "no directory\n");
	assert_int_equal(machine_write_file(&t->root, "/flat/x", "new\n", 0644, &err), -ENOTDIR);
	assert_string_equal(tree_text(t, "flat"), "no directory\n");
}

/* A child that ends with the test, whatever becomes of it. */
static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail_msg("fork: %s", strerror(errno));
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* Killed at any moment, a writer leaves the old text or the new one, whole. */
static void test_write_killed(void **state)
{
	struct tmp *t = *state;
	cleanup_str struct str old = {0}, new = {0};
	int seen_new = 0;

	for (int i = 0; i < 5000; i++) {
		str_add(&old, "old line\n");
		str_add(&new, "new line\n");
	}
	for (int i = 0; i < 40; i++) {
		cleanup_free char *text = NULL;
		int go[2], status;
		pid_t pid;
		char c;

		assert_int_equal(state_write(&t->root, "x", old.s, NULL), 0);
		assert_int_equal(pipe(go), 0);
		pid = fork_child();
		if (pid == 0) {
			if (i % 2)
				state_write(&t->root, "x", new.s, NULL);
			if (write(go[1], "", 1) == 1)
				for (;;)
					state_write(&t->root, "x", new.s, NULL);
			_exit(1);
		}
		close(go[1]);
		assert_int_equal(read(go[0], &c, 1), 1);
		usleep((unsigned int)(i * 37));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		close(go[0]);
		assert_int_equal(state_read(&t->root, "x", &text, NULL), 0);
		if (!streq(text, old.s))
			assert_string_equal(text, new.s);
		seen_new += streq(text, new.s);
	}
	assert_true(seen_new >= 20); /* every second one had been through once */
}

static void test_machine_files(void **state)
{
	struct tmp *t = *state;
	struct err err = {0};
	struct stat st;

	umask(022); /* as main() has it */
	assert_int_equal(
		machine_write_file(&t->root, "/run/modprobe.d/x.conf", "options\n", 0644, &err), 0);
	assert_string_equal(tree_text(t, "run/modprobe.d/x.conf"), "options\n");
	assert_int_equal(root_stat(&t->root, &st, "/run/modprobe.d/x.conf"), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(machine_remove_file(&t->root, "/run/modprobe.d/x.conf", &err), 0);
	assert_int_equal(machine_remove_file(&t->root, "/run/modprobe.d/x.conf", &err), 0);
	assert_int_equal(machine_remove_file(&t->root, "/no/such/dir/x.conf", &err), 0);
	assert_false(tree_has(t, "no"));
	assert_int_equal(machine_write_file(&t->root, "noslash", "x", 0644, &err), -EINVAL);
	assert_int_equal(machine_write_file(&t->root, "/dir/", "x", 0644, &err), -EINVAL);
	/* an attribute must exist, and takes a shorter value whole */
	assert_int_equal(machine_write_attr(&t->root, "/proc/none", "1", &err), -ENOENT);
	assert_false(tree_has(t, "proc/none"));
	tmp_write(t, "proc/sys/vm/x", "212992\n");
	assert_int_equal(machine_write_attr(&t->root, "/proc/sys/vm/x", "10", &err), 0);
	assert_string_equal(tree_text(t, "proc/sys/vm/x"), "10");
}

/* A tree with a link in the way: what is written stays inside, as what is read does. */
static void test_writes_stay_inside(void **state)
{
	struct tmp *t = *state;
	char outside[] = "/tmp/railhead-outside-XXXXXX";
	cleanup_free char *leaked = NULL;
	struct err err = {0};

	assert_non_null(mkdtemp(outside));
	for (int fallback = 0; fallback <= 1; fallback++) {
		test_openat2(!fallback);
		tree_link(t, "run", outside);
		assert_int_equal(
			machine_write_file(&t->root, "/run/railhead.conf", "x", 0644, &err),
			-ENOENT);
		assert_true(state_write(&t->root, "x", "x", &err) < 0);
	}
	tree_link(t, "run", "/var/run");
	tree_dir(t, "var");
	tree_dir(t, "var/run");
	assert_int_equal(state_write(&t->root, "x", "x\n", &err), 0);
	assert_string_equal(tree_text(t, "var/run/railhead/x"), "x\n");
	assert_int_equal(machine_write_file(&t->root, "/run/modprobe.d/y", "y\n", 0644, &err), 0);
	assert_string_equal(tree_text(t, "var/run/modprobe.d/y"), "y\n");
	assert_int_equal(rmdir(outside), 0); /* empty still */
}

/* --- the lock --------------------------------------------------------------------------- */

/* A child that runs fn, tells us that it is through, and stays until killed. */
static pid_t child_that(int (*fn)(struct tmp *t), struct tmp *t)
{
	int ready[2];
	pid_t pid;
	char c = 1;

	assert_int_equal(pipe(ready), 0);
	pid = fork_child();
	if (pid == 0) {
		c = (char)fn(t);
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(c, 0);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int hold_lock(struct tmp *t)
{
	return state_lock(&t->root, clock_usec(), NULL) < 0;
}

static void test_lock_held(void **state)
{
	struct tmp *t = *state;
	pid_t pid = child_that(hold_lock, t);
	cleanup_free char *said = xasprintf("pid %d", pid);
	struct err err = {0};
	uint64_t started;
	int fd;

	test_clock(CLOCK_LEAPS, NULL);
	started = clock_usec();
	fd = state_lock(&t->root, started + 250000, &err);
	assert_int_equal(fd, -EBUSY);
	assert_text(err.text, said);
	assert_int_equal(clock_usec() - started, 300000); /* looks each tenth of a second */
	test_clock(CLOCK_FLOWS, NULL);
	end(pid);
	fd = state_lock(&t->root, clock_usec(), &err); /* it died: no wait at all */
	assert_true(fd >= 0);
	close(fd);
}

static int leave_worker(struct tmp *t)
{
	if (state_lock(&t->root, clock_usec(), NULL) < 0)
		return 1;
	t->err.code = fork(); /* the worker: it will outlive the one that holds the lock */
	while (t->err.code == 0)
		pause();
	return t->err.code < 0;
}

/*
 * A worker that hangs in the kernel outlives its parent. It must not hold the lock: the
 * gate of this boot and every run after it would wait for a process that is gone.
 */
static void test_lock_left_by_worker(void **state)
{
	struct tmp *t = *state;
	int worker[2], fd;
	struct err err = {0};
	pid_t pid, orphan = 0;

	assert_int_equal(pipe(worker), 0);
	pid = fork_child();
	if (pid == 0) {
		int r = leave_worker(t);

		orphan = t->err.code;
		if (r != 0 || write(worker[1], &orphan, sizeof(orphan)) != sizeof(orphan))
			_exit(1);
		for (;;)
			pause();
	}
	close(worker[1]);
	assert_int_equal(read(worker[0], &orphan, sizeof(orphan)), sizeof(orphan));
	assert_true(orphan > 0); /* kill(-1) is everybody */
	end(pid);
	fd = state_lock(&t->root, clock_usec(), &err);
	kill(orphan, SIGKILL);
	close(worker[0]);
	if (fd < 0)
		fail_msg("%s", err.text);
	close(fd);
}

static void test_boot_id(void **state)
{
	struct tmp *t = *state;
	char id[37] = "x";

	state_boot_id(&t->root, id);
	assert_string_equal(id, "");
	tmp_write(t, "proc/sys/kernel/random/boot_id", "0f0e0d0c-0b0a-4908-8706-050403020100\n");
	state_boot_id(&t->root, id);
	assert_string_equal(id, "0f0e0d0c-0b0a-4908-8706-050403020100");
}

/* Renames in another directory until it is told to end, as container runtimes do at boot. */
static void *rename_on(void *arg)
{
	const struct tmp *t = arg;
	cleanup_free char *a = xasprintf("%s/busy/a", t->dir), *b = xasprintf("%s/busy/b", t->dir);

	for (bool there = true; !atomic_load(&renamed_enough); there = !there)
		if (rename(there ? a : b, there ? b : a) < 0)
			return (void *)"rename";
	return NULL;
}

/* openat2() gives up where somebody renames, or mounts, during each of its ".."; we do not. */
static void test_beside_renames(void **state)
{
	struct tmp *t = *state;
	cleanup_str struct str path = {0};
	pthread_t busy;
	void *failed;
	int fd = 0;

	tmp_write(t, "busy/a", "");
	for (int i = 0; i < 500; i++)
		str_add(&path, "dir/../");
	str_add(&path, "file");
	assert_int_equal(pthread_create(&busy, NULL, rename_on, t), 0);
	for (int i = 0; i < 200 && fd >= 0; i++) {
		fd = root_open_path(&t->root, str_get(&path), O_RDONLY);
		if (fd >= 0)
			close(fd);
	}
	atomic_store(&renamed_enough, true);
	pthread_join(busy, &failed);
	assert_null(failed);
	if (fd < 0)
		fail_msg("%s", strerror(-fd));
}

static char *real_path(const struct root *root, const char *path)
{
	cleanup_close int fd = root_open_path(root, path, O_PATH);
	char *real = NULL;
	int r = root_path_of(root, fd, &real);

	return r < 0 ? xstrdup(strerrorname_np(-r)) : real;
}

static void a_path_has_no_links(void **state)
{
	static const char *const cases[][2] = {
		{"file", "/file"}, {"dir/up", "/file"},	  {"dirlink/sub/file", "/dir/sub/file"},
		{"rootlink", "/"}, {"dangling", "EBADF"},
	};
	struct tmp *t = *state;
	cleanup_close int outside = open("/proc", O_PATH | O_CLOEXEC);
	char *real = NULL;

	for (size_t i = 0; i < array_len(cases); i++) {
		cleanup_free char *got = real_path(&t->root, cases[i][0]);

		assert_string_equal(got, cases[i][1]);
	}
	if (!t->root.nodev) /* else its paths begin at the root, and nothing is outside */
		assert_int_equal(root_path_of(&t->root, outside, &real), -EXDEV);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_open),
		TEST(test_fifo_with_writer),
		TEST(test_devices),
		TEST(test_open_at),
		TEST(test_long_paths),
		TEST(test_no_fd_leaks),
		TEST(test_init),
		TEST(test_exists),
		TEST(test_directory_as_root),
		TEST(test_glob),
		TEST(test_glob_past_loops),
		TEST(test_glob_ends),
		TEST(test_glob_keeps_err),
		TEST(test_text),
		TEST(test_attributes),
		TEST(test_text_in_pieces),
		TEST(test_numbers),
		TEST(test_links_and_dirs),
		TEST(test_great_directory),
		TEST(a_path_has_no_links),
		TEST(test_state_files),
		TEST(test_state_leftover_link),
		TEST(test_write_fails),
		TEST(test_write_killed),
		TEST(test_machine_files),
		TEST(test_writes_stay_inside),
		TEST(test_lock_held),
		TEST(test_lock_left_by_worker),
		TEST(test_boot_id),
		TEST(test_beside_renames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
