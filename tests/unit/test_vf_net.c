/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is found of a VF's own files: its MTU, its MSI-X vectors, and why they can't be said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/vf.h"
#include "sys/acs.h"
#include "reason.h"
#include "tree.h"

#define PF "0000:41:00.0"
#define VF "0000:41:00.1"
#define VF_DIR "sys/devices/pci0000:00/" VF

static struct kind_ctx make_ctx(const struct tmp *t)
{
	return (struct kind_ctx){.root = &t->root, .running = STAGE_DEVICES};
}

static void make_vf(const struct tmp *t)
{
	tree_pci(t, &(struct tree_fn){PF, "15b3:1021", "0x020000", .net = "eth0", .vfs = "8"});
	tree_pci(t, &(struct tree_fn){VF, "15b3:101e", "0x020000", .physfn = PF});
	tree_fn_file(t, PF, "virtfn0", "->../%s", VF);
}

struct found {
	int r;
	enum change_state state;
	const char *text; /* observed, or part of the reason or error */
};

static void looks(struct tmp *t, const struct target_item *item, int64_t wanted, struct found want)
{
	const struct kind_ctx ctx = make_ctx(t);
	struct plan plan = {0};
	struct change *c = plan_add(&plan, "sriov", &kind_vf, STAGE_DEVICES, PHASE_VF_LINK,
				    (struct place){0}, "x");
	struct err err = {0};

	change_on(c, PF, item);
	c->on.vf = 0;
	c->want = (struct value){.type = VALUE_NUMBER, .number = wanted};
	assert_int_equal(kind_vf.look(&ctx, c, &err), want.r);
	if (want.r == 0)
		assert_int_equal(c->now.state, want.state);
	assert_text(want.r < 0 ? err.text : reason_of(c) ? reason_of(c) : c->now.found, want.text);
	plan_free(&plan);
}

static void test_mtu(void **state)
{
	struct tmp *t = *state;

	looks(t, &vf_mtu, 9000, (struct found){0, CHANGE_WAITS, "VF 0 of " PF});
	make_vf(t);
	looks(t, &vf_mtu, 9000, (struct found){0, CHANGE_WAITS, "VF 0 of " PF});
	tmp_write(t, VF_DIR "/net/a/mtu", "9000\n");
	looks(t, &vf_mtu, 9000, (struct found){0, CHANGE_SAME, "9000"});
	tmp_write(t, VF_DIR "/net/b/mtu", "1500\n"); /* any of several counts */
	looks(t, &vf_mtu, 9000, (struct found){0, CHANGE_DIFFERS, "1500"});
}

/* The directory stays when a container has the netdev. */
static void test_mtu_in_a_container(void **state)
{
	struct tmp *t = *state;

	make_vf(t);
	tmp_write(t, VF_DIR "/net/a/mtu", "1500\n");
	tree_remove(t, VF_DIR "/net/a/mtu");
	tree_remove(t, VF_DIR "/net/a");
	looks(t, &vf_mtu, 9000, (struct found){0, CHANGE_UNSUPPORTED, "network namespace"});
}

