/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/link_values.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vec.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

static const struct link_what whats[] = {
	{"private_flags", LINK_ETHTOOL, .group = ETH_PRIVATE_FLAGS},
	{"channels", LINK_ETHTOOL, .group = ETH_CHANNELS},
	{"rings", LINK_ETHTOOL, .group = ETH_RINGS},
	{"coalesce", LINK_ETHTOOL, .group = ETH_COALESCE},
	{"pause", LINK_ETHTOOL, .group = ETH_PAUSE},
	{"features", LINK_ETHTOOL, .group = ETH_FEATURES},
	{"mtu", .how = LINK_MTU},
	{"tx_queue_len", .how = LINK_QUEUE},
	{"up", .how = LINK_UP},
	{"gro_flush_timeout", LINK_FILE, .file = PORT_GRO_FLUSH_TIMEOUT},
	{"napi_defer_hard_irqs", LINK_FILE, .file = PORT_DEFER_HARD_IRQS},
	{"threaded_napi", LINK_FILE, .file = PORT_THREADED},
};

static const struct {
	enum eth_group group;
	const char *name;
	bool is_switch;
} items[ETH_ITEMS] = {
	[ETH_CHANNEL_COMBINED] = {ETH_CHANNELS, "combined", false},
	[ETH_CHANNEL_RX] = {ETH_CHANNELS, "rx", false},
	[ETH_CHANNEL_TX] = {ETH_CHANNELS, "tx", false},
	[ETH_RING_RX] = {ETH_RINGS, "rx", false},
	[ETH_RING_TX] = {ETH_RINGS, "tx", false},
	[ETH_ADAPTIVE_RX] = {ETH_COALESCE, "adaptive_rx", true},
	[ETH_ADAPTIVE_TX] = {ETH_COALESCE, "adaptive_tx", true},
	[ETH_RX_USECS] = {ETH_COALESCE, "rx_usecs", false},
	[ETH_TX_USECS] = {ETH_COALESCE, "tx_usecs", false},
	[ETH_RX_FRAMES] = {ETH_COALESCE, "rx_frames", false},
	[ETH_TX_FRAMES] = {ETH_COALESCE, "tx_frames", false},
	[ETH_PAUSE_AUTONEG] = {ETH_PAUSE, "autoneg", true},
	[ETH_PAUSE_RX] = {ETH_PAUSE, "rx", true},
	[ETH_PAUSE_TX] = {ETH_PAUSE, "tx", true},
};

/*
 * The names by which ethtool(8) has called some features for longer than the kernel has given
 * names to all of them. One may stand for several, of which a driver has some.
 */
static const struct {
	const char *name, *pattern;
} aliases[] = {
	{"rx-checksumming", "rx-checksum"},
	{"tx-checksumming", "tx-checksum-*"},
	{"scatter-gather", "tx-scatter-gather*"},
	{"tcp-segmentation-offload", "tx-tcp*-segmentation"},
	{"udp-fragmentation-offload", "tx-udp-fragmentation"},
	{"generic-segmentation-offload", "tx-generic-segmentation"},
	{"generic-receive-offload", "rx-gro"},
	{"large-receive-offload", "rx-lro"},
	{"rx-vlan-offload", "rx-vlan-hw-parse"},
	{"tx-vlan-offload", "tx-vlan-hw-insert"},
	{"ntuple-filters", "rx-ntuple-filter"},
	{"receive-hashing", "rx-hashing"},
};

/* --- what is wanted ------------------------------------------------------------------------- */

void link_wish_free(struct link_wish *wish)
{
	free(wish->addr);
	free(wish->driver);
	vec_free(wish);
}

static int add_pair(struct link_wish *wish, const char *name, const char *value, struct err *err)
{
	struct link_pair pair = {0};

	if (!value || strlen(name) >= sizeof(pair.name) || strlen(value) >= sizeof(pair.value))
		return err_set(err, -EINVAL, "%s %s: not what is set of a link", name,
			       value ? value : "");
	strcpy(pair.name, name);
	strcpy(pair.value, value);
	vec_push(wish, pair);
	return 0;
}

