/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headers are built here, byte by byte; a machine is a tree that is taken for a live one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/str.h"
#include "boot/seal.h"
#include "tree.h"

enum { BIT8 = 1 << 8, BIT9 = 1 << 9, BIT12 = 1 << 12 };

static void test_pcrs(void **state)
{
	static const struct {
		const char *text;
		uint32_t pcrs;
	} t[] = {
		{"", 0},
		{"7", 0},
		{"0+1+10+23", 0},
		{"7+8", BIT8},
		{"7,8", BIT8},
		{"7, 12", BIT12},
		{"8+9+12", BIT8 | BIT9 | BIT12},
		{"08", BIT8},
		{"secure-boot-policy+kernel-config", BIT12},
		{"kernel-initrd", BIT9},
		{"8:sha256=00ff+9:sha1", BIT8 | BIT9},
		{"boot-loader-code:sha256=8", 0},
		{"18+80+89+112+-8", 0},
		{"kernel-config-x", 0},
		/* others reject these lists: what is in them counts all the same */
		{"+7++8+", BIT8},
		{"nonsense+9", BIT9},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		if (seal_pcrs(t[i].text) != t[i].pcrs)
			fail_msg("'%s': %x", t[i].text, seal_pcrs(t[i].text));
}

/* --- headers --------------------------------------------------------------------------------- */

static void put_header(unsigned char head[4096], unsigned int version, uint64_t size)
{
	memset(head, 0, 4096);
	memcpy(head, "LUKS\xba\xbe", 6);
	head[6] = (unsigned char)(version >> 8);
	head[7] = (unsigned char)version;
	for (int i = 0; i < 8; i++)
		head[8 + i] = (unsigned char)(size >> (56 - 8 * i));
}

/* As clevis: the node in the protected header of a JWE. */
static char *base64url(const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t len = strlen(text);
	struct str out = {0};

	for (size_t i = 0; i < 8 * len; i += 6) {
		unsigned int v = 0;

		for (size_t b = i; b < i + 6; b++)
			v = v << 1 |
			    (b < 8 * len ? (unsigned int)text[b / 8] >> (7 - b % 8) & 1 : 0);
		str_addn(&out, &digits[v], 1);
	}
	return str_take(&out);
}

static char *jwe(const char *node)
{
	cleanup_free char *header =
		xasprintf("{\"alg\":\"dir\",\"clevis\":%s,\"enc\":\"A256GCM\"}", node);

	return base64url(header);
}

static char *clevis(const char *node)
{
	cleanup_free char *protected = jwe(node);

	return xasprintf("{\"type\":\"clevis\",\"keyslots\":[\"1\"],\"jwe\":{\"ciphertext\":\"x\","
			 "\"protected\":\"%s\",\"tag\":\"y\"}}",
			 protected);
}

/* Shares of a secret, as compact JWEs: header, key, iv, text, tag. */
static char *shares(const char *node)
{
	cleanup_free char *tang = jwe("{\"pin\":\"tang\",\"tang\":{}}"), *other = jwe(node);

	return xasprintf("{\"pin\":\"sss\",\"sss\":{\"t\":2,\"p\":\"x\",\"jwe\":[\"%s..i.t.g\","
			 "\"%s..i.t.g\"]}}",
			 tang, other);
}

#define TPM2(rest) "{\"type\":\"systemd-tpm2\",\"keyslots\":[\"1\"]," rest "}"

static void expect_tokens(const char *tokens, uint32_t pcrs, bool pcrlock)
{
	cleanup_free char *json = xasprintf("{\"keyslots\":{},\"tokens\":{%s}}", tokens);
	struct seal_tokens have = {0};

	assert_true(seal_read_tokens(json, strlen(json), &have));
	if (have.pcrs != pcrs || have.pcrlock != pcrlock)
		fail_msg("%s: %x, pcrlock %d", json, have.pcrs, have.pcrlock);
}

static void test_tokens(void **state)
{
	static const struct {
		const char *tokens;
		uint32_t pcrs;
		bool pcrlock;
	} t[] = {
		{"", 0, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[7]"), 0, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[]"), 0, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[7,8,12]"), BIT8 | BIT12, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[8]") ",\"1\":" TPM2("\"tpm2-pcrs\":[9]"),
		 BIT8 | BIT9, false},
		/* another key is no excuse, nor is a person who types a PIN */
		{"\"0\":" TPM2("\"tpm2-pcrs\":[8]") ",\"1\":" TPM2("\"tpm2-pcrs\":[7]"), BIT8,
		 false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[8],\"tpm2-pin\":true"), BIT8, false},
		/* signed policies */
		{"\"0\":" TPM2("\"tpm2-pcrs\":[],\"tpm2_pubkey_pcrs\":[11]"), 0, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[7],\"tpm2_pubkey_pcrs\":[11,12]"), BIT12, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[],\"tpm2_pcrlock\":true"), 0, true},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[7],\"tpm2_pcrlock\":false"), 0, false},
		/* numbers that are no PCR */
		{"\"0\":" TPM2("\"tpm2-pcrs\":[-1,24,32,264,1152921504606846984]"), 0, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[8.0]"), 0, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":\"7+8\""), BIT8, false},
		{"\"0\":" TPM2("\"tpm2-pcrs\":[[9],{}]"), BIT9, false},
		{"\"0\":" TPM2("\"x\":8"), 0, false},
		{"\"0\":{\"type\":\"systemd-recovery\",\"keyslots\":[\"1\"]}", 0, false},
		{"\"0\":{\"type\":8},\"1\":[],\"2\":null", 0, false},
		{"\"0\":{\"type\":\"clevis\"}", 0, false},
		{"\"0\":{\"type\":\"clevis\",\"jwe\":{\"protected\":\"!!!!\"}}", 0, false},
		{"\"0\":{\"type\":\"clevis\",\"jwe\":{\"protected\":\"AAAAA\"}}", 0, false},
		{"\"0\":{\"type\":\"clevis\",\"jwe\":{\"protected\":\"\"}}", 0, false},
		{"\"0\":{\"type\":\"clevis\",\"jwe\":{\"protected\":7}}", 0, false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		expect_tokens(t[i].tokens, t[i].pcrs, t[i].pcrlock);
}

