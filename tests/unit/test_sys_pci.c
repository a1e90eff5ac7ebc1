/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Config space: how much of it is readable, and its lists of capabilities, whatever they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pci/header.h>

#include "sys/acs.h"
#include "sys/pci.h"
#include "sys/pci_express.h"
#include "tree.h"

#define FN "0000:41:00.0"
#define CONFIG "sys/bus/pci/devices/" FN "/config"

enum { SIZE = 4096 };

struct space {
	uint8_t bytes[SIZE];
	size_t size;
};

static void put_word(struct space *s, unsigned int at, unsigned int value)
{
	s->bytes[at] = (uint8_t)value;
	s->bytes[at + 1] = (uint8_t)(value >> 8);
}

/* A capability of the list in the standard part. */
static void put_cap(struct space *s, unsigned int at, uint8_t id, uint8_t next)
{
	s->bytes[at] = id;
	s->bytes[at + 1] = next;
}

static void put_extended(struct space *s, unsigned int at, unsigned int id, unsigned int next)
{
	put_word(s, at, id);
	put_word(s, at + 2, next << 4 | 1);
}

/* A function of PCI Express, with nothing else yet. */
static struct space function(size_t size)
{
	struct space s = {.size = size};

	put_word(&s, PCI_VENDOR_ID, 0x15b3);
	put_word(&s, PCI_DEVICE_ID, 0x1021);
	put_word(&s, PCI_STATUS, PCI_STATUS_CAP_LIST);
	s.bytes[PCI_CAPABILITY_LIST] = 0x40;
	put_cap(&s, 0x40, PCI_CAP_ID_EXP, 0);
	put_word(&s, 0x42, 2);
	return s;
}

static void write_space(const struct tmp *t, const struct space *s)
{
	FILE *f = fopen(tmp_path(t, CONFIG), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(s->bytes, 1, s->size, f), s->size);
	fclose(f);
}

static void open_space(struct tmp *t, const struct space *s, struct pci_config *ret)
{
	write_space(t, s);
	assert_int_equal(pci_config_open(&t->root, FN, false, ret, &t->err), 0);
}

static unsigned int find(struct tmp *t, const struct space *s, uint8_t id)
{
	struct pci_config c cleanup_pci_config = {0};

	open_space(t, s, &c);
	return pci_config_find(&c, id);
}

static unsigned int find_extended(struct tmp *t, const struct space *s, uint16_t id)
{
	struct pci_config c cleanup_pci_config = {0};

	open_space(t, s, &c);
	return pci_config_find_extended(&c, id);
}

/* --- how much is readable ---------------------------------------------------------------- */

static void test_sizes(void **state)
{
	static const struct {
		size_t size;
		enum pci_reach reach;
		bool extended;
	} sizes[] = {
		{0, PCI_REACH_NONE, false},	  {1, PCI_REACH_NONE, false},
		{3, PCI_REACH_NONE, false},	  {4, PCI_REACH_HEADER, false},
		{63, PCI_REACH_HEADER, false},	  {64, PCI_REACH_HEADER, false},
		{67, PCI_REACH_HEADER, false},	  {68, PCI_REACH_STANDARD, false},
		{255, PCI_REACH_STANDARD, false}, {256, PCI_REACH_STANDARD, false},
		{259, PCI_REACH_STANDARD, false}, {260, PCI_REACH_STANDARD, true},
		{4096, PCI_REACH_STANDARD, true},
	};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(sizes); i++) {
		struct space s = function(sizes[i].size);
		struct pci_config c cleanup_pci_config = {0};

		open_space(t, &s, &c);
		assert_int_equal(c.reach, sizes[i].reach);
		assert_int_equal(pci_config_is_extended(&c), sizes[i].extended);
		assert_int_equal(pci_config_find(&c, PCI_CAP_ID_EXP),
				 sizes[i].reach == PCI_REACH_STANDARD ? 0x40 : 0);
	}
}

/* What lies behind the end reads as ones, in the header and behind it. */
static void test_words(void **state)
{
	struct space s = function(0x41);
	struct pci_config c cleanup_pci_config = {0};
	uint8_t bytes[8] = {0};

	open_space(*state, &s, &c);
	assert_int_equal(pci_config_word(&c, PCI_VENDOR_ID), 0x15b3);
	assert_int_equal(pci_config_word(&c, 0x42), 0xffff);
	assert_int_equal(pci_config_word(&c, 0x100), 0xffff);
	assert_int_equal(pci_config_word(&c, 0xffffff), 0xffff);
	assert_int_equal(pci_config_read(&c, 0x3e, bytes, sizeof(bytes)), 3);
	assert_int_equal(pci_config_read(&c, 0x41, bytes, sizeof(bytes)), 0);
	assert_int_equal(pci_config_write(&c, 0x10, 1), -EBADF); /* opened to read */
}

