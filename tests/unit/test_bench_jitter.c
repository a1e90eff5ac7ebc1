/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jitter: what gaps mean for work that comes at a random moment, and who made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/disturb.h"
#include "bench/gaps.h"

#define MS 1000000u
#define close_to(a, b, pct) \
	assert_in_range((a)*1000, (b) * (1000 - (pct)*10), (b) * (1000 + (pct)*10))

/* --- gaps ---------------------------------------------------------------------------------- */

/* `ms` milliseconds of looks every 25 ns. */
static void looks(struct gaps *g, unsigned int ms)
{
	for (unsigned int i = 0; i < ms * (MS / 25); i++)
		gaps_add(g, 25);
}

static void test_quiet(void **state)
{
	struct gaps g = {0};

	(void)state;
	looks(&g, 10);
	assert_in_range(gaps_wait(&g, 0.0001), 24, 25);
	assert_int_equal(g.most, 25);
}

/* A tick of 4 us each 4 ms: 1 in 1000 of the time, of which a tenth is still waited 3.6 us. */
static void test_tick(void **state)
{
	struct gaps g = {0};

	(void)state;
	for (int i = 0; i < 10; i++) {
		looks(&g, 4);
		gaps_add(&g, 4000);
	}
	close_to((unsigned int)gaps_wait(&g, 0.0001), 3600, 1);
	assert_int_equal(g.most, 4000);
}

/* What is rarer than the share is only the maximum: 4 us of 50 ms. */
static void test_rare(void **state)
{
	struct gaps g = {0};

	(void)state;
	looks(&g, 50);
	gaps_add(&g, 4000);
	assert_in_range(gaps_wait(&g, 0.0001), 24, 25);
	assert_int_equal(g.most, 4000);
}

/* Long and short ones: the long ones alone are more than the share. */
static void test_mixed(void **state)
{
	struct gaps g = {0};

	(void)state;
	for (int i = 0; i < 10; i++) {
		looks(&g, 1);
		gaps_add(&g, 3000);
	}
	gaps_add(&g, 100000);
	/* 10.13 ms: 1.013 us are allowed, of 100 us */
	close_to((unsigned int)gaps_wait(&g, 0.0001), 98987, 1);
}

/* Between two lengths: those of 8.5 us are waited for less long than the one of 10 us. */
static void test_between(void **state)
{
	struct gaps g = {0};

	(void)state;
	looks(&g, 10);
	gaps_add(&g, 10000);
	for (int i = 0; i < 100; i++)
		gaps_add(&g, 8500);
	/* 10.86 ms: 1.086 us are allowed, all of the longest one */
	close_to((unsigned int)gaps_wait(&g, 0.0001), 8914, 1);
}

static void test_extremes(void **state)
{
	struct gaps g = {0};

	(void)state;
	assert_int_equal(gaps_wait(&g, 0.0001), 0);
	gaps_add(&g, 0);
	gaps_add(&g, 15);
	gaps_add(&g, 16);
	gaps_add(&g, UINT64_MAX / 2 + 1);
	assert_int_equal(g.count[0], 1);
	assert_int_equal(g.count[15], 1);
	assert_int_equal(g.count[16], 1);
	assert_int_equal(g.count[GAP_BUCKETS - 16], 1);
	gaps_add(&g, UINT64_MAX);
	assert_int_equal(g.count[GAP_BUCKETS - 1], 1);
}

/* --- who made them ------------------------------------------------------------------------- */

#define HEAD "           CPU0       CPU2       CPU10      \n"
#define DEVICE "PCI-MSIX-0000:00:02.0   1-edge      nvme0q1\n"
#define LOCAL "   Local timer interrupts\n"

static char before_irqs[] = HEAD " 36:          0         10         20 " DEVICE
				 "LOC:        100        200        300" LOCAL "ERR:          0\n";
static char after_irqs[] = HEAD " 36:          0         10        520 " DEVICE
				" 37:          0          7          0 " DEVICE
				"LOC:        101        225        310" LOCAL "ERR:          9\n";
static char before_stat[] = "cpu  1 1 1 1 1 1 1 999 0 0\ncpu0 1 1 1 1 1 1 1 5 0 0\n"
			    "cpu10 1 1 1 1 1 1 1 5 0 0\nintr 5\n";
static char after_stat[] = "cpu  1 1 1 1 1 1 1 999 0 0\ncpu0 1 1 1 1 1 1 1 5 0 0\n"
			   "cpu10 1 1 1 1 1 1 1 8 0 0\nintr 5\n";

static const struct disturb before = {before_irqs, before_stat, true, 40};
static const struct disturb after = {after_irqs, after_stat, true, 42};

