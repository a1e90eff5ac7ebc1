/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libsystemd: library.h. */
#pragma once

#define SD_JOURNAL_SUPPRESS_LOCATION /* makes sd_journal_send() a function */
#include <systemd/sd-bus.h>
#include <systemd/sd-journal.h>

#include "sys/library.h"

/* clang-format off */
#define LIBSYSTEMD_FUNCTIONS(X) \
	X(sd_bus_call_method) \
	X(sd_bus_close_unref) \
	X(sd_bus_get_property) \
	X(sd_bus_get_property_string) \
	X(sd_bus_get_property_trivial) \
	X(sd_bus_is_ready) \
	X(sd_bus_message_enter_container) \
	X(sd_bus_message_read) \
	X(sd_bus_message_unref) \
	X(sd_bus_new) \
	X(sd_bus_open_system) \
	X(sd_bus_path_encode) \
	X(sd_bus_process) \
	X(sd_bus_set_address) \
	X(sd_bus_set_method_call_timeout) \
	X(sd_bus_start) \
	X(sd_bus_wait) \
	X(sd_journal_send)
/* clang-format on */

struct libsystemd {
	LIBSYSTEMD_FUNCTIONS(LIBRARY_SLOT)
};

const struct libsystemd *libsystemd_get(struct err *err);
