/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/uevent.h"

#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "sys/clock.h"

enum {
	GROUP_KERNEL = 1,
	GROUP_UDEV = 2,
	RECHECK_MS = 250,
	LOOKS_SHARE = 5, /* a look gets one fifth of the time, or less */
	LATE_SHARE = 10, /* a rest may make the wait so far a tenth longer */
	FIRST_MS = 5,
};

int uevent_open(void)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL | GROUP_UDEV};
	int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void uevent_drain(int fd)
{
	char buf[8192];

	while (recv(fd, buf, sizeof(buf), 0) >= 0)
		;
}

int uevent_pause_ms(int last)
{
	return last * 2 < FIRST_MS ? FIRST_MS : last * 2 < RECHECK_MS ? last * 2 : RECHECK_MS;
}

static uint64_t ms_until(uint64_t deadline)
{
	uint64_t now = clock_usec();

	return now < deadline ? (deadline - now + 999) / 1000 : 0;
}

/*
 * How long no event starts a look. Thousands of events come in a boot; a look at each of them would
 * take a CPU, and locks that the drivers want, for as long as the drivers probe.
 */
static uint64_t rest_ms(uint64_t waited, uint64_t look)
{
	uint64_t rest = look * (LOOKS_SHARE - 1);

	if (rest < waited / LATE_SHARE)
		rest = waited / LATE_SHARE;
	rest /= 1000;
	return rest < RECHECK_MS ? rest : RECHECK_MS;
}

bool uevent_wait(bool (*ready)(void *arg), void *arg, uint64_t deadline)
{
	uint64_t started = clock_usec(), began;
	cleanup_close int fd = -1;
	int pause = uevent_pause_ms(0);

	if (ready(arg))
		return true;
	/*
	 * Open before the second look, so that every later event wakes us. Without a socket (a
	 * container) only the periodic look remains.
	 */
	fd = uevent_open();
	while (began = clock_usec(), !ready(arg)) {
		uint64_t now = clock_usec(), rest = rest_ms(now - started, now - began),
			 left = ms_until(deadline);
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (!left)
			return false;
		poll(NULL, 0, (int)(rest < left ? rest : left));
		left = ms_until(deadline);
		if (poll(&p, 1, left < (uint64_t)pause ? (int)left : pause) > 0)
			uevent_drain(fd);
		pause = uevent_pause_ms(pause);
	}
	return true;
}
