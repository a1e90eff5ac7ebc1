/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node/scrub.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "node/vpd.h"
#include "sys/sysctl_d.h"

/* --- by form ------------------------------------------------------------------------------- */

/* Without its separators, so that enxb8cef6123456 has the number of b8:ce:f6:12:34:56. */
static size_t number_of(struct strv *known, const char *text, size_t len)
{
	cleanup_free char *key = xstrndup(text, len);
	char *end = key;

	for (const char *p = key; *p; p++)
		if (!strchr(":-", *p))
			*end++ = (char)tolower((unsigned char)*p);
	*end = '\0';
	for (size_t i = 0; i < known->n; i++)
		if (streq(known->v[i], key))
			return i + 1;
	strv_add(known, key);
	return known->n;
}

static size_t hex_run(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && isxdigit((unsigned char)p[n]))
		n++;
	return n;
}

/* The number of groups of `width` digits, separated by sep, at p; *ret_len: their length. */
static size_t count_groups(const char *p, const char *end, size_t width, char sep, size_t *ret_len)
{
	const char *at = p;
	size_t n = 0;

	while (hex_run(at, end) == width) {
		n++;
		at += width;
		*ret_len = (size_t)(at - p);
		if (at >= end || *at != sep)
			break;
		at++;
	}
	return n;
}

/* Equal digits, as in zeros and broadcast, identify nothing. */
static bool names_nothing(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isxdigit((unsigned char)p[i]) &&
		    tolower((unsigned char)p[i]) != tolower((unsigned char)*p))
			return false;
	return *p == '0' || tolower((unsigned char)*p) == 'f';
}

/* The number in hex, right-aligned in the digits of the original; the separators stay. */
static void add_number(struct str *ret, const char *form, size_t len, size_t number)
{
	cleanup_free char *text = xstrndup(form, len);

	for (char *p = text + len - 1; p >= text; p--)
		if (isxdigit((unsigned char)*p)) {
			*p = "0123456789abcdef"[number & 15];
			number >>= 4;
		}
	str_addn(ret, text, len);
}

static size_t add_mac(struct scrub *s, const char *p, size_t len, struct str *ret)
{
	if (names_nothing(p, len)) {
		str_addn(ret, p, len);
		return len;
	}
	str_add(ret, "02"); /* locally administered */
	add_number(ret, p + 2, len - 2, number_of(&s->macs, p, len));
	return len;
}

static size_t scrub_mac(struct scrub *s, const char *p, const char *end, struct str *ret)
{
	size_t len = 0;

	if (count_groups(p, end, 2, ':', &len) < 6 && count_groups(p, end, 2, '-', &len) < 6)
		return 0;
	return add_mac(s, p, len, ret);
}

static size_t add_guid(struct scrub *s, const char *p, size_t len, size_t prefix, struct str *ret)
{
	if (names_nothing(p, len)) {
		str_addn(ret, p, len);
		return len;
	}
	str_add(ret, prefix ? "fe80:0000:0000:0000:" : "");
	add_number(ret, p + prefix, len - prefix, number_of(&s->guids, p + prefix, len - prefix));
	return len;
}

/* A GUID has four groups of four; a GID is a prefix and a GUID. */
static size_t scrub_guid(struct scrub *s, const char *p, const char *end, struct str *ret)
{
	size_t len = 0, n = count_groups(p, end, 4, ':', &len);

	return n == 4 || n == 8 ? add_guid(s, p, len, n == 8 ? 20 : 0, ret) : 0;
}

static size_t scrub_uuid(struct scrub *s, const char *p, const char *end, struct str *ret)
{
	static const size_t widths[] = {8, 4, 4, 4, 12};
	const char *at = p;

	for (size_t i = 0; i < array_len(widths); i++) {
		if (hex_run(at, end) != widths[i])
			return 0;
		at += widths[i];
		if (i + 1 < array_len(widths) && (at >= end || *at++ != '-'))
			return 0;
	}
	add_number(ret, p, (size_t)(at - p), number_of(&s->uuids, p, (size_t)(at - p)));
	return (size_t)(at - p);
}

