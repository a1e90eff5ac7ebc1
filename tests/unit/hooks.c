/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hooks.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"

#define PARSERS(X)                      \
	X(parse_u64, uint64_t)          \
	X(parse_size, uint64_t)         \
	X(parse_duration, uint64_t)     \
	X(parse_latency, uint64_t)      \
	X(parse_rate, uint64_t)         \
	X(parse_message_rate, uint64_t) \
	X(parse_gts, uint32_t)          \
	X(cpus_parse, struct cpus)
#define DECLARE(name, type)                          \
	int __real_##name(const char *s, type *ret); \
	int __wrap_##name(const char *s, type *ret);
PARSERS(DECLARE)

int __real_netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret,
			struct err *err);
int __wrap_netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret,
			struct err *err);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

static netlink_kernel kernel;
static nvme_drive drive;
static bool lacks_openat2;

void test_netlink(netlink_kernel instead)
{
	kernel = instead;
}

int __wrap_netlink_talk(int protocol, struct nlmsghdr *msg, struct netlink_answer *ret,
			struct err *err)
{
	if (!kernel)
		return __real_netlink_talk(protocol, msg, ret, err);
	msg->nlmsg_seq = 1;
	return kernel(protocol, msg, ret, err);
}

void test_nvme(nvme_drive instead)
{
	drive = instead;
}

/* Each has one argument. */
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return request == NVME_IOCTL_ADMIN_CMD && drive ? drive(arg)
							: __real_ioctl(fd, request, arg);
}

void test_openat2(bool there)
{
	lacks_openat2 = !there;
}

/* No system call has more than six arguments; what lies beyond those that were given is unused. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long arg[6];
	va_list ap;

	if (number == SYS_openat2 && lacks_openat2) {
		errno = ENOSYS;
		return -1;
	}
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static struct strv *told;

void test_told(struct strv *log)
{
	told = log;
}

/* word may use the function's own arguments. */
#define TELLS(type, name, args, given, word)        \
	type __real_##name args;                    \
	type __wrap_##name args;                    \
	type __wrap_##name args                     \
	{                                           \
		if (!told)                          \
			return __real_##name given; \
		strv_add(told, word);               \
		return (type)0;                     \
	}

TELLS(void, journal_verdict, (const struct root *root, const struct record *r), (root, r),
      r ? "journal" : "")
TELLS(void, journal_admitted, (const struct root *root, const struct record *r, const char *over),
      (root, r, over), over ? "journal: over" : "journal: by hand")
TELLS(void, journal_unreadable, (const struct root *root, const char *sentence), (root, sentence),
      sentence ? "journal: unreadable" : "")
TELLS(int, service_trial_gate_begins,
      (const struct root *root, const char *cmdline, struct err *err), (root, cmdline, err),
      "trial begins")
TELLS(int, service_trial_over,
      (const struct root *root, const char *cmdline, const struct plan *plan, struct err *err),
      (root, cmdline, plan, err), "trial over")
TELLS(int, service_retry, (const struct root *root, bool on, struct err *err), (root, on, err),
      on ? "retry on" : "retry off")
TELLS(int, service_window_over, (const struct root *root, const char *verb, struct err *err),
      (root, verb, err), streq(verb, "admit") ? "hand timer off" : "timer off")

static struct strv parsed;

unsigned int test_parses(const char *text)
{
	unsigned int n = 0;

	for (size_t i = 0; i < parsed.n; i++)
		n += streq(parsed.v[i], text);
	return n;
}

void test_forget_parses(void)
{
	strv_free(&parsed);
}

#define WRAP(name, type)                            \
	int __wrap_##name(const char *s, type *ret) \
	{                                           \
		strv_add(&parsed, s);               \
		return __real_##name(s, ret);       \
	}
PARSERS(WRAP)

static void __attribute__((destructor)) forget(void)
{
	strv_free(&parsed);
}

/* --- files that are overwritten in place --------------------------------------------------------
 */

static overwritten after_overwrite;

void test_overwrites(overwritten call)
{
	after_overwrite = call;
}

int __real_machine_overwrite(int dirfd, const char *name, off_t offset, const void *data,
			     size_t len, struct err *err);
int __wrap_machine_overwrite(int dirfd, const char *name, off_t offset, const void *data,
			     size_t len, struct err *err);
int __wrap_machine_overwrite(int dirfd, const char *name, off_t offset, const void *data,
			     size_t len, struct err *err)
{
	int r = __real_machine_overwrite(dirfd, name, offset, data, len, err);

	if (after_overwrite)
		after_overwrite(dirfd, offset, len);
	return r;
}
