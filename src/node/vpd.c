/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node/vpd.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/node.h"
#include "sys/read.h"

enum {
	TAG_LARGE = 0x80, /* length: two bytes after the tag; else three bits of the tag */
	TAG_VPD_R = 0x90,
	TAG_END = 0x78,
	KEYWORD_HEADER = 3, /* two letters, a length */
};

/* Finds the value of a keyword in the fields of a VPD-R resource. */
static bool find_keyword(const uint8_t *p, size_t len, const char *key, struct vpd_field *ret)
{
	while (len >= KEYWORD_HEADER) {
		size_t n = p[2];

		if (n > len - KEYWORD_HEADER)
			return false;
		if (memcmp(p, key, 2) == 0) {
			*ret = (struct vpd_field){p + KEYWORD_HEADER, n};
			return true;
		}
		p += KEYWORD_HEADER + n;
		len -= KEYWORD_HEADER + n;
	}
	return false;
}

/* Splits off the next resource; false at the end tag and where the data breaks off. */
static bool next_resource(const uint8_t **p, size_t *len, uint8_t *tag, struct vpd_field *ret)
{
	size_t header, n;

	if (*len < 1)
		return false;
	if (**p & TAG_LARGE) {
		if (*len < 3)
			return false;
		*tag = **p;
		header = 3;
		n = (size_t)((*p)[1] | (*p)[2] << 8);
	} else {
		*tag = **p & 0x78;
		header = 1;
		n = **p & 7;
	}
	if (*tag == TAG_END || n > *len - header)
		return false;
	*ret = (struct vpd_field){*p + header, n};
	*p += header + n;
	*len -= header + n;
	return true;
}

bool vpd_find(const void *vpd, size_t len, const char *key, struct vpd_field *ret)
{
	const uint8_t *p = vpd;
	struct vpd_field res;
	uint8_t tag;

	while (next_resource(&p, &len, &tag, &res))
		if (tag == TAG_VPD_R && find_keyword(res.data, res.len, key, ret))
			return true;
	return false;
}

char *vpd_part_number(const void *vpd, size_t len)
{
	struct vpd_field f;
	char *text;

	if (!vpd_find(vpd, len, "PN", &f))
		return NULL;
	for (size_t i = 0; i < f.len; i++)
		if (f.data[i] && (f.data[i] < 0x20 || f.data[i] > 0x7e))
			return NULL; /* not a part number */
	text = xstrndup((const char *)f.data, f.len);
	str_chomp(text);
	if (!*text) {
		free(text);
		return NULL;
	}
	return text;
}

static void add_keyword(struct str *fields, const char *key, const char *value)
{
	size_t n = strlen(value) > 255 ? 255 : strlen(value);
	char len = (char)n;

	str_add(fields, key);
	str_addn(fields, &len, 1);
	str_addn(fields, value, n);
}

char *vpd_with(const char *pn, const char *v3, size_t *ret_len)
{
	cleanup_str struct str fields = {0};
	char *vpd;

	if (pn)
		add_keyword(&fields, "PN", pn);
	if (v3)
		add_keyword(&fields, "V3", v3);
	*ret_len = 3 + fields.len + 1;
	vpd = xcalloc(1, *ret_len);
	vpd[0] = (char)TAG_VPD_R;
	vpd[1] = (char)(fields.len & 0xff);
	vpd[2] = (char)(fields.len >> 8);
	memcpy(vpd + 3, fields.s, fields.len);
	vpd[*ret_len - 1] = TAG_END;
	return vpd;
}

static bool may_have_part_number(const struct pci_fn *fn)
{
	uint32_t base = fn->class >> 16;

	return !*fn->physfn && (base == 0x02 || base == 0x03 || base == 0x12);
}

int node_read_part_numbers(const struct root *root, struct node *node)
{
	int found = 0;

	node_functions(node); /* reads the functions */
	for (size_t i = 0; i < node->pci.n; i++) {
		struct pci_fn *fn = &node->pci.v[i];
		cleanup_free char *path = NULL, *vpd = NULL;
		size_t len = 0;

		if (!fn->part_number && may_have_part_number(fn)) {
			path = xasprintf("/sys/bus/pci/devices/%s/vpd", fn->addr);
			if (read_file(root, VPD_MAX, &vpd, &len, NULL, path) == 0)
				fn->part_number = vpd_part_number(vpd, len);
		}
		found += fn->part_number != NULL;
	}
	return found;
}
