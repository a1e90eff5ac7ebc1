/* SPDX-License-Identifier: GPL-2.0-or-later */
/* railhead-bench's parts: options, the run in a child, vector loops, facts of a fake root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/benchmark.h"
#include "bench/facts.h"
#include "bench/membuf.h"
#include "bench/stream.h"

/* --- options ----------------------------------------------------------------------------- */

/* Its time is over before its memory is touched. */
static int run_too_long(struct err *err)
{
	cleanup_membuf struct membuf b = {0};
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = membuf_map(&b, rootfd, 0, 4096, 4u << 20, err);

	raise(SIGTERM);
	membuf_touch(&b, 0, b.len);
	return r < 0 ? r : membuf_verify(&b, err);
}

static int run_by_node(const struct options *o, json_t *line, struct err *err)
{
	switch (option_number(o, "node", 0)) {
	case 0:
		json_object_set_new(line, "value", json_integer(5));
		return 0;
	case 1:
		return err_set(err, -ENOMEM, "no \"page\"");
	case 2:
		signal(SIGBUS, SIG_DFL); /* cmocka catches these */
		raise(SIGBUS);
		return 0;
	case 4:
		return run_too_long(err);
	default:
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
		return 0;
	}
}

static const struct benchmark fake = {
	.name = "fake",
	.options = {{.name = "node", .arg = "N", .type = OPTION_NUMBER, .max = 9, .required = true},
		    {.name = "page", .arg = "SIZE[,SIZE]", .type = OPTION_SIZES},
		    {.name = "size", .arg = "SIZE", .type = OPTION_SIZE}},
	.run = run_by_node,
};

struct usage {
	const char *words[5];
	const char *error; /* NULL: fine */
};

static const struct usage usages[] = {
	{{"--node", "3", "--page=1G,2M"}, NULL},
	{{"--node=3", "--size", "64M"}, NULL},
	{{"--node", "3", "--node", "4"}, NULL},
	{{NULL}, "--node is required"},
	{{"--node"}, "--node needs a value"},
	{{"--node", "10"}, "--node: 10 is not within 0..9"},
	{{"--node", "-1"}, "--node: '-1' is not N"},
	{{"--node", "3", "--size", "64"}, "--size: '64' is not SIZE"},
	{{"--node", "3", "--page", "1G,"}, "--page: '1G,' is not SIZE[,SIZE]"},
	{{"--node", "3", "--page", "0K"}, "--page: '0K' is not SIZE[,SIZE]"},
	{{"--nod", "3"}, "unknown option '--nod'"},
	{{"node", "3"}, "unknown option 'node'"},
	{{"--", "3"}, "unknown option '--'"},
};

static void test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(usages); i++) {
		struct options o;
		struct err err = {0};
		int n = 0;

		while (usages[i].words[n])
			n++;
		int r = options_parse(&o, &fake, n, (char **)usages[i].words, &err);

		assert_string_equal(err.text, usages[i].error ? usages[i].error : "");
		assert_int_equal(r < 0, usages[i].error != NULL);
		if (r == 0)
			assert_in_range(option_number(&o, "node", 7), 3, 4);
	}
}

static void test_option_values(void **state)
{
	char node[] = "--node", three[] = "3", size[] = "--size", value[] = "64M";
	char *words[] = {node, three, size, value};
	struct options o;

	(void)state;
	assert_int_equal(options_parse(&o, &fake, 4, words, NULL), 0);
	assert_int_equal(option_number(&o, "node", 7), 3);
	assert_int_equal(option_size(&o, "size", 1), 64 << 20);
	assert_string_equal(option_text(&o, "page", "1G"), "1G");
}

/* --- the run in a child -------------------------------------------------------------------- */

