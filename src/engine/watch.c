/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "sys/clock.h"
#include "sys/read.h"
#include "sys/state.h"

#define DEV "/sys/bus/pci/devices/"
#define FILE_OF "device-" /* of a function; udev reads the name of the unit's instance from it */
#define FILE_OF_VF "vf-"
#define FILE_OF_FLAPPING "flapping-" /* udev ignores it */

enum {
	FLAPS = 5, /* returns in FLAP_US: reloading or replacing a driver takes one or two */
};

#define FLAP_US (10 * 60 * 1000000ULL)

/* --- what sysfs shows ------------------------------------------------------------------- */

/* The inode number of a directory, or of the link itself; 0: absent. */
static uint64_t inode(const struct root *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static uint64_t inode(const struct root *root, const char *fmt, ...)
{
	char path[256];
	struct stat st;
	va_list ap;
	int fd, r;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	fd = root_open_path(root, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	r = fstat(fd, &st);
	close(fd);
	return r < 0 ? 0 : st.st_ino;
}

/* The devices of a function are links, so the number is that of the link's target. */
static uint64_t inode_of_device(const struct root *root, const char *addr)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), DEV "%s", addr);
	return root_stat(root, &st, path) < 0 ? 0 : st.st_ino;
}

static void read_vf(const struct root *root, const char *pf, unsigned int index,
		    struct watched_vf *ret)
{
	cleanup_free char *addr = NULL, *driver = NULL;

	memset(ret, 0, sizeof(*ret));
	ret->index = index;
	if (read_link_name(root, &addr, NULL, DEV "%s/virtfn%u", pf, index) < 0)
		return;
	snprintf(ret->addr, sizeof(ret->addr), "%s", addr);
	ret->dir = inode_of_device(root, addr);
	ret->binding = inode(root, DEV "%s/driver", addr);
	if (read_link_name(root, &driver, NULL, DEV "%s/driver", addr) == 0)
		snprintf(ret->driver, sizeof(ret->driver), "%s", driver);
}

static void read_vfs(const struct root *root, struct watched *w)
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, DEV "%s", w->addr);
	for (size_t i = 0; i < names.n; i++) {
		struct watched_vf vf;
		unsigned int index;

		if (sscanf(names.v[i], "virtfn%u", &index) != 1)
			continue;
		read_vf(root, w->addr, index, &vf);
		if (vf.dir)
			vec_push(&w->vf, vf);
	}
}

/* Reads all devices of the class that are visible from here: see function_has(). */
static void read_class(const struct root *root, const char *addr, const char *class,
		       struct inodes *ret)
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, DEV "%s/%s", addr, class);
	for (size_t i = 0; i < names.n; i++) {
		uint64_t number = inode(root, DEV "%s/%s/%s", addr, class, names.v[i]);

		if (number)
			vec_push(ret, number);
	}
}

static void forget_what_it_was(struct watched *w)
{
	vec_free(&w->net);
	vec_free(&w->ibdevs);
	vec_free(&w->vf);
}

static void read_function(const struct root *root, struct watched *w)
{
	forget_what_it_was(w);
	w->dir = inode_of_device(root, w->addr);
	w->binding = inode(root, DEV "%s/driver", w->addr);
	read_class(root, w->addr, "net", &w->net);
	read_class(root, w->addr, "infiniband", &w->ibdevs);
	read_vfs(root, w);
}

/* --- the files ---------------------------------------------------------------------------- */

/* The first line is for udev's IMPORT{file}; udev ignores lines that begin with #. */
static char *render(const struct watched *w)
{
	struct str text = {0};

	str_addf(&text, ".RAILHEAD_DEVICE=%s\n#dir %llu\n#binding %llu\n", w->addr,
		 (unsigned long long)w->dir, (unsigned long long)w->binding);
	for (size_t i = 0; i < w->net.n; i++)
		str_addf(&text, "#net %llu\n", (unsigned long long)w->net.v[i]);
	for (size_t i = 0; i < w->ibdevs.n; i++)
		str_addf(&text, "#infiniband %llu\n", (unsigned long long)w->ibdevs.v[i]);
	for (size_t i = 0; i < w->vf.n; i++)
		str_addf(&text, "#vf %u %s %llu %llu %s\n", w->vf.v[i].index, w->vf.v[i].addr,
			 (unsigned long long)w->vf.v[i].dir, (unsigned long long)w->vf.v[i].binding,
			 w->vf.v[i].driver);
	for (size_t i = 0; i < w->returned.n; i++)
		str_addf(&text, "#returned %llu\n", (unsigned long long)w->returned.v[i]);
	if (w->lost_at)
		str_addf(&text, "#lost %llu %s\n", (unsigned long long)w->lost_at, w->why);
	return str_take(&text);
}

