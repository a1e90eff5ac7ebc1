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
		long pcrs; /* -1: not understood */
	} t[] = {
		{"", 0},
		{"7", 1 << 7},
		{"7+8", 1 << 7 | BIT8},
		{"7,8", 1 << 7 | BIT8},
		{"0+23", 1 | 1 << 23},
		{"08", BIT8},
		{"secure-boot-policy+kernel-config", 1 << 7 | BIT12},
		{"8:sha256=00ff+9:sha1", BIT8 | BIT9},
		{"boot-loader-code:sha256=8", 1 << 4},
		{"24", -1},
		{"7+", -1},
		{"+7", -1},
		{"7++8", -1},
		{"7 + 8", -1},
		{"-1", -1},
		{"007", -1},
		{"kernel", -1},
		{"0x8", -1},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		uint32_t pcrs = 0xdead;
		bool ok = seal_pcrs(t[i].text, &pcrs);

		if (ok != (t[i].pcrs >= 0) || pcrs != (ok ? (uint32_t)t[i].pcrs : 0xdead))
			fail_msg("'%s': %d, %x", t[i].text, ok, pcrs);
	}
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

static void test_header_size(void **state)
{
	static const struct {
		unsigned int version;
		uint64_t size;
		size_t ret;
	} t[] = {
		{2, 16384, 16384},  {2, 4 << 20, 4 << 20},  {1, 16384, 0}, {0x200, 16384, 0},
		{2, 0, 0},	    {2, 4096, 0},	    {2, 16383, 0}, {2, (4 << 20) + 1, 0},
		{2, UINT64_MAX, 0}, {2, 16384ULL << 32, 0},
	};
	unsigned char head[4096];

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		put_header(head, t[i].version, t[i].size);
		assert_int_equal(seal_header_size(head, sizeof(head)), t[i].ret);
	}
	put_header(head, 2, 16384);
	assert_int_equal(seal_header_size(head, 4095), 0);
	head[5] = 0xbf; /* "SKUL\xba\xbe" is the second header; this is none */
	assert_int_equal(seal_header_size(head, sizeof(head)), 0);
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

static char *clevis(const char *node)
{
	cleanup_free char *header =
		xasprintf("{\"alg\":\"dir\",\"clevis\":%s,\"enc\":\"A256GCM\"}", node);
	cleanup_free char *protected = base64url(header);

	return xasprintf("{\"type\":\"clevis\",\"keyslots\":[\"1\"],\"jwe\":{\"ciphertext\":\"x\","
			 "\"protected\":\"%s\",\"tag\":\"y\"}}",
			 protected);
}

#define TPM2(rest) "{\"type\":\"systemd-tpm2\",\"keyslots\":[\"1\"]," rest "}"

