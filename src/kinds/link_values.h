/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of link.c: the wanted and the present values of a netdev, in the kernel's units. */
#pragma once

#include "kinds/link.h"
#include "sys/port.h"

struct part; /* of plan/change.h */

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
/* number, in the format of the part's value: "on", "8192". Caller frees. */
char *link_text(const struct link_job *job, const struct part *part, uint64_t number);
/* Appends "rx 8192" for a group, otherwise the number alone. */
void link_add_text(struct str *text, const struct link_job *job, const struct part *part,
		   const char *number);

/*
 * The present value of the netdev. -EOPNOTSUPP with a sentence: the driver or the kernel does not
 * offer the setting, or does not let it be changed.
 */
int link_have(const struct link_job *job, const struct part *part, const struct port *port,
	      uint64_t *ret, struct err *err);
/* The device's maximum of a number; 0: it has none. */
uint32_t link_max(const struct link_job *job, const struct part *part, const struct port *port);

/*
 * Appends to ret the settings of a part of a group, without flags that already have the wanted
 * value.
 */
struct eth_settings {
	struct eth_setting *v;
	size_t n;
	size_t cap;
};
void link_settings(const struct link_job *job, const struct part *part, const struct port *port,
		   struct eth_settings *ret);

/*
 * link_send.c: sends the values that differ on one netdev; result as of vf_send() in vf_address.h.
 */
int link_send(const struct kind_ctx *ctx, const struct link_job *job, const struct port *port,
	      struct err *err);

/* link_ask.c: asks one netdev or (0) all netdevs of the function, apart or in this process. */
int link_ask(const struct root *root, const char *addr, unsigned int ifindex, bool apart,
	     struct ports *ret, struct err *err);