/*
 * The digits behind the x of a netdev that systemd names by its MAC (enx, wlx:
 * systemd.net-naming-scheme(7)), or of an RDMA device that rdma-core names by its GUID (ibx, rocex:
 * rdma-ndd's rdma_rename.c).
 */
static size_t scrub_name_digits(struct scrub *s, const char *p, const char *end, struct str *ret)
{
	size_t len = hex_run(p, end);

	if (len == 12)
		return add_mac(s, p, len, ret);
	return len == 16 ? add_guid(s, p, len, 0, ret) : 0;
}

/* Not the x of 0x. */
static bool follows_prefix(const char *start, const char *p)
{
	return p - start >= 2 && tolower((unsigned char)p[-1]) == 'x' &&
	       isalpha((unsigned char)p[-2]);
}

/* Forms begin only at the start of a run of digits. */
static void scrub_forms(struct scrub *s, const char *p, size_t len, struct str *ret)
{
	static size_t (*const forms[])(struct scrub *, const char *, const char *,
				       struct str *) = {scrub_mac, scrub_guid, scrub_uuid};
	const char *end = p + len, *start = p;

	while (p < end) {
		size_t n = 0;

		if (follows_prefix(start, p))
			n = scrub_name_digits(s, p, end, ret);
		else if (isxdigit((unsigned char)*p) &&
			 (p == start || !isalnum((unsigned char)p[-1])))
			for (size_t i = 0; i < array_len(forms) && !n; i++)
				n = forms[i](s, p, end, ret);
		if (!n)
			str_addn(ret, p, n = 1);
		p += n;
	}
}

/* --- files with rules of their own ------------------------------------------------------- */

static bool keep_vpd(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	cleanup_free char *pn = vpd_part_number(data, len), *v3 = NULL, *vpd = NULL;
	struct vpd_field f;
	size_t n;

	/* A UUID made from the MAC, which functions of a card share (node/p2p.h). */
	if (vpd_find(data, len, "V3", &f))
		v3 = xasprintf("%zu", number_of(&s->uuids, (const char *)f.data, f.len));
	if (!pn && !v3)
		return false;
	vpd = vpd_with(pn, v3, &n);
	str_addn(ret, vpd, n);
	return true;
}

enum {
	CONFIG_STATUS = 0x06,
	STATUS_CAPS = 0x10,
	CONFIG_CAPS = 0x34,
	CAP_VPD = 0x03,
	CONFIG_EXTENDED = 0x100,
	EXT_CAP_SERIAL = 0x0003, /* Device Serial Number: an EUI-64 made from the MAC */
	CAPS_MAX = 512,		 /* bounds circular lists of a broken device */
};

static void blank(char *config, size_t len, size_t at, size_t n)
{
	for (size_t i = at; i < len && i < at + n; i++)
		config[i] = 0;
}

/* The VPD capability has a window onto the VPD. */
static void blank_vpd_window(char *config, size_t len)
{
	const uint8_t *c = (const uint8_t *)config;
	size_t at;

	if (len < 64 || !(c[CONFIG_STATUS] & STATUS_CAPS))
		return;
	at = c[CONFIG_CAPS] & 0xfc;
	for (int i = 0; i < CAPS_MAX && at >= 64 && at + 2 <= len; i++) {
		if (c[at] == CAP_VPD)
			blank(config, len, at + 4, 4);
		at = c[at + 1] & 0xfc;
	}
}

static void blank_serial(char *config, size_t len)
{
	const uint8_t *c = (const uint8_t *)config;
	size_t at = CONFIG_EXTENDED;

	for (int i = 0; i < CAPS_MAX && at >= CONFIG_EXTENDED && at + 4 <= len; i++) {
		unsigned int id = c[at] | (unsigned int)c[at + 1] << 8;

		if (id == EXT_CAP_SERIAL)
			blank(config, len, at + 4, 8);
		at = (c[at + 2] >> 4 | (size_t)c[at + 3] << 4) & 0xffc;
	}
}

