/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The FUSE requests. A file of /sys or /proc is an attribute: what is read is what attr.c
 * says when the read begins at 0, each write is a store of its own wherever it begins
 * (fs/sysfs/file.c), and truncating does nothing. Every other file is the tree's own.
 *
 * An inode is an O_PATH descriptor into the tree, as the kernel's own: it stays what it was
 * when its name goes away. Attributes with rules get a new inode at each look-up, because
 * Linux holds the lock of an inode while it writes, and sysfs does not: without that, two
 * writes to drivers_probe could never run side by side.
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "simnode.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/str.h"

#define PROC_FD_MAX 32

struct inode {
	struct inode *next; /* in its bucket */
	uint64_t lookups;   /* what the kernel holds of it; it forgets them at the end */
	int fd;		    /* O_PATH */
	dev_t dev;
	ino_t ino;
	bool shared; /* the next look-up gives this one again */
	char *path;  /* when it was looked up: right for ever below /sys and /proc */
	char *name;  /* attr_name() of it */
	const struct attr *attr;
};

/* An open file. */
struct handle {
	int fd;		      /* of a file of the tree; -1: an attribute */
	pthread_mutex_t lock; /* reads and writes one by one, as fs/kernfs/file.c has them */
	char *text;	      /* what the read at 0 gave; the ones behind it go on from there */
};

struct entry {
	char *name;
	struct stat st; /* number and type */
};

/* An open directory: its names at that moment. */
struct dir {
	VEC(struct entry) entries;
};

_Thread_local pid_t sim_caller;

