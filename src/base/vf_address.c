/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/vf_address.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAC_INDEX_MAX = 1023, GUID_INDEX_MAX = 65534 };

int vf_derived_mac(const uint8_t pf[6], unsigned int index, uint8_t ret[6], struct err *err)
{
	uint32_t vendor = (uint32_t)pf[0] << 16 | (uint32_t)pf[1] << 8 | pf[2];
	uint32_t h = (vendor ^ vendor >> 12) & 0xfff;

	if (!(vendor | pf[3] | pf[4] | pf[5]))
		return err_set(err, -EINVAL, "the PF has no MAC address to derive one from");
	if (index > MAC_INDEX_MAX)
		return err_set(err, -ERANGE,
			       "a MAC address can be derived for VFs 0 to %d; give a list",
			       MAC_INDEX_MAX);
	ret[0] = (uint8_t)((h >> 6) << 2 | 2);
	ret[1] = (uint8_t)((h & 0x3f) << 2 | index >> 8);
	ret[2] = (uint8_t)index;
	memcpy(ret + 3, pf + 3, 3);
	return 0;
}

int vf_derived_guid(uint64_t pf_node_guid, unsigned int index, uint64_t *ret, struct err *err)
{
	if (!pf_node_guid)
		return err_set(err, -EINVAL, "the PF has no node GUID to derive one from");
	if (index > GUID_INDEX_MAX)
		return err_set(err, -ERANGE, "a GUID can be derived for VFs 0 to %d; give a list",
			       GUID_INDEX_MAX);
	*ret = (pf_node_guid | 2ULL << 56) ^ (uint64_t)(index + 1) << 24;
	return 0;
}

/* Parses n octets into *ret; the first octet is the most significant. */
static bool parse_octets(const char *text, int n, uint64_t *ret)
{
	uint64_t value = 0;

	for (int i = 0; i < n; i++) {
		char digits[3] = {0};

		if (i && *text++ != ':')
			return false;
		for (int j = 0; j < 2; j++) {
			if (!isxdigit((unsigned char)*text))
				return false;
			digits[j] = *text++;
		}
		value = value << 8 | strtoul(digits, NULL, 16);
	}
	if (*text)
		return false;
	*ret = value;
	return true;
}

bool guid_parse(const char *text, uint64_t *ret)
{
	return parse_octets(text, 8, ret);
}

const char *guid_format(uint64_t guid, char ret[GUID_TEXT])
{
	for (int i = 0; i < 8; i++)
		snprintf(ret + i * 3, (size_t)(GUID_TEXT - i * 3), "%02x%s",
			 (unsigned int)(guid >> (56 - 8 * i)) & 0xff, i < 7 ? ":" : "");
	return ret;
}

uint64_t mac_number(const uint8_t mac[6])
{
	uint64_t number = 0;

	for (int i = 0; i < 6; i++)
		number = number << 8 | mac[i];
	return number;
}

const char *mac_format(uint64_t mac, char ret[MAC_TEXT])
{
	char guid[GUID_TEXT];

	/* the last six of eight octets */
	memcpy(ret, guid_format(mac, guid) + GUID_TEXT - MAC_TEXT, MAC_TEXT);
	return ret;
}
