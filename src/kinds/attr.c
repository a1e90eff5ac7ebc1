/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of procfs and sysfs: one file, or all that a pattern matches as one record. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/attr.h"
#include "kinds/claim.h"
#include "kinds/cover.h"
#include "kinds/function.h"
#include "kinds/kernel_file.h"
#include "kinds/kind.h"
#include "plan/change.h"
#include "sys/kernel_names.h"
#include "sys/machine.h"
#include "sys/read.h"

/* Sets ret to the address of the PCI function that path belongs to. False: it belongs to none. */
static bool of_function(const char *path, char ret[PCI_ADDR_MAX])
{
	char slash;

	return sscanf(path, "/sys/bus/pci/devices/%19[0-9a-f:.]%c", ret, &slash) == 2 &&
	       slash == '/';
}

static int absent(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct attr_item *item = c->on.item;
	const struct sysctl_module *module = sysctl_module_of(c->target);
	char addr[PCI_ADDR_MAX];

	if (c->late && ctx->running == STAGE_EARLY) {
		change_reason(c, "not there yet; railhead tries again once devices are up");
		c->now.state = CHANGE_WAITS;
		return 0;
	}
	if (c->optional && (item || kernel_path_may_lack(ctx->root, c->target))) {
		change_reason(c, "there is no such file");
		c->now.state = CHANGE_UNSUPPORTED;
		return 0;
	}
	if (item)
		return err_set(err, -ENOENT, "%s: no such file: %s", c->target, item->absent);
	if (of_function(c->target, addr) && function_gone(ctx->root, addr, err) < 0) {
		/* That remedy is for a function that was there when the stage began. */
		if (node_find(ctx->node, addr))
			return -ENODEV;
		return err_set(err, -ENODEV,
			       "%s: there is no PCI function %s: is its address misspelt, or is it "
			       "a VF that sriov: does not create? `lspci -D` lists the functions; "
			       "the kernel log names those that have left the bus",
			       c->target, addr);
	}
	if (c->optional)
		return err_set(err, -ENOENT,
			       "%s: no such file, and no kernel has a file of this name, so "
			       "optional does not apply; is it misspelt?",
			       c->target);
	if (module)
		return err_set(err, -ENOENT,
			       "%s: no such file; it comes with module %s: name the module in "
			       "modules.load, or mark the line optional",
			       c->target, module->name);
	return err_set(err, -ENOENT,
		       "%s: no such file; is its module or device missing, or the name misspelt? "
		       "Mark it optional if it need not exist",
		       c->target);
}

/* If another section contests one file, the change still sets its other files. */
static void judge(struct change *c, const struct claim *claim, size_t wrong)
{
	cleanup_str struct str text = {0};

	if (wrong && claim->files.n > 1)
		str_addf(&text, "%zu of %zu files differ", wrong, claim->files.n);
	if (claim->contest)
		str_begin_clause(&text);
	if (claim->contest && claim->all > 1)
		str_addf(&text, "%zu of %zu files left as they are, %s", claim->contested,
			 claim->all, claim->contested > 1 ? "the first " : "");
	else if (claim->contest)
		str_add(&text, CLAIM_LEFT);
	if (claim->contest)
		str_add(&text, claim->contest);
	if (text.len)
		change_reason(c, "%s", text.s);
	c->now.state = wrong ? CHANGE_DIFFERS : claim->contest ? CHANGE_FAILED : CHANGE_SAME;
	if (c->now.state == CHANGE_FAILED)
		c->now.fault = FAULT_PROFILE_CONFLICT;
}

/*
 * A word that the driver does not offer ("performance powersave") is an error even if the change is
 * optional, because optional covers kernels that lack the file.
 */
static int reject_word(const struct kind_ctx *ctx, const struct change *c, const char *file,
		       struct err *err)
{
	const struct attr_item *item = c->on.item;
	int dir = (int)(strrchr(file, '/') - file);
	cleanup_free char *offers = NULL, *driver = NULL, *padded = NULL, *word = NULL;

	if (!item || !item->offers ||
	    read_attr(ctx->root, &offers, NULL, "%.*s/%s", dir, file, item->offers) < 0)
		return 0;
	padded = xasprintf(" %s ", offers);
	word = xasprintf(" %s ", c->desired);
	if (strstr(padded, word))
		return 0;
	read_attr(ctx->root, &driver, NULL, "%.*s/%s", dir, file, item->driver);
	return err_set(err, -EINVAL,
		       "%s: the driver (%s) has no '%s'" TO_MEND "expected one of: %s", file,
		       driver ?: "unknown", c->desired, offers);
}

/*
 * Rejects a file that a line of the profile must not set. Only asked before a write, and where the
 * file can't be read, so that a file as wanted costs nothing.
 */
