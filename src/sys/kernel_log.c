/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/kernel_log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "sys/state.h"

#define PATH "/dev/kmsg"
#define SEEN "kernel-log" /* below STATE_DIR; kernel_log.seen */

enum {
	CHUNK = 16 << 10, /* the kernel formats a record into 8 KiB (CONSOLE_EXT_LOG_MAX) */
	READS_MAX = 1 << 22,
	FACILITY_SHIFT = 3,
};

struct kernel_log *kernel_log_new(const struct root *root, const char *begin)
{
	struct kernel_log *log = xnew(struct kernel_log);

	*log = (struct kernel_log){
		.root = root, .begin = begin, .fd = -1, .hold = UINT64_MAX, .empty = true};
	return log;
}

void kernel_log_free(struct kernel_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->records.n; i++)
		free(log->records.v[i].text);
	free(log->records.v);
	if (log->fd >= 0)
		close(log->fd);
	free(log);
}

/*
 * "6,339,5140900,-,caller=T1;text" has level and facility, number, microseconds and flags. The
 * lines of a record's dictionary begin with a space, and fail.
 */
static bool parse_line(const char *line, unsigned int *prefix, uint64_t *seq, const char **text)
{
	const char *number = strchr(line, ',');
	int used = 0;

	if (!isdigit((unsigned char)*line) || !number || !isdigit((unsigned char)number[1]) ||
	    sscanf(line, "%u,%" SCNu64 ",%n", prefix, seq, &used) != 2 || !used ||
	    *seq == UINT64_MAX)
		return false;
	*text = strchr(line + used, ';');
	return *text && ++*text;
}

static void take_line(struct kernel_log *log, const char *line)
{
	unsigned int prefix;
	const char *text;
	uint64_t seq;

	if (!parse_line(line, &prefix, &seq, &text))
		return;
	if (log->empty)
		log->first = seq;
	else if (seq > log->next)
		log->lost += seq - log->next;
	log->empty = false;
	log->next = seq + 1;
	if (prefix >> FACILITY_SHIFT == 0 && str_starts(text, log->begin))
		vec_push(&log->records, ((struct kernel_record){seq, xstrdup(text)}));
}

/* Takes the whole lines, and leaves the start of another. */
static void take_lines(struct kernel_log *log, struct str *text)
{
	char *all = str_take(text), *line = all, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		take_line(log, line);
	}
	str_add(text, line);
	free(all);
}

static int read_records(struct kernel_log *log)
{
	cleanup_str struct str text = {0};
	char chunk[CHUNK];

	for (size_t i = 0; i < READS_MAX; i++) {
		ssize_t n = read(log->fd, chunk, sizeof(chunk)); /* a device: one record */

		if (n == 0 || (n < 0 && errno == EAGAIN))
			return 0;
		if (n < 0 && errno != EPIPE && errno != EINTR)
			return -errno;
		/* EPIPE: the next record was overwritten; the number of the one after shows it. */
		if (n < 0)
			continue;
		if (memchr(chunk, '\0', (size_t)n))
			return -EBADMSG;
		str_addn(&text, chunk, (size_t)n);
		take_lines(log, &text);
		if (text.len > CHUNK)
			return -EBADMSG;
	}
	return -EBUSY;
}

static uint64_t read_seen(const struct root *root)
{
	cleanup_free char *text = NULL;
	uint64_t seen = 0;

	if (state_read(root, SEEN, &text, NULL) < 0)
		return 0;
	str_chomp(text);
	return parse_u64(text, &seen) < 0 ? 0 : seen;
}

static int open_log(struct kernel_log *log)
{
	log->fd = root_open_device(log->root, PATH);
	return log->fd < 0 ? log->fd : 0;
}

int kernel_log_read(struct kernel_log *log, struct err *err)
{
	bool first = log->fd < 0;
	int r = first ? open_log(log) : 0;

	if (r == 0)
		r = read_records(log);
	if (r < 0)
		return err_errno(err, r, PATH);
	if (log->empty)
		return err_set(err, -ENODATA, PATH " holds no record");
	if (!first)
		return 0;
	log->seen = read_seen(log->root);
	if (log->seen > log->next) /* of another boot */
		log->seen = 0;
	if (log->first > log->seen)
		log->lost += log->first - log->seen;
	return 0;
}

void kernel_log_hold(struct kernel_log *log, uint64_t seq)
{
	if (seq < log->hold)
		log->hold = seq;
}

int kernel_log_save(const struct kernel_log *log, struct err *err)
{
	uint64_t seen = log->next < log->hold ? log->next : log->hold;
	cleanup_free char *text = xasprintf("%" PRIu64 "\n", seen);

	if (log->empty || log->lost || seen == log->seen)
		return 0;
	return state_write(log->root, SEEN, text, err);
}