static void check_source(int cpu, const char *name, uint64_t count, uint64_t all)
{
	struct source s;

	disturb_source(&before, &after, cpu, &s);
	assert_string_equal(s.name, name);
	assert_int_equal(s.count, count);
	assert_int_equal(s.all, all);
}

static void test_sources(void **state)
{
	(void)state;
	check_source(0, "LOC Local timer interrupts", 1, 1);
	check_source(2, "LOC Local timer interrupts", 25, 32);
	check_source(10, "36 nvme0q1", 500, 510);
	check_source(1, "", 0, 0); /* offline: it has no column */
}

static void test_counters(void **state)
{
	static const struct disturb none;

	(void)state;
	assert_int_equal(disturb_steal_ms(&before, &after, 0), 0);
	assert_int_equal(disturb_steal_ms(&before, &after, 10), 3 * 1000 / sysconf(_SC_CLK_TCK));
	assert_int_equal(disturb_steal_ms(&before, &after, 1), -1);
	assert_int_equal(disturb_steal_ms(&none, &after, 0), -1);
	assert_int_equal(disturb_smis(&before, &after), 2);
	assert_int_equal(disturb_smis(&before, &none), -1);
}

static void check_others(unsigned int cpu, double own_ticks, double pct, double steal_pct)
{
	static char then[] = "cpu  0\ncpu0 100 0 100 100 0 0 0 0 0 0\ncpu1 5 5 5 5 5 5 5 5 9 9\n";
	static char now[] = "cpu  0\ncpu0 140 0 110 130 10 1 1 8 40 0\ncpu1 5 5 5 5 5 5 5 5 9 9\n";
	const struct disturb a = {NULL, then, false, 0}, b = {NULL, now, false, 0};
	struct cpus cpus = {0};
	struct others others;

	cpus_add(&cpus, 0);
	cpus_add(&cpus, cpu);
	assert_true(disturb_others(&a, &b, &cpus,
				   (uint64_t)(own_ticks * 1e9 / (double)sysconf(_SC_CLK_TCK)),
				   &others));
	assert_true(fabs(others.pct - pct) < 1e-6);
	assert_true(fabs(others.steal_pct - steal_pct) < 1e-6);
}

/* 100 ticks, of which 60 were busy: those of the guests are user's already. */
static void test_others(void **state)
{
	struct cpus cpus = {0};
	struct others others;

	(void)state;
	check_others(0, 0, 60, 8);
	check_others(0, 45, 15, 8);
	check_others(0, 61, 0, 8);  /* ticks are coarse */
	check_others(1, 45, 15, 8); /* no time has passed there */
	assert_false(disturb_others(&before, &after, &cpus, 0, &others)); /* no CPU */
	cpus_add(&cpus, 1);
	assert_false(disturb_others(&before, &after, &cpus, 0, &others)); /* not in stat */
}

static void write_file(const char *dir, const char *name, const void *data, size_t len)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

/* The files are read from the root that was given; the MSR is at its number in the device. */
static void test_look(void **state)
{
	char dir[] = "/tmp/railhead-test-XXXXXX";
	uint64_t msr[8] = {0};
	struct disturb d;

	(void)state;
	assert_non_null(mkdtemp(dir));
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	disturb_look(&d, fd, 3);
	assert_null(d.interrupts);
	assert_null(d.stat);
	assert_false(d.smi_known);
	disturb_free(&d);
	assert_int_equal(mkdirat(fd, "proc", 0755) + mkdirat(fd, "dev", 0755), 0);
	assert_int_equal(mkdirat(fd, "dev/cpu", 0755) + mkdirat(fd, "dev/cpu/3", 0755), 0);
	memset((char *)msr + 0x34, 7, 1);
	write_file(dir, "proc/interrupts", before_irqs, strlen(before_irqs));
	write_file(dir, "proc/stat", before_stat, strlen(before_stat));
	write_file(dir, "dev/cpu/3/msr", msr, sizeof(msr));
	disturb_look(&d, fd, 3);
	assert_string_equal(d.interrupts, before_irqs);
	assert_string_equal(d.stat, before_stat);
	assert_true(d.smi_known);
	assert_int_equal(d.smi, 7);
	disturb_free(&d);
	close(fd);

	cleanup_free char *cmd = xasprintf("rm -r '%s'", dir);

	assert_int_equal(system(cmd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),	cmocka_unit_test(test_tick),
		cmocka_unit_test(test_rare),	cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_between), cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_sources), cmocka_unit_test(test_counters),
		cmocka_unit_test(test_others),	cmocka_unit_test(test_look),
	};

	return cmocka_run_group_tests_name("bench_jitter", tests, NULL, NULL);
}
