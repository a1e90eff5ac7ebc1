/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel left in its log: Xids of NVIDIA's driver in records of /dev/kmsg. */
#include "fuzz.h"

#include <errno.h>

#include "base/mem.h"
#include "checks/xid.h"

static void xids(const struct kernel_log *log, const struct cpus *fatal)
{
	struct xids found = {0};
	const char *text;
	size_t kinds = 0;

	xid_find(log, "0000:41:00.0", fatal, &found);
	text = str_get(&found.text);
	for (const char *p = text; (p = strstr(p, "Xid ")); p++)
		kinds++;
	must(found.faults <= XID_MAX + 1 && found.faults <= kinds);
	must(found.faults + found.harmless <= log->records.n);
	must((found.faults == 0) == (found.text.len == 0));
	must((found.faults == 0) == (found.gravest == FAULT_NONE));
	must((found.faults == 0) == (found.first_fault == UINT64_MAX));
	must(!strchr(text, '\n'));
	str_free(&found.text);
}

static void read_log(const struct root *root, bool is_text)
{
	struct kernel_log *log = kernel_log_new(root, XID_BEGIN);
	struct cpus fatal = {0};
	int r = kernel_log_read(log, NULL);

	must(r == 0 || (r == -ENODATA && log->empty && !log->records.n) ||
	     (r == -EBADMSG && !is_text));
	for (size_t i = 0; i < log->records.n; i++)
		must(str_starts(log->records.v[i].text, XID_BEGIN));
	xids(log, NULL);
	cpus_add(&fatal, 13);
	xids(log, &fatal);
	kernel_log_free(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		must(root_init(&root, dir, NULL) == 0);
	}
	fuzz_put(root.path, "dev/kmsg", data, size);
	read_log(&root, size < 16384 && (!size || !memchr(data, 0, size)));
	return 0;
}
