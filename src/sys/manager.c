/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PID 1's own socket, as systemctl uses it as root: it is there before the bus is, and in the
 * initramfs. Others ask the bus.
 */
#include "sys/manager.h"

#include <inttypes.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "base/mem.h"

enum { TIMEOUT_US = 5000000, SOFT_REBOOTS_SINCE = 254 };

static void bus_free(sd_bus **bus)
{
	sd_bus_flush_close_unref(*bus);
}

static int connect_to(sd_bus **ret)
{
	if (sd_bus_new(ret) >= 0 &&
	    sd_bus_set_address(*ret, "unix:path=/run/systemd/private") >= 0 &&
	    sd_bus_start(*ret) >= 0)
		return 0;
	bus_free(ret);
	*ret = NULL;
	return sd_bus_open_system(ret);
}

static int ask(sd_bus *bus, const char *property, char type, void *ret)
{
	return sd_bus_get_property_trivial(
		bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		"org.freedesktop.systemd1.Manager", property, NULL, type, ret);
}

/* "257.8-1~deb13u2": its first number. */
static unsigned long version_of(sd_bus *bus)
{
	cleanup_free char *text = NULL;

	if (sd_bus_get_property_string(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
				       "org.freedesktop.systemd1.Manager", "Version", NULL,
				       &text) < 0)
		return 0;
	return strtoul(text, NULL, 10);
}

char *manager_user_space(void)
{
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = NULL;
	uint64_t began;
	uint32_t count;

	if (connect_to(&bus) < 0)
		return xstrdup("");
	sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
	if (ask(bus, "SoftRebootsCount", 'u', &count) >= 0)
		return xasprintf("soft-reboots %" PRIu32, count);
	if (version_of(bus) >= SOFT_REBOOTS_SINCE &&
	    ask(bus, "UserspaceTimestampMonotonic", 't', &began) >= 0)
		return xasprintf("began %" PRIu64, began);
	return xstrdup("");
}
