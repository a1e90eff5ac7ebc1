/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PID 1's own socket, which systemctl also uses as root: it exists before the bus, and in the
 * initramfs. Other users ask the bus.
 */
#include "sys/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/clock.h"
#include "sys/libsystemd.h"

#define MANAGER "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"

/* Limit for the connection, and for each answer. */
enum { TIMEOUT_US = 5000000 };

/* Closes without a flush, because a flush waits for a silent peer. */
static void bus_free(sd_bus **bus)
{
	const struct libsystemd *sd = *bus ? libsystemd_get(NULL) : NULL;

	if (sd)
		sd->sd_bus_close_unref(*bus);
}

/*
 * sd_bus_start(3) returns before the peer has answered; a call would then wait up to 90 s for the
 * answer.
 */
static int wait_until_ready(const struct libsystemd *sd, sd_bus *bus)
{
	uint64_t deadline = clock_usec() + TIMEOUT_US;

	for (;;) {
		uint64_t now = clock_usec();
		int r = sd->sd_bus_is_ready(bus);

		if (r)
			return r < 0 ? r : 0;
		r = sd->sd_bus_process(bus, NULL);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (now >= deadline)
			return -ETIMEDOUT;
		r = sd->sd_bus_wait(bus, deadline - now);
		if (r < 0 && r != -EINTR)
			return r;
	}
}

static int connect_to(const struct libsystemd *sd, sd_bus **ret)
{
	if (sd->sd_bus_new(ret) >= 0 &&
	    sd->sd_bus_set_address(*ret, "unix:path=/run/systemd/private") >= 0 &&
	    sd->sd_bus_start(*ret) >= 0)
		return 0;
	bus_free(ret);
	*ret = NULL;
	return sd->sd_bus_open_system(ret);
}

/* NULL if the manager cannot be asked. The caller frees (bus_free()). */
static sd_bus *open_manager(const struct libsystemd *sd)
{
	sd_bus *bus = NULL;

	if (!sd || connect_to(sd, &bus) < 0 || wait_until_ready(sd, bus) < 0) {
		bus_free(&bus);
		return NULL;
	}
	sd->sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
	return bus;
}

bool is_own_service(const char *cgroup)
{
	const char *slice = strstr(cgroup, "/system.slice/"), *last;

	if (!slice)
		return false;
	last = strrchr(slice, '/') + 1;
	return str_starts(last, "railhead-") && str_ends(last, ".service");
}

bool in_own_service(void)
{
	cleanup_fclose FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool own = false;

	while (f && !own && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		own = is_own_service(line);
	}
	return own;
}

char *manager_user_space(void)
{
	const struct libsystemd *sd = libsystemd_get(NULL);
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = open_manager(sd);
	uint32_t count;

	if (!sd) /* counts as changed, because nothing is known */
		return xstrdup("not known");
	if (!bus || sd->sd_bus_get_property_trivial(bus, MANAGER, MANAGER_PATH, MANAGER ".Manager",
						    "SoftRebootsCount", NULL, 'u', &count) < 0)
		return xstrdup("");
	return xasprintf("soft-reboots %" PRIu32, count);
}

int manager_number(const char *property, uint64_t *ret, struct err *err)
{
	const struct libsystemd *sd = libsystemd_get(err);
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = open_manager(sd);
	int r;

	if (!sd)
		return -ELIBACC;
	if (!bus)
		return err_set(err, -EOPNOTSUPP, "no service manager answers");
	r = sd->sd_bus_get_property_trivial(bus, MANAGER, MANAGER_PATH, MANAGER ".Manager",
					    property, NULL, 't', ret);
	if (r < 0)
		return err_set(err, -EIO, "the service manager does not report its %s: %s",
			       property, strerror(-r));
	return 0;
}

/*
 * Whether a job of the unit waits or runs, which ActiveState does not show before the job begins.
 */
