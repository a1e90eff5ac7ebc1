/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the driver knows to be wrong with a GPU, asked by NVML, without load: ECC, rows to
 * be remapped, retired pages, the width of the PCIe link, clocks held down. "value" is the
 * number of faults, "faults" what they are and what to do.
 *
 * The speed of the link is no fault here: an idle GPU lets it fall to generation 1
 * (gpu_copy says what it is under load). What this GPU or driver doesn't show is named in
 * "not_shown", and isn't judged.
 */
#include "bench/gpu_health.h"

#include <stdarg.h>
#include <stdbool.h>

#include "base/mem.h"
#include "bench/pool.h"
#include "bench/nvml.h"

#define CLOCK_LOOKS 4
#define CLOCK_GAP_NS 50000000u

struct health {
	const struct nvml *nvml;
	nvml_device dev;
	json_t *line, *faults, *hidden;
	enum fault gravest;
};

static void fault(struct health *h, enum fault code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void fault(struct health *h, enum fault code, const char *fmt, ...)
{
	va_list ap;

	h->gravest = fault_graver(h->gravest, code ? code : FAULT_GPU_HEALTH);
	va_start(ap, fmt);
	json_array_append_new(h->faults, json_vsprintf(fmt, ap));
	va_end(ap);
}

static void show(struct health *h, const char *key, json_t *value)
{
	json_object_set_new(h->line, key, value);
}

/* By this GPU, by the library's part in the driver, or by a library that is newer. */
static bool is_hidden(int result)
{
	return result == NVML_NOT_SUPPORTED || result == NVML_FUNCTION_NOT_FOUND ||
	       result == NVML_DEPRECATED;
}

/*
 * True when there is an answer. What isn't supported is named and passed over. Another
 * failure is a fault of the GPU: NVML answered the calls before.
 */
static bool answered(struct health *h, int result, const char *what)
{
	struct err err = {0};

	if (result == NVML_SUCCESS)
		return true;
	if (is_hidden(result)) {
		json_array_append_new(h->hidden, json_string(what));
		return false;
	}
	nvml_check(h->nvml, result, &err, "%s", what);
	fault(h, err.fault, "%s", err.text);
	return false;
}

/* --- memory ------------------------------------------------------------------------------ */

static void look_ecc_mode(struct health *h)
{
	int now, next;

	if (!answered(h, h->nvml->ecc_mode(h->dev, &now, &next), "ECC mode"))
		return;
	show(h, "ecc", json_boolean(now));
	if (!now)
		fault(h, FAULT_GPU_ECC_OFF,
		      "ECC is off, so that errors of its memory go unseen: `nvidia-smi -e 1` and "
		      "a reset of the GPU%s",
		      next ? " (asked for already: reset it, or reboot)" : "");
	else if (!next)
		fault(h, FAULT_GPU_ECC_OFF,
		      "ECC will be off after the next reset: `nvidia-smi -e 1`");
}

static void look_ecc_errors(struct health *h)
{
	unsigned long long n;

	if (!answered(h, h->nvml->ecc_errors(h->dev, NVML_ERROR_UNCORRECTED, NVML_VOLATILE, &n),
		      "ECC errors"))
		return;
	show(h, "uncorrected_errors", json_integer((json_int_t)n));
	if (n)
		fault(h, FAULT_GPU_MEMORY,
		      "%llu uncorrectable memory error%s since the driver was loaded: reset the "
		      "GPU, then run NVIDIA's field diagnostic; replace it if they come again",
		      n, n == 1 ? "" : "s");
}

static void look_rows(struct health *h)
{
	unsigned int corrected, uncorrected, pending, failed;
	int r = h->nvml->remapped_rows ? h->nvml->remapped_rows(h->dev, &corrected, &uncorrected,
								&pending, &failed)
				       : NVML_NOT_SUPPORTED;

	if (!answered(h, r, "remapped rows"))
		return;
	show(h, "remapped_rows", json_integer((json_int_t)corrected + uncorrected));
	if (failed)
		fault(h, FAULT_GPU_WORN,
		      "remapping a row of its memory has failed: no spare rows are left; replace "
		      "the GPU");
	if (pending)
		fault(h, FAULT_GPU_MEMORY,
		      "a row of its memory waits to be remapped: reset the GPU, or reboot, before "
		      "it takes work");
}

static void look_pages(struct health *h)
{
	unsigned int single = 0, twice = 0; /* with room for none, the count is all we get */
	int pending;

	if (!answered(h, h->nvml->retired_pending(h->dev, &pending), "retired pages"))
		return;
	h->nvml->retired_pages(h->dev, NVML_RETIRED_SINGLE_BIT, &single, NULL);
	h->nvml->retired_pages(h->dev, NVML_RETIRED_DOUBLE_BIT, &twice, NULL);
	show(h, "retired_pages", json_integer((json_int_t)single + twice));
	if (pending)
		fault(h, FAULT_GPU_MEMORY,
		      "a page of its memory waits to be retired: reset the GPU, or reboot, before "
		      "it takes work");
}

/* --- link and clocks --------------------------------------------------------------------- */

static void look_width(struct health *h)
{
	unsigned int now, max;

	if (!answered(h, h->nvml->pcie_width(h->dev, &now), "PCIe width") ||
	    !answered(h, h->nvml->pcie_width_max(h->dev, &max), "most PCIe width"))
		return;
	show(h, "pcie_width", json_integer(now));
	show(h, "pcie_width_max", json_integer(max));
	if (now < max)
		fault(h, FAULT_GPU_LINK_WIDTH,
		      "its PCIe link has %u lanes of %u: reseat the GPU or its riser, and see the "
		      "slot's settings in the BIOS",
		      now, max);
}

static void look_generation(struct health *h)
{
	unsigned int now, max;

	if (!answered(h, h->nvml->pcie_generation(h->dev, &now), "PCIe generation") ||
	    !answered(h, h->nvml->pcie_generation_max(h->dev, &max), "most PCIe generation"))
		return;
	show(h, "pcie_generation", json_integer(now));
	show(h, "pcie_generation_max", json_integer(max));
}

static int read_reasons(struct health *h, unsigned long long *ret)
{
	if (h->nvml->clocks_reasons)
		return h->nvml->clocks_reasons(h->dev, ret);
	if (h->nvml->clocks_reasons_old)
		return h->nvml->clocks_reasons_old(h->dev, ret);
	return NVML_NOT_SUPPORTED;
}

/* nvml.h: the slowdown bit may also be set for a moment, while clocks change. */
static void look_clocks(struct health *h)
{
	unsigned long long all = ~0ull, now;

	for (int i = 0; i < CLOCK_LOOKS; i++) {
		if (i)
			sleep_ns(CLOCK_GAP_NS);
		if (!answered(h, read_reasons(h, &now), "clocks' reasons"))
			return;
		all &= now;
	}
	show(h, "clocks_reasons", json_integer((json_int_t)all));
	if (all & NVML_CLOCKS_HW_POWER_BRAKE)
		fault(h, FAULT_GPU_CLOCKS,
		      "clocks are held down by the power brake: the chassis asks for less power; "
		      "see the power supplies and the BMC");
	if (all & (NVML_CLOCKS_HW_THERMAL | NVML_CLOCKS_SW_THERMAL))
		fault(h, FAULT_GPU_CLOCKS,
		      "clocks are held down by temperature: see fans, air flow and the GPU's "
		      "heat sink");
	else if (all & NVML_CLOCKS_HW_SLOWDOWN && !(all & NVML_CLOCKS_HW_POWER_BRAKE))
		fault(h, FAULT_GPU_CLOCKS,
		      "clocks are held down by the hardware (heat, power brake or power draw): "
		      "see `nvidia-smi -q -d PERFORMANCE` and the BMC");
}

/* --- the driver's state ------------------------------------------------------------------ */

static void look_persistence(struct health *h)
{
	int on;

	if (!answered(h, h->nvml->persistence(h->dev, &on), "persistence mode"))
		return;
	show(h, "persistence_mode", json_boolean(on));
	if (!on)
		show(h, "note",
		     json_string(
			     "persistence mode is off: each first use of the GPU initialises it "
			     "anew, which takes seconds; enable nvidia-persistenced.service"));
}

/* Of a GPU on an NVSwitch board. What isn't done yet is CUDA's business, which says 802. */
static void look_fabric(struct health *h)
{
	static const char *const states[] = {"not supported", "not started", "in progress",
					     "completed"};
	struct nvml_fabric f = {0};
	int r = h->nvml->fabric ? h->nvml->fabric(h->dev, &f) : NVML_NOT_SUPPORTED;

	if (!answered(h, r, "NVLink fabric") || f.state >= array_len(states))
		return;
	show(h, "fabric", json_string(states[f.state]));
	if (f.state == NVML_FABRIC_COMPLETED && f.status != NVML_SUCCESS)
		fault(h, FAULT_GPU_FABRIC,
		      "the NVLink fabric has not taken it (%s): see nvidia-fabricmanager's log",
		      h->nvml->error_string(f.status));
}

/* -------------------------------------------------------------------------------------- */

/* What an error of the lookup says of the GPU itself, not of the driver's installation. */
static bool is_broken_gpu(int result)
{
	return result == NVML_GPU_IS_LOST || result == NVML_RESET_REQUIRED ||
	       result == NVML_INSUFFICIENT_POWER || result == NVML_IRQ_ISSUE ||
	       result == NVML_CORRUPTED_INFOROM;
}

static int look_all(struct health *h, const char *addr, struct err *err)
{
	static void (*const looks[])(struct health * h) = {
		look_ecc_mode,	 look_ecc_errors, look_rows,	    look_pages,	 look_width,
		look_generation, look_clocks,	  look_persistence, look_fabric,
	};
	int result = h->nvml->device_by_address(addr, &h->dev);
	int r = nvml_check(h->nvml, result, err, "%s", addr);

	if (is_broken_gpu(result)) {
		fault(h, err->fault, "%s", err->text);
		return 0;
	}
	for (size_t i = 0; r == 0 && i < array_len(looks); i++)
		looks[i](h);
	return r;
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	const char *addr = option_text(o, "gpu", "");
	struct nvml nvml;
	struct health h = {
		.nvml = &nvml, .line = line, .faults = json_array(), .hidden = json_array()};
	int r = nvml_open(&nvml, err);

	if (r == 0)
		r = look_all(&h, addr, err);
	if (r == 0) {
		show(&h, "gpu", json_string(addr));
		show(&h, "value", json_integer((json_int_t)json_array_size(h.faults)));
		show(&h, "unit", json_string("faults"));
		show(&h, "faults", json_incref(h.faults));
		if (h.gravest)
			show(&h, "fault", json_string(fault_code(h.gravest)));
		show(&h, "not_shown", json_incref(h.hidden));
	}
	json_decref(h.faults);
	json_decref(h.hidden);
	nvml_close(&nvml);
	return r;
}

const struct benchmark gpu_health = {
	.name = "gpu_health",
	.summary = "faults of a GPU that its driver knows of (ECC, rows, link width, clocks)",
	.options = {{.name = "gpu",
		     .arg = "ADDRESS",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "PCI address of the GPU"},
		    {.name = "budget",
		     .arg = "MS",
		     .type = OPTION_NUMBER,
		     .max = 3600000,
		     .help = "taken for the sake of the others; it needs 200 ms"}},
	.run = run,
	.together = true,
};