static void put_config(const struct tmp *t, const void *data, size_t len)
{
	FILE *f = fopen(tmp_path(t, VF_DIR "/config"), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static int set_msix(struct tmp *t)
{
	struct kind_ctx ctx = {.root = &t->root, .running = STAGE_DEVICES};
	struct plan plan = {0};
	struct change *c = plan_add(&plan, "sriov", &kind_vf, STAGE_DEVICES, PHASE_VF_ADDRESS,
				    (struct place){0}, "vf");
	int r;

	change_on(c, PF, &vf_msix);
	c->on.vf = 0;
	c->want.number = 64;
	r = kind_vf.set(&ctx, c, &t->err);
	plan_free(&plan);
	return r;
}

/* A VF is taken from its driver for it, unless somebody uses it. */
static void test_msix_spares_users(void **state)
{
	struct tmp *t = *state;

	tree_pci(t, &(struct tree_fn){PF, "15b3:1021", "0x020000", .vfs = "8"});
	make_vf(t);
	tree_fn_file(t, PF, "sriov_vf_total_msix", "1024\n");
	tree_fn_file(t, VF, "sriov_vf_msix_count", "\n");
	tree_fn_file(t, VF, "driver", "->../../../bus/pci/drivers/mlx5_core");
	tmp_write(t, "sys/bus/pci/drivers/mlx5_core/unbind", "");
	tree_dir(t, "sys/devices/pci0000:00/" VF "/net"); /* its netdev is elsewhere */
	assert_int_equal(set_msix(t), -EBUSY);
	assert_text(t->err.text, "another network namespace");
	assert_string_equal(tree_text(t, "sys/bus/pci/drivers/mlx5_core/unbind"), "");
	tree_fn_file(t, VF, "net/eth0/ifindex", "7\n");
	assert_int_equal(set_msix(t), 0);
	assert_string_equal(tree_text(t, "sys/bus/pci/drivers/mlx5_core/unbind"), VF);
	assert_string_equal(tree_text(t, "sys/devices/pci0000:00/" VF "/sriov_vf_msix_count"),
			    "64");
	/* vfio-pci has enabled the function: a guest has it */
	tmp_write(t, "sys/bus/pci/drivers/vfio-pci/unbind", "");
	tree_remove(t, "sys/devices/pci0000:00/" VF "/driver");
	tree_fn_file(t, VF, "driver", "->../../../bus/pci/drivers/vfio-pci");
	tree_fn_file(t, VF, "enable", "1\n");
	assert_int_equal(set_msix(t), -EBUSY);
	assert_text(t->err.text, "a guest uses it");
	tree_fn_file(t, VF, "enable", "0\n");
	assert_int_equal(set_msix(t), 0);
	assert_string_equal(tree_text(t, "sys/bus/pci/drivers/vfio-pci/unbind"), VF);
}

static void test_msix(void **state)
{
	/* capabilities at 0x40 (PCI Express) and 0x50 (MSI-X); enabled, which is no part of it */
	unsigned char config[256] = {[6] = 0x10,    [0x34] = 0x40, [0x40] = 0x10, [0x41] = 0x50,
				     [0x50] = 0x11, [0x52] = 0xff, [0x53] = 0x81};
	struct tmp *t = *state;

	tree_pci(t, &(struct tree_fn){PF, "15b3:1021", "0x020000", .vfs = "8"});
	looks(t, &vf_msix, 64, (struct found){0, CHANGE_WAITS, "does not exist yet"});
	make_vf(t);
	looks(t, &vf_msix, 64, (struct found){-ENOENT, 0, VF ": its config space"});
	put_config(t, config, 64);
	looks(t, &vf_msix, 64,
	      (struct found){-EACCES, 0, VF ": only root can read more than 64 bytes"});
	put_config(t, config, sizeof(config));
	looks(t, &vf_msix, 512, (struct found){0, CHANGE_SAME, "512"});
	looks(t, &vf_msix, 64, (struct found){0, CHANGE_DIFFERS, "512"});
	config[0x41] = 0;
	put_config(t, config, sizeof(config));
	looks(t, &vf_msix, 64, (struct found){0, CHANGE_DIFFERS, "0"});
	config[0x41] = 0x40; /* a capability that leads to itself ends the list */
	put_config(t, config, sizeof(config));
	looks(t, &vf_msix, 64, (struct found){0, CHANGE_DIFFERS, "0"});
}

/* What was read of a port is kept, and belongs to it. */
static void test_ports_are_kept(void **state)
{
	struct tmp *t = *state;
	struct acs *acs = acs_new(&t->root);
	struct acs_ports ports = {0};
	struct err err = {0};

	tree_link(t, "sys/bus/pci/devices/" PF, "../../../devices/pci0000:00/0000:00:01.0/" PF);
	assert_int_equal(acs_ports_above(acs, PF, &ports, &err), 0);
	assert_int_equal(ports.n, 1);
	assert_string_equal(ports.v[0]->addr, "0000:00:01.0");
	assert_int_equal(ports.v[0]->state, ACS_UNREADABLE);
	assert_ptr_equal(acs_port(acs, "0000:00:01.0", &err), ports.v[0]);
	assert_null(acs_port(acs, "pci0000:00", &err));
	assert_int_equal(acs_ports_above(acs, VF, &ports, &err), -ENOENT);
	vec_free(&ports);
	acs_free(acs);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_mtu),
		TEST(test_mtu_in_a_container),
		TEST(test_msix),
		TEST(test_msix_spares_users),
		TEST(test_ports_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