static void test_clevis(void **state)
{
	static const struct {
		const char *node;
		uint32_t pcrs;
	} t[] = {
		{"{\"pin\":\"tpm2\",\"tpm2\":{\"hash\":\"sha256\",\"pcr_bank\":\"sha256\","
		 "\"pcr_ids\":\"7,8\"}}",
		 BIT8},
		{"{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":\"7\"}}", 0},
		{"{\"pin\":\"tpm2\",\"tpm2\":{}}", 0},
		{"{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":[\"7\",\"8\"]}}", BIT8},
		{"{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":\"eight\"}}", 0},
		{"{\"pin\":\"tang\",\"tang\":{\"url\":\"http://x\"}}", 0},
		{"{\"pin\":\"sss\",\"sss\":{\"t\":1}}", 0},
		{"{\"pin\":\"sss\",\"sss\":{\"jwe\":[7,\"x\",null]}}", 0},
		{"{\"pin\":7}", 0},
		{"[]", 0},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		/* alone, as a share, and as a share of a share */
		cleanup_free char *share = shares(t[i].node), *deep = shares(share);
		const char *const nodes[] = {t[i].node, share, deep};

		for (size_t j = 0; j < array_len(nodes); j++) {
			cleanup_free char *token = clevis(nodes[j]);
			cleanup_free char *text = xasprintf("\"9\":%s", token);

			expect_tokens(text, t[i].pcrs, false);
		}
	}
}

static void test_no_tokens(void **state)
{
	static const char *const bad[] = {"", "{", "[]", "8", "{}x", "\"tokens\""};
	static const char *const none[] = {"{}", "{\"tokens\":[]}", "{\"tokens\":8}",
					   "{\"tokens\":{}}\0garbage"};
	enum { DEEP = 4000 };
	struct seal_tokens have = {.pcrs = 1};
	char deep[DEEP + 1];

	(void)state;
	for (size_t i = 0; i < array_len(bad); i++)
		assert_false(seal_read_tokens(bad[i], strlen(bad[i]), &have));
	/* brackets without end: refused, not followed */
	memset(deep, '[', DEEP);
	deep[DEEP] = '\0';
	assert_false(seal_read_tokens(deep, DEEP, &have));
	for (size_t i = 0; i < array_len(none); i++) {
		/* what is behind the NUL is padding */
		assert_true(seal_read_tokens(none[i], strlen(none[i]) + 4, &have));
		assert_false(have.pcrs || have.pcrlock);
	}
}

/* --- machines ----------------------------------------------------------------------------- */

static void put_device(const struct tmp *t, const char *name, uint64_t size, const char *tokens)
{
	cleanup_free char *json = xasprintf("{\"tokens\":{%s}}", tokens);
	unsigned char head[4096];
	char area[12288] = "";
	FILE *f = fopen(tmp_path(t, name), "w");

	assert_non_null(f);
	put_header(head, 2, size);
	snprintf(area, sizeof(area), "%s", json);
	assert_int_equal(fwrite(head, 1, sizeof(head), f), sizeof(head));
	assert_int_equal(fwrite(area, 1, sizeof(area), f), sizeof(area));
	assert_int_equal(fclose(f), 0);
}

static void put_block(const struct tmp *t, const char *name, const char *number)
{
	cleanup_free char *dir = xasprintf("sys/class/block/%s", name);
	cleanup_free char *link = xasprintf("sys/dev/block/%s", number);
	cleanup_free char *target = xasprintf("../../class/block/%s", name);

	tree_dir(t, dir);
	tree_link(t, link, target);
}

static void put_crypt(const struct tmp *t, const char *dm, const char *number, const char *volume,
		      const char *slave)
{
	cleanup_free char *uuid = xasprintf("CRYPT-LUKS2-0123-%s\n", volume);
	cleanup_free char *path = NULL;
	const char *const dirs[] = {"dm", "slaves"};

	put_block(t, dm, number);
	for (size_t i = 0; i < array_len(dirs); i++) {
		free(path);
		path = xasprintf("sys/class/block/%s/%s", dm, dirs[i]);
		tree_dir(t, path);
	}
	free(path);
	path = xasprintf("sys/class/block/%s/slaves/%s", dm, slave);
	tree_dir(t, path);
	free(path);
	path = xasprintf("sys/class/block/%s/dm/uuid", dm);
	tmp_write(t, path, uuid);
	free(path);
	path = xasprintf("sys/class/block/%s/dm/name", dm);
	tmp_write(t, path, volume);
}

/* LVM on crypt on sda2, and crypt on sda1 and sdb. */
static void put_machine(const struct tmp *t)
{
	static const char *const dirs[] = {
		"sys", "sys/class", "sys/class/block", "sys/dev", "sys/dev/block", "etc", "dev",
	};

	for (size_t i = 0; i < array_len(dirs); i++)
		tree_dir(t, dirs[i]);
	put_block(t, "sda1", "8:1");
	put_block(t, "sda2", "8:2");
	put_block(t, "sdb", "8:16");
	put_crypt(t, "dm-0", "253:0", "luks-root", "sda2");
	put_crypt(t, "dm-1", "253:1", "luks-boot", "sda1");
	put_crypt(t, "dm-2", "253:2", "luks-data", "sdb");
	put_block(t, "dm-3", "253:3");
	tree_dir(t, "sys/class/block/dm-3/slaves");
	tree_dir(t, "sys/class/block/dm-3/slaves/dm-0");
	tree_dir(t, "sys/class/block/dm-3/dm");
	tmp_write(t, "sys/class/block/dm-3/dm/uuid", "LVM-abc\n");
	tmp_write(t, "sys/class/block/dm-3/dm/name", "vg-root\n");
	put_device(t, "dev/sda1", 16384, "");
	put_device(t, "dev/sda2", 16384, "");
	put_device(t, "dev/sdb", 16384, "");
}

static char *refused(const struct tmp *t, bool live)
{
	struct root root = t->root;
	char *why;

	root.live = live;
	why = seal_why_refused(&root);
	return why ? why : xstrdup("nothing");
}

/* The whole of "nothing", or a part of the sentence. */
static void expect(const struct tmp *t, bool live, const char *text)
{
	cleanup_free char *why = refused(t, live);

	if (streq(text, "nothing") ? !streq(why, text) : !strstr(why, text))
		fail_msg("'%s', and not '%s'", why, text);
}

static void test_live(void **state)
{
	const struct tmp *t = *state;
	cleanup_free char *token = clevis("{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":\"12\"}}");
	cleanup_free char *tokens = xasprintf("\"3\":%s", token);

	put_machine(t);
	expect(t, true, "nothing"); /* plain LUKS2 volumes */
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[7,8,9]"));
	expect(t, true,
	       "luks-root (/dev/sda2): the TPM gives out its key only for the present value of "
	       "PCR 8, PCR 9, which a trial of kernel arguments changes for good; bind the key to "
	       "PCR 7 "
	       "(systemd-cryptenroll --wipe-slot=tpm2 --tpm2-device=auto --tpm2-pcrs=7 /dev/sda2,");
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[],\"tpm2_pcrlock\":true"));
	expect(t, true, "only for the present value of the PCRs of systemd-pcrlock's");
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[7]"));
	expect(t, true, "nothing");
	put_device(t, "dev/sda1", 16384, tokens);
	expect(t, true,
	       "luks-boot (/dev/sda1): the TPM gives out its key only for the present value of PCR "
	       "12, which");
	put_device(t, "dev/sda1", 16384, "");
	/* a boot waits for other disks, too */
	put_device(t, "dev/sdb", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[8]"));
	expect(t, true, "luks-data (/dev/sdb)");
	/* of a tree nobody knows the devices */
	expect(t, false, "nothing");
}

