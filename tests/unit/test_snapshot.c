/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scrubbing, capturing a tree, and what an archive may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "node/scrub.h"
#include "node/snapshot.h"
#include "node/snapshot_info.h"
#include "node/vpd.h"
#include "sys/archive.h"
#include "sys/read.h"
#include "sys/scratch.h"
#include "tree.h"

/* Its other tables are not for this test. */
#pragma GCC diagnostic ignored "-Wunused-variable"
#include "sys/kernel_names.inc"

/* --- scrubbing ------------------------------------------------------------------------- */

#define NIC_DIR "/sys/devices/pci0000:00/0000:3b:00.0/"

/* One machine: numbers are given in this order, the same for the same original. */
static const struct {
	const char *path, *in, *out; /* out NULL: not captured */
} scrubbed[] = {
	{NIC_DIR "net/eth0/address", "b8:ce:f6:12:34:56\n", "02:00:00:00:00:01\n"},
	{NIC_DIR "net/eth1/address", "B8:CE:F6:12:34:57\n", "02:00:00:00:00:02\n"},
	{NIC_DIR "net/eth0v0/address", "b8:ce:f6:12:34:56\n", "02:00:00:00:00:01\n"},
	{"/sys/devices/virtual/net/lo/address", "00:00:00:00:00:00\n", "00:00:00:00:00:00\n"},
	{NIC_DIR "net/x/broadcast", "ff:ff:ff:ff:ff:ff\n", "ff:ff:ff:ff:ff:ff\n"},
	{NIC_DIR "net/ib0/address", "80:00:00:48:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:65:d1:ba\n",
	 "02:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:03\n"},
	{NIC_DIR "infiniband/mlx5_0/node_guid", "0c42:a103:0065:d1ba\n", "0000:0000:0000:0001\n"},
	{NIC_DIR "infiniband/mlx5_0/sys_image_guid", "0c42:a103:0065:d1ba\n",
	 "0000:0000:0000:0001\n"},
	{NIC_DIR "infiniband/mlx5_1/node_guid", "0c42:a103:0065:d1bb\n", "0000:0000:0000:0002\n"},
	{NIC_DIR "infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0c42:a103:0065:d1ba\n",
	 "fe80:0000:0000:0000:0000:0000:0000:0001\n"},
	{NIC_DIR "infiniband/mlx5_0/ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n",
	 "0000:0000:0000:0000:0000:0000:0000:0000\n"},
	{NIC_DIR "infiniband/mlx5_0/node_desc", "node42 mlx5_0\n", NULL},
	{NIC_DIR "infiniband/mlx5_0/board_id", "MT_0000000838\n", "MT_0000000838\n"},
	{NIC_DIR "net/eth0/phys_switch_id", "5634120003f6ceb8\n", NULL},
	{"/sys/devices/virtual/dmi/id/product_serial", "S12345\n", NULL},
	{"/sys/devices/virtual/dmi/id/product_uuid", "x\n", NULL},
	{"/sys/devices/virtual/dmi/id/board_asset_tag", "RACK7\n", NULL},
	{"/sys/devices/virtual/dmi/id/chassis_asset_tag", "RACK7\n", NULL},
	{"/sys/devices/virtual/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77\n",
	 "7783-7084-3265-9085-8269-3286-77\n"},
	{"/sys/devices/virtual/dmi/id/product_name", "SYS-821GE-TNHR\n", "SYS-821GE-TNHR\n"},
	{"/proc/sys/kernel/hostname", "node42\n", NULL},
	{"/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n", NULL},
	{"/proc/sys/net/ipv4/tcp_fastopen_key", "1-2-3-4\n", NULL},
	{"/proc/cmdline",
	 "BOOT_IMAGE=/vmlinuz root=UUID=6d3f1f0a-aaaa-4bbb-8ccc-0123456789ab ro quiet "
	 "rd.luks.uuid=6d3f1f0a-aaaa-4bbb-8ccc-0123456789ab "
	 "resume=UUID=6d3f1f0a-aaaa-4bbb-8ccc-0123456789ac iommu=pt\n",
	 "BOOT_IMAGE=/vmlinuz root=UUID=00000000-0000-0000-0000-000000000001 ro quiet "
	 "rd.luks.uuid=00000000-0000-0000-0000-000000000001 "
	 "resume=UUID=00000000-0000-0000-0000-000000000002 iommu=pt\n"},
	{"/proc/cmdline",
	 "a=1 db_passwd=hunter2 API_TOKEN=\"x y\" rd.luks.key=/k "
	 "ip=10.0.0.7::10.0.0.1:255.0.0.0:n42 "
	 "systemd.hostname=n42 systemd.machine_id=0123 BOOTIF=01-b8-ce-f6-12-34-56 z\n",
	 "a=1 z\n"},
	{"/proc/cmdline", "root=/dev/disk/by-id/nvme-Samsung_S4YNNE0M x=b8:ce:f6:12:34:56",
	 "root=/dev/disk/by-id/removed x=02:00:00:00:00:01\n"},
	{"/proc/driver/nvidia/gpus/0000:1b:00.0/information",
	 "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-1234\nBus Location: \t 0000:1b:00.0\n",
	 "Model: \t\t NVIDIA H100\nBus Location: \t 0000:1b:00.0\n"},
	{"/proc/cpuinfo", "processor\t: 0\nSerial\t\t: 0815\nmodel name\t: X\n",
	 "processor\t: 0\nmodel name\t: X\n"},
	/* what looks a little like an address is left alone */
	{"/proc/x",
	 "0000:3b:00.0 12:34:56 ffff,ffff 0000:3b:00 b8:ce:f6:12:34 0x12:34:56:78:9a:bc\n",
	 "0000:3b:00.0 12:34:56 ffff,ffff 0000:3b:00 b8:ce:f6:12:34 0x12:34:56:78:9a:bc\n"},
	{"/proc/x", "", ""},
	/* names by MAC and GUID of systemd and rdma-core, with the numbers of their addresses */
	{"/proc/x", "enxb8cef6123456 ENXB8CEF6123457np0 wwxb8cef6123458.100\n",
	 "enx020000000001 ENX020000000002np0 wwx020000000004.100\n"},
	{"/proc/x", "rocex0c42a1030065d1ba ibx0c42a1030065d1bb\n",
	 "rocex0000000000000001 ibx0000000000000002\n"},
	{"/proc/x", "0xb8cef6123456 0x0c42a1030065d1ba maxb8cef612345 enx000000000000\n",
	 "0xb8cef6123456 0x0c42a1030065d1ba maxb8cef612345 enx000000000000\n"},
	{"/proc/version",
	 "Linux version 6.1.0-13-amd64 (smith@node42.example) (gcc-12 (Debian) 12.2.0) #1 SMP\n",
	 "Linux version 6.1.0-13-amd64 (gcc-12 (Debian) 12.2.0) #1 SMP\n"},
	{"/proc/version", "Linux version 6.1.0 (gcc) #1", "Linux version 6.1.0 (gcc) #1"},
	{"/proc/version", "", ""},
	{"/proc/sys/kernel/core_pattern", "|/usr/bin/x --key=S3 %P --token S3\n", "|/usr/bin/x\n"},
	{"/proc/sys/kernel/core_pattern", "core.%e %p\n", "core.%e %p\n"},
	{"/sys/module/nfs/parameters/nfs4_unique_id", "x\n", NULL},
	{"/sys/module/x/parameters/proxy", "user:S3@host:3128\n", NULL},
	{"/sys/module/x/parameters/psk", "DHHC-1:00:S3:\n", NULL},
	{"/sys/module/x/parameters/how", "DHHC-1:00:S3:\n", NULL},
	{"/sys/module/x/parameters/how", "a=1,pin=S3\n", NULL},
	{"/sys/module/x/parameters/mode", "DP:1920x1080@60\n", "DP:1920x1080@60\n"},
};