static void test_tokens(void **state)
{
	static const struct {
		const char *tokens, *node; /* of clevis, as token "9" */
		bool open, sealed, clevis;
		uint32_t pcrs;
	} t[] = {
		{.tokens = ""},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[7]"), .open = true},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[]"), .open = true},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[7,8,12]"),
		 .sealed = true,
		 .pcrs = BIT8 | BIT12},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[8]") ",\"1\":" TPM2("\"tpm2-pcrs\":[9]"),
		 .sealed = true,
		 .pcrs = BIT8 | BIT9},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[8]") ",\"1\":" TPM2("\"tpm2-pcrs\":[7]"),
		 .open = true,
		 .sealed = true,
		 .pcrs = BIT8},
		/* a person is asked anyway; nothing is known */
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[8],\"tpm2-pin\":true")},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[8],\"tpm2-pin\":false"),
		 .sealed = true,
		 .pcrs = BIT8},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[8,-1]")},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[24]")},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[8.0]")},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[1152921504606846984]")},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":\"8\"")},
		{.tokens = "\"0\":" TPM2("\"x\":8")},
		{.tokens = "\"0\":{\"type\":\"systemd-recovery\",\"keyslots\":[\"1\"]}"},
		{.tokens = "\"0\":{\"type\":8},\"1\":[],\"2\":null"},
		{.tokens = "\"0\":{\"type\":\"clevis\"}"},
		{.tokens = "\"0\":{\"type\":\"clevis\",\"jwe\":{\"protected\":\"!!!!\"}}"},
		{.tokens = "\"0\":{\"type\":\"clevis\",\"jwe\":{\"protected\":\"AAAAA\"}}"},
		{.tokens = "\"0\":{\"type\":\"clevis\",\"jwe\":{\"protected\":\"\"}}"},
		{.node = "{\"pin\":\"tpm2\",\"tpm2\":{\"hash\":\"sha256\",\"pcr_bank\":\"sha256\","
			 "\"pcr_ids\":\"7,8\"}}",
		 .sealed = true,
		 .clevis = true,
		 .pcrs = BIT8},
		{.node = "{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":\"7\"}}", .open = true},
		{.node = "{\"pin\":\"tpm2\",\"tpm2\":{}}", .open = true},
		{.node = "{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":[8]}}"},
		{.node = "{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":\"eight\"}}"},
		{.node = "{\"pin\":\"tang\",\"tang\":{\"url\":\"http://x\"}}", .open = true},
		{.node = "{\"pin\":7}"},
		{.node = "[]"},
		{.tokens = "\"0\":" TPM2("\"tpm2-pcrs\":[9]") ",",
		 .node = "{\"pin\":\"sss\",\"sss\":{\"t\":1}}",
		 .open = true,
		 .sealed = true,
		 .pcrs = BIT9},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *token = t[i].node ? clevis(t[i].node) : xstrdup("");
		cleanup_free char *json =
			xasprintf("{\"keyslots\":{},\"tokens\":{%s%s%s}}",
				  t[i].tokens ? t[i].tokens : "", t[i].node ? "\"9\":" : "", token);
		struct seal_tokens have = {0};

		assert_true(seal_header_tokens(json, strlen(json), &have));
		if (have.open != t[i].open || have.sealed != t[i].sealed ||
		    have.clevis != t[i].clevis || have.pcrs != t[i].pcrs)
			fail_msg("%s: open %d, sealed %d, clevis %d, pcrs %x", json, have.open,
				 have.sealed, have.clevis, have.pcrs);
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
		assert_false(seal_header_tokens(bad[i], strlen(bad[i]), &have));
	/* brackets without end: refused, not followed */
	memset(deep, '[', DEEP);
	deep[DEEP] = '\0';
	assert_false(seal_header_tokens(deep, DEEP, &have));
	assert_int_equal(have.pcrs, 1); /* left alone */
	for (size_t i = 0; i < array_len(none); i++) {
		/* what is behind the NUL is padding */
		assert_true(seal_header_tokens(none[i], strlen(none[i]) + 4, &have));
		assert_false(have.open || have.sealed);
	}
}

/* --- /etc/crypttab ------------------------------------------------------------------------ */