static void test_crypttab(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"luks-a UUID=1 none tpm2-device=auto,tpm2-pcrs=7+8",
		 "luks-a (tpm2-pcrs= in /etc/crypttab): "
		 "the TPM gives out its key only for the present value of PCR 8"},
		{"luks-b\tUUID=2\t-\tluks,tpm2-device=/dev/tpmrm0,tpm2-pcrs=12\r\n", "PCR 12"},
		{"#x\n\n  \t\r\n luks-j UUID=10 none ,,tpm2-pcrs=9,tpm2-device=auto", "luks-j"},
		{"luks-g UUID=7 /etc/key tpm2-device=auto,tpm2-pcrs=8 extra words", "luks-g"},
		{"luks-\x1b[1m UUID=9 none tpm2-device=auto,tpm2-pcrs=8", "luks-?[1m"},
		{"a b c d\nluks-k UUID=10 none tpm2-device=auto,tpm2-pcrs=8", "luks-k"},
		/* the last counts, as for systemd; without any PCR 7, or what a header says */
		{"luks-i UUID=9 none tpm2-device=auto,tpm2-pcrs=8,tpm2-pcrs=7", "nothing"},
		{"luks-a UUID=1 none tpm2-device=auto", "nothing"},
		{"luks-a UUID=1 none tpm2-device=auto,tpm2-pcrs=", "nothing"},
		{"# luks-a UUID=1 none tpm2-device=auto,tpm2-pcrs=8", "nothing"},
		{"luks-a UUID=1 none luks,tpm2-pcrs=8", "nothing"},
		{"luks-a UUID=1 none\nluks-b\nluks-c UUID=1\n", "nothing"},
		{"", "nothing"},
	};
	const struct tmp *t = *state;

	put_machine(t);
	for (size_t i = 0; i < array_len(rows); i++) {
		tmp_write(t, "etc/crypttab", rows[i].text);
		expect(t, false, rows[i].why);
		expect(t, true, rows[i].why);
	}
	/* what a header says comes first */
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[9]"));
	tmp_write(t, "etc/crypttab", rows[0].text);
	expect(t, true, "luks-root (/dev/sda2)");
	tree_remove(t, "etc/crypttab");
	tree_dir(t, "etc/crypttab");
	expect(t, false, "8, 9 or 12: /etc/crypttab can't be read (");
}