static void test_scrub(void **state)
{
	struct scrub s = {0};

	(void)state;
	for (size_t i = 0; i < array_len(scrubbed); i++) {
		cleanup_str struct str out = {0};
		size_t len = strlen(scrubbed[i].in);
		cleanup_free char *exact = memcpy(xcalloc(1, len ? len : 1), scrubbed[i].in, len);
		bool kept = scrub_file(&s, scrubbed[i].path, exact, len, &out);

		if (kept != (scrubbed[i].out != NULL))
			fail_msg("%s: %s", scrubbed[i].path, kept ? "kept" : "left out");
		assert_string_equal(str_get(&out), scrubbed[i].out ? scrubbed[i].out : "");
	}
	scrub_free(&s);
}

/* Arguments with a secret, a name of a host or an address; each alone. */
static const char *const private_arguments[] = {
	"password=S3",
	"rd.zfs.pw=S3",
	"bmc_pw=S3",
	"inst.rootpw=S3",
	"rootpass=S3",
	"adminpass=S3",
	"userpass=S3",
	"ipmipass=S3",
	"x.mypass=S3",
	"passcode=S3",
	"passphrase=S3",
	"pin=S3",
	"otp=S3",
	"jwt=S3",
	"sig=S3",
	"sas=S3",
	"cred=S3",
	"creds=S3",
	"API_TOKEN=S3",
	"api.tokens=S3",
	"AWS_ACCESS_KEY_ID=S3",
	"apikey=S3",
	"rd.luks.key=S3",
	"keyfile=S3",
	"sshkeys=S3",
	"authorized_keys=S3",
	"machineid=S3",
	"secret1=S3",
	"client-secret=S3",
	"user-data=S3",
	"user_data=S3",
	"userdata=S3",
	"cookie=S3",
	"proxy_auth=S3",
	"systemd.hostname=S3",
	"hostname=S3",
	"host=S3",
	"host-name=S3",
	"nodename=S3",
	"ip=dhcp",
	"rd.ip=dhcp",
	"nameserver=10.0.0.1",
	"BOOTIF=01",
	"ifname=a:b",
	"serialno=S3",
	"machine-id=S3",
	"systemd.machine_id=S3",
	"rd.iscsi.initiator=S3",
	"rd.nvmf.hostnqn=S3",
	"rd.nvmf.hostid=S3",
	"nfs.nfs4_unique_id=S3",
	"ds=nocloud",
	"systemd.setenv=FOO=S3",
	"rd.systemd.setenv=FOO=S3",
	"systemd.set_credential=a:S3",
	"systemd.set_credential_binary=a:S3",
	"talos.config.inline=S3",
	"rd.luks.options=discard,tpm2-pin=S3",
	"x=DHHC-1:00:S3:",
	"x=NVMeTLSkey-1:01:S3:",
	"x=http://h/?S3",
	"x=http://h/#S3",
	"x=http://h/a%3Fsig%3DS3",
	"x=http%3A%2F%2Fu:S3@h",
	"x=//u:S3@h",
	"x=u:S3@h",
	"x=\"a u:S3@h\"",
	"x=a,u:S3@h",
	"root=iscsi:u:S,3=@h",
	"x=u1:S3@10.0.0.2:3128",
	"x=\"iscsi:u:S3@10.0.0.2::::iqn\"",
	"https://u:S3@h/",
	"x=y=u:S3@h",
	"sysctl.kernel.hostname=S3",
	"sysctl.net/ipv6/conf/all/stable_secret=S3",
	"sysctl.net.ipv4.tcp_fastopen_key=S3",
	"sysctl.kernel.core_pattern=\"|/x S3\"",
	"sysctl.x.y=u:S3@h",
};

