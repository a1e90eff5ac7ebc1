/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rate at which a file or a block device can be read past this node's page cache (O_DIRECT).
 * The depth is the number of threads, each of which has one request under way.
 *
 * A window ends after a number of completed requests rather than after a time, so that it is short
 * on fast storage and counts whole requests only. The median of the windows is reported, and
 * measuring stops early once they agree. A read that never returns keeps the process from ending;
 * the caller sets a deadline.
 *
 * Each boot starts at a different place of the file, and so does a look with another budget,
 * because the cache of the server or the disk would answer from the second boot on. "p50", "p99"
 * and "max" are the times of single requests.
 */
#include "bench/storage_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "base/str.h"
#include "base/units.h"
#include "bench/gaps.h"
#include "bench/mounts.h"
#include "bench/pool.h"
#include "bench/stats.h"
#include "bench/time_over.h"

#define ALIGN 4096u /* of the largest logical blocks */
#define SIZE_MOST (64u << 20)
#define DEPTH 16
#define DEPTH_MOST 256
#define WINDOW_BYTES (16u << 20) /* at least; and no fewer than two requests of each thread */
#define WINDOWS_MOST 200
#define WINDOWS_LEAST 12 /* required before windows may agree */
#define WINDOWS_FLOOR 4	 /* enough for slow storage, within twice the budget */
#define AGREE_PCT 2
#define BUDGET_MS 1500
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define HOLES_MOST 1000 /* looked at, because a file may have many small ones */
#define HOLES_SHARE 100 /* one part in this number may be holes */

struct storage {
	int fd;
	const char *path;
	uint64_t file_size, size; /* of a request */
	uint64_t requests;	  /* in the file */
	uint64_t first;		  /* the number of the request that is read first */
	unsigned int depth;
	uint64_t per_window; /* requests */
	struct mount mount;
	dev_t device;

	atomic_uint_fast64_t next, done; /* requests begun, and completed */
	atomic_int failed;		 /* an errno */
	atomic_bool stop;
	/* When the last request of each window was completed; the first entry is the start. */
	atomic_uint_fast64_t ended_ns[WINDOWS_MOST + 1];
	double rates[WINDOWS_MOST];
	size_t windows;
	uint64_t elapsed_ns;
	struct gaps times; /* of all requests */
};

/* One thread. */
struct reader {
	struct storage *storage;
	pthread_t thread;
	struct gaps times; /* of its requests */
};

/* --- what is read ------------------------------------------------------------------------ */

static int read_whole(const char *path, char **ret)
{
	cleanup_fclose FILE *f = fopen(path, "re");
	struct str text = {0};
	char buf[4096];
	size_t n;

	if (!f)
		return -errno;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_addn(&text, buf, n);
	*ret = xstrdup(str_get(&text));
	str_free(&text);
	return 0;
}

/* -EAGAIN while the profile's mount is missing, for example because its server is starting. */
static int check_mounted(const struct options *o, struct err *err)
{
	const char *dir = option_text(o, "mount", NULL);
	cleanup_free char *mountinfo = NULL;
	int r = read_whole("/proc/self/mountinfo", &mountinfo);

	if (r < 0)
		return err_errno(err, r, "/proc/self/mountinfo");
	if (!dir || mounts_has(mountinfo, dir))
		return 0;
	return err_set(err, -EAGAIN,
		       "nothing is mounted on %s yet; see `systemctl list-units -t mount`", dir);
}

/* Finds the mount of the open file by the mount id that the kernel reports. */
static void find_mount(struct storage *s)
{
	cleanup_free char *mountinfo = NULL, *info = NULL;
	char path[64];
	const char *line;
	int id;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", s->fd);
	if (read_whole(path, &info) < 0 || read_whole("/proc/self/mountinfo", &mountinfo) < 0)
		return;
	line = strstr(info, "mnt_id:");
	if (line && sscanf(line, "mnt_id: %d", &id) == 1)
		mounts_find(mountinfo, id, &s->mount);
}

static int explain_open(const struct storage *s, int r, struct err *err)
{
	if (r == -ENOENT)
		return err_set(err, r,
			       "%s does not exist; write a file of some GiB there, larger than the "
			       "server's cache, which would be measured otherwise",
			       s->path);
	if (r == -EINVAL) /* tmpfs before 6.6, some FUSE file systems */
		return err_set(err, r,
			       "%s is on a file system that can't be read past the page cache "
			       "(O_DIRECT), so that this node's memory would be measured",
			       s->path);
	return err_errno(err, r, "%s", s->path);
}

