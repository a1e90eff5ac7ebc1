/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that are opened on first use: library.h. */
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "sys/libarchive.h"
#include "sys/libblkid.h"
#include "sys/libkmod.h"
#include "sys/libmount.h"
#include "sys/libpci.h"
#include "sys/library.h"
#include "sys/libsystemd.h"

/* An ELF note of this type and owner contains JSON: see library.h. */
#define NOTE_OWNER "FDO"
#define NOTE_TYPE 0x407c0c0a

#define DLOPEN_NOTE(name, json)                                                      \
	static const struct {                                                        \
		uint32_t owner_size, size, type;                                     \
		char owner[sizeof(NOTE_OWNER)];                                      \
		_Alignas(uint32_t) char text[sizeof(json)];                          \
	} name##_note __attribute__((used, section(".note.dlopen"), aligned(4))) = { \
		sizeof(NOTE_OWNER), sizeof(json), NOTE_TYPE, NOTE_OWNER, json}

#define FUNCTION(fn) SYMBOL(__typeof__(table), fn, #fn),

/* purpose: continues "needed to". priority: as in the ELF notes. */
#define LIBRARY(name, FUNCTIONS, soname, purpose, package, priority)                              \
	DLOPEN_NOTE(name, "[{\"feature\":\"" #name "\",\"description\":\"needed to " purpose      \
			  "\",\"priority\":\"" priority "\",\"soname\":[\"" soname "\"]}]");      \
	const struct name *name##_get(struct err *err)                                            \
	{                                                                                         \
		static struct name table;                                                         \
		static const struct symbol symbols[] = {FUNCTIONS(FUNCTION){0}};                  \
		static bool open;                                                                 \
                                                                                                  \
		if (!open)                                                                        \
			open = library_open(soname, purpose, package, symbols, &table, err) == 0; \
		return open ? &table : NULL;                                                      \
	}

LIBRARY(libkmod, LIBKMOD_FUNCTIONS, "libkmod.so.2", "load kernel modules",
	"libkmod2 (kmod-libs on Fedora and RHEL)", "required")
LIBRARY(libpci, LIBPCI_FUNCTIONS, "libpci.so.3", "name PCI functions",
	"libpci3 (pciutils-libs on Fedora and RHEL)", "recommended")
LIBRARY(libmount, LIBMOUNT_FUNCTIONS, "libmount.so.1", "read /etc/fstab",
	"libmount1 (libmount on Fedora and RHEL)", "required")
LIBRARY(libblkid, LIBBLKID_FUNCTIONS, "libblkid.so.1", "find disks and their file systems",
	"libblkid1 (libblkid on Fedora and RHEL)", "required")
LIBRARY(libsystemd, LIBSYSTEMD_FUNCTIONS, "libsystemd.so.0", "write to the journal and ask systemd",
	"libsystemd0 (systemd-libs on Fedora and RHEL)", "required")
LIBRARY(libarchive, LIBARCHIVE_FUNCTIONS, "libarchive.so.13", "read and write packed snapshots",
	"libarchive13 (libarchive on Fedora and RHEL), or unpack the archive and give the "
	"directory",
	"recommended")