static void parse_line(const char *line, struct watched *w)
{
	struct watched_vf vf = {0};
	unsigned long long a = 0, b = 0;
	int at = 0;

	if (sscanf(line, "#dir %llu", &a) == 1) {
		w->dir = a;
	} else if (sscanf(line, "#binding %llu", &a) == 1) {
		w->binding = a;
	} else if (sscanf(line, "#net %llu", &a) == 1) {
		vec_push(&w->net, (uint64_t)a);
	} else if (sscanf(line, "#infiniband %llu", &a) == 1) {
		vec_push(&w->ibdevs, (uint64_t)a);
	} else if (sscanf(line, "#vf %u %19s %llu %llu %31s", &vf.index, vf.addr, &a, &b,
			  vf.driver) >= 4) {
		vf.dir = a;
		vf.binding = b;
		vec_push(&w->vf, vf);
	} else if (sscanf(line, "#returned %llu", &a) == 1) {
		vec_push(&w->returned, (uint64_t)a);
	} else if (sscanf(line, "#lost %llu %n", &a, &at) == 1 && at) {
		w->lost_at = a;
		snprintf(w->why, sizeof(w->why), "%s", line + at);
	}
}

static void load_one(const struct root *root, const char *file, const char *prefix,
		     struct watch *watch)
{
	cleanup_free char *text = NULL;
	struct watched w = {0};
	char *rest, *line;

	if (!str_starts(file, prefix) || state_read(root, file, &text, NULL) < 0)
		return;
	snprintf(w.addr, sizeof(w.addr), "%s", file + strlen(prefix));
	w.flapping = streq(prefix, FILE_OF_FLAPPING);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		parse_line(line, &w);
	vec_push(&watch->list, w);
}

void watch_load(const struct root *root, struct watch *ret)
{
	cleanup_strv struct strv files = {0};

	memset(ret, 0, sizeof(*ret));
	read_dir(root, &files, NULL, STATE_DIR);
	for (size_t i = 0; i < files.n; i++) {
		load_one(root, files.v[i], FILE_OF, ret);
		load_one(root, files.v[i], FILE_OF_FLAPPING, ret);
	}
}

static void free_one(struct watched *w)
{
	forget_what_it_was(w);
	vec_free(&w->returned);
}

void watch_free(struct watch *watch)
{
	for (size_t i = 0; i < watch->list.n; i++)
		free_one(&watch->list.v[i]);
	vec_free(&watch->list);
}

static int store(const struct root *root, const struct watched *w, struct err *err)
{
	cleanup_free char *text = render(w);
	cleanup_free char *name =
		xasprintf("%s%s", w->flapping ? FILE_OF_FLAPPING : FILE_OF, w->addr);
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->vf.n && !w->lost_at; i++) {
		cleanup_free char *vf = xasprintf(FILE_OF_VF "%s", w->vf.v[i].addr);
		cleanup_free char *line = xasprintf(".RAILHEAD_DEVICE=%s\n", w->addr);

		r = state_write(root, vf, line, err);
	}
	return r < 0 ? r : state_write(root, name, text, err);
}

static void remove_vf_files(const struct root *root, const struct watched *w)
{
	for (size_t i = 0; i < w->vf.n; i++) {
		cleanup_free char *name = xasprintf(FILE_OF_VF "%s", w->vf.v[i].addr);

		state_remove(root, name, NULL);
	}
}

int watch_store_lost(const struct root *root, struct watched *w, struct err *err)
{
	remove_vf_files(root,
			w); /* so that the removal of 128 VFs does not start this unit again */
	if (w->flapping) {
		cleanup_free char *name = xasprintf(FILE_OF "%s", w->addr);

		state_remove(root, name, NULL);
	}
	return store(root, w, err);
}