/* Checks the type before the file is opened: open() of a FIFO waits for its other end. */
static int check_type(const struct storage *s, struct stat *ret, struct err *err)
{
	if (stat(s->path, ret) < 0)
		return explain_open(s, -errno, err);
	if (S_ISDIR(ret->st_mode))
		return err_set(err, -EISDIR,
			       "%s is a directory; write a file of some GiB into it and give the "
			       "path of the file",
			       s->path);
	if (!S_ISREG(ret->st_mode) && !S_ISBLK(ret->st_mode))
		return err_set(err, -EINVAL, "%s is neither a file nor a block device", s->path);
	return 0;
}

static int find_size(struct storage *s, const struct stat *st, struct err *err)
{
	s->device = S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;
	s->file_size = (uint64_t)st->st_size;
	if (S_ISBLK(st->st_mode)) {
		snprintf(s->mount.type, sizeof(s->mount.type), "block device");
		if (ioctl(s->fd, BLKGETSIZE64, &s->file_size) < 0)
			return err_errno(err, -errno, "%s: BLKGETSIZE64", s->path);
		return 0;
	}
	find_mount(s);
	if (streq(s->mount.type, "tmpfs") || streq(s->mount.type, "ramfs"))
		return err_set(err, -EINVAL,
			       "%s is on a %s, so that this node's memory would be measured",
			       s->path, s->mount.type);
	return 0;
}

/*
 * Bytes outside holes, lseek(2). A file system without support for holes reports none; extents that
 * are allocated and not written are holes. Looks at HOLES_MOST holes.
 */
static uint64_t data_of(const struct storage *s)
{
	off_t at = 0, end = (off_t)s->file_size;
	uint64_t holes = 0;

	for (int i = 0; i < HOLES_MOST && at < end; i++) {
		off_t hole = lseek(s->fd, at, SEEK_HOLE), data;

		if (hole < 0 || hole >= end)
			break;
		data = lseek(s->fd, hole, SEEK_DATA);
		at = data < 0 ? end : data; /* ENXIO: the hole extends to the end */
		holes += (uint64_t)(at - hole);
	}
	return s->file_size - holes;
}

/* Rejects sparse files, because the kernel reads holes as zeroes without the disk or the server. */
static int refuse_holes(const struct storage *s, const struct stat *st, struct err *err)
{
	uint64_t data = S_ISREG(st->st_mode) ? data_of(s) : s->file_size;

	if (data >= s->file_size - s->file_size / HOLES_SHARE)
		return 0;
	return err_set(err, -ENODATA,
		       "%s is sparse: %" PRIu64 " of its %" PRIu64 " MiB hold data, and holes are "
		       "read without the disk; write the file whole, for example with dd",
		       s->path, data >> 20, s->file_size >> 20);
}

/* --- where it begins ---------------------------------------------------------------------- */

uint64_t storage_first(const char *boot_id, uint64_t budget_ms, uint64_t requests)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, then the finalizer of MurmurHash3 */

	for (; *boot_id; boot_id++)
		hash = (hash ^ (unsigned char)*boot_id) * 0x100000001b3u;
	hash ^= budget_ms;
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
	return (hash ^ hash >> 33) % requests;
}

static int find_first(struct storage *s, const struct options *o, struct err *err)
{
	uint64_t offset = option_number(o, "offset", 0);
	cleanup_free char *boot_id = NULL;
	int r;

	s->first = offset / s->size;
	if (option_text(o, "offset", NULL))
		return offset % s->size == 0 && s->first < s->requests
			       ? 0
			       : err_set(err, -EINVAL,
					 "--offset: %" PRIu64 " is not a multiple of %" PRIu64
					 ", the size of a request, within the file",
					 offset, s->size);
	r = read_whole(BOOT_ID, &boot_id);
	if (r < 0)
		return err_errno(err, r, BOOT_ID);
	s->first = storage_first(boot_id, option_number(o, "budget", BUDGET_MS), s->requests);
	return 0;
}

