/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks NVML, without load, for the faults of a GPU that the driver knows: ECC, rows to be remapped,
 * retired pages, the width of the PCIe link, clocks that are held down. "value" is the number of
 * faults; "faults" has their texts with the remedies.
 *
 * A slow link is not a fault here, because an idle GPU lets the link fall to generation 1 (gpu_copy
 * reports the speed under load). "not_shown" lists the facts that this GPU or driver hides. A
 * hidden fact is a fault if --must_show names it, or if the GPU hides all of them. gpu_fabric
 * checks the NVLink fabric.
 */
#include "bench/gpu_health.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/words.h"
#include "bench/gpu_findings.h"
#include "bench/pool.h"

#define CLOCK_LOOKS 4
#define CLOCK_GAP_NS 50000000u

struct health {
	struct gpu_findings f;
	const char *want_mig; /* "on" or "off"; NULL: either */
	bool ecc_off, mig;
};

/* --- memory ------------------------------------------------------------------------------ */

static void look_ecc_mode(struct health *h)
{
	int now, next;

	if (!gpu_answered(&h->f, h->f.nvml.ecc_mode(h->f.dev, &now, &next), "ECC mode"))
		return;
	gpu_show(&h->f, "ecc", json_boolean(now));
	h->ecc_off = !now;
	if (!now)
		gpu_fault(&h->f, FAULT_GPU_ECC_OFF,
			  "ECC is off, which hides errors of the GPU's memory: run `nvidia-smi -e "
			  "1`, then reset the GPU%s",
			  next ? " (already requested: reset the GPU, or reboot)" : "");
	else if (!next)
		gpu_fault(&h->f, FAULT_GPU_ECC_OFF,
			  "ECC will be off after the next reset: run `nvidia-smi -e 1`");
}

static void look_ecc_errors(struct health *h)
{
	unsigned long long n;

	if (!gpu_answered(&h->f,
			  h->f.nvml.ecc_errors(h->f.dev, NVML_ERROR_UNCORRECTED, NVML_VOLATILE, &n),
			  "ECC errors"))
		return;
	gpu_show(&h->f, "uncorrected_errors", json_integer((json_int_t)n));
	if (n)
		gpu_fault(&h->f, FAULT_GPU_MEMORY,
			  "%llu uncorrectable memory error%s since the driver was loaded: reset "
			  "the GPU, then run NVIDIA's field diagnostic; replace the GPU if the "
			  "errors return",
			  n, n == 1 ? "" : "s");
}

static void look_rows(struct health *h)
{
	unsigned int corrected, uncorrected, pending, failed;
	int r = h->f.nvml.remapped_rows ? h->f.nvml.remapped_rows(h->f.dev, &corrected,
								  &uncorrected, &pending, &failed)
					: NVML_NOT_SUPPORTED;

	if (!gpu_answered(&h->f, r, "remapped rows"))
		return;
	gpu_show(&h->f, "remapped_rows", json_integer((json_int_t)corrected + uncorrected));
	if (failed)
		gpu_fault(
			&h->f, FAULT_GPU_WORN,
			"remapping a row of its memory has failed: no spare rows are left; replace "
			"the GPU");
	if (pending)
		gpu_fault(&h->f, FAULT_GPU_MEMORY,
			  "a row of its memory waits to be remapped: reset the GPU, or reboot, "
			  "before the GPU gets work");
}

static void look_pages(struct health *h)
{
	unsigned int single = 0, twice = 0; /* no room: NVML returns the count only */
	int pending;

	if (!gpu_answered(&h->f, h->f.nvml.retired_pending(h->f.dev, &pending), "retired pages"))
		return;
	h->f.nvml.retired_pages(h->f.dev, NVML_RETIRED_SINGLE_BIT, &single, NULL);
	h->f.nvml.retired_pages(h->f.dev, NVML_RETIRED_DOUBLE_BIT, &twice, NULL);
	gpu_show(&h->f, "retired_pages", json_integer((json_int_t)single + twice));
	if (pending)
		gpu_fault(&h->f, FAULT_GPU_MEMORY,
			  "a page of its memory waits to be retired: reset the GPU, or reboot, "
			  "before the GPU gets work");
}

/* --- link and clocks --------------------------------------------------------------------- */