static bool keep_config(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	size_t at = ret->len;

	(void)s;
	str_addn(ret, data, len);
	if (len) {
		blank_vpd_window(ret->s + at, len);
		blank_serial(ret->s + at, len);
	}
	return true;
}

static bool matches(const char *const *patterns, const char *text)
{
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, text, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/*
 * Names of secrets, of hosts and of their addresses; profiles set nothing of these names. They are
 * in lower case here, with a dot around each part: api-KEY is ".api.key.". A profile can set what
 * only sounds similar: iommu.passthrough, ca_keys, module.sig_enforce.
 */
static const char *const private_names[] = {
	"*passw*",
	"*passphrase*",
	"*.passcode.*",
	"*[!y]pass.*", /* not a bypass */
	"*.mypass.*",
	"*pw.*",
	"*pwd*",
	"*psk*",
	"*.pin.",
	"*.otp.",
	"*.jwt.*",
	"*.sig.",
	"*.sas.",
	"*token*",
	"*secret[!m]*", /* not secretmem */
	"*key.*",
	"*.keyfile.*",
	"*.ssh*key*",
	"*.authorized.keys.*",
	"*credential*",
	"*.cred.*",
	"*.creds.*",
	"*.auth.",
	"*oauth.",
	"*authorization*",
	"*cookie*",
	"*username*",
	"*.user.data.*",
	"*.userdata.*",
	"*.config.inline.", /* of Talos */
	"*.setenv.",
	"*.ds.", /* cloud-init's data source */
	"*hostname.*",
	"*.host.name.*",
	"*.host.",
	"*.nodename.*",
	"*.machine.id.*",
	"*machineid*",
	"*.serial.*",
	"*serialno*",
	"*serialnumber*",
	"*initiator*",
	"*.hostnqn.*",
	"*.hostid.*",
	"*.nfs4.unique.id.",
	".ip.",
	".ifname.",
	".nameserver.",
	".bootif.",
	NULL,
};

static bool is_private_name(const char *name)
{
	/* The initrd's own argument of the same meaning. */
	cleanup_free char *parts = xasprintf(".%s.", str_starts(name, "rd.") ? name + 3 : name);

	for (char *p = parts; *p; p++)
		*p = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '.';
	return matches(private_names, parts);
}

/* Whether a number such as 60, 60me or 0x1000 ends with the text or its part. */
static bool is_amount(const char *text)
{
	char *end;

	strtoull(text, &end, 0);
	if (end == text)
		return false;
	while (isalpha((unsigned char)*end))
		end++;
	return !*end || strchr(",; \t\n\"", *end);
}

/* Whether a "user:" begins in the text before the @: first, or behind one of =,; */
static bool has_user(const char *text, const char *at)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._+-\\";

	for (; text < at; text += strcspn(text, "=,;") + 1) {
		const char *colon = text + strspn(text, letters);

		/* A range of memory and a PCI address begin with a digit, or with this word. */
		if (isalpha((unsigned char)*text) && colon < at && *colon == ':' &&
		    !str_starts(text, "pci:"))
			return true;
	}
	return false;
}

/*
 * Whether user:secret@host is in the text, or dracut's iscsi:user:secret@host. Behind the @ of
 * DP:1920x1080@60 is an amount.
 */
static bool holds_login(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, " \t\n\"");
		const char *at = memrchr(text, '@', len);

		if (at && !is_amount(at + 1) && has_user(text, at))
			return true;
		text += len + (text[len] != '\0');
	}
	return false;
}