static int open_storage(struct storage *s, const struct options *o, struct err *err)
{
	struct stat st;
	int r = check_type(s, &st, err);

	if (r < 0)
		return r;
	s->fd = open(s->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (s->fd < 0)
		return explain_open(s, -errno, err);
	r = find_size(s, &st, err);
	if (r < 0)
		return r;
	s->requests = s->file_size / s->size;
	if (s->requests == 0)
		return err_set(err, -ENODATA,
			       "%s has %" PRIu64 " bytes, fewer than a request of %" PRIu64
			       "; write a file of some GiB there",
			       s->path, s->file_size, s->size);
	r = find_first(s, o, err);
	return r == 0 ? refuse_holes(s, &st, err) : r;
}

/* --- reading ----------------------------------------------------------------------------- */

static void count(struct storage *s)
{
	uint64_t n = atomic_fetch_add(&s->done, 1) + 1;

	if (n % s->per_window == 0 && n / s->per_window <= WINDOWS_MOST)
		atomic_store(&s->ended_ns[n / s->per_window], clock_ns());
}

/* One request, whole. */
static int read_one(const struct storage *s, char *buf, uint64_t at)
{
	uint64_t have = 0;

	while (have < s->size) {
		ssize_t n = pread(s->fd, buf + have, s->size - have, (off_t)(at + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0) /* the file became shorter */
			return ENODATA;
		have += (uint64_t)n;
	}
	return 0;
}

static void *read_on(void *arg)
{
	struct reader *reader = arg;
	struct storage *s = reader->storage;
	void *buf = mmap(NULL, s->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int none = 0;

	if (buf == MAP_FAILED) {
		atomic_compare_exchange_strong(&s->failed, &none, errno);
		return NULL;
	}
	while (!atomic_load(&s->stop) && !atomic_load(&s->failed)) {
		uint64_t i = (s->first + atomic_fetch_add(&s->next, 1)) % s->requests;
		uint64_t start = clock_ns();
		int r = read_one(s, buf, i * s->size);

		if (r) {
			atomic_compare_exchange_strong(&s->failed, &none, r);
		} else {
			gaps_add(&reader->times, clock_ns() - start);
			count(s);
		}
	}
	munmap(buf, s->size);
	return NULL;
}

/* Records the rates of the completed windows. */
static void take_windows(struct storage *s)
{
	double bytes = (double)(s->per_window * s->size);

	while (s->windows < WINDOWS_MOST) {
		uint64_t from = atomic_load(&s->ended_ns[s->windows]);
		uint64_t to = atomic_load(&s->ended_ns[s->windows + 1]);

		if (!to)
			return;
		s->rates[s->windows++] = bytes * 1e9 / (double)(to > from ? to - from : 1);
	}
}

/* Slow storage gets twice the budget, so that it completes some windows. */
static bool is_over(const struct storage *s, uint64_t budget_ns)
{
	if (atomic_load(&s->failed) || s->windows == WINDOWS_MOST || time_is_over())
		return true;
	if (s->elapsed_ns > 2 * budget_ns)
		return true;
	return s->windows >= WINDOWS_FLOOR &&
	       (s->elapsed_ns > budget_ns ||
		stats_agree(s->rates, s->windows, WINDOWS_LEAST, AGREE_PCT));
}

static int measure(struct storage *s, uint64_t budget_ns, struct err *err)
{
	cleanup_free struct reader *readers = xcalloc(s->depth, sizeof(*readers));
	uint64_t start = clock_ns();
	unsigned int n = 0;
	int r = 0;

	atomic_store(&s->ended_ns[0], start);
	for (; n < s->depth && r == 0; n += r == 0) {
		readers[n].storage = s;
		r = pthread_create(&readers[n].thread, NULL, read_on, &readers[n]);
	}
	if (r)
		atomic_store(&s->stop, true);
	while (r == 0 && !is_over(s, budget_ns)) {
		sleep_ns(2000000);
		take_windows(s);
		s->elapsed_ns = clock_ns() - start;
	}
	atomic_store(&s->stop, true);
	for (unsigned int i = 0; i < n; i++) {
		pthread_join(readers[i].thread, NULL);
		gaps_merge(&s->times, &readers[i].times);
	}
	s->elapsed_ns = clock_ns() - start;
	if (r)
		return err_errno(err, -r, "thread %u", n);
	r = atomic_load(&s->failed);
	if (r == ENODATA)
		return err_set(err, -r, "%s became shorter while it was read", s->path);
	if (r)
		return err_errno(err, -r, "%s: read", s->path);
	return atomic_load(&s->done) ? 0 : err_time_over(err, "its first requests were read");
}

/* --- the line ---------------------------------------------------------------------------- */

/* NVMe over fabrics names its transport (drivers/nvme/host/sysfs.c), a partition at its disk. */
static void add_block_transport(struct storage *s)
{
	static const char *const places[] = {"device", "../device"};

	for (size_t i = 0; i < array_len(places) && !s->mount.transport[0]; i++) {
		cleanup_free char *text = NULL;
		char path[96];

		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/transport", major(s->device),
			 minor(s->device), places[i]);
		if (read_whole(path, &text) < 0)
			continue;
		str_chomp(text);
		snprintf(s->mount.transport, sizeof(s->mount.transport), "%.15s", text);
	}
}

static void add_note(const struct storage *s, uint64_t bytes, json_t *line)
{
	struct str note = {0};

	if (bytes > s->file_size)
		str_addf(&note,
			 "the file was read %.1f times over, so that a cache of the server or the "
			 "disk may have answered; ",
			 (double)bytes / (double)s->file_size);
	if (s->windows < WINDOWS_LEAST)
		str_addf(&note, "only %zu windows fitted the budget; ", s->windows);
	if (note.len)
		json_object_set_new(line, "note", json_stringn(note.s, note.len - 2));
	str_free(&note);
}

static void add_cause(const struct storage *s, const struct options *o, json_t *line)
{
	cleanup_free char *cause = mounts_cause(&s->mount, option_text(o, "transport", ""));

	if (cause)
		json_object_set_new(line, "cause", json_string(cause));
}

static void add_number(json_t *line, const char *key, uint64_t n)
{
	json_object_set_new(line, key, json_integer((json_int_t)n));
}

static void report(struct storage *s, const struct options *o, json_t *line)
{
	uint64_t bytes = atomic_load(&s->done) * s->size;
	double whole = (double)bytes * 1e9 / (double)(s->elapsed_ns ? s->elapsed_ns : 1);
	double rate = s->windows ? median_of(s->rates, s->windows) : whole;

	if (!s->mount.transport[0])
		add_block_transport(s);
	json_object_set_new(line, "path", json_string(s->path));
	add_number(line, "value", (uint64_t)rate);
	json_object_set_new(line, "unit", json_string("B/s"));
	add_number(line, "windows", s->windows);
	json_object_set_new(line, "spread_pct",
			    json_real(s->windows ? stats_spread_pct(s->rates, s->windows) : 0));
	add_number(line, "p50", (uint64_t)gaps_quantile(&s->times, 0.5));
	add_number(line, "p99", (uint64_t)gaps_quantile(&s->times, 0.99));
	add_number(line, "max", s->times.most);
	add_number(line, "offset", s->first * s->size);
	add_number(line, "size", s->size);
	add_number(line, "depth", s->depth);
	add_number(line, "bytes", bytes);
	add_number(line, "file_size", s->file_size);
	json_object_set_new(line, "type", json_string(s->mount.type));
	if (s->mount.transport[0])
		json_object_set_new(line, "transport", json_string(s->mount.transport));
	add_number(line, "windows_ms", s->elapsed_ns / 1000000);
	add_cause(s, o, line);
	add_note(s, bytes, line);
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	struct storage s = {
		.fd = -1,
		.path = option_text(o, "path", ""),
		.size = option_size(o, "size", 1u << 20),
		.depth = (unsigned int)option_number(o, "depth", DEPTH),
	};
	int r;

	if (s.size == 0 || s.size % ALIGN || s.size > SIZE_MOST)
		return err_set(err, -EINVAL,
			       "--size: %" PRIu64 " is not a multiple of 4K up to 64M, as direct "
			       "reads require",
			       s.size);
	s.per_window = WINDOW_BYTES / s.size;
	if (s.per_window < 2 * s.depth)
		s.per_window = 2 * s.depth;
	r = check_mounted(o, err);
	if (r == 0)
		r = open_storage(&s, o, err);
	if (r == 0)
		r = measure(&s, option_number(o, "budget", BUDGET_MS) * 1000000u, err);
	if (r == 0)
		report(&s, o, line);
	if (s.fd >= 0)
		close(s.fd);
	return r;
}

const struct benchmark storage_read = {
	.name = "storage_read",
	.summary = "read rate and latency of a file or block device, past this node's page cache",
	.options =
		{{.name = "path",
		  .arg = "PATH",
		  .type = OPTION_TEXT,
		  .required = true,
		  .help = "the data to read: a file of some GiB, or a block device"},
		 {.name = "size",
		  .arg = "SIZE",
		  .type = OPTION_SIZE,
		  .help = "size of a request, a multiple of 4K (1M)"},
		 {.name = "depth",
		  .arg = "N",
		  .type = OPTION_NUMBER,
		  .min = 1,
		  .max = DEPTH_MOST,
		  .help = "number of requests at once (16)"},
		 {.name = "offset",
		  .arg = "BYTES",
		  .type = OPTION_NUMBER,
		  .max = INT64_MAX,
		  .help = "offset of the first request in bytes (derived from boot id and budget)"},
		 {.name = "mount",
		  .arg = "DIR",
		  .type = OPTION_TEXT,
		  .help = "directory that must be a mount point; otherwise the result is not yet"},
		 {.name = "transport",
		  .arg = "WORD",
		  .type = OPTION_TEXT,
		  .help = "required transport to the server; another transport is reported as a "
			  "cause"},
		 {.name = "budget",
		  .arg = "MS",
		  .type = OPTION_NUMBER,
		  .max = 3600000,
		  .help = "time for all windows (1500); slow storage takes twice that"}},
	.run = run,
};