/* Whatever stands in the way of the header: refused, and the reason named. */
static void test_unread(void **state)
{
	const struct tmp *t = *state;
	const char *const no_header =
		"luks-root (/dev/sda2): can't tell which PCRs its key is sealed "
		"to, because its LUKS2 header can't be read (";
	const char *const tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[7]");

	put_machine(t);
	tmp_write(t, "dev/sda2", "");
	expect(t, true, no_header);
	/* sizes that no header has, one that is cut off, and JSON that is none */
	for (uint64_t size = 0; size < 16384; size += 4096) {
		put_device(t, "dev/sda2", size, tokens);
		expect(t, true, no_header);
	}
	put_device(t, "dev/sda2", (4 << 20) + 1, tokens);
	expect(t, true, no_header);
	put_device(t, "dev/sda2", UINT64_MAX, tokens);
	expect(t, true, no_header);
	put_device(t, "dev/sda2", 16384, "\"0\":");
	expect(t, true, no_header);
	/* the second header, a directory, a FIFO, nothing; a link out of the tree leads into it */
	tmp_write(t, "dev/sda2", "SKUL\xba\xbe");
	expect(t, true, no_header);
	tree_remove(t, "dev/sda2");
	expect(t, true, no_header);
	tree_dir(t, "dev/sda2");
	expect(t, true, no_header);
	tree_remove(t, "dev/sda2");
	assert_int_equal(mkfifo(tmp_path(t, "dev/sda2"), 0600), 0);
	expect(t, true, no_header);
	tree_remove(t, "dev/sda2");
	put_device(t, "dev/sdb", 16384, tokens);
	tree_link(t, "dev/sda2", "/dev/sdb");
	expect(t, true, "nothing");
	/* more than the two headers' largest area is not read: here it ends at a NUL */
	tree_remove(t, "dev/sda2");
	put_device(t, "dev/sda2", 4 << 20, tokens);
	expect(t, true, "nothing");
}

