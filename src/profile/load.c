/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads profiles: reads a document, its bases and its drop-ins, checks each as written, merges them
 * and checks the result.
 *
 * The bases form a line: each follows its own bases, left to right, and appears once. So a mixin
 * that appends (`set+:`) appends to the lists of the bases before it, and a shared base is read
 * once.
 */
#include "profile/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/merge.h"
#include "profile/schema.h"
#include "profile/search.h"
#include "profile/yaml.h"
#include "sys/read.h"
#include "sys/trust.h"

enum { FILES_MAX = 64 };

struct base {
	char *name;
	struct ynode *doc;
};

struct loader {
	const struct root *root;
	unsigned int flags;
	const struct node *node;
	const char *input_path;	     /* the path that stands for input; or NULL */
	int input;		     /* its fd */
	const struct strv *bases_in; /* the caller's directories of bases; or NULL */
	const char *merge;	     /* a drop-in to merge regardless of its match:; or NULL */
	bool (*enough)(const struct ynode *own, void *arg); /* of load_candidate(); or NULL */
	void *arg;					    /* of enough() */
	struct profile *p;
	struct diags *diags;
	struct strv chain; /* names from the profile to the base that is being read */
	VEC(struct base) bases;
	bool broken; /* a file is missing or unusable, so the merged profile is unknown */
};

/* A file, given by a path below the root or by the caller's path. */
struct source {
	char *path;
	bool below;
};

#define STANDARD_INPUT "<stdin>"

static bool is_input(const struct loader *l, const char *path)
{
	return l->input_path && streq(path, l->input_path);
}

/* --- one file ----------------------------------------------------------------------------- */

static void reject_file(struct diags *diags, const char *file, const char *text)
{
	diags->code = "file";
	diag_error(diags, (struct place){.file = file}, "", "%s", text);
	diags->code = NULL;
}

static void reject_untrusted(struct diags *diags, const char *file, const struct err *why)
{
	cleanup_free char *text = xasprintf("not trusted: %s", why->text);

	reject_file(diags, file, text);
}

/* A profile decides what root writes, so root alone may decide what is in it. */
int open_trusted(const struct root *root, const char *file, struct diags *diags)
{
	/* O_NONBLOCK: a FIFO must not block the boot */
	struct err err;
	int fd = trust_open(root, trust_of_reads(root), file, O_RDONLY | O_NONBLOCK, &err);

	if (fd == -EPERM)
		reject_untrusted(diags, file, &err);
	return fd;
}

static bool file_is_regular(int fd, const char *file, struct diags *diags)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		reject_file(diags, file, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		reject_file(diags, file, "this is no regular file; give the path of a YAML file");
	else
		return true;
	return false;
}

/* -EPERM: the file is not trusted or not regular, which is reported, and the profile broken. */
static int source_open(struct loader *l, const struct source *s)
{
	int fd;

	if (s->below) {
		fd = open_trusted(l->root, s->path, l->diags);
		l->broken = l->broken || fd == -EPERM;
		return fd;
	}
	if (is_input(l, s->path))
		fd = fcntl(l->input, F_DUPFD_CLOEXEC, 0);
	else
		fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (is_input(l, s->path) || file_is_regular(fd, s->path, l->diags))
		return fd;
	close(fd);
	l->broken = true;
	return -EPERM;
}

static void file_error(struct loader *l, const char *file, const char *text)
{
	reject_file(l->diags, file, text);
	l->broken = true;
}

