/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Priorities that pause, classes that share, buffers. All are read, changed and sent. */
#include <string.h>

#include "kinds/dcb.h"
#include "sys/machine.h"

/* --- PFC -------------------------------------------------------------------------------------- */

static bool has_pfc(const struct dcb_info *info)
{
	return info->has_pfc;
}

static void show_bits(unsigned int bits, struct str *ret)
{
	for (unsigned int i = 0; i < DCB_PRIORITIES; i++)
		if (bits & 1u << i)
			str_addf(ret, "%s%u", ret->len ? " " : "", i);
	if (!ret->len)
		str_add(ret, "none");
}

static void show_pfc(const struct dcb_port *port, const char *desired, struct str *ret)
{
	(void)desired;
	show_bits(port->info->pfc.pfc_en, ret);
	if (port->pause.on)
		str_add(ret, " and global pause");
}

static uint8_t parse_bits(const char *desired)
{
	unsigned int bits = 0;

	for (; *desired; desired++)
		if (*desired >= '0' && *desired <= '7')
			bits |= 1u << (*desired - '0');
	return (uint8_t)bits;
}

/*
 * igb obeys the rest only without autonegotiation, and with it takes the link down, whose coming
 * back turns pause on (igb_set_pauseparam()); ice refuses another autonegotiation here, and obeys
 * the rest (ice_set_pauseparam()).
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
 * A port pauses all or single priorities: the first goes before the second comes. mlx5 takes the
 * port down and up for PFC, so what is equal is not sent (mlx5e_dcbnl_ieee_setpfc()).
 */
static int send_pfc(const struct dcb_port *port, const char *desired, struct err *err)
{
	struct ieee_pfc pfc = port->info->pfc;
	int r = port->pause.on ? stop_pausing(port, err) : 0;

	pfc.pfc_en = parse_bits(desired);
	if (r < 0 || pfc.pfc_en == port->info->pfc.pfc_en)
		return r;
	return machine_dcb_pfc(port->dev.name, &pfc, err);
}

const struct dcb_key dcb_pfc = {.name = "pfc",
				.what = "priority flow control",
				.pause = true,
				.offered = has_pfc,
				.show = show_pfc,
				.send = send_pfc};

/* The delay of the standard is bits; mlx5 takes what is below 1000 for the cable's metres. */
static void show_cable(const struct dcb_port *port, const char *desired, struct str *ret)
{
	(void)desired;
	str_addf(ret, "%u", port->info->pfc.delay);
}

static int send_cable(const struct dcb_port *port, const char *desired, struct err *err)
{
	struct ieee_pfc pfc = port->info->pfc;

	pfc.delay = (uint16_t)strtoul(desired, NULL, 10);
	return machine_dcb_pfc(port->dev.name, &pfc, err);
}

const struct dcb_key dcb_cable = {.name = "cable_length",
				  .what = "priority flow control",
				  .offered = has_pfc,
				  .show = show_cable,
				  .send = send_cable};

/* --- ETS -------------------------------------------------------------------------------------- */

static bool has_ets(const struct dcb_info *info)
{
	return info->has_ets;
}

static const struct {
	const char *name;
	uint8_t tsa;
} selections[] = {
	{"strict", IEEE_8021QAZ_TSA_STRICT},
	{"ets", IEEE_8021QAZ_TSA_ETS},
	{"vendor", IEEE_8021QAZ_TSA_VENDOR},
};

static const char *selection_name(uint8_t tsa)
{
	for (size_t i = 0; i < array_len(selections); i++)
		if (selections[i].tsa == tsa)
			return selections[i].name;
	return "shaper";
}

static uint8_t selection_parse(const char *value)
{
	for (size_t i = 0; i < array_len(selections); i++)
		if (strncmp(value, selections[i].name, strlen(selections[i].name)) == 0)
			return selections[i].tsa;
	return IEEE_8021QAZ_TSA_STRICT;
}

static unsigned int share_of(const struct ieee_ets *ets, unsigned int class)
{
	return ets->tc_tsa[class] == IEEE_8021QAZ_TSA_ETS ? ets->tc_tx_bw[class] : 0;
}

