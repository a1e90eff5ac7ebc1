/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the benchmarks of GPUs are made of: rounds of windows, how many copies fill one; and
 * GPUDirect RDMA with the stand-in for libcuda (tests/gpu) over an RDMA stack made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/pool.h"
#include "bench/cuda.h"
#include "bench/gpu_rdma.h"
#include "bench/rounds.h"
#include "../lib/clock.h"
#include "fake_verbs.h"

#define GPU "0000:3b:00.0"

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text);
}

/* --- rounds ------------------------------------------------------------------------------ */

/* The time of a round is that of its pauses. */
static int rounds_setup(void **state)
{
	(void)state;
	test_clock(CLOCK_LEAPS, NULL);
	return 0;
}

static int rounds_teardown(void **state)
{
	(void)state;
	test_clock(CLOCK_FLOWS, NULL);
	return 0;
}

/* Windows of two kinds, whose rates are told beforehand; the last is repeated. */
struct script {
	double rates[ROUNDS_KINDS][64];
	size_t n[ROUNDS_KINDS], at[ROUNDS_KINDS];
	size_t calls;
	size_t fails_at; /* this call; 0: none */
};

static int play(void *ctx, size_t kind, double *ret_rate, struct err *err)
{
	struct script *s = ctx;
	size_t i = s->at[kind];

	if (++s->calls == s->fails_at)
		return err_set(err, -EIO, "call %zu", s->calls);
	*ret_rate = s->rates[kind][i];
	if (i + 1 < s->n[kind])
		s->at[kind]++;
	return 0;
}

static struct rounds rounds_of(struct script *s, size_t kinds, unsigned int budget_ms)
{
	return (struct rounds){.kinds = kinds,
			       .window = play,
			       .ctx = s,
			       .budget_ns = budget_ms * 1000000ull,
			       .agree_pct = 0.3};
}

static void test_rounds_agree(void **state)
{
	struct script s = {.rates = {{100}, {80}}, .n = {1, 1}};
	struct rounds r = rounds_of(&s, 2, 2000);
	static const char *const names[] = {"up", "down"};
	json_t *line = json_object();

	(void)state;
	assert_int_equal(rounds_run(&r, NULL), 0);
	assert_int_equal(r.n, ROUNDS_LEAST);
	assert_int_equal(rounds_lowest(&r), 1);
	rounds_report(&r, names, line);
	assert_int_equal(json_integer_value(json_object_get(line, "value")), 80);
	assert_int_equal(json_integer_value(json_object_get(line, "up")), 100);
	assert_int_equal(json_integer_value(json_object_get(line, "windows")), 2 * ROUNDS_LEAST);
	assert_null(json_object_get(line, "note"));
	json_decref(line);
}

/* One kind that goes on changing is enough to go on, to the end; the median is what counts. */
static void test_rounds_differ(void **state)
{
	struct script s = {.n = {1, 40}};
	struct rounds r = rounds_of(&s, 2, 200);

	(void)state;
	s.rates[0][0] = 100;
	for (size_t i = 0; i < 40; i++)
		s.rates[1][i] = 50 + (double)i;
	assert_int_equal(rounds_run(&r, NULL), 0);
	assert_int_equal(r.n, ROUNDS_MOST);
	assert_true(rounds_median(&r, 1) == 50 + (double)(r.n - 1) / 2);
}

static void test_rounds_floor(void **state)
{
	struct script s = {.rates = {{1, 2, 3, 4, 5, 6, 7, 8}}, .n = {8}};
	struct rounds r = rounds_of(&s, 1, 0);
	static const char *const names[] = {"rate"};
	json_t *line = json_object();

	(void)state;
	assert_int_equal(rounds_run(&r, NULL), 0);
	assert_int_equal(r.n, ROUNDS_FLOOR);
	rounds_report(&r, names, line);
	assert_string_equal(json_string_value(json_object_get(line, "note")),
			    "only 4 rounds fitted the budget");
	json_decref(line);
}

static void test_rounds_warm_up(void **state)
{
	struct script s = {.rates = {{10, 50, 90, 100, 101, 7}}, .n = {6}};
	struct rounds r = rounds_of(&s, 1, 1000000);

	(void)state;
	assert_int_equal(rounds_warm_up(&r, NULL), 0);
	assert_int_equal(s.calls, 5); /* 100 and 101 are near enough */
	assert_int_equal(r.n, 0);
	s = (struct script){.rates = {{1, 2, 4, 8}}, .n = {4}};
	r = rounds_of(&s, 1, 0);
	assert_int_equal(rounds_warm_up(&r, NULL), 0);
	assert_int_equal(s.calls, 1); /* no time */
}

static void test_rounds_fail(void **state)
{
	struct script s = {.rates = {{1}}, .n = {1}, .fails_at = 3};
	struct rounds r = rounds_of(&s, 1, 10);
	struct err err = {0};

	(void)state;
	assert_int_equal(rounds_run(&r, &err), -EIO);
	assert_string_equal(err.text, "call 3");
	s.calls = 0;
	s.fails_at = 1;
	assert_int_equal(rounds_warm_up(&r, &err), -EIO);
}

static void test_copies(void **state)
{
	(void)state;
	assert_int_equal(gpu_copies(0, 1 << 20, 4000000), 1); /* not known yet */
	assert_int_equal(gpu_copies(1e9, 1 << 20, 4000000), 3);
	assert_int_equal(gpu_copies(1e6, 1 << 20, 4000000), 1);
	assert_int_equal(gpu_copies(1e15, 1 << 20, 4000000), 1024);
}

/* --- GPUDirect RDMA ------------------------------------------------------------------------ */

static char lib_dir[] = "/tmp/railhead-gpu-XXXXXX";

