/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/env.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "boot/ends.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/state.h"

static const struct {
	const char *name;
	size_t offset, width;
} fields[ENV_F_COUNT] = {
#define X(member, name, offset, width) {name, offset, width},
	ENV_FIELDS(X)
#undef X
};

/* The selectors and the state are written as one piece, because they lie in one sector. */
#define HEAD_OFFSET (fields[ENV_F_GOOD].offset)
#define HEAD_LEN (fields[ENV_F_REFUSED].offset + fields[ENV_F_REFUSED].width - HEAD_OFFSET)
/* The count, the copy of the head's values, and fields that only forgiveness decides by. */
#define COUNT_OFFSET (fields[ENV_F_BEGUN].offset - strlen(ENV_VAR_BEGUN "="))
#define LAST_LEN (fields[ENV_F_HEALTHY].offset + fields[ENV_F_HEALTHY].width + 1 - COUNT_OFFSET)
#define SUM_LEN (fields[ENV_F_BOOT].width - ENV_BOOT_LEN)
#define SUM_OFFSET (fields[ENV_F_BOOT].offset + ENV_BOOT_LEN)
enum { SECTOR = 512 };

void boot_id_read(const struct root *root, struct boot_id *ret)
{
	struct utsname u;

	*ret = (struct boot_id){.time = time(NULL)};
	state_boot_id(root, ret->id);
	if (root->live && uname(&u) == 0)
		snprintf(ret->kernel, sizeof(ret->kernel), "%.64s", u.release);
}

int env_slot_index(char slot)
{
	return slot == 'a' ? 0 : slot == 'b' ? 1 : -1;
}

char env_free_slot(const struct boot_env *env)
{
	return env->good == 'a' ? 'b' : 'a';
}

char env_next_slot(const struct boot_env *env)
{
	return env_slot_index(env->try_) >= 0 ? env->try_ : env->good;
}

const char *env_slot(const struct boot_env *env, char slot)
{
	int i = env_slot_index(slot);

	return i < 0 ? "" : env->slot[i];
}

void env_boot(const char *boot_id, char ret[ENV_BOOT_LEN + 1])
{
	size_t n = 0;

	for (; *boot_id && n < ENV_BOOT_LEN; boot_id++)
		if (*boot_id != '-')
			ret[n++] = *boot_id;
	ret[n] = '\0';
}

static void set_writer(struct boot_env *env, const struct boot_id *id)
{
	env_boot(id->id, env->state.boot);
	env->state.time = id->time;
}

void env_init(struct boot_env *ret, const struct boot_id *id)
{
	*ret = (struct boot_env){.good = 'a', .try_ = ENV_NONE, .begun = ENV_NONE};
	set_writer(ret, id);
}

/* --- text ------------------------------------------------------------------------- */

static void put(char *buf, enum env_field f, const char *value)
{
	memcpy(buf + fields[f].offset, value, strnlen(value, fields[f].width));
}

static char refused_result(const struct env_refused *e)
{
	if (e->deaths)
		return (char)('0' + e->deaths);
	return e->unfit ? 'h' : 'n';
}

static char result_of(const struct boot_env *env)
{
	if (env->state.no_variable)
		return 'v';
	return env->state.look == ENV_LOOK_BACK	    ? 'l'
	       : env->state.look == ENV_LOOK_SECOND ? 's'
						    : ENV_NONE;
}

/* Fits ENV_REFUSED_MAX entries at most, because times have ten digits until 2286. */
static void put_refused(char *buf, const struct boot_env *env)
{
	cleanup_str struct str text = {0};

	str_add(&text, "");
	for (size_t i = 0; i < env->state.n_refused; i++) {
		const struct env_refused *e = &env->state.refused[i];

		str_addf(&text, "%s%s.%s.%c.%lld", i ? " " : "", e->hash, e->kernel,
			 refused_result(e), (long long)e->time);
	}
	put(buf, ENV_F_REFUSED, text.s);
}

