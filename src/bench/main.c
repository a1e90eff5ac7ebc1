/* SPDX-License-Identifier: GPL-2.0-or-later */
/* railhead-bench BENCHMARK [OPTIONS]: see benchmark.h. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/benchmark.h"

enum { EXIT_USAGE = 2 };

static int usage(FILE *to, int status)
{
	fprintf(to, "usage: railhead-bench BENCHMARK [OPTIONS]\n"
		    "Measures one part of this machine and prints one line of JSON.\n");
	for (size_t i = 0; benchmarks[i]; i++) {
		const struct benchmark *b = benchmarks[i];

		fprintf(to, "\n%s: %s\n", b->name, b->summary);
		for (const struct option_def *d = b->options; d->name; d++)
			fprintf(to, "  --%s %-*s %s%s\n", d->name, (int)(14 - strlen(d->name)),
				d->arg, d->help, d->required ? " (required)" : "");
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct benchmark *bench;
	struct options o;
	struct err err = {0};

	if (argc == 2 && streq(argv[1], "--help"))
		return usage(stdout, 0);
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	bench = benchmark_find(argv[1]);
	if (!bench) {
		fprintf(stderr, "railhead-bench: no benchmark '%s'\n", argv[1]);
		return usage(stderr, EXIT_USAGE);
	}
	if (options_parse(&o, bench, argc - 2, argv + 2, &err) < 0) {
		fprintf(stderr, "railhead-bench: %s: %s\n", bench->name, err.text);
		return EXIT_USAGE;
	}
	return benchmark_run(&o);
}
