/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bases, drop-ins, digest and selectors: what a profile is once it is resolved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "profile/lines.h"
#include "tree.h"
#include "profile/yaml.h"

#define HEAD(name) "schema: 1\nname: " name "\n"
#define BASE(name) HEAD(name) "abstract: true\n"

static struct profile *load(struct tmp *t, const char *file, const struct node *node)
{
	struct profile *p = NULL;
	int r = profile_load_named(&t->root, tmp_path(t, file), node, &p, &t->diags, &t->err);

	if (r < 0)
		tmp_print(&t->diags);
	assert_int_equal(r, 0);
	assert_non_null(p);
	return p;
}

static void fails(struct tmp *t, const char *file, const struct node *node, const char *says)
{
	struct profile *p = NULL;
	int r = profile_load_named(&t->root, tmp_path(t, file), node, &p, &t->diags, &t->err);

	assert_int_equal(r, -EINVAL);
	assert_null(p);
	assert_says(&t->diags, says);
}

/* "a b c": the scalars of a list. */
static const char *flat(const struct ynode *list)
{
	static char out[1024];

	*out = '\0';
	assert_non_null(list);
	for (size_t i = 0; i < list->items.n; i++) {
		const struct ynode *n = list->items.v[i];

		strcat(out, i ? " " : "");
		strcat(out, n->kind == YAML_MAP ? ynode_text(n, "name", "?") : n->text);
	}
	return out;
}

static const struct ynode *args(const struct profile *p)
{
	return ynode_get(profile_section(p, "kernel_args"), "set");
}

static void maps_merge_lists_replace(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(
		t, "b.yaml",
		BASE("b") "kernel_args: {iommu: strict, set: [x, y]}\nsysctl: {a.b: 1, a.c: 2}\n");
	tmp_write(t, "p.yaml",
		  BASE("p") "extends: b\nkernel_args: {set: [z]}\nsysctl: {a.b: 3, "
			    "a.d: 4}\n");
	p = load(t, "p.yaml", NULL);
	assert_string_equal(flat(args(p)), "z");
	assert_string_equal(ynode_text(profile_section(p, "kernel_args"), "iommu", ""), "strict");
	assert_string_equal(flat(profile_section(p, "sysctl")), "3 2 4"); /* bases first */
	assert_string_equal(p->ancestors.v[0], "b");
	/* places point to the file that wrote the value */
	assert_non_null(strstr(ynode_get(profile_section(p, "sysctl"), "a.c")->at.file, "b.yaml"));
	assert_non_null(strstr(ynode_get(profile_section(p, "sysctl"), "a.b")->at.file, "p.yaml"));
	profile_free(p);
}

static void null_deletes(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(t, "b.yaml",
		  BASE("b") "kernel_args: {iommu: strict}\nsysctl: {vm.swappiness: 1, "
			    "vm.dirty_ratio: 2}\n"
			    "hugepages: [{size: 1G, per_node: 1}]\n");
	tmp_write(t, "p.yaml",
		  BASE("p") "extends: b\nkernel_args: {iommu: ~}\nsysctl:\n  "
			    "vm.swappiness:\nhugepages: "
			    "null\n");
	p = load(t, "p.yaml", NULL);
	assert_int_equal(t->diags.list.n, 0);
	assert_null(ynode_get(profile_section(p, "kernel_args"), "iommu"));
	assert_null(ynode_get(profile_section(p, "sysctl"), "vm.swappiness"));
	assert_null(profile_section(p, "hugepages"));
	profile_free(p);
}

static void null_of_nothing_warns(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(t, "p.yaml", BASE("p") "kernel_args:\n  iommu:\n");
	p = load(t, "p.yaml", NULL);
	assert_int_equal(t->diags.list.n, 1);
	assert_int_equal(t->diags.errors, 0);
	assert_says(&t->diags, "p.yaml:5:3: warning: kernel_args.iommu: no value");
	profile_free(p);
}

