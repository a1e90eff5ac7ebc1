/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/capability.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/*
 * Indexed by number, in the order of linux/capability.h. libcap would add only these names, and a
 * check of a profile would require the library.
 */
static const char *const names[] = {
	"CAP_CHOWN",
	"CAP_DAC_OVERRIDE",
	"CAP_DAC_READ_SEARCH",
	"CAP_FOWNER",
	"CAP_FSETID",
	"CAP_KILL",
	"CAP_SETGID",
	"CAP_SETUID",
	"CAP_SETPCAP",
	"CAP_LINUX_IMMUTABLE",
	"CAP_NET_BIND_SERVICE",
	"CAP_NET_BROADCAST",
	"CAP_NET_ADMIN",
	"CAP_NET_RAW",
	"CAP_IPC_LOCK",
	"CAP_IPC_OWNER",
	"CAP_SYS_MODULE",
	"CAP_SYS_RAWIO",
	"CAP_SYS_CHROOT",
	"CAP_SYS_PTRACE",
	"CAP_SYS_PACCT",
	"CAP_SYS_ADMIN",
	"CAP_SYS_BOOT",
	"CAP_SYS_NICE",
	"CAP_SYS_RESOURCE",
	"CAP_SYS_TIME",
	"CAP_SYS_TTY_CONFIG",
	"CAP_MKNOD",
	"CAP_LEASE",
	"CAP_AUDIT_WRITE",
	"CAP_AUDIT_CONTROL",
	"CAP_SETFCAP",
	"CAP_MAC_OVERRIDE",
	"CAP_MAC_ADMIN",
	"CAP_SYSLOG",
	"CAP_WAKE_ALARM",
	"CAP_BLOCK_SUSPEND",
	"CAP_AUDIT_READ",
	"CAP_PERFMON",
	"CAP_BPF",
	"CAP_CHECKPOINT_RESTORE",
};

int capability_number(const char *name)
{
	return str_index(name, names, array_len(names));
}

static int call_capabilities(int call, struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(call, &header, data) < 0 ? -errno : 0;
}

uint64_t capabilities_permitted(void)
{
	struct __user_cap_data_struct data[2] = {0};

	call_capabilities(SYS_capget, data);
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

int capabilities_bound(uint64_t keep)
{
	for (unsigned long i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if ((i > 63 || !(keep >> i & 1)) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			return -errno;
	return 0;
}

int capabilities_keep(uint64_t keep)
{
	struct __user_cap_data_struct data[2];
	int r;

	for (size_t i = 0; i < array_len(data); i++)
		data[i].effective = data[i].permitted = data[i].inheritable =
			(uint32_t)(keep >> (32 * i));
	r = call_capabilities(SYS_capset, data);
	if (r < 0)
		return r;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (unsigned long i = 0; i < 64; i++)
		if (keep >> i & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) < 0)
			return -errno;
	return 0;
}
