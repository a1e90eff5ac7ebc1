/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a device, its port's state and its GID. See ibv_query_gid_table(3). */
#include "bench/rdma_port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* The words of /sys/class/infiniband/NAME/ports/N/state. */
static const char *const states[] = {
	[IBV_PORT_NOP] = "NOP",	      [IBV_PORT_DOWN] = "DOWN",
	[IBV_PORT_INIT] = "INIT",     [IBV_PORT_ARMED] = "ARMED",
	[IBV_PORT_ACTIVE] = "ACTIVE", [IBV_PORT_ACTIVE_DEFER] = "ACTIVE_DEFER",
};
/* IBTA volume 1, PortInfo.PortPhysicalState, in the words of sysfs' phys_state */
static const char *const phys_states[] = {
	[1] = "Sleep",	  [2] = "Polling",
	[3] = "Disabled", [4] = "PortConfigurationTraining",
	[5] = "LinkUp",	  [6] = "LinkErrorRecovery",
	[7] = "Phy Test",
};

/* --- devices --------------------------------------------------------------------------- */

static void add_names(struct ibv_device **list, int n, struct str *text)
{
	for (int i = 0; i < n; i++)
		str_addf(text, "%s%s", i ? ", " : "", ibv_get_device_name(list[i]));
	if (n <= 0)
		str_add(text, "none");
}

/* A device that only the kernel knows lacks the part between kernel and library. */
static int absent(const char *name, struct ibv_device **list, int n, struct err *err)
{
	char path[128];
	struct str names = {0};
	int r;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%.64s", name);
	add_names(list, n, &names);
	if (access(path, F_OK) == 0)
		r = err_set(err, -ENODEV,
			    "%.64s is unusable: its library of rdma-core (ibverbs-providers) or "
			    "the module ib_uverbs is missing; usable devices: %.200s",
			    name, str_get(&names));
	else
		r = err_set(err, -ENODEV,
			    "there is no RDMA device %.64s; found: %.200s; check whether its "
			    "driver is loaded",
			    name, str_get(&names));
	str_free(&names);
	return r;
}

static int open_named(struct ibv_device **list, int n, const char *name, struct ibv_context **ret,
		      struct err *err)
{
	for (int i = 0; i < n; i++) {
		if (!streq(ibv_get_device_name(list[i]), name))
			continue;
		*ret = ibv_open_device(list[i]);
		if (!*ret)
			return err_errno(err, errno ? -errno : -EIO, "open %.64s", name);
		return 0;
	}
	return absent(name, list, n, err);
}

int rdma_device_open(const char *name, struct ibv_context **ret, struct err *err)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	int r = open_named(list, list ? n : 0, name, ret, err);

	if (list)
		ibv_free_device_list(list);
	return r;
}

/* --- ports ----------------------------------------------------------------------------- */

static const char *word(const char *const *words, size_t n, unsigned int i)
{
	return i < n && words[i] ? words[i] : "unknown";
}

static const char *remedy(const struct ibv_port_attr *port)
{
	if (port->link_layer == IBV_LINK_LAYER_ETHERNET)
		return "its netdev has no carrier, or is down: see the cable and the switch port";
	if (port->phys_state != 5)
		return "no carrier: see the cable and the switch port";
	return "no subnet manager has set it up yet";
}

int rdma_port_query(struct ibv_context *context, const struct rdma_end *end,
		    struct ibv_port_attr *ret, struct err *err)
{
	struct ibv_device_attr device;
	int r = ibv_query_device(context, &device);

	if (r)
		return err_errno(err, -r, "query the attributes of %s", end->device);
	if (end->port < 1 || end->port > device.phys_port_cnt)
		return err_set(err, -ERANGE, "%s has %u ports, and no port %u", end->device,
			       device.phys_port_cnt, end->port);
	memset(ret, 0, sizeof(*ret));
	r = ibv_query_port(context, (uint8_t)end->port, ret);
	if (r)
		return err_errno(err, -r, "ask for port %u of %s", end->port, end->device);
	if (ret->state == IBV_PORT_ACTIVE)
		return 0;
	return err_set(err, -EAGAIN, "port %u of %s is %s (physically %s); %s", end->port,
		       end->device, word(states, array_len(states), ret->state),
		       word(phys_states, array_len(phys_states), ret->phys_state), remedy(ret));
}

/* --- GIDs ------------------------------------------------------------------------------ */

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}

static bool is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

const char *rdma_gid_kind(const union ibv_gid *gid)
{
	return is_ipv4(gid) ? "ipv4" : is_link_local(gid) ? "link-local" : "global";
}

static unsigned int score(const struct ibv_gid_entry *e)
{
	if (e->gid_type != IBV_GID_TYPE_ROCE_V2)
		return 0;
	return is_ipv4(&e->gid) ? 3 : is_link_local(&e->gid) ? 1 : 2;
}

static int no_gid(const struct rdma_end *end, size_t others, struct err *err)
{
	if (end->gid_index >= 0)
		return err_set(err, -EINVAL, "GID %d of port %u of %s is not of type RoCE v2",
			       end->gid_index, end->port, end->device);
	return err_set(err, -ENODATA,
		       "port %u of %s has no GID of RoCE v2 (%zu of other types); check that its "
		       "netdev is up, and that cma_roce_mode and the driver permit v2",
		       end->port, end->device, others);
}

int rdma_gid_pick(const struct ibv_gid_entry *table, size_t n, const struct rdma_end *end,
		  struct ibv_gid_entry *ret, struct err *err)
{
	const struct ibv_gid_entry *best = NULL;
	size_t others = 0;

	for (size_t i = 0; i < n; i++) {
		const struct ibv_gid_entry *e = &table[i];

		if (e->port_num != end->port)
			continue;
		if (end->gid_index >= 0 && e->gid_index != (uint32_t)end->gid_index)
			continue;
		if (score(e) == 0)
			others++;
		else if (!best || score(e) > score(best) ||
			 (score(e) == score(best) && e->gid_index < best->gid_index))
			best = e;
	}
	if (!best)
		return no_gid(end, others, err);
	*ret = *best;
	return 0;
}
