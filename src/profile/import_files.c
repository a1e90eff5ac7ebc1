/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of sysctl.d, modprobe.d, modules-load.d, /etc/default/grub and command lines. */
#include <string.h>

#include "base/mem.h"
#include "profile/import.h"

/* --- sysctl.d ------------------------------------------------------------------------------ */

static void sysctl_line(struct import *im, const struct origin *from, char *text)
{
	bool may_lack = *text == '-';
	char *key = text + may_lack, *value = strchr(key, '=');

	if (!value && may_lack) {
		import_refuse(im, from,
			      "leaves a key out of patterns; a narrower line of sysctl: wins over "
			      "a pattern, so give that key its value");
		return;
	}
	if (!value) {
		import_refuse(im, from, "has no '=': sysctl(8) skips the line");
		return;
	}
	*value++ = '\0';
	import_sysctl(im, from, import_trim(key), import_trim(value), may_lack, NULL);
}

/* --- modprobe.d ---------------------------------------------------------------------------- */

static void option(struct import *im, const struct origin *from, const char *module, char *word)
{
	char *value = strchr(word, '=');
	struct slot slot = {.section = "modules", .group = "options", .map = module, .key = word};

	if (!value) {
		import_refuse(im, from, "has no value; write one, such as %s: 1", word);
		return;
	}
	*value++ = '\0';
	import_keep(im, from, &slot, value);
}

static void options_line(struct import *im, const struct origin *from, char *rest)
{
	char *module = import_word(&rest), *word;
	bool any = false;

	while (module && !im->excess && (word = import_word(&rest))) {
		cleanup_free char *said = xasprintf("options %s %s", module, word);
		struct origin one = {from->file, from->line, said};

		option(im, &one, module, word);
		any = true;
	}
	if (!any)
		import_refuse(im, from, "has no option");
}

static void blacklist_line(struct import *im, const struct origin *from, char *rest)
{
	char *module = import_word(&rest);
	const struct slot slot = {
		.section = "modules", .group = "blacklist", .key = module, .is_item = true};

	if (module)
		import_keep(im, from, &slot, module);
	else
		import_refuse(im, from, "names no module");
}

static void modprobe_line(struct import *im, const struct origin *from, char *text)
{
	static const struct {
		const char *command, *why;
	} others[] = {
		{"install", "runs a program instead of loading the module, which a profile cannot; "
			    "modules.blacklist prevents loading by alias"},
		{"remove", "runs a program when a module goes, which a profile cannot"},
		{"softdep", "modules.load sets the order of modules; leave softdep in modprobe.d"},
		{"weakdep", "only initramfs generators read weakdep; leave it in modprobe.d"},
		{"alias", "gives a module another name; leave it in modprobe.d"},
		{"include", "modprobe no longer supports this command"},
		{"config", "modprobe no longer supports this command"},
	};
	char *rest = text, *command = import_word(&rest);

	if (streq(command, "options")) {
		options_line(im, from, rest);
		return;
	}
	if (streq(command, "blacklist")) {
		blacklist_line(im, from, rest);
		return;
	}
	for (size_t i = 0; i < array_len(others); i++)
		if (streq(command, others[i].command)) {
			import_refuse(im, from, "%s", others[i].why);
			return;
		}
	import_refuse(im, from, "not a command of modprobe.d(5)");
}

static void module_line(struct import *im, const struct origin *from, char *text)
{
	const struct slot slot = {
		.section = "modules", .group = "load", .key = text, .is_item = true};

	import_keep(im, from, &slot, text);
}

/* --- command lines ------------------------------------------------------------------------- */

static void cmdline_line(struct import *im, const struct origin *from, char *text)
{
	import_arguments(im, from, text);
}

/*
 * Adds a shell word without its quotes and backslashes. Returns the text behind the word.
 * quote: the one that is open at the beginning, and then at the end; or 0.
 */
static const char *unquote(const char *text, char *quote, struct str *ret)
{
	for (; *text && (*quote || !strchr(IMPORT_BLANKS ";&|<>()", *text)); text++) {
		if (!*quote && (*text == '"' || *text == '\''))
			*quote = *text;
		else if (*quote == *text)
			*quote = '\0';
		else if (*text != '\\' || *quote == '\'' || !text[1])
			str_addn(ret, text, 1);
		else
			str_addn(ret, ++text, 1);
	}
	return text;
}

/* Whether there is no further command behind a word. */
static bool is_last(const char *rest)
{
	rest += strspn(rest, IMPORT_BLANKS);
	rest += *rest == ';';
	rest += strspn(rest, IMPORT_BLANKS);
	return !*rest || *rest == '#';
}

/* V="b" replaces an earlier V="a"; V="$V b" appends. */
static void assign_again(struct import *im, const struct origin *from)
{
	cleanup_free char *why =
		xasprintf("%s:%u assigns %s again", from->file, from->line, im->assigned);

	for (size_t i = 0; i < im->list.n; i++)
		if ((im->list.v[i].section || im->list.v[i].pages_line) && im->list.v[i].of &&
		    streq(im->list.v[i].of, im->assigned))
			import_withdraw(&im->list.v[i], why);
}