/* Arguments whose name or value only looks a little like these. */
static const char *const plain_arguments[] = {
	"sysctl.kernel.keys.maxkeys=2000",
	"sysctl.kernel/keys/root_maxkeys=2000",
	"sysctl/kernel.keys.maxkeys=2000",
	"sysctl.net.ipv4.tcp_syncookies=1",
	"sysctl.net.ipv4.ip_forward=1",
	"sysctl.kernel.core_pattern=core.%p",
	"video=DP:1920x1080@60",
	"video=HDMI-A-1:1024x768MR@60me,rotate=90",
	"crashkernel=512M-2G:64M,2G-:128M@16M",
	"memmap=1G@5G",
	"lnet.routes=\"o2ib:1 10.0.0.1@tcp\"",
	"pci=disable_acs_redir=pci:1000:c010,config_acs=1x@0000:02:00.0",
	"efi_fake_mem=2G@4G:0x10000",
	"trace_instance=a^b@0x285400000:12M",
	"reserve_mem=12M:4096:trace",
	"pci=resource_alignment=12@0000:18:00.0;12@0000:19:00.0",
	"pci=disable_acs_redir=0000:01:00.0,config_acs=1x@0000:02:00.0",
	"pci=config_acs=10x@pci:0:0",
	"netconsole=4444@10.0.0.1/eth1,9353@10.0.0.2/",
	"iommu.passthrough=1",
	"kvm.x_bypass=1",
	"rcutree.nocb_nobypass_lim_per_jiffy=1",
	"module.sig_enforce=1",
	"ca_keys=builtin",
	"vconsole.keymap=us",
	"secretmem.enable=y",
	"usbcore.authorized_default=0",
	"usbserial.vendor=1",
	"mpt3sas.max_queue_depth=1",
	"dyndbg=\"file drivers/usb/* +p\"",
	"console=ttyS0,115200n8",
	"isolcpus=managed_irq,domain,2-7",
	"vfio-pci.ids=10de:2330,15b3:1021",
	"hugepages=0:512,1:512",
	"earlycon=uart8250,mmio32,0xfe215040",
	"coreos.inst.ignition_url=http://10.0.0.2/a.ign",
	"root=nbd:h:export",
	"acpi_osi=\"!Windows 2012\"",
	"net.ifnames=0",
	"ipv6.disable=1",
	"quiet",
};