static void append_replaces_the_same(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(t, "b.yaml",
		  BASE("b") "kernel_args: {set: [pci=realloc, a-b=1, quiet]}\n"
			    "modules: {load: [x, y], blacklist: [n]}\n");
	tmp_write(t, "p.yaml",
		  BASE("p") "extends: [b]\nkernel_args: {set+: [a_b=2, pci=noats, new]}\n"
			    "modules: {load+: [{name: y, optional: true}, z], options: {z: {o: "
			    "1}}}\n");
	p = load(t, "p.yaml", NULL);
	assert_string_equal(flat(args(p)), "pci=noats a_b=2 quiet new");
	assert_string_equal(flat(ynode_get(profile_section(p, "modules"), "load")), "x y z");
	assert_int_equal(ynode_get(profile_section(p, "modules"), "load")->items.v[1]->kind,
			 YAML_MAP);
	assert_null(ynode_get(profile_section(p, "modules"), "load+"));
	profile_free(p);
}

static void shadows_keep_what_was_replaced(void **state)
{
	static const struct {
		const char *key, *value, *at, *by;
		bool deleted;
	} t[] = {
		{"sysctl.a.b", "1", "c.yaml:4:15", "b.yaml:5:15", false},
		{"sysctl.a.b", "2", "b.yaml:5:15", "p.yaml:4:15", false},
		{"sysctl.a.c", "4", "c.yaml:4:23", "p.yaml:4:18", true},
		{"kernel_args.set", "[x, y=1]", "b.yaml:6:20", "p.yaml:5:20", false},
		{"kernel_args.set", "y=2", "p.yaml:5:24", "/p.d/x.yaml:2:22", false},
		{"hugepages", "[{size: 1G, per_node: 1}]", "b.yaml:7:12", "/p.d/x.yaml:3:1", true},
	};
	struct tmp *tmp = *state;
	struct profile *p;

	tmp_write(tmp, "c.yaml", BASE("c") "sysctl: {a.b: 1, a.c: 4}\n");
	tmp_write(tmp, "b.yaml",
		  BASE("b") "extends: c\nsysctl: {a.b: 2}\nkernel_args: {set: [x, y=1]}\n"
			    "hugepages: [{size: 1G, per_node: 1}]\n");
	tmp_write(tmp, "p.yaml",
		  HEAD("p") "extends: b\nsysctl: {a.b: 3, a.c: ~, a.d: 1}\n"
			    "kernel_args: {set: [z, y=2]}\nmatch: {arch: x86_64}\n");
	tmp_write(tmp, ETC "p.d/x.yaml", "schema: 1\nkernel_args: {set+: [y=3]}\nhugepages: ~\n");
	p = load(tmp, "p.yaml", NULL);
	assert_int_equal(p->shadows.list.n, array_len(t));
	for (size_t i = 0; i < array_len(t); i++) {
		const struct shadow *s = &p->shadows.list.v[i];
		cleanup_free char *at = xasprintf("%s:%u:%u", s->at.file, s->at.line, s->at.col);
		cleanup_free char *by = xasprintf("%s:%u:%u", s->by.file, s->by.line, s->by.col);

		assert_string_equal(s->key, t[i].key);
		assert_string_equal(s->value, t[i].value);
		assert_text(at, t[i].at);
		assert_text(by, t[i].by);
		assert_int_equal(s->deleted, t[i].deleted);
	}
	profile_free(p);
}

static void lines_are_found_by_path_and_place(void **state)
{
	static const struct {
		const char *of, *id, *path; /* the place is that of the value of `of` */
	} t[] = {
		{"sysctl", "sysctl/a.b", "sysctl.a.b"},
		{"sysctl", "sysctl/other", "sysctl"},
		{"gate.checks.links", "gate/links/0000:18:00.0", "gate.checks.links"},
		{"gate.checks.links", "gate/links/run", "gate.checks.links.run"},
		{"kernel_args.set[1]", "kernel_args/arrived/y", "kernel_args.set[1]"},
	};
	cleanup(profile_lines_free) struct profile_lines lines;
	struct tmp *tmp = *state;
	struct profile *p;

	tmp_write(tmp, "p.yaml",
		  BASE("p") "sysctl:\n  a.b: 1\nkernel_args:\n  set:\n    - x\n    - y\n"
			    "devices: {n: {pci: \"15b3:1021\"}}\n"
			    "gate:\n  checks:\n    links:\n      run: carrier\n      on: n\n");
	p = load(tmp, "p.yaml", NULL);
	profile_lines_of(p, &lines);
	assert_null(profile_lines_find(&lines, "extends"));
	assert_null(profile_lines_find(&lines, "sysctl.a"));
	for (size_t i = 0; i < array_len(t); i++) {
		const struct profile_line *of = profile_lines_find(&lines, t[i].of);

		assert_non_null(of);
		assert_string_equal(profile_lines_at(&lines, of->value->at, t[i].id)->path,
				    t[i].path);
	}
	assert_null(profile_lines_at(&lines, (struct place){0}, "sysctl/a.b"));
	assert_true(profile_path_is_below("sysctl.a.b", "sysctl.a.b"));
	assert_true(profile_path_is_below("kernel_args.set[1]", "kernel_args.set"));
	assert_false(profile_path_is_below("sysctl.a.b", "sysctl.a.bc"));
	assert_false(profile_path_is_below("sysctls.a", "sysctl"));
	profile_free(p);
}

