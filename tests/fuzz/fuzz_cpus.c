/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU lists: what is printed reads back as the same set; sets behave as sets. */
#include "fuzz.h"

#include <errno.h>

#include "base/mem.h"
#include "base/units.h"

static bool same(const struct cpus *a, const struct cpus *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void check_set(const struct cpus *c)
{
	cleanup_free char *text = cpus_format(c), *mask = cpus_format_mask(c);
	struct cpus again = {0}, walked = {0}, rest = *c;
	size_t n = 0;
	int last = -1;

	must(cpus_parse(text, &again) == 0 && same(c, &again));
	must(cpus_parse_mask(mask, &again) == 0 && same(c, &again));
	for (int i = cpus_next(c, -1); i >= 0; i = cpus_next(c, i)) {
		must(i > last && cpus_has(c, (unsigned int)i));
		must(n > 0 || i == cpus_first(c));
		cpus_add(&walked, (unsigned int)i);
		last = i;
		n++;
	}
	must(same(c, &walked) && n == cpus_count(c) && last == cpus_last(c));
	must((n == 0) == (cpus_first(c) < 0));
	cpus_remove_all(&rest, c);
	must(cpus_count(&rest) == 0);
}

static void check_pair(const struct cpus *a, const struct cpus *b)
{
	struct cpus diff = *a, both = *a;

	cpus_remove_all(&diff, b);
	cpus_remove_all(&both, &diff);
	must(cpus_count(&diff) + cpus_count(&both) == cpus_count(a));
	for (int i = cpus_next(a, -1); i >= 0; i = cpus_next(a, i))
		must(cpus_has(b, (unsigned int)i) ? cpus_has(&both, (unsigned int)i)
						  : cpus_has(&diff, (unsigned int)i));
}

/* Two lists with a newline between them, and the same bytes as two sets. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	struct cpus a = {0}, b = {0};
	char *second = strchr(text, '\n');
	int r;

	if (second)
		*second++ = '\0';
	r = cpus_parse(text, &a);
	must(r == 0 || r == -EINVAL || r == -ERANGE);
	must(r == 0 || cpus_count(&a) == 0);
	r = cpus_parse_mask(text, &b);
	must(r == 0 || r == -EINVAL || r == -ERANGE);
	if (second)
		cpus_parse(second, &b);
	check_set(&a);
	check_pair(&a, &b);
	check_pair(&b, &a);

	memset(&a, 0, sizeof(a));
	for (size_t i = 0; i + 1 < size; i += 2)
		cpus_add(&a, data[i] | (unsigned int)data[i + 1] << 8);
	check_set(&a);
	check_pair(&a, &b);
	return 0;
}
