/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port_errors: the error counters of the ports of a function's RDMA devices since the reset of the
 * device (Documentation/ABI/stable/sysfs-class-infiniband). The files in counters/ are attributes
 * of the subnet management's PortCounters, of 16, 8 or 4 bits, which stop at their highest value
 * (drivers/infiniband/core/sysfs.c, PORT_PMA_ATTR; InfiniBand Architecture Specification,
 * 16.1.3.5). The files in hw_counters/ belong to the driver (mlx5's counters.c, rxe_hw_counters.c).
 * Earlier errors may come from a cable that was pulled while the node was installed, so only the
 * rise under load is judged. NVSentinel's monitor of NICs also treats any rise of the count of
 * links that went down as a fault. It treats integrity errors and overruns in the same way; here
 * they are counted in 4 bits, and a counter that has reached its end can't rise, which must not
 * block a node for ever.
 */
#include <stdio.h>
#include <string.h>

#include "checks/counters.h"
#include "kinds/function.h"
#include "kinds/roce.h"
#include "plan/change.h"
#include "sys/read.h"

#define IB "/sys/class/infiniband/"

enum {
	STOPS_16 = 65535,
	STOPS_8 = 255,
	STOPS_4 = 15,
	/* 120 in an hour is the bit error rate that InfiniBand allows, 10^-12 */
	SYMBOLS_A_MINUTE = 2,
};

#define CABLE "clean or replace the cable or transceiver, and see what the switch port has counted"
#define LOSS "packets were lost on the way: check PFC and ECN, and drops on the switch ports"

#define ROW(file_, class_, ...)                                                       \
	{                                                                             \
		.file = file_, .class = COUNTER_##class_, .fault = FAULT_RDMA_ERRORS, \
		.remedy = CABLE, __VA_ARGS__                                          \
	}
#define LOST(file_)                                                                            \
	{                                                                                      \
		.file = file_, .class = COUNTER_RISE, .fault = FAULT_RDMA_LOSS, .remedy = LOSS \
	}

static const struct counter counters[] = {
	ROW("counters/link_downed", STILL, .top = STOPS_8),
	ROW("hw_counters/link_downed", STILL, .top = 0),
	ROW("counters/local_link_integrity_errors", RISE, .top = STOPS_4),
	ROW("counters/excessive_buffer_overrun_errors", RISE, .top = STOPS_4),
	ROW("counters/symbol_error", RISE, .top = STOPS_16, .spare = SYMBOLS_A_MINUTE),
	ROW("counters/link_error_recovery", RISE, .top = STOPS_8),
	ROW("counters/port_rcv_errors", RISE, .top = STOPS_16),
	ROW("hw_counters/rx_icrc_encapsulated", RISE, .top = 0),
	LOST("hw_counters/local_ack_timeout_err"),
	LOST("hw_counters/packet_seq_err"),
	LOST("hw_counters/roce_adp_retrans"),
};

static int find(const struct root *root, const struct change *c, struct strv *ret, struct err *err)
{
	struct cc_place place cleanup_place = {0};
	cleanup_strv struct strv devices = {0};
	cleanup_free char *addr = NULL;
	int r = function_or_vf(root, c->on.name, c->on.vf, &addr, err);

	if (r == 0)
		r = function_gone(root, addr, err);
	if (r < 0)
		return r;
	cc_place_find(root, addr, &place);
	cc_place_devices(&place, &devices);
	for (size_t i = 0; r == 0 && i < devices.n; i++) {
		cleanup_free char *pattern = xasprintf(IB "%s/ports/*", devices.v[i]);

		r = read_glob(root, pattern, ret, err);
	}
	return r;
}

/* "mlx5_0 port 1" */
static char *name(const struct root *root, const char *path, const struct counter *k)
{
	const char *device = path + strlen(IB);

	(void)root;
	(void)k;
	return xasprintf("%.*s port %s", (int)strcspn(device, "/"), device, strrchr(path, '/') + 1);
}

static const struct counter_family ports = {
	.sort = "port-errors",
	.counters = counters,
	.n = array_len(counters),
	.waits_on = "firmware",
	.find = find,
	.name = name,
	.absent = "no RDMA device of it (here) has error counters: load its RDMA driver (rdma_link "
		  "names it), or write optional: true for devices without error counters",
};

const struct counter_look port_errors_look =
	COUNTER_LOOK(&ports, FAULT_RDMA_ERRORS, .classes = COUNTER_STILL);
const struct counter_look port_rise_look =
	COUNTER_LOOK(&ports, FAULT_RDMA_ERRORS, .classes = COUNTER_RISE, .follows = true);

static void emit(const struct checked *t, struct subject of)
{
	counters_emit(t, of, "", &port_errors_look, "as before the load");
	counters_emit_rise(t, of, "/rise", &port_rise_look, true);
}

CHECK(port_errors, .required = {"on"}, .optional = {"rise", "on_rise"}, .look = emit);
