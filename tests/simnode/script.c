/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script: a line each, # begins a comment, the first line that fits counts.
 *
 *	global_lock no                  numvfs writes of two PFs run side by side, as on kernels
 *	                                before the end of 2025; "yes" if not said
 *	latency WHAT TIME               0 if not said. WHAT is one of
 *	    enable     once for each non-zero numvfs write (the kernel itself sleeps 100 ms)
 *	    create     for each VF of it
 *	    disable    once for each numvfs 0, and for a PF with VFs whose driver lets go of it,
 *	               when the VFs have gone (1 s in the kernel)
 *	    probe      for each VF that its own driver takes
 *	    netdev     from there to its netdev and RDMA device
 *	    udev       from there to the netdev's name
 *	at PATTERN OP [WHEN] ACTION     OP: open (for writing), read, write. PATTERN is a path with
 *	                                * and ?; of a PCI function always /sys/bus/pci/devices/...
 *	probe ADDRESS [WHEN] ACTION     a driver's probe of that device, also with * and ?
 *	vanish ADDRESS after TIME       it is pulled out so long after the mount
 *
 * WHEN is "times N" (only the first N that fit), "after N" (not the first N), or "after N
 * times N". ACTION is one of
 *
 *	delay TIME      and then go on, to a later line that fits too
 *	error EIO       fails; any errno name
 *	hang            is never answered: the caller sleeps unkillable, as in a stuck driver
 *	short N         N VFs or pages fewer come than are asked for, and the write succeeds
 *	vanish          the device is pulled out at this moment, its driver fails with EIO
 *	vanish ADDRESS  that one is pulled out, and the line goes on as delay does
 *	empty           a read gives no byte, and is no error
 *	ignore          a write below ecn/ or of traffic_class succeeds, and stores nothing
 *	store N         ... and stores N
 *
 * The fault of a sriov_numvfs write is that of the PF's driver: it happens below the locks,
 * and not at all where the kernel answers by itself (ERANGE, EBUSY, an equal number).
 * TIME is 500ms, 2s, 100us.
 *
 * A hang ends with simnode (SIGTERM, or any death of it: the kernel then fails what is open
 * with ECONNABORTED), or through /sys/fs/fuse/connections/N/abort where fusectl is mounted.
 */
#include "simnode.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "sys/clock.h"

enum action {
	ACT_DELAY,
	ACT_ERROR,
	ACT_HANG,
	ACT_SHORT,
	ACT_VANISH,
	ACT_EMPTY,
	ACT_IGNORE,
	ACT_STORE,
};

struct rule {
	enum op op;
	char *pattern;
	enum action action;
	char *addr;    /* vanish: another device */
	uint64_t arg;  /* microseconds, errno or VFs */
	uint64_t skip; /* how many it still lets pass */
	uint64_t left; /* how often it then counts */
};

struct timed {
	char *addr;
	uint64_t after;
};

struct latencies latency;
bool global_lock = true;
static VEC(struct rule) rules;
static VEC(struct timed) timed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* skip and left of the rules */

static const struct {
	const char *name;
	uint64_t *usec;
} latency_words[] = {
	{"enable", &latency.enable}, {"create", &latency.create}, {"disable", &latency.disable},
	{"probe", &latency.probe},   {"netdev", &latency.netdev}, {"udev", &latency.udev},
};

static const char *const op_words[OP_COUNT] = {
	[OP_OPEN] = "open",
	[OP_READ] = "read",
	[OP_WRITE] = "write",
};

/* --- reading -------------------------------------------------------------------------------- */

/* The words of a line that are not read yet. */
struct words {
	char *rest;
};

static const char *next_word(struct words *w)
{
	char *word = strsep(&w->rest, " \t");

	while (word && !*word)
		word = strsep(&w->rest, " \t");
	return word ? word : "";
}

static int take_time(struct words *w, uint64_t *ret, struct err *err)
{
	const char *word = next_word(w);

	if (parse_duration(word, ret) < 0)
		return err_set(err, -EINVAL, "'%s' is no time; write 500ms, 2s or 100us", word);
	return 0;
}

static int take_number(struct words *w, uint64_t *ret, struct err *err)
{
	const char *word = next_word(w);

	if (parse_u64(word, ret) < 0 || !*ret)
		return err_set(err, -EINVAL, "'%s' is no number above 0", word);
	return 0;
}

