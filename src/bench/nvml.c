/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/nvml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/symbols.h"
#include "bench/nvidia.h"

#define LIBRARY "libnvidia-ml.so.1"

static const struct symbol symbols[] = {
	SYMBOL(struct nvml, init, "nvmlInit_v2"),
	SYMBOL(struct nvml, shutdown, "nvmlShutdown"),
	SYMBOL(struct nvml, error_string, "nvmlErrorString"),
	SYMBOL(struct nvml, device_by_address, "nvmlDeviceGetHandleByPciBusId_v2"),
	SYMBOL(struct nvml, persistence, "nvmlDeviceGetPersistenceMode"),
	SYMBOL(struct nvml, ecc_mode, "nvmlDeviceGetEccMode"),
	SYMBOL(struct nvml, ecc_errors, "nvmlDeviceGetTotalEccErrors"),
	OPTIONAL_SYMBOL(struct nvml, mig_mode, "nvmlDeviceGetMigMode"),
	OPTIONAL_SYMBOL(struct nvml, remapped_rows, "nvmlDeviceGetRemappedRows"),
	SYMBOL(struct nvml, retired_pages, "nvmlDeviceGetRetiredPages"),
	SYMBOL(struct nvml, retired_pending, "nvmlDeviceGetRetiredPagesPendingStatus"),
	SYMBOL(struct nvml, pcie_width, "nvmlDeviceGetCurrPcieLinkWidth"),
	SYMBOL(struct nvml, pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth"),
	SYMBOL(struct nvml, pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration"),
	SYMBOL(struct nvml, pcie_generation_max, "nvmlDeviceGetMaxPcieLinkGeneration"),
	/* "throttle" was renamed to "event" and is deprecated: a library may lack one name */
	OPTIONAL_SYMBOL(struct nvml, clocks_reasons, "nvmlDeviceGetCurrentClocksEventReasons"),
	OPTIONAL_SYMBOL(struct nvml, clocks_reasons_old,
			"nvmlDeviceGetCurrentClocksThrottleReasons"),
	OPTIONAL_SYMBOL(struct nvml, compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3"),
	OPTIONAL_SYMBOL(struct nvml, p2p_status, "nvmlDeviceGetP2PStatus"),
	OPTIONAL_SYMBOL(struct nvml, fabric, "nvmlDeviceGetGpuFabricInfo"),
	OPTIONAL_SYMBOL(struct nvml, fabric_versioned, "nvmlDeviceGetGpuFabricInfoV"),
	{0},
};

/* The results with a remedy: NVML API reference, enum nvmlReturn_t. */
static const struct meaning {
	int result;
	int code;
	enum fault fault; /* FAULT_NONE: the GPU and its driver may be healthy */
	const char *remedy;
} meanings[] = {
	{NVML_NO_PERMISSION, -EPERM, FAULT_NONE, "this user may not query the driver: run as root"},
	{NVML_NOT_FOUND, -ENODEV, FAULT_GPU_DRIVER,
	 "the driver does not list this GPU: check that nvidia is bound to it (`lspci -k`), and "
	 "see NVRM in the kernel log"},
	{NVML_INSUFFICIENT_POWER, -EIO, FAULT_GPU_POWER,
	 "its external power is not connected: check the cables"},
	{NVML_DRIVER_NOT_LOADED, -ENODEV, FAULT_GPU_DRIVER,
	 "the nvidia module is not loaded: load it (modules.load), and see NVRM in the kernel log"},
	{NVML_IRQ_ISSUE, -EIO, FAULT_GPU_HEALTH,
	 "its interrupts do not arrive: see NVRM in the kernel log"},
	{NVML_CORRUPTED_INFOROM, -EIO, FAULT_GPU_HEALTH,
	 "its InfoROM is corrupted: flash it, or replace the GPU"},
	{NVML_GPU_IS_LOST, -EIO, FAULT_GPU_OFF_BUS,
	 "the GPU has fallen off the bus: power the node off and on; if the fault returns, reseat "
	 "or replace the GPU"},
	{NVML_RESET_REQUIRED, -EIO, FAULT_GPU_XID,
	 "reset it: `nvidia-smi --gpu-reset -i ADDRESS`, or reboot"},
	{NVML_OPERATING_SYSTEM, -EIO, FAULT_NONE,
	 "/dev/nvidiactl is missing, or a cgroup does not allow it: `nvidia-modprobe -c 0`"},
	{NVML_LIB_RM_VERSION_MISMATCH, -EINVAL, FAULT_GPU_DRIVER,
	 "the library and the loaded kernel module are of different versions, as after an update "
	 "of the driver: reboot, or unload and load the nvidia modules"},
};

int nvml_check(const struct nvml *n, int result, struct err *err, const char *fmt, ...)
{
	const struct meaning *m = NULL;
	char what[128];
	va_list ap;
	int code;

	if (result == NVML_SUCCESS)
		return 0;
	for (size_t i = 0; i < array_len(meanings); i++)
		if (meanings[i].result == result)
			m = &meanings[i];
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	code = m ? m->code : -EIO;
	err_set(err, code, "%s: NVML error %d (%s)%s%s", what, result, n->error_string(result),
		m ? "; " : "", m ? m->remedy : "");
	return err_fault(err, code, m ? m->fault : FAULT_NONE);
}

bool nvml_is_hidden(int result)
{
	return result == NVML_NOT_SUPPORTED || result == NVML_FUNCTION_NOT_FOUND ||
	       result == NVML_DEPRECATED;
}

bool nvml_is_broken_gpu(int result)
{
	return result == NVML_GPU_IS_LOST || result == NVML_RESET_REQUIRED ||
	       result == NVML_INSUFFICIENT_POWER || result == NVML_IRQ_ISSUE ||
	       result == NVML_CORRUPTED_INFOROM;
}

int nvml_open(struct nvml *n, struct err *err)
{
	const char *missing;
	char module[32];
	int r;

	*n = (struct nvml){0};
	r = nvidia_open(&n->lib, LIBRARY, err);
	if (r < 0)
		return r;
	missing = symbols_resolve(n->lib, symbols, n);
	if (missing)
		return err_set(err, -ENOSYS,
			       LIBRARY " has no %s: the driver (%s) is too old; install a "
				       "supported one",
			       missing, nvidia_driver_version(module));
	r = nvml_check(n, n->init(), err, "start of NVML");
	n->up = r == 0;
	return r;
}

void nvml_close(struct nvml *n)
{
	if (n->up)
		n->shutdown();
}
