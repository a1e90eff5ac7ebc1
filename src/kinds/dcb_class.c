/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Priority flow control, transmission selection and buffers. Each structure is read, changed and
 * sent.
 */
#include "kinds/dcb.h"
#include "plan/change.h"
#include "sys/machine.h"

/* --- PFC -------------------------------------------------------------------------------------- */

static void make_pfc(struct dcb_info *info, const struct change *c)
{
	info->pfc.pfc_en = 0;
	for (size_t i = 0; i < c->parts.n; i++)
		info->pfc.pfc_en |= (uint8_t)(1u << c->parts.v[i].index);
}

static void show_pfc(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	(void)c;
	for (unsigned int i = 0; i < DCB_PRIORITIES; i++)
		if (port->info->pfc.pfc_en & 1u << i)
			str_addf(ret, "%s%u", ret->len ? " " : "", i);
	if (!ret->len)
		str_add(ret, "none");
	if (port->pause.on)
		str_add(ret, " and global pause");
}

/*
 * igb applies rx and tx only without autonegotiation; with autonegotiation it takes the link down,
 * and pause is on when the link comes back (igb_set_pauseparam()). ice rejects a change of
 * autonegotiation here, and applies rx and tx (ice_set_pauseparam()).
 */
static int stop_pausing(const struct dcb_port *port, struct err *err)
{
	static const struct eth_setting off[] = {
		{.item = &eth_pause_autoneg}, {.item = &eth_pause_rx}, {.item = &eth_pause_tx}};
	unsigned int dev = port->dev.ifindex;

	if (port->pause.negotiated && machine_ethtool_set(dev, ETH_PAUSE, off, 3, NULL) == 0)
		return 0;
	if (machine_ethtool_set(dev, ETH_PAUSE, off + 1, 2, err) < 0)
		return err_wrap(err, "turning global pause off");
	return 0;
}

/*
 * A port pauses either all priorities or single ones, so global pause is turned off before PFC is
 * set. mlx5 takes the port down and up for PFC, so equal values are not sent
 * (mlx5e_dcbnl_ieee_setpfc()).
 */
static int send_pfc(const struct dcb_port *port, const struct change *c, struct err *err)
{
	struct dcb_info made = *port->info;
	int r = port->pause.on ? stop_pausing(port, err) : 0;

	make_pfc(&made, c);
	if (r < 0 || made.pfc.pfc_en == port->info->pfc.pfc_en)
		return r;
	return machine_dcb_pfc(port->dev.name, &made.pfc, err);
}

const struct dcb_item dcb_pfc = {.sort = DCB_SORT,
				 .group = DCB_PFC,
				 .excludes_pause = true,
				 .make = make_pfc,
				 .show = show_pfc,
				 .send = send_pfc};

/*
 * The delay of the standard is in bits; mlx5 takes a value below 1000 for the cable's length in
 * metres.
 */
static void make_cable(struct dcb_info *info, const struct change *c)
{
	info->pfc.delay = (uint16_t)c->want.number;
}

static void show_cable(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	(void)c;
	str_addf(ret, "%u", port->info->pfc.delay);
}

static int send_cable(const struct dcb_port *port, const struct change *c, struct err *err)
{
	struct dcb_info made = *port->info;

	make_cable(&made, c);
	return machine_dcb_pfc(port->dev.name, &made.pfc, err);
}

const struct dcb_item dcb_cable_length = {.sort = DCB_SORT,
					  .group = DCB_PFC,
					  .make = make_cable,
					  .show = show_cable,
					  .send = send_cable};

/* --- tables of a structure ------------------------------------------------------------------- */

static void make_entries(struct dcb_info *info, const struct change *c)
{
	for (size_t i = 0; i < c->parts.n; i++) {
		const struct dcb_table *table = c->parts.v[i].item;

		table->make(info, &c->parts.v[i]);
	}
}

/* "priorities 3:1 6:2 bandwidth 0:10" */
static void show_entries(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	const struct dcb_table *last = NULL;

	for (size_t i = 0; i < c->parts.n; i++) {
		const struct part *part = &c->parts.v[i];
		const struct dcb_table *table = part->item;

		if (table != last)
			str_addf(ret, "%s%s", ret->len ? " " : "", part->name);
		last = table;
		str_addf(ret, " %u:", part->index);
		table->show(port->info, part, ret);
	}
}

/* --- ETS -------------------------------------------------------------------------------------- */

const char *const dcb_scheduling_words[] = {[DCB_SCHEDULING_ETS] = "ets", "strict", "vendor", NULL};
static const uint8_t selections[] = {IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_STRICT,
				     IEEE_8021QAZ_TSA_VENDOR};