static int take_errno(struct words *w, uint64_t *ret, struct err *err)
{
	const char *word = next_word(w);

	for (int e = 1; e < 200; e++) {
		const char *name = strerrorname_np(e);

		if (name && streq(name, word)) {
			*ret = (uint64_t)e;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "'%s' is no errno; write EIO or another name", word);
}

static int take_vanish(struct words *w, struct rule *rule, struct err *err)
{
	const char *addr = next_word(w);

	rule->action = ACT_VANISH;
	if (*addr && !tree_has(PCI "%s", addr))
		return err_set(err, -ENODEV, "'%s': the tree has no such device", addr);
	rule->addr = *addr ? xstrdup(addr) : NULL;
	return 0;
}

static int take_action(struct words *w, const char *word, struct rule *rule, struct err *err)
{
	if (streq(word, "delay")) {
		rule->action = ACT_DELAY;
		return take_time(w, &rule->arg, err);
	}
	if (streq(word, "error")) {
		rule->action = ACT_ERROR;
		return take_errno(w, &rule->arg, err);
	}
	if (streq(word, "short")) {
		rule->action = ACT_SHORT;
		return take_number(w, &rule->arg, err);
	}
	if (streq(word, "store")) {
		rule->action = ACT_STORE;
		return parse_u64(next_word(w), &rule->arg) < 0
			       ? err_set(err, -EINVAL, "store which number?")
			       : 0;
	}
	if (streq(word, "hang"))
		rule->action = ACT_HANG;
	else if (streq(word, "empty"))
		rule->action = ACT_EMPTY;
	else if (streq(word, "ignore"))
		rule->action = ACT_IGNORE;
	else if (streq(word, "vanish"))
		return take_vanish(w, rule, err);
	else
		return err_set(err, -EINVAL,
			       "'%s' is no action; they are delay, error, hang, short, vanish, "
			       "empty, ignore, store",
			       word);
	return 0;
}

/* What can't be told, or is not asked for, at that place. */
static int check_action(const struct rule *rule, struct err *err)
{
	if (rule->action == ACT_EMPTY && rule->op != OP_READ)
		return err_set(err, -EINVAL, "empty is for reads only");
	if (rule->action != ACT_IGNORE && rule->action != ACT_STORE)
		return 0;
	if (rule->op == OP_WRITE && (fnmatch("*/ecn/*", rule->pattern, 0) == 0 ||
				     fnmatch("*/traffic_class", rule->pattern, 0) == 0))
		return 0;
	return err_set(err, -EINVAL,
		       "ignore and store are for writes below ecn/ and of "
		       "traffic_class only");
}

static bool takes_short(const struct rule *rule)
{
	return rule->op == OP_WRITE && (fnmatch("*/sriov_numvfs", rule->pattern, 0) == 0 ||
					fnmatch("*/nr_hugepages", rule->pattern, 0) == 0);
}

static int take_rule(struct words *w, const char *pattern, enum op op, struct err *err)
{
	struct rule rule = {.op = op, .left = UINT64_MAX};
	const char *word = next_word(w);
	int r = 0;

	if (streq(word, "after")) {
		r = take_number(w, &rule.skip, err);
		word = next_word(w);
	}
	if (r == 0 && streq(word, "times")) {
		r = take_number(w, &rule.left, err);
		word = next_word(w);
	}
	if (r == 0)
		r = take_action(w, word, &rule, err);
	if (r < 0)
		return r;
	rule.pattern = xstrdup(pattern);
	vec_push(&rules, rule);
	if (rule.action == ACT_SHORT && !takes_short(&rule))
		return err_set(err, -EINVAL,
			       "short is for writes of sriov_numvfs and nr_hugepages only");
	return check_action(&rule, err);
}

static int line_at(struct words *w, struct err *err)
{
	const char *pattern = next_word(w), *word = next_word(w);

	if (*pattern != '/')
		return err_set(err, -EINVAL, "'%s' is no path; it begins with /", pattern);
	for (enum op op = 0; op < OP_COUNT; op++)
		if (op_words[op] && streq(word, op_words[op]))
			return take_rule(w, pattern, op, err);
	return err_set(err, -EINVAL, "'%s': open, read or write is wanted after the path", word);
}

static int line_probe(struct words *w, struct err *err)
{
	const char *pattern = next_word(w);

	if (!*pattern)
		return err_set(err, -EINVAL, "probe of which address?");
	return take_rule(w, pattern, OP_PROBE, err);
}

static int line_vanish(struct words *w, struct err *err)
{
	const char *addr = next_word(w);
	struct timed t = {0};
	int r;

	if (!streq(next_word(w), "after"))
		return err_set(err, -EINVAL, "write: vanish ADDRESS after TIME");
	if (!tree_has(PCI "%s", addr))
		return err_set(err, -ENODEV, "'%s': the tree has no such device", addr);
	r = take_time(w, &t.after, err);
	if (r < 0)
		return r;
	t.addr = xstrdup(addr);
	vec_push(&timed, t);
	return 0;
}

static int line_latency(struct words *w, struct err *err)
{
	const char *word = next_word(w);

	for (size_t i = 0; i < array_len(latency_words); i++)
		if (streq(word, latency_words[i].name))
			return take_time(w, latency_words[i].usec, err);
	return err_set(err, -EINVAL,
		       "'%s' has no latency; enable, create, disable, probe, netdev, udev have",
		       word);
}

static int line_lock(struct words *w, struct err *err)
{
	const char *word = next_word(w);

	global_lock = streq(word, "yes");
	if (!global_lock && !streq(word, "no"))
		return err_set(err, -EINVAL, "'%s': yes or no is wanted", word);
	return 0;
}

static const struct {
	const char *word;
	int (*read)(struct words *w, struct err *err);
} lines[] = {
	{"at", line_at},	   {"probe", line_probe},      {"vanish", line_vanish},
	{"latency", line_latency}, {"global_lock", line_lock},
};

static int read_line(char *text, struct err *err)
{
	struct words w = {text};
	const char *word, *more;

	text[strcspn(text, "#\r\n")] = '\0';
	word = next_word(&w);
	if (!*word)
		return 0;
	for (size_t i = 0; i < array_len(lines); i++) {
		if (!streq(word, lines[i].word))
			continue;
		if (lines[i].read(&w, err) < 0)
			return err->code;
		more = next_word(&w);
		return *more ? err_set(err, -EINVAL, "'%s' is too much", more) : 0;
	}
	return err_set(err, -EINVAL, "'%s': at, probe, vanish, latency or global_lock is wanted",
		       word);
}

int script_load(const char *file, struct err *err)
{
	FILE *f cleanup(cleanup_fclosep) = fopen(file, "re");
	cleanup_free char *line = NULL;
	size_t size = 0;

	if (!f)
		return err_errno(err, -errno, "%s", file);
	for (unsigned int n = 1; getline(&line, &size, f) >= 0; n++)
		if (read_line(line, err) < 0)
			return err_wrap(err, "%s:%u", file, n);
	return ferror(f) ? err_errno(err, -EIO, "%s", file) : 0;
}

void script_start(void)
{
	for (size_t i = 0; i < timed.n; i++) {
		struct device *dev = pci_find(timed.v[i].addr);

		if (dev)
			pci_vanish(dev, timed.v[i].after);
	}
}

void script_free(void)
{
	for (size_t i = 0; i < rules.n; i++) {
		free(rules.v[i].pattern);
		free(rules.v[i].addr);
	}
	for (size_t i = 0; i < timed.n; i++)
		free(timed.v[i].addr);
	vec_free(&rules);
	vec_free(&timed);
}

/* --- doing ---------------------------------------------------------------------------------- */

static bool counts(struct rule *rule)
{
	bool yes;

	pthread_mutex_lock(&lock);
	yes = !rule->skip && rule->left;
	if (rule->skip)
		rule->skip--;
	else if (yes && rule->left != UINT64_MAX)
		rule->left--;
	pthread_mutex_unlock(&lock);
	return yes;
}

static void vanish_other(const char *addr)
{
	struct device *dev = pci_find(addr);

	if (dev)
		pci_vanish(dev, 0);
}

static int meet(enum op op, const char *name, struct device *dev, unsigned int *fewer,
		char **instead)
{
	for (size_t i = 0; i < rules.n; i++) {
		struct rule *rule = &rules.v[i];
		int r;

		if (rule->op != op || fnmatch(rule->pattern, name, 0) != 0 || !counts(rule))
			continue;
		switch (rule->action) {
		case ACT_DELAY:
			r = sim_sleep(rule->arg, dev);
			if (r < 0)
				return r;
			break;
		case ACT_ERROR:
			return -(int)rule->arg;
		case ACT_HANG:
			log_event("hang %s", name);
			return sim_sleep(SIM_FOREVER, dev);
		case ACT_SHORT:
			if (fewer)
				*fewer = (unsigned int)rule->arg;
			return 0;
		case ACT_VANISH:
			if (rule->addr) {
				vanish_other(rule->addr);
				break;
			}
			if (dev)
				pci_vanish(dev, 0);
			return -EIO;
		case ACT_EMPTY:
		case ACT_IGNORE:
		case ACT_STORE:
			if (!instead)
				break;
			*instead = rule->action == ACT_STORE
					   ? xasprintf("%llu", (unsigned long long)rule->arg)
					   : xstrdup("");
			return INSTEAD;
		}
	}
	return 0;
}

int script_meet(enum op op, const char *name, struct device *dev, unsigned int *fewer)
{
	return meet(op, name, dev, fewer, NULL);
}

int script_meet_instead(enum op op, const char *name, struct device *dev, char **instead)
{
	return meet(op, name, dev, NULL, instead);
}
