/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of others that may set what a profile sets: the first byte chooses the file, B the first of
 * them, the rest is its text. Each writer that is named is a line of that file, which holds the
 * value.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/writers.h"
#include "kinds/checks.h"
#include "kinds/vf.h"
#include "plan/change.h"
#include "profile/place.h"

static const char *const files[] = {
	"etc/sysctl.d/x.conf",
	"etc/modprobe.d/x.conf",
	"etc/modules-load.d/x.conf",
	"etc/tmpfiles.d/x.conf",
	"etc/udev/rules.d/x.rules",
	"etc/systemd/network/x.link",
	"etc/systemd/system/x.service",
	"etc/default/grub",
	"etc/kernel/cmdline",
	"etc/tuned/x/tuned.conf",
	"etc/rc.local",
	"etc/security/limits.d/x.conf",
};

static struct change *add(struct plan *plan, const struct kind *kind, const char *target,
			  const char *name, const void *item)
{
	struct change *c = plan_add(plan, "sysctl", kind, STAGE_EARLY, PHASE_SYSCTL,
				    (struct place){0}, "%zu", plan->list.n);

	change_on(c, name, item);
	if (target)
		change_target(c, "%s", target);
	return c;
}

static void make_plan(struct plan *plan)
{
	add(plan, &kind_attr, "/proc/sys/vm/swappiness", NULL, NULL);
	add(plan, &kind_attr, "/sys/block/sd*/queue/scheduler", NULL, NULL);
	add(plan, &kind_attr, "/sys/kernel/mm/transparent_hugepage/enabled", NULL, NULL);
	add(plan, &kind_check, NULL, "ib_core", &param_item)->on.key = "netns_mode";
	add(plan, &kind_check, NULL, "nouveau", &unloaded_item);
	add(plan, &kind_check, NULL, "0000:18:00.0", &vf_numvfs);
	add(plan, &kind_check, NULL, "iommu=pt", &arrived_item);
	plan_add(plan, "limits", &kind_limit, STAGE_EARLY, PHASE_FILES, (struct place){0},
		 "limits/memlock")
		->on.key = "memlock";
	change_file(add(plan, &kind_check, NULL, NULL, NULL), "/sys/class/net/eth0/mtu");
}

static void check(const struct writer *w, const char *file, const char *text)
{
	must(*w->by == '/' && str_starts(w->by + 1, file) && w->by[1 + strlen(file)] == ':');
	must(*w->says && !strchr(w->says, '\n') && strstr(text, w->says));
	must(!w->value || strlen(w->value) <= strlen(w->says));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	static struct plan plan;
	enum { FILES = array_len(files) };
	const char *file = files[size ? (data[0] + FILES - 'B' % FILES) % FILES : 0];
	cleanup_free char *text = xstrndup(size ? (const char *)data + 1 : "", size ? size - 1 : 0);
	cleanup(writer_files_free) struct writer_files all = {0};
	cleanup(writers_free) struct writers found = {0};

	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		must(root_init(&root, dir, NULL) == 0);
		fuzz_put_text(dir, "etc/tuned/active_profile", "x");
		make_plan(&plan);
	}
	if (strstr(text, "railhead")) /* its own */
		return 0;
	fuzz_put_text(root.path, file, text);
	writer_files_read(&root, &all);
	for (size_t i = 0; i < plan.list.n; i++)
		writers_find(&all, plan.list.v[i], &found);
	for (size_t i = 0; i < found.list.n; i++)
		check(&found.list.v[i], file, text);
	fuzz_put_text(root.path, file, "");
	return 0;
}
