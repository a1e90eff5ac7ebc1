/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/capability.h"
#include "base/mem.h"
#include "base/units.h"
#include "sys/read.h"
#include "sys/trust.h"

/* --- users --------------------------------------------------------------------------- */

/* One line of passwd(5): NAME:PASSWORD:UID:GID:... */
static bool parse_user(char *line, const char *name, struct privileges *ret)
{
	char *rest = line, *field[4];
	uint64_t uid, gid;

	for (size_t i = 0; i < array_len(field); i++) {
		field[i] = strsep(&rest, ":");
		if (!field[i])
			return false;
	}
	if (!streq(field[0], name) || parse_u64(field[2], &uid) < 0 ||
	    parse_u64(field[3], &gid) < 0 || uid >= UINT32_MAX || gid >= UINT32_MAX)
		return false;
	ret->uid = (uid_t)uid;
	ret->gid = (gid_t)gid;
	return true;
}

int privileges_user(const struct root *root, const char *name, struct privileges *ret,
		    struct err *err)
{
	cleanup_free char *text = NULL;
	int r = read_text(root, &text, err, "/etc/passwd");
	char *rest = text, *line;

	if (r < 0)
		return r;
	while ((line = strsep(&rest, "\n")))
		if (parse_user(line, name, ret))
			return 0;
	return err_set(err, -ENOENT,
		       "/etc/passwd has no user %s (those of a directory service are not known "
		       "before the network is up)",
		       name);
}

/* --- capabilities -------------------------------------------------------------------- */

int privileges_add(struct privileges *p, const char *capability, struct err *err)
{
	int number = capability_number(capability);

	if (number < 0)
		return err_set(err, -EINVAL, "%s: not a capability (capabilities(7))", capability);
	if (prctl(PR_CAPBSET_READ, number, 0, 0, 0) < 0)
		return err_set(err, -EINVAL, "%s: this kernel lacks the capability", capability);
	p->capabilities |= CAPABILITY(number);
	return 0;
}

/*
 * EPERM: a seccomp filter, which lets the program use no key either. ENOSYS: the kernel has no
 * keys.
 */
static int leave_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != EPERM &&
	    errno != ENOSYS)
		return -errno;
	return 0;
}

int privileges_take(const struct privileges *p, const char **what)
{
	int r;

	*what = "give it capabilities that the gate itself lacks (CapabilityBoundingSet= of its "
		"unit)";
	if (p->capabilities & ~capabilities_permitted())
		return -EPERM;
	*what = "drop capabilities";
	r = capabilities_bound(p->capabilities);
	if (r < 0)
		return r;
	*what = "change the user";
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(p->gid, p->gid, p->gid) < 0 || setresuid(p->uid, p->uid, p->uid) < 0)
		return -errno;
	/* Until execve(), memory is the gate's; fs.suid_dumpable may let the user read it. */
	*what = "protect memory";
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	*what = "leave the session keyring";
	r = leave_keyring();
	if (r < 0)
		return r;
	*what = "keep capabilities";
	r = capabilities_keep(p->capabilities);
	if (r < 0)
		return r;
	*what = "reject the privileges of set-user-ID programs";
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

/* --- programs and their arguments ----------------------------------------------------- */

int privileges_program(const struct root *root, const char *path, struct err *err)
{
	cleanup_close int fd = -1;
	struct stat st;

	if (path[0] != '/')
		return err_set(err, -EINVAL, "%s: write the program's absolute path", path);
	fd = trust_open(root, TRUST_ROOT, path, O_PATH, err);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & S_IXUSR))
		return err_set(err, -EACCES, "%s is not executable: run chmod +x %s", path, path);
	return 0;
}
