/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_health: the faults that the driver of GPUs knows, and the values that it must report. */
#include "base/mem.h"
#include "base/str.h"
#include "checks/gpu.h"
#include "profile/yaml.h"

/* Row remapping came with Ampere (NVIDIA, "GPU Memory Error Management": GA100, GA10x, AD10x,
 * GH100, GB10x); before, pages were retired. */
#define PAGES "ecc,ecc_errors,retired_pages,pcie_width,clocks"
#define ROWS "ecc,ecc_errors,remapped_rows,pcie_width,clocks"
/* Connected by NVLink-C2C to its own CPU; nvml.h lets PCIe be "not available" there. */
#define C2C "ecc,ecc_errors,remapped_rows,clocks"

/*
 * The values that a data centre GPU must report, by device id (pci.ids; the halves of a chip's
 * range whose chips have their own CPU: NVIDIA's open driver). V100, T4, A10 and GH200 report all
 * of them, also in a guest that has the whole GPU, by `nvidia-smi -q` as published by others; a
 * virtual GPU reports none (NVIDIA/TensorRT-LLM#1861). For other models a single answer is enough,
 * because GPUs for games and desktops have neither ECC nor spare rows, and future models are not
 * known yet.
 */
static const struct model {
	uint16_t first, last;
	const char *shows;
} models[] = {
	{0x1db1, 0x1db8, PAGES}, /* V100 */
	{0x1eb8, 0x1eb8, PAGES}, /* T4 */
	{0x20b0, 0x20bb, ROWS},	 /* A100, A30 */
	{0x20f0, 0x20fd, ROWS},	 /* A100, A800 */
	{0x2235, 0x2238, ROWS},	 /* A40, A10 */
	{0x25b6, 0x25b6, ROWS},	 /* A2, A16 */
	{0x26b5, 0x26b5, ROWS},	 /* L40 */
	{0x26b8, 0x26ba, ROWS},	 /* L40G, L40S, L20 */
	{0x27b6, 0x27b8, ROWS},	 /* L2, L4 */
	{0x2302, 0x233f, ROWS},	 /* H100, H200, H20, H800 */
	{0x2340, 0x237f, C2C},	 /* GH200 */
	{0x2900, 0x293f, ROWS},	 /* B200 */
	{0x2940, 0x297f, C2C},	 /* GB200 */
	{0x3180, 0x31bf, ROWS},	 /* B300 */
	{0x31c0, 0x31ff, C2C},	 /* GB300 */
};

static const char *model_shows(const struct pci_fn *gpu)
{
	for (size_t i = 0; gpu->vendor == VENDOR_NVIDIA && i < array_len(models); i++)
		if (gpu->device >= models[i].first && gpu->device <= models[i].last)
			return models[i].shows;
	return "any";
}

/* The words of the profile; NULL: the model decides. */
static char *profile_requires(const struct checked *t)
{
	const struct ynode *list = ynode_get(t->map, "must_show");
	struct str out = {0};

	if (!list)
		return NULL;
	for (size_t i = 0; i < list->items.n; i++)
		str_addf(&out, "%s%s", i ? "," : "", list->items.v[i]->text);
	return out.len ? str_take(&out) : xstrdup("none");
}

static void want_health(const struct checked *t, struct probes *ret)
{
	const struct device_set *gpus = gpu_set(t, "on");
	const struct ynode *mig = ynode_get(t->map, "mig");
	cleanup_free char *required = profile_requires(t);

	for (size_t i = 0; gpus && i < gpus->fn.n; i++) {
		const struct pci_fn *gpu = gpus->fn.v[i];
		struct probe *p = gpu_asks(t, gpu, ret);

		probe_option(p, "--must_show", "%s", required ? required : model_shows(gpu));
		if (mig)
			probe_option(p, "--mig", "%s",
				     ynode_bool(t->map, "mig", false) ? "on" : "off");
	}
}

CHECK(gpu_health, .nvidia = true, .required = {"on"}, .optional = {"must_show", "mig"},
      .measure = want_health, .slow = FAULT_GPU_HEALTH, .no_load = true);
