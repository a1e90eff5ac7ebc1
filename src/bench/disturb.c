/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/disturb.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define MSR_SMI_COUNT 0x34

static char *read_text(int rootfd, const char *path)
{
	cleanup_close int fd = openat(rootfd, path, O_RDONLY | O_CLOEXEC);
	struct str text = {0};
	char buf[16384];
	ssize_t n;

	if (fd < 0)
		return NULL;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_addn(&text, buf, (size_t)n);
	return str_take(&text);
}

static bool read_smi(int rootfd, int cpu, uint64_t *ret)
{
	char path[48];

	snprintf(path, sizeof(path), "dev/cpu/%d/msr", cpu);

	cleanup_close int fd = openat(rootfd, path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && pread(fd, ret, sizeof(*ret), MSR_SMI_COUNT) == sizeof(*ret);
}

void disturb_look_at_time(struct disturb *d, int rootfd)
{
	*d = (struct disturb){.stat = read_text(rootfd, "proc/stat")};
}

void disturb_look(struct disturb *d, int rootfd, int cpu)
{
	disturb_look_at_time(d, rootfd);
	d->interrupts = read_text(rootfd, "proc/interrupts");
	d->smi_known = read_smi(rootfd, cpu, &d->smi);
}

void disturb_free(struct disturb *d)
{
	free(d->interrupts);
	free(d->stat);
	*d = (struct disturb){0};
}

/* --- time ------------------------------------------------------------------------------- */

/* "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"; user includes guest. */
enum { IDLE = 3, IOWAIT, STEAL = 7, TIMES };

/* In clock ticks. */
static bool times_of(const char *stat, int cpu, uint64_t ret[TIMES])
{
	char head[24];
	const char *p;

	snprintf(head, sizeof(head), "\ncpu%d ", cpu);
	p = stat ? strstr(stat, head) : NULL;
	return p && sscanf(p + strlen(head), "%lu %lu %lu %lu %lu %lu %lu %lu", &ret[0], &ret[1],
			   &ret[2], &ret[3], &ret[4], &ret[5], &ret[6], &ret[7]) == TIMES;
}

int64_t disturb_steal_ms(const struct disturb *before, const struct disturb *after, int cpu)
{
	uint64_t a[TIMES], b[TIMES];

	if (!times_of(before->stat, cpu, a) || !times_of(after->stat, cpu, b) ||
	    b[STEAL] < a[STEAL])
		return -1;
	return (int64_t)((b[STEAL] - a[STEAL]) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool disturb_others(const struct disturb *before, const struct disturb *after,
		    const struct cpus *cpus, uint64_t own_ns, struct others *ret)
{
	double own = (double)own_ns / 1e9 * (double)sysconf(_SC_CLK_TCK), ticks[TIMES] = {0};
	double all = 0, busy;

	for (int cpu = cpus_next(cpus, -1); cpu >= 0; cpu = cpus_next(cpus, cpu)) {
		uint64_t a[TIMES], b[TIMES];

		if (!times_of(before->stat, cpu, a) || !times_of(after->stat, cpu, b))
			return false;
		for (int i = 0; i < TIMES; i++)
			ticks[i] += b[i] > a[i] ? (double)(b[i] - a[i]) : 0;
	}
	for (int i = 0; i < TIMES; i++)
		all += ticks[i];
	if (all <= 0)
		return false;
	busy = all - ticks[IDLE] - ticks[IOWAIT];
	*ret = (struct others){busy > own ? 100 * (busy - own) / all : 0, 100 * ticks[STEAL] / all};
	return true;
}

int64_t disturb_smis(const struct disturb *before, const struct disturb *after)
{
	if (!before->smi_known || !after->smi_known || after->smi < before->smi)
		return -1;
	return (int64_t)(after->smi - before->smi);
}

/* --- interrupts ------------------------------------------------------------------------- */

/* The column of a CPU, from the head line, which names online CPUs only. -1: no column. */
static int column_of(const char *text, int cpu)
{
	const char *end = strchrnul(text, '\n'), *p = text;

	for (int column = 0;; column++) {
		int n, len = 0;

		if (sscanf(p, " CPU%d%n", &n, &len) != 1 || p + len > end)
			return -1;
		if (n == cpu)
			return column;
		p += len;
	}
}

/* The parts of " 36: 0 14890062 PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0". */
struct row {
	char id[16];
	uint64_t count;	  /* in the requested column */
	const char *what; /* the text after the counts, up to the end of the line */
};

/* False for a line without counts for each CPU: the head, or "ERR: 0", which has no description. */
static bool parse_row(const char *line, int column, struct row *ret)
{
	const char *end = strchrnul(line, '\n'), *p;
	uint64_t n;
	int columns = 0, len = 0;

	if (sscanf(line, " %15[^: \n]:%n", ret->id, &len) != 1 || len == 0)
		return false;
	/* No description begins with a digit, which would be read as a count. */
	for (p = line + len; sscanf(p, "%*[ ]%lu%n", &n, &len) == 1 && p + len <= end; p += len)
		if (columns++ == column)
			ret->count = n;
	ret->what = p + strspn(p, " ");
	return columns > column && ret->what < end;
}

static const char *next_line(const char *p)
{
	p = strchrnul(p, '\n');
	return *p ? p + 1 : p;
}

static uint64_t count_of(const char *text, int column, const char *id)
{
	struct row row;

	for (const char *p = next_line(text); *p; p = next_line(p))
		if (parse_row(p, column, &row) && streq(row.id, id))
			return row.count;
	return 0;
}

/* Names a numbered interrupt by its handler, the last word; "LOC" by the kernel's description. */
static void name_source(const struct row *row, char *ret, size_t size)
{
	const char *end = strchrnul(row->what, '\n'), *p = row->what;

	if (isdigit((unsigned char)row->id[0]))
		for (p = end; p > row->what && p[-1] != ' ';)
			p--;
	snprintf(ret, size, "%s %.*s", row->id, (int)(end - p), p);
}

void disturb_source(const struct disturb *before, const struct disturb *after, int cpu,
		    struct source *ret)
{
	uint64_t most = 0;
	struct row row;
	int column;

	*ret = (struct source){0};
	if (!before->interrupts || !after->interrupts)
		return;
	column = column_of(after->interrupts, cpu);
	if (column < 0 || column_of(before->interrupts, cpu) != column)
		return;
	for (const char *p = next_line(after->interrupts); *p; p = next_line(p)) {
		if (!parse_row(p, column, &row))
			continue;
		uint64_t n = row.count - count_of(before->interrupts, column, row.id);

		ret->all += n;
		if (n <= most)
			continue;
		most = ret->count = n;
		name_source(&row, ret->name, sizeof(ret->name));
	}
}
