/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/xid.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
	NUMBERS = XID_MAX + 1,
	NVLINK_FIRST = 144, /* of NVLink 5, which reports its own severity */
	NVLINK_LAST = 150,
	RECOVERY = 154,
	OTHER = -1,
	UNREADABLE = -2,
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

/*
 * "NETIR_LINK_EVT  Nonfatal XC0 i0 Link 01 ...": the unit, then the severity. The word may come
 * elsewhere too, in a name that a user chose.
 */
static bool is_nonfatal(const char *text)
{
	char severity[16];

	return sscanf(text, " %*s %15s", severity) == 1 && strcasecmp(severity, "nonfatal") == 0;
}

/*
 * "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)". The name of a process
 * may come before it, so the last such sentence counts.
 */
static bool is_recovered(const char *text)
{
	static const char sentence[] = "GPU recovery action changed from 0x";
	const char *last = NULL;
	unsigned int to;

	while ((text = strstr(text, sentence)))
		last = text += strlen(sentence);
	return last && sscanf(last, "%*x (%*[^)]) to %x", &to) == 1 && to == 0;
}

static bool is_harmless(int number, const char *text, const struct cpus *fatal)
{
	if (is_of_nvlink(number) && is_nonfatal(text))
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
 * log omits function numbers. addr: "0000:3b:00.0". Returns the number and the text after it in
 * *ret_text; OTHER: the record is not of this GPU; UNREADABLE.
 *
 * The kernel begins some records with the name of a process, of 15 characters: too few for an
 * address, so nobody can make a record of this GPU that is unreadable.
 */
static int parse_record(const char *record, const char *addr, const char **ret_text)
{
	size_t len = strcspn(addr, ".");
	int number, used = 0;

	record += strlen(XID_BEGIN);
	if (str_starts(record, "PCI:"))
		record += strlen("PCI:");
	if (strncmp(record, addr, len) != 0 || isxdigit((unsigned char)record[len]))
		return OTHER;
	record += len;
	while (sscanf(record, " GPU-%*[IC]:%*u%n", &used) == 0 && used) {
		record += used;
		used = 0;
	}
	if (!str_starts(record, "): ") || !isdigit((unsigned char)record[3]) ||
	    sscanf(record, "): %3d,%n", &number, &used) != 1 || !used || number >= NUMBERS)
		return UNREADABLE;
	*ret_text = record + used;
	return number;
}

static void name_faults(const unsigned int *times, struct xids *ret)
{
	for (int i = 0; i < NUMBERS; i++) {
		if (!times[i])
			continue;
		ret->gravest = fault_graver(ret->gravest, fault_of_xid(i));
		str_addf(&ret->text, "%sXid %d", ret->faults++ ? "; " : "", i);
		if (times[i] > 1)
			str_addf(&ret->text, " (%u times)", times[i]);
		str_addf(&ret->text, ", %s", meaning_of(i));
	}
}

void xid_find(const struct kernel_log *log, const char *addr, const struct cpus *fatal,
	      struct xids *ret)
{
	unsigned int times[NUMBERS] = {0};

	*ret = (struct xids){.first_fault = UINT64_MAX};
	for (size_t i = 0; i < log->records.n; i++) {
		const struct kernel_record *r = &log->records.v[i];
		const char *text;
		int number = parse_record(r->text, addr, &text);

		if (number == RECOVERY && is_recovered(text)) {
			memset(times, 0, sizeof(times));
			ret->first_fault = UINT64_MAX;
			ret->unreadable = NULL;
		} else if (number == UNREADABLE) {
			ret->unreadable = r->text;
		} else if (number >= 0 && is_harmless(number, text, fatal)) {
			ret->harmless++;
		} else if (number >= 0) {
			times[number]++;
			if (r->seq < ret->first_fault)
				ret->first_fault = r->seq;
		}
	}
	name_faults(times, ret);
}
