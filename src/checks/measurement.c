/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/measurement.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

const struct figure_key figure_keys[] = {
	{"min", QUANTITY_RATE},	     {"max", QUANTITY_TIME},   {"p50", QUANTITY_TIME},
	{"p99", QUANTITY_TIME},	     {"p9999", QUANTITY_TIME}, {"min_messages", QUANTITY_MESSAGES},
	{"faults", QUANTITY_FAULTS}, /* for gpu_health and gpu_fabric, which have no such key */
	{NULL, QUANTITY_FAULTS},
};

const struct figure_key *figure_key_find(const char *key)
{
	for (const struct figure_key *k = figure_keys; k->key; k++)
		if (streq(k->key, key))
			return k;
	return NULL;
}

void readings_add(struct readings *r, const char *key, double value, bool told)
{
	const struct figure_key *k = figure_key_find(key);

	if (k)
		vec_push(&r->list, ((struct reading){k->key, k->quantity, value, told}));
}

char *quantity_format(enum quantity q, double v)
{
	switch (q) {
	case QUANTITY_RATE:
		return v >= 1e9 ? xasprintf("%.1f GB/s", v / 1e9) : xasprintf("%.1f MB/s", v / 1e6);
	case QUANTITY_TIME:
		return v >= 1e6	  ? xasprintf("%.2f ms", v / 1e6)
		       : v >= 1e3 ? xasprintf("%.2f us", v / 1e3)
				  : xasprintf("%.1f ns", v);
	case QUANTITY_MESSAGES:
		return v >= 1e6 ? xasprintf("%.2f M/s", v / 1e6) : xasprintf("%.1f K/s", v / 1e3);
	case QUANTITY_FAULTS:
		break;
	}
	return xasprintf("%.0f %s", v, v == 1 ? "fault" : "faults");
}

void measurement_forget(struct measurement *m)
{
	vec_free(&m->readings.list);
	free(m->measured);
	free(m->wanted);
	free(m->reason);
	json_decref(m->detail);
	m->measured = m->wanted = m->reason = NULL;
	m->detail = NULL;
}

void measurement_looks_free(struct measurement *m)
{
	for (size_t i = 0; i < m->looks.n; i++) {
		free(m->looks.v[i].measured);
		vec_free(&m->looks.v[i].readings.list);
	}
	vec_free(&m->looks);
}

const char *member_of_id(const char *id, const char *check)
{
	const size_t before = strlen("gate/") + strlen(check) + 1;

	return strlen(id) > before ? id + before : id;
}

char *check_of_id(const char *id)
{
	const char *name = id + strlen("gate/");

	return xstrndup(name, strcspn(name, "/"));
}

void measurement_free(struct measurement *m)
{
	measurement_forget(m);
	measurement_looks_free(m);
	vec_free(&m->timings);
	free(m->id);
	free(m->check);
	free(m->origin);
}

void measurements_forget_timings(struct measurements *m)
{
	for (size_t i = 0; i < m->list.n; i++)
		vec_free(&m->list.v[i].timings);
}

void measurements_free(struct measurements *m)
{
	for (size_t i = 0; i < m->list.n; i++)
		measurement_free(&m->list.v[i]);
	vec_free(&m->list);
}