/* Writes all bytes that are the same in each file; the values stay. */
static void frame(char buf[ENV_SIZE])
{
	char values[ENV_SIZE];

	memcpy(values, buf, ENV_SIZE);
	memset(buf, '#', ENV_SIZE);
	memcpy(buf, ENV_SIGNATURE, strlen(ENV_SIGNATURE));
	for (int f = 0; f < ENV_F_COUNT; f++) {
		size_t len = strlen(fields[f].name), at = fields[f].offset;

		memcpy(buf + at - len - 1, fields[f].name, len);
		buf[at - 1] = '=';
		memcpy(buf + at, values + at, fields[f].width);
		buf[at + fields[f].width] = '\n';
	}
}

/* The values of the first sector, without the one that GRUB writes. */
static bool is_copied(enum env_field f)
{
	return f <= ENV_F_REFUSED && f != ENV_F_TRY;
}

static void sum_up(const char *buf, char ret[KARGS_HASH_LEN + 1])
{
	struct str values = {0};

	for (enum env_field f = 0; f < ENV_F_COUNT; f++)
		if (is_copied(f))
			str_addn(&values, buf + fields[f].offset,
				 f == ENV_F_BOOT ? ENV_BOOT_LEN : fields[f].width);
	kargs_hash_line(str_get(&values), ret);
	str_free(&values);
}

static bool adds_up(const char *buf)
{
	char sum[KARGS_HASH_LEN + 1];

	sum_up(buf, sum);
	return memcmp(buf + SUM_OFFSET, sum, SUM_LEN) == 0;
}

/* Copies the values to their copy, or back. */
static void copy_values(char *buf, bool back)
{
	char *copy = buf + fields[ENV_F_COPY].offset;

	for (enum env_field f = 0; f < ENV_F_COUNT; f++) {
		char *value = buf + fields[f].offset;

		if (!is_copied(f))
			continue;
		memcpy(back ? value : copy, back ? copy : value, fields[f].width);
		copy += fields[f].width;
	}
}

void env_seal(char buf[ENV_SIZE])
{
	char sum[KARGS_HASH_LEN + 1];

	sum_up(buf, sum);
	memcpy(buf + SUM_OFFSET, sum, SUM_LEN);
	copy_values(buf, false);
}

void env_render(const struct boot_env *env, char ret[ENV_SIZE])
{
	char text[32];

	memset(ret, ' ', ENV_SIZE);
	frame(ret);
	ret[fields[ENV_F_GOOD].offset] = env->good;
	ret[fields[ENV_F_TRY].offset] = env->try_;
	put(ret, ENV_F_LAYOUT, ENV_LAYOUT);
	snprintf(text, sizeof(text), "%u", env->state.deaths);
	put(ret, ENV_F_DEATHS, text);
	ret[fields[ENV_F_RESULT].offset] = result_of(env);
	put(ret, ENV_F_HASH, env->state.hash);
	put(ret, ENV_F_KERNEL, env->state.kernel);
	memcpy(ret + fields[ENV_F_BOOT].offset, env->state.boot, strlen(env->state.boot));
	snprintf(text, sizeof(text), "%lld", (long long)env->state.time);
	put(ret, ENV_F_TIME, text);
	put_refused(ret, env);
	put(ret, ENV_F_A, env->slot[0]);
	put(ret, ENV_F_B, env->slot[1]);
	ret[fields[ENV_F_BEGUN].offset] = env->begun;
	put(ret, ENV_F_ENDS, env->ends);
	snprintf(text, sizeof(text), "%u", env->healthy);
	put(ret, ENV_F_HEALTHY, text);
	env_seal(ret);
}

static void get(const char *buf, enum env_field f, char *ret)
{
	size_t len = fields[f].width;

	memcpy(ret, buf + fields[f].offset, len);
	while (len > 0 && ret[len - 1] == ' ')
		len--;
	ret[len] = '\0';
}

static int bad(struct err *err, enum env_field f, const char *what)
{
	return err_set(err, -EBADMSG, "%s is damaged: %s at byte %zu %s", ENV_FILE_NAME,
		       fields[f].name, fields[f].offset, what);
}

static int get_number(const char *buf, enum env_field f, int64_t *ret, struct err *err)
{
	char text[32];
	uint64_t n;

	get(buf, f, text);
	if (parse_u64(text, &n) < 0 || n > INT64_MAX)
		return bad(err, f, "is no number");
	*ret = (int64_t)n;
	return 0;
}

