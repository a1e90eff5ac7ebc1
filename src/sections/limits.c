/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits: resource limits of all services, of named services, and of logins.
 *
 * PID 1 sets the limits when it starts a service: the defaults of system.conf, and a drop-in for
 * each unit whose own file sets other limits, as those of container runtimes do. Both are written
 * below /run in the initramfs, before the real root's PID 1 reads its configuration, so they apply
 * to every service without a reload. pam_limits sets the limits of logins and reads only /etc; that
 * file persists, and is removed when no profile is applied (run_withdraw()).
 *
 * The files of all directories are read sorted by name, and the last one wins. The names begin with
 * zz so that the profile wins.
 */
#include <fnmatch.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/limit.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "sys/read.h"

#define DEFAULTS "/run/systemd/system.conf.d/zz-railhead-limits.conf"
#define UNITS "/run/systemd/system/"
#define IN_UNIT ".d/zz-railhead-limits.conf"
#define DROP_IN(unit) UNITS unit IN_UNIT
#define LOGINS "/etc/security/limits.d/zz-railhead.conf"

/* Default of fs.nr_open: setrlimit(2) rejects more open files, which also breaks logins. */
enum { NR_OPEN = 1048576 };

#define LIMIT(key, of, help, of_systemd, of_proc, ...) \
	KEY(key, of, help,                             \
	    .item = &(const struct limit){             \
		    .name = (key), .directive = (of_systemd), .shown = (of_proc), __VA_ARGS__})

static const struct spec process_count =
	INT("a number of processes, or unlimited", 1024, 4194304 /* PID_MAX_LIMIT */,
	    .unit = "processes", .meanings = WORDS(MEANS("unlimited", "no limit")));
static const struct spec priority = INT("a real-time priority", 0, 99);

/* A row for each key, with its names in systemd and /proc/PID/limits. */
static const struct spec keys =
	MAP("a map such as {memlock: unlimited, units: [containerd.service]}",
	    KEY("memlock", &spec_memlock, "Memory that a process may lock, and so pin for RDMA.",
		.item = &limit_memlock),
	    LIMIT("nofile", A_NUMBER_OF("files", 1024, 1073741816),
		  "Files that a process may have open; services not in units keep a soft limit of "
		  "1024.",
		  "LimitNOFILE", "Max open files", .soft = "1024"),
	    LIMIT("nproc", &process_count, "Processes that a user may have.", "LimitNPROC",
		  "Max processes"),
	    LIMIT("rtprio", &priority, "Highest real-time priority that a process may request.",
		  "LimitRTPRIO", "Max realtime priority"),
	    KEY("units", &spec_units,
		"Services that get the limits even if their own files set others; default: the "
		"installed container runtimes, kubelet and slurmd.",
		.class = KEY_SELECTS),
	    KEY("logins", &spec_bool, "Whether logins get the limits, from /etc; default true.",
		.class = KEY_GOVERNS));

/* Services that start processes of users; most of their unit files set limits. */
static const char *const runtimes[] = {
	"containerd.service",  "crio.service",	     "docker.service",
	"kubelet.service",     "k3s.service",	     "k3s-agent.service",
	"rke2-server.service", "rke2-agent.service", "slurmd.service",
};

static const struct field *next_limit(const struct field *f)
{
	for (f = f ? f + 1 : keys.fields; f->name; f++)
		if (f->item)
			return f;
	return NULL;
}

/* --- texts -------------------------------------------------------------------------------- */

static void add_number(struct str *text, const struct ynode *value, const char *unlimited,
		       unsigned int shift)
{
	if (value->value.type == VALUE_NUMBER)
		str_addf(text, "%lld", (long long)(value->value.number >> shift));
	else
		str_add(text, unlimited);
}

/* "LimitNOFILE=65536" lines. */
static void add_directives(struct str *text, const struct ynode *node, bool defaults)
{
	for (const struct field *f = next_limit(NULL); f; f = next_limit(f)) {
		const struct limit *limit = f->item;
		const struct ynode *value = ynode_get(node, f->name);

		if (!value)
			continue;
		str_addf(text, "%s%s=", defaults ? "Default" : "", limit->directive);
		if (defaults && limit->soft)
			str_addf(text, "%s:", limit->soft);
		add_number(text, value, "infinity", 0);
		str_add(text, "\n");
	}
}