static int add_pairs(struct link_wish *wish, const char *desired, struct err *err)
{
	cleanup_free char *copy = xstrdup(desired);
	char *rest = NULL;
	int r = 0;

	for (char *name = strtok_r(copy, " ", &rest); r == 0 && name;
	     name = strtok_r(NULL, " ", &rest))
		r = add_pair(wish, name, strtok_r(NULL, " ", &rest), err);
	return r;
}

int link_wish_parse(const struct root *root, const char *arg, const char *desired,
		    struct link_wish *ret, struct err *err)
{
	const char *slash = strchr(arg, '/');

	for (size_t i = 0; slash && i < array_len(whats); i++)
		if (streq(whats[i].name, slash + 1))
			ret->what = &whats[i];
	if (!ret->what)
		return err_set(err, -EINVAL, "link:%s: not ADDRESS/KEY", arg);
	ret->addr = xstrndup(arg, (size_t)(slash - arg));
	if (read_link_name(root, &ret->driver, NULL, DEV "%s/driver", ret->addr) < 0)
		ret->driver = xstrdup("none");
	return ret->what->how == LINK_ETHTOOL ? add_pairs(ret, desired, err)
					      : add_pair(ret, ret->what->name, desired, err);
}

/* --- what there is: numbers ------------------------------------------------------------------ */

static int not_offered(const struct link_wish *wish, const struct link_pair *pair,
		       const struct port *port, struct err *err)
{
	const char *key = wish->what->name;
	bool pairs = wish->what->how == LINK_ETHTOOL;

	return err_set(err, -EOPNOTSUPP,
		       "%s (%s): the driver %s, or this kernel, offers no %s%s%s; leave "
		       "link.SET.%s%s%s out",
		       port->name, wish->addr, wish->driver, key, pairs ? "." : "",
		       pairs ? pair->name : "", key, pairs ? "." : "", pairs ? pair->name : "");
}

/* ETH_ITEMS: no such */
static enum eth_item item_of(const struct link_wish *wish, const struct link_pair *pair)
{
	enum eth_item i = 0;

	while (i < ETH_ITEMS &&
	       !(items[i].group == wish->what->group && streq(items[i].name, pair->name)))
		i++;
	return i;
}

static int have_number(const struct link_wish *wish, const struct link_pair *pair,
		       const struct port *port, char ret[LINK_TEXT], struct err *err)
{
	enum eth_item i = item_of(wish, pair);

	if (i == ETH_ITEMS || !port->number[i].there)
		return not_offered(wish, pair, port, err);
	if (items[i].is_switch)
		strcpy(ret, port->number[i].value ? "on" : "off");
	else
		snprintf(ret, LINK_TEXT, "%u", port->number[i].value);
	return 0;
}

uint32_t link_max(const struct link_wish *wish, const struct link_pair *pair,
		  const struct port *port)
{
	enum eth_item i;

	if (wish->what->how == LINK_MTU)
		return port->max_mtu;
	if (wish->what->how != LINK_ETHTOOL || eth_has_flags(wish->what->group))
		return 0;
	i = item_of(wish, pair);
	return i < ETH_ITEMS ? port->number[i].max : 0;
}

/* --- what there is: flags ----------------------------------------------------------------- */

static const char *pattern_of(const struct link_wish *wish, const struct link_pair *pair)
{
	for (size_t i = 0; wish->what->group == ETH_FEATURES && i < array_len(aliases); i++)
		if (streq(aliases[i].name, pair->name))
			return aliases[i].pattern;
	return pair->name; /* the schema lets no character of a pattern through */
}

static const struct eth_flags *flags_of(const struct link_wish *wish, const struct port *port)
{
	return wish->what->group == ETH_FEATURES ? &port->features : &port->private_flags;
}

static int no_such_flag(const struct link_wish *wish, const struct link_pair *pair,
			const struct port *port, struct err *err)
{
	cleanup_str struct str known = {0};

	if (wish->what->group == ETH_FEATURES)
		return err_set(
			err, -EOPNOTSUPP,
			"%s (%s): this kernel knows no feature %s (ethtool -k %s lists them); "
			"leave link.SET.features.%s out",
			port->name, wish->addr, pair->name, port->name, pair->name);
	for (size_t i = 0; i < port->private_flags.n; i++)
		str_addf(&known, "%s%s", i ? ", " : "", port->private_flags.v[i].name);
	return err_set(err, -EOPNOTSUPP,
		       "%s (%s): the driver %s has no private flag %s (it has: %.400s); leave "
		       "link.SET.private_flags.%s out",
		       port->name, wish->addr, wish->driver, pair->name,
		       known.len ? known.s : "none", pair->name);
}

