/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/cpu_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/diag.h"
#include "profile/yaml.h"
#include "sys/dropins.h"
#include "sys/read.h"

void said_free(struct said *s)
{
	free(take_ptr(s->at));
	free(take_ptr(s->text));
}

static void say(struct said *s, const char *file, unsigned int line, const char *text)
{
	said_free(s);
	s->at = xasprintf("%s:%u", file, line);
	s->text = xstrdup(text);
}

void kubelet_free(struct kubelet *k)
{
	free(take_ptr(k->file));
	free(take_ptr(k->fault));
	said_free(&k->reserved);
	said_free(&k->policy);
	said_free(&k->topology);
}

/* --- lines "key=value" ---------------------------------------------------------------------- */

/*
 * The value of the key in a line, without blanks around it, as a part of line. NULL: the line does
 * not set the key.
 */
static char *value_of(char *line, const char *key)
{
	char *text = line + strspn(line, " \t"), *value;

	if (!str_starts(text, key))
		return NULL;
	value = text + strlen(key);
	value += strspn(value, " \t");
	if (*value != '=')
		return NULL;
	value += 1 + strspn(value + 1, " \t");
	str_chomp(value);
	return value;
}

static void each_value(const struct root *root, const char *file, const char *key,
		       void (*take)(const char *file, unsigned int line, const char *value,
				    struct said *ret),
		       struct said *ret)
{
	cleanup_free char *text = NULL;
	char *rest, *line, *value;
	unsigned int n = 0;

	if (read_file(root, READ_TEXT_MAX, &text, NULL, NULL, file) < 0)
		return;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		n++;
		value = value_of(line, key);
		if (value)
			take(file, n, value, ret);
	}
}

/* --- systemd --------------------------------------------------------------------------------- */

static void merge_affinity(const char *file, unsigned int line, const char *value, struct said *ret)
{
	cleanup_str struct str all = {0};

	if (!*value) {
		said_free(ret);
		return;
	}
	if (ret->text)
		str_addf(&all, "%s,", ret->text);
	for (const char *p = value; *p; p++) /* "0 1-3" and "0, 1-3" are lists as well */
		if (!strchr(" \t", *p) || !strchr(", \t", p[1]))
			str_addf(&all, "%c", strchr(" \t", *p) ? ',' : *p);
	for (char *p = all.s; (p = strstr(p, ",,"));)
		memmove(p, p + 1, strlen(p));
	say(ret, file, line, all.s);
}

bool systemd_affinity(const struct root *root, struct said *ret)
{
	static const char *const dirs[] = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
					   "/usr/lib/systemd"};
	cleanup_strv struct strv drop_ins = {0};

	*ret = (struct said){0};
	for (size_t d = 0; d < array_len(dirs); d++) {
		cleanup_free char *file = xasprintf("%s/system.conf", dirs[d]);

		if (!root_exists(root, "%s", file))
			continue;
		each_value(root, file, "CPUAffinity", merge_affinity, ret);
		break;
	}
	dropins_find(root, dirs, array_len(dirs), "system.conf.d/*.conf", &drop_ins);
	for (size_t i = 0; i < drop_ins.n; i++)
		each_value(root, drop_ins.v[i], "CPUAffinity", merge_affinity, ret);
	return ret->text != NULL;
}

/* --- tuned ----------------------------------------------------------------------------------- */

static void take_last(const char *file, unsigned int line, const char *value, struct said *ret)
{
	say(ret, file, line, value);
}

bool tuned_isolated(const struct root *root, struct said *ret)
{
	cleanup_free char *active = NULL;
	char *rest, *profile;

	*ret = (struct said){0};
	if (read_text(root, &active, NULL, "/etc/tuned/active_profile") < 0)
		return false;
	for (rest = active; (profile = strsep(&rest, " \t\n"));) {
		cleanup_free char *file = xasprintf("/etc/tuned/%s-variables.conf", profile);

		if (*profile && !strchr(profile, '/'))
			each_value(root, file, "isolated_cores", take_last, ret);
	}
	if (ret->text && (!*ret->text || strchr(ret->text, '$')))
		said_free(ret);
	return ret->text != NULL;
}

/* --- kubelet --------------------------------------------------------------------------------- */

/*
 * Configuration files, in the order in which later files override earlier ones. The directories
 * have files of other kinds, too.
 */
