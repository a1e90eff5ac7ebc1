/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of other programs say of the CPUs that are for the system or for work. */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

struct said {
	char *at;   /* "/etc/systemd/system.conf:12" */
	char *text; /* the value; NULL: nothing says it */
};

/*
 * kubelet's configuration (KubeletConfiguration of kubelet.config.k8s.io/v1beta1): the files of
 * kubeadm, EKS and of config directories, the later over the earlier, and flags over all of them,
 * as kubelet takes them.
 */
struct kubelet {
	char *file;  /* the last that was read: where what is lacking belongs */
	char *fault; /* why one of the files is no configuration, with its name; or NULL */
	struct said reserved, policy, topology; /* reservedSystemCPUs, cpuManagerPolicy, ... */
};

/* False: there is no such file, and no flag. The caller frees *ret either way. */
bool kubelet_read(const struct root *root, struct kubelet *ret);
void kubelet_free(struct kubelet *k);
#define cleanup_kubelet __attribute__((__cleanup__(kubelet_free)))

/*
 * CPUAffinity= of the service manager, systemd-system.conf(5): several are merged, an empty one
 * drops those before it; at: the last of them.
 */
bool systemd_affinity(const struct root *root, struct said *ret);
/*
 * isolated_cores of the variables of tuned's active profile. False, too, where tuned computes them
 * itself (${f:...}).
 */
bool tuned_isolated(const struct root *root, struct said *ret);
void said_free(struct said *s);
#define cleanup_said __attribute__((__cleanup__(said_free)))