/* Rules compare each with each, so a list that bases add up to has the bound of one document. */
static void lists_stay_bounded(void **state)
{
	struct tmp *t = *state;
	cleanup_str struct str base = {0}, more = {0};

	str_addf(&base, BASE("base") "modules: {blacklist: [m0");
	str_addf(&more, HEAD("more") "extends: base\nmatch: {dmi: {sys_vendor: X}}\n"
				     "modules: {blacklist+: [n0");
	for (int i = 1; i < 600; i++) {
		str_addf(&base, ",m%d", i);
		str_addf(&more, ",n%d", i);
	}
	str_add(&base, "]}\n");
	str_add(&more, "]}\n");
	tmp_write(t, "base.yaml", str_get(&base));
	tmp_write(t, "more.yaml", str_get(&more));
	fails(t, "more.yaml", NULL, "1200 items in this list; at most 1024 are allowed");
}

/* A mixin without a base of its own appends to what the bases before it gave. */
static void bases_form_a_line(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(t, "root.yaml", BASE("root") "kernel_args: {set: [r]}\n");
	tmp_write(t, "left.yaml", BASE("left") "extends: root\nkernel_args: {set+: [l]}\n");
	tmp_write(t, "right.yaml", BASE("right") "extends: root\nkernel_args: {set+: [m]}\n");
	tmp_write(t, "p.yaml", BASE("p") "extends: [left, right]\nkernel_args: {set+: [p]}\n");
	p = load(t, "p.yaml", NULL);
	assert_string_equal(flat(args(p)), "r l m p");
	assert_int_equal(p->ancestors.n, 3);
	assert_string_equal(p->ancestors.v[0], "right");
	assert_string_equal(p->ancestors.v[2], "root");
	profile_free(p);
}

/* 2^30 ways up: each base is read once. */
static void diamonds_cost_nothing(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(t, "a0.yaml", BASE("a0") "kernel_args: {set: [a]}\n");
	tmp_write(t, "b0.yaml", BASE("b0") "kernel_args: {set+: [b]}\n");
	for (int i = 1; i < 30; i++) {
		char name[32], text[128];

		for (char c = 'a'; c <= 'b'; c++) {
			snprintf(name, sizeof(name), "%c%d.yaml", c, i);
			snprintf(text, sizeof(text),
				 "schema: 1\nname: %c%d\nabstract: true\nextends: [a%d, b%d]\n", c,
				 i, i - 1, i - 1);
			tmp_write(t, name, text);
		}
	}
	p = load(t, "a29.yaml", NULL);
	assert_string_equal(flat(args(p)), "a b");
	profile_free(p);
}

static void too_many_files(void **state)
{
	struct tmp *t = *state;

	for (int i = 0; i < 100; i++) {
		char name[32], text[128];

		snprintf(name, sizeof(name), "p%d.yaml", i);
		snprintf(text, sizeof(text), "schema: 1\nname: p%d\nabstract: true\nextends: p%d\n",
			 i, i + 1);
		tmp_write(t, name, text);
	}
	fails(t, "p0.yaml", NULL, "more than 64 files for one profile");
}

