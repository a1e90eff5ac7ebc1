/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings in other programs' files that divide the CPUs between the system and work. */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

struct said {
	char *at;   /* "/etc/systemd/system.conf:12" */
	char *text; /* the value; NULL: not set */
};

/*
 * kubelet's configuration (KubeletConfiguration of kubelet.config.k8s.io/v1beta1): the files of
 * kubeadm, EKS and config directories. As in kubelet, later files override earlier ones and flags
 * override all files.
 */
struct kubelet {
	char *file;  /* the last file that was read: the place for a missing setting */
	char *fault; /* why one of the files is not a configuration, with its name; or NULL */
	struct said reserved, policy, topology; /* reservedSystemCPUs, cpuManagerPolicy, ... */
};

/* False: there is no configuration file and no flag. The caller frees *ret either way. */
bool kubelet_read(const struct root *root, struct kubelet *ret);
void kubelet_free(struct kubelet *k);
#define cleanup_kubelet __attribute__((__cleanup__(kubelet_free)))

/*
 * CPUAffinity= of the service manager, systemd-system.conf(5). Several settings are merged; an
 * empty setting drops the earlier ones. at: the last setting.
 */
bool systemd_affinity(const struct root *root, struct said *ret);
/*
 * isolated_cores in the variables of tuned's active profile. Also false where tuned computes the
 * value itself (${f:...}).
 */
bool tuned_isolated(const struct root *root, struct said *ret);
void said_free(struct said *s);
#define cleanup_said __attribute__((__cleanup__(said_free)))
