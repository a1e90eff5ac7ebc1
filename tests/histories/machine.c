/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "../lib/env_grub.h"
#include "base/mem.h"
#include "base/str.h"
#include "boot/view.h"
#include "loader/bootpart.h"
#include "sys/state.h"

enum { DIR_FD = 1000000, FILE_FD = 1000001, SECTOR = 512, FILE_MAX = 8192 };

/* The second spans sectors, so that a slot can be torn. */
#define X40 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X200 X40 X40 X40 X40 X40
const char *const args_text[ARGS_COUNT] = {"", "a=1 one=1", "a=2 long=" X200 X200 X200 " two=1"};
const char *const kernel_name[KERNELS] = {"6.1", "6.9"};

/* Of this boot and of any earlier one: only whether this boot wrote a record is ever asked. */
static const char *const boot_ids[] = {"11111111-1111-1111-1111-111111111111",
				       "00000000-0000-0000-0000-000000000000"};

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

static struct pool files, records, lines;

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

/* --- command lines --------------------------------------------------------------------------- */

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
						     .counted = strstr(text, " railhead.begun="),
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

/* --- the disk -------------------------------------------------------------------------------- */

struct bytes {
	char text[FILE_MAX];
	size_t len;
	bool there;
};

static struct {
	const struct facts *f;
	struct bytes cache, disk; /* as programs see it; as a power cut leaves it */
	bool dirty[FILE_MAX / SECTOR];
	uint16_t record;
	uint8_t end;
	VEC(struct snap) cuts, kills;
} m;

static uint32_t number_of(const struct bytes *b)
{
	return b->there ? intern(&files, b->text, b->len) : 0;
}

