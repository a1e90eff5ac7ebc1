/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/dynamic_user.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "sys/clock.h"
#include "sys/read.h"

enum { COUNT = DYNAMIC_USER_LAST - DYNAMIC_USER_FIRST + 1 };
#define ACCOUNTS_MAX (64u << 20) /* bytes of a password file, with the users of a whole site */

static void mark(bool *taken, const char *number)
{
	uint64_t id;

	if (number && parse_u64(number, &id) == 0 && id >= DYNAMIC_USER_FIRST &&
	    id <= DYNAMIC_USER_LAST)
		taken[id - DYNAMIC_USER_FIRST] = true;
}

/* NAME:PASSWORD:ID:..., in passwd(5) and group(5). */
static int mark_accounts(const struct root *root, bool *taken, const char *path, struct err *err)
{
	cleanup_free char *text = NULL;
	int r = read_file(root, ACCOUNTS_MAX, &text, NULL, err, path);
	char *rest = text, *line;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	while ((line = strsep(&rest, "\n"))) {
		strsep(&line, ":");
		strsep(&line, ":");
		mark(taken, strsep(&line, ":"));
	}
	return 0;
}

/* "Uid:" and the real, effective, saved and file system id, in /proc/PID/status (proc(5)). */
static void mark_process(const struct root *root, bool *taken, const char *pid)
{
	cleanup_free char *text = NULL;
	char *at, *line, *number;

	if (read_text(root, &text, NULL, "proc/%s/status", pid) < 0)
		return; /* it has ended */
	at = strstr(text, "\nUid:");
	line = at ? strtok_r(at + 1, "\n", &at) : NULL;
	while (line && (number = strsep(&line, "\t")))
		mark(taken, number);
}

static int mark_processes(const struct root *root, bool *taken, struct err *err)
{
	struct strv names = {0};
	int r = read_dir(root, &names, err, "proc");

	for (size_t i = 0; i < names.n; i++)
		if (isdigit((unsigned char)names.v[i][0]))
			mark_process(root, taken, names.v[i]);
	strv_free(&names);
	return r;
}

/* systemd removes the file before it unlocks an id: a lock on a removed file is worth nothing. */
static bool lock_id(struct dynamic_user *user)
{
	char name[16];
	struct stat st;

	if (user->dir < 0)
		return true;
	snprintf(name, sizeof(name), "%u", user->id);
	user->lock =
		openat(user->dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	if (user->lock >= 0 && flock(user->lock, LOCK_EX | LOCK_NB) == 0 &&
	    fstat(user->lock, &st) == 0 && st.st_nlink > 0)
		return true;
	if (user->lock >= 0)
		close(user->lock);
	user->lock = -1;
	return false;
}

/* Where the search begins, so that nothing can take the next id in advance. */
static unsigned int random_number(void)
{
	unsigned int number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		number = (unsigned int)clock_usec(); /* the kernel has no random numbers yet */
	return number % COUNT;
}

int dynamic_user_take(const struct root *root, struct dynamic_user *ret, struct err *err)
{
	cleanup_free bool *taken = xcalloc(COUNT, sizeof(*taken));
	unsigned int first = random_number();
	int r = mark_accounts(root, taken, "etc/passwd", err);

	if (r == 0)
		r = mark_accounts(root, taken, "etc/group", err);
	if (r == 0)
		r = mark_processes(root, taken, err);
	if (r < 0)
		return r;
	*ret = (struct dynamic_user){
		.dir = root_open_path(root, "run/systemd/dynamic-uid", O_RDONLY | O_DIRECTORY),
		.lock = -1,
	};
	for (unsigned int i = 0; i < COUNT; i++) {
		unsigned int at = (first + i) % COUNT;

		ret->id = DYNAMIC_USER_FIRST + at;
		if (!taken[at] && lock_id(ret))
			return 0;
	}
	dynamic_user_release(ret);
	return err_set(err, -EAGAIN,
		       "no user id of %u to %u is free: processes, /etc/passwd, /etc/group or "
		       "/run/systemd/dynamic-uid have them all",
		       DYNAMIC_USER_FIRST, DYNAMIC_USER_LAST);
}

void dynamic_user_release(struct dynamic_user *user)
{
	char name[16];

	if (!user->id)
		return;
	snprintf(name, sizeof(name), "%u", user->id);
	if (user->lock >= 0) {
		unlinkat(user->dir, name, 0);
		close(user->lock);
	}
	if (user->dir >= 0)
		close(user->dir);
	*user = (struct dynamic_user){0};
}