/* In time linear in the length, because the text may be anybody's (--root). */
static bool holds_secret(const char *text)
{
	static const char *const forms[] = {
		"*%[2-4][0-9a-f]*", /* an encoded part of a URL */
		"*dhhc-1:*",	    /* NVMe's keys for authentication and TLS */
		"*nvmetlskey-1:*",
		NULL,
	};
	/* a URL with a login, or with a query or a fragment, which can hold a signature */
	const char *url = strstr(text, "//"), *query = strchr(text, '?');

	return (url && strpbrk(url, "@?#")) || (query && strchr(query, '=')) ||
	       matches(forms, text) || holds_login(text);
}

/* "|/program arguments" */
static bool runs_program(const char *value)
{
	return value[*value == '"'] == '|';
}

/* sysctl.NAME= is like the sysctl's file. */
static bool is_private_argument(const char *name)
{
	cleanup_free char *file = sysctl_arg_file(name);

	return file ? scrub_refuses(file) : is_private_name(name);
}

/* Names inside of the value count, too: systemd.setenv=NAME=..., "a secret=...". */
static bool drops_argument(const char *word)
{
	if (holds_secret(word))
		return true;
	for (const char *end = strchr(word, '='); end; end = strchr(end + 1, '=')) {
		const char *start = end;
		cleanup_free char *name = NULL;

		while (start > word && !strchr("=;,?& \t\"", start[-1]))
			start--;
		name = xstrndup(start, (size_t)(end - start));
		if (is_private_argument(name) || runs_program(end + 1))
			return true;
	}
	return false;
}

/* The length of a word as the kernel splits them: quoted blanks belong to the word. */
static size_t word_length(const char *p, const char *end)
{
	bool quoted = false;
	size_t n = 0;

	for (; p + n < end; n++) {
		if (p[n] == '"')
			quoted = !quoted;
		else if (!quoted && isspace((unsigned char)p[n]))
			break;
	}
	return n;
}

/* Replaces the serial number in a path of a disk. */
static void add_argument(struct scrub *s, const char *word, struct str *ret)
{
	const char *by_id = strstr(word, "/by-id/");
	size_t keep = by_id ? (size_t)(by_id - word) + strlen("/by-id/") : strlen(word);

	scrub_forms(s, word, keep, ret);
	if (by_id)
		str_add(ret, "removed");
}

static bool keep_cmdline(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	const char *p = data, *end = data + strnlen(data, len);
	bool first = true, in_config = false;

	while (p < end) {
		size_t n = word_length(p, end);
		cleanup_free char *word = xstrndup(p, n);

		/* "cc: ... end_cc": cloud-init takes a configuration from the command line. */
		in_config = in_config || strncmp(word, "cc:", 3) == 0;
		if (n && !in_config && !drops_argument(word)) {
			str_add(ret, first ? "" : " ");
			add_argument(s, word, ret);
			first = false;
		}
		if (n >= 6 && streq(word + n - 6, "end_cc"))
			in_config = false;
		p += n + (p + n < end);
	}
	str_add(ret, "\n");
	return true;
}

static bool scrub_text(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	scrub_forms(s, data, len, ret);
	return true;
}

static bool keep_parameter(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	cleanup_free char *value = xstrndup(data, len);

	return !drops_argument(value) && scrub_text(s, data, len, ret);
}

/* Behind a pipe (core(5)) keep the program without its arguments: profiles set no such pattern. */
static bool keep_core_pattern(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	size_t n = len && *data == '|' ? word_length(data, data + len) : len;

	scrub_forms(s, data, n, ret);
	if (n < len)
		str_add(ret, "\n");
	return true;
}

/* "Linux version 6.1.0 (user@host) (gcc 12) #1": without the machine that built the kernel. */
static bool drop_builder(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	const char *end = data + len, *builder = memchr(data, '(', len);
	const char *stop = builder ? memchr(builder, ')', (size_t)(end - builder)) : NULL;

	if (stop && memchr(builder, '@', (size_t)(stop - builder))) {
		scrub_forms(s, data, (size_t)(builder - data), ret);
		data = stop + 1;
		data += data < end && *data == ' ';
	}
	return scrub_text(s, data, (size_t)(end - data), ret);
}