static void test_crypttab(void **state)
{
	static const char text[] =
		"# luks-c UUID=1 none tpm2-device=auto\n"
		"\n"
		"  \t\r\n"
		"luks-a UUID=1 none tpm2-device=auto\r\n"
		"luks-b\tUUID=2\t-\tluks,tpm2-device=/dev/tpmrm0,tpm2-pcrs=7+8,x-initrd.attach\n"
		"luks-c UUID=3 none luks,discard,x-initrd.attach\n"
		"luks-d UUID=4 none\n"
		"luks-e\n"
		"luks-f UUID=6 none tpm2-device=auto,tpm2-pcrs=nonsense\n"
		"luks-g UUID=7 none tpm2-device=auto,tpm2-pcrs= extra words\n"
		"luks-h UUID=8 none tpm2-device=auto,tpm2-pin=yes,tpm2-pcrs=8\n"
		"luks-\x1b[1m UUID=9 none tpm2-device=auto\n"
		"luks-i UUID=9 none tpm2-device=auto,tpm2-pcrs=8,tpm2-pcrs=x\n"
		" luks-j UUID=10 none ,,tpm2-pcrs=9,tpm2-device=auto";
	static const struct crypttab_line want[] = {
		{(char *)"luks-a", false, false, 0}, {(char *)"luks-b", true, true, 1 << 7 | BIT8},
		{(char *)"luks-f", false, false, 0}, {(char *)"luks-g", false, true, 0},
		{(char *)"luks-i", false, false, 0}, {(char *)"luks-j", false, true, BIT9},
	};
	struct crypttab have = {0};

	(void)state;
	crypttab_parse(text, &have);
	assert_int_equal(have.list.n, array_len(want));
	for (size_t i = 0; i < have.list.n; i++) {
		assert_string_equal(have.list.v[i].volume, want[i].volume);
		assert_int_equal(have.list.v[i].initrd, want[i].initrd);
		assert_int_equal(have.list.v[i].pcrs_known, want[i].pcrs_known);
		assert_int_equal(have.list.v[i].pcrs, want[i].pcrs);
	}
	crypttab_free(&have);
	crypttab_parse("", &have);
	assert_int_equal(have.list.n, 0);
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

/* / on LVM on crypt on sda2, /boot on crypt on sda1, /data on crypt on sdb. */
static void put_machine(const struct tmp *t)
{
	static const char *const dirs[] = {
		"sys",	     "sys/class",     "sys/class/block",
		"sys/dev",   "sys/dev/block", "proc",
		"proc/self", "etc",	      "dev",
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
	tmp_write(t, "proc/self/mountinfo",
		  "1 0 0:1 / / rw - rootfs rootfs rw\n"
		  "22 1 253:3 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw\n"
		  "23 22 253:1 / /boot rw - ext4 /dev/mapper/luks-boot rw\n"
		  "24 22 253:2 / /data rw - xfs /dev/mapper/luks-data rw\n");
	put_device(t, "dev/sda1", 16384, "");
	put_device(t, "dev/sda2", 16384, "");
	put_device(t, "dev/sdb", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[8]"));
}

/* "luks-root /dev/sda2 8,9 systemd; ..." */
static char *found(const struct tmp *t, bool live)
{
	struct root root = t->root;
	struct seals s = {0};
	struct str out = {0};

	root.live = live;
	seals_find(&root, &s);
	str_add(&out, "");
	for (size_t i = 0; i < s.list.n; i++)
		str_addf(&out, "%s%s %s %x%s", i ? "; " : "", s.list.v[i].volume,
			 s.list.v[i].device ? s.list.v[i].device : "-", s.list.v[i].pcrs,
			 s.list.v[i].clevis ? " clevis" : "");
	seals_free(&s);
	return str_take(&out);
}

#define assert_found(t, live, text)                        \
	do {                                               \
		cleanup_free char *have_ = found(t, live); \
		assert_string_equal(have_, text);          \
	} while (0)

static void test_live(void **state)
{
	const struct tmp *t = *state;
	cleanup_free char *tang = clevis("{\"pin\":\"tpm2\",\"tpm2\":{\"pcr_ids\":\"12\"}}");
	cleanup_free char *token = xasprintf("\"3\":%s", tang);

	put_machine(t);
	assert_found(t, true, ""); /* data is none of ours */
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[7,8,9]"));
	assert_found(t, true, "luks-root /dev/sda2 300");
	put_device(t, "dev/sda1", 16384, token);
	assert_found(t, true, "luks-root /dev/sda2 300; luks-boot /dev/sda1 1000 clevis");
	/* the header decides over the table */
	tmp_write(t, "etc/crypttab",
		  "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=7\n"
		  "luks-data UUID=1 none tpm2-device=auto,tpm2-pcrs=8\n");
	assert_found(t, true, "luks-root /dev/sda2 300; luks-boot /dev/sda1 1000 clevis");
	put_device(t, "dev/sda1", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[7]"));
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[7]"));
	tmp_write(t, "etc/crypttab", "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=8\n");
	assert_found(t, true, "");
	/* a header without tokens: the table, and without PCRs in it PCR 7 */
	put_device(t, "dev/sda2", 16384, "");
	assert_found(t, true, "luks-root /dev/sda2 100");
	tmp_write(t, "etc/crypttab", "luks-root UUID=1 none tpm2-device=auto\n");
	assert_found(t, true, "");
	/* no header to be read: the table, and what it leaves open */
	tree_remove(t, "dev/sda2");
	assert_found(t, true, "luks-root /dev/sda2 0");
	tmp_write(t, "etc/crypttab", "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=7\n");
	assert_found(t, true, "");
	tmp_write(t, "etc/crypttab", "luks-root UUID=1 none luks\n");
	assert_found(t, true, "");
}

static void test_odd_devices(void **state)
{
	const struct tmp *t = *state;

	put_machine(t);
	tmp_write(t, "etc/crypttab", "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=8\n");
	/* no header, one that lies of its size, one that is cut off, text, a directory, a FIFO */
	tmp_write(t, "dev/sda2", "");
	assert_found(t, true, "luks-root /dev/sda2 100");
	put_device(t, "dev/sda2", UINT64_MAX, "\"0\":" TPM2("\"tpm2-pcrs\":[7]"));
	assert_found(t, true, "luks-root /dev/sda2 100");
	put_device(t, "dev/sda2", 32768, "\"0\":" TPM2("\"tpm2-pcrs\":[7]"));
	assert_found(t, true, "luks-root /dev/sda2 100");
	put_device(t, "dev/sda2", 16384, "\"0\":");
	assert_found(t, true, "luks-root /dev/sda2 100");
	tree_remove(t, "dev/sda2");
	tree_dir(t, "dev/sda2");
	assert_found(t, true, "luks-root /dev/sda2 100");
	tree_remove(t, "dev/sda2");
	assert_int_equal(mkfifo(tmp_path(t, "dev/sda2"), 0600), 0);
	assert_found(t, true, "luks-root /dev/sda2 100");
	/* a link out of the tree leads into it */
	tree_remove(t, "dev/sda2");
	tree_link(t, "dev/sda2", "/dev/sdb");
	assert_found(t, true, "luks-root /dev/sda2 100");
}

static void test_odd_stacks(void **state)
{
	const struct tmp *t = *state;

	put_machine(t);
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[8]"));
	/* btrfs: no number of its own */
	tmp_write(t, "proc/self/mountinfo",
		  "22 1 0:33 /root / rw shared:1 - btrfs /dev/mapper/luks-root rw\n");
	assert_found(t, true, "luks-root /dev/sda2 100");
	tmp_write(t, "proc/self/mountinfo", "22 1 0:33 / / rw - btrfs /dev/dm-0 rw\n");
	assert_found(t, true, "luks-root /dev/sda2 100");
	/* / and /boot on the same: said once */
	tmp_write(t, "proc/self/mountinfo",
		  "22 1 253:0 / / rw - ext4 /dev/mapper/luks-root rw\n"
		  "23 22 253:0 / /boot rw - ext4 /dev/mapper/luks-root rw\n");
	assert_found(t, true, "luks-root /dev/sda2 100");
	/* LUKS1 has no tokens */
	tmp_write(t, "sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS1-0123-luks-root\n");
	assert_found(t, true, "");
	tmp_write(t, "sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123-luks-root\n");
	/* a circle, a crowd, lines that are none */
	tree_dir(t, "sys/class/block/dm-0/slaves/dm-0");
	assert_found(t, true, "");
	tree_remove(t, "sys/class/block/dm-0/slaves/dm-0");
	tmp_write(t, "proc/self/mountinfo",
		  "\n - \n22\n22 1 253:0 / / rw\n22 1 x:y / / rw - ext4 none rw\n"
		  "23 22 0:5 / / rw - overlay overlay rw\n");
	assert_found(t, true, "");
	tree_remove(t, "proc/self/mountinfo");
	assert_found(t, true, "");
}

static void test_tree(void **state)
{
	const struct tmp *t = *state;

	put_machine(t);
	put_device(t, "dev/sda2", 16384, "\"0\":" TPM2("\"tpm2-pcrs\":[8]"));
	assert_found(t, false, ""); /* whose devices those are nobody knows */
	tmp_write(t, "etc/crypttab",
		  "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=8+9,x-initrd.attach\n"
		  "luks-boot UUID=1 none tpm2-device=auto\n"
		  "luks-data UUID=1 none tpm2-device=auto,tpm2-pcrs=8\n"
		  "luks-swap UUID=1 none tpm2-device=auto,tpm2-pcrs=7,x-initrd.attach\n");
	assert_found(t, false, "luks-root - 300");
	tmp_write(t, "etc/fstab",
		  "# /dev/mapper/luks-data / x\n/dev/mapper/luks-boot\t/boot\text4 defaults\r\n"
		  "/dev/mapper/luks-data /data xfs\nlonely\n");
	assert_found(t, false, "luks-root - 300; luks-boot - 0");
}

static void test_sentence(void **state)
{
	static const struct seal systemd = {(char *)"luks-root", (char *)"/dev/sda2", BIT8 | BIT12,
					    false};
	static const struct seal of_clevis = {(char *)"boot", (char *)"/dev/md0", BIT9, true};
	static const struct seal unknown = {(char *)"luks-x", NULL, 0, false};
	cleanup_free char *a = seal_sentence(&systemd), *b = seal_sentence(&of_clevis),
			  *c = seal_sentence(&unknown);

	(void)state;
	assert_string_equal(
		a, "luks-root (/dev/sda2): its key is sealed by the TPM to PCR 8, 12, which kernel "
		   "arguments change: with other arguments the volume asks for its passphrase at "
		   "the next "
		   "boot, and a trial that waits there is rebooted; bind the key to PCR 7, with "
		   "systemd-cryptenroll --wipe-slot=tpm2 --tpm2-device=auto --tpm2-pcrs=7 "
		   "/dev/sda2");
	assert_text(b, "boot (/dev/md0): its key is sealed by the TPM to PCR 9, which");
	assert_text(b, "with clevis luks bind -d /dev/md0 tpm2 '{\"pcr_ids\":\"7\"}'");
	assert_text(c, "luks-x: its key is sealed by the TPM (tpm2-device= in /etc/crypttab) to "
		       "PCRs that railhead can't read");
	assert_text(c, "if the key is sealed to one of these, the volume asks for its passphrase");
	assert_text(c, "--tpm2-pcrs=7 DEVICE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcrs),
		cmocka_unit_test(test_header_size),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_no_tokens),
		cmocka_unit_test(test_crypttab),
		cmocka_unit_test_setup_teardown(test_live, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_odd_devices, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_odd_stacks, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_tree, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
