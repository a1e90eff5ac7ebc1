/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node/p2p.h"

#include <pci/header.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "node/vpd.h"
#include "sys/read.h"

enum { DATA_DIRECT = 0x2100 };

static void take_from(const struct acs_ports *all, size_t first, struct acs_ports *ret)
{
	for (size_t i = first; i < all->n; i++)
		vec_push(ret, all->v[i]);
}

int p2p_way_find(struct acs *acs, const char *nic, const char *gpu, struct p2p_way *ret,
		 struct err *err)
{
	struct acs_ports a = {0}, b = {0};
	int r = acs_ports_above(acs, nic, &a, err);
	size_t n = 0;

	if (r == 0)
		r = acs_ports_above(acs, gpu, &b, err);
	if (r == 0) {
		while (n < a.n && n < b.n && a.v[n] == b.v[n]) /* a shared port is the same object,
								  because each port is read once */
			vec_push(&ret->common, a.v[n++]);
		take_from(&a, n, &ret->nic);
		take_from(&b, n, &ret->gpu);
	}
	vec_free(&a);
	vec_free(&b);
	return r;
}

void p2p_way_free(struct p2p_way *way)
{
	vec_free(&way->common);
	vec_free(&way->nic);
	vec_free(&way->gpu);
}

static bool is_highest(const struct acs_ports *ports, const struct acs_port *port)
{
	return ports->n && ports->v[0] == port;
}

uint16_t p2p_off_for_direct(const struct p2p_way *way, const struct acs_port *port)
{
	if (!way->data_direct)
		return PCI_ACS_CTRL_REQ_RED | PCI_ACS_CTRL_CMPLT_RED | PCI_ACS_CTRL_EGRESS;
	if (is_highest(&way->nic, port))
		return PCI_ACS_CTRL_REQ_RED | PCI_ACS_CTRL_EGRESS;
	if (is_highest(&way->gpu, port))
		return PCI_ACS_CTRL_CMPLT_RED | PCI_ACS_CTRL_EGRESS;
	return is_highest(&way->common, port) ? PCI_ACS_CTRL_VALID : 0;
}

static bool redirects(const struct p2p_way *way, const struct acs_port *port)
{
	return port->does & p2p_off_for_direct(way, port);
}

bool p2p_readable(const struct acs_port *port)
{
	return port->state != ACS_SHORT && port->state != ACS_HEADER &&
	       port->state != ACS_UNREADABLE;
}

enum p2p_redirect p2p_redirect_of(const struct p2p_way *way)
{
	const struct acs_ports *legs[] = {&way->nic, &way->gpu};
	enum p2p_redirect found = P2P_DIRECT;

	if (!way->common.n)
		return P2P_ROOT_COMPLEX;
	for (size_t l = 0; l < array_len(legs); l++)
		for (size_t i = 0; i < legs[l]->n; i++) {
			if (redirects(way, legs[l]->v[i]))
				return P2P_REDIRECTED;
			if (!p2p_readable(legs[l]->v[i]))
				found = P2P_UNKNOWN;
		}
	return found;
}

/* The text of keyword V3; "" if absent; NULL: the VPD cannot be read. */
static char *identifier_of(const struct root *root, const char *addr)
{
	cleanup_free char *path = xasprintf("/sys/bus/pci/devices/%s/vpd", addr), *vpd = NULL;
	struct vpd_field f;
	size_t len;

	if (read_file(root, VPD_MAX, &vpd, &len, NULL, path) < 0)
		return NULL;
	return vpd_find(vpd, len, "V3", &f) ? xstrndup((const char *)f.data, f.len) : xstrdup("");
}

void p2p_movers_find(const struct root *root, const struct node *node, struct p2p_movers *ret)
{
	const struct pci_functions *functions = node_functions(node);

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];

		if (fn->vendor == VENDOR_MELLANOX && fn->device == DATA_DIRECT)
			vec_push(&ret->list,
				 ((struct p2p_mover){fn, identifier_of(root, fn->addr)}));
	}
}

void p2p_movers_free(struct p2p_movers *movers)
{
	for (size_t i = 0; i < movers->list.n; i++)
		free(movers->list.v[i].identifier);
	vec_free(&movers->list);
}

const struct pci_fn *p2p_mover_of(const struct root *root, const struct p2p_movers *movers,
				  const struct pci_fn *nic)
{
	cleanup_free char *own = NULL;
	bool all_told = true;

	if (nic->vendor != VENDOR_MELLANOX || !movers->list.n)
		return nic;
	own = identifier_of(root, nic->addr);
	if (!own || !*own)
		return own ? nic : NULL;
	for (size_t i = 0; i < movers->list.n; i++) {
		const char *its = movers->list.v[i].identifier;

		if (its && streq(own, its))
			return movers->list.v[i].fn;
		all_told = all_told && its && *its;
	}
	return all_told ? nic : NULL;
}

/* --- the kernel argument ----------------------------------------------------------------- */

enum { CONTROL_BITS = 7 };

void p2p_argument_add(struct str *value, const char *port, uint16_t control, bool bits)
{
	if (strstr(str_get(value), port))
		return;
	str_add(value, value->len ? ";" : "");
	for (unsigned int i = CONTROL_BITS; bits && i-- > 0;)
		str_add(value, control & 1U << i ? "1" : "0");
	str_addf(value, "%s%s", bits ? "@" : "", port);
}

char *p2p_argument(const struct str *value, bool bits)
{
	return xasprintf("pci=%s=%s", bits ? "config_acs" : "disable_acs_redir", str_get(value));
}

bool p2p_kernel_has_bits(const char *kernel)
{
	return version_fits(">=6.11", kernel);
}

/* --- for a survey ------------------------------------------------------------------------ */

static enum ats_state ats_of(struct acs *acs, const char *addr)
{
	const struct acs_port *fn = acs_port(acs, addr, NULL);

	return fn ? fn->ats : ATS_UNKNOWN;
}

void p2p_fact_take(struct acs *acs, const char *nic, const char *mover, const char *gpu,
		   struct p2p_fact *ret)
{
	struct p2p_way way = {.data_direct = mover && !streq(mover, nic)};
	const struct acs_ports *legs[] = {&way.nic, &way.gpu};

	*ret = (struct p2p_fact){
		.redirect = P2P_UNKNOWN, .nic_ats = ats_of(acs, nic), .gpu_ats = ats_of(acs, gpu)};
	if (mover && p2p_way_find(acs, mover, gpu, &way, NULL) == 0)
		ret->redirect = p2p_redirect_of(&way);
	for (size_t l = 0; ret->redirect == P2P_REDIRECTED && l < array_len(legs); l++)
		for (size_t i = 0; i < legs[l]->n; i++)
			if (redirects(&way, legs[l]->v[i]))
				strv_add(&ret->at, legs[l]->v[i]->addr);
	p2p_way_free(&way);
}

const char *p2p_redirect_name(enum p2p_redirect r)
{
	static const char *const names[] = {[P2P_DIRECT] = "no",
					    [P2P_REDIRECTED] = "yes",
					    [P2P_ROOT_COMPLEX] = "root complex",
					    [P2P_UNKNOWN] = "unknown"};

	return names[r];
}

const char *p2p_ats_name(enum ats_state s)
{
	static const char *const names[] = {
		[ATS_UNKNOWN] = "unknown", [ATS_NONE] = "none", [ATS_OFF] = "off", [ATS_ON] = "on"};

	return names[s];
}
