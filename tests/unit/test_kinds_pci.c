/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings in config space: what is read, what a set leaves alone, who is blamed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pci/header.h>

#include "check_change.h"
#include "kinds/kind.h"
#include "kinds/pci.h"
#include "profile/language.h"
#include "reason.h"
#include "row.h"
#include "sys/machine.h"
#include "tree.h"

#define PORT "0000:40:01.0"
#define FN "0000:41:00.0"
#define PORT_DIR "sys/devices/pci0000:40/" PORT
#define FN_DIR PORT_DIR "/" FN

enum {
	CONFIG_SIZE = 4096,
	CAP = 0x40,
	DEVCAP = CAP + 4,
	DEVCTL = CAP + 8,
	LNKCAP = CAP + 12,
	LNKCTL = CAP + 16,
	ASPM_L0S_L1 = 3 << 10,
};

static void poke(const struct tmp *t, const char *dir, long at, unsigned int value)
{
	cleanup_free char *name = xasprintf("%s/config", dir);
	FILE *f = fopen(tmp_path(t, name), "r+");
	unsigned char b[] = {(unsigned char)value, (unsigned char)(value >> 8)};

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(b, 1, sizeof(b), f), sizeof(b));
	fclose(f);
}

static unsigned int peek(const struct tmp *t, const char *dir, long at)
{
	cleanup_free char *name = xasprintf("%s/config", dir);
	FILE *f = fopen(tmp_path(t, name), "r");
	unsigned char b[2];

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fread(b, 1, sizeof(b), f), sizeof(b));
	fclose(f);
	return b[0] | (unsigned int)b[1] << 8;
}

/* Type of the capability: 0 endpoint, 4 root port. */
static void make_config(const struct tmp *t, const char *dir, unsigned int device,
			unsigned int type, size_t size)
{
	cleanup_free char *name = xasprintf("%s/config", dir);

	tmp_write(t, name, "");
	assert_int_equal(truncate(tmp_path(t, name), (off_t)size), 0);
	poke(t, dir, 0, 0x8086);
	poke(t, dir, 2, device);
	if (size <= 64)
		return;
	poke(t, dir, 6, 0x10); /* a list of capabilities, from 0x34 on */
	poke(t, dir, 0x0e, type == 4);
	poke(t, dir, 0x34, CAP);
	poke(t, dir, CAP, 0x10);
	poke(t, dir, CAP + 2, type << 4 | 2);
	poke(t, dir, DEVCAP, 2);      /* 512 bytes */
	poke(t, dir, DEVCTL, 0x2810); /* 512 asked at a time, 128 sent, relaxed ordering */
	poke(t, dir, LNKCAP, ASPM_L0S_L1 | 16 << 4 | 5);
	poke(t, dir, LNKCTL, 0x40); /* common clock */
}

static int setup(void **state)
{
	if (tmp_setup(state) < 0)
		return -1;
	make_config(*state, PORT_DIR, 0x352a, 4, CONFIG_SIZE);
	make_config(*state, FN_DIR, 0x10c9, 0, CONFIG_SIZE);
	tree_link(*state, "sys/bus/pci/devices/" PORT, "../../../devices/pci0000:40/" PORT);
	tree_link(*state, "sys/bus/pci/devices/" FN, "../../../devices/pci0000:40/" PORT "/" FN);
	return 0;
}

struct trial {
	struct plan plan;
	struct change *c;
	struct node node;
	struct kind_ctx ctx;
};

static void begin(struct trial *x, const struct tmp *t, const struct kind *kind, const char *target,
		  const char *desired)
{
	static char no_args[] = "";

	*x = (struct trial){.ctx = {.root = &t->root, .running = STAGE_DEVICES}};
	x->node.cmdline = no_args;
	x->ctx.node = &x->node;
	x->c = plan_add(&x->plan, "pcie", kind, STAGE_DEVICES, PHASE_PORT, (struct place){0}, "x");
	if (kind == &kind_check)
		check_about(x->c, target, desired);
}

/* What a profile says of a key of section pcie. */
static void begin_row(struct trial *x, const struct tmp *t, const char *key, const char *addr,
		      const char *text)
{
	const struct field *row = row_find("pcie", key);
	cleanup_ynode struct ynode *value = row_value(row, text);

	begin(x, t, &kind_pci, key, text);
	change_on(x->c, addr, row->item);
	change_want(x->c, value);
}

static void end(struct trial *x)
{
	plan_free(&x->plan);
}

