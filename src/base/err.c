/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Marks a cut message, so that a reader sees that the sentence is incomplete. */
static void mark_cut(char *text, size_t len)
{
	static const char dots[] = "...";

	if (len >= ERR_TEXT_MAX)
		memcpy(text + ERR_TEXT_MAX - sizeof(dots), dots, sizeof(dots));
}

unsigned int err_take_mark(char *text, const char *fmt)
{
	char *mark = strstr(fmt, ERR_MARK) ? strstr(text, ERR_MARK) : NULL;

	if (!mark)
		return 0;
	memmove(mark, mark + 1, strlen(mark));
	return (unsigned int)(mark - text);
}

size_t err_len_before(unsigned int mend)
{
	return mend - strlen("; ");
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	err->fault = FAULT_NONE;
	va_start(ap, fmt);
	mark_cut(err->text, (size_t)vsnprintf(err->text, sizeof(err->text), fmt, ap));
	va_end(ap);
	err->mend = err_take_mark(err->text, fmt);
	return code;
}

const char *err_text(int code)
{
	return code == -EBADFD ? "is not a regular file" : strerror(-code);
}

const char *err_of_path(int code)
{
	switch (-code) {
	case ENOENT:
		return "No such file or directory; check the path";
	case ENOTDIR:
		return "Not a directory; check the path";
	case EACCES:
		return "Permission denied; run railhead as root, or make the path readable";
	default:
		return err_text(code);
	}
}

int err_path(struct err *err, int code, const char *path)
{
	return err_set(err, code, "%s: %s", path, err_of_path(code));
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	if (!err)
		return code;
	err->code = code;
	err->fault = FAULT_NONE;
	err->mend = 0;
	va_start(ap, fmt);
	len = (size_t)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (len < sizeof(err->text))
		len += (size_t)snprintf(err->text + len, sizeof(err->text) - len, ": %s",
					err_text(code));
	mark_cut(err->text, len);
	return code;
}

int err_copy(struct err *err, int code, const struct err *from)
{
	if (!err)
		return code;
	*err = *from;
	err->code = code;
	return code;
}

int err_fault(struct err *err, int code, enum fault fault)
{
	if (err)
		err->fault = fault;
	return code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char inner[ERR_TEXT_MAX];
	va_list ap;
	size_t len;

	if (!err)
		return -EIO;
	memcpy(inner, err->text, sizeof(inner));
	va_start(ap, fmt);
	len = (size_t)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (err->mend)
		err->mend += (unsigned int)(len + strlen(": "));
	if (len < sizeof(err->text))
		len += (size_t)snprintf(err->text + len, sizeof(err->text) - len, ": %s", inner);
	if (err->mend >= sizeof(err->text))
		err->mend = 0; /* cut off */
	mark_cut(err->text, len);
	return err->code;
}

int err_explain(struct err *err, const char *why)
{
	const char *mend = strstr(why, TO_MEND);
	int code = err_wrap(err, "%.*s", mend ? (int)(mend - why) : (int)strlen(why), why);
	size_t before = err ? strlen(err->text) : 0, len;

	if (!err || !mend)
		return code;
	len = before + (size_t)snprintf(err->text + before, sizeof(err->text) - before, "; %s",
					mend + strlen(TO_MEND));
	err->mend = len < sizeof(err->text) ? (unsigned int)(before + strlen("; ")) : 0;
	mark_cut(err->text, len);
	return code;
}
