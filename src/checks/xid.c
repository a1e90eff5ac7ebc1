/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/xid.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
	NUMBERS = XID_MAX + 1,
	NVLINK_FIRST = 144, /* of NVLink 5, which reports its own severity */
	NVLINK_LAST = 150,
	RECOVERY = 154,
};

/* Immediate action IGNORE or RESTART_APP in NVIDIA's Xid catalog, with the exceptions below. */
static const struct {
	int from, to;
} harmless[] = {
	{8, 8},	  {11, 11}, {13, 14}, {25, 25}, {31, 32},  {37, 41},   {43, 45},   {60, 60},
	{66, 72}, {75, 77}, {80, 89}, {93, 93}, {96, 108}, {121, 135}, {137, 139}, {141, 141},
};

static const struct {
	int number;
	enum fault fault;
	const char *meaning;
} faults[] = {
	{46, FAULT_GPU_XID, "the GPU stopped processing: reset it"},
	{48, FAULT_GPU_MEMORY,
	 "an uncorrectable memory error (double bit): reset the GPU; replace it if it comes "
	 "again"},
	{54, FAULT_GPU_POWER, "auxiliary power is not connected: check the GPU's power cables"},
	{62, FAULT_GPU_XID, "its power management unit halted: reset the GPU"},
	{63, FAULT_GPU_MEMORY,
	 "a row (or page) of its memory waits to be taken out of use: reset the GPU"},
	{64, FAULT_GPU_MEMORY,
	 "a row (or page) of its memory could not be taken out of use: reset the GPU; replace "
	 "it if it comes again"},
	{74, FAULT_GPU_NVLINK,
	 "an NVLink error: see `nvidia-smi nvlink -e`; reset the GPUs, and reseat the board or "
	 "bridge if it comes again"},
	{79, FAULT_GPU_OFF_BUS,
	 "the GPU has fallen off the bus: power the node off and on; check its power, seat and "
	 "riser"},
	{92, FAULT_GPU_MEMORY, "many corrected memory errors: run NVIDIA's field diagnostic"},
	{94, FAULT_GPU_MEMORY,
	 "a contained memory error, which ended the application that met it: reset the GPU"},
	{95, FAULT_GPU_MEMORY,
	 "an uncontained memory error: reset the GPU before anything runs on it"},
	{109, FAULT_GPU_XID, "switching between contexts took too long: reset the GPU"},
	{110, FAULT_GPU_OFF_BUS, "a security fault: power the node off and on"},
	{119, FAULT_GPU_XID,
	 "the GPU's own processor (GSP) did not answer: reset the GPU; see whether driver and "
	 "firmware fit together"},
	{120, FAULT_GPU_XID,
	 "the GPU's own processor (GSP) failed: reset the GPU; see whether driver and "
	 "firmware fit together"},
	{136, FAULT_GPU_NVLINK,
	 "an NVLink did not train: reset the GPU; check the link's connectors"},
	{140, FAULT_GPU_MEMORY,
	 "an uncorrectable memory error that was not contained: reset the GPU"},
	{143, FAULT_GPU_XID, "the GPU was not initialised: reset it"},
	{RECOVERY, FAULT_GPU_XID,
	 "the driver asks for a reset or a reboot: `nvidia-smi -q` says which"},
};

static bool is_of_nvlink(int number)
{
	return number >= NVLINK_FIRST && number <= NVLINK_LAST;
}

bool xid_is_fatal(int number)
{
	for (size_t i = 0; i < array_len(harmless); i++)
		if (number >= harmless[i].from && number <= harmless[i].to)
			return false;
	return true;
}

static bool is_harmless(int number, const char *text, const struct cpus *fatal)
{
	if (is_of_nvlink(number) && strcasestr(text, "nonfatal"))
		return true;
	return fatal ? !cpus_has(fatal, (unsigned int)number) : !xid_is_fatal(number);
}

static enum fault fault_of_xid(int number)
{
	for (size_t i = 0; i < array_len(faults); i++)
		if (faults[i].number == number)
			return faults[i].fault;
	return is_of_nvlink(number) ? FAULT_GPU_NVLINK : FAULT_GPU_XID;
}

static const char *meaning_of(int number)
{
	for (size_t i = 0; i < array_len(faults); i++)
		if (faults[i].number == number)
			return faults[i].meaning;
	return is_of_nvlink(number)
		       ? "a fatal NVLink error: reset the GPU; see `nvidia-smi nvlink -e`"
		       : "see NVIDIA's catalog of Xid errors";
}

/*
 * Parses "NVRM: Xid (PCI:0000:3b:00): 79, ..."; on a GPU that MIG has split, " GPU-I:01 GPU-CI:00"
 * comes before the bracket (open-gpu-kernel-modules, kernel_rc.c); old drivers omitted "PCI:". The
 * log omits function numbers. Returns the number and the text after it in *ret_text, or -1.
 */
static int parse_line(const char *line, const char *addr, const char **ret_text)
{
	const char *at = strstr(line, "NVRM: Xid ("), *close;
	unsigned int domain, bus, device, d, b, v;
	int number, used = 0;

	if (!at || sscanf(addr, "%x:%x:%x", &domain, &bus, &device) != 3)
		return -1;
	at += strlen("NVRM: Xid (");
	if (str_starts(at, "PCI:"))
		at += strlen("PCI:");
	close = strchr(at, ')');
	if (!close || sscanf(at, "%x:%x:%x", &d, &b, &v) != 3 || d != domain || b != bus ||
	    v != device)
		return -1;
	if (sscanf(close, "): %d,%n", &number, &used) != 1 || !used || number < 0 ||
	    number >= NUMBERS)
		return -1;
	*ret_text = close + used;
	return number;
}

static size_t say(const unsigned int *times, struct str *ret, enum fault *gravest)
{
	size_t n = 0;

	*gravest = FAULT_NONE;
	for (int i = 0; i < NUMBERS; i++) {
		if (!times[i])
			continue;
		*gravest = fault_graver(*gravest, fault_of_xid(i));
		str_addf(ret, "%sXid %d", n++ ? "; " : "", i);
		if (times[i] > 1)
			str_addf(ret, " (%u times)", times[i]);
		str_addf(ret, ", %s", meaning_of(i));
	}
	return n;
}

size_t xid_faults(const char *log, const char *addr, const struct cpus *fatal, struct str *ret,
		  size_t *ret_harmless, enum fault *ret_gravest)
{
	cleanup_free char *copy = xstrdup(log);
	char *rest = copy, *line;
	unsigned int times[NUMBERS] = {0};
	const char *text;

	*ret_harmless = 0;
	while ((line = strsep(&rest, "\n"))) {
		int number = parse_line(line, addr, &text);

		if (number == RECOVERY && strstr(text, "to 0x0 "))
			memset(times, 0, sizeof(times));
		else if (number >= 0 && is_harmless(number, text, fatal))
			(*ret_harmless)++;
		else if (number >= 0)
			times[number]++;
	}
	return say(times, ret, ret_gravest);
}