static char *scrub_argument(const char *word)
{
	struct scrub s = {0};
	cleanup_str struct str out = {0};

	assert_true(scrub_file(&s, "/proc/cmdline", word, strlen(word), &out));
	scrub_free(&s);
	return xstrndup(str_get(&out), strcspn(str_get(&out), "\n"));
}

static void test_scrub_arguments(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(private_arguments); i++) {
		cleanup_free char *out = scrub_argument(private_arguments[i]);

		if (*out)
			fail_msg("%s: kept", out);
	}
	for (size_t i = 0; i < array_len(plain_arguments); i++) {
		cleanup_free char *out = scrub_argument(plain_arguments[i]);

		assert_string_equal(out, plain_arguments[i]);
	}
}

/* All arguments and sysctls that the kernel documents, but those about identity. */
static void test_keep_documented(void **state)
{
	static const char *const dropped[] = {
		"BOOTIF",
		"ds",
		"hostname",
		"ifname",
		"ip",
		"nameserver",
		"nfs.nfs4_unique_id",
		"serialnumber",
		"trusted.dcp_use_otp_key",
	};

	(void)state;
	for (const char *p = kernel_args; *p; p += strcspn(p, "\n") + 1) {
		cleanup_free char *name = xstrndup(p, strcspn(p, "\n"));
		cleanup_free char *word = xasprintf("%s=1", name);
		cleanup_free char *out = scrub_argument(word);
		bool drop = false;

		for (size_t i = 0; i < array_len(dropped); i++)
			drop |= streq(name, dropped[i]);
		assert_string_equal(out, drop ? "" : word);
	}
	for (const char *p = sysctls; *p; p += strcspn(p, "\n") + 1) {
		cleanup_free char *path = xstrndup(p, strcspn(p, "\n"));
		cleanup_free char *file = xasprintf("/proc/sys/%s", path);
		cleanup_free char *word = xasprintf("sysctl.%s=1", path);
		cleanup_free char *out = scrub_argument(word);

		assert_string_equal(out, scrub_refuses(file) ? "" : word);
	}
}

