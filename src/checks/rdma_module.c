/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/rdma_module.h"

#include <string.h>

#include "base/mem.h"

static const struct {
	const char *driver, *module;
} modules[] = {
	{"mlx5_core", "mlx5_ib"}, {"mlx4_core", "mlx4_ib"}, {"bnxt_en", "bnxt_re"},
	{"ice", "irdma"},	  {"i40e", "irdma"},	    {"idpf", "irdma"},
	{"qede", "qedr"},	  {"cxgb4", "iw_cxgb4"},    {"hns3", "hns_roce_hw_v2"},
	{"mana", "mana_ib"},	  {"ionic", "ionic_rdma"},  {"vmxnet3", "vmw_pvrdma"},
	{"efa", "efa"},
};

const char *rdma_module_of(const char *driver)
{
	for (size_t i = 0; driver && i < array_len(modules); i++)
		if (streq(modules[i].driver, driver))
			return modules[i].module;
	return NULL;
}