static const char *const kubelet_configs[] = {
	"/var/lib/kubelet/config.yaml",
	"/etc/kubernetes/kubelet.conf", /* of OpenShift; kubeadm has a kubeconfig there */
	"/etc/kubernetes/kubelet/*.yaml",
	"/etc/kubernetes/kubelet/*.json",
	"/etc/kubernetes/kubelet/*.conf",
	"/etc/kubernetes/kubelet.conf.d/*.conf",
	"/etc/kubernetes/kubelet/config.json.d/*.conf",
};

/* The files from which the units of kubelet get flags. */
static const char *const kubelet_flags[] = {
	"/usr/lib/systemd/system/kubelet.service",
	"/etc/systemd/system/kubelet.service",
	"/usr/lib/systemd/system/kubelet.service.d/*.conf",
	"/etc/systemd/system/kubelet.service.d/*.conf",
	"/run/systemd/system/kubelet.service.d/*.conf",
	"/var/lib/kubelet/kubeadm-flags.env",
	"/etc/default/kubelet",
	"/etc/sysconfig/kubelet",
};

static void take_key(const struct ynode *doc, const char *key, const char *file, struct said *ret)
{
	const struct ynode *value = ynode_get(doc, key);

	if (value && value->kind == YAML_SCALAR && *value->text)
		say(ret, file, value->at.line, value->text);
}

static void note_fault(struct kubelet *k, const struct diags *diags, const char *file)
{
	cleanup_free char *text = diags->list.n ? diag_format(&diags->list.v[0])
						: xasprintf("%s: no YAML document", file);

	free(k->fault);
	k->fault = take_ptr(text);
}

/* The directories have files of other kinds, too; only the first path always belongs to kubelet. */
static bool is_for_kubelet(const char *file, const char *text)
{
	return streq(file, kubelet_configs[0]) || strstr(text, "KubeletConfiguration");
}

static void read_config(const struct root *root, const char *file, struct kubelet *k)
{
	struct diags diags = {0};
	cleanup_free char *text = NULL;
	cleanup_ynode struct ynode *doc = NULL;
	size_t len = 0;

	if (read_file(root, READ_TEXT_MAX, &text, &len, NULL, file) < 0 ||
	    !is_for_kubelet(file, text))
		return;
	free(k->file);
	k->file = xstrdup(file);
	doc = yaml_parse(file, text, len, &diags);
	if (!doc || diags.errors)
		note_fault(k, &diags, file);
	take_key(doc, "reservedSystemCPUs", file, &k->reserved);
	take_key(doc, "cpuManagerPolicy", file, &k->policy);
	take_key(doc, "topologyManagerPolicy", file, &k->topology);
	diags_free(&diags);
}

/*
 * Takes "--reserved-cpus=0-3" or "--reserved-cpus 0-3", with or without quotes; ignores comments.
 */
static void take_flag(const char *file, unsigned int line, const char *text, const char *flag,
		      struct said *ret)
{
	const char *at = strchr("#;", text[strspn(text, " \t")]) ? NULL : strstr(text, flag);
	cleanup_free char *value = NULL;

	if (!at || !strchr("= ", at[strlen(flag)]))
		return;
	at += strlen(flag);
	if (!*at)
		return;
	at += 1 + strspn(at + 1, "\"'");
	value = xstrndup(at, strcspn(at, " \t\"'\\"));
	say(ret, file, line, value);
}

static void read_flags(const struct root *root, const char *file, struct kubelet *k)
{
	cleanup_free char *text = NULL;
	char *rest, *line;
	unsigned int n = 0;

	if (read_file(root, READ_TEXT_MAX, &text, NULL, NULL, file) < 0)
		return;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		n++;
		take_flag(file, n, line, "--reserved-cpus", &k->reserved);
		take_flag(file, n, line, "--cpu-manager-policy", &k->policy);
		take_flag(file, n, line, "--topology-manager-policy", &k->topology);
	}
}

static void each_file(const struct root *root, const char *const *patterns, size_t n,
		      void (*read)(const struct root *root, const char *file, struct kubelet *k),
		      struct kubelet *k)
{
	for (size_t i = 0; i < n; i++) {
		cleanup_strv struct strv files = {0};

		read_glob(root, patterns[i], &files, NULL);
		for (size_t j = 0; j < files.n; j++)
			read(root, files.v[j], k);
	}
}

bool kubelet_read(const struct root *root, struct kubelet *ret)
{
	*ret = (struct kubelet){0};
	each_file(root, kubelet_configs, array_len(kubelet_configs), read_config, ret);
	each_file(root, kubelet_flags, array_len(kubelet_flags), read_flags, ret);
	return ret->file || ret->reserved.text || ret->policy.text;
}