static void make_class(struct dcb_info *info, const struct part *part)
{
	info->ets.prio_tc[part->index] = (uint8_t)part->want.number;
}

static void show_class(const struct dcb_info *info, const struct part *part, struct str *ret)
{
	str_addf(ret, "%u", info->ets.prio_tc[part->index]);
}

const struct dcb_table dcb_ets_priorities = {make_class, show_class};

static void make_selection(struct dcb_info *info, const struct part *part)
{
	info->ets.tc_tsa[part->index] = selections[part->want.number];
}

static void show_selection(const struct dcb_info *info, const struct part *part, struct str *ret)
{
	for (size_t i = 0; i < array_len(selections); i++)
		if (selections[i] == info->ets.tc_tsa[part->index]) {
			str_add(ret, dcb_scheduling_words[i]);
			return;
		}
	str_add(ret, "shaper");
}

const struct dcb_table dcb_ets_scheduling = {make_selection, show_selection};

static void make_share(struct dcb_info *info, const struct part *part)
{
	info->ets.tc_tx_bw[part->index] = (uint8_t)part->want.number;
	if (part->want.number) /* only ETS has shares */
		info->ets.tc_tsa[part->index] = IEEE_8021QAZ_TSA_ETS;
}

static unsigned int share_of(const struct dcb_info *info, unsigned int class)
{
	return info->ets.tc_tsa[class] == IEEE_8021QAZ_TSA_ETS ? info->ets.tc_tx_bw[class] : 0;
}

static void show_share(const struct dcb_info *info, const struct part *part, struct str *ret)
{
	str_addf(ret, "%u", share_of(info, part->index));
}

const struct dcb_table dcb_ets_bandwidth = {make_share, show_share};

/*
 * The classes without a named share, as bits; 0 if no share is named. These classes get no share,
 * because the named shares must sum up to 100%: drivers reject any other sum.
 */
static unsigned int other_classes(const struct change *c)
{
	unsigned int others = (1u << IEEE_8021QAZ_MAX_TCS) - 1, all = others;

	for (size_t i = 0; i < c->parts.n; i++)
		if (c->parts.v[i].item == &dcb_ets_bandwidth)
			others &= ~(1u << c->parts.v[i].index);
	return others == all ? 0 : others;
}

static void make_ets(struct dcb_info *info, const struct change *c)
{
	unsigned int others = other_classes(c);

	make_entries(info, c);
	for (unsigned int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		if (others & 1u << i)
			info->ets.tc_tx_bw[i] = 0;
}

static void show_ets(const struct dcb_port *port, const struct change *c, struct str *ret)
{
	unsigned int others = other_classes(c);

	show_entries(port, c, ret);
	for (unsigned int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		if (others & 1u << i && share_of(port->info, i))
			str_addf(ret, " %u:%u", i, share_of(port->info, i));
}

static int send_ets(const struct dcb_port *port, const struct change *c, struct err *err)
{
	struct dcb_info made = *port->info;

	make_ets(&made, c);
	return machine_dcb_ets(port->dev.name, &made.ets, err);
}

const struct dcb_item dcb_ets = {
	.sort = DCB_SORT, .group = DCB_ETS, .make = make_ets, .show = show_ets, .send = send_ets};

/* --- buffers ---------------------------------------------------------------------------------- */

/* Adapters round buffers down to cells of at most this many bytes (mlx5: 128 or 144). */
enum { CELL_MAX = 1024 };

static void make_size(struct dcb_info *info, const struct part *part)
{
	info->buffer.buffer_size[part->index] = (uint32_t)part->want.number;
}

static void show_size(const struct dcb_info *info, const struct part *part, struct str *ret)
{
	int64_t there = info->buffer.buffer_size[part->index], want = part->want.number;

	if (there <= want && want - there < CELL_MAX)
		there = want;
	str_addf(ret, "%lld", (long long)there);
}

const struct dcb_table dcb_buffer_sizes = {make_size, show_size};

static void make_buffer(struct dcb_info *info, const struct part *part)
{
	info->buffer.prio2buffer[part->index] = (uint8_t)part->want.number;
}

static void show_buffer(const struct dcb_info *info, const struct part *part, struct str *ret)
{
	str_addf(ret, "%u", info->buffer.prio2buffer[part->index]);
}

const struct dcb_table dcb_buffer_priorities = {make_buffer, show_buffer};

static int send_buffers(const struct dcb_port *port, const struct change *c, struct err *err)
{
	struct dcb_info made = *port->info;

	make_entries(&made, c);
	return machine_dcb_buffer(port->dev.name, &made.buffer, err);
}

const struct dcb_item dcb_buffers = {.sort = DCB_SORT,
				     .group = DCB_BUFFER,
				     .make = make_entries,
				     .show = show_entries,
				     .send = send_buffers};
