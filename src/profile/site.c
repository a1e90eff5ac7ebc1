/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/site.h"

#include <errno.h>
#include <fcntl.h>

#include "profile/load.h"
#include "profile/schema.h"
#include "sys/read.h"

/* A promise that can't be kept is no promise: who writes true relies on it. */
static void refuse_later(const struct ynode *doc, struct diags *diags)
{
	static const char *const later[] = {"require_signature", "boot_complete"};

	for (size_t i = 0; i < array_len(later); i++)
		if (ynode_bool(doc, later[i], false))
			diag_error(diags, ynode_get(doc, later[i])->at, later[i],
				   "not implemented by this railhead; write false or remove it");
}

static struct ynode *read_site(const struct root *root, int fd, struct diags *diags)
{
	const struct place whole = {.file = SITE_FILE};
	cleanup_free char *text = NULL;
	struct ynode *doc;
	size_t len = 0;
	int r;

	if (!file_is_good(fd, SITE_FILE, load_trust(root), diags))
		return NULL;
	r = read_fd(fd, YAML_BYTES_MAX, &text, &len);
	if (r < 0) {
		diag_error(diags, whole, "", "%s", strerror(-r));
		return NULL;
	}
	doc = yaml_parse(SITE_FILE, text, len, diags);
	if (doc && schema_check(doc, SCHEMA_SITE, diags))
		refuse_later(doc, diags);
	return doc;
}

void site_load(const struct root *root, struct site *ret, struct diags *diags)
{
	cleanup_close int fd = root_open_path(root, SITE_FILE, O_RDONLY | O_NONBLOCK);
	cleanup_ynode struct ynode *doc = NULL;
	size_t before = diags->errors;

	*ret = (struct site){.reboot = true};
	if (fd == -ENOENT)
		return;
	if (fd < 0)
		diag_error(diags, (struct place){.file = SITE_FILE}, "", "%s", strerror(-fd));
	else
		doc = read_site(root, fd, diags);
	ret->reboot = false;
	if (diags->errors > before)
		return;
	ret->admit_off = ynode_bool(doc, "admit_off", false);
	ret->admit_none = ynode_bool(doc, "admit_none", false);
	ret->reboot = ynode_bool(doc, "reboot", true);
}
