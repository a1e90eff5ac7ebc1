/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses text and headers that other programs wrote, hostile ones too. */
#include "boot/seal.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	PCR_COUNT = 24,
	HEADER_MIN = 16 << 10, /* LUKS2 On-Disk Format Specification, 2.1 */
	HEADER_MAX = 4 << 20,
	JWE_MAX = 64 << 10,
	NAME_MAX_BYTES = 128,
};

/* --- PCRs ---------------------------------------------------------------------------- */

/* systemd-cryptenroll(1) */
static const struct {
	const char *name;
	unsigned int pcr;
} pcr_names[] = {
	{"platform-code", 0},
	{"platform-config", 1},
	{"external-code", 2},
	{"external-config", 3},
	{"boot-loader-code", 4},
	{"boot-loader-config", 5},
	{"host-platform", 6},
	{"secure-boot-policy", 7},
	{"kernel-initrd", 9},
	{"ima", 10},
	{"kernel-boot", 11},
	{"kernel-config", 12},
	{"sysexts", 13},
	{"shim-policy", 14},
	{"system-identity", 15},
	{"debug", 16},
	{"application-support", 23},
};

static bool one_pcr(const char *word, size_t len, uint32_t *ret)
{
	unsigned int n = 0;

	for (size_t i = 0; i < array_len(pcr_names); i++)
		if (strlen(pcr_names[i].name) == len && memcmp(word, pcr_names[i].name, len) == 0) {
			*ret |= 1u << pcr_names[i].pcr;
			return true;
		}
	if (!len || len > 2)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)word[i]))
			return false;
		n = 10 * n + (unsigned int)(word[i] - '0');
	}
	*ret |= n < PCR_COUNT ? 1u << n : 0;
	return n < PCR_COUNT;
}

bool seal_pcrs(const char *text, uint32_t *ret)
{
	uint32_t pcrs = 0;

	while (*text) {
		size_t len = strcspn(text, "+,"), word = strcspn(text, "+,:");

		if (!one_pcr(text, word, &pcrs))
			return false;
		text += len;
		if (*text && !*++text)
			return false; /* "7+" */
	}
	*ret = pcrs;
	return true;
}

/* --- LUKS2 headers ---------------------------------------------------------------------------- */

static uint64_t big_endian(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

size_t seal_header_size(const void *head, size_t len)
{
	const unsigned char *p = head;
	uint64_t size;

	if (len < 4096 || memcmp(p, "LUKS\xba\xbe", 6) != 0 || big_endian(p + 6, 2) != 2)
		return 0;
	size = big_endian(p + 8, 8);
	return size >= HEADER_MIN && size <= HEADER_MAX ? (size_t)size : 0;
}

static int base64url_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes base64url without padding, as in JOSE (RFC 7515, 2). NULL if the text is not base64url.
 */
static char *base64url(const char *text, size_t *ret_len)
{
	size_t len = strlen(text), n = 0;
	cleanup_free char *out = NULL;
	uint32_t bits = 0;
	int have = 0;

	if (len > JWE_MAX || len % 4 == 1)
		return NULL;
	out = xcalloc(len + 1, 1);
	for (size_t i = 0; i < len; i++) {
		int d = base64url_digit(text[i]);

		if (d < 0)
			return NULL;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (char)(bits >> have & 0xff);
		}
	}
	*ret_len = n;
	return take_ptr(out);
}

static void unlocks(struct seal_tokens *t, uint32_t pcrs, bool clevis)
{
	if (!(pcrs & SEAL_PCRS_CHANGED)) {
		t->open = true;
		return;
	}
	t->sealed = true;
	t->clevis = clevis;
	t->pcrs |= pcrs & SEAL_PCRS_CHANGED;
}

/* Reads a token of systemd's tpm2_make_luks2_json(). */
static void systemd_token(const json_t *token, struct seal_tokens *t)
{
	const json_t *list = json_object_get(token, "tpm2-pcrs"), *item;
	uint32_t pcrs = 0;
	size_t i;

	/* with a PIN a person must always answer */
	if (json_is_true(json_object_get(token, "tpm2-pin")) || !json_is_array(list))
		return;
	json_array_foreach(list, i, item)
	{
		json_int_t n = json_is_integer(item) ? json_integer_value(item) : -1;

		if (n < 0 || n >= PCR_COUNT)
			return;
		pcrs |= 1u << n;
	}
	unlocks(t, pcrs, false);
}