/* Reports an error of extends: at the place of want. */
static void base_error(struct loader *l, const struct ynode *want, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void base_error(struct loader *l, const struct ynode *want, const char *fmt, ...)
{
	cleanup_str struct str text = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	l->diags->code = "base";
	diag_error(l->diags, want->at, "extends", "%s", str_get(&text));
	l->diags->code = NULL;
	l->broken = true;
}

static struct ynode *document(struct loader *l, const char *path, int fd, enum schema_doc kind)
{
	cleanup_free char *text = NULL;
	struct ynode *doc = NULL;
	const char *file;
	size_t len = 0;
	int r;

	strv_add(&l->p->files, path);
	file = l->p->files.v[l->p->files.n - 1];
	r = read_fd(fd, YAML_BYTES_MAX, &text, &len);
	if (r == -EFBIG)
		file_error(l, file, "larger than 1 MiB; a profile is a few thousand bytes");
	else if (r < 0)
		file_error(l, file, err_text(r));
	else
		doc = yaml_parse(file, text, len, l->diags);
	if (doc && schema_check(doc, kind, l->diags))
		return doc;
	ynode_free(doc);
	l->broken = true;
	return NULL;
}

/* Messages, pins and drop-ins use the name in the file, the search uses the file's name. */
static void check_stem(struct loader *l, const struct ynode *doc, const char *path)
{
	const struct ynode *name = ynode_get(doc, "name");
	cleanup_free char *stem = profile_stem(path);

	l->diags->code = "name";
	if (name && name->kind == YAML_SCALAR && profile_name_is_valid(name->text) &&
	    !streq(name->text, stem))
		diag_error(
			l->diags, name->at, "name",
			"the name '%.60s' differs from the file's name '%.60s'; make the two equal",
			name->text, stem);
	l->diags->code = NULL;
}

/* --- bases -------------------------------------------------------------------------------- */

static char *chain_text(const struct loader *l, const char *last)
{
	struct str out = {0};

	for (size_t i = 0; i < l->chain.n; i++)
		str_addf(&out, "%s -> ", l->chain.v[i]);
	str_add(&out, last);
	return str_take(&out);
}

static int base_open_in(struct loader *l, const char *dir, bool below, const char *name,
			struct source *ret)
{
	free(ret->path);
	ret->below = below;
	ret->path = xasprintf("%s/%s.yaml", dir, name);
	return source_open(l, ret);
}

/*
 * Opens the base's file and returns the fd: from the directory of the profile that extends it, else
 * from bases_in, else from the search path.
 */
static int base_open(struct loader *l, const char *name, const struct source *from,
		     struct source *ret)
{
	const char *slash = strrchr(from->path, '/');
	int dir_len = slash ? (int)(slash - from->path) + 1 : 0;
	int fd;

	ret->below = from->below;
	ret->path = xasprintf("%.*s%s.yaml", dir_len, from->path, name);
	fd = source_open(l, ret);
	for (size_t i = 0; fd == -ENOENT && l->bases_in && i < l->bases_in->n; i++)
		fd = base_open_in(l, l->bases_in->v[i], false, name, ret);
	for (size_t i = 0; fd == -ENOENT && profile_dirs[i]; i++)
		fd = base_open_in(l, profile_dirs[i], true, name, ret);
	return fd;
}

static bool base_is_known(const struct loader *l, const char *name)
{
	for (size_t i = 0; i < l->bases.n; i++)
		if (streq(l->bases.v[i].name, name))
			return true;
	return false;
}

static bool base_may_follow(struct loader *l, const struct ynode *want)
{
	cleanup_free char *chain = chain_text(l, want->text);

	if (strv_contains(&l->chain, want->text))
		base_error(l, want, "the bases form a cycle: %s", chain);
	else if (l->p->files.n >= FILES_MAX)
		base_error(l, want, "more than %d files for one profile", FILES_MAX);
	else
		return true;
	return false;
}

static void add_bases(struct loader *l, const struct ynode *doc, const struct source *from);

static void read_base(struct loader *l, const char *name, const struct source *s, int fd)
{
	struct ynode *doc = document(l, s->path, fd, SCHEMA_PROFILE);
	struct base base = {.doc = doc};

	if (!doc)
		return;
	check_stem(l, doc, s->path);
	strv_add(&l->chain, name);
	add_bases(l, doc, s);
	free(l->chain.v[--l->chain.n]);
	base.name = xstrdup(name);
	vec_push(&l->bases, base);
}

static void add_base(struct loader *l, const struct ynode *want, const struct source *from)
{
	struct source s = {0};
	cleanup_close int fd = -1;

	if (want->kind != YAML_SCALAR || !profile_name_is_valid(want->text)) {
		l->broken = true; /* the schema has reported the error */
		return;
	}
	if (base_is_known(l, want->text) || !base_may_follow(l, want))
		return;
	fd = base_open(l, want->text, from, &s);
	if (fd >= 0) {
		read_base(l, want->text, &s, fd);
	} else if (fd != -EPERM) {
		cleanup_free char *chain = chain_text(l, want->text);

		base_error(l, want,
			   "no profile '%.64s' next to this file%s or in the search path (%s): %s",
			   want->text, l->bases_in ? ", below --bases" : "", chain, err_text(fd));
	}
	free(s.path);
}

static void add_bases(struct loader *l, const struct ynode *doc, const struct source *from)
{
	const struct ynode *extends = ynode_get(doc, "extends");

	if (!extends || ynode_is_null(extends))
		return;
	if (extends->kind != YAML_LIST)
		add_base(l, extends, from);
	for (size_t i = 0; extends->kind == YAML_LIST && i < extends->items.n; i++)
		add_base(l, extends->items.v[i], from);
}

/* --- drop-ins ----------------------------------------------------------------------------- */

/*
 * A drop-in with a match needs a node. Without one it is checked and not merged, because it is
 * unknown whether it applies.
 */
static bool dropin_applies(const struct loader *l, const struct ynode *doc)
{
	const struct ynode *match = ynode_get(doc, "match");

	if (!match || ynode_is_null(match))
		return true;
	return l->node && conditions_hold(l->node, match, NULL);
}

static void add_dropin(struct loader *l, const char *path)
{
	struct source s = {.path = (char *)path, .below = true};
	cleanup_close int fd = source_open(l, &s);
	cleanup_ynode struct ynode *doc = NULL;

	if (l->p->files.n >= FILES_MAX) {
		file_error(l, path, "too many files for one profile");
		return;
	}
	if (fd < 0) {
		if (fd != -EPERM)
			file_error(l, path, err_text(fd));
		return;
	}
	doc = document(l, path, fd, SCHEMA_DROPIN);
	if (doc && ((l->merge && streq(l->merge, path)) || dropin_applies(l, doc)))
		merge_layer(l->p->doc, doc, LAYER_DROPIN, &l->p->shadows, l->diags);
	else if (doc)
		strv_add(&l->p->unmerged, path);
}

static void add_dropins(struct loader *l)
{
	cleanup_free char *dir = xasprintf("%s/%s.d", profile_dirs[0], l->p->name);
	cleanup_strv struct strv names = {0};
	struct err err;
	int r = trust_listing(l->root, trust_of_reads(l->root), dir, &err);

	if (r < 0) {
		reject_untrusted(l->diags, dir, &err);
		l->broken = true;
		return;
	}
	r = read_dir(l->root, &names, NULL, "%s", dir);
	if (r < 0 && r != -ENOENT)
		file_error(l, dir, err_text(r));
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names.v[i]);

		if (profile_is_file_name(names.v[i]))
			add_dropin(l, path);
	}
}

