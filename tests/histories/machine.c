/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/bootpart.h"
#include "boot/counters.h"
#include "boot/env_grub.h"
#include "boot/health.h"
#include "boot/settle.h"
#include "boot/view.h"
#include "boot/witness.h"
#include "kinds/kind.h"
#include "plan/change.h"
#include "profile/site.h"
#include "sys/state.h"

enum { DIR_FD = 1000000, FILE_FD = 1000001, SECTOR = 512, FILE_MAX = 8192 };

/* The second spans sectors, so that a slot can be torn. */
#define X40 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X200 X40 X40 X40 X40 X40
const char *const args_text[ARGS_COUNT] = {"", "a=1 one=1", "a=2 long=" X200 X200 X200 " two=1"};
const char *const kernel_name[KERNELS] = {"6.1", "6.9"};

static const char *const boot_ids[BOOT_IDS] = {"11111111111111111111111111111111",
					       "22222222222222222222222222222222",
					       "33333333333333333333333333333333"};
static const char *const earlier = "00000000000000000000000000000000";
static const int64_t some_time = 1790000000;

#define BARE "BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro"
#define NETWORK "root=/dev/vda1 ro"

/* --- interned texts -------------------------------------------------------------------------- */

struct text {
	char *s;
	size_t len;
	uint64_t hash;
};

struct pool {
	VEC(struct text) list; /* number 0 is none */
	uint32_t *slot;
	size_t size;
};

static struct pool files, healths, lines;

