/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers by netlink: of a PF with VFs, of devlink, of DCB, of the RDMA subsystem, and refusals. */
#include "fuzz.h"

#include <linux/if_link.h>

#include "base/mem.h"
#include "sys/dcb.h"
#include "sys/devlink.h"
#include "sys/genl.h"
#include "sys/rdma.h"
#include "sys/vfinfo.h"

static void parse_link(const void *data, size_t size)
{
	struct pf_info pf cleanup_pf_info = {0};

	if (pf_info_parse(data, size, &pf, NULL) < 0)
		return;
	must(pf.has_vfs || !pf.vf.n);
	must(pf.vf.n <= size / 40); /* each has a MAC */
	for (size_t i = 0; i < pf.vf.n; i++) {
		uint8_t mac[6];
		uint32_t number;
		uint64_t guid;

		must(vf_info_mac(&pf.vf.v[i], mac));
		for (uint16_t attr = 0; attr <= IFLA_VF_BROADCAST; attr++) {
			vf_info_number(&pf.vf.v[i], attr, true, &number);
			vf_info_number(&pf.vf.v[i], attr, false, &number);
			vf_info_guid(&pf.vf.v[i], attr, &guid);
		}
		must(pf_info_vf(&pf, pf.vf.v[i].index));
	}
}

static void parse_dcb(const void *data, size_t size)
{
	struct dcb_info info cleanup_dcb = {0};
	int says = 0;

	if (dcb_parse_reply(data, size, &says, NULL) == 0)
		must(says >= -128 && says <= 127);
	if (dcb_parse(data, size, &info, NULL) < 0)
		return;
	must(info.app.n <= size / 8); /* four bytes behind a header of four */
	must(info.trust.n <= size / 5 && (info.has_trust || !info.trust.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned as an answer is, and not a byte longer than it is. */
	cleanup_free char *copy = xcalloc(1, size ? size : 1);
	struct err err = {0};
	enum eswitch_mode mode = ESWITCH_LEGACY;
	uint32_t value;
	uint16_t family;
	bool shared;

	memcpy(copy, data, size);
	parse_link(copy, size);
	parse_dcb(copy, size);
	genl_parse_family(copy, size, &family, NULL);
	devlink_parse_param(copy, size, &value, NULL);
	rdma_parse_netns(copy, size, &shared, NULL);
	if (devlink_parse_eswitch(copy, size, &mode, NULL) == 0)
		must(mode <= ESWITCH_OTHER);
	if (size >= sizeof(struct nlmsghdr)) {
		int r = netlink_error((const void *)copy, size, &err);

		must(r <= 0 && r >= -4095 && (r < 0) == (err.text[0] != '\0'));
	}
	return 0;
}
