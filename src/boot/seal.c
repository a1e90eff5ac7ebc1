/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/seal.h"

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/read.h"

enum {
	HEAD = 4096,
	HEADER_MIN = 16 << 10, /* LUKS2 On-Disk Format Specification, 2.1 */
	HEADER_MAX = 4 << 20,
	LAYERS = 2, /* between a volume and its header: dm-integrity */
};

/* --- tokens ---------------------------------------------------------------------------- */

uint32_t seal_pcrs(const char *text)
{
	static const struct {
		const char *name;
		unsigned int pcr;
	} changed[] = {{"8", 8}, {"9", 9}, {"12", 12}, {"kernel-initrd", 9}, {"kernel-config", 12}};
	uint32_t pcrs = 0;

	for (text += strspn(text, "+, 0"); *text; text += strspn(text, "+, 0")) {
		size_t len = strcspn(text, "+, :");

		for (size_t i = 0; i < array_len(changed); i++)
			if (strlen(changed[i].name) == len &&
			    memcmp(text, changed[i].name, len) == 0)
				pcrs |= 1u << changed[i].pcr;
		text += strcspn(text, "+, ");
	}
	return pcrs;
}

/* A number, a text, or a list of them. */
static uint32_t pcrs_of(const json_t *value)
{
	json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;
	uint32_t pcrs = json_is_string(value) ? seal_pcrs(json_string_value(value)) : 0;
	const json_t *item;
	size_t i;

	if (n >= 0 && n < 32)
		pcrs |= 1u << n & SEAL_PCRS_CHANGED;
	json_array_foreach(value, i, item) pcrs |= pcrs_of(item);
	return pcrs;
}

/* The protected header, with which a JWE begins: base64url without padding (RFC 7515, 7516). */
static json_t *read_jwe(const char *jwe)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t len = strcspn(jwe, "."), n = 0;
	cleanup_free char *raw = xcalloc(len + 1, 1);
	uint32_t bits = 0;

	for (size_t i = 0; i < len; i++) {
		const char *digit = strchr(digits, jwe[i]);

		if (!digit)
			return NULL;
		bits = bits << 6 | (uint32_t)(digit - digits);
		if (i % 4)
			raw[n++] = (char)(bits >> (6 - 2 * (i % 4)));
	}
	return json_loadb(raw, n, 0, NULL);
}

/* The pin is in the header; the shares of pin sss are JWEs again, each shorter than the whole. */
static uint32_t pcrs_of_jwe(const json_t *jwe)
{
	json_t *header = json_is_string(jwe) ? read_jwe(json_string_value(jwe)) : NULL;
	const json_t *clevis = json_object_get(header, "clevis"), *share;
	uint32_t pcrs = pcrs_of(json_object_get(json_object_get(clevis, "tpm2"), "pcr_ids"));
	size_t i;

	json_array_foreach(json_object_get(json_object_get(clevis, "sss"), "jwe"), i, share) pcrs |=
		pcrs_of_jwe(share);
	json_decref(header);
	return pcrs;
}

/* systemd's tpm2_make_luks2_json(); clevis-luks-common-functions. */
bool seal_read_tokens(const char *json, size_t len, struct seal_tokens *ret)
{
	json_t *doc = json_loadb(json, strnlen(json, len), 0, NULL), *token;
	bool is_object = json_is_object(doc);
	const char *id;

	*ret = (struct seal_tokens){0};
	json_object_foreach(json_object_get(doc, "tokens"), id, token)
	{
		ret->pcrs |=
			pcrs_of(json_object_get(token, "tpm2-pcrs")) |
			pcrs_of(json_object_get(token, "tpm2_pubkey_pcrs")) |
			pcrs_of_jwe(json_object_get(json_object_get(token, "jwe"), "protected"));
		ret->pcrlock |= json_is_true(json_object_get(token, "tpm2_pcrlock"));
	}
	json_decref(doc);
	return is_object;
}

/* --- volumes that are unlocked ------------------------------------------------------------- */

/* -ENODATA: no LUKS2 header. */
static int read_header(const struct root *root, const char *device, struct seal_tokens *ret)
{
	cleanup_close int fd = root_open_device(root, device);
	cleanup_free char *json = NULL;
	char head[HEAD];
	uint64_t size;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pread(fd, head, HEAD, 0);
	if (n < 0)
		return -errno;
	/* magic and version 2, then the size of header and JSON area */
	if (n < HEAD || memcmp(head, "LUKS\xba\xbe\0\2", 8) != 0)
		return -ENODATA;
	memcpy(&size, head + 8, sizeof(size));
	size = be64toh(size);
	if (size < HEADER_MIN || size > HEADER_MAX)
		return -EBADMSG;
	json = xcalloc(size - HEAD, 1);
	n = pread(fd, json, size - HEAD, HEAD);
	if (n < 0)
		return -errno;
	return seal_read_tokens(json, (size_t)n, ret) ? 0 : -EBADMSG;
}