static void what_is_a_files_own(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(t, "b.yaml",
		  HEAD("b") "version: 2\nabstract: true\npriority: 7\n"
			    "match: {dmi: {sys_vendor: A, product_name: B}}\n");
	tmp_write(t, "p.yaml", HEAD("p") "extends: b\nmatch: {dmi: {product_name: C}}\n");
	p = load(t, "p.yaml", NULL);
	assert_string_equal(p->name, "p");
	assert_string_equal(p->version, "");
	assert_false(p->abstract);
	assert_int_equal(p->priority, 0);
	/* match is inherited, and merges like every other map */
	assert_string_equal(flat(ynode_get(profile_section(p, "match"), "dmi")), "A C");
	profile_free(p);
}

static void bases_are_searched(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(t, USR "near.yaml", BASE("near") "expect: {cpus: 1}\n");
	tmp_write(t, USR "far.yaml", BASE("far") "expect: {numa_nodes: 1}\n");
	tmp_write(t, ETC "far.yaml", BASE("far") "expect: {numa_nodes: 2}\n");
	tmp_write(t, "home/near.yaml", BASE("near") "expect: {cpus: 2}\n");
	tmp_write(t, "home/p.yaml", BASE("p") "extends: [near, far]\n");
	p = load(t, "home/p.yaml", NULL);
	assert_string_equal(ynode_text(profile_section(p, "expect"), "cpus", ""), "2");
	assert_string_equal(ynode_text(profile_section(p, "expect"), "numa_nodes", ""), "2");
	profile_free(p);
}

static void faults_of_bases(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "a.yaml", BASE("a") "extends: b\n");
	tmp_write(t, "b.yaml", BASE("b") "extends: c\n");
	tmp_write(t, "c.yaml", BASE("c") "extends: a\n");
	fails(t, "a.yaml", NULL, "c.yaml:4:10: extends: the bases form a cycle: a -> b -> c -> a");
	tmp_write(t, "m.yaml", BASE("m") "extends: n\n");
	fails(t, "m.yaml", NULL, "m.yaml:4:10: extends: no profile 'n'");
	tmp_write(t, "wrong.yaml", BASE("other"));
	tmp_write(t, "w.yaml", BASE("w") "extends: wrong\n");
	fails(t, "w.yaml", NULL, "the name 'other' differs from the file's name 'wrong'");
}

static void required_may_come_from_a_base(void **state)
{
	struct tmp *t = *state;
	struct profile *p;

	tmp_write(
		t, "b.yaml",
		BASE("b") "gate: {checks: {m: {run: memory_bandwidth, per: node, min: 1GB/s}}}\n");
	tmp_write(t, "p.yaml", BASE("p") "extends: b\ngate: {checks: {m: {min: 2GB/s}}}\n");
	p = load(t, "p.yaml", NULL);
	assert_string_equal(
		ynode_text(ynode_get(ynode_get(profile_section(p, "gate"), "checks"), "m"), "min",
			   ""),
		"2GB/s");
	profile_free(p);
	tmp_write(t, "q.yaml", BASE("q") "gate: {checks: {m: {min: 2GB/s}}}\n");
	fails(t, "q.yaml", NULL, "gate.checks.m.run: missing");
}

static void dropins(void **state)
{
	struct tmp *t = *state;
	struct node node = {.dmi = {.sys_vendor = (char *)"QEMU"}};
	struct profile *p;

	tmp_write(t, "p.yaml", BASE("p") "kernel_args: {set: [a]}\n");
	tmp_write(t, ETC "p.d/20-b.yaml", "schema: 1\nkernel_args: {set+: [c]}\n");
	tmp_write(t, ETC "p.d/10-a.yaml", "schema: 1\nkernel_args: {set+: [b]}\n");
	tmp_write(t, ETC "p.d/30.yaml",
		  "schema: 1\nmatch: {dmi: {sys_vendor: Q*}}\nkernel_args: {set+: [qemu]}\n");
	tmp_write(t, ETC "p.d/40.yaml",
		  "schema: 1\nmatch: {dmi: {sys_vendor: X}}\nkernel_args: {set+: [x]}\n");
	tmp_write(t, ETC "p.d/.50.yaml", "garbage: [");
	tmp_write(t, ETC "p.d/README", "garbage: [");
	p = load(t, "p.yaml", &node);
	assert_string_equal(flat(args(p)), "a b c qemu");
	assert_null(profile_section(p, "match"));
	profile_free(p);
	p = load(t, "p.yaml", NULL); /* nobody knows for which node */
	assert_string_equal(flat(args(p)), "a b c");
	profile_free(p);
}