/* Keep Azure's tag, which is the same on all of its machines and identifies the cloud. */
static bool keep_asset_tag(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	static const char azure[] = "7783-7084-3265-9085-8269-3286-77";

	(void)s;
	if (len < sizeof(azure) - 1 || strncmp(data, azure, sizeof(azure) - 1) != 0)
		return false;
	str_add(ret, azure);
	str_add(ret, "\n");
	return true;
}

/* Drops lines about an individual unit: "GPU UUID", a board's "Serial". */
static bool drop_lines(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	static const char *const lines[] = {"*uuid*", "*serial*", NULL};
	const char *end = data + len;

	while (data < end) {
		const char *nl = memchr(data, '\n', (size_t)(end - data));
		size_t n = nl ? (size_t)(nl - data) + 1 : (size_t)(end - data);
		cleanup_free char *name = xstrndup(data, n);

		name[strcspn(name, ":")] = '\0';
		if (!matches(lines, name))
			scrub_forms(s, data, n, ret);
		data += n;
	}
	return true;
}

static bool refuse(struct scrub *s, const char *data, size_t len, struct str *ret)
{
	(void)s;
	(void)data;
	(void)len;
	(void)ret;
	return false;
}

typedef bool scrub_fn(struct scrub *s, const char *data, size_t len, struct str *ret);

/* The first pattern that matches counts; * also matches slashes. */
static const struct {
	const char *pattern;
	scrub_fn *scrub;
} rules[] = {
	{"/sys/*/chassis_asset_tag", keep_asset_tag},
	{"*serial*", refuse},
	{"*uuid*", refuse},
	{"*_asset_tag", refuse},
	{"*/vpd", keep_vpd},
	{"/sys/*/config", keep_config},
	{"/proc/cmdline", keep_cmdline},
	{"/proc/version", drop_builder},
	{"/proc/sys/kernel/core_pattern", keep_core_pattern},
	{"/proc/cpuinfo", drop_lines},
	{"/proc/driver/nvidia/*", drop_lines},
	{"*/hostname", refuse},
	{"*/domainname", refuse},
	{"*/nodename", refuse},
	{"*/node_desc", refuse}, /* holds the host's name */
	{"*/hostnqn", refuse},
	{"*/subsysnqn", refuse},
	{"*/hostid", refuse},
	{"*/wwid", refuse},
	{"*/nguid", refuse},
	{"*/eui", refuse},
	{"*/phys_switch_id", refuse}, /* made of MACs */
	{"*/phys_port_id", refuse},
	{"/proc/sys/kernel/random/*", refuse}, /* boot id */
	{"/proc/sys/net/*/stable_secret", refuse},
	{"/proc/sys/net/*/tcp_fastopen_key", refuse},
	{"/proc/sys/*/nfs/*", refuse},
	{"/sys/module/*/parameters/*", keep_parameter},
};

static scrub_fn *find_rule(const char *path)
{
	if (fnmatch("/sys/module/*/parameters/*", path, 0) == 0 &&
	    is_private_name(strrchr(path, '/') + 1))
		return refuse;
	for (size_t i = 0; i < array_len(rules); i++)
		if (fnmatch(rules[i].pattern, path, 0) == 0)
			return rules[i].scrub;
	return scrub_text;
}

bool scrub_file(struct scrub *s, const char *path, const char *data, size_t len, struct str *ret)
{
	return find_rule(path)(s, data, len, ret);
}

bool scrub_refuses(const char *path)
{
	return find_rule(path) == refuse;
}

char *scrub_name(struct scrub *s, const char *name)
{
	struct str ret = {0};

	scrub_forms(s, name, strlen(name), &ret);
	return str_take(&ret);
}

void scrub_free(struct scrub *s)
{
	strv_free(&s->macs);
	strv_free(&s->guids);
	strv_free(&s->uuids);
}