int watch_store_back(const struct root *root, struct watched *w, struct err *err)
{
	uint64_t now = clock_usec();
	size_t kept = 0;

	remove_vf_files(root, w);
	read_function(root, w);
	for (size_t i = 0; i < w->returned.n; i++)
		if (now - w->returned.v[i] < FLAP_US)
			w->returned.v[kept++] = w->returned.v[i];
	w->returned.n = kept;
	vec_push(&w->returned, now);
	w->lost_at = 0;
	w->state = WATCHED_FINE;
	return store(root, w, err);
}

int watch_store_gained(const struct root *root, struct watched *w, struct err *err)
{
	read_function(root, w);
	return store(root, w, err);
}

void watch_end(const struct root *root)
{
	cleanup_strv struct strv files = {0};

	read_dir(root, &files, NULL, STATE_DIR);
	for (size_t i = 0; i < files.n; i++)
		if (str_starts(files.v[i], FILE_OF) || str_starts(files.v[i], FILE_OF_VF) ||
		    str_starts(files.v[i], FILE_OF_FLAPPING))
			state_remove(root, files.v[i], NULL);
}

int watch_begin(const struct run *run, struct err *err)
{
	int r = 0;

	watch_end(run->root);
	for (size_t s = 0; s < run->sets.set.n; s++) {
		const struct device_set *set = &run->sets.set.v[s];

		for (size_t i = 0; r == 0 && !set->sel->protect && i < set->fn.n; i++) {
			struct watched w = {0};

			snprintf(w.addr, sizeof(w.addr), "%s", set->fn.v[i]->addr);
			read_function(run->root, &w);
			r = store(run->root, &w, err);
			free_one(&w);
		}
	}
	return r;
}

struct watched *watch_find(struct watch *watch, const char *addr)
{
	for (size_t i = 0; i < watch->list.n; i++) {
		struct watched *w = &watch->list.v[i];

		if (streq(w->addr, addr))
			return w;
		for (size_t j = 0; j < w->vf.n; j++)
			if (streq(w->vf.v[j].addr, addr))
				return w;
	}
	return NULL;
}

/* --- what was lost --------------------------------------------------------------------------- */

/* Keeps the first loss, which is the gravest, because later looks may find another. */
static void lose(struct watched *w, bool *found, const char *why)
{
	if (*found)
		return;
	*found = true;
	if (!w->lost_at)
		w->lost_at = clock_usec();
	snprintf(w->why, sizeof(w->why), "%s", why);
}

static bool includes(const struct inodes *all, const struct inodes *some)
{
	for (size_t i = 0; i < some->n; i++) {
		bool found = false;

		for (size_t j = 0; j < all->n; j++)
			found |= all->v[j] == some->v[i];
		if (!found)
			return false;
	}
	return true;
}

/*
 * A device that was moved to a container's namespace cannot be seen from here, and is not lost. A
 * device that joins the earlier ones, or is the first, as its driver came after the verdict,
 * takes nothing away either: the verdict did not need it.
 */
static bool lost_device(const struct root *root, const char *addr, const char *class,
			const struct inodes *before, const struct inodes *now)
{
	if (before->n && !function_has(root, addr, class))
		return true;
	return !includes(now, before) && !includes(before, now);
}

static void look_at_class(const struct root *root, struct watched *w, const struct watched *now,
			  bool *found)
{
	if (lost_device(root, w->addr, "net", &w->net, &now->net))
		lose(w, found, "its netdev went away or was made again");
	if (lost_device(root, w->addr, "infiniband", &w->ibdevs, &now->ibdevs))
		lose(w, found, "its RDMA device went away or was made again");
}

static bool has_more(const struct watched *now, const struct watched *w)
{
	return (!w->binding && now->binding) || !includes(&w->net, &now->net) ||
	       !includes(&w->ibdevs, &now->ibdevs);
}

static const struct watched_vf *find_vf(const struct watched *w, unsigned int index)
{
	for (size_t i = 0; i < w->vf.n; i++)
		if (w->vf.v[i].index == index)
			return &w->vf.v[i];
	return NULL;
}

static void look_at_vfs(struct watched *w, const struct watched *now, bool *found)
{
	for (size_t i = 0; i < w->vf.n; i++) {
		struct watched_vf *vf = &w->vf.v[i];
		const struct watched_vf *is = find_vf(now, vf->index);

		if (!is || is->dir != vf->dir) {
			vf->lost = true;
			lose(w, found, "its VFs went away or were made again");
		} else if (streq(is->driver, vf->driver) && is->binding != vf->binding) {
			vf->lost = true;
			lose(w, found, "a driver was bound again to its VFs");
		}
	}
}

