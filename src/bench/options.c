/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command-line options of a benchmark, from its table. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "bench/benchmark.h"

static int find(const struct benchmark *bench, const char *name, size_t len)
{
	for (int i = 0; bench->options[i].name; i++)
		if (strlen(bench->options[i].name) == len &&
		    strncmp(bench->options[i].name, name, len) == 0)
			return i;
	return -1;
}

static int check_sizes(const char *value)
{
	cleanup_free char *list = xstrdup(value);
	char *rest = list, *word;
	uint64_t size;
	int r;

	while ((word = strsep(&rest, ",")) != NULL) {
		r = parse_size(word, &size);
		if (r < 0)
			return r;
		if (size == 0)
			return -EINVAL;
	}
	return 0;
}

static int check_cpus(const char *value)
{
	struct cpus cpus = {0};
	int r = cpus_parse(value, &cpus);

	return r < 0 ? r : cpus_count(&cpus) == 0 ? -EINVAL : 0;
}

static int check_value(const struct option_def *def, const char *value, struct err *err)
{
	uint64_t n;
	int r = 0;

	switch (def->type) {
	case OPTION_NUMBER:
		r = parse_u64(value, &n);
		if (r == 0 && (n < def->min || n > def->max))
			return err_set(err, -ERANGE, "--%s: %s is not within %" PRIu64 "..%" PRIu64,
				       def->name, value, def->min, def->max);
		break;
	case OPTION_SIZE:
		r = parse_size(value, &n);
		break;
	case OPTION_SIZES:
		r = check_sizes(value);
		break;
	case OPTION_CPUS:
		r = check_cpus(value);
		break;
	case OPTION_TEXT:
		r = *value ? 0 : -EINVAL;
		break;
	}
	if (r < 0)
		return err_set(err, r, "--%s: '%s' is not %s", def->name, value, def->arg);
	return 0;
}

static int check_required(const struct options *o, struct err *err)
{
	for (int i = 0; o->bench->options[i].name; i++)
		if (o->bench->options[i].required && !o->values[i])
			return err_set(err, -EINVAL, "--%s is required", o->bench->options[i].name);
	return 0;
}

int options_parse(struct options *o, const struct benchmark *bench, int argc, char **argv,
		  struct err *err)
{
	struct options parsed = {.bench = bench};

	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];
		size_t len = strcspn(word, "=");
		int k = strncmp(word, "--", 2) == 0 ? find(bench, word + 2, len - 2) : -1;
		int r;

		if (k < 0)
			return err_set(err, -EINVAL, "unknown option '%s'", word);
		parsed.values[k] = word[len] ? word + len + 1 : argv[++i];
		if (!parsed.values[k])
			return err_set(err, -EINVAL, "%s needs a value", word);
		r = check_value(&bench->options[k], parsed.values[k], err);
		if (r < 0)
			return r;
	}
	*o = parsed;
	return check_required(o, err);
}

const char *option_text(const struct options *o, const char *name, const char *fallback)
{
	int k = find(o->bench, name, strlen(name));

	return k >= 0 && o->values[k] ? o->values[k] : fallback;
}

uint64_t option_number(const struct options *o, const char *name, uint64_t fallback)
{
	const char *text = option_text(o, name, NULL);

	if (text)
		parse_u64(text, &fallback); /* checked by options_parse() */
	return fallback;
}

uint64_t option_size(const struct options *o, const char *name, uint64_t fallback)
{
	const char *text = option_text(o, name, NULL);

	if (text)
		parse_size(text, &fallback);
	return fallback;
}
