/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCIe errors since boot, as the kernel has counted them: of the function, and of the ports
 * above it, since what an endpoint sends wrongly is seen by its partner
 * (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats). A root port also counts the
 * messages that came to it from everything below.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "checks/check.h"
#include "checks/looks.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/pci_express.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

enum { NAMED = 3 }; /* at most this many errors of a function are named, the others counted */

struct tally {
	uint64_t errors;
	bool known;	 /* the function itself has counters */
	struct str text; /* "0000:3b:00.0 BadTLP 12, Timeout 1; port ..." */
};

static void begin(struct tally *t, const char *addr, bool port)
{
	str_addf(&t->text, "%s%s%s", t->text.len ? "; " : "", port ? "port " : "", addr);
}

/* Reads one file: lines "NAME COUNT", and a total at the end. False: no such file. */
static bool count_file(const struct root *root, struct tally *t, const char *addr, bool port,
		       const char *file)
{
	cleanup_free char *text = NULL;
	char *rest, *line;
	size_t named = 0;

	if (read_attr(root, &text, NULL, DEV "%s/%s", addr, file) < 0)
		return false;
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		char name[64];
		uint64_t n;

		if (sscanf(line, "%63s %" SCNu64, name, &n) != 2 || !n ||
		    str_starts(name, "TOTAL_"))
			continue;
		t->errors += n;
		if (!named)
			begin(t, addr, port);
		if (named++ < NAMED)
			str_addf(&t->text, "%s %s %" PRIu64, named > 1 ? "," : "", name, n);
	}
	if (named > NAMED)
		str_addf(&t->text, " and %zu more", named - NAMED);
	return true;
}

/*
 * Counts messages that a root port received from below, if no function on the path has counted an
 * error: their sender has gone since, or is another function below that port.
 */
static void count_messages(const struct root *root, struct tally *t, const char *port)
{
	static const char *const kinds[] = {"fatal", "nonfatal"};

	for (size_t i = 0; i < array_len(kinds); i++) {
		uint64_t n = 0;

		if (read_u64(root, &n, NULL, DEV "%s/aer_rootport_total_err_%s", port, kinds[i]) <
			    0 ||
		    !n)
			continue;
		begin(t, port, true);
		str_addf(&t->text, " had %" PRIu64 " %s messages from below", n, kinds[i]);
		t->errors += n;
	}
}

/* files: NULL-terminated; the first file shows whether counters exist at all. */
static void count_all(const struct root *root, const char *addr, const char *const *files,
		      bool messages, struct tally *ret)
{
	cleanup_strv struct strv ports = {0};

	pci_ports_above(root, addr, &ports, NULL);
	for (size_t i = 0; files[i]; i++) {
		ret->known |= count_file(root, ret, addr, false, files[i]);
		for (size_t j = ports.n; j-- > 0;)
			count_file(root, ret, ports.v[j], true, files[i]);
	}
	if (messages && ports.n && !ret->errors)
		count_messages(root, ret, ports.v[0]);
}

static int find(const struct kind_ctx *ctx, const struct change *c, char **ret, struct err *err)
{
	cleanup_free char *addr = NULL;
	int r = function_or_vf(ctx->root, c->on.name, c->on.vf, &addr, err);

	if (r == 0)
		r = function_gone(ctx->root, addr, err);
	if (r == 0)
		*ret = take_ptr(addr);
	return r;
}

/* Explains why counters are missing, which is not a fault of the node. */
static void say_unsupported(const struct kind_ctx *ctx, struct change *c, const char *addr)
{
	change_observe(c, "not counted");
	c->now.state = CHANGE_UNSUPPORTED;
	if (root_exists(ctx->root, DEV "%s/physfn", addr))
		change_reason(c, "a VF without counters of its own: its PF has them");
	else
		change_reason(c,
			      "the kernel counts no errors of %s: the firmware handles AER (see "
			      "_OSC in the kernel log, and the firmware's own log), the function "
			      "has no AER, or pci=noaer is on the kernel command line",
			      addr);
}

static int look_errors(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	static const char *const files[] = {"aer_dev_fatal", "aer_dev_nonfatal", NULL};
	struct tally t = {0};
	cleanup_free char *addr = NULL;
	int r = find(ctx, c, &addr, err);

	if (r < 0)
		return r;
	count_all(ctx->root, addr, files, true, &t);
	if (t.errors || t.known)
		change_observe(c, "%" PRIu64, t.errors);
	c->now.state = t.errors ? CHANGE_DIFFERS : CHANGE_SAME;
	if (t.errors)
		change_reason(c,
			      "uncorrected PCIe errors since boot: %s; data was lost or a "
			      "transaction failed: see AER in the kernel log, reseat the card and "
			      "its riser, and look for newer firmware",
			      t.text.s);
	else if (!t.known)
		say_unsupported(ctx, c, addr);
	str_free(&t.text);
	return 0;
}

const struct target_item pcie_errors_item = {
	.kind = &kind_check, .look = look_errors, .fault = FAULT_PCI_ERRORS};

static int look_corrected(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	static const char *const files[] = {"aer_dev_correctable", NULL};
	uint64_t most = (uint64_t)c->want.number;
	struct tally t = {0};
	cleanup_free char *addr = NULL;
	int r = find(ctx, c, &addr, err);

	if (r < 0)
		return r;
	count_all(ctx->root, addr, files, false, &t);
	change_observe(c, "%" PRIu64, t.errors);
	c->now.state = t.errors > most ? CHANGE_DIFFERS : CHANGE_SAME;
	if (t.errors > most)
		change_reason(c,
			      "corrected PCIe errors since boot: %s; the link repeats what it "
			      "sends: reseat the card and its riser, check its cooling",
			      t.text.s);
	else if (!t.known)
		say_unsupported(ctx, c, addr);
	str_free(&t.text);
	return 0;
}

const struct target_item pcie_corrected_item = {
	.kind = &kind_check, .look = look_corrected, .fault = FAULT_PCI_CORRECTED};

static void emit(const struct checked *t, struct subject of)
{
	const struct ynode *most = ynode_get(t->map, "corrected");
	cleanup_free char *text = most ? xasprintf("%s or fewer", most->text) : NULL;

	check_look(t, of, "", &pcie_errors_item, "pcie-errors", "0");
	if (most)
		check_look(t, of, "/corrected", &pcie_corrected_item, "pcie-corrected", text)
			->want = most->value;
}

CHECK(pcie_errors, .required = {"on"}, .optional = {"corrected"}, .look = emit);