static void bad_dropins(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "p.yaml", BASE("p"));
	tmp_write(t, ETC "p.d/x.yaml", "name: x\nextends: y\nsysctls: {a.b: 1}\n");
	fails(t, "p.yaml", NULL, "x.yaml:1:1: name: a drop-in cannot set this key");
	assert_says(&t->diags, "x.yaml:2:1: extends: a drop-in cannot set this key");
	assert_says(&t->diags, "x.yaml:1:1: schema: missing");
	assert_says(&t->diags, "did you mean 'sysctl'?");
}

static void digest_is_of_values(void **state)
{
	struct tmp *t = *state;
	struct profile *a, *b;

	tmp_write(t, "one/p.yaml",
		  BASE("p") "expect: {cpus: 4, numa_nodes: 2}\n"
			    "kernel_args: {set: [x, y]}\nsysctl: {a.b: 1, a.c: 2}\n");
	tmp_write(t, "two/b.yaml", BASE("b") "expect: {numa_nodes: \"2\"}\nsysctl: {a.b: 1}\n");
	tmp_write(t, "two/p.yaml",
		  "# c\nname: p\nschema: 1\nabstract: true\nextends: b\n"
		  "sysctl:\n  a.c: '2'\nkernel_args:\n  set:\n    - x\n    - y\n"
		  "expect:\n  cpus: 4\n");
	tmp_write(t, "three/p.yaml",
		  BASE("p") "expect: {cpus: 4, numa_nodes: 2}\n"
			    "kernel_args: {set: [x, y]}\nsysctl: {a.c: 2, a.b: 1}\n");
	a = load(t, "one/p.yaml", NULL);
	b = load(t, "two/p.yaml", NULL);
	assert_int_equal(strlen(a->digest), 64);
	assert_string_equal(a->digest, b->digest);
	profile_free(b);
	b = load(t, "three/p.yaml", NULL); /* sysctl applies in order */
	assert_string_not_equal(a->digest, b->digest);
	profile_free(b);
	profile_free(a);
}

static void selectors(void **state)
{
	struct tmp *t = *state;
	struct profile *p;
	struct selector *s;

	tmp_write(t, "p.yaml",
		  BASE("p") "devices:\n"
			    "  z: {pci: 15B3:1021, ports: 1, expect: 8, link: ethernet, numa: 1}\n"
			    "  a: {in: z, address: \"0000:5e:*\", driver: mlx5_core}\n"
			    "  m: {subsystem: \"15b3:0041\", protect: true, link: infiniband}\n");
	p = load(t, "p.yaml", NULL);
	assert_int_equal(p->devices.n, 3);
	s = p->devices.v;
	assert_string_equal(s[0].name, "z");
	assert_int_equal(s[0].vendor, 0x15b3);
	assert_int_equal(s[0].device, 0x1021);
	assert_int_equal(s[0].subsystem_vendor, -1);
	assert_int_equal(s[0].ports, 1);
	assert_int_equal(s[0].expect, 8);
	assert_int_equal(s[0].numa, 1);
	assert_true(s[0].ethernet && !s[0].infiniband && !s[0].protect);
	assert_null(s[0].in);
	assert_string_equal(s[1].in, "z");
	assert_string_equal(s[1].address, "0000:5e:*");
	assert_string_equal(s[1].driver, "mlx5_core");
	assert_int_equal(s[1].vendor, -1);
	assert_int_equal(s[1].numa, -1);
	assert_int_equal(s[1].expect, -1);
	assert_int_equal(s[2].subsystem_device, 0x41);
	assert_true(s[2].protect && s[2].infiniband);
	profile_free(p);
}