static void clevis_tpm2(const json_t *tpm2, struct seal_tokens *t)
{
	const json_t *ids = json_object_get(tpm2, "pcr_ids");
	uint32_t pcrs = 0;

	if (!ids || (json_is_string(ids) && seal_pcrs(json_string_value(ids), &pcrs)))
		unlocks(t, pcrs, true);
}

/* The node of clevis's pin is in the protected header of a JWE (RFC 7516). */
static void clevis_token(const json_t *token, struct seal_tokens *t)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(token, "jwe"), "protected"));
	size_t len = 0;
	cleanup_free char *raw = text ? base64url(text, &len) : NULL;
	json_t *header = raw ? json_loadb(raw, len, 0, NULL) : NULL;
	const json_t *clevis = json_object_get(header, "clevis");
	const char *pin = json_string_value(json_object_get(clevis, "pin"));

	if (pin && streq(pin, "tpm2"))
		clevis_tpm2(json_object_get(clevis, "tpm2"), t);
	else if (pin)
		t->open = true; /* a server (tang), or shares, of which some may be a server's */
	json_decref(header);
}

bool seal_header_tokens(const char *json, size_t len, struct seal_tokens *ret)
{
	json_t *doc = json_loadb(json, strnlen(json, len), 0, NULL), *token;
	const char *id;

	if (!json_is_object(doc)) {
		json_decref(doc);
		return false;
	}
	*ret = (struct seal_tokens){0};
	json_object_foreach(json_object_get(doc, "tokens"), id, token)
	{
		const char *type = json_string_value(json_object_get(token, "type"));

		if (type && streq(type, "systemd-tpm2"))
			systemd_token(token, ret);
		else if (type && streq(type, "clevis"))
			clevis_token(token, ret);
	}
	json_decref(doc);
	return true;
}

/* --- /etc/crypttab ------------------------------------------------------------------- */

/* The next word of a line, NULL at its end. */
static char *next_word(const char **line)
{
	const char *start = *line + strspn(*line, " \t\r");
	size_t len = strcspn(start, " \t\r\n");

	*line = start + len;
	return len ? xstrndup(start, len) : NULL;
}

/* Rejects names that would be unsafe in messages and commands. */
static bool name_is_sane(const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return *name && strlen(name) <= NAME_MAX_BYTES;
}

/* If the option is repeated, the last occurrence counts. */
static void read_pcrs(const char *text, struct crypttab_line *ret)
{
	ret->pcrs = 0;
	ret->pcrs_known = seal_pcrs(text, &ret->pcrs);
}

static bool read_options(char *options, struct crypttab_line *ret)
{
	bool tpm2 = false;
	char *save = NULL;

	for (char *o = strtok_r(options, ",", &save); o; o = strtok_r(NULL, ",", &save)) {
		if (str_starts(o, "tpm2-device="))
			tpm2 = true;
		else if (str_starts(o, "tpm2-pcrs="))
			read_pcrs(o + strlen("tpm2-pcrs="), ret);
		else if (streq(o, "x-initrd.attach"))
			ret->initrd = true;
		else if (streq(o, "tpm2-pin=yes") || streq(o, "tpm2-pin=true") ||
			 streq(o, "tpm2-pin=1") || streq(o, "tpm2-pin=on"))
			return false; /* a person must always answer */
	}
	return tpm2;
}

/* crypttab(5): volume, device, key file, options */
static void crypttab_read(const char *line, struct crypttab *ret)
{
	cleanup_free char *volume = next_word(&line);
	cleanup_free char *device = next_word(&line);
	cleanup_free char *key = next_word(&line);
	cleanup_free char *options = next_word(&line);
	struct crypttab_line l = {0};

	if (!options || *volume == '#' || !name_is_sane(volume) || !read_options(options, &l))
		return;
	l.volume = take_ptr(volume);
	vec_push(&ret->list, l);
}

void crypttab_parse(const char *text, struct crypttab *ret)
{
	for (; *text; text += *text == '\n') {
		crypttab_read(text, ret);
		text += strcspn(text, "\n");
	}
}

void crypttab_free(struct crypttab *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		free(t->list.v[i].volume);
	vec_free(&t->list);
}
