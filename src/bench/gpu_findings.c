/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/gpu_findings.h"

#include <stdarg.h>

/* Faults of the GPU or its memory; the other faults are of its surroundings. */
static bool is_unfit(enum fault code)
{
	return code == FAULT_GPU_MEMORY || code == FAULT_GPU_WORN || code == FAULT_GPU_OFF_BUS ||
	       code == FAULT_GPU_XID;
}

void gpu_fault(struct gpu_findings *f, enum fault code, const char *fmt, ...)
{
	va_list ap;

	f->gravest = fault_graver(f->gravest, code ? code : FAULT_GPU_HEALTH);
	f->unfit = f->unfit || is_unfit(code);
	va_start(ap, fmt);
	json_array_append_new(f->faults, json_vsprintf(fmt, ap));
	va_end(ap);
}

void gpu_show(struct gpu_findings *f, const char *key, json_t *value)
{
	json_object_set_new(f->line, key, value);
}

bool gpu_answered(struct gpu_findings *f, int result, const char *what)
{
	struct err err = {0};

	if (result == NVML_SUCCESS)
		return true;
	if (nvml_is_hidden(result)) {
		json_array_append_new(f->hidden, json_string(what));
		return false;
	}
	nvml_check(&f->nvml, result, &err, "%s", what);
	gpu_fault(f, err.fault, "%s", err.text);
	return false;
}

int gpu_findings_begin(struct gpu_findings *f, const char *addr, json_t *line, struct err *err)
{
	int result, r;

	*f = (struct gpu_findings){
		.addr = addr, .line = line, .faults = json_array(), .hidden = json_array()};
	r = nvml_open(&f->nvml, err);
	if (r < 0)
		return r;
	result = f->nvml.device_by_address(addr, &f->dev);
	r = nvml_check(&f->nvml, result, err, "%s", addr);
	if (!nvml_is_broken_gpu(result))
		return r;
	f->dev = NULL;
	f->unfit = true;
	gpu_fault(f, err->fault, "%s", err->text);
	return 0;
}

int gpu_findings_end(struct gpu_findings *f, int r)
{
	if (r == 0) {
		gpu_show(f, "gpu", json_string(f->addr));
		gpu_show(f, "value", json_integer((json_int_t)json_array_size(f->faults)));
		gpu_show(f, "unit", json_string("faults"));
		gpu_show(f, "faults", json_incref(f->faults));
		if (f->gravest)
			gpu_show(f, "fault", json_string(fault_code(f->gravest)));
		if (f->unfit)
			gpu_show(f, "unfit", json_true());
		gpu_show(f, "not_shown", json_incref(f->hidden));
	}
	json_decref(f->faults);
	json_decref(f->hidden);
	nvml_close(&f->nvml);
	return r;
}