struct flag_count {
	unsigned int all, on, changeable, changeable_on;
};

static struct flag_count count_flags(const struct eth_flags *flags, const char *pattern)
{
	struct flag_count n = {0};

	for (size_t i = 0; i < flags->n; i++) {
		const struct eth_flag *f = &flags->v[i];

		if (fnmatch(pattern, f->name, 0) != 0)
			continue;
		n.all++;
		n.on += f->on;
		n.changeable += !f->fixed;
		n.changeable_on += !f->fixed && f->on;
	}
	return n;
}

/*
 * A name of several is on when all that can be changed are on, and off when none is: what a
 * driver does not have it need not switch on.
 */
static int have_flag(const struct link_wish *wish, const struct link_pair *pair,
		     const struct port *port, char ret[LINK_TEXT], struct err *err)
{
	struct flag_count n = count_flags(flags_of(wish, port), pattern_of(wish, pair));
	bool want = streq(pair->value, "on");
	bool have = want ? n.on && n.changeable_on == n.changeable : n.on;

	if (!n.all)
		return no_such_flag(wish, pair, port, err);
	if (have != want && (want ? !n.changeable : n.on > n.changeable_on))
		return err_set(err, -EOPNOTSUPP,
			       "%s (%s): the driver %s does not let %s be switched %s (ethtool -k: "
			       "[fixed]); leave link.SET.%s.%s out",
			       port->name, wish->addr, wish->driver, pair->name, pair->value,
			       wish->what->name, pair->name);
	strcpy(ret, have ? "on" : "off");
	return 0;
}

/* --- what there is ------------------------------------------------------------------------ */

static int have_of_group(const struct link_wish *wish, const struct link_pair *pair,
			 const struct port *port, char ret[LINK_TEXT], struct err *err)
{
	int r = port->result[wish->what->group];

	if (r == -EOPNOTSUPP)
		return not_offered(wish, pair, port, err);
	if (r < 0)
		return err_errno(err, r, "asking for %s of %s (%s)", wish->what->name, port->name,
				 wish->addr);
	return eth_has_flags(wish->what->group) ? have_flag(wish, pair, port, ret, err)
						: have_number(wish, pair, port, ret, err);
}

int link_have(const struct link_wish *wish, const struct link_pair *pair, const struct port *port,
	      char ret[LINK_TEXT], struct err *err)
{
	switch (wish->what->how) {
	case LINK_ETHTOOL:
		return have_of_group(wish, pair, port, ret, err);
	case LINK_MTU:
		snprintf(ret, LINK_TEXT, "%u", port->mtu);
		return 0;
	case LINK_QUEUE:
		snprintf(ret, LINK_TEXT, "%u", port->tx_queue_len);
		return 0;
	case LINK_UP:
		strcpy(ret, port->up ? "up" : "down");
		return 0;
	case LINK_FILE:
		strcpy(ret, port->file[wish->what->file]);
		return *ret ? 0 : not_offered(wish, pair, port, err);
	}
	return not_offered(wish, pair, port, err);
}

/* --- what to send ------------------------------------------------------------------------- */

void link_settings(const struct link_wish *wish, const struct link_pair *pair,
		   const struct port *port, struct eth_settings *ret)
{
	const struct eth_flags *flags = flags_of(wish, port);
	struct eth_setting setting = {.value = streq(pair->value, "on")};
	uint64_t number;

	if (!eth_has_flags(wish->what->group)) {
		setting.item = item_of(wish, pair);
		if (!items[setting.item].is_switch && parse_u64(pair->value, &number) == 0)
			setting.value = (uint32_t)number;
		vec_push(ret, setting);
		return;
	}
	for (size_t i = 0; i < flags->n; i++) {
		const struct eth_flag *f = &flags->v[i];

		if (f->fixed || f->on == (setting.value != 0) ||
		    fnmatch(pattern_of(wish, pair), f->name, 0) != 0)
			continue;
		setting.flag = f->name;
		vec_push(ret, setting);
	}
}