/* What a look finds. */
static void look(struct tmp *t, const char *key, const char *addr, const char *desired,
		 enum change_state state, const char *observed)
{
	struct trial x;

	begin_row(&x, t, key, addr, desired);
	assert_int_equal(kind_pci.look(&x.ctx, x.c, &t->err), 0);
	assert_string_equal(x.c->now.found, observed);
	assert_int_equal(x.c->now.state, state);
	end(&x);
}

static void look_fails(struct tmp *t, const char *key, const char *addr, const char *desired,
		       int code, const char *text)
{
	struct trial x;

	begin_row(&x, t, key, addr, desired);
	assert_int_equal(kind_pci.look(&x.ctx, x.c, &t->err), code);
	assert_text(t->err.text, text);
	end(&x);
}

/* Sets, and looks again. */
static void set(struct tmp *t, const char *key, const char *addr, const char *desired)
{
	struct trial x;

	begin_row(&x, t, key, addr, desired);
	assert_int_equal(kind_pci.set(&x.ctx, x.c, &t->err), 0);
	assert_int_equal(kind_pci.look(&x.ctx, x.c, &t->err), 0);
	assert_int_equal(x.c->now.state, CHANGE_SAME);
	end(&x);
}

/* --- read requests, relaxed ordering ---------------------------------------------------- */

static void test_read_request(void **state)
{
	static const struct {
		const char *size;
		unsigned int bits;
	} sizes[] = {{"128", 0x0000},  {"256", 0x1000},	 {"512", 0x2000},
		     {"1024", 0x3000}, {"2048", 0x4000}, {"4096", 0x5000}};
	struct tmp *t = *state;

	look(t, "max_read_request", FN, "4096", CHANGE_DIFFERS, "512");
	look(t, "max_read_request", FN, "512", CHANGE_SAME, "512");
	for (size_t i = 0; i < array_len(sizes); i++) {
		poke(t, FN_DIR, DEVCTL, 0x2f5f);
		set(t, "max_read_request", FN, sizes[i].size);
		/* all other bits are as they were */
		assert_int_equal(peek(t, FN_DIR, DEVCTL), 0x0f5f | sizes[i].bits);
	}
	poke(t, FN_DIR, DEVCTL, 0x7000);
	look(t, "max_read_request", FN, "4096", CHANGE_DIFFERS, "reserved value 7");
}

static void test_relaxed_ordering(void **state)
{
	struct tmp *t = *state;

	look(t, "relaxed_ordering", FN, "true", CHANGE_SAME, "true");
	set(t, "relaxed_ordering", FN, "false");
	assert_int_equal(peek(t, FN_DIR, DEVCTL), 0x2800);
	look(t, "relaxed_ordering", FN, "true", CHANGE_DIFFERS, "false");
	set(t, "relaxed_ordering", FN, "true");
	assert_int_equal(peek(t, FN_DIR, DEVCTL), 0x2810);
	assert_int_equal(peek(t, FN_DIR, LNKCTL), 0x40);
	assert_int_equal(peek(t, PORT_DIR, DEVCTL), 0x2810);
}

/* Below some root ports the kernel has switched it off, with reason. */
static void test_disordered_ports(void **state)
{
	struct tmp *t = *state;

	poke(t, PORT_DIR, 2, 0x2f02);
	look_fails(t, "relaxed_ordering", FN, "true", -EOPNOTSUPP,
		   "root port " PORT " (8086:2f02, Xeon E5 v3)");
	look(t, "relaxed_ordering", FN, "false", CHANGE_DIFFERS, "true");
	poke(t, PORT_DIR, 2, 0x6f0f); /* one past the last */
	look(t, "relaxed_ordering", FN, "true", CHANGE_SAME, "true");
}

static void test_unreadable(void **state)
{
	struct tmp *t = *state;

	poke(t, FN_DIR, 0, 0xffff);
	look_fails(t, "max_read_request", FN, "512", -ENXIO, "does not answer");
	make_config(t, FN_DIR, 0x10c9, 0, 64);
	look(t, "max_read_request", FN, "512", CHANGE_DIFFERS, "unknown"); /* no live machine */
	tree_remove(t, FN_DIR "/config");
	look(t, "relaxed_ordering", FN, "true", CHANGE_DIFFERS, "unknown");
	make_config(t, FN_DIR, 0x10c9, 0, CONFIG_SIZE);
	poke(t, FN_DIR, 0x34, 0);
	look_fails(t, "max_read_request", FN, "512", -EOPNOTSUPP, "conventional PCI");
	look_fails(t, "max_read_request", "0000:99:00.0", "512", -ENODEV, "gone from the bus");
}