/* --- the whole ---------------------------------------------------------------------------- */

static void resolve(struct loader *l, const struct ynode *own)
{
	struct ynode *doc = ynode_new(YAML_MAP, own->at);

	for (size_t i = 0; i < l->bases.n; i++)
		merge_layer(doc, l->bases.v[i].doc, LAYER_BASE, &l->p->shadows, l->diags);
	for (size_t i = l->bases.n; i > 0; i--)
		strv_add(&l->p->ancestors, l->bases.v[i - 1].name);
	merge_layer(doc, own, LAYER_OWN, &l->p->shadows, l->diags);
	doc->at = own->at;
	l->p->doc = doc;
	if (!(l->flags & LOAD_NO_DROPINS))
		add_dropins(l);
}

static void set_facts(struct profile *p)
{
	const struct ynode *priority = ynode_get(p->doc, "priority");

	p->version = xstrdup(ynode_text(p->doc, "version", ""));
	p->abstract = ynode_bool(p->doc, "abstract", false);
	p->priority = priority ? (int)priority->value.number : 0;
	selectors_fill(p);
	profile_digest(p->doc, p->digest);
}

/* Standard input gets its name from name: alone, because it has no file name. */
static void set_name(struct profile *p, const struct ynode *doc)
{
	const char *name = ynode_text(doc, "name", "");

	if (!profile_name_is_valid(name))
		return; /* the schema has reported the error */
	free(p->name);
	p->name = xstrdup(name);
}

static void loader_free(struct loader *l)
{
	for (size_t i = 0; i < l->bases.n; i++) {
		free(l->bases.v[i].name);
		ynode_free(l->bases.v[i].doc);
	}
	vec_free(&l->bases);
	strv_free(&l->chain);
}

static void load(struct loader *l, const struct source *s, int fd)
{
	cleanup_ynode struct ynode *own = document(l, s->path, fd, SCHEMA_PROFILE);

	if (!own)
		return;
	if (is_input(l, s->path))
		set_name(l->p, own);
	else
		check_stem(l, own, s->path);
	if (l->enough && l->enough(own, l->arg)) {
		l->p->abstract = ynode_bool(own, "abstract", false);
		l->p->doc = take_ptr(own);
		return;
	}
	strv_add(&l->chain, l->p->name);
	add_bases(l, own, s);
	resolve(l, own);
	if (l->broken) {
		/*
		 * Drop the doc: checks of a partial profile would report keys that the missing part
		 * has.
		 */
		ynode_free(l->p->doc);
		l->p->doc = NULL;
		return;
	}
	schema_complete(l->p->doc, l->diags);
	set_facts(l->p);
	rules_check(l->p, l->node, l->diags);
}