/* *ret_device: where the header was looked for. */
static int read_volume(const struct root *root, const char *dm, char **ret_device,
		       struct seal_tokens *ret)
{
	cleanup_free char *name = xstrdup(dm);
	int r = -ENODATA;

	for (int i = 0; i < LAYERS && r == -ENODATA; i++) {
		cleanup_strv struct strv slaves = {0};

		read_dir(root, &slaves, NULL, "sys/class/block/%s/slaves", name);
		if (slaves.n != 1)
			break;
		free(name);
		name = xstrdup(slaves.v[0]);
		free(*ret_device);
		*ret_device = xasprintf("/dev/%s", name);
		r = read_header(root, *ret_device, ret);
	}
	return r;
}

static void add_policy(struct str *out, const struct seal_tokens *t)
{
	if (t->pcrlock)
		str_add(out, "the PCRs of systemd-pcrlock's policy");
	for (unsigned int i = 0; i < 32; i++)
		if (t->pcrs & 1u << i)
			str_addf(out, "%sPCR %u", out->len ? ", " : "", i);
}

/* where: the place of the policy; device: for the command of the remedy. */
static char *explain(const char *volume, const char *where, const char *device,
		     const struct seal_tokens *t)
{
	cleanup_str struct str policy = {0};

	add_policy(&policy, t);
	return xasprintf("%s (%s): the TPM gives out its key only for the present value of %s, "
			 "which a trial of kernel arguments changes for good; bind the key to PCR "
			 "7 (systemd-cryptenroll --wipe-slot=tpm2 --tpm2-device=auto "
			 "--tpm2-pcrs=7 %s, tpm2-pcrs=7 in crypttab, clevis luks edit)",
			 volume, where, str_get(&policy), device);
}

/* Documentation/ABI/testing/sysfs-block-dm; cryptsetup writes dm-crypt's uuids. */
static char *judge_volume(const struct root *root, const char *dm)
{
	cleanup_free char *uuid = NULL, *raw = NULL, *name = NULL, *device = NULL;
	struct seal_tokens tokens = {0};
	int r;

	if (read_attr(root, &uuid, NULL, "sys/class/block/%s/dm/uuid", dm) < 0 ||
	    !str_starts(uuid, "CRYPT-LUKS2-"))
		return NULL;
	if (read_attr(root, &raw, NULL, "sys/class/block/%s/dm/name", dm) < 0)
		raw = xstrdup(dm);
	name = str_printable(raw, 64);
	r = read_volume(root, dm, &device, &tokens);
	if (r < 0)
		return xasprintf("%s (%s): can't tell which PCRs its key is sealed to, because "
				 "its LUKS2 header can't be read (%s)",
				 name, device ? device : "no device", err_text(r));
	return tokens.pcrs || tokens.pcrlock ? explain(name, device, device, &tokens) : NULL;
}

static char *judge_volumes(const struct root *root)
{
	cleanup_strv struct strv names = {0};
	char *why = NULL;

	read_dir(root, &names, NULL, "sys/class/block");
	for (size_t i = 0; i < names.n && !why; i++)
		why = judge_volume(root, names.v[i]);
	return why;
}

/* --- /etc/crypttab ------------------------------------------------------------------- */

/* crypttab(5): volume, device, key file, options */
static char *judge_line(char *line)
{
	static const char blanks[] = " \t\r";
	char *rest = NULL, *volume = strtok_r(line, blanks, &rest), *options = NULL;
	cleanup_free char *name = NULL;
	struct seal_tokens t = {0};
	bool tpm2 = false;

	for (int i = 0; volume && i < 3; i++)
		options = strtok_r(NULL, blanks, &rest);
	if (!options || *volume == '#')
		return NULL;
	while ((line = strsep(&options, ","))) {
		tpm2 |= str_starts(line, "tpm2-device=");
		if (str_starts(line, "tpm2-pcrs="))
			t.pcrs = seal_pcrs(line + strlen("tpm2-pcrs="));
	}
	name = str_printable(volume, 64);
	return tpm2 && t.pcrs ? explain(name, "tpm2-pcrs= in /etc/crypttab", "DEVICE", &t) : NULL;
}

static char *judge_crypttab(const struct root *root)
{
	cleanup_free char *text = NULL;
	char *rest, *line, *why = NULL;
	int r = read_text(root, &text, NULL, "etc/crypttab");

	if (r < 0)
		return r == -ENOENT ? NULL
				    : xasprintf("can't tell whether a disk's key is sealed to PCRs "
						"8, 9 or 12: /etc/crypttab can't be read (%s)",
						err_text(r));
	for (rest = text; !why && (line = strsep(&rest, "\n"));)
		why = judge_line(line);
	return why;
}

char *seal_why_refused(const struct root *root)
{
	char *why = root->live ? judge_volumes(root) : NULL;

	return why ? why : judge_crypttab(root);
}