/* "*" is every user except root, see limits.conf(5). "-": soft and hard. */
static void add_logins(struct str *text, const struct ynode *node)
{
	for (const struct field *f = next_limit(NULL); f; f = next_limit(f)) {
		const struct limit *limit = f->item;
		const struct ynode *value = ynode_get(node, f->name);

		for (size_t i = 0; value && i < 2; i++) {
			str_addf(text, "%s - %s ", i ? "root" : "*", limit->name);
			add_number(text, value, "unlimited", limit->bytes ? 10 : 0);
			str_add(text, "\n");
		}
	}
}

/* --- changes ------------------------------------------------------------------------------ */

/* name NULL: the defaults of services. */
static void add_looks(struct plan *plan, const struct ynode *node, const char *name)
{
	for (const struct field *f = next_limit(NULL); f; f = next_limit(f)) {
		const struct ynode *value = ynode_get(node, f->name);
		struct change *c;

		if (!value)
			continue;
		c = plan_add(plan, "limits", &kind_limit, STAGE_GATE, PHASE_CHECK, value->at,
			     "limits/%s/%s", name ? name : "services", f->name);
		change_on(c, name, f->item);
		c->on.key = f->name;
		change_want(c, value);
		change_target(c, "limit:%s/%s", name ? name : "services", f->name);
	}
}

static char *header(const struct section_ctx *ctx, const char *section)
{
	return xasprintf(FILE_HEADER "%s", ctx->profile->name, section);
}

static void add_drop_in(struct plan *plan, const struct ynode *node, const char *unit,
			const char *path, const char *text)
{
	plan_add_file(plan, "limits", STAGE_INITRD, node->at, path, text, "limits/%s/drop-in",
		      unit);
}

static void emit_unit(const struct section_ctx *ctx, const struct ynode *node, const char *unit,
		      struct plan *plan)
{
	cleanup_free char *path = xasprintf(DROP_IN("%s"), unit);
	cleanup_free char *head = header(ctx, "[Service]\n");
	cleanup_str struct str text = {0};

	str_add(&text, head);
	add_directives(&text, node, false);
	add_drop_in(plan, node, unit, path, text.s);
	add_looks(plan, node, unit);
}

static void units_of(const struct section_ctx *ctx, const struct ynode *node, struct strv *ret)
{
	const struct ynode *units = ynode_get(node, "units");

	for (size_t i = 0; units && i < units->items.n; i++)
		strv_add(ret, units->items.v[i]->text);
	for (size_t i = 0; !units && i < array_len(runtimes); i++)
		if (limit_unit_exists(ctx->root, runtimes[i]))
			strv_add(ret, runtimes[i]);
}

/* Removes drop-ins of an earlier profile of this boot for units that are no longer named. */
static void remove_others(const struct section_ctx *ctx, const struct ynode *node,
			  const struct strv *units, struct plan *plan)
{
	cleanup_strv struct strv there = {0};

	read_glob(ctx->root, DROP_IN("*"), &there, NULL);
	for (size_t i = 0; i < there.n; i++) {
		const char *unit = there.v[i] + strlen(UNITS);
		cleanup_free char *name = xstrndup(unit, strlen(unit) - strlen(IN_UNIT));

		if (!strv_contains(units, name))
			add_drop_in(plan, node, name, there.v[i], "");
	}
}

/* Runs after the sysctls, because a login must not get more open files than fs.nr_open allows. */
static void emit_logins(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan)
{
	cleanup_str struct str text = {0};

	if (node->keys.n && ynode_bool(node, "logins", true)) {
		str_addf(&text, "# Written by railhead for profile %s, at boot.\n",
			 ctx->profile->name);
		add_logins(&text, node);
	} else if (!root_exists(ctx->root, LOGINS)) {
		return;
	}
	plan_add_file(plan, "limits", STAGE_EARLY, node->at, LOGINS, str_get(&text),
		      "limits/logins")
		->phase = PHASE_SYSFS;
}