/* --- the list in the standard part ------------------------------------------------------- */

static void test_list(void **state)
{
	struct space s = function(256);
	struct tmp *t = *state;

	put_cap(&s, 0x40, PCI_CAP_ID_PM, 0xfc);
	put_cap(&s, 0xfc, PCI_CAP_ID_MSIX, 0x53); /* low bits are reserved */
	put_cap(&s, 0x50, PCI_CAP_ID_EXP, 0);
	s.bytes[PCI_CAPABILITY_LIST] = 0x43;
	assert_int_equal(find(t, &s, PCI_CAP_ID_PM), 0x40);
	assert_int_equal(find(t, &s, PCI_CAP_ID_MSIX), 0xfc);
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0x50);
	assert_int_equal(find(t, &s, PCI_CAP_ID_AF), 0);
	put_cap(&s, 0x50, PCI_CAP_ID_MSIX, 0);
	assert_int_equal(find(t, &s, PCI_CAP_ID_MSIX), 0xfc); /* the first of two */
	put_word(&s, PCI_STATUS, 0);
	assert_int_equal(find(t, &s, PCI_CAP_ID_PM), 0); /* there is no list */
}

static void test_list_ends(void **state)
{
	struct space s = function(256);
	struct tmp *t = *state;

	/* a loop, to itself and over two */
	put_cap(&s, 0x40, PCI_CAP_ID_PM, 0x40);
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0);
	put_cap(&s, 0x40, PCI_CAP_ID_PM, 0x60);
	put_cap(&s, 0x60, PCI_CAP_ID_MSI, 0x40);
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0);
	assert_int_equal(find(t, &s, PCI_CAP_ID_MSI), 0x60);
	/* back into the header, whose bytes are no capability */
	put_cap(&s, 0x60, PCI_CAP_ID_MSI, 0x10);
	put_cap(&s, 0x10, PCI_CAP_ID_EXP, 0);
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0);
	s.bytes[PCI_CAPABILITY_LIST] = 0x10;
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0);
	/* beyond the end of a capture that is cut off */
	s = function(0x80);
	put_cap(&s, 0x40, PCI_CAP_ID_PM, 0x90);
	put_cap(&s, 0x90, PCI_CAP_ID_EXP, 0);
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0);
	s.size = 0x91; /* half of the entry */
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0);
	/* as many as have room, each visited */
	s = function(256);
	for (unsigned int at = 0x40; at < 0x100; at += 4)
		put_cap(&s, at, PCI_CAP_ID_VNDR, (uint8_t)(at + 4));
	put_cap(&s, 0xfc, PCI_CAP_ID_EXP, 0x40);
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0xfc);
	assert_int_equal(find(t, &s, PCI_CAP_ID_MSIX), 0);
}

/* Off the bus: all ones, which is no list of capabilities 0xff. */
static void test_gone(void **state)
{
	struct space s = {.size = SIZE};
	struct pci_express x;
	struct tmp *t = *state;

	memset(s.bytes, 0xff, sizeof(s.bytes));
	assert_int_equal(find(t, &s, 0xff), 0);
	assert_int_equal(find(t, &s, PCI_CAP_ID_EXP), 0);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ACS), 0);
	assert_int_equal(pci_express_read(&t->root, FN, &x, &t->err), -ENXIO);
	assert_text(t->err.text, "does not answer");
}

/* --- the extended list ------------------------------------------------------------------- */

static void test_extended(void **state)
{
	struct space s = function(SIZE);
	struct tmp *t = *state;

	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ACS), 0);
	put_extended(&s, 0x100, PCI_EXT_CAP_ID_AER, 0xffe);
	put_extended(&s, 0xffc, PCI_EXT_CAP_ID_ACS, 0x200);
	put_extended(&s, 0x200, PCI_EXT_CAP_ID_ATS, 0);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_AER), 0x100);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ACS), 0xffc);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ATS), 0x200);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_SRIOV), 0);
	s.size = 0xffe; /* half of the entry */
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ACS), 0);
	s.size = SIZE;
	put_cap(&s, 0x40, PCI_CAP_ID_PM, 0); /* conventional PCI has no such list */
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_AER), 0);
}

