/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/admission.h"

#include <string.h>

#include "base/mem.h"
#include "report/json_text.h"
#include "sys/clock.h"

static uint64_t usec_of(const json_t *obj, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(obj, key));

	return n > 0 ? (uint64_t)n : 0;
}

static const char *digest_of(const json_t *record)
{
	return json_text(json_object_get(record, "profile"), "digest", "");
}

bool admission_read(const json_t *record, struct admission *ret)
{
	const json_t *obj = json_object_get(record, "admission");

	*ret = (struct admission){.since = usec_of(obj, "since_usec"),
				  .until = usec_of(obj, "until_usec"),
				  .ends = json_text(obj, "until", ""),
				  .who = json_text(obj, "who", ""),
				  .reason = json_text(obj, "reason", "")};
	return json_is_object(obj) && clock_usec() < ret->until &&
	       streq(json_text(obj, "digest", ""), digest_of(record));
}

void admission_write(json_t *record, const struct admission *a)
{
	json_object_del(record, "admission");
	if (a)
		json_object_set_new(record, "admission",
				    json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "since_usec",
					      (json_int_t)a->since, "until_usec",
					      (json_int_t)a->until, "until", a->ends, "digest",
					      digest_of(record), "who", a->who, "reason",
					      a->reason));
}

char *admission_line(const json_t *record)
{
	struct admission a;

	return admission_read(record, &a)
		       ? xasprintf("admitted until %s by %s: %s", a.ends, a.who, a.reason)
		       : NULL;
}