static void test_stacks(void **state)
{
	const struct tmp *t = *state;

	put_machine(t);
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[8]"));
	/* LUKS1 has no tokens, and this module of the device-mapper no LUKS */
	tmp_write(t, "sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS1-0123-luks-root\n");
	expect(t, true, "nothing");
	tmp_write(t, "sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123-luks-root\n");
	/* a volume with integrity: its header is one layer further down */
	put_block(t, "dm-4", "253:4");
	tree_dir(t, "sys/class/block/dm-4/slaves");
	tree_dir(t, "sys/class/block/dm-4/slaves/sda2");
	tree_remove(t, "sys/class/block/dm-0/slaves/sda2");
	tree_dir(t, "sys/class/block/dm-0/slaves/dm-4");
	tmp_write(t, "dev/dm-4", "data");
	expect(t, true, "luks-root (/dev/sda2): the TPM");
	/* a circle, and no device below */
	tree_remove(t, "sys/class/block/dm-4/slaves/sda2");
	tree_dir(t, "sys/class/block/dm-4/slaves/dm-4");
	expect(t, true, "luks-root (/dev/dm-4): can't tell");
	tree_remove(t, "sys/class/block/dm-0/slaves/dm-4");
	expect(t, true, "luks-root (no device): can't tell");
	/* a volume that has gone meanwhile, and one without a name */
	tree_remove(t, "sys/class/block/dm-0/dm/uuid");
	expect(t, true, "nothing");
	tmp_write(t, "sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123-x\n");
	tree_remove(t, "sys/class/block/dm-0/dm/name");
	expect(t, true, "dm-0 (no device): can't tell");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcrs),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_clevis),
		cmocka_unit_test(test_no_tokens),
		cmocka_unit_test_setup_teardown(test_live, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_crypttab, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_unread, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_stacks, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
