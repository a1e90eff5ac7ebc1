/* SPDX-License-Identifier: GPL-2.0-or-later */
/* railhead-bench BENCHMARK [OPTIONS]: see benchmark.h; together TEXT: see together.h. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/benchmark.h"
#include "bench/together.h"

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

/* For the gate only, and therefore missing from the usage text. */
static int run_together(int argc, char **argv)
{
	struct together *t = NULL;
	struct err err = {0};
	int r;

	if (argc != 3 || together_parse(&t, argv[2], &err) < 0) {
		fprintf(stderr, "railhead-bench: together: %s\n",
			argc == 3 ? err.text : "expected one text");
		return EXIT_USAGE;
	}
	r = together_run(t);
	together_free(t);
	return r;
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
	if (streq(argv[1], "together"))
		return run_together(argc, argv);
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