static int judge_file(const struct kind_ctx *ctx, const struct change *c, const char *file,
		      struct err *err)
{
	return c->named ? kernel_file_judge(ctx->root, file, c->desired, c->forced, err) : 0;
}

/* A policy has the name of its first CPU. */
static void remove_first(const char *file, struct cpus *left)
{
	unsigned int first;
	struct cpus of = {0};

	if (sscanf(strstr(file, "/policy") ?: "", "/policy%u", &first) != 1)
		return;
	cpus_add(&of, first);
	cpus_remove_all(left, &of);
}

/* Its file lists them all: "0 1 4". Returns false if there is no such file. */
static bool remove_listed(const struct kind_ctx *ctx, const char *name, const char *file,
			  struct cpus *left)
{
	int dir = (int)(strrchr(file, '/') - file);
	cleanup_free char *text = NULL;
	struct cpus of;

	if (read_attr(ctx->root, &text, NULL, "%.*s/%s", dir, file, name) < 0)
		return false;
	for (char *p = text; (p = strchr(p, ' '));)
		*p = ',';
	if (cpus_parse(text, &of) == 0)
		cpus_remove_all(left, &of);
	return true;
}

/*
 * Fails the change if a CPU that is online has no policy: where the driver could not take a CPU
 * (the firmware's tables lack it), the files of the other CPUs are as wanted. A tree that has the
 * lists of some policies alone does not tell.
 */
static int judge_cpus(const struct kind_ctx *ctx, const struct change *c, const struct claim *claim,
		      struct err *err)
{
	const struct attr_item *item = c->on.item;
	const struct strv *files = &claim->files;
	cleanup_free char *list = NULL;
	struct cpus left;
	size_t listed = 0;

	if (!item || !item->cpus || files->n != claim->all)
		return 0;
	node_online(ctx->node, &left);
	for (size_t i = 0; i < files->n; i++)
		remove_first(files->v[i], &left);
	for (size_t i = 0; cpus_count(&left) && i < files->n; i++)
		listed += remove_listed(ctx, item->cpus, files->v[i], &left);
	if (!cpus_count(&left) || (listed && listed < files->n))
		return 0;
	list = cpus_format(&left);
	return err_set(err, -ENODATA,
		       "CPUs %s are online and have no policy of cpufreq" TO_MEND
		       "see cpufreq in the kernel log, and the BIOS options for power management",
		       list);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct claim claim cleanup_claim = {0};
	const struct strv *files = &claim.files;
	cleanup_free char *contested = NULL;
	size_t wrong = 0;
	int judged, r = claim_find(ctx, c, &claim, err);

	if (r < 0)
		return r;
	if (!claim.all)
		return absent(ctx, c, err);
	if (claim.contest && read_attr(ctx->root, &contested, err, "%s", claim.first) < 0)
		return err->code;
	if (!files->n)
		change_observe(c, "no file of its own");
	for (size_t i = 0; i < files->n; i++) {
		cleanup_free char *text = NULL;

		r = read_attr(ctx->root, &text, err, "%s", files->v[i]);
		if (r < 0 && claim.all == 1 && !root_exists(ctx->root, "%s", files->v[i]))
			return absent(ctx, c, err);
		cover_file(ctx, c, files->v[i]);
		if (r == 0 && change_equal(c->compare, c->desired, text)) {
			if (!wrong)
				change_observe(c, "%s", text);
			continue;
		}
		judged = judge_file(ctx, c, files->v[i], err);
		r = judged < 0 ? judged : r;
		if (r == 0)
			r = reject_word(ctx, c, files->v[i], err);
		if (r < 0)
			return r;
		if (!wrong++)
			change_observe(c, files->n > 1 ? "%s in %s" : "%s", text, files->v[i]);
	}
	if (!wrong && contested)
		change_observe(c, claim.all > 1 ? "%s in %s" : "%s", contested, claim.first);
	judge(c, &claim, wrong);
	return wrong ? 0 : judge_cpus(ctx, c, &claim, err);
}

/* The text that is written: of ">=N", the N. */
static const char *text_for(const struct change *c)
{
	return c->desired + (c->want.at_least ? strlen(">=") : 0);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct claim claim cleanup_claim = {0};
	int r = claim_find(ctx, c, &claim, err);
	bool alone = claim.files.n == 1 && !claim.contest; /* the look has found a difference */

	for (size_t i = 0; r == 0 && i < claim.files.n; i++) {
		const char *file = claim.files.v[i];
		cleanup_free char *text = NULL;

		if (!alone)
			r = read_attr(ctx->root, &text, err, "%s", file);
		if (r < 0 || (text && change_equal(c->compare, c->desired, text)))
			continue;
		r = judge_file(ctx, c, file, err);
		if (r == 0)
			r = machine_write_attr(ctx->root, file, text_for(c), err);
	}
	return r;
}

const struct kind kind_attr = {.name = "attr", .look = look, .set = set};
