/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pci.h"

#include <errno.h>
#include <fcntl.h>
#include <pci/header.h>
#include <string.h>

enum {
	MSIX_TABLE_SIZE = 0x7ff, /* mask of the control word, for which libpci has no name */
	HEADER_END = 0x40,
	CONFIG_END = 0x1000,
	/* As many as have room: a longer list is a loop. */
	CAPABILITIES_MAX = (PCI_STANDARD_SIZE - HEADER_END) / 4,
	EXTENDED_MAX = (CONFIG_END - PCI_STANDARD_SIZE) / 8,
};

/* --- registers --------------------------------------------------------------------------- */

size_t pci_config_read(const struct pci_config *c, unsigned int at, void *ret, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(c->fd, (char *)ret + got, len - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

static uint16_t word_of(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

/* Reads a piece whole, from the bytes that the open read or from the file. */
static bool read_piece(const struct pci_config *c, unsigned int at, uint8_t *ret, size_t len)
{
	if (at + len > sizeof(c->header))
		return pci_config_read(c, at, ret, len) == len;
	memcpy(ret, c->header + at, len);
	return true;
}

uint16_t pci_config_word(const struct pci_config *c, unsigned int at)
{
	uint8_t word[2];

	return read_piece(c, at, word, sizeof(word)) ? word_of(word) : 0xffff;
}

int pci_config_write(const struct pci_config *c, unsigned int at, uint16_t value)
{
	const uint8_t word[] = {(uint8_t)value, (uint8_t)(value >> 8)};
	ssize_t n = pwrite(c->fd, word, sizeof(word), (off_t)at);

	if (n < 0)
		return -errno;
	return n == sizeof(word) ? 0 : -EIO;
}

int pci_config_open(const struct root *root, const char *addr, bool write, struct pci_config *ret,
		    struct err *err)
{
	size_t n;

	*ret = (struct pci_config){.fd = root_open(root, write ? O_RDWR : O_RDONLY, err,
						   "/sys/bus/pci/devices/%s/config", addr)};
	if (ret->fd < 0)
		return ret->fd;
	memset(ret->header, 0xff, sizeof(ret->header));
	n = pci_config_read(ret, 0, ret->header, sizeof(ret->header));
	ret->reach = n == sizeof(ret->header) ? PCI_REACH_STANDARD
		     : n >= 4		      ? PCI_REACH_HEADER
					      : PCI_REACH_NONE;
	return 0;
}

void pci_config_close(struct pci_config *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* --- capabilities ------------------------------------------------------------------------ */

unsigned int pci_config_find(const struct pci_config *c, uint8_t id)
{
	unsigned int at = c->header[PCI_CAPABILITY_LIST];
	uint8_t entry[2];

	if (c->reach < PCI_REACH_STANDARD ||
	    !(word_of(c->header + PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return 0;
	for (int n = 0; n < CAPABILITIES_MAX; n++) {
		at &= ~3u; /* the low bits are reserved */
		if (at < HEADER_END || !read_piece(c, at, entry, sizeof(entry)) ||
		    entry[PCI_CAP_LIST_ID] == 0xff)
			return 0;
		if (entry[PCI_CAP_LIST_ID] == id)
			return at;
		at = entry[PCI_CAP_LIST_NEXT];
	}
	return 0;
}

bool pci_config_is_extended(const struct pci_config *c)
{
	uint8_t first[4];

	return c->reach == PCI_REACH_STANDARD &&
	       pci_config_read(c, PCI_STANDARD_SIZE, first, sizeof(first)) == sizeof(first);
}

unsigned int pci_config_find_extended(const struct pci_config *c, uint16_t id)
{
	unsigned int at = PCI_STANDARD_SIZE;
	uint8_t entry[4];

	if (!pci_config_find(c, PCI_CAP_ID_EXP))
		return 0;
	for (int n = 0; n < EXTENDED_MAX; n++) {
		static const uint8_t none[4] = {0}, gone[4] = {0xff, 0xff, 0xff, 0xff};

		if (at < PCI_STANDARD_SIZE || !read_piece(c, at, entry, sizeof(entry)) ||
		    memcmp(entry, none, sizeof(none)) == 0 ||
		    memcmp(entry, gone, sizeof(gone)) == 0)
			return 0;
		if (word_of(entry) == id)
			return at;
		at = word_of(entry + 2) >> 4 & ~3u; /* the version is below the place */
	}
	return 0;
}

int pci_config_reaches(const struct pci_config *c, const char *addr, enum pci_reach least,
		       struct err *err)
{
	if (c->reach == PCI_REACH_NONE)
		return err_set(err, -ENOENT, "%s: its config space can't be read", addr);
	if (c->reach < least)
		return err_set(err, -EACCES,
			       "%s: only root can read more than 64 bytes of its config space",
			       addr);
	return 0;
}

/* --- MSI-X ------------------------------------------------------------------------------- */

int pci_msix_vectors(const struct root *root, const char *addr, unsigned int *ret, struct err *err)
{
	struct pci_config c cleanup_pci_config = {0};
	unsigned int at;
	int r = pci_config_open(root, addr, false, &c, err);

	if (r == 0 || r == -ENOENT)
		r = pci_config_reaches(&c, addr, PCI_REACH_STANDARD, err);
	if (r < 0)
		return r;
	at = pci_config_find(&c, PCI_CAP_ID_MSIX);
	/* the field holds the number less one */
	*ret = at ? (pci_config_word(&c, at + PCI_CAP_FLAGS) & MSIX_TABLE_SIZE) + 1u : 0;
	return 0;
}