static void assign(struct import *im, const struct origin *from, const char *name, const char *text)
{
	cleanup_str struct str value = {0};
	const char *rest = unquote(text, &im->quote, &value);
	bool last = is_last(rest);

	im->assigned = name;
	/* V=b COMMAND is for that command alone. */
	if (!strchr(str_get(&value), '$') && (im->quote || last || *rest == ';'))
		assign_again(im, from);
	if (im->quote)
		import_refuse(im, from,
			      "its quote ends in another line; write the value in one line");
	else if (!last)
		import_refuse(im, from,
			      "a command follows the value in its line; write it in a line of its "
			      "own");
	else
		import_arguments(im, from, str_get(&value));
	im->assigned = NULL;
}

static void grub_line(struct import *im, const struct origin *from, char *text)
{
	char *value;

	if (im->quote) {
		cleanup_str struct str rest = {0}; /* of the value of an earlier line */

		unquote(text, &im->quote, &rest);
		import_refuse(im, from,
			      "is within a value that begins further up; write that value in one "
			      "line");
		return;
	}
	if (str_starts(text, "export "))
		text += strlen("export ");
	value = strchr(text, '=');
	if (!value || !str_starts(text, "GRUB_CMDLINE_LINUX")) {
		import_refuse(im, from, "configures GRUB, not the kernel");
		return;
	}
	if (str_starts(text, "GRUB_CMDLINE_LINUX_RECOVERY") ||
	    str_starts(text, "GRUB_CMDLINE_LINUX_XEN")) {
		import_refuse(im, from, "applies to recovery or Xen boots only");
		return;
	}
	*value++ = '\0';
	assign(im, from, text, value);
}

/* --- reading a file ------------------------------------------------------------------------ */

typedef void read_line(struct import *im, const struct origin *from, char *text);

static const struct {
	read_line *read;
	const char *comments; /* characters that begin a comment */
	bool joined;	      /* a backslash at the end of a line joins it to the next */
} formats[] = {
	[IMPORT_SYSCTL] = {sysctl_line, "#;", false},
	[IMPORT_MODPROBE] = {modprobe_line, "#", true},
	[IMPORT_MODULES_LOAD] = {module_line, "#;", false},
	[IMPORT_CMDLINE] = {cmdline_line, "#", false},
	[IMPORT_GRUB] = {grub_line, "#", true},
};

void import_text(struct import *im, const char *path, bool below, const char *text,
		 enum import_kind kind)
{
	unsigned int number = 0, lines = 0;
	bool alone = kind == IMPORT_CMDLINE && !strstr(path, "cmdline.d/");
	char *line;

	/*
	 * All files of GRUB, of tuned and of cmdline.d make one command line each; another file
	 * its own.
	 */
	im->command_line = alone ? IMPORT_TUNED + 1 + (unsigned int)im->files.n : kind;
	im->quote = '\0';
	if (kind == IMPORT_TUNED) {
		import_tuned(im, path, below, text);
		return;
	}
	strv_add(&im->files, path);
	while (!im->excess && (line = import_line(&text, &number, &lines, formats[kind].joined))) {
		char *rest = import_trim(line);
		cleanup_free char *said = xstrdup(rest);
		const struct origin from = {path, number, said};

		if (import_hold(im, path, number, strlen(line)) && *rest &&
		    !strchr(formats[kind].comments, *rest))
			formats[kind].read(im, &from, rest);
		free(line);
	}
}

/* --- which kind ---------------------------------------------------------------------------- */

/* The kind, by the first line that is not a comment. */
static enum import_kind kind_of_text(const char *text)
{
	static const char *const commands[] = {"options ", "blacklist ", "install ",
					       "softdep ", "alias ",	 "remove "};

	while (*text) {
		size_t len;

		text += strspn(text, IMPORT_BLANKS);
		len = strcspn(text, "\n");
		if (*text == '[')
			return IMPORT_TUNED;
		if (str_starts(text, "GRUB_"))
			return IMPORT_GRUB;
		for (size_t i = 0; i < array_len(commands); i++)
			if (str_starts(text, commands[i]))
				return IMPORT_MODPROBE;
		if (*text && !strchr("#;", *text))
			return strcspn(text, "./") < strcspn(text, "= \n") &&
					       strcspn(text, "=") < len
				       ? IMPORT_SYSCTL
				       : IMPORT_UNKNOWN;
		text += len;
	}
	return IMPORT_UNKNOWN;
}

enum import_kind import_kind_of(const char *path, const char *text)
{
	static const struct {
		const char *part; /* of the path; a trailing '$' anchors it at the end */
		enum import_kind kind;
	} places[] = {
		{"sysctl.d/", IMPORT_SYSCTL},		{"sysctl.conf$", IMPORT_SYSCTL},
		{"modprobe.d/", IMPORT_MODPROBE},	{"modules-load.d/", IMPORT_MODULES_LOAD},
		{"tuned.conf$", IMPORT_TUNED},		{"default/grub$", IMPORT_GRUB},
		{"default/grub.d/", IMPORT_GRUB},	{"kernel/cmdline$", IMPORT_CMDLINE},
		{"cmdline.d/", IMPORT_CMDLINE},		{"proc/cmdline$", IMPORT_CMDLINE},
		{"/etc/modules$", IMPORT_MODULES_LOAD},
	};

	for (size_t i = 0; i < array_len(places); i++) {
		size_t len = strlen(places[i].part);
		cleanup_free char *part = xstrndup(places[i].part, len - 1);
		bool at_end = places[i].part[len - 1] == '$';

		if (at_end ? streq(path, part) || str_ends(path, part)
			   : strstr(path, places[i].part) != NULL)
			return places[i].kind;
	}
	return text ? kind_of_text(text) : IMPORT_UNKNOWN;
}
