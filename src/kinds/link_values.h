/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of link.c: what is wanted of a netdev and what it has, in the kernel's units. */
#pragma once

#include "kinds/link.h"
#include "sys/port.h"

struct link_job {
	const struct change *c;
	const struct link_item *item;
	const char *addr, *key;
	char *driver; /* of the function; "none" */
};
void link_job_begin(const struct root *root, const struct change *c, struct link_job *ret);
void link_job_free(struct link_job *job);
#define cleanup_link_job __attribute__((__cleanup__(link_job_free)))

uint64_t link_wanted(const struct link_job *job, const struct part *part);
/* A number in the place of the part's: "on", "8192". Caller frees. */
char *link_text(const struct link_job *job, const struct part *part, uint64_t number);
/* "rx 8192" of a group, else the number alone; behind what text has. */
void link_add_text(struct str *text, const struct link_job *job, const struct part *part,
		   const char *number);

/*
 * What the netdev has of it. -EOPNOTSUPP with a sentence: the driver or the kernel does not offer
 * it, or not to be changed.
 */
int link_have(const struct link_job *job, const struct part *part, const struct port *port,
	      uint64_t *ret, struct err *err);
/* Of a number that has one, the device's maximum; else 0. */
uint32_t link_max(const struct link_job *job, const struct part *part, const struct port *port);

/* The settings that a part of a group is; appends to ret. What is so already is left out. */
struct eth_settings {
	struct eth_setting *v;
	size_t n;
	size_t cap;
};
void link_settings(const struct link_job *job, const struct part *part, const struct port *port,
		   struct eth_settings *ret);

/* link_send.c: sends what differs on one netdev; as vf_send() of vf_address.h. */
int link_send(const struct kind_ctx *ctx, const struct link_job *job, const struct port *port,
	      struct err *err);

/* link.c: asks, apart or not, after one netdev or (0) all of the function. */
int link_ask(const struct root *root, const char *addr, unsigned int ifindex, bool apart,
	     struct ports *ret, struct err *err);