static void test_scrub_config(void **state)
{
	struct scrub s = {0};
	uint8_t config[4096] = {0};

	(void)state;
	memset(config + 0x50, 0xaa, 8);
	config[0x06] = 0x10; /* has capabilities */
	config[0x34] = 0x40;
	config[0x40] = 0x10, config[0x41] = 0x50; /* PCI Express, then VPD */
	config[0x50] = 0x03, config[0x51] = 0x00;
	/* extended: AER at 0x100, then the serial number at 0x140, which points to itself */
	config[0x100] = 0x01, config[0x102] = 0x01, config[0x103] = 0x14;
	config[0x140] = 0x03, config[0x142] = 0x01, config[0x143] = 0x14;
	memset(config + 0x144, 0xb8, 12);
	for (size_t len = 0; len <= sizeof(config); len = len ? len * 2 : 16) {
		cleanup_str struct str out = {0};
		cleanup_free char *exact = memcpy(xcalloc(1, len ? len : 1), config, len);

		assert_true(scrub_file(&s, NIC_DIR "config", exact, len, &out));
		assert_int_equal(out.len, len);
		if (len >= 0x58) {
			assert_int_equal((uint8_t)out.s[0x52], 0xaa);
			assert_memory_equal(out.s + 0x54, "\0\0\0\0", 4);
		}
		if (len == sizeof(config)) {
			assert_memory_equal(out.s + 0x144, "\0\0\0\0\0\0\0\0", 8);
			assert_int_equal((uint8_t)out.s[0x14c], 0xb8); /* no more than that */
		}
	}
	scrub_free(&s);
}

static void test_scrub_vpd(void **state)
{
	static const char vpd[] = "\x90\x12\x00"
				  "PN\x07"
				  "MCX715A"
				  "SN\x05"
				  "MT081\x78";
	struct scrub s = {0};
	struct str out = {0};
	cleanup_free char *pn = NULL;

	(void)state;
	assert_true(scrub_file(&s, NIC_DIR "vpd", vpd, sizeof(vpd) - 1, &out));
	pn = vpd_part_number(out.s, out.len);
	assert_string_equal(pn, "MCX715A");
	assert_null(memmem(out.s, out.len, "MT081", 5));
	str_free(&out);
	assert_false(scrub_file(&s, NIC_DIR "vpd", "\x78", 1, &out));
	scrub_free(&s);
}

/* The functions of one card still know each other, and nobody the card. */
static void test_scrub_vpd_identifier(void **state)
{
	static const char *const vpds[] = {
		"\x90\x0e\x00V3\x08"
		"9bdf4d3a"
		"SN\x00\x78",
		"\x90\x0b\x00V3\x08"
		"9BDF4d3a\x78",
		"\x90\x0b\x00V3\x08"
		"9bdf4d3b\x78",
	};
	static const size_t lens[] = {18, 15, 15};
	struct scrub s = {0};

	(void)state;
	for (size_t i = 0; i < array_len(vpds); i++) {
		struct str out = {0};
		struct vpd_field v3;

		assert_true(scrub_file(&s, NIC_DIR "vpd", vpds[i], lens[i], &out));
		assert_null(memmem(out.s, out.len, "4d3", 3));
		assert_true(vpd_find(out.s, out.len, "V3", &v3));
		assert_int_equal(v3.len, 1);
		assert_int_equal(*v3.data, i < 2 ? '1' : '2');
		str_free(&out);
	}
	scrub_free(&s);
}

/* --- a capture and back ------------------------------------------------------------------ */