static void the_machine_has_a_word(void **state)
{
	struct tmp *t = *state;
	struct node node = {.memory.bytes = 8ULL << 30};

	for (unsigned int i = 0; i < 8; i++)
		cpus_add(&node.cpus, i);
	cpus_add(&node.nodes, 0);
	cpus_add(&node.nodes_with_cpu, 0);
	tmp_write(t, "p.yaml",
		  BASE("p") "kernel_args: {isolate_cpus: 4-9}\n"
			    "hugepages: [{size: 1G, nodes: {0: 4, 2: 8}}]\n");
	fails(t, "p.yaml", &node,
	      "kernel_args.isolate_cpus: this machine has no CPU 8-9; its last CPU is 7");
	assert_says(&t->diags, "hugepages[0].nodes: this machine has no NUMA node 2");
	assert_says(
		&t->diags,
		"warning: hugepages: the pages need 12288M, but this machine has 8192M of memory");
}

static void load_untrusted(struct tmp *t, const char *file, const char *why)
{
	cleanup_free char *text = xasprintf("%s: not trusted: %s", file, why);
	struct profile *p = NULL;

	assert_int_equal(profile_load_named(&t->root, "p", NULL, &p, &t->diags, &t->err), -EINVAL);
	assert_null(p);
	assert_says(&t->diags, text);
	diags_free(&t->diags);
}

/* As in a boot: the profile, a base, a drop-in; each by its own mode and by a directory's. */
static void untrusted_files(void **state)
{
	static const char *const files[] = {"/etc/railhead/profiles/p.yaml",
					    "/etc/railhead/profiles/p.d/1.yaml",
					    "/usr/lib/railhead/profiles/base.yaml"};
	struct tmp *t = *state;
	struct profile *p = NULL;

	t->root.as_booted = true;
	tmp_write(t, files[0], BASE("p") "extends: base\n");
	tmp_write(t, files[1], "schema: 1\n");
	tmp_write(t, files[2], "schema: 1\nname: base\nabstract: true\n");
	for (size_t i = 0; i < array_len(files); i++) {
		cleanup_free char *mode = xasprintf("%s is writable by users other than root: run "
						    "chmod go-w %s",
						    files[i], files[i]);
		cleanup_free char *owner = xasprintf("%s belongs to user 1000, not to root: run "
						     "chown root %s",
						     files[i], files[i]);

		assert_int_equal(chmod(tmp_path(t, files[i]), 0664), 0);
		load_untrusted(t, files[i], mode);
		assert_int_equal(chmod(tmp_path(t, files[i]), 0644), 0);
		if (geteuid() != 0)
			continue;
		assert_int_equal(chown(tmp_path(t, files[i]), 1000, 0), 0);
		load_untrusted(t, files[i], owner);
		assert_int_equal(chown(tmp_path(t, files[i]), 0, 0), 0);
	}
	assert_int_equal(profile_load_named(&t->root, "p", NULL, &p, &t->diags, &t->err), 0);
	profile_free(p);
}

static void no_file(void **state)
{
	struct tmp *t = *state;
	struct profile *p = NULL;

	assert_int_equal(
		profile_load_named(&t->root, tmp_path(t, "p.yaml"), NULL, &p, &t->diags, &t->err),
		-ENOENT);
	assert_int_equal(t->diags.list.n, 0);
	assert_non_null(strstr(t->err.text, "No such file"));
	mkdir(tmp_path(t, "d.yaml"), 0755);
	fails(t, "d.yaml", NULL, "this is no regular file");
	diags_free(&t->diags);
	mkfifo(tmp_path(t, "f.yaml"), 0644);
	fails(t, "f.yaml", NULL, "this is no regular file");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(maps_merge_lists_replace),
		TEST(null_deletes),
		TEST(null_of_nothing_warns),
		TEST(append_replaces_the_same),
		TEST(shadows_keep_what_was_replaced),
		TEST(lines_are_found_by_path_and_place),
		TEST(lists_stay_bounded),
		TEST(bases_form_a_line),
		TEST(diamonds_cost_nothing),
		TEST(too_many_files),
		TEST(what_is_a_files_own),
		TEST(bases_are_searched),
		TEST(faults_of_bases),
		TEST(required_may_come_from_a_base),
		TEST(dropins),
		TEST(bad_dropins),
		TEST(digest_is_of_values),
		TEST(selectors),
		TEST(the_machine_has_a_word),
		TEST(untrusted_files),
		TEST(no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