static void look_width(struct health *h)
{
	unsigned int now, max;

	if (!gpu_answered(&h->f, h->f.nvml.pcie_width(h->f.dev, &now), "PCIe width") ||
	    !gpu_answered(&h->f, h->f.nvml.pcie_width_max(h->f.dev, &max), "most PCIe width"))
		return;
	gpu_show(&h->f, "pcie_width", json_integer(now));
	gpu_show(&h->f, "pcie_width_max", json_integer(max));
	if (now < max)
		gpu_fault(&h->f, FAULT_GPU_LINK_WIDTH,
			  "its PCIe link has %u lanes of %u: reseat the GPU or its riser, and see "
			  "the "
			  "slot's settings in the BIOS",
			  now, max);
}

static void look_generation(struct health *h)
{
	unsigned int now, max;

	if (!gpu_answered(&h->f, h->f.nvml.pcie_generation(h->f.dev, &now), "PCIe generation") ||
	    !gpu_answered(&h->f, h->f.nvml.pcie_generation_max(h->f.dev, &max),
			  "most PCIe generation"))
		return;
	gpu_show(&h->f, "pcie_generation", json_integer(now));
	gpu_show(&h->f, "pcie_generation_max", json_integer(max));
}

static int read_reasons(struct health *h, unsigned long long *ret)
{
	if (h->f.nvml.clocks_reasons)
		return h->f.nvml.clocks_reasons(h->f.dev, ret);
	if (h->f.nvml.clocks_reasons_old)
		return h->f.nvml.clocks_reasons_old(h->f.dev, ret);
	return NVML_NOT_SUPPORTED;
}

/* nvml.h: the slowdown bit may also be set for a moment, while clocks change. */
static void look_clocks(struct health *h)
{
	unsigned long long all = ~0ull, now;

	for (int i = 0; i < CLOCK_LOOKS; i++) {
		if (i)
			sleep_ns(CLOCK_GAP_NS);
		if (!gpu_answered(&h->f, read_reasons(h, &now), "clocks' reasons"))
			return;
		all &= now;
	}
	gpu_show(&h->f, "clocks_reasons", json_integer((json_int_t)all));
	if (all & NVML_CLOCKS_HW_POWER_BRAKE)
		gpu_fault(&h->f, FAULT_GPU_CLOCKS,
			  "clocks are held down by the power brake: the chassis requests less "
			  "power; see the power supplies and the BMC");
	if (all & (NVML_CLOCKS_HW_THERMAL | NVML_CLOCKS_SW_THERMAL))
		gpu_fault(&h->f, FAULT_GPU_CLOCKS,
			  "clocks are held down by temperature: see fans, air flow and the GPU's "
			  "heat sink");
	else if (all & NVML_CLOCKS_HW_SLOWDOWN && !(all & NVML_CLOCKS_HW_POWER_BRAKE))
		gpu_fault(&h->f, FAULT_GPU_CLOCKS,
			  "clocks are held down by the hardware (heat, power brake or power draw): "
			  "see `nvidia-smi -q -d PERFORMANCE` and the BMC");
}

/* --- the driver's state ------------------------------------------------------------------ */

static void look_persistence(struct health *h)
{
	int on;

	if (!gpu_answered(&h->f, h->f.nvml.persistence(h->f.dev, &on), "persistence mode"))
		return;
	gpu_show(&h->f, "persistence_mode", json_boolean(on));
	if (!on)
		gpu_show(
			&h->f, "note",
			json_string(
				"persistence mode is off: each first use of the GPU initialises it "
				"again, which takes seconds; enable nvidia-persistenced.service"));
}

/* nvml.h: a GPU with MIG does not report its remapped rows. */
static void look_mig(struct health *h)
{
	unsigned int now = 0, next = 0, want;
	int r = h->f.nvml.mig_mode ? h->f.nvml.mig_mode(h->f.dev, &now, &next) : NVML_NOT_SUPPORTED;

	if (r == NVML_SUCCESS) { /* a GPU without MIG has no mode to report */
		h->mig = now;
		gpu_show(&h->f, "mig", json_boolean(now));
	}
	if (!h->want_mig)
		return;
	if (r != NVML_SUCCESS && !nvml_is_hidden(r)) {
		gpu_answered(&h->f, r, "MIG mode");
		return;
	}
	want = streq(h->want_mig, "on");
	if (now != want)
		gpu_fault(&h->f, FAULT_GPU_MIG,
			  "it is %s MIG mode: run `nvidia-smi -mig %d`, then reset the GPU%s",
			  now ? "in" : "not in", want,
			  next == want ? " (already requested: reset the GPU, or reboot)" : "");
	else if (next != want)
		gpu_fault(&h->f, FAULT_GPU_MIG,
			  "its next reset %s MIG mode: run `nvidia-smi -mig %d`",
			  next ? "turns on" : "turns off", want);
}

/* --- what must be shown ------------------------------------------------------------------ */