static const struct tree_file machine[] = {
	{"proc/cmdline", "root=/dev/vda2 ro\n"},
	{"proc/cpuinfo", "vendor_id\t: GenuineIntel\n"},
	{"proc/meminfo", "MemTotal:       16777216 kB\n"},
	{"proc/1/environ", "SECRET=1"}, /* nobody asked for it */
	{"proc/sys/vm/swappiness", "60\n"},
	{"proc/sys/net/ipv4/conf/eth0/rp_filter", "1\n"},
	{"proc/sys/net/ipv4/conf/veth7/rp_filter", "1\n"},
	{"proc/sys/kernel/hostname", "node42\n"},
	{"sys/devices/virtual/dmi/id/product_name", "X1\n"},
	{"sys/devices/virtual/dmi/id/product_serial", "S12345\n"},
	{"sys/class/dmi/id", "->../../devices/virtual/dmi/id"},
	{"sys/devices/system/node/online", "0-1\n"},
	{"sys/module/mlx5_core/initstate", "live\n"},
	{"sys/module/builtin/x/y", ""},
};

static const struct tree_fn functions[] = {
	{"0000:3b:00.0", "15b3:1021", "0x020000", "0", "mlx5_core", "eth0", .vfs = "8"},
	{"0000:3b:00.1", "15b3:101e", "0x020000", "0", .physfn = "0000:3b:00.0"},
};

/* The archive is written beside the tree and unpacked below u. */
static void round_trip(struct tmp *t, struct scratch *u, struct root *back)
{
	cleanup_free char *tar = xstrdup(tmp_path(t, "x.tar"));
	int fd = open(tar, O_RDWR | O_CREAT | O_TRUNC, 0600), dir;
	static const struct strv none;
	struct snapshot_result result;
	struct node node;

	assert_true(fd >= 0);
	assert_int_equal(node_survey(&t->root, &node, &t->err), 0);
	if (snapshot_write(&t->root, &node, &none, fd, &result, &t->err) < 0)
		fail_msg("%s", t->err.text);
	close(fd);
	node_free(&node);
	assert_true(result.files > 5);
	assert_int_equal(result.denied, 0);
	assert_int_equal(scratch_make(u, &t->err), 0);
	dir = open(u->path, O_RDONLY | O_DIRECTORY);
	if (tar_unpack(tar, dir, &t->err) < 0)
		fail_msg("%s", t->err.text);
	close(dir);
	assert_int_equal(root_init(back, u->path, &t->err), 0);
	assert_int_equal(snapshot_check(back, &t->err), 0);
	tree_remove(t, "x.tar");
}

static void test_round_trip(void **state)
{
	struct tmp *t = *state;
	struct scratch u = {0};
	struct root back;
	struct node node;
	struct stat st;
	uint64_t v = 0;
	cleanup_free char *mac = NULL;

	tree_write(t, machine, array_len(machine));
	for (size_t i = 0; i < array_len(functions); i++)
		tree_pci(t, &functions[i]);
	tree_fn_file(t, "0000:3b:00.0", "virtfn0", "->../0000:3b:00.1");
	tree_fn_file(t, "0000:3b:00.0", "sriov_numvfs", "77\n"); /* not read: counted */
	tree_fn_file(t, "0000:3b:00.0", "uevent", "x\n");
	tree_fn_file(t, "0000:3b:00.0", "net/eth0/address", "b8:ce:f6:12:34:56\n");
	round_trip(t, &u, &back);
	assert_int_equal(node_survey(&back, &node, &t->err), 0);
	assert_string_equal(node_dmi(&node, "product_name"), "X1");
	assert_string_equal(node.cmdline, "root=/dev/vda2 ro");
	assert_int_equal(node_functions(&node)->n, 2);
	assert_string_equal(node_functions(&node)->v[0].driver, "mlx5_core");
	assert_string_equal(node_functions(&node)->v[0].net.v[0], "eth0");
	assert_string_equal(node_functions(&node)->v[1].physfn, "0000:3b:00.0");
	node_free(&node);
	assert_true(root_exists(&back, "/sys/class/net/eth0/flags"));
	assert_int_equal(read_text(&back, &mac, &t->err, "/sys/class/net/eth0/address"), 0);
	assert_string_equal(mac, "02:00:00:00:00:01");
	assert_int_equal(
		read_u64(&back, &v, &t->err, "/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs"), 0);
	assert_int_equal(v, 1);
	assert_true(root_exists(&back, "/sys/bus/pci/devices/0000:3b:00.0/virtfn0"));
	assert_true(root_exists(&back, "/sys/module/builtin")); /* built in: a directory alone */
	assert_true(root_exists(&back, "/proc/sys/vm/swappiness"));
	assert_true(root_exists(&back, "/proc/sys/net/ipv4/conf/eth0/rp_filter"));
	assert_false(root_exists(&back, "/proc/sys/net/ipv4/conf/veth7/rp_filter"));
	assert_false(root_exists(&back, "/proc/sys/kernel/hostname"));
	assert_false(root_exists(&back, "/proc/1/environ"));
	assert_false(root_exists(&back, "/sys/class/dmi/id/product_serial"));
	assert_false(root_exists(&back, "/sys/bus/pci/devices/0000:3b:00.0/uevent"));
	root_close(&back);
	scratch_remove(&u);
	assert_int_equal(stat(u.path, &st), -1); /* gone */
}