/* A capture that ends within the capability has what comes before its end. */
static void test_short_capture(void **state)
{
	struct tmp *t = *state;

	make_config(t, FN_DIR, 0x10c9, 0, CAP + 0x30);
	look(t, "max_read_request", FN, "512", CHANGE_SAME, "512");
	look(t, "aspm", FN, "disabled", CHANGE_SAME, "disabled");
}

/* A capability of version 1 ends before it has the registers of version 2. */
static void test_early_capability(void **state)
{
	const struct pci_setting *ari = PCI_BITS(PCI_EXP_DEVCTL2, PCI_EXP_DEVCTL2_ARI);
	struct tmp *t = *state;
	struct trial x;

	begin_row(&x, t, "relaxed_ordering", FN, "true");
	change_on(x.c, FN, ari);
	assert_int_equal(kind_pci.look(&x.ctx, x.c, &t->err), 0);
	assert_int_equal(x.c->now.state, CHANGE_DIFFERS);
	assert_int_equal(kind_pci.set(&x.ctx, x.c, &t->err), 0);
	assert_int_equal(peek(t, FN_DIR, CAP + PCI_EXP_DEVCTL2), PCI_EXP_DEVCTL2_ARI);
	poke(t, FN_DIR, CAP + PCI_EXP_FLAGS, 1);
	assert_int_equal(kind_pci.look(&x.ctx, x.c, &t->err), -EOPNOTSUPP);
	assert_text(t->err.text, "of an early version, without a register at CAP_EXP+28");
	end(&x);
}

/* Each row that is set has a place, and its bits hold all values of the row. */
static void test_rows(void **state)
{
	const struct field *row = section_find("pcie")->spec->item->fields;

	(void)state;
	for (; row->name; row++) {
		const struct pci_setting *setting = row->item;
		int64_t most = row->spec == &spec_bool ? 1 : row->spec->max;

		/* judged, by a check of its own; or about the others */
		if (streq(row->name, "max_payload") || row->class == KEY_GOVERNS)
			continue;
		assert_non_null(setting);
		if (setting->sort.look != pci_bits_look)
			continue;
		for (size_t i = 0; spec_word(row->spec, i); i++)
			most = (int64_t)i;
		assert_true(most > 0);
		assert_true(most <= setting->mask / (setting->mask & -setting->mask));
	}
}

/* --- the write itself ------------------------------------------------------------------- */

static void test_write_errors(void **state)
{
	struct tmp *t = *state;

	assert_int_equal(machine_pci_express(&t->root, FN, 8, 0x0010, 0, &t->err), 0);
	make_config(t, FN_DIR, 0x10c9, 0, 64);
	assert_int_equal(machine_pci_express(&t->root, FN, 8, 0x0010, 0x0010, &t->err),
			 -EOPNOTSUPP);
	assert_int_equal(machine_pci_express(&t->root, "0000:99:00.0", 8, 0x0010, 0, &t->err),
			 -ENOENT);
}

/* --- ASPM --------------------------------------------------------------------------------- */

static void test_aspm_by_hand(void **state)
{
	static const struct {
		const char *word;
		unsigned int bits;
	} words[] = {{"l1", 2}, {"l0s_l1", 3}, {"l0s", 1}, {"disabled", 0}};
	struct tmp *t = *state;

	look(t, "aspm", FN, "disabled", CHANGE_SAME, "disabled");
	for (size_t i = 0; i < array_len(words); i++) {
		set(t, "aspm", FN, words[i].word);
		assert_int_equal(peek(t, FN_DIR, LNKCTL), 0x40 | words[i].bits);
		assert_int_equal(peek(t, PORT_DIR, LNKCTL), 0x40 | words[i].bits);
	}
	poke(t, PORT_DIR, LNKCTL, 0x42);
	look(t, "aspm", FN, "disabled", CHANGE_DIFFERS, "disabled, l1 at port " PORT);
}