static void emit(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan)
{
	cleanup_free char *head = header(ctx, "[Manager]\n");
	cleanup_str struct str text = {0};
	cleanup_strv struct strv units = {0};

	if (node->keys.n) {
		units_of(ctx, node, &units);
		str_add(&text, head);
		add_directives(&text, node, true);
	}
	remove_others(ctx, node, &units, plan);
	if (node->keys.n || root_exists(ctx->root, DEFAULTS))
		plan_add_file(plan, "limits", STAGE_INITRD, node->at, DEFAULTS, str_get(&text),
			      "limits/services");
	for (size_t i = 0; i < units.n; i++)
		emit_unit(ctx, node, units.v[i], plan);
	emit_logins(ctx, node, plan);
	if (node->keys.n)
		add_looks(plan, node, NULL);
}

/* --- rules -------------------------------------------------------------------------------- */

static void limits_limit_something(struct ruling *r)
{
	const struct ynode *node = section(r, "limits"), *units = ynode_get(node, "units");

	for (const struct field *f = next_limit(NULL); f; f = next_limit(f))
		if (ynode_get(node, f->name))
			return;
	if (count(node, YAML_MAP) && !r->diags->errors)
		rule_error(r, units ? units : node, units ? "limits.units" : "limits",
			   "no limit is given; write memlock: unlimited, or leave the section out");
}

static void units_are_of_others(struct ruling *r)
{
	const struct ynode *units = ynode_get(section(r, "limits"), "units");

	for (size_t i = 0; i < count(units, YAML_LIST); i++)
		if (str_starts(scalar(units->items.v[i]), "railhead"))
			rule_error(r, units->items.v[i], "limits.units",
				   "%.80s: railhead's own units have the limits they need; leave "
				   "it out",
				   scalar(units->items.v[i]));
}

/* The last line for fs.nr_open in any notation; NULL: none. */
static const struct ynode *nr_open_of(struct ruling *r)
{
	const struct ynode *sysctl = section(r, "sysctl"), *found = NULL;

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		const char *key = sysctl->keys.v[i]->text;

		if (fnmatch(key, "fs.nr_open", 0) == 0 || fnmatch(key, "fs/nr_open", 0) == 0)
			found = sysctl->items.v[i];
	}
	return found;
}

/*
 * More files than fs.nr_open make pam_limits fail (setrlimit(2), EPERM), so that nobody can log in.
 */
static void files_can_be_opened(struct ruling *r)
{
	const struct ynode *nofile = ynode_get(section(r, "limits"), "nofile");
	const struct ynode *line = nr_open_of(r), *most = line;
	uint64_t n = 0, there = 0;

	if (!ynode_number(nofile, &n) || !ynode_bool(section(r, "limits"), "logins", true))
		return;
	if (line && line->kind == YAML_MAP) {
		most = ynode_get(line, "value");
		if (n > NR_OPEN && ynode_bool(line, "optional", false))
			rule_error(r, nofile, "limits.nofile",
				   "needs sysctl fs.nr_open (at %s), which may fail there: logins "
				   "would fail, too; leave optional out",
				   seen(r, line));
	}
	if (!most && n > NR_OPEN)
		rule_error(r, nofile, "limits.nofile",
			   "more than the kernel's fs.nr_open, %d: logins would fail; write "
			   "sysctl: {fs.nr_open: %llu}, too",
			   NR_OPEN, (unsigned long long)n);
	else if (most && ((!ynode_number(most, &there) && parse_u64(scalar(most), &there) < 0) ||
			  there < n))
		rule_error(r, nofile, "limits.nofile",
			   "more than sysctl fs.nr_open (at %s): logins would fail", seen(r, most));
}

static const struct rule rules[] = {
	RULE_OF_WHOLE("limits-limit-something", limits_limit_something),
	RULE("units-are-of-others", units_are_of_others),
	RULE_OF_WHOLE("files-can-be-opened", files_can_be_opened),
	NO_MORE_RULES,
};

const struct section section_limits = {
	.name = "limits",
	.spec = &keys,
	.help = "Resource limits of services and logins.",
	.class = KEY_SETS,
	.differs = FAULT_HOST_LIMIT_DIFFERS,
	.failed = FAULT_HOST_LIMIT_FAILED,
	.rules = rules,
	.lasting = LOGINS,
	.always = true,
	.emit = emit,
};