static int load_from(const struct loader *with, const char *path, struct profile **ret,
		     struct err *err)
{
	struct loader l = *with;
	struct source s = {.path = (char *)path, .below = l.flags & LOAD_BELOW_ROOT};
	cleanup_close int fd = source_open(&l, &s);

	if (fd < 0 && !l.broken)
		return err_path(err, fd, path);
	l.p = xnew(struct profile);
	l.p->name = profile_stem(path);
	l.p->file = xstrdup(path);
	if (fd >= 0)
		load(&l, &s, fd);
	loader_free(&l);
	*ret = l.p;
	return 0;
}

int load_profile(const struct root *root, const char *path, unsigned int flags,
		 const struct node *node, struct profile **ret, struct diags *diags,
		 struct err *err)
{
	struct loader l = {.root = root, .flags = flags, .node = node, .diags = diags};

	return load_from(&l, path, ret, err);
}

int load_candidate(const struct root *root, const char *path, unsigned int flags,
		   bool (*enough)(const struct ynode *own, void *arg), void *arg,
		   struct profile **ret, struct diags *diags, struct err *err)
{
	struct loader l = {.root = root,
			   .flags = flags | LOAD_NO_DROPINS,
			   .enough = enough,
			   .arg = arg,
			   .diags = diags};

	return load_from(&l, path, ret, err);
}

void profile_check_unmerged(const struct root *root, const struct profile *p, bool below,
			    const struct strv *bases_in, struct diags *diags)
{
	for (size_t i = 0; i < p->unmerged.n; i++) {
		struct diags found = {0};
		struct loader l = {.root = root,
				   .flags = below ? LOAD_BELOW_ROOT : 0,
				   .bases_in = bases_in,
				   .merge = p->unmerged.v[i],
				   .diags = &found};
		cleanup_profile struct profile *merged = NULL;

		load_from(&l, p->file, &merged, NULL);
		/* Copy errors alone: p is valid, so they are new; the warnings are known. */
		for (size_t j = 0; j < found.list.n; j++)
			if (!found.list.v[j].warning)
				diag_copy(diags, &found.list.v[j]);
		diags_free(&found);
	}
}

static int load_good_with(const struct loader *l, const char *path, struct profile **ret,
			  struct err *err)
{
	cleanup_profile struct profile *p = NULL;
	struct diags *diags = l->diags;
	size_t before = diags->errors;
	int r = load_from(l, path, &p, err);

	if (r < 0)
		return r;
	if (diags->errors > before)
		return err_set(err, -EINVAL, "%s: %zu error%s", path, diags->errors - before,
			       diags->errors - before == 1 ? "" : "s");
	*ret = take_ptr(p);
	return 0;
}

static int load_good(const struct root *root, const char *path, unsigned int flags,
		     const struct node *node, struct profile **ret, struct diags *diags,
		     struct err *err)
{
	struct loader l = {.root = root, .flags = flags, .node = node, .diags = diags};

	return load_good_with(&l, path, ret, err);
}

int profile_load_checked(const struct root *root, const char *path, const struct strv *bases_in,
			 const struct node *node, struct profile **ret, struct diags *diags,
			 struct err *err)
{
	bool standard = streq(path, "-");
	struct loader l = {.root = root,
			   .input_path = standard ? STANDARD_INPUT : NULL,
			   .input = STDIN_FILENO,
			   .node = node,
			   .bases_in = bases_in,
			   .diags = diags};

	return load_good_with(&l, standard ? STANDARD_INPUT : path, ret, err);
}

int profile_check_text(const struct root *root, const char *path, const char *text,
		       struct profile **ret, struct diags *diags)
{
	cleanup_close int fd = memfd_create("profile", MFD_CLOEXEC);
	struct loader l = {.root = root,
			   .flags = LOAD_NO_DROPINS,
			   .input_path = path,
			   .input = fd,
			   .diags = diags};
	size_t len = strlen(text);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, len, 0) != (ssize_t)len)
		return -EIO;
	return load_good_with(&l, path, ret, NULL);
}

int profile_load_named(const struct root *root, const char *arg, const struct node *node,
		       struct profile **ret, struct diags *diags, struct err *err)
{
	cleanup_free char *path = NULL;
	int r;