/* Adds a line to what the stand-in knows. */
static void model(const char *line)
{
	cleanup_free char *path = xasprintf("%s/node", lib_dir);
	FILE *f = fopen(path, "a");

	assert_non_null(f);
	fprintf(f, "%s\n", line);
	fclose(f);
}

/* Opened before the benchmark asks for it by its soname, it is what that gets. */
static int setup_library(void **state)
{
	char exe[4096] = {0};
	cleanup_free char *from = NULL, *to = xasprintf("%s/libcuda.so.1", mkdtemp(lib_dir));

	(void)state;
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	from = xasprintf("%s/../gpu-standin/libcuda.so.1", dirname(exe));
	assert_int_equal(symlink(from, to), 0);
	if (!dlopen(to, RTLD_NOW | RTLD_LOCAL))
		fail_msg("%s", dlerror());
	return 0;
}

static int teardown_library(void **state)
{
	cleanup_free char *lib = xasprintf("%s/libcuda.so.1", lib_dir);
	cleanup_free char *node = xasprintf("%s/node", lib_dir);

	(void)state;
	unlink(lib);
	unlink(node);
	return rmdir(lib_dir);
}

static int setup(void **state)
{
	cleanup_free char *node = xasprintf("%s/node", lib_dir);

	(void)state;
	unlink(node);
	model(GPU " gpu 0");
	fake_verbs_reset();
	return 0;
}

static int run_direct(json_t *line, struct err *err)
{
	static const char *const words[] = {"--gpu",	GPU,  "--device", "fake0",
					    "--budget", "10", "--size",	  "64K"};
	struct options o;

	assert_int_equal(options_parse(&o, &gpu_rdma, array_len(words), (char **)words, err), 0);
	return gpu_rdma.run(&o, line, err);
}

static void assert_all_closed(void)
{
	assert_int_equal(fake.opened + fake.pds + fake.cqs + fake.qps + fake.mrs, 0);
}

static void assert_path(json_t *line, const char *path)
{
	assert_string_equal(json_string_value(json_object_get(line, "path")), path);
	assert_true(json_integer_value(json_object_get(line, "value")) > 0);
	assert_true(fake.writes > 0);
	assert_all_closed();
	json_decref(line);
}

static void test_direct_dmabuf(void **state)
{
	json_t *line = json_object();
	struct err err = {0};

	(void)state;
	model(GPU " dma_buf 1");
	assert_int_equal(run_direct(line, &err), 0);
	assert_int_equal(fake.dmabuf_len % (2u << 20), 0);
	assert_null(json_object_get(line, "no_dmabuf"));
	assert_path(line, "dma-buf");
}

/* A driver that exports none, and an RDMA driver that takes none. */
static void test_direct_peermem(void **state)
{
	json_t *line = json_object();
	struct err err = {0};

	(void)state;
	assert_int_equal(run_direct(line, &err), 0);
	assert_int_equal(fake.dmabuf_len, 0);
	assert_has(json_string_value(json_object_get(line, "no_dmabuf")), "open nvidia modules");
	assert_path(line, "peermem");

	line = json_object();
	model(GPU " dma_buf 1");
	fake.dmabuf_errno = EOPNOTSUPP;
	assert_int_equal(run_direct(line, &err), 0);
	assert_has(json_string_value(json_object_get(line, "no_dmabuf")),
		   "fake0 does not support dma-buf");
	assert_path(line, "peermem");
}

/* Neither way: that can be mended, so it isn't "unsupported". */
static void test_direct_none(void **state)
{
	struct err err = {0};

	(void)state;
	fake.mr_errno = EFAULT;
	assert_int_equal(run_direct(NULL, &err), -ENXIO);
	assert_has(err.text, "by dma-buf: this driver exports no dma-buf");
	assert_has(err.text, "by nvidia_peermem: ");
	assert_has(err.text, "Bad address");
	assert_all_closed();
}

static void test_direct_fails(void **state)
{
	struct err err = {0};

	(void)state;
	fake.loses_bytes = true;
	assert_int_equal(run_direct(NULL, &err), -EIO);
	assert_has(err.text, "bytes did not arrive in the memory of " GPU);
	assert_all_closed();

	fake.loses_bytes = false;
	fake.port[0].state = IBV_PORT_DOWN;
	assert_int_equal(run_direct(NULL, &err), -EAGAIN);
	fake.port[0].state = IBV_PORT_ACTIVE;
}

/* Another call of cuInit would fail; with a library that is not there yet see gpu.bats. */
static void test_library_once(void **state)
{
	json_t *line = json_object();
	struct err err = {0};

	(void)state;
	assert_int_equal(run_direct(line, &err), 0);
	json_decref(line);
	model("cuInit fails 802");
	line = json_object();
	assert_int_equal(run_direct(line, &err), 0);
	json_decref(line);
	assert_all_closed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rounds_agree, rounds_setup, rounds_teardown),
		cmocka_unit_test_setup_teardown(test_rounds_differ, rounds_setup, rounds_teardown),
		cmocka_unit_test_setup_teardown(test_rounds_floor, rounds_setup, rounds_teardown),
		cmocka_unit_test_setup_teardown(test_rounds_warm_up, rounds_setup, rounds_teardown),
		cmocka_unit_test_setup_teardown(test_rounds_fail, rounds_setup, rounds_teardown),
		cmocka_unit_test(test_copies),
		cmocka_unit_test_setup(test_direct_dmabuf, setup),
		cmocka_unit_test_setup(test_direct_peermem, setup),
		cmocka_unit_test_setup(test_direct_none, setup),
		cmocka_unit_test_setup(test_direct_fails, setup),
		cmocka_unit_test_setup(test_library_once, setup),
	};

	return cmocka_run_group_tests(tests, setup_library, teardown_library);
}