/* One that is too long for a text, of a machine with a thousand CPUs, is cut, not lost. */
static void test_huge_cpuinfo(void **state)
{
	cleanup_str struct str text = {0};
	struct tmp *t = *state;
	struct scratch u = {0};
	struct root back;
	struct node node;

	tree_write(t, machine, array_len(machine));
	for (int i = 0; text.len < READ_TEXT_MAX + 100; i++)
		str_addf(&text, "processor\t: %d\nvendor_id\t: AuthenticAMD\n\n", i);
	tmp_write(t, "proc/cpuinfo", text.s);
	round_trip(t, &u, &back);
	assert_int_equal(node_survey(&back, &node, &t->err), 0);
	assert_int_equal(node_cpu_vendor(&node), CPU_AMD);
	node_free(&node);
	root_close(&back);
	scratch_remove(&u);
}

/* A tree whose links lead round or out must end, and give what is there. */
static void test_odd_links(void **state)
{
	static const struct tree_file odd[] = {
		{"sys/class/net/a", "->b"},
		{"sys/class/net/b", "->a"},
		{"sys/class/net/up", "->../../../../../../../../etc"},
		{"sys/bus/pci/devices/0000:01:00.0", "->/../../sys/devices/d"},
		{"sys/devices/d/vendor", "0x15b3\n"},
		{"sys/devices/d/self", "->."},
		{"proc/sys/vm/loop", "->../vm"},
		{"proc/sys/vm/x", "1\n"},
	};
	struct tmp *t = *state;
	struct scratch u = {0};
	struct root back;

	tree_write(t, odd, array_len(odd));
	tree_write(t, machine, array_len(machine));
	round_trip(t, &u, &back);
	assert_true(root_exists(&back, "/sys/bus/pci/devices/0000:01:00.0/vendor"));
	assert_true(root_exists(&back, "/proc/sys/vm/x"));
	root_close(&back);
	scratch_remove(&u);
}

static void test_format(void **state)
{
	static const struct {
		const char *text;
		int r;
	} t[] = {
		{"{\"format\": 1}", 0},
		{"{\"format\": 2}", -EPROTONOSUPPORT},
		{"{\"format\": \"x\"}", -EPROTONOSUPPORT},
		{"[]", -EPROTONOSUPPORT},
		{"", -EPROTONOSUPPORT},
	};
	struct tmp *tmp = *state;

	assert_int_equal(snapshot_check(&tmp->root, &tmp->err), 0); /* any other tree */
	for (size_t i = 0; i < array_len(t); i++) {
		tmp_write(tmp, SNAPSHOT_INFO, t[i].text);
		assert_int_equal(snapshot_check(&tmp->root, &tmp->err), t[i].r);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_scrub),	    TEST(test_scrub_arguments),
		TEST(test_keep_documented), TEST(test_scrub_config),
		TEST(test_scrub_vpd),	    TEST(test_scrub_vpd_identifier),
		TEST(test_round_trip),	    TEST(test_huge_cpuinfo),
		TEST(test_odd_links),	    TEST(test_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