static struct inode top;
static struct inode *buckets[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* buckets, lookups */

/* --- inodes --------------------------------------------------------------------------------- */

static struct inode *inode_of(fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? &top : (struct inode *)(uintptr_t)ino;
}

static struct inode **bucket_of(ino_t ino)
{
	return &buckets[ino % array_len(buckets)];
}

/* By its path too: a netdev's directory has another one once udev has renamed it. */
static struct inode *find_shared(const struct stat *st, const char *path)
{
	struct inode *i = *bucket_of(st->st_ino);

	while (i && (!i->shared || i->ino != st->st_ino || i->dev != st->st_dev ||
		     !streq(i->path, path)))
		i = i->next;
	return i;
}

static struct inode *new_inode(int fd, const struct stat *st, char *path)
{
	struct inode *i = xnew(struct inode);

	i->fd = fd;
	i->dev = st->st_dev;
	i->ino = st->st_ino;
	i->path = path;
	i->name = attr_name(path);
	i->attr = S_ISREG(st->st_mode) ? attr_find(i->name) : NULL;
	return i;
}

static void free_inode(struct inode *i)
{
	close(i->fd);
	free(i->path);
	free(i->name);
	free(i);
}

/* Takes fd. */
static struct inode *get_inode(int fd, const struct stat *st, const struct inode *parent,
			       const char *name)
{
	char *path = xasprintf("%s/%s", parent == &top ? "" : parent->path, name);
	struct inode *fresh = new_inode(fd, st, path), *i = NULL;

	fresh->shared = !fresh->attr || !(fresh->attr->flags & ATTR_LONG);
	pthread_mutex_lock(&lock);
	if (fresh->shared)
		i = find_shared(st, path);
	if (!i) {
		i = take_ptr(fresh);
		i->next = *bucket_of(st->st_ino);
		*bucket_of(st->st_ino) = i;
	}
	i->lookups++;
	pthread_mutex_unlock(&lock);
	if (fresh)
		free_inode(fresh);
	return i;
}

static void forget(struct inode *i, uint64_t lookups)
{
	struct inode **at;
	bool last;

	if (i == &top)
		return;
	pthread_mutex_lock(&lock);
	i->lookups -= lookups;
	last = !i->lookups;
	if (last) {
		for (at = bucket_of(i->ino); *at != i; at = &(*at)->next)
			;
		*at = i->next;
	}
	pthread_mutex_unlock(&lock);
	if (last)
		free_inode(i);
}

int fs_start(struct err *err)
{
	struct stat st;

	top.fd = tree_fd;
	top.path = xstrdup("/");
	top.name = xstrdup("/");
	if (fstat(tree_fd, &st) < 0)
		return err_errno(err, -errno, "the tree");
	top.dev = st.st_dev;
	top.ino = st.st_ino;
	return 0;
}

/* What the kernel still held when the mount ended. */
void fs_stop(void)
{
	for (size_t b = 0; b < array_len(buckets); b++)
		while (buckets[b]) {
			struct inode *i = buckets[b];

			buckets[b] = i->next;
			free_inode(i);
		}
	free(top.path);
	free(top.name);
}

static bool of_kernel(const char *path)
{
	return str_starts(path, "/sys/") || str_starts(path, "/proc/") || streq(path, "/sys") ||
	       streq(path, "/proc");
}

/* A path by which the inode can be opened, or changed where no call takes an O_PATH fd. */
static void proc_path(const struct inode *i, char ret[PROC_FD_MAX])
{
	snprintf(ret, PROC_FD_MAX, "/proc/self/fd/%d", i->fd);
}

/* --- looking -------------------------------------------------------------------------------- */

static int stat_inode(const struct inode *i, struct stat *st)
{
	if (fstatat(i->fd, "", st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (i->attr) {
		st->st_mode = S_IFREG | i->attr->mode;
		if (!(i->attr->flags & ATTR_BYTES))
			st->st_size = str_starts(i->path, "/proc/") ? 0 : ATTR_MAX;
	}
	return 0;
}

/*
 * Directories and links that stay as long as the mount, whatever comes and goes in them; and
 * those of PCI functions, which fs_gone() is told of. Most of a run's requests look them up.
 */
static bool stays(const char *path)
{
	static const char *const patterns[] = {
		"/sys",
		"/sys/bus",
		"/sys/bus/pci",
		"/sys/bus/pci/d*s",
		"/sys/bus/pci/devices/*",
		"/sys/class",
		"/sys/devices",
		"/sys/devices/pci*",
		"/run",
		"/run/udev",
		"/proc",
		"/proc/sys",
	};

	for (size_t i = 0; i < array_len(patterns); i++)
		if (fnmatch(patterns[i], path, FNM_PATHNAME) == 0)
			return true;
	/* at any depth, behind bridges */
	return fnmatch("/sys/devices/pci*/????:??:??.?", path, 0) == 0;
}

static int look_up(const struct inode *parent, const char *name, struct fuse_entry_param *ret)
{
	struct inode *i;
	struct stat st;
	int fd = openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstatat(fd, "", &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0) {
		close(fd);
		return -EIO;
	}
	i = get_inode(fd, &st, parent, name);
	memset(ret, 0, sizeof(*ret));
	ret->ino = (uintptr_t)i;
	/* Nothing else may be cached: names come and go by themselves. */
	if (!S_ISREG(st.st_mode) && stays(i->path))
		ret->entry_timeout = 3600;
	return stat_inode(i, &ret->attr);
}

void fs_gone(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	cleanup_free char *parent = xstrndup(path, (size_t)(name - 1 - path));
	struct inode *i;
	struct stat st;

	if (fstatat(tree_fd, parent + 1, &st, 0) < 0)
		return;
	pthread_mutex_lock(&lock);
	i = find_shared(&st, parent);
	if (i)
		i->lookups++; /* it stays while it is used here */
	pthread_mutex_unlock(&lock);
	if (!i)
		return;
	fuse_lowlevel_notify_inval_entry(sim_session, (uintptr_t)i, name, strlen(name));
	forget(i, 1);
}

static void reply_entry(fuse_req_t req, const struct inode *parent, const char *name)
{
	struct fuse_entry_param e;
	int r = look_up(parent, name, &e);

	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_entry(req, &e);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	reply_entry(req, inode_of(parent), name);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	forget(inode_of(ino), lookups);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < n; i++)
		forget(inode_of(forgets[i].ino), forgets[i].nlookup);
	fuse_reply_none(req);
}

static void reply_attr(fuse_req_t req, const struct inode *i)
{
	struct stat st;
	int r = stat_inode(i, &st);

	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_attr(req, &st, 0);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	reply_attr(req, inode_of(ino));
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char buf[4096];
	ssize_t n = readlinkat(inode_of(ino)->fd, "", buf, sizeof(buf) - 1);

	if (n < 0) {
		fuse_reply_err(req, errno);
		return;
	}
	buf[n] = '\0';
	fuse_reply_readlink(req, buf);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st;

	(void)ino;
	if (fstatvfs(tree_fd, &st) < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_statfs(req, &st);
}

/* --- directories ---------------------------------------------------------------------------- */

static void free_dir(struct dir *d)
{
	for (size_t i = 0; i < d->entries.n; i++)
		free(d->entries.v[i].name);
	vec_free(&d->entries);
	free(d);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	int fd = openat(inode_of(ino)->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream cleanup(cleanup_closedirp) = fd >= 0 ? fdopendir(fd) : NULL;
	struct dir *d;
	struct dirent *e;

	if (!stream) {
		fuse_reply_err(req, errno);
		return;
	}
	d = xnew(struct dir);
	while ((e = readdir(stream))) {
		struct entry entry = {.name = xstrdup(e->d_name)};

		entry.st.st_ino = e->d_ino;
		entry.st.st_mode = DTTOIF(e->d_type);
		vec_push(&d->entries, entry);
	}
	fi->fh = (uintptr_t)d;
	if (fuse_reply_open(req, fi) < 0)
		free_dir(d);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	const struct dir *d = (const struct dir *)(uintptr_t)fi->fh;
	cleanup_free char *buf = xcalloc(1, size);
	size_t used = 0;

	(void)ino;
	for (size_t i = (size_t)off; i < d->entries.n; i++) {
		const struct entry *e = &d->entries.v[i];
		size_t n = fuse_add_direntry(req, buf + used, size - used, e->name, &e->st,
					     (off_t)i + 1);

		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	free_dir((struct dir *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino;
	(void)datasync;
	(void)fi;
	fuse_reply_err(req, 0);
}

/* --- names: only where the kernel has no say -------------------------------------------------- */

static bool may_not(fuse_req_t req, const struct inode *parent, const char *name, int error)
{
	cleanup_free char *path = xasprintf("%s/%s", parent == &top ? "" : parent->path, name);

	if (!of_kernel(path))
		return false;
	fuse_reply_err(req, error);
	return true;
}

static void reply_result(fuse_req_t req, int r)
{
	fuse_reply_err(req, r < 0 ? errno : 0);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	const struct inode *dir = inode_of(parent);

	if (may_not(req, dir, name, EPERM))
		return;
	if (mkdirat(dir->fd, name, mode) < 0)
		fuse_reply_err(req, errno);
	else
		reply_entry(req, dir, name);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	const struct inode *dir = inode_of(parent);

	if (may_not(req, dir, name, EPERM))
		return;
	if (symlinkat(target, dir->fd, name) < 0)
		fuse_reply_err(req, errno);
	else
		reply_entry(req, dir, name);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	if (!may_not(req, inode_of(parent), name, EPERM))
		reply_result(req, unlinkat(inode_of(parent)->fd, name, 0));
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	if (!may_not(req, inode_of(parent), name, EPERM))
		reply_result(req, unlinkat(inode_of(parent)->fd, name, AT_REMOVEDIR));
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
		      const char *newname, unsigned int flags)
{
	const struct inode *from = inode_of(parent), *to = inode_of(newparent);

	if (!may_not(req, from, name, EPERM) && !may_not(req, to, newname, EPERM))
		reply_result(req, renameat2(from->fd, name, to->fd, newname, flags));
}

/* --- files ---------------------------------------------------------------------------------- */

static bool is_text(const struct inode *i)
{
	return i->attr && !(i->attr->flags & ATTR_BYTES);
}

static bool writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

static int may_open(const struct inode *i, int flags)
{
	/* Root too: sysfs and sysctl look at the mode by themselves. */
	if (i->attr && ((writes(flags) && !(i->attr->mode & 0222)) ||
			((flags & O_ACCMODE) != O_WRONLY && !(i->attr->mode & 0444))))
		return -EACCES;
	if (!writes(flags))
		return 0;
	log_event("open %s", i->name);
	return script_meet(OP_OPEN, i->name, NULL, NULL);
}

static void free_handle(struct handle *h)
{
	if (h->fd >= 0)
		close(h->fd);
	pthread_mutex_destroy(&h->lock);
	free(h->text);
	free(h);
}

static struct handle *new_handle(int fd)
{
	struct handle *h = xnew(struct handle);

	h->fd = fd;
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	const struct inode *i = inode_of(ino);
	int r = may_open(i, fi->flags), fd = -1;
	char path[PROC_FD_MAX];
	struct handle *h;

	if (r == 0 && !is_text(i)) {
		proc_path(i, path);
		/* O_DIRECT is between the reader and us: our buffers are not aligned for it */
		fd = open(path, (fi->flags & ~(O_NOFOLLOW | O_DIRECT)) | O_CLOEXEC);
		r = fd < 0 ? -errno : 0;
	}
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	h = new_handle(fd);
	fi->fh = (uintptr_t)h;
	fi->direct_io = i->attr != NULL; /* a request of ours for each read and write */
	if (fuse_reply_open(req, fi) < 0)
		free_handle(h);
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	const struct inode *dir = inode_of(parent);
	struct fuse_entry_param e;
	struct handle *h;
	int fd, r;

	/* A directory of sysfs or procfs has no way to make a file (fs/namei.c). */
	if (may_not(req, dir, name, EACCES))
		return;
	fd = openat(dir->fd, name, (fi->flags | O_CREAT | O_CLOEXEC) & ~O_NOFOLLOW, mode);
	r = fd < 0 ? -errno : look_up(dir, name, &e);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		fuse_reply_err(req, -r);
		return;
	}
	log_event("open %s", inode_of(e.ino)->name);
	h = new_handle(fd);
	fi->fh = (uintptr_t)h;
	if (fuse_reply_create(req, &e, fi) < 0)
		free_handle(h);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	free_handle(handle_of(fi));
	fuse_reply_err(req, 0);
}

static void read_data(fuse_req_t req, const struct inode *i, const struct handle *h, size_t size,
		      off_t off)
{
	int r = script_meet(OP_READ, i->name, NULL, NULL);
	cleanup_free char *buf = xcalloc(1, size);
	ssize_t n = r < 0 ? r : pread(h->fd, buf, size, off);

	if (n < 0)
		fuse_reply_err(req, r < 0 ? -r : errno);
	else
		fuse_reply_buf(req, buf, (size_t)n);
}

/* The part of an attribute's text that a read asks for; 0 or a negative errno. */
static int text_part(const struct inode *i, struct handle *h, size_t size, off_t off, char **ret)
{
	size_t len;
	int r = 0;

	pthread_mutex_lock(&h->lock);
	if (off == 0) {
		free(h->text);
		h->text = NULL;
		r = attr_read(i->attr, i->name, &h->text);
	}
	len = h->text ? strlen(h->text) : 0;
	*ret = xstrndup((size_t)off < len ? h->text + off : "", size);
	pthread_mutex_unlock(&h->lock);
	return r;
}

/* Whoever has the answer may close the file: no use of the handle behind it. */
static void read_text(fuse_req_t req, const struct inode *i, struct handle *h, size_t size,
		      off_t off)
{
	cleanup_free char *part = NULL;
	int r = text_part(i, h, size, off, &part);

	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_buf(req, part, strlen(part));
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	const struct inode *i = inode_of(ino);

	if (is_text(i))
		read_text(req, i, handle_of(fi), size, off);
	else
		read_data(req, i, handle_of(fi), size, off);
}

static void write_text(fuse_req_t req, const struct inode *i, struct handle *h, const char *buf,
		       size_t size)
{
	size_t len = size < ATTR_MAX ? size : ATTR_MAX;
	int r;

	sim_caller = fuse_req_ctx(req)->pid;
	pthread_mutex_lock(&h->lock);
	r = attr_write(i->attr, i->name, buf, len);
	pthread_mutex_unlock(&h->lock);
	sim_caller = 0;
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_write(req, len);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		     struct fuse_file_info *fi)
{
	const struct inode *i = inode_of(ino);
	ssize_t n;

	if (is_text(i)) {
		write_text(req, i, handle_of(fi), buf, size);
		return;
	}
	log_event("write %s", i->name);
	n = pwrite(handle_of(fi)->fd, buf, size, off);
	if (n < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_write(req, (size_t)n);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino;
	(void)datasync;
	(void)fi;
	fuse_reply_err(req, 0); /* the tree need not outlive a power cut */
}

static int set_attr(const struct inode *i, const struct stat *st, int which)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
	char path[PROC_FD_MAX];

	proc_path(i, path);
	if (which & FUSE_SET_ATTR_MODE && chmod(path, st->st_mode) < 0)
		return -errno;
	if (which & FUSE_SET_ATTR_SIZE && truncate(path, st->st_size) < 0)
		return -errno;
	if (which & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID) &&
	    fchownat(i->fd, "", which & FUSE_SET_ATTR_UID ? st->st_uid : (uid_t)-1,
		     which & FUSE_SET_ATTR_GID ? st->st_gid : (gid_t)-1, AT_EMPTY_PATH) < 0)
		return -errno;
	if (which & FUSE_SET_ATTR_ATIME)
		times[0] = st->st_atim;
	if (which & FUSE_SET_ATTR_MTIME)
		times[1] = st->st_mtim;
	if (which & FUSE_SET_ATTR_ATIME_NOW)
		times[0].tv_nsec = UTIME_NOW;
	if (which & FUSE_SET_ATTR_MTIME_NOW)
		times[1].tv_nsec = UTIME_NOW;
	return utimensat(AT_FDCWD, path, times, 0) < 0 ? -errno : 0;
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int which,
		       struct fuse_file_info *fi)
{
	const struct inode *i = inode_of(ino);
	int r = i->attr ? 0 : set_attr(i, st, which); /* an attribute has no length to cut */

	(void)fi;
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		reply_attr(req, i);
}

/* A link never says another thing: one that does is another inode. */
static void op_init(void *data, struct fuse_conn_info *conn)
{
	(void)data;
	if (conn->capable & FUSE_CAP_CACHE_SYMLINKS)
		conn->want |= FUSE_CAP_CACHE_SYMLINKS;
}

const struct fuse_lowlevel_ops fs_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.statfs = op_statfs,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.releasedir = op_releasedir,
	.fsyncdir = op_fsyncdir,
	.mkdir = op_mkdir,
	.symlink = op_symlink,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.rename = op_rename,
	.open = op_open,
	.create = op_create,
	.release = op_release,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
};
