/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a driver or the kernel rejects a set, and the remedy, by target, driver and errno. */
#pragma once

/* A driver offers or lacks each group of DCB. DCB_GROUPS, in a row of the table: any of them. */
enum dcb_group { DCB_MODE, DCB_DSCP, DCB_ROCE, DCB_PFC, DCB_ETS, DCB_BUFFER, DCB_GROUPS };
/* Other targets; VF_ATTR plus IFLA_VF_*. */
enum refused { DCB_AT_ALL = DCB_GROUPS + 1, PF_NUMVFS, PF_ESWITCH, VF_MSIX, VF_ATTR };

/*
 * what: of the enums above. Returns a text for err_explain() for the negative errno *code, static,
 * or NULL. driver: its name, or NULL if the caller does not know it. *code becomes the errno to
 * report, where the driver's own says something else.
 */
const char *refusal(unsigned int what, const char *driver, int *code);