	if (!profile_is_name(arg))
		return load_good(root, arg, 0, node, ret, diags, err);
	r = profile_find(root, arg, &path, err);
	if (r < 0)
		return r;
	return load_good(root, path, LOAD_BELOW_ROOT, node, ret, diags, err);
}

/* --- a drop-in on its own ----------------------------------------------------------------- */

/* "DIR/NAME.d/x.yaml" -> "DIR/NAME"; NULL if the directory is not named so. */
static char *dropin_stem(const char *path)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
	cleanup_free char *real = realpath(dir, NULL);
	const char *name = real ? strrchr(real, '/') + 1 : "";

	return str_ends(name, ".d") ? xstrndup(real, strlen(real) - strlen(".d")) : NULL;
}

bool profile_is_dropin(const char *path)
{
	cleanup_free char *stem = dropin_stem(path);

	return stem != NULL;
}

/*
 * The profile that a drop-in belongs to, without its other drop-ins: from the parent of the
 * drop-in's directory, else from the search path. NULL if there is no valid one.
 */
static struct profile *dropin_target(const struct root *root, const char *path,
				     const struct strv *bases_in)
{
	cleanup_free char *stem = dropin_stem(path), *found = NULL;
	cleanup_free char *beside = stem ? xasprintf("%s.yaml", stem) : NULL;
	struct diags diags = {0};
	struct loader l = {
		.root = root, .flags = LOAD_NO_DROPINS, .bases_in = bases_in, .diags = &diags};
	struct profile *p = NULL;
	int r = -ENOENT;

	if (beside)
		r = load_good_with(&l, beside, &p, NULL);
	if (r == -ENOENT && stem && profile_find(root, strrchr(stem, '/') + 1, &found, NULL) == 0)
		load_good(root, found, LOAD_BELOW_ROOT | LOAD_NO_DROPINS, NULL, &p, &diags, NULL);
	diags_free(&diags);
	return p;
}

/* Ignores merge warnings, because a drop-in without its profile has nothing to delete. */
static void judge_dropin_alone(const struct ynode *doc, struct diags *diags)
{
	struct profile alone = {.doc = ynode_new(YAML_MAP, doc->at)};
	struct diags ignored = {0};

	merge_layer(alone.doc, doc, LAYER_DROPIN, NULL, &ignored);
	selectors_fill(&alone);
	rules_check(&alone, NULL, diags);
	selectors_free(&alone);
	ynode_free(alone.doc);
	diags_free(&ignored);
}

static void judge_dropin(struct loader *l, struct profile *target, const struct ynode *doc)
{
	merge_layer(target->doc, doc, LAYER_DROPIN, NULL, l->diags);
	schema_complete(target->doc, l->diags);
	selectors_free(target);
	selectors_fill(target);
	rules_check(target, NULL, l->diags);
}

int profile_check_dropin(const struct root *root, const char *path, const struct strv *bases_in,
			 char **target, struct diags *diags, struct err *err)
{
	struct loader l = {.root = root, .diags = diags};
	struct source s = {.path = (char *)path};
	cleanup_profile struct profile *p = NULL;
	cleanup_profile struct profile *files = xnew(struct profile);
	cleanup_ynode struct ynode *doc = NULL;
	size_t before = diags->errors;
	cleanup_close int fd = source_open(&l, &s);

	*target = NULL;
	if (fd < 0 && !l.broken)
		return err_path(err, fd, path);
	l.p = files;
	doc = fd < 0 ? NULL : document(&l, path, fd, SCHEMA_DROPIN);
	p = dropin_target(root, path, bases_in);
	if (p)
		*target = xstrdup(p->file);
	if (doc && p)
		judge_dropin(&l, p, doc);
	else if (doc)
		judge_dropin_alone(doc, diags);
	if (diags->errors == before)
		return 0;
	return err_set(err, -EINVAL, "%s: %zu error%s", path, diags->errors - before,
		       diags->errors - before == 1 ? "" : "s");
}

struct ynode *profile_section(const struct profile *p, const char *section)
{
	return ynode_get(p->doc, section);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->name);
	free(p->version);
	free(p->file);
	strv_free(&p->ancestors);
	ynode_free(p->doc);
	selectors_free(p);
	shadows_free(&p->shadows);
	strv_free(&p->files);
	strv_free(&p->unmerged);
	free(p);
}

char *profile_label(const struct profile *p)
{
	return *p->version ? xasprintf("%s %s", p->name, p->version)
			   : xasprintf("%s %.8s", p->name, p->digest);
}
