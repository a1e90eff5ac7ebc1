/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/section.h"

#include "base/vec.h"
#include "profile/language.h"

const struct spec *schema_profile(void)
{
	static VEC(struct field) fields;
	static struct spec profile;

	if (fields.n)
		return &profile;
	for (const struct field *f = schema_document.fields; f->name; f++)
		vec_push(&fields, *f);
	for (const struct section *const *s = sections; *s; s++)
		vec_push(&fields, ((struct field){.name = (*s)->name,
						  .spec = (*s)->spec,
						  .help = (*s)->help,
						  .class = (*s)->class}));
	vec_push(&fields, (struct field){0});
	profile = schema_document;
	profile.fields = fields.v;
	return &profile;
}

void sections_files(struct strv *ret)
{
	for (const struct section *const *s = sections; *s; s++)
		if ((*s)->files)
			(*s)->files(*s, ret);
}

const struct section *section_find(const char *name)
{
	for (const struct section *const *s = sections; *s; s++)
		if (streq((*s)->name, name))
			return *s;
	return NULL;
}

bool section_is_per_set(const struct section *s)
{
	return s->spec->kind == SPEC_MAP_OF && s->spec->key == &spec_set_name;
}