/* Rejects characters that GRUB or the kernel would interpret. */
static int get_words(const char *buf, enum env_field f, char *ret, struct err *err)
{
	get(buf, f, ret);
	for (const char *p = ret; *p; p++)
		if (*p < ' ' || *p > '~' || strchr("\"'\\$", *p))
			return bad(err, f, "has a character that is not allowed there");
	return 0;
}

/* "ARGS.KERNEL.RESULT.TIME" */
static bool parse_refused(char *text, struct env_refused *e)
{
	char *hash = strsep(&text, "."), *kernel = strsep(&text, ".");
	char *result = strsep(&text, ".");
	uint64_t time;

	if (!text || strlen(hash) != KARGS_HASH_LEN || strlen(kernel) != ENV_KERNEL_HASH_LEN ||
	    strlen(result) != 1 || !strchr("123456789nh", *result) || parse_u64(text, &time) < 0 ||
	    time > INT64_MAX)
		return false;
	snprintf(e->hash, sizeof(e->hash), "%s", hash);
	snprintf(e->kernel, sizeof(e->kernel), "%s", kernel);
	e->unfit = *result == 'h';
	e->deaths = strchr("nh", *result) ? 0 : (unsigned int)(*result - '0');
	e->time = (int64_t)time;
	return true;
}

static int get_refused(const char *buf, struct boot_env *env, struct err *err)
{
	char text[ENV_SLOT_SIZE + 1], *rest = text, *one;
	int r = get_words(buf, ENV_F_REFUSED, text, err);

	if (r < 0 || !*text)
		return r;
	while ((one = strsep(&rest, " ")))
		if (env->state.n_refused == ENV_REFUSED_MAX ||
		    !parse_refused(one, &env->state.refused[env->state.n_refused++]))
			return bad(err, ENV_F_REFUSED, "is not a list of refused arguments");
	return 0;
}

/* Rejects what would be no entry of the list of refused arguments. */
static int get_hash(const char *buf, char *ret, struct err *err)
{
	int r = get_words(buf, ENV_F_HASH, ret, err);

	if (r == 0 && *ret && strspn(ret, "0123456789abcdef") != KARGS_HASH_LEN)
		return bad(err, ENV_F_HASH, "is no hash");
	return r;
}

/* Reads the boot id without the sum behind it. */
static int get_boot(const char *buf, struct boot_env *env, struct err *err)
{
	char text[64];
	int r = get_words(buf, ENV_F_BOOT, text, err);

	text[ENV_BOOT_LEN] = '\0';
	for (size_t len = strlen(text); len > 0 && text[len - 1] == ' '; len--)
		text[len - 1] = '\0';
	memcpy(env->state.boot, text, sizeof(env->state.boot));
	return r;
}

static int parse_state(const char *buf, struct boot_env *env, struct err *err)
{
	char result = buf[fields[ENV_F_RESULT].offset];
	int64_t deaths = 0;
	int r;

	r = get_number(buf, ENV_F_DEATHS, &deaths, err);
	if (r < 0)
		return r;
	env->state.deaths = (unsigned int)deaths;
	if (!result || !strchr("vls-", result))
		return bad(err, ENV_F_RESULT, "is not v, l, s or -");
	env->state.no_variable = result == 'v';
	env->state.look = result == 'l'	  ? ENV_LOOK_BACK
			  : result == 's' ? ENV_LOOK_SECOND
					  : ENV_LOOK_NONE;
	r = get_hash(buf, env->state.hash, err);
	if (r == 0)
		r = get_words(buf, ENV_F_KERNEL, env->state.kernel, err);
	if (r == 0)
		r = get_boot(buf, env, err);
	if (r == 0)
		r = get_number(buf, ENV_F_TIME, &env->state.time, err);
	if (r == 0)
		r = get_refused(buf, env, err);
	return r;
}