/* What the profile makes of what is there; returns the classes whose shares it names, as bits. */
static unsigned int make_ets(struct ieee_ets *ets, const char *desired)
{
	struct dcb_pair p = {.section = ""};
	unsigned int named = 0;

	while (dcb_next(&desired, &p)) {
		if (p.key >= DCB_PRIORITIES)
			continue;
		if (dcb_in(&p, "priorities"))
			ets->prio_tc[p.key] = (uint8_t)p.number;
		else if (dcb_in(&p, "scheduling"))
			ets->tc_tsa[p.key] = selection_parse(p.value);
		if (!dcb_in(&p, "bandwidth"))
			continue;
		named |= 1u << p.key;
		ets->tc_tx_bw[p.key] = (uint8_t)p.number;
		if (p.number) /* a share is of ETS */
			ets->tc_tsa[p.key] = IEEE_8021QAZ_TSA_ETS;
	}
	/* The shares that are named are all there are: drivers take 100% and nothing else. */
	for (unsigned int i = 0; named && i < IEEE_8021QAZ_MAX_TCS; i++)
		if (!(named & 1u << i))
			ets->tc_tx_bw[i] = 0;
	return named;
}

static void show_pair(struct str *ret, const struct dcb_pair *p, const char *section, bool *begun)
{
	if (!*begun)
		str_addf(ret, "%s%s", ret->len ? " " : "", section);
	*begun = true;
	str_addf(ret, " %u:", p->key);
}

static void show_ets(const struct dcb_port *port, const char *desired, struct str *ret)
{
	const struct ieee_ets *ets = &port->info->ets;
	struct ieee_ets made = *ets;
	unsigned int named = make_ets(&made, desired);
	bool begun[3] = {false, false, false};
	struct dcb_pair p = {.section = ""};

	while (dcb_next(&desired, &p)) {
		unsigned int key = p.key % DCB_PRIORITIES;

		if (dcb_in(&p, "priorities")) {
			show_pair(ret, &p, "priorities", &begun[0]);
			str_addf(ret, "%u", ets->prio_tc[key]);
		} else if (dcb_in(&p, "scheduling")) {
			show_pair(ret, &p, "scheduling", &begun[1]);
			str_add(ret, selection_name(ets->tc_tsa[key]));
		} else {
			show_pair(ret, &p, "bandwidth", &begun[2]);
			str_addf(ret, "%u", share_of(ets, key));
		}
	}
	/* A share that nobody asks for is one too many. */
	for (unsigned int i = 0; named && i < IEEE_8021QAZ_MAX_TCS; i++)
		if (!(named & 1u << i) && share_of(ets, i))
			str_addf(ret, " %u:%u", i, share_of(ets, i));
}

static int send_ets(const struct dcb_port *port, const char *desired, struct err *err)
{
	struct ieee_ets ets = port->info->ets;

	make_ets(&ets, desired);
	return machine_dcb_ets(port->dev.name, &ets, err);
}

const struct dcb_key dcb_ets = {.name = "ets",
				.what = "transmission selection",
				.offered = has_ets,
				.show = show_ets,
				.send = send_ets};

/* --- buffers ---------------------------------------------------------------------------------- */

/* Adapters count in cells of at most so many bytes, and round down (mlx5: 128 or 144). */
enum { CELL_MAX = 1024 };

static bool has_buffer(const struct dcb_info *info)
{
	return info->has_buffer;
}

static unsigned long size_shown(uint32_t there, unsigned long want)
{
	return there <= want && want - there < CELL_MAX ? want : there;
}

static void show_buffers(const struct dcb_port *port, const char *desired, struct str *ret)
{
	const struct dcbnl_buffer *b = &port->info->buffer;
	bool begun[2] = {false, false};
	struct dcb_pair p = {.section = ""};

	while (dcb_next(&desired, &p)) {
		unsigned int key = p.key % DCB_PRIORITIES;

		if (dcb_in(&p, "sizes")) {
			show_pair(ret, &p, "sizes", &begun[0]);
			str_addf(ret, "%lu", size_shown(b->buffer_size[key], p.number));
		} else {
			show_pair(ret, &p, "priorities", &begun[1]);
			str_addf(ret, "%u", b->prio2buffer[key]);
		}
	}
}

static int send_buffers(const struct dcb_port *port, const char *desired, struct err *err)
{
	struct dcbnl_buffer b = port->info->buffer;
	struct dcb_pair p = {.section = ""};

	while (dcb_next(&desired, &p)) {
		unsigned int key = p.key % DCB_PRIORITIES;

		if (dcb_in(&p, "sizes"))
			b.buffer_size[key] = (uint32_t)p.number;
		else
			b.prio2buffer[key] = (uint8_t)p.number;
	}
	return machine_dcb_buffer(port->dev.name, &b, err);
}

const struct dcb_key dcb_buffers = {.name = "buffers",
				    .what = "buffers",
				    .offered = has_buffer,
				    .show = show_buffers,
				    .send = send_buffers};