static bool has_job(const struct libsystemd *sd, sd_bus *bus, const char *path)
{
	sd_bus_message *reply = NULL;
	uint32_t id = 0;

	if (sd->sd_bus_get_property(bus, MANAGER, path, MANAGER ".Unit", "Job", NULL, &reply,
				    "(uo)") >= 0)
		sd->sd_bus_message_read(reply, "(uo)", &id, NULL);
	sd->sd_bus_message_unref(reply);
	return id != 0;
}

char *manager_unit_state(const char *unit)
{
	const struct libsystemd *sd = libsystemd_get(NULL);
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = open_manager(sd);
	cleanup_free char *path = NULL;
	char *state = NULL;

	if (!bus || sd->sd_bus_path_encode(MANAGER_PATH "/unit", unit, &path) < 0 ||
	    sd->sd_bus_get_property_string(bus, MANAGER, path, MANAGER ".Unit", "ActiveState", NULL,
					   &state) < 0)
		return NULL;
	if (has_job(sd, bus, path)) {
		free(state);
		state = xstrdup("activating");
	}
	return state;
}

bool manager_has_booted(void)
{
	const struct libsystemd *sd = libsystemd_get(NULL);
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = open_manager(sd);
	cleanup_free char *state = NULL;

	return bus &&
	       sd->sd_bus_get_property_string(bus, MANAGER, MANAGER_PATH "/unit/sysinit_2etarget",
					      MANAGER ".Unit", "ActiveState", NULL, &state) >= 0 &&
	       streq(state, "active");
}

/* Locks on a list of things ("shutdown:sleep") that block, rather than delay, them. */
static bool blocks_shutdown(const char *what, const char *mode)
{
	cleanup_free char *list = xasprintf(":%s:", what);

	return streq(mode, "block") && strstr(list, ":shutdown:");
}

static char *find_inhibitor(const struct libsystemd *sd, sd_bus_message *reply)
{
	const char *what, *who, *why, *mode;
	uint32_t uid, pid;

	if (sd->sd_bus_message_enter_container(reply, 'a', "(ssssuu)") < 0)
		return NULL;
	while (sd->sd_bus_message_read(reply, "(ssssuu)", &what, &who, &why, &mode, &uid, &pid) > 0)
		if (blocks_shutdown(what, mode))
			return xasprintf("%s (%s)", who, why);
	return NULL;
}

uint64_t manager_timer_interval(const char *timer)
{
	const struct libsystemd *sd = libsystemd_get(NULL);
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = open_manager(sd);
	cleanup_free char *path = NULL;
	sd_bus_message *reply = NULL;
	uint64_t usec, least = UINT64_MAX;
	const char *base;

	if (!bus || sd->sd_bus_path_encode(MANAGER_PATH "/unit", timer, &path) < 0)
		return 0;
	if (sd->sd_bus_get_property(bus, MANAGER, path, MANAGER ".Timer", "TimersMonotonic", NULL,
				    &reply, "a(stt)") >= 0 &&
	    sd->sd_bus_message_enter_container(reply, 'a', "(stt)") >= 0)
		while (sd->sd_bus_message_read(reply, "(stt)", &base, &usec, NULL) > 0)
			if (str_starts(base, "OnUnit") && usec < least)
				least = usec;
	sd->sd_bus_message_unref(reply);
	return least == UINT64_MAX ? 0 : least; /* "infinity" is never, and so is an empty list */
}

char *manager_inhibitor(void)
{
	const struct libsystemd *sd = libsystemd_get(NULL);
	sd_bus *bus __attribute__((__cleanup__(bus_free))) = NULL;
	sd_bus_message *reply = NULL;
	char *who = NULL;

	/* logind has no private socket */
	if (!sd || access("/run/dbus/system_bus_socket", F_OK) < 0 ||
	    sd->sd_bus_open_system(&bus) < 0)
		return NULL;
	sd->sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
	if (sd->sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
				   "org.freedesktop.login1.Manager", "ListInhibitors", NULL, &reply,
				   "") >= 0)
		who = find_inhibitor(sd, reply);
	sd->sd_bus_message_unref(reply);
	return who;
}