#define add_snap(list, number)                                                         \
	do {                                                                           \
		struct snap s_ = {.file = (number), .record = m.record, .end = m.end}; \
		bool has_ = false;                                                     \
		for (size_t i_ = 0; i_ < (list)->n; i_++)                              \
			has_ |= memcmp(&(list)->v[i_], &s_, sizeof(s_)) == 0;          \
		if (!has_)                                                             \
			vec_push((list), s_);                                          \
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

/* --- the machine ----------------------------------------------------------------------------- */

int __wrap_bootpart_open(const struct root *root, bool write, struct bootpart *ret,
			 struct err *err);
int __wrap_bootpart_open(const struct root *root, bool write, struct bootpart *ret, struct err *err)
{
	(void)root, (void)write, (void)err;
	*ret = (struct bootpart){
		.dirfd = DIR_FD, .path = xstrdup("/boot/grub/" ENV_FILE_NAME), .writable = write};
	return 0;
}

int __wrap_bootpart_close(struct bootpart *b, struct err *err);
int __wrap_bootpart_close(struct bootpart *b, struct err *err)
{
	(void)err;
	free(b->path);
	return 0;
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

char *__wrap_gate_why_absent(const struct root *root);
char *__wrap_gate_why_absent(const struct root *root)
{
	(void)root;
	return NULL;
}

int __wrap_uname(struct utsname *u);
int __wrap_uname(struct utsname *u)
{
	snprintf(u->release, sizeof(u->release), "%s", kernel_name[m.f->kernel]);
	return 0;
}

void __wrap_state_boot_id(const struct root *root, char ret[37]);
void __wrap_state_boot_id(const struct root *root, char ret[37])
{
	(void)root;
	snprintf(ret, 37, "%s", boot_ids[0]);
}

int __wrap_read_attr(const struct root *root, char **ret, struct err *err, const char *fmt, ...);
int __wrap_read_attr(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
{
	(void)root, (void)err;
	if (!streq(fmt, "/proc/cmdline"))
		return -ENOENT;
	*ret = xstrdup(machine_line(m.f->line)->text);
	return 0;
}

bool __wrap_boot_is_of_machine(const struct root *root);
bool __wrap_boot_is_of_machine(const struct root *root)
{
	(void)root;
	return true;
}

/* Nothing is noted, or asked, about a boot after its verdict. */
bool __wrap_root_exists(const struct root *root, const char *fmt, ...);
bool __wrap_root_exists(const struct root *root, const char *fmt, ...)
{
	(void)root;
	return str_starts(fmt, "lib/modules/"); /* no kernel is removed here */
}

/* --- /var/lib/railhead: files are replaced as a whole ---------------------------------------- */

static const char *const end_words[] = {
	[END_NONE] = "",       [END_LEFT] = "left\n",	   [END_TIMER] = "timer\n",
	[END_STOP] = "stop\n", [END_JUDGED] = "verdict\n",
};

static void kept_becomes(const char *name, const char *text)
{
	may_be_cut();
	may_be_killed();
	if (streq(name, ATTEMPTS_FILE))
		m.record = text ? (uint16_t)intern(&records, text, strlen(text)) : 0;
	else
		m.end = text ? (uint8_t)str_index(text, end_words, array_len(end_words)) : END_NONE;
	may_be_cut();
	may_be_killed();
}

int __wrap_state_keep(const struct root *root, const char *name, const char *text, struct err *err);
int __wrap_state_keep(const struct root *root, const char *name, const char *text, struct err *err)
{
	(void)root, (void)err;
	kept_becomes(name, text);
	return 0;
}

int __wrap_state_forget(const struct root *root, const char *name, struct err *err);
int __wrap_state_forget(const struct root *root, const char *name, struct err *err)
{
	(void)root, (void)err;
	kept_becomes(name, NULL);
	return 0;
}

int __wrap_state_kept(const struct root *root, const char *name, char **ret, struct err *err);
int __wrap_state_kept(const struct root *root, const char *name, char **ret, struct err *err)
{
	const char *text = streq(name, ATTEMPTS_FILE)
				   ? (m.record ? records.list.v[m.record].s : NULL)
			   : m.end ? end_words[m.end]
				   : NULL;

	(void)root, (void)err;
	if (!text)
		return -ENOENT;
	*ret = xstrdup(text);
	return 0;
}

/* --- calls ----------------------------------------------------------------------------------- */

static const struct root tree = {.fd = -1, .live = true};

/* A boot that will be followed by a reboot is not measured. */
static void look(unsigned int flags, bool measured, struct outcome *o)
{
	bool broken = flags & FACT_BROKEN;

	if (flags & FACT_FAILS)
		attempts_add(&o->failed, "item");
	if (!(flags & FACT_NO_CARRIER))
		attempts_add(&o->up, "0000:41:00.0");
	if (measured)
		attempts_add(flags & FACT_MISSES ? &o->missed : &o->held, "gate/m");
	if (broken)
		attempts_add(&o->failed, "broken");
	else
		attempts_add(&o->up, "0000:42:00.0");
	if (measured)
		attempts_add(broken ? &o->missed : &o->held, "gate/broken");
}

/* As the gate: engine/judgement.c. */
static void do_gate(struct call *ret)
{
	struct node node = {.cmdline = (char *)machine_line(m.f->line)->text};
	cleanup_free char *label = xasprintf("profile %d", m.f->wanted);
	cleanup_settled struct settled s = {0};
	cleanup_outcome struct outcome o = {.profile = "profile"};
	struct kargs args cleanup_kargs = {0};
	struct kargs_want want = {&tree, &node, &args, label};
	bool waits = m.f->flags & FACT_WAITS;
	struct boot_view v;
	struct err err = {0};
	int r;

	kargs_split(&args, args_text[m.f->wanted], NULL);
	boot_arrive(&want, &err);
	if (boot_view_open(&want, &v, &err) < 0)
		abort();
	ret->decision = (uint8_t)v.trial.decision;
	ret->same = v.trial.decision == KARGS_SAME || v.trial.decision == KARGS_ADOPT;
	boot_view_close(&v, NULL);
	o.reboots = kargs_decision_reboots((enum kargs_decision)ret->decision);
	/* an item that fails blocks, and does not wait */
	o.waits = waits && ret->same && !(m.f->flags & (FACT_FAILS | FACT_MISSES | FACT_BROKEN));
	look(m.f->flags, !o.reboots, &o);
	r = boot_settle(&want, &o, &s, &err);
	ret->waits = o.waits;
	ret->measured = !o.reboots;
	ret->result = (uint8_t)s.result;
	ret->blocked = r < 0 || s.result == TRIAL_UNFIT || s.result == TRIAL_LOST ||
		       s.result == TRIAL_UNKNOWN || waits;
	ret->reboot = s.reboot;
	if (o.reboots && boot_arm(&want, &err) >= 0) {
		ret->reboot = true;
		boot_note_left(&tree, &err); /* the reboot is in order */
	}
	ret->settled = !o.waits && !ret->reboot && s.result != TRIAL_UNKNOWN &&
		       s.result != TRIAL_UNFIT && ret->decision != KARGS_HELD;
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
	const struct node node = {.cmdline = (char *)machine_line(m.f->line)->text};
	struct err err = {0};
	int r = 0;

	switch ((enum op)m.f->op) {
	case OP_GRUB:
		do_grub(ret);
		break;
	case OP_GATE:
		do_gate(ret);
		break;
	case OP_NO_JUDGE:
		r = boot_leave_unjudged(&tree, &node, &err);
		break;
	case OP_STOP:
		r = boot_note_end(&tree, "stop", &err);
		break;
	case OP_TIMER:
		r = boot_note_end(&tree, "timer", &err);
		break;
	case OP_RETRY:
		r = boot_forgive(&tree, &err);
		break;
	case OP_RESET:
		r = boot_env_reset(&tree, NULL, &err);
		break;
	case OP_KERNEL:
		r = boot_expect_kernel(&tree, kernel_name[m.f->kernel], &err);
		break;
	}
	ret->failed = r < 0;
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
	m.record = f->record;
	m.end = f->end;
	m.cuts.n = m.kills.n = 0;
	load_file(f->file);
	make_call(&c);
	c.end = (struct snap){.file = number_of(&m.cache), .record = m.record, .end = m.end};
	c.n_cuts = (uint16_t)m.cuts.n;
	c.n_kills = (uint16_t)m.kills.n;
	c.cut = keep_snaps(m.cuts.v, m.cuts.n);
	c.kill = keep_snaps(m.kills.v, m.kills.n);
	memo.key[memo.n] = *f;
	memo.call[memo.n] = c;
	memo.slot[at] = (uint32_t)++memo.n;
	return &memo.call[memo.n - 1];
}

/* --- what files and records say -------------------------------------------------------------- */

static bool is_sound(uint32_t file)
{
	struct boot_env env;
	char again[ENV_SIZE];
	size_t len;
	const char *text = machine_file(file, &len);

	if (!text || env_parse(text, len, &env, NULL) != 0)
		return false;
	env_render(&env, again);
	return memcmp(text, again, ENV_SIZE) == 0;
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
		return REST_ARMED;
	if (env.try_ == ENV_TAKEN)
		return REST_TAKEN;
	if (env.begun == ENV_NONE)
		return REST_GOOD;
	return env.begun == '2' ? REST_OUT : REST_COUNTED;
}

static enum args find_good(uint32_t file)
{
	struct boot_env env;
	size_t len;
	const char *text = machine_file(file, &len);

	if (!len || env_parse(text, len, &env, NULL) < 0)
		return ARGS_NONE;
	return args_of(env_slot(&env, env.good));
}

struct meaning {
	bool known, sound;
	enum resting rest;
	enum args good;
};
static VEC(struct meaning) meanings; /* by file */

static const struct meaning *read_meaning(uint32_t file)
{
	struct meaning *found;

	while (meanings.n <= file)
		vec_push(&meanings, (struct meaning){0});
	found = &meanings.v[file];
	if (!found->known)
		*found = (struct meaning){true, is_sound(file), rest_of(file), find_good(file)};
	return found;
}

enum resting machine_rest(uint32_t file)
{
	return read_meaning(file)->rest;
}

enum args machine_good(uint32_t file)
{
	return read_meaning(file)->good;
}

bool machine_sound(uint32_t file)
{
	return read_meaning(file)->sound;
}

bool machine_marked(uint32_t file)
{
	size_t len;
	const char *text = machine_file(file, &len);

	return len == ENV_SIZE && (strchr("ab", text[54]) || strchr("01", text[3599]));
}

const char *machine_record(uint16_t record)
{
	return record ? records.list.v[record].s : "";
}

uint32_t machine_refusal(enum refusal_why why, enum args args, uint8_t kernel)
{
	return 1U << ((why * ARGS_COUNT + args) * KERNELS + kernel);
}

static bool refuses(const struct refused *no, enum args args, uint8_t kernel)
{
	cleanup_free char *label = xasprintf("profile %d", args);
	char hash[KARGS_HASH_LEN + 1];

	kargs_hash_line(args_text[args], hash);
	return streq(no->attempt.hash, hash) && streq(no->attempt.kernel, kernel_name[kernel]) &&
	       streq(no->attempt.profile, label);
}

static uint32_t find_refusals(const char *record)
{
	static const enum refusal_why whys[] = {
		[REFUSAL_DIED] = WHY_DIED, [REFUSAL_UNFIT] = WHY_UNFIT, [REFUSAL_LOST] = WHY_LOST};
	cleanup_attempts struct attempts a = {0};
	uint32_t bits = 0;

	attempts_parse(record, &a);
	for (size_t i = 0; i < a.refused.n; i++)
		for (enum args args = 0; args < ARGS_COUNT; args++)
			for (uint8_t k = 0; k < KERNELS; k++)
				if (refuses(&a.refused.v[i], args, k))
					bits |= machine_refusal(whys[a.refused.v[i].why], args, k);
	return bits;
}

static VEC(uint32_t) refusals; /* by record; the highest bit: not known yet */

uint32_t machine_refusals(uint16_t record)
{
	while (refusals.n <= record)
		vec_push(&refusals, UINT32_MAX);
	if (refusals.v[record] == UINT32_MAX)
		refusals.v[record] = find_refusals(machine_record(record));
	return refusals.v[record];
}

bool machine_armed(uint16_t record)
{
	return strstr(machine_record(record), "\narmed yes ");
}

bool machine_expects_other(uint16_t record, uint8_t kernel)
{
	const char *at = strstr(machine_record(record), "\nnew-kernel ");

	return at && !str_starts(at + strlen("\nnew-kernel "), kernel_name[kernel]);
}

static unsigned int count_of_file(uint32_t file)
{
	struct boot_env env;
	size_t len;
	const char *text = machine_file(file, &len);

	if (!len)
		return 0;
	env_parse(text, len, &env, NULL);
	return env.reboots;
}

static VEC(uint8_t) file_counts; /* by file: one more than the count */
static VEC(uint8_t) record_counts;

unsigned int machine_counted(uint32_t file, uint16_t record)
{
	while (file_counts.n <= file)
		vec_push(&file_counts, 0);
	if (!file_counts.v[file])
		file_counts.v[file] = (uint8_t)(count_of_file(file) + 1);
	while (record_counts.n <= record)
		vec_push(&record_counts, 0);
	if (!record_counts.v[record]) {
		unsigned int n = 0;

		if (record)
			sscanf(strstr(machine_record(record), "reboots "), "reboots %u", &n);
		record_counts.v[record] = (uint8_t)(n + 1);
	}
	return (file_counts.v[file] > record_counts.v[record] ? file_counts.v[file]
							      : record_counts.v[record]) -
	       1U;
}

static uint16_t make_aged(uint16_t record)
{
	cleanup_free char *text = xstrdup(machine_record(record));
	char *at = strstr(text, boot_ids[0]);

	if (!at)
		return record;
	memcpy(at, boot_ids[1], strlen(boot_ids[1]));
	return (uint16_t)intern(&records, text, strlen(text));
}

static VEC(uint16_t) aged; /* by record; 0: not known yet */

uint16_t machine_aged(uint16_t record)
{
	while (aged.n <= record)
		vec_push(&aged, 0);
	if (!aged.v[record])
		aged.v[record] = make_aged(record);
	return aged.v[record];
}

/* --- flips ----------------------------------------------------------------------------------- */

#define AT(name, offset, to)     \
	{                        \
		name, offset, to \
	}
/* One byte of each class. Bytes of one class have the same readers. */
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
	AT("railhead_reboots", 91, 0),
	AT("the sum", 106, 0),
	AT("the sum of slot a", 114, 0),
	AT("the sum of slot b", 122, 0),
	AT("the comment behind the selectors", 300, 0),
	AT("slot a", 525, 0),
	AT("slot b", 2061, 0),
	AT("the padding of slot a", 2046, 0),
	AT("a quote into slot a", 525, '"'),
	AT("railhead_begun, to 0", 3599, '0'),
	AT("railhead_begun, to 2", 3599, '2'),
	AT("railhead_begun, to none of them", 3599, 'x'),
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