static enum watched_state state_of(const struct root *root, const struct watched *w,
				   const struct watched *now)
{
	if (!w->lost_at)
		return WATCHED_FINE;
	if (!now->dir || (w->binding && !now->binding))
		return WATCHED_AWAY;
	if ((w->net.n && !function_named(root, w->addr)) ||
	    (w->ibdevs.n && !function_has(root, w->addr, "infiniband")))
		return WATCHED_COMING;
	return WATCHED_BACK;
}

static void look_at(const struct root *root, struct watched *w)
{
	struct watched now = {0};
	bool found = false;

	snprintf(now.addr, sizeof(now.addr), "%s", w->addr);
	read_function(root, &now);
	if (!now.dir)
		lose(w, &found, "it is gone from the bus");
	else if (w->dir != now.dir)
		lose(w, &found, "it was gone from the bus");
	else if (w->binding && !now.binding)
		lose(w, &found, "it has no driver");
	else if (w->binding && w->binding != now.binding)
		lose(w, &found, "its driver was bound again");
	look_at_class(root, w, &now, &found);
	look_at_vfs(w, &now, &found);
	w->gained = !found && !w->lost_at && has_more(&now, w);
	w->state = state_of(root, w, &now);
	free_one(&now);
}

void watch_look(const struct root *root, struct watch *watch)
{
	for (size_t i = 0; i < watch->list.n; i++)
		look_at(root, &watch->list.v[i]);
}

size_t watch_lost(const struct watch *watch)
{
	size_t n = 0;

	for (size_t i = 0; i < watch->list.n; i++)
		n += watch->list.v[i].lost_at != 0;
	return n;
}

bool watch_flaps(const struct watched *w)
{
	uint64_t now = clock_usec();
	size_t n = 0;

	for (size_t i = 0; i < w->returned.n; i++)
		n += now - w->returned.v[i] < FLAP_US;
	return n >= FLAPS;
}

/* --- which changes that concerns ---------------------------------------------------------- */

/* The watched function of a lane, which is the lane of the function or of one of its VFs. */
static const struct watched *owner(const struct watch *watch, const char *lane)
{
	for (size_t i = 0; i < watch->list.n; i++) {
		size_t len = strlen(watch->list.v[i].addr);

		if (strncmp(lane, watch->list.v[i].addr, len) == 0 &&
		    (!lane[len] || lane[len] == '/'))
			return &watch->list.v[i];
	}
	return NULL;
}

bool watch_spares(const struct watch *watch, const struct change *c)
{
	const struct watched *w = owner(watch, c->lane);
	const struct watched_vf *vf;
	unsigned int index;

	if (!w || sscanf(c->lane + strlen(w->addr), "/vf%u", &index) != 1)
		return false;
	vf = find_vf(w, index);
	return vf && !vf->lost;
}

static bool is_not_spared(const struct change *c, const void *watch)
{
	return !watch_spares(watch, c);
}

void watch_spare(const struct watch *watch, struct plan *plan)
{
	plan_filter(plan, is_not_spared, watch);
}

/* Directories in which the kernel has entries for each netdev, or for devices in general. */
static bool is_of_devices(const struct change *c)
{
	static const char *const places[] = {
		"/sys/",
		"/proc/sys/net/ipv4/conf/",
		"/proc/sys/net/ipv4/neigh/",
		"/proc/sys/net/ipv6/conf/",
		"/proc/sys/net/ipv6/neigh/",
		"/proc/sys/net/mpls/conf/",
	};

	for (size_t i = 0; i < array_len(places); i++)
		if (str_starts(c->target, places[i]))
			return true;
	return false;
}

static bool is_of_back(const struct change *c, const void *arg)
{
	const struct watch *watch = arg;
	const struct watched *w = owner(watch, c->lane);

	if (c->late)
		return is_of_devices(c);
	return w && w->state == WATCHED_BACK && !w->tried && c->stage == STAGE_DEVICES &&
	       !watch_spares(watch, c);
}

void watch_keep_back(const struct watch *watch, struct plan *plan)
{
	plan_filter(plan, is_of_back, watch);
}
