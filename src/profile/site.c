/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/site.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "profile/load.h"
#include "profile/schema.h"
#include "sys/read.h"

enum { RETRY_AFTER = 10 };

/* A promise that can't be kept is no promise: who writes true relies on it. */
static void refuse_later(const struct ynode *doc, struct diags *diags)
{
	static const char key[] = "require_signature";

	if (ynode_bool(doc, key, false))
		diag_error(diags, ynode_get(doc, key)->at, key,
			   "not implemented by this railhead; write false or remove it");
}

/* Whether units/railhead-generator, which reads lines and not YAML, finds "boot_complete: true". */
static bool generator_sees(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *rest = NULL;
		const char *key = strtok_r(line, " \t", &rest);
		const char *value = strtok_r(NULL, " \t", &rest);

		if (key && value && streq(key, "boot_complete:") && streq(value, "true"))
			return true;
	}
	return false;
}

static void check_boot_complete(const struct ynode *doc, char *text, struct diags *diags)
{
	static const char key[] = "boot_complete";

	if (ynode_bool(doc, key, false) && !generator_sees(text))
		diag_error(diags, ynode_get(doc, key)->at, key,
			   "write 'boot_complete: true' on a line of its own: systemd gets it from "
			   "a generator that reads no other form");
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
	if (doc && schema_check(doc, SCHEMA_SITE, diags)) {
		refuse_later(doc, diags);
		check_boot_complete(doc, text, diags);
	}
	return doc;
}

void site_load(const struct root *root, struct site *ret, struct diags *diags)
{
	cleanup_close int fd = root_open_path(root, SITE_FILE, O_RDONLY | O_NONBLOCK);
	cleanup_ynode struct ynode *doc = NULL;
	size_t before = diags->errors;

	*ret = (struct site){.reboot = true, .retry_after = RETRY_AFTER};
	if (fd == -ENOENT)
		return;
	if (fd < 0)
		diag_error(diags, (struct place){.file = SITE_FILE}, "", "%s", strerror(-fd));
	else
		doc = read_site(root, fd, diags);
	ret->reboot = false;
	ret->retry_after = 0;
	if (diags->errors > before)
		return;
	ret->admit_off = ynode_bool(doc, "admit_off", false);
	ret->admit_none = ynode_bool(doc, "admit_none", false);
	ret->reboot = ynode_bool(doc, "reboot", true);
	ret->retry_after =
		(unsigned int)ynode_number_of(doc, "retry_kernel_args_after", RETRY_AFTER);
}