static int parse_selectors(const char *buf, struct boot_env *env, struct err *err)
{
	env->good = buf[fields[ENV_F_GOOD].offset];
	env->try_ = buf[fields[ENV_F_TRY].offset];
	if (buf[fields[ENV_F_LAYOUT].offset] != *ENV_LAYOUT)
		return bad(err, ENV_F_LAYOUT,
			   "is not " ENV_LAYOUT ", the only layout that this railhead reads");
	if (env->good == '\0' || !strchr("ab-", env->good))
		return bad(err, ENV_F_GOOD, "is not a, b or -");
	return 0;
}

/* These fields are in no sum, so an impossible value counts as absent. */
static void parse_counters(const char *buf, struct boot_env *env)
{
	int64_t healthy;

	env->try_ = buf[fields[ENV_F_TRY].offset];
	if (env->try_ == '\0' || !strchr("abt-", env->try_))
		env->try_ = ENV_NONE;
	env->begun = buf[fields[ENV_F_BEGUN].offset];
	if (env->begun == '\0' || !strchr("0123-", env->begun))
		env->begun = ENV_NONE;
	get(buf, ENV_F_ENDS, env->ends);
	if (strspn(env->ends, "ptsualoPTSUAL") != strlen(env->ends))
		*env->ends = '\0';
	if (get_number(buf, ENV_F_HEALTHY, &healthy, NULL) == 0)
		env->healthy = (unsigned int)healthy;
}

/*
 * GRUB passes any text of a slot that boots to the kernel, and the text is compared with the
 * kernel's line: such a slot is read unchanged, except for characters that GRUB interprets. The
 * slot of a trial that GRUB has taken is such a slot, too.
 */
static void parse_slot(const char *buf, char slot, struct boot_env *env)
{
	enum env_field f = slot == 'a' ? ENV_F_A : ENV_F_B;
	char *text = env->slot[env_slot_index(slot)];

	if (get_words(buf, f, text, NULL) == 0)
		return;
	if (env->good != slot && env->try_ != slot && env->try_ != ENV_TAKEN)
		*text = '\0';
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || strchr("\"'\\$", *p))
			*p = '?';
}

static int differs(const char *buf, const char *wanted, struct err *err)
{
	for (size_t i = 0; i < ENV_SIZE; i++)
		if (buf[i] != wanted[i]) {
			err_set(err, -EBADMSG,
				"%s is damaged: byte %zu is 0x%02x instead of 0x%02x; a program "
				"other than railhead or GRUB edited the file",
				ENV_FILE_NAME, i, (unsigned char)buf[i], (unsigned char)wanted[i]);
			return 1;
		}
	return 0;
}

int env_parse(const char *buf, size_t len, struct boot_env *ret, struct err *err)
{
	struct boot_env env = {0};
	char text[ENV_SIZE];
	int r;

	if (len != ENV_SIZE)
		return err_set(err, -EBADMSG, "%s is damaged: %zu bytes long instead of %d",
			       ENV_FILE_NAME, len, ENV_SIZE);
	memcpy(text, buf, ENV_SIZE);
	frame(text);
	if (!adds_up(text)) {
		copy_values(text, true);
		if (!adds_up(text))
			return err_set(
				err, -EBADMSG,
				"%s is damaged: neither its values nor their copy match their "
				"checksum; a program other than railhead or GRUB edited the file",
				ENV_FILE_NAME);
	}
	r = parse_selectors(text, &env, err);
	if (r == 0)
		r = parse_state(text, &env, err);
	if (r < 0)
		return r;
	parse_counters(text, &env);
	parse_slot(text, 'a', &env);
	parse_slot(text, 'b', &env);
	*ret = env;
	/* The meaning is known; now every byte must be in its place. */
	env_render(&env, text);
	return differs(buf, text, err);
}

/* --- the file ----------------------------------------------------------------------- */

int env_read_bytes(int dirfd, char **ret, size_t *ret_len, struct err *err)
{
	cleanup_close int fd = -1;
	int r;

	if (dirfd < 0)
		return err_errno(err, -ENOENT, "%s", ENV_FILE_NAME);
	fd = root_open_at(dirfd, ENV_FILE_NAME, O_RDONLY | O_NOFOLLOW);
	if (fd < 0)
		return err_errno(err, fd, "%s", ENV_FILE_NAME);
	r = read_fd(fd, 64 * 1024, ret, ret_len);
	if (r == -EFBIG)
		return err_set(err, -EBADMSG, "%s is damaged: over 64K long instead of %d",
			       ENV_FILE_NAME, ENV_SIZE);
	return r < 0 ? err_errno(err, r, "%s", ENV_FILE_NAME) : 0;
}