static void test_extended_ends(void **state)
{
	struct space s = function(SIZE);
	struct tmp *t = *state;

	put_extended(&s, 0x100, PCI_EXT_CAP_ID_AER, 0x100); /* a loop */
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ACS), 0);
	put_extended(&s, 0x100, PCI_EXT_CAP_ID_AER, 0x80); /* into the standard part */
	put_extended(&s, 0x80, PCI_EXT_CAP_ID_ACS, 0);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ACS), 0);
	put_extended(&s, 0x100, PCI_EXT_CAP_ID_AER, 0x200);
	memset(s.bytes + 0x200, 0xff, 4); /* a hole in the bus's answers */
	assert_int_equal(find_extended(t, &s, 0xffff), 0);
	/* as many as have room */
	for (unsigned int at = 0x100; at < SIZE; at += 8)
		put_extended(&s, at, PCI_EXT_CAP_ID_VNDR, at + 8);
	put_extended(&s, SIZE - 8, PCI_EXT_CAP_ID_ACS, 0x100);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ACS), SIZE - 8);
	assert_int_equal(find_extended(t, &s, PCI_EXT_CAP_ID_ATS), 0);
}

/* --- what is read from them -------------------------------------------------------------- */

/* The registers of PCI Express end with the standard part, or with the capture. */
static void test_express_at_end(void **state)
{
	struct space s = function(SIZE);
	struct pci_express x;
	struct tmp *t = *state;

	s.bytes[PCI_CAPABILITY_LIST] = 0xfc;
	put_cap(&s, 0xfc, PCI_CAP_ID_EXP, 0);
	put_word(&s, 0xfe, 2);
	write_space(t, &s);
	assert_int_equal(pci_express_read(&t->root, FN, &x, &t->err), 0);
	assert_int_equal(x.size, 4);
	assert_int_equal(pci_express_word(&x, PCI_EXP_DEVCTL), 0);
	s = function(0x40 + 11);
	put_word(&s, 0x40 + PCI_EXP_DEVCTL, 0x2810);
	write_space(t, &s);
	assert_int_equal(pci_express_read(&t->root, FN, &x, &t->err), 0);
	assert_int_equal(x.size, 10);
	assert_int_equal(pci_express_word(&x, PCI_EXP_DEVCTL), 0x2810);
}

static void test_msix(void **state)
{
	struct space s = function(256);
	struct tmp *t = *state;
	unsigned int vectors = 9;

	write_space(t, &s);
	assert_int_equal(pci_msix_vectors(&t->root, FN, &vectors, &t->err), 0);
	assert_int_equal(vectors, 0);
	put_cap(&s, 0x40, PCI_CAP_ID_MSIX, 0);
	put_word(&s, 0x42, 0xc7ff); /* enabled, masked */
	write_space(t, &s);
	assert_int_equal(pci_msix_vectors(&t->root, FN, &vectors, &t->err), 0);
	assert_int_equal(vectors, 2048);
	s.size = 64;
	write_space(t, &s);
	assert_int_equal(pci_msix_vectors(&t->root, FN, &vectors, &t->err), -EACCES);
	s.size = 0;
	write_space(t, &s);
	assert_int_equal(pci_msix_vectors(&t->root, FN, &vectors, &t->err), -ENOENT);
	assert_int_equal(pci_msix_vectors(&t->root, "0000:42:00.0", &vectors, &t->err), -ENOENT);
}

/* --- no file ----------------------------------------------------------------------------- */

static void test_not_a_file(void **state)
{
	struct tmp *t = *state;
	struct acs *acs = acs_new(&t->root);
	struct pci_express x;
	unsigned int vectors;

	assert_int_equal(mkfifo(tmp_path(t, CONFIG), 0600), 0);
	assert_int_equal(pci_express_read(&t->root, FN, &x, &t->err), -EBADFD);
	assert_string_equal(t->err.text, "/" CONFIG ": is not a regular file");
	assert_int_equal(pci_msix_vectors(&t->root, FN, &vectors, &t->err), -EBADFD);
	assert_int_equal(acs_port(acs, FN, NULL)->state, ACS_UNREADABLE);
	acs_free(acs);
	tree_remove(t, CONFIG);
	tree_dir(t, CONFIG);
	assert_int_equal(pci_express_read(&t->root, FN, &x, &t->err), -EISDIR);
	tree_remove(t, CONFIG);
	tree_link(t, CONFIG, "/etc/passwd"); /* of this machine: below the root there is none */
	assert_int_equal(pci_express_read(&t->root, FN, &x, &t->err), -ENOENT);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_sizes),	   TEST(test_words), TEST(test_list),
		TEST(test_list_ends),	   TEST(test_gone),  TEST(test_extended),
		TEST(test_extended_ends),  TEST(test_msix),  TEST(test_not_a_file),
		TEST(test_express_at_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
