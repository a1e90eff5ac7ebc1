/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PID 1's own socket, as systemctl uses it as root: it is there before the bus is, and in the
 * initramfs. Others ask the bus.
 */
#include "sys/manager.h"

#include <inttypes.h>
#include <systemd/sd-bus.h>

#include "base/mem.h"

enum { TIMEOUT_US = 5000000 };

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

char *manager_user_space(void)
{
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = NULL;
	uint32_t count;

	if (connect_to(&bus) < 0)
		return xstrdup("");
	sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
	if (sd_bus_get_property_trivial(
		    bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		    "org.freedesktop.systemd1.Manager", "SoftRebootsCount", NULL, 'u', &count) < 0)
		return xstrdup("");
	return xasprintf("soft-reboots %" PRIu32, count);
}
