/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of /proc/self/mountinfo, as kernels write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "bench/mounts.h"

static const char mountinfo[] =
	"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro\n"
	"nonsense\n"
	"31 22 0:27 / /mnt/ai\\040data rw,relatime shared:2 - nfs4 server:/export "
	"rw,vers=4.2,rsize=1048576,proto=rdma,port=20049,timeo=600,addr=10.0.0.1\n"
	"32 22 0:28 / /mnt/old rw,relatime - nfs server:/old rw,vers=3,proto=tcp,mountproto=udp\n"
	"33 22 259:1 / /scratch rw shared:3 master:4 - xfs /dev/nvme0n1p1 rw,attr2\n";

static void finds(int id, const char *type, const char *source, const char *transport)
{
	struct mount m;

	assert_true(mounts_find(mountinfo, id, &m));
	assert_string_equal(m.type, type);
	assert_string_equal(m.source, source);
	assert_string_equal(m.transport, transport);
}

static void test_find(void **state)
{
	struct mount m;

	(void)state;
	finds(22, "ext4", "/dev/vda", "");
	finds(31, "nfs4", "server:/export", "rdma");
	finds(32, "nfs", "server:/old", "tcp");
	finds(33, "xfs", "/dev/nvme0n1p1", "");
	assert_false(mounts_find(mountinfo, 3, &m));
	assert_string_equal(m.type, "");
}

static void test_has(void **state)
{
	(void)state;
	assert_true(mounts_has(mountinfo, "/"));
	assert_true(mounts_has(mountinfo, "/mnt/ai data"));
	assert_false(mounts_has(mountinfo, "/mnt/ai"));
	assert_false(mounts_has(mountinfo, "/mnt/ai data/sub"));
	assert_false(mounts_has(mountinfo, "/mnt/ai\\040data"));
	assert_false(mounts_has("", "/"));
}

static void test_cause(void **state)
{
	struct mount m;
	char *cause;

	(void)state;
	assert_true(mounts_find(mountinfo, 32, &m));
	cause = mounts_cause(&m, "rdma");
	assert_non_null(strstr(cause, "server:/old uses transport tcp instead of rdma"));
	free(cause);
	assert_null(mounts_cause(&m, "tcp"));
	assert_null(mounts_cause(&m, ""));
	assert_true(mounts_find(mountinfo, 33, &m));
	assert_null(mounts_cause(&m, "rdma"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_has),
		cmocka_unit_test(test_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