/* Runs fake with --node=N; what it prints on stdout goes to text. */
static int run_fake(const char *node, char *text, size_t size)
{
	char option[] = "--node";
	char *words[] = {option, (char *)node};
	struct options o;
	int saved = dup(1), p[2], r;
	ssize_t n;

	assert_int_equal(options_parse(&o, &fake, 2, words, NULL), 0);
	assert_int_equal(pipe(p), 0);
	fflush(stdout);
	dup2(p[1], 1);
	close(p[1]);
	r = benchmark_run(&o);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	n = read(p[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(p[0]);
	return r;
}

static void test_run(void **state)
{
	char text[512];

	(void)state;
	assert_int_equal(run_fake("0", text, sizeof(text)), 0);
	assert_string_equal(text, "{\"bench\":\"fake\",\"result\":\"measured\",\"value\":5}\n");
	assert_int_equal(run_fake("1", text, sizeof(text)), 0);
	assert_string_equal(text, "{\"bench\":\"fake\",\"result\":\"cannot measure\","
				  "\"reason\":\"no \\\"page\\\"\"}\n");
	assert_int_equal(run_fake("4", text, sizeof(text)), 0);
	assert_non_null(strstr(text,
			       "\"not yet\",\"reason\":\"its time was over while 4 MiB of node "
			       "0 were touched first: "));
}

static void test_run_crashes(void **state)
{
	char text[512];

	(void)state;
	assert_int_equal(run_fake("2", text, sizeof(text)), 0);
	assert_non_null(strstr(
		text, "\"cannot measure\",\"reason\":\"bus error: mapped memory is missing"));
	assert_int_equal(run_fake("3", text, sizeof(text)), 1);
	assert_string_equal(text, "");
}

/* --- vector loops -------------------------------------------------------------------------- */

static void check_ops(const struct stream_ops *ops, enum stream_walk walk)
{
	size_t len = 4 * STREAM_ALIGN;
	unsigned char *a = aligned_alloc(STREAM_ALIGN, len);
	unsigned char *b = aligned_alloc(STREAM_ALIGN, len + STREAM_ALIGN);

	for (size_t i = 0; i < len; i++)
		a[i] = (unsigned char)(i * 7 + i / 256);
	memset(b, 0xee, len + STREAM_ALIGN);
	ops->copy[walk](b, a, len);
	assert_memory_equal(a, b, len);
	ops->read[walk](a, len);
	ops->write(b, len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(b[i], 0x5a);
	assert_int_equal(b[len], 0xee); /* and not a byte more */
	free(a);
	free(b);
}

static void test_stream(void **state)
{
	size_t usable = 0;

	(void)state;
	for (size_t i = 0; stream_all[i]; i++)
		if (stream_all[i]->usable()) {
			for (int walk = 0; walk < STREAM_WALKS; walk++)
				check_ops(stream_all[i], (enum stream_walk)walk);
			usable++;
		}
	assert_in_range(usable, 1, 4);
	assert_true(stream_pick()->usable());
	/* of an architecture with vectors, every CPU has some */
	assert_int_equal(stream_pick() == &stream_plain, stream_all[0] == &stream_plain);
}

/* --- facts --------------------------------------------------------------------------------- */

#define NODE "sys/devices/system/node/node1/"
#define CPU "sys/devices/system/cpu/"

static const char *const tree[][2] = {
	{NODE "cpulist", "2-5\n"},
	{NODE "meminfo", "Node 1 MemTotal:  8192 kB\nNode 1 MemFree:   4096 kB\n"
			 "Node 1 Inactive:  9999 kB\nNode 1 Inactive(file):  1024 kB\n"},
	{NODE "hugepages/hugepages-1048576kB/nr_hugepages", "1\n"},
	{NODE "hugepages/hugepages-1048576kB/free_hugepages", "0\n"},
	{CPU "cpu2/topology/thread_siblings_list", "2,4\n"},
	{CPU "cpu3/topology/thread_siblings_list", "3,5\n"},
	{CPU "cpu4/topology/thread_siblings_list", "2,4\n"},
	{CPU "cpu5/topology/thread_siblings_list", "3,5\n"},
	/* index 0 is the L1; two L3, as on a processor of chiplets */
	{CPU "cpu2/cache/index0/level", "1\n"},
	{CPU "cpu2/cache/index0/size", "48K\n"},
	{CPU "cpu2/cache/index1/level", "3\n"},
	{CPU "cpu2/cache/index1/size", "16384K\n"},
	{CPU "cpu2/cache/index1/shared_cpu_list", "2,4\n"},
	{CPU "cpu3/cache/index0/level", "3\n"},
	{CPU "cpu3/cache/index0/size", "16384K\n"},
	{CPU "cpu3/cache/index0/shared_cpu_list", "3,5\n"},
	{"sys/class/infiniband/mlx5_0/device/numa_node", "1\n"},
	{"sys/class/infiniband/rxe0/parent", "eth0\n"},
	{"sys/class/net/eth0/device/numa_node", "0\n"},
	{"sys/class/infiniband/rxe1/parent", "dummy0\n"},
};

struct fake_root {
	char dir[64];
	int fd;
};

static void write_file(const char *root, const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = strchr(full + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_root(void **state)
{
	struct fake_root *f = xnew(struct fake_root);

	strcpy(f->dir, "/tmp/railhead-test-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	for (size_t i = 0; i < array_len(tree); i++)
		write_file(f->dir, tree[i][0], tree[i][1]);
	f->fd = open(f->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	return f->fd < 0;
}

static int remove_root(void **state)
{
	struct fake_root *f = *state;
	cleanup_free char *cmd = xasprintf("rm -r '%s'", f->dir);

	close(f->fd);
	free(f);
	return system(cmd);
}

static void test_facts(void **state)
{
	const struct fake_root *f = *state;
	struct cpus cpus = {0};
	struct err err = {0};
	uint64_t bytes;

	assert_int_equal(facts_node_cpus(f->fd, 1, &cpus, &err), 0);
	assert_int_equal(cpus_count(&cpus), 4);
	assert_int_equal(facts_last_level_cache(f->fd, &cpus), 32 << 20);
	facts_one_per_core(f->fd, &cpus);
	assert_int_equal(cpus_count(&cpus), 2);
	assert_int_equal(cpus_first(&cpus), 2);
	assert_int_equal(cpus_last(&cpus), 3);
	assert_int_equal(facts_node_available(f->fd, 1, &bytes, &err), 0);
	assert_int_equal(bytes, 5120 * 1024);
	assert_int_equal(facts_rdma_node(f->fd, "mlx5_0"), 1);
	assert_int_equal(facts_rdma_node(f->fd, "rxe0"), 0);
	assert_int_equal(facts_rdma_node(f->fd, "rxe1"), -1);
	assert_int_equal(facts_rdma_node(f->fd, "mlx5_1"), -1);
}

/* Two CPUs of a core each, two caches: of each cache before a second of one. */
static void test_spread(void **state)
{
	static const struct {
		const char *cpus;
		size_t most;
		const char *left;
	} t[] = {
		{"2-5", 8, "2-5"},
		{"2-5", 4, "2-5"},
		{"2-5", 3, "2-4"},
		{"2,4,5", 2, "2,5"},
		{"2-5", 1, "2"},
		{"2,4", 1, "2"},
		/* no cache is known of the others: in their order */
		{"2,4,6-9", 3, "2,6-7"},
	};
	const struct fake_root *f = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		struct cpus cpus = {0};
		cleanup_free char *left = NULL;

		assert_int_equal(cpus_parse(t[i].cpus, &cpus), 0);
		facts_spread(f->fd, &cpus, t[i].most);
		left = cpus_format(&cpus);
		assert_string_equal(left, t[i].left);
	}
}

static void test_reasons(void **state)
{
	const struct fake_root *f = *state;
	struct membuf b = {0};
	struct cpus cpus;
	struct err err = {0};

	assert_int_equal(facts_node_cpus(f->fd, 7, &cpus, &err), -ENODEV);
	assert_string_equal(err.text, "there is no NUMA node 7");
	assert_int_equal(membuf_map(&b, f->fd, 1, 1u << 30, 1u << 30, &err), -ENOMEM);
	assert_string_equal(err.text, "no free 1G page on node 1: 1 reserved, 0 free");
	assert_int_equal(membuf_map(&b, f->fd, 1, 16ull << 30, 1u << 30, &err), -ENOENT);
	assert_string_equal(err.text, "this machine has no pages of 16G");
	assert_int_equal(membuf_map(&b, f->fd, 1, 1024, 1u << 30, &err), -EINVAL);
	assert_int_equal(membuf_map(&b, f->fd, 1, (uint64_t)sysconf(_SC_PAGESIZE), 4u << 20, &err),
			 -ENOMEM);
	assert_string_equal(err.text, "node 1 has only 3 MiB to spare, 4 MiB needed");
	assert_null(b.p);
}

/* Where the kernel's are larger, as `make check-arm64` has it, that one is taken and named. */
static void test_smallest_page(void **state)
{
	cleanup_membuf struct membuf b = {0};
	struct err err = {0};
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(membuf_map(&b, fd, 0, 4096, 1, &err), 0);
	assert_int_equal(b.page, sysconf(_SC_PAGESIZE));
	assert_int_equal(b.len, b.page);
	close(fd);
}

static void test_buffer(void **state)
{
	cleanup_membuf struct membuf b = {0};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct err err = {0};
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(membuf_map(&b, fd, 0, page, 10 * page + 1, &err), 0);
	assert_int_equal(b.len, 11 * page);
	membuf_touch(&b, 0, 5 * page + 1);
	membuf_touch(&b, 5 * page + 1, b.len);
	for (size_t i = 0; i < 11; i++)
		assert_int_equal(((char *)b.p)[i * page], 1);
	if (membuf_verify(&b, &err) < 0)
		fail_msg("%s", err.text);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_option_values),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_run_crashes),
		cmocka_unit_test(test_stream),
		cmocka_unit_test_setup_teardown(test_facts, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_spread, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_reasons, make_root, remove_root),
		cmocka_unit_test(test_smallest_page),
		cmocka_unit_test(test_buffer),
	};

	return cmocka_run_group_tests_name("bench_parts", tests, NULL, NULL);
}