static void test_aspm_lacking(void **state)
{
	struct tmp *t = *state;

	poke(t, PORT_DIR, LNKCAP, 2 << 10); /* no L0s above */
	look_fails(t, "aspm", FN, "l0s_l1", -EOPNOTSUPP, PORT " is not capable of L0s");
	look(t, "aspm", FN, "l1", CHANGE_DIFFERS, "disabled");
	poke(t, FN_DIR, LNKCAP, 0);
	look_fails(t, "aspm", FN, "l1", -EOPNOTSUPP, FN " is not capable of L1");
	look_fails(t, "aspm", PORT, "l1", -EOPNOTSUPP, "has no link");
}

/* The kernel's files are there: config space is not touched. */
static void test_aspm_by_kernel(void **state)
{
	struct tmp *t = *state;
	struct trial x;

	tmp_write(t, FN_DIR "/link/l0s_aspm", "1\n");
	tmp_write(t, FN_DIR "/link/l1_aspm", "0\n");
	tmp_write(t, "sys/module/pcie_aspm/parameters/policy", "default [performance] powersave\n");
	begin_row(&x, t, "aspm", FN, "l1");
	assert_int_equal(kind_pci.set(&x.ctx, x.c, &t->err), 0);
	assert_string_equal(tree_text(t, FN_DIR "/link/l0s_aspm"), "0");
	assert_string_equal(tree_text(t, FN_DIR "/link/l1_aspm"), "1");
	assert_int_equal(peek(t, FN_DIR, LNKCTL), 0x40);
	assert_int_equal(peek(t, PORT_DIR, LNKCTL), 0x40);
	/* it did not switch it on: its policy is named */
	assert_int_equal(kind_pci.look(&x.ctx, x.c, &t->err), 0);
	assert_int_equal(x.c->now.state, CHANGE_DIFFERS);
	assert_text(reason_of(x.c), "only the states that its policy (performance,");
	end(&x);
}

/* --- checks ------------------------------------------------------------------------------- */

static void check(struct tmp *t, const char *target, const char *desired, enum change_state state,
		  const char *observed, const char *reason)
{
	struct pci_fn fn = {.addr = FN, .class = 0x030200};
	struct trial x;

	begin(&x, t, &kind_check, target, desired);
	vec_push(&x.node.pci, fn);
	if (strstr(target, "width:") || strstr(target, "payload:"))
		x.c->compare = COMPARE_AT_LEAST;
	assert_int_equal(kind_check.look(&x.ctx, x.c, &t->err), 0);
	assert_string_equal(x.c->now.found, observed);
	assert_int_equal(x.c->now.state, state);
	if (reason)
		assert_text(reason_of(x.c), reason);
	else
		assert_null(reason_of(x.c));
	vec_free(&x.node.pci);
	end(&x);
}

static void test_payload(void **state)
{
	struct tmp *t = *state;

	check(t, "pcie-payload:" FN, "128", CHANGE_SAME, "128", NULL);
	check(t, "pcie-payload:" FN, "256", CHANGE_DIFFERS, "128", "pci=pcie_bus_safe");
	poke(t, PORT_DIR, DEVCAP, 1);
	check(t, "pcie-payload:" FN, "512", CHANGE_DIFFERS, "128",
	      PORT " is capable of at most 256");
	poke(t, FN_DIR, DEVCAP, 0);
	check(t, "pcie-payload:" FN, "256", CHANGE_DIFFERS, "128", FN " is capable of at most 128");
	poke(t, FN_DIR, DEVCTL, 0x2850);
	check(t, "pcie-payload:" FN, "256", CHANGE_SAME, "512", NULL);
}

static void make_link(struct tmp *t, const char *now, const char *card, const char *port)
{
	static const char *const names[] = {"speed", "width"};
	const char *const texts[] = {now, card, port};
	static const char *const files[] = {FN_DIR "/current_link_", FN_DIR "/max_link_",
					    PORT_DIR "/max_link_"};

	for (size_t i = 0; i < array_len(files); i++) {
		cleanup_free char *speed = xasprintf("%s%s", files[i], names[0]);
		cleanup_free char *width = xasprintf("%s%s", files[i], names[1]);
		const char *x = strchr(texts[i], 'x');

		tmp_write(t, width, x + 1);
		tmp_write(t, speed, "");
		cleanup_free char *text = xstrndup(texts[i], (size_t)(x - texts[i]));
		tmp_write(t, speed, text);
	}
}

