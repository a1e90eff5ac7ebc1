/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile from its bytes to its digest: YAML, schema, merging with a base and a drop-in,
 * rules. The document is a file called "fuzz", so that is the name of one without a fault; it
 * may extend "base" and "roce-base".
 */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/load.h"

#define HEAD "schema: 1\n"
#define BASE                                            \
	"abstract: true\nsysctl: {vm.swappiness: 10}\n" \
	"kernel_args: {set: [quiet, pci=realloc]}\ndevices: {rails: {pci: \"15b3:1021\"}}\n"

/* Lives as long as the program. */
struct world {
	struct root root;
	struct node node;
	char *path; /* a link to fd */
	int fd;
};

static void make_node(struct node *node)
{
	struct pci_fn fn = {.addr = "0000:3b:00.0", .vendor = 0x15b3, .device = 0x1021, .numa = 0};

	node->dmi.sys_vendor = xstrdup("Supermicro");
	node->dmi.product_name = xstrdup("SYS-821GE-TNHR");
	node->cpu_vendor = CPU_INTEL;
	node->cmdline = xstrdup("ro quiet");
	node->sockets = 2;
	node->memory.bytes = 64ULL << 30;
	must(cpus_parse("0-3", &node->cpus) == 0 && cpus_parse("0-1", &node->nodes) == 0);
	node->nodes_with_cpu = node->nodes;
	fn.class = 0x020000;
	fn.totalvfs = 8;
	for (int i = 0; i < 2; i++) {
		fn.addr[11] = (char)('0' + i);
		vec_push(&node->pci, fn);
	}
}

static void make_world(struct world *w)
{
	cleanup_free char *dir = fuzz_dir(), *target = NULL;

	w->fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(w->fd >= 0 && root_init(&w->root, dir, NULL) == 0);
	w->path = xasprintf("%s/fuzz.yaml", dir);
	target = xasprintf("/proc/self/fd/%d", w->fd);
	must(symlink(target, w->path) == 0);
	fuzz_put_text(dir, "base.yaml", HEAD "name: base\n" BASE);
	fuzz_put_text(dir, "roce-base.yaml", HEAD "name: roce-base\n" BASE);
	fuzz_put_text(dir, "etc/railhead/profiles/fuzz.d/10-site.yaml",
		      HEAD "sysctl: {kernel.panic: 10, vm.swappiness: null}\n"
			   "kernel_args: {set+: [pci=noats]}\n");
	fuzz_put_text(dir, "etc/railhead/profiles/fuzz.d/20-node.yaml",
		      HEAD "match: {dmi: {sys_vendor: \"Super*\"}}\nsriov: {rails: {vfs: 2}}\n");
	make_node(&w->node);
}

/* All messages as check prints them. */
static char *messages(const struct diags *diags)
{
	struct str all = {0};
	size_t errors = 0;

	for (size_t i = 0; i < diags->list.n; i++) {
		cleanup_free char *line = diag_format(&diags->list.v[i]);

		must(*line && !strpbrk(line, "\n\r\033") && !strstr(line, "\302\233"));
		str_addf(&all, "%s\n", line);
		errors += !diags->list.v[i].warning;
	}
	/* Beyond 500 they are counted only; the last line says so. */
	must(errors == diags->errors || (errors < diags->errors && diags->list.n > 500));
	return str_take(&all);
}

/* Loads it; returns the messages. *digest: "" where there is nothing to go by. */
static char *load(const struct world *w, const struct node *node, char digest[SHA256_HEX])
{
	cleanup_profile struct profile *p = NULL;
	struct device_sets sets = {0};
	struct diags diags = {0};
	struct err err = {0};
	char *text;

	must(load_profile(&w->root, w->path, 0, node, &p, &diags, &err) == 0);
	must(p->doc || diags.errors > 0);
	memcpy(digest, p->digest, SHA256_HEX);
	if (!diags.errors) {
		must(strlen(p->digest) == SHA256_HEX - 1);
		must(device_sets_resolve(&w->node, p->devices.v, p->devices.n, &sets, &err) == 0);
		device_sets_free(&sets);
	}
	text = messages(&diags);
	diags_free(&diags);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	cleanup_free char *first = NULL, *again = NULL, *here = NULL;
	char digest[SHA256_HEX], same[SHA256_HEX];

	if (!w.path)
		make_world(&w);
	must(ftruncate(w.fd, 0) == 0 && pwrite(w.fd, data, size, 0) == (ssize_t)size);
	first = load(&w, NULL, digest);
	again = load(&w, NULL, same);
	must(streq(first, again) && streq(digest, same));
	here = load(&w, &w.node, same);
	return 0;
}