int env_read(int dirfd, struct boot_env *ret, struct err *err)
{
	cleanup_free char *text = NULL;
	size_t len;
	int r = env_read_bytes(dirfd, &text, &len, err);

	if (r == 0 && len == 0)
		return err_set(err, -ENOENT, "%s is empty", ENV_FILE_NAME);
	return r < 0 ? r : env_parse(text, len, ret, err);
}

int env_create(const struct root *root, int dirfd, const struct boot_id *id, struct boot_env *ret,
	       struct err *err)
{
	struct boot_env env;
	char buf[ENV_SIZE];
	int r;

	env_init(&env, id);
	env_render(&env, buf);
	r = machine_create_durable(root, dirfd, ENV_FILE_NAME, buf, sizeof(buf), err);
	if (r < 0)
		return r;
	if (ret)
		*ret = env;
	return 0;
}

int env_write(int dirfd, const struct env_plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct env_write *w = &plan->step[i];
		int r = machine_overwrite(dirfd, ENV_FILE_NAME, (off_t)w->offset, w->data, w->len,
					  err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- plans -------------------------------------------------------------------------- */

/* Appends the bytes of one piece of the file in which plan->after differs from the file before. */
static void step(struct env_plan *plan, size_t offset, size_t len)
{
	struct env_write *w = &plan->step[plan->n];
	char buf[ENV_SIZE];

	env_render(&plan->after, buf);
	w->offset = offset;
	w->len = len;
	memcpy(w->data, buf + offset, len);
	plan->n++;
}

/* Writes the selectors and the state of plan->after. */
static void step_head_alone(struct env_plan *plan, const struct boot_id *id)
{
	set_writer(&plan->after, id);
	step(plan, HEAD_OFFSET, HEAD_LEN);
}

static void step_head(struct env_plan *plan, const struct boot_id *id)
{
	step_head_alone(plan, id);
	step(plan, COUNT_OFFSET, LAST_LEN);
}

static void step_slot(struct env_plan *plan, char slot, const char *line)
{
	char *text = plan->after.slot[env_slot_index(slot)];
	enum env_field f = slot == 'a' ? ENV_F_A : ENV_F_B;

	if (streq(text, line))
		return;
	snprintf(text, ENV_SLOT_SIZE + 1, "%s", line);
	step(plan, fields[f].offset, fields[f].width);
}

/*
 * GRUB must count boots while there may be args to leave out: those of the good slot, and those of
 * the other slot, because one bad byte can make that slot good.
 */
static char count_for(const struct boot_env *env, bool counts)
{
	return counts && (*env->slot[0] || *env->slot[1]) ? '0' : ENV_NONE;
}

/* Writes the count alone. */
static void step_count(struct env_plan *plan, char begun)
{
	if (plan->after.begun == begun)
		return;
	plan->after.begun = begun;
	step(plan, COUNT_OFFSET, strlen(ENV_VAR_BEGUN "=") + 1);
}

/* Without good args the earlier args are of no use, and boots need no count. */
static void step_good(struct env_plan *plan, char slot, bool counts, const struct boot_id *id)
{
	plan->after.good = slot;
	plan->after.try_ = ENV_NONE;
	step_head_alone(plan, id);
	if (!*env_slot(&plan->after, slot))
		step_slot(plan, env_free_slot(&plan->after), "");
	plan->after.begun = count_for(&plan->after, counts);
	step(plan, COUNT_OFFSET, LAST_LEN);
}

/* A slot that is armed must not be written. */
static void step_disarm(struct env_plan *plan, const struct boot_id *id)
{
	if (env_slot_index(plan->after.try_) < 0)
		return;
	plan->after.try_ = ENV_NONE;
	ends_drop(plan->after.ends);
	step_head(plan, id);
}

/* Resets the state to the args `line` on the kernel of this boot. */
static void speak_of(struct boot_env *e, unsigned int deaths, const char *line,
		     const struct boot_id *id)
{
	char hash[KARGS_HASH_LEN + 1];

	kargs_hash_line(line, hash);
	if (!streq(e->state.hash, hash) || !streq(e->state.kernel, id->kernel))
		*e->ends = '\0';
	e->state.deaths = deaths > 99 ? 99 : deaths;
	e->state.no_variable = false;
	e->state.look = ENV_LOOK_NONE;
	memcpy(e->state.hash, hash, sizeof(hash));
	snprintf(e->state.kernel, sizeof(e->state.kernel), "%s", id->kernel);
}

static void hash_kernel(const char *release, char ret[ENV_KERNEL_HASH_LEN + 1])
{
	char hash[KARGS_HASH_LEN + 1];

	kargs_hash_line(release, hash);
	memcpy(ret, hash, ENV_KERNEL_HASH_LEN);
	ret[ENV_KERNEL_HASH_LEN] = '\0';
}

static bool refused_is(const struct env_refused *e, const char *hash, const char *release)
{
	char kernel[ENV_KERNEL_HASH_LEN + 1];

	hash_kernel(release, kernel);
	return streq(e->hash, hash) && streq(e->kernel, kernel);
}

static const struct env_refused *refused_as(const struct boot_env *env, const char *hash,
					    const char *release)
{
	for (size_t i = 0; i < env->state.n_refused; i++)
		if (refused_is(&env->state.refused[i], hash, release))
			return &env->state.refused[i];
	return NULL;
}

const struct env_refused *env_refused(const struct boot_env *env, const struct kargs *args,
				      const char *kernel)
{
	char hash[KARGS_HASH_LEN + 1];

	kargs_hash(args, hash);
	return refused_as(env, hash, kernel);
}

/* Removes the args of the state from the list of rejected args. */
static void forgive(struct boot_env *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->state.n_refused; i++)
		if (!refused_is(&e->state.refused[i], e->state.hash, e->state.kernel))
			e->state.refused[n++] = e->state.refused[i];
	if (n < e->state.n_refused)
		e->healthy = 0;
	e->state.n_refused = n;
}

/* Puts the args of the state on the list of rejected args; the oldest entry makes room. */
static void refuse(struct boot_env *e, unsigned int deaths)
{
	struct env_refused *list = e->state.refused, *last;

	forgive(e);
	if (e->state.n_refused == ENV_REFUSED_MAX)
		memmove(list, list + 1, --e->state.n_refused * sizeof(*list));
	last = &list[e->state.n_refused++];
	*last = (struct env_refused){.deaths = deaths > 9 ? 9 : deaths, .time = e->state.time};
	memcpy(last->hash, e->state.hash, sizeof(last->hash));
	hash_kernel(e->state.kernel, last->kernel);
	e->state.deaths = 0;
	e->healthy = 0;
}

static void begin(struct env_plan *plan, const struct boot_env *env)
{
	plan->n = 0;
	plan->after = *env;
}

/* Writes the args into the slot not in use, and resets the state to them. */
static int fill_free_slot(const struct boot_env *env, const struct kargs *args, unsigned int deaths,
			  bool counts, const struct boot_id *id, struct env_plan *ret,
			  struct err *err)
{
	cleanup_free char *line = kargs_line(args);
	int r = kargs_check(args, err);

	if (r < 0)
		return r;
	begin(ret, env);
	step_disarm(ret, id);
	if (env->good == ENV_NONE)
		step_slot(ret, 'b', "");
	/* The count comes first, because no args may boot for good uncounted. */
	if (*line && counts)
		step_count(ret, '0');
	step_slot(ret, env_free_slot(env), line);
	speak_of(&ret->after, deaths, line, id);
	return 0;
}

static int arm(const struct boot_env *env, const struct kargs *args, unsigned int deaths,
	       bool stay_refused, const struct boot_id *id, struct env_plan *ret, struct err *err)
{
	int r = fill_free_slot(env, args, deaths, true, id, ret, err);

	if (r < 0)
		return r;
	if (!stay_refused)
		forgive(&ret->after);
	else
		ret->after.healthy = 0;
	/* A second trial that died, or whose attempt was given back, has decided nothing. */
	if ((deaths || ends_give_back(env->ends)) && env->state.look == ENV_LOOK_SECOND &&
	    streq(env->state.hash, ret->after.state.hash) &&
	    streq(env->state.kernel, ret->after.state.kernel))
		ret->after.state.look = ENV_LOOK_SECOND;
	/* Args that were rejected, or of which some trials died, start again from the beginning. */
	if (deaths < env->state.deaths || ret->after.state.n_refused < env->state.n_refused)
		*ret->after.ends = '\0';
	if (env->try_ == ENV_TAKEN)
		ends_settle(ret->after.ends);
	ends_drop(ret->after.ends);
	ends_open(ret->after.ends);
	ret->after.try_ = env_free_slot(env);
	/*
	 * After a reset a slot must be good, so that a mark shows that GRUB reads, even if the
	 * trial dies.
	 */
	if (ret->after.good == ENV_NONE)
		ret->after.good = ret->after.try_ == 'a' ? 'b' : 'a';
	/* This boot ends in a reboot by railhead, before stage early: it is not lost. */
	ret->after.begun = count_for(&ret->after, true);
	step_head(ret, id);
	return 0;
}

int env_plan_arm(const struct boot_env *env, const struct kargs *args, unsigned int deaths,
		 const struct boot_id *id, struct env_plan *ret, struct err *err)
{
	return arm(env, args, deaths, false, id, ret, err);
}

int env_plan_try_again(const struct boot_env *env, const struct kargs *args,
		       const struct boot_id *id, struct env_plan *ret, struct err *err)
{
	return arm(env, args, 0, true, id, ret, err);
}

void env_plan_healthy(const struct boot_env *env, struct env_plan *ret)
{
	begin(ret, env);
	if (env->healthy == 99)
		return;
	ret->after.healthy++;
	step(ret, COUNT_OFFSET, LAST_LEN);
}

int env_plan_adopt(const struct boot_env *env, const struct kargs *args, bool counts,
		   const struct boot_id *id, struct env_plan *ret, struct err *err)
{
	int r = fill_free_slot(env, args, 0, counts, id, ret, err);

	if (r < 0)
		return r;
	*ret->after.ends = '\0';
	forgive(&ret->after);
	step_good(ret, env_free_slot(env), counts, id);
	return 0;
}

void env_plan_commit(const struct boot_env *env, char slot, const struct boot_id *id,
		     struct env_plan *ret)
{
	begin(ret, env);
	if (env->good == slot && env->try_ == ENV_NONE)
		return;
	speak_of(&ret->after, 0, env_slot(env, slot), id);
	ends_drop(ret->after.ends);
	forgive(&ret->after);
	if (*env_slot(env, slot))
		step_count(ret, '0');
	step_good(ret, slot, true, id);
}

void env_plan_arrived(const struct boot_env *env, bool counts, bool in_root, struct env_plan *ret)
{
	begin(ret, env);
	/* Before stage early, write only so that GRUB counts at all. */
	if (in_root || env->begun == ENV_NONE)
		step_count(ret, count_for(env, counts));
}

void env_plan_left_out(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret)
{
	char left_out = env->good, empty = env_free_slot(env);

	/*
	 * A trial of other args may have died before those boots, and is not written down yet. One
	 * death rejects them.
	 */
	env_plan_died(env, 1, id, ret);
	if (env_slot_index(left_out) < 0)
		return;
	step_disarm(ret, id);
	step_slot(ret, empty, "");
	ret->after.good = empty;
	ret->after.begun = count_for(&ret->after, true);
	speak_of(&ret->after, 1, env_slot(env, left_out), id);
	snprintf(ret->after.ends, sizeof(ret->after.ends), "%c", ENV_END_LEFT_OUT);
	step_head(ret, id);
}

void env_plan_disarm(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret)
{
	begin(ret, env);
	if (env->try_ == ENV_NONE)
		return;
	ret->after.try_ = ENV_NONE;
	ends_drop(ret->after.ends);
	step_head(ret, id);
}

void env_plan_died(const struct boot_env *env, unsigned int most, const struct boot_id *id,
		   struct env_plan *ret)
{
	const struct env_refused *again = refused_as(env, env->state.hash, env->state.kernel);
	struct boot_env *e = &ret->after;

	begin(ret, env);
	if (env->try_ != ENV_TAKEN)
		return;
	e->try_ = ENV_NONE;
	/* Without a hash there are no args: another program wrote that GRUB took a trial. */
	if (*e->state.hash && !ends_give_back(env->ends) && (++e->state.deaths >= most || again))
		refuse(e, e->state.deaths + (again ? again->deaths : 0));
	ends_settle(e->ends);
	step_head(ret, id);
}

void env_plan_ended(const struct boot_env *env, enum env_end end, struct env_plan *ret)
{
	begin(ret, env);
	if (env->try_ == ENV_TAKEN && ends_note(ret->after.ends, end))
		step(ret, fields[ENV_F_ENDS].offset, fields[ENV_F_ENDS].width);
}

/* The trial failed at its verdict. */
static void lose(struct boot_env *e)
{
	ends_note(e->ends, ENV_END_LOST);
	ends_settle(e->ends);
}

void env_plan_not_arrived(const struct boot_env *env, const struct boot_id *id,
			  struct env_plan *ret)
{
	struct boot_env *e = &ret->after;

	begin(ret, env);
	e->try_ = ENV_NONE;
	speak_of(e, 0, env_slot(env, env_free_slot(env)), id);
	lose(e);
	refuse(e, 0);
	step_head(ret, id);
}

void env_plan_no_variable(const struct boot_env *env, const struct boot_id *id,
			  struct env_plan *ret)
{
	begin(ret, env);
	ret->after.try_ = ENV_NONE;
	ret->after.state.look = ENV_LOOK_NONE;
	ret->after.state.no_variable = true;
	ends_drop(ret->after.ends);
	step_head(ret, id);
}

void env_plan_mend(const char *buf, const struct boot_env *env, const struct boot_id *id,
		   struct env_plan *ret)
{
	char text[ENV_SIZE];

	begin(ret, env);
	set_writer(&ret->after, id);
	/* Another program changed the count: GRUB counted, and counts again from here on. */
	if (env->begun == ENV_NONE && buf[fields[ENV_F_BEGUN].offset] != ENV_NONE)
		ret->after.begun = count_for(env, true);
	env_render(&ret->after, text);
	for (size_t at = 0; at < ENV_SIZE; at += SECTOR)
		if (memcmp(buf + at, text + at, SECTOR) != 0)
			step(ret, at, SECTOR);
}

void env_plan_unfit(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret)
{
	struct boot_env *e = &ret->after;

	env_plan_not_arrived(env, id, ret);
	e->state.refused[e->state.n_refused - 1].unfit = true;
	ret->n = 0;
	step_head(ret, id);
}

void env_plan_look_back(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret)
{
	begin(ret, env);
	ret->after.try_ = ENV_NONE;
	speak_of(&ret->after, 0, env_slot(env, env_free_slot(env)), id);
	ret->after.state.look = ENV_LOOK_BACK;
	lose(&ret->after);
	step_head(ret, id);
}

void env_plan_look_again(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret)
{
	begin(ret, env);
	ret->after.try_ = env_free_slot(env);
	ret->after.state.look = ENV_LOOK_SECOND;
	ends_open(ret->after.ends);
	step_head(ret, id);
}

void env_plan_look_over(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret)
{
	begin(ret, env);
	if (env->state.look != ENV_LOOK_BACK)
		return;
	ret->after.state.look = ENV_LOOK_NONE;
	step_head(ret, id);
}

void env_plan_reset(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret)
{
	struct boot_env *e = &ret->after;

	begin(ret, env);
	if (env->good == ENV_NONE && env->try_ == ENV_NONE && !*env->slot[0] && !*env->slot[1] &&
	    !env->state.n_refused)
		return;
	e->good = ENV_NONE;
	e->try_ = ENV_NONE;
	speak_of(e, 0, "", id);
	e->begun = ENV_NONE;
	e->state.n_refused = 0;
	e->healthy = 0;
	step_head(ret, id);
	step_slot(ret, 'a', "");
	step_slot(ret, 'b', "");
}