static void test_link_ends(void **state)
{
	struct tmp *t = *state;

	make_link(t, "32.0 GT/s PCIex16", "32.0 GT/s PCIex16", "32.0 GT/s PCIex16");
	check(t, "pcie-width:" FN, "16", CHANGE_SAME, "16", NULL);
	check(t, "pcie-speed:" FN, "32GT/s", CHANGE_SAME, "32.0 GT/s PCIe", NULL);
	check(t, "pcie-speed:" FN, "max", CHANGE_SAME, "32.0 GT/s PCIe", NULL);
	make_link(t, "16.0 GT/s PCIex8", "32.0 GT/s PCIex16", "32.0 GT/s PCIex16");
	check(t, "pcie-width:" FN, "16", CHANGE_DIFFERS, "8",
	      "trained to x8, and " FN " and port " PORT " are capable of more");
	check(t, "pcie-width:" FN, "max", CHANGE_DIFFERS, "8", "reseat");
	check(t, "pcie-speed:" FN, "32GT/s", CHANGE_DIFFERS, "16.0 GT/s PCIe", "16.0 GT/s, and");
	make_link(t, "16.0 GT/s PCIex8", "32.0 GT/s PCIex16", "16.0 GT/s PCIex8");
	check(t, "pcie-width:" FN, "16", CHANGE_DIFFERS, "8",
	      "port " PORT " above it is capable of x8 at most");
	check(t, "pcie-speed:" FN, "32GT/s", CHANGE_DIFFERS, "16.0 GT/s PCIe",
	      "port " PORT " above it is capable of 16.0 GT/s at most");
	check(t, "pcie-width:" FN, "max", CHANGE_SAME, "8", NULL);
	make_link(t, "16.0 GT/s PCIex8", "16.0 GT/s PCIex8", "32.0 GT/s PCIex16");
	check(t, "pcie-width:" FN, "16", CHANGE_DIFFERS, "8", FN " itself is capable of x8");
}

/* A GPU that idles is judged by what both ends are capable of; its width is what it is. */
static void test_idle_gpu(void **state)
{
	struct tmp *t = *state;

	make_link(t, "2.5 GT/s PCIex16", "32.0 GT/s PCIex16", "32.0 GT/s PCIex16");
	check(t, "pcie-speed:" FN, "32GT/s", CHANGE_SAME,
	      "2.5 GT/s PCIe, idle; both ends are capable of 32.0 GT/s", NULL);
	make_link(t, "2.5 GT/s PCIex16", "32.0 GT/s PCIex16", "16.0 GT/s PCIex16");
	check(t, "pcie-speed:" FN, "32GT/s", CHANGE_DIFFERS,
	      "2.5 GT/s PCIe, idle; both ends are capable of 16.0 GT/s", "port " PORT);
	/* without the port it can't be told, and is no excuse for a slow link */
	tree_remove(t, PORT_DIR "/max_link_speed");
	tree_remove(t, FN_DIR "/max_link_speed");
	check(t, "pcie-speed:" FN, "32GT/s", CHANGE_DIFFERS, "2.5 GT/s PCIe", "reseat");
}

static void test_link_of_vf(void **state)
{
	struct tmp *t = *state;
	struct trial x;

	make_link(t, "8.0 GT/s PCIex8", "8.0 GT/s PCIex8", "8.0 GT/s PCIex8");
	tmp_write(t, PORT_DIR "/0000:41:00.1/current_link_speed", "Unknown\n");
	tree_link(t, PORT_DIR "/0000:41:00.1/physfn", "../" FN);
	tree_link(t, "sys/bus/pci/devices/0000:41:00.1",
		  "../../../devices/pci0000:40/" PORT "/0000:41:00.1");
	check(t, "pcie-speed:0000:41:00.1", "8GT/s", CHANGE_SAME, "8.0 GT/s PCIe", NULL);
	check(t, "pcie-width:" FN "/3", "8", CHANGE_SAME, "8", NULL);
	tree_remove(t, PORT_DIR "/0000:41:00.1/physfn"); /* as a guest sees it */
	begin(&x, t, &kind_check, "pcie-speed:0000:41:00.1", "8GT/s");
	assert_int_equal(kind_check.look(&x.ctx, x.c, &t->err), -EOPNOTSUPP);
	assert_text(t->err.text, "the kernel does not know the link");
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read_request, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_relaxed_ordering, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_disordered_ports, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_short_capture, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_early_capability, setup, tmp_teardown),
		cmocka_unit_test(test_rows),
		cmocka_unit_test_setup_teardown(test_write_errors, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_aspm_by_hand, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_aspm_lacking, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_aspm_by_kernel, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_payload, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_link_ends, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_idle_gpu, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_link_of_vf, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