static bool has_mig(const struct health *h)
{
	return h->mig;
}

static bool has_no_ecc(const struct health *h)
{
	return h->ecc_off;
}

/* The order matters, because some answers excuse later questions. */
static const struct question {
	const char *word; /* of --must_show; NULL: the answer is not judged */
	const char *name;
	void (*look)(struct health *h);
	bool (*is_excused)(const struct health *h); /* the GPU can't show the fact, and need not */
} questions[] = {
	{NULL, "MIG", look_mig, NULL},
	{"ecc", "ECC mode", look_ecc_mode, NULL},
	{"ecc_errors", "ECC errors", look_ecc_errors, has_no_ecc},
	{"remapped_rows", "remapped rows", look_rows, has_mig},
	{"retired_pages", "retired pages", look_pages, NULL},
	{"pcie_width", "PCIe width", look_width, NULL},
	{NULL, "PCIe generation", look_generation, NULL},
	{"clocks", "clocks' reasons", look_clocks, NULL},
	{NULL, "persistence mode", look_persistence, NULL},
};

/* Rejects unknown words, because a misspelt word would require nothing. */
static int check_words(const char *list, struct err *err)
{
	cleanup_free char *copy = xstrdup(list);
	char *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL) {
		bool known = streq(word, "any") || streq(word, "none");

		for (size_t i = 0; i < array_len(questions); i++)
			known = known || (questions[i].word && streq(questions[i].word, word));
		if (!known)
			return err_set(err, -EINVAL, "--must_show: unknown fact '%s'", word);
	}
	return 0;
}

/* True if the GPU answered, with or without a fault. */
static bool ask(struct health *h, const struct question *q)
{
	size_t hidden = json_array_size(h->f.hidden);

	q->look(h);
	return json_array_size(h->f.hidden) == hidden;
}

/* An unknown fact is never taken as healthy. */
static void blame_hidden(struct health *h, const char *names, bool any)
{
	static const char remedy[] =
		"install a driver that supports this GPU; for a virtual GPU, which hides some "
		"facts from its guest, list in must_show: the facts that it shows";

	if (*names)
		gpu_fault(&h->f, FAULT_GPU_NOT_SHOWN,
			  "does not show %s, so the health is unknown; %s", names, remedy);
	else if (!any)
		gpu_fault(&h->f, FAULT_GPU_NOT_SHOWN, "answers none of the health queries; %s",
			  remedy);
}

static void look_all(struct health *h, const char *must_show)
{
	struct str names = {0};
	bool any = commas_have(must_show, "none");

	for (size_t i = 0; i < array_len(questions); i++) {
		const struct question *q = &questions[i];
		bool shown = ask(h, q);

		if (!q->word)
			continue;
		any = any || shown;
		if (!shown && commas_have(must_show, q->word) &&
		    !(q->is_excused && q->is_excused(h)))
			str_addf(&names, "%s%s", names.len ? ", " : "", q->name);
	}
	blame_hidden(h, str_get(&names), any);
	str_free(&names);
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	const char *must_show = option_text(o, "must_show", "any");
	struct health h = {.want_mig = option_text(o, "mig", NULL)};
	int r = check_words(must_show, err);

	if (r == 0 && h.want_mig && !streq(h.want_mig, "on") && !streq(h.want_mig, "off"))
		r = err_set(err, -EINVAL, "--mig: '%s': expected one of: on, off", h.want_mig);

	if (r < 0)
		return r;
	r = gpu_findings_begin(&h.f, option_text(o, "gpu", ""), line, err);
	if (r == 0 && h.f.dev)
		look_all(&h, must_show);
	gpu_show(&h.f, "must_show", json_string(must_show));
	return gpu_findings_end(&h.f, r);
}

const struct benchmark gpu_health = {
	.name = "gpu_health",
	.summary = "faults of a GPU that its driver reports (ECC, rows, link width, clocks)",
	.options = {{.name = "gpu",
		     .arg = "ADDRESS",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "PCI address of the GPU"},
		    {.name = "must_show",
		     .arg = "WORDS",
		     .type = OPTION_TEXT,
		     .help = "required facts: ecc, ecc_errors, remapped_rows, retired_pages, "
			     "pcie_width, clocks; or any of them, or none (any)"},
		    {.name = "mig",
		     .arg = "WORD",
		     .type = OPTION_TEXT,
		     .help = "required MIG mode: on or off (either)"},
		    {.name = "budget",
		     .arg = "MS",
		     .type = OPTION_NUMBER,
		     .max = 3600000,
		     .help = "accepted and ignored: the check takes 200 ms"}},
	.run = run,
	.gpu = true,
};
