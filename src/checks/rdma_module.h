/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The module that makes RDMA devices for a PCI driver; NULL: not known. Static. */
const char *rdma_module_of(const char *driver);