static uint64_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325u ^ len;

	for (; len >= 8; len -= 8, p += 8) {
		uint64_t w;

		memcpy(&w, p, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	for (; len; len--, p++)
		h = (h ^ *p) * 0x100000001b3u;
	return h ^ h >> 32;
}

static void grow(struct pool *p)
{
	p->size = p->size ? p->size * 2 : 1024;
	free(p->slot);
	p->slot = xcalloc(p->size, sizeof(*p->slot));
	for (size_t i = 1; i < p->list.n; i++) {
		size_t at = p->list.v[i].hash & (p->size - 1);

		while (p->slot[at])
			at = (at + 1) & (p->size - 1);
		p->slot[at] = (uint32_t)i;
	}
}

static uint32_t intern(struct pool *p, const char *s, size_t len)
{
	struct text t = {.len = len, .hash = hash_bytes(s, len)};
	size_t at;

	if (!p->list.n)
		vec_push(&p->list, ((struct text){0}));
	if (p->list.n * 2 >= p->size)
		grow(p);
	for (at = t.hash & (p->size - 1); p->slot[at]; at = (at + 1) & (p->size - 1)) {
		const struct text *o = &p->list.v[p->slot[at]];

		if (o->hash == t.hash && o->len == len && memcmp(o->s, s, len) == 0)
			return p->slot[at];
	}
	t.s = xcalloc(1, len + 1);
	memcpy(t.s, s, len);
	vec_push(&p->list, t);
	p->slot[at] = (uint32_t)(p->list.n - 1);
	return p->slot[at];
}

uint32_t machine_intern(const char *text, size_t len)
{
	return intern(&files, text, len);
}

size_t machine_files(void)
{
	return files.list.n;
}

const char *machine_file(uint32_t file, size_t *len)
{
	*len = file ? files.list.v[file].len : 0;
	return file ? files.list.v[file].s : NULL;
}

/* --- command lines -----------------------------------------------------------------------------
 */

static VEC(struct line) known_lines;

/* What the snippet adds stands in one piece. */
static void blank_out(char *text, const char *extra)
{
	char *at = strstr(text, extra);

	if (at)
		memset(at, ' ', strlen(extra));
}

/* Only blanks separate them, and railhead's marks are none of them. */
static enum args args_of(const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy, *word;
	struct str ours = {0};
	enum args a = ARGS_OTHER;

	blank_out(copy, ENV_TRIAL_EXTRA);
	blank_out(copy, ENV_BEGUN_EXTRA);
	while ((word = strsep(&rest, " "))) {
		if (!*word || str_starts(word, "BOOT_IMAGE=") || str_starts(word, "root=") ||
		    streq(word, "ro") || str_starts(word, "railhead."))
			continue;
		str_addf(&ours, "%s%s", ours.len ? " " : "", word);
	}
	for (int i = 0; i < ARGS_COUNT; i++)
		if (streq(str_get(&ours), args_text[i]))
			a = (enum args)i;
	str_free(&ours);
	return a;
}

static uint16_t line_number(const char *text)
{
	uint32_t n = intern(&lines, text, strlen(text));

	while (known_lines.n < n)
		vec_push(&known_lines, ((struct line){0}));
	if (!known_lines.v[n - 1].text)
		known_lines.v[n - 1] = (struct line){.text = lines.list.v[n].s,
						     .args = (uint8_t)args_of(text),
						     .slot = strstr(text, " railhead.slot="),
						     .trial = strstr(text, " railhead.trial="),
						     .left_out = strstr(text, " railhead.slot=-")};
	return (uint16_t)(n - 1);
}

const struct line *machine_line(uint16_t line)
{
	if (!known_lines.n) {
		line_number(BARE);
		line_number(NETWORK);
	}
	return &known_lines.v[line];
}

uint16_t machine_drop(uint16_t line, enum args args)
{
	const char *text = machine_line(line)->text, *last = strrchr(args_text[args], ' ');
	cleanup_free char *word = xasprintf("%s ", last), *out = NULL;
	const char *at = strstr(text, word);

	if (machine_line(line)->args != args || !at)
		return line;
	out = xasprintf("%.*s%s", (int)(at - text), text, at + strlen(last));
	return line_number(out);
}

/* --- the disk ----------------------------------------------------------------------------------
 */

struct bytes {
	char text[FILE_MAX];
	size_t len;
	bool there;
};

static struct {
	const struct facts *f;
	struct bytes cache, disk; /* as programs see it; as a power cut leaves it */
	bool dirty[FILE_MAX / SECTOR];
	uint16_t before, trial;
	uint8_t witness, counted;
	VEC(struct snap) cuts, kills;
} m;

static uint32_t number_of(const struct bytes *b)
{
	return b->there ? intern(&files, b->text, b->len) : 0;
}

#define add_snap(list, number)                                                \
	do {                                                                  \
		struct snap s_ = {.file = (number),                           \
				  .before = m.before,                         \
				  .trial = m.trial,                           \
				  .witness = m.witness,                       \
				  .counted = m.counted};                      \
		bool has_ = false;                                            \
		for (size_t i_ = 0; i_ < (list)->n; i_++)                     \
			has_ |= memcmp(&(list)->v[i_], &s_, sizeof(s_)) == 0; \
		if (!has_)                                                    \
			vec_push((list), s_);                                 \
	} while (0)

static void may_be_killed(void)
{
	add_snap(&m.kills, number_of(&m.cache));
}

/* Any of the sectors that are not flushed may have reached the disk. */
static void may_be_cut(void)
{
	size_t dirty[FILE_MAX / SECTOR], n = 0;

	for (size_t i = 0; i < FILE_MAX / SECTOR; i++)
		if (m.dirty[i])
			dirty[n++] = i;
	for (size_t set = 0; set < (size_t)1 << n; set++) {
		struct bytes b = m.disk;

		for (size_t i = 0; i < n; i++)
			if (set & (size_t)1 << i)
				memcpy(b.text + dirty[i] * SECTOR, m.cache.text + dirty[i] * SECTOR,
				       SECTOR);
		add_snap(&m.cuts, number_of(&b));
	}
}

static void load_file(uint32_t file)
{
	size_t len;
	const char *text = machine_file(file, &len);

	m.cache.there = text;
	m.cache.len = len < FILE_MAX ? len : FILE_MAX;
	if (text)
		memcpy(m.cache.text, text, m.cache.len);
	m.disk = m.cache;
	memset(m.dirty, 0, sizeof(m.dirty));
}

int __real_root_open_at(int dir, const char *path, int flags);
int __wrap_root_open_at(int dir, const char *path, int flags);
int __wrap_root_open_at(int dir, const char *path, int flags)
{
	if (dir != DIR_FD)
		return __real_root_open_at(dir, path, flags);
	return m.cache.there ? FILE_FD : -ENOENT;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
	if (fd != FILE_FD)
		return __real_fstat(fd, st);
	*st = (struct stat){.st_mode = S_IFREG | 0600, .st_size = (off_t)m.cache.len};
	return 0;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset)
{
	if (fd != FILE_FD)
		abort();
	may_be_killed();
	memcpy(m.cache.text + offset, data, len);
	for (size_t i = (size_t)offset / SECTOR; i <= ((size_t)offset + len - 1) / SECTOR; i++)
		m.dirty[i] = memcmp(m.cache.text + i * SECTOR, m.disk.text + i * SECTOR, SECTOR);
	may_be_cut();
	may_be_killed();
	return (ssize_t)len;
}

ssize_t __wrap_pread(int fd, void *data, size_t len, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t len, off_t offset)
{
	if (fd != FILE_FD)
		abort();
	memcpy(data, m.cache.text + offset, len);
	return (ssize_t)len;
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	if (fd != FILE_FD)
		abort();
	m.disk = m.cache;
	memset(m.dirty, 0, sizeof(m.dirty));
	may_be_cut();
	return 0;
}

int __real_read_fd(int fd, size_t max, char **ret, size_t *ret_len);
int __wrap_read_fd(int fd, size_t max, char **ret, size_t *ret_len);
int __wrap_read_fd(int fd, size_t max, char **ret, size_t *ret_len)
{
	if (fd != FILE_FD)
		return __real_read_fd(fd, max, ret, ret_len);
	*ret = xcalloc(1, m.cache.len + 1);
	memcpy(*ret, m.cache.text, m.cache.len);
	*ret_len = m.cache.len;
	return 0;
}

/* Atomic, but that a power cut may leave the new name empty (vfat). */
int __wrap_machine_create_durable(const struct root *root, int dirfd, const char *name,
				  const void *data, size_t len, struct err *err);
int __wrap_machine_create_durable(const struct root *root, int dirfd, const char *name,
				  const void *data, size_t len, struct err *err)
{
	(void)root, (void)dirfd, (void)name, (void)err;
	may_be_killed();
	may_be_cut();
	m.cache = (struct bytes){.len = 0, .there = true};
	m.disk = m.cache;
	may_be_cut();
	memcpy(m.cache.text, data, len);
	m.cache.len = len;
	m.disk = m.cache;
	memset(m.dirty, 0, sizeof(m.dirty));
	may_be_cut();
	may_be_killed();
	return 0;
}

/* --- the machine -------------------------------------------------------------------------------
 */

int __wrap_bootpart_open(const struct root *root, bool write, struct bootpart *ret,
			 struct err *err);
int __wrap_bootpart_open(const struct root *root, bool write, struct bootpart *ret, struct err *err)
{
	(void)root, (void)write, (void)err;
	*ret = (struct bootpart){.dirfd = DIR_FD,
				 .path = xstrdup("/boot/grub/" ENV_FILE_NAME),
				 .writable = write,
				 .loader = LOADER_GRUB};
	return 0;
}

int __wrap_bootpart_close(struct bootpart *b, struct err *err);
int __wrap_bootpart_close(struct bootpart *b, struct err *err)
{
	(void)err;
	free(b->path);
	return 0;
}

void __wrap_boot_id_read(const struct root *root, struct boot_id *ret);
void __wrap_boot_id_read(const struct root *root, struct boot_id *ret)
{
	(void)root;
	*ret = (struct boot_id){.time = some_time};
	snprintf(ret->id, sizeof(ret->id), "%s", boot_ids[m.f->boot]);
	snprintf(ret->kernel, sizeof(ret->kernel), "%s", kernel_name[m.f->kernel]);
}

char *__wrap_counters_why_held(const struct root *root, struct counters *c);
char *__wrap_counters_why_held(const struct root *root, struct counters *c)
{
	(void)root, (void)c;
	return m.f->flags & FACT_COUNTER ? xstrdup("greenboot counts") : NULL;
}

char *__wrap_seal_why_refused(const struct root *root);
char *__wrap_seal_why_refused(const struct root *root)
{
	(void)root;
	return NULL;
}

int __wrap_read_attr(const struct root *root, char **ret, struct err *err, const char *fmt, ...);
int __wrap_read_attr(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
{
	(void)root, (void)err;
	if (!streq(fmt, "/proc/cmdline"))
		return -ENOENT;
	*ret = xasprintf("%s%s", machine_line(m.f->line)->text,
			 m.f->flags & FACT_ALONE ? " railhead=off" : "");
	return 0;
}

static uint16_t *kept_at(const char *name)
{
	return streq(name, "trial-before") ? &m.before : &m.trial;
}

int __wrap_state_keep(const struct root *root, const char *name, const char *text, struct err *err);
int __wrap_state_keep(const struct root *root, const char *name, const char *text, struct err *err)
{
	(void)root, (void)err;
	may_be_cut();
	may_be_killed();
	*kept_at(name) = (uint16_t)intern(&healths, text, strlen(text));
	may_be_cut();
	may_be_killed();
	return 0;
}

int __wrap_state_kept(const struct root *root, const char *name, char **ret, struct err *err);
int __wrap_state_kept(const struct root *root, const char *name, char **ret, struct err *err)
{
	uint16_t n = *kept_at(name);

	(void)root, (void)err;
	if (!n)
		return -ENOENT;
	*ret = xstrdup(healths.list.v[n].s);
	return 0;
}

/* --- the count of railhead's own reboots: a file, on a machine without EFI variables
 * --------------
 */

enum { THIS_BOOT = 1 };

int __real_read_file(const struct root *root, size_t max, char **ret, size_t *ret_len,
		     struct err *err, const char *path);
int __wrap_read_file(const struct root *root, size_t max, char **ret, size_t *ret_len,
		     struct err *err, const char *path);
int __wrap_read_file(const struct root *root, size_t max, char **ret, size_t *ret_len,
		     struct err *err, const char *path)
{
	if (!streq(path, WITNESS_FILE))
		return __real_read_file(root, max, ret, ret_len, err, path);
	if (m.witness < 2)
		return -ENOENT;
	*ret = xasprintf("reboots=%d boot=%s\n", m.witness / 2,
			 m.witness & THIS_BOOT ? boot_ids[m.f->boot] : earlier);
	*ret_len = strlen(*ret);
	return 0;
}

/* A file is written and renamed: it has the one content or the other. */
static void witness_becomes(uint8_t witness)
{
	may_be_cut();
	may_be_killed();
	m.witness = witness;
	may_be_cut();
	may_be_killed();
}

int __wrap_machine_write_file(const struct root *root, const char *path, const char *text,
			      mode_t mode, struct err *err);
int __wrap_machine_write_file(const struct root *root, const char *path, const char *text,
			      mode_t mode, struct err *err)
{
	unsigned int reboots;

	(void)root, (void)mode, (void)err;
	if (!streq(path, WITNESS_FILE) || sscanf(text, "reboots=%u", &reboots) != 1)
		abort();
	witness_becomes((uint8_t)(reboots * 2 | THIS_BOOT));
	return 0;
}

int __wrap_machine_remove_file(const struct root *root, const char *path, struct err *err);
int __wrap_machine_remove_file(const struct root *root, const char *path, struct err *err)
{
	(void)root, (void)path, (void)err;
	witness_becomes(0);
	return 0;
}

int __wrap_machine_efi_read(const struct root *root, const char *name, char **ret, size_t *ret_len,
			    struct err *err);
int __wrap_machine_efi_read(const struct root *root, const char *name, char **ret, size_t *ret_len,
			    struct err *err)
{
	(void)root, (void)name, (void)ret, (void)ret_len, (void)err;
	return -ENOENT;
}

int __wrap_machine_efi_write(const struct root *root, const char *name, const void *value,
			     size_t len, struct err *err);
int __wrap_machine_efi_write(const struct root *root, const char *name, const void *value,
			     size_t len, struct err *err)
{
	(void)root, (void)name, (void)value, (void)len;
	return err_set(err, -ENOENT, "this machine has no EFI variables");
}

int __wrap_machine_efi_remove(const struct root *root, const char *name, struct err *err);
int __wrap_machine_efi_remove(const struct root *root, const char *name, struct err *err)
{
	(void)root, (void)name, (void)err;
	return 0;
}

void __wrap_state_boot_id(const struct root *root, char ret[37]);
void __wrap_state_boot_id(const struct root *root, char ret[37])
{
	(void)root;
	snprintf(ret, 37, "%s", boot_ids[m.f->boot]);
}

/* --- marks of this boot, the site, pstore --------------------------------------------------------
 */

bool __wrap_root_exists(const struct root *root, const char *fmt, ...);
bool __wrap_root_exists(const struct root *root, const char *fmt, ...)
{
	(void)root;
	if (streq(fmt, WITNESS_FILE))
		return m.witness >= 2;
	return streq(fmt, STATE_DIR "/healthy") && m.counted;
}

int __wrap_state_write(const struct root *root, const char *name, const char *text,
		       struct err *err);
int __wrap_state_write(const struct root *root, const char *name, const char *text, struct err *err)
{
	(void)root, (void)text, (void)err;
	m.counted |= streq(name, "healthy");
	return 0;
}

void __wrap_site_load(const struct root *root, struct site *ret, struct diags *diags);
void __wrap_site_load(const struct root *root, struct site *ret, struct diags *diags)
{
	(void)root, (void)diags;
	*ret = (struct site){.reboot = true, .retry_after = RETRY_AFTER};
}

bool __wrap_pstore_has_panic(const struct root *root, int64_t since);
bool __wrap_pstore_has_panic(const struct root *root, int64_t since)
{
	(void)root, (void)since;
	return m.f->flags & FACT_PANICKED;
}

/* --- calls ---------------------------------------------------------------------------------------
 */

static const struct root tree = {.fd = -1};

static void want(const char *text, struct kargs *args, struct change *c)
{
	kargs_split(args, text, NULL);
	for (size_t i = 0; i < args->n; i++) {
		struct part p = {.name = args->v[i].text};

		vec_push(&c->parts, p);
	}
}

static void done_with(struct kargs *args, struct change *c)
{
	vec_free(&c->parts);
	free(c->observed);
	free(c->reason);
	kargs_free(args);
}

static bool look(const struct kind_ctx *ctx, struct change *c, struct call *ret)
{
	struct err err = {0};

	/* As kind_look(): a look that fails is a change that fails. */
	if (kind_bootenv.look(ctx, c, &err) < 0)
		c->state = CHANGE_FAILED;
	ret->decision = (uint8_t)c->state;
	ret->same = c->state == CHANGE_SAME;
	return c->state == CHANGE_DIFFERS;
}

/* The phase of the kernel arguments: a look, and a set where they differ. */
static void do_stage(struct call *ret)
{
	struct node node = {.cmdline = (char *)machine_line(m.f->line)->text};
	struct kind_ctx ctx = {.root = &tree, .node = &node, .retry = m.f->flags & FACT_RETRY};
	struct kargs args = {0};
	struct change c = {.kind = &kind_bootenv};
	struct err err = {0};

	want(args_text[m.f->wanted], &args, &c);
	if (look(&ctx, &c, ret)) {
		ret->failed = kind_bootenv.set(&ctx, &c, &err) < 0;
		ret->reboot = c.reboot && !ret->failed;
	} else {
		ret->reboot = c.reboot && c.state == CHANGE_WAITS;
	}
	done_with(&args, &c);
}

static void do_settle(struct call *ret)
{
	struct node node = {.cmdline = (char *)machine_line(m.f->line)->text};
	struct kind_ctx ctx = {.root = &tree, .node = &node, .running = STAGE_GATE};
	cleanup_free char *profile = xasprintf("profile%d", m.f->wanted);
	cleanup_settled struct settled s = {0};
	cleanup_strv struct strv failed = {0};
	struct kargs args = {0};
	struct change c = {.kind = &kind_bootenv};
	struct err err = {0};
	int r;

	want(args_text[m.f->wanted], &args, &c);
	look(&ctx, &c, ret);
	if (m.f->flags & FACT_FAILS)
		health_add(&failed, "item");
	if (m.f->flags & FACT_FAILS_TOO)
		health_add(&failed, "broken");
	r = boot_settle(&tree, &node, &args, profile, &failed, &s, &err);
	ret->failed = r < 0;
	ret->note = (uint8_t)s.note;
	ret->reboot = s.reboot;
	/* As say_settled() in engine/judgement.c. */
	ret->blocked = r < 0 || s.note == NOTE_UNFIT || s.note == NOTE_LOOK_BACK ||
		       s.note == NOTE_LOOKED_BACK;
	done_with(&args, &c);
}

static void do_grub(struct call *ret)
{
	cleanup_free char *line = NULL;
	struct env_grub g = {0};

	if (m.cache.there && m.cache.len)
		env_grub_boot(m.cache.text, m.cache.len, m.f->flags & FACT_CAN_SAVE, &g);
	line = xasprintf(BARE "%s%s", *g.kargs ? " " : "", g.kargs);
	ret->line = line_number(line);
	ret->loads = g.taken_by_snippet;
	ret->left_out = g.left_out;
}

static void make_call(struct call *ret)
{
	struct err err = {0};

	switch ((enum op)m.f->op) {
	case OP_GRUB:
		do_grub(ret);
		break;
	case OP_ARRIVE:
	case OP_ROOT:
		ret->failed = boot_arrived(&tree, m.f->op == OP_ROOT, &err) < 0;
		break;
	case OP_STAGE:
		do_stage(ret);
		break;
	case OP_COUNT:
		ret->failed = witness_count(&tree, &err) < 0;
		break;
	case OP_SETTLE:
		do_settle(ret);
		break;
	case OP_STOP:
		ret->failed = boot_ended(&tree, ENV_END_STOP, &err) < 0;
		break;
	case OP_TIMER:
		ret->failed = boot_ended(&tree, ENV_END_TIMER, &err) < 0;
		break;
	case OP_RESET:
		ret->failed = boot_env_reset(&tree, NULL, &err) < 0;
		break;
	}
}

static struct {
	struct facts *key;
	struct call *call;
	size_t n, size;
	uint32_t *slot;
} memo;

static void grow_memo(void)
{
	memo.size = memo.size ? memo.size * 2 : 1 << 16;
	memo.key = xrealloc(memo.key, memo.size, sizeof(*memo.key));
	memo.call = xrealloc(memo.call, memo.size, sizeof(*memo.call));
	free(memo.slot);
	memo.slot = xcalloc(memo.size * 2, sizeof(*memo.slot));
	for (size_t i = 0; i < memo.n; i++) {
		size_t at = hash_bytes(&memo.key[i], sizeof(struct facts)) & (memo.size * 2 - 1);

		while (memo.slot[at])
			at = (at + 1) & (memo.size * 2 - 1);
		memo.slot[at] = (uint32_t)i + 1;
	}
}

size_t machine_calls(void)
{
	return memo.n;
}

static struct snap *keep_snaps(const struct snap *v, size_t n)
{
	struct snap *s = xcalloc(n ? n : 1, sizeof(*s));

	if (n)
		memcpy(s, v, n * sizeof(*s));
	return s;
}

static size_t find_call(const struct facts *f)
{
	size_t at = hash_bytes(f, sizeof(*f)) & (memo.size * 2 - 1);

	while (memo.slot[at] && memcmp(&memo.key[memo.slot[at] - 1], f, sizeof(*f)) != 0)
		at = (at + 1) & (memo.size * 2 - 1);
	return at;
}

/* Good until the next call: what is remembered may move. */
const struct call *machine_call(const struct facts *f)
{
	struct call c = {0};
	size_t at;

	machine_line(0);
	if (memo.n == memo.size)
		grow_memo();
	at = find_call(f);
	if (memo.slot[at])
		return &memo.call[memo.slot[at] - 1];
	m.f = f;
	m.before = f->before;
	m.trial = f->trial;
	m.witness = f->witness;
	m.counted = f->counted;
	m.cuts.n = m.kills.n = 0;
	load_file(f->file);
	make_call(&c);
	c.end = (struct snap){.file = number_of(&m.cache),
			      .before = m.before,
			      .trial = m.trial,
			      .witness = m.witness,
			      .counted = m.counted};
	c.n_cuts = (uint16_t)m.cuts.n;
	c.n_kills = (uint16_t)m.kills.n;
	c.cut = keep_snaps(m.cuts.v, m.cuts.n);
	c.kill = keep_snaps(m.kills.v, m.kills.n);
	memo.key[memo.n] = *f;
	memo.call[memo.n] = c;
	memo.slot[at] = (uint32_t)++memo.n;
	return &memo.call[memo.n - 1];
}

/* --- boot ids
 * -------------------------------------------------------------------------------------- */

static bool is_sound(uint32_t file)
{
	struct boot_env env;
	size_t len;
	const char *text = machine_file(file, &len);

	return text && env_parse(text, len, &env, NULL) == 0;
}

static enum resting rest_of(uint32_t file)
{
	struct boot_env env;
	size_t len;
	const char *text = machine_file(file, &len);

	if (!text || !len)
		return REST_ABSENT;
	if (env_parse(text, len, &env, NULL) < 0)
		return REST_DAMAGED;
	if (env_slot_index(env.try_) >= 0)
		return env.state.look == ENV_LOOK_SECOND ? REST_AGAIN : REST_ARMED;
	if (env.try_ == ENV_TAKEN)
		return REST_TAKEN;
	if (env.state.look == ENV_LOOK_BACK)
		return REST_BACK;
	return env.begun == '2' ? REST_OUT : REST_GOOD;
}

static VEC(uint8_t) rests; /* by file: one more than the answer */

enum resting machine_rest(uint32_t file)
{
	while (rests.n <= file)
		vec_push(&rests, 0);
	if (!rests.v[file])
		rests.v[file] = (uint8_t)(rest_of(file) + 1);
	return (enum resting)(rests.v[file] - 1);
}

bool machine_armed(uint32_t file)
{
	return machine_rest(file) == REST_ARMED || machine_rest(file) == REST_AGAIN;
}

static VEC(uint8_t) kernels; /* by file: one more than the answer, KERNELS: none */

static uint8_t kernel_of(uint32_t file)
{
	struct boot_env env;
	size_t len;
	const char *text = machine_file(file, &len);
	uint8_t k = KERNELS;

	if (text && env_parse(text, len, &env, NULL) >= 0)
		for (k = 0; k < KERNELS && !streq(env.state.kernel, kernel_name[k]); k++)
			;
	return k;
}

uint8_t machine_trial_kernel(uint32_t file, uint8_t otherwise)
{
	while (kernels.n <= file)
		vec_push(&kernels, 0);
	if (!kernels.v[file])
		kernels.v[file] = (uint8_t)(kernel_of(file) + 1);
	return kernels.v[file] > KERNELS ? otherwise : (uint8_t)(kernels.v[file] - 1);
}

static VEC(uint8_t) sound; /* by file: one more than the answer */

bool machine_sound(uint32_t file)
{
	while (sound.n <= file)
		vec_push(&sound, 0);
	if (!sound.v[file])
		sound.v[file] = is_sound(file) + 1;
	return sound.v[file] - 1;
}

static VEC(uint32_t) aged; /* by file; 0: not known yet */

static uint32_t make_older(uint32_t file)
{
	struct boot_env env;
	char out[ENV_SIZE];
	size_t len;
	const char *text = machine_file(file, &len);

	if (!text || env_parse(text, len, &env, NULL) != 0)
		return file;
	env_boot(earlier, env.state.boot);
	env_render(&env, out);
	return intern(&files, out, ENV_SIZE);
}

uint32_t machine_aged(uint32_t file)
{
	if (!file)
		return 0;
	while (aged.n <= file)
		vec_push(&aged, 0);
	if (!aged.v[file])
		aged.v[file] = make_older(file);
	return aged.v[file];
}

static VEC(uint8_t) free_boot; /* by file: one more than the id */

uint8_t machine_free_boot(uint32_t file)
{
	size_t len;
	const char *text = machine_file(file, &len);

	while (free_boot.n <= file)
		vec_push(&free_boot, 0);
	if (free_boot.v[file])
		return (uint8_t)(free_boot.v[file] - 1);
	for (uint8_t i = 0; i < BOOT_IDS; i++)
		if (!text || !memmem(text, len, boot_ids[i], ENV_BOOT_LEN)) {
			free_boot.v[file] = (uint8_t)(i + 1);
			return i;
		}
	abort(); /* a file has two places for an id: the values and their copy */
}

/* --- flips
 * ------------------------------------------------------------------------------------------- */

#define AT(name, offset, to)     \
	{                        \
		name, offset, to \
	}
/*
 * One byte of each class. Bytes of one class have the same readers: a name and its '=' are read by
 * GRUB alone and written again by frame(); the values of the first sector count by their sum
 * alone, and differ only in how GRUB takes a selector.
 */
const struct flip flips[] = {
	AT("the signature", 0, 0),
	AT("the name of railhead_good", 26, 0),
	AT("railhead_good, to a", 39, 'a'),
	AT("railhead_good, to b", 39, 'b'),
	AT("railhead_good, to -", 39, '-'),
	AT("railhead_good, to none of them", 39, 'x'),
	AT("the end of a line", 40, 0),
	AT("railhead_try, to a", 54, 'a'),
	AT("railhead_try, to b", 54, 'b'),
	AT("railhead_try, to t", 54, 't'),
	AT("railhead_try, to -", 54, '-'),
	AT("railhead_layout", 72, 0),
	AT("railhead_deaths", 90, 0),
	AT("railhead_result", 109, 's'),
	AT("railhead_hash", 125, 0),
	AT("railhead_kernel", 158, 0),
	AT("railhead_boot", 237, 0),
	AT("its sum", 265, 0),
	AT("railhead_refused", 318, 0),
	AT("slot a", 525, 0),
	AT("slot b", 2061, 0),
	AT("the padding of slot a", 2046, 0),
	AT("a quote into slot a", 525, '"'),
	AT("railhead_begun, to 0", 3599, '0'),
	AT("railhead_begun, to 2", 3599, '2'),
	AT("railhead_begun, to none of them", 3599, 'x'),
	AT("the copy", 3620, 0),
	AT("railhead_ends", 3956, 0),
	AT("railhead_healthy", 3982, 0),
	AT("the end of the file", 4090, 0),
};
const size_t n_flips = sizeof(flips) / sizeof(*flips);

static uint32_t make_flip(uint32_t file, size_t which)
{
	const struct flip *f = &flips[which];
	char copy[FILE_MAX];
	size_t len;
	const char *text = machine_file(file, &len);

	if (!text || len <= f->offset || len > FILE_MAX)
		return file;
	memcpy(copy, text, len);
	copy[f->offset] = f->to ? f->to : (char)(copy[f->offset] ^ 1);
	return intern(&files, copy, len);
}

static VEC(uint32_t *) flipped; /* by file */

uint32_t machine_flip(uint32_t file, size_t which)
{
	while (flipped.n <= file)
		vec_push(&flipped, NULL);
	if (!flipped.v[file]) {
		uint32_t *to = xcalloc(n_flips, sizeof(*to));

		for (size_t i = 0; i < n_flips; i++)
			to[i] = make_flip(file, i);
		flipped.v[file] = to;
	}
	return flipped.v[file][which];
}
