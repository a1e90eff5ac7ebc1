/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of kubelet, systemd and tuned by which a node is judged: the first byte chooses the file,
 * the rest is its text.
 */
#include "fuzz.h"

#include <ctype.h>

#include "bake/bake.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/checks.h"
#include "kinds/cpu_files.h"
#include "plan/change.h"
#include "profile/place.h"

static const char *const files[] = {
	"var/lib/kubelet/config.yaml",
	"etc/kubernetes/kubelet/x.conf",
	"etc/systemd/system/kubelet.service.d/10-x.conf",
	"etc/default/kubelet",
	"etc/systemd/system.conf",
	"etc/tuned/x-variables.conf",
	"var/lib/kubelet/memory_manager_state",
	"etc/systemd/system/x.service",
};

static void check_said(const struct said *s, const char *file)
{
	must(!s->at == !s->text);
	must(!s->at || (str_starts(s->at + 1, file) && s->at[1 + strlen(file)] == ':'));
	must(!s->text || !strchr(s->text, '\n') || strstr(file, ".yaml") || strstr(file, ".conf"));
}

static void kubelet(const struct root *root, const char *file)
{
	cleanup_kubelet struct kubelet k = {0};
	bool found = kubelet_read(root, &k);

	must(found || (!k.reserved.text && !k.policy.text));
	must(!k.fault || (*k.fault && k.file));
	check_said(&k.reserved, file);
	check_said(&k.policy, file);
	check_said(&k.topology, file);
}

static void cpus(const struct root *root, const char *file)
{
	cleanup_said struct said affinity = {0}, isolated = {0};

	must(systemd_affinity(root, &affinity) == (affinity.text != NULL));
	must(tuned_isolated(root, &isolated) == (isolated.text != NULL));
	check_said(&affinity, file);
	check_said(&isolated, file);
}

/* The recorded pages of two nodes, against a profile's. */
static void state(const struct root *root)
{
	static struct plan plan;
	static struct change *c;
	struct kind_ctx ctx = {.root = root};
	struct err err = {0};
	int r;

	if (!c) {
		c = plan_add(&plan, "hugepages", &kind_check, STAGE_EARLY, PHASE_CHECK,
			     (struct place){0}, "kubelet");
		change_desired(c, "as the profile makes them");
		for (unsigned int node = 0; node < 2; node++) {
			struct part *part = change_part(c, "hugepages-1Gi", NULL, NULL);

			part->index = node;
			part->want.number = INT64_C(8) << 30;
		}
	}
	r = kubelet_state_item.look(&ctx, c, &err);
	must(r == 0 || *err.text);
	must(r < 0 || c->now.state == CHANGE_SAME || c->now.state == CHANGE_DIFFERS);
	must(r < 0 || c->now.state == CHANGE_SAME || *c->now.why);
}

static void unit(const char *text)
{
	cleanup_strv struct strv words = {0};

	bake_unit_words(text, "Install", "WantedBy", &words);
	for (size_t i = 0; i < words.n; i++) {
		must(*words.v[i]);
		for (const char *p = words.v[i]; *p; p++)
			must(!isspace((unsigned char)*p));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	const char *file = files[size ? *data % array_len(files) : 0];
	cleanup_free char *text = xstrndup(size ? (const char *)data + 1 : "", size ? size - 1 : 0);

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		fuzz_put_text(dir, "etc/tuned/active_profile", "x\n");
		must(root_init(&root, dir, NULL) == 0);
	}
	fuzz_put(root.path, file, size ? data + 1 : data, size ? size - 1 : 0);
	kubelet(&root, file);
	cpus(&root, file);
	state(&root);
	unit(text);
	fuzz_put_text(root.path, file, "");
	return 0;
}
