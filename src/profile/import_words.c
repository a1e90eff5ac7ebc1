/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps single settings to keys, or to the reason why they belong elsewhere. */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "profile/import.h"
#include "profile/schema.h"

struct reason {
	const char *pattern;
	const char *why;
};

static const char *reason_for(const struct reason *reasons, const char *text)
{
	for (; reasons->pattern; reasons++)
		if (fnmatch(reasons->pattern, text, 0) == 0)
			return reasons->why;
	return NULL;
}

/* --- sysctls ------------------------------------------------------------------------------- */

#define SECURITY "dangerous: weakens the security of the node; add the line by hand if intended"
#define PANICS                                                                           \
	"dangerous: a panic reboots the node outside of railhead's budget; leave it in " \
	"sysctl.d"
#define ONE_MACHINE "belongs to one machine, not to a SKU"

static const struct reason sysctls_elsewhere[] = {
	{"kernel.randomize_va_space", SECURITY},
	{"kernel.kptr_restrict", SECURITY},
	{"kernel.dmesg_restrict", SECURITY},
	{"kernel.yama.*", SECURITY},
	{"kernel.sysrq", SECURITY},
	{"fs.suid_dumpable", SECURITY},
	{"fs.protected_*", SECURITY},
	{"kernel.panic", PANICS},
	{"kernel.panic_on_*", PANICS},
	{"kernel.*_panic", PANICS},
	{"kernel.unknown_nmi_panic", PANICS},
	{"vm.panic_on_oom", PANICS},
	{"kernel.hostname", ONE_MACHINE},
	{"kernel.domainname", ONE_MACHINE},
	{"kernel.sched_*_ns", "since Linux 5.13 a file in debugfs instead of a sysctl"},
	{"kernel.sched_*_granularity*", "since Linux 5.13 a file in debugfs instead of a sysctl"},
	{"kernel.sched_tunable_scaling", "since Linux 5.13 a file in debugfs instead of a sysctl"},
	{NULL, NULL},
};

/* As in sysctl.d(5): if the first separator is a slash, dots are part of a name. */
static char *with_dots(const char *key)
{
	char *copy = xstrdup(key);
	size_t first = strcspn(copy, "./");

	if (copy[first] == '/' && !strchr(copy, '.'))
		for (char *p = copy; *p; p++)
			*p = *p == '/' ? '.' : *p;
	return copy;
}

void import_sysctl(struct import *im, const struct origin *from, const char *key, const char *value,
		   bool may_lack, const char *note)
{
	cleanup_free char *dotted = with_dots(key);
	const char *why = reason_for(sysctls_elsewhere, dotted);
	const struct slot slot = {
		.section = "sysctl", .key = dotted, .may_lack = may_lack, .note = note};

	if (why)
		import_refuse(im, from, "%s", why);
	else if (str_starts(dotted, "vm.nr_hugepages") ||
		 streq(dotted, "vm.nr_overcommit_hugepages"))
		import_refuse_pages(im, from, true);
	else if (!*value)
		import_refuse(im, from, "has no value");
	else
		import_keep(im, from, &slot, value);
}

/* --- kernel arguments ---------------------------------------------------------------------- */

#define OF_IMAGE "belongs to the boot of one image; leave it in the boot loader"
#define OF_SCREEN "controls the console; leave it in the boot loader"
#define MITIGATION "dangerous: turns kernel protections off; add the argument by hand if intended"

static const struct reason args_elsewhere[] = {
	{"BOOT_IMAGE=*", OF_IMAGE},
	{"root=*", OF_IMAGE},
	{"rootflags=*", OF_IMAGE},
	{"rootfstype=*", OF_IMAGE},
	{"rootwait", OF_IMAGE},
	{"rootdelay=*", OF_IMAGE},
	{"r[ow]", OF_IMAGE},
	{"init=*", OF_IMAGE},
	{"initrd=*", OF_IMAGE},
	{"resume=*", OF_IMAGE},
	{"resume_offset=*", OF_IMAGE},
	{"noresume", OF_IMAGE},
	{"ostree=*", OF_IMAGE},
	{"rd.*", OF_IMAGE},
	{"luks.*", OF_IMAGE},
	{"ip=*", OF_IMAGE},
	{"ds=*", OF_IMAGE},
	{"net.ifnames=*", OF_IMAGE},
	{"biosdevname=*", OF_IMAGE},
	{"systemd.*", OF_IMAGE},
	{"crashkernel=*", "belongs to kdump; leave it in the boot loader"},
	{"railhead.*", "controls railhead for one boot"},
	{"tuned.*", "belongs to tuned's initrd"},
	{"quiet", OF_SCREEN},
	{"splash", OF_SCREEN},
	{"rhgb", OF_SCREEN},
	{"debug", OF_SCREEN},
	{"nomodeset", OF_SCREEN},
	{"console=*", OF_SCREEN},
	{"earlycon*", OF_SCREEN},
	{"earlyprintk*", OF_SCREEN},
	{"loglevel=*", OF_SCREEN},
	{"vconsole.*", OF_SCREEN},
	{"video=*", OF_SCREEN},
	{"fbcon=*", OF_SCREEN},
	{"mitigations=*", MITIGATION},
	{"nopti", MITIGATION},
	{"pti=*", MITIGATION},
	{"nospectre*", MITIGATION},
	{"spectre_*", MITIGATION},
	{"spec_store_bypass_disable=*", MITIGATION},
	{"mds=*", MITIGATION},
	{"l1tf=*", MITIGATION},
	{"tsx*=*", MITIGATION},
	{"retbleed=*", MITIGATION},
	{"nosm[ae]p", MITIGATION},
	{"selinux=*", SECURITY},
	{"enforcing=*", SECURITY},
	{"apparmor=*", SECURITY},
	{"security=*", SECURITY},
	{"lsm=*", SECURITY},
	{"audit=*", SECURITY},
	{"lockdown=*", SECURITY},
	{"panic=*", PANICS},
	{NULL, NULL},
};

static const struct {
	const char *arg, *mode;
} iommu_modes[] = {
	{"iommu=pt", "passthrough"},  {"iommu.passthrough=1", "passthrough"},
	{"iommu.strict=1", "strict"}, {"iommu.strict=0", "lazy"},
	{"iommu=off", "disabled"},
};

static bool keep_iommu(struct import *im, const struct origin *from, const char *word)
{
	const struct slot slot = {.section = "kernel_args", .key = "iommu"};

	for (size_t i = 0; i < array_len(iommu_modes); i++)
		if (streq(word, iommu_modes[i].arg)) {
			import_keep(im, from, &slot, iommu_modes[i].mode);
			return true;
		}
	return false;
}

/* isolcpus=managed_irq,domain,2-7: drops the flags, because railhead chooses them. */
static bool keep_isolated(struct import *im, const struct origin *from, const char *word)
{
	const struct slot slot = {.section = "kernel_args",
				  .key = "isolate_cpus",
				  .note = "isolcpus and nohz_full for them, irqaffinity for the "
					  "others"};
	const char *list = word + strlen("isolcpus=");

	if (!str_starts(word, "isolcpus="))
		return false;
	while (isalpha((unsigned char)*list) && strchr(list, ','))
		list = strchr(list, ',') + 1;
	import_keep(im, from, &slot, list);
	return true;
}

void import_argument(struct import *im, const struct origin *from, const char *word)
{
	cleanup_free char *name = xstrndup(word, arg_key_len(word));
	const struct slot slot = {
		.section = "kernel_args", .group = "set", .key = name, .is_item = true};
	const char *why = reason_for(args_elsewhere, word);

	if (why)
		import_refuse(im, from, "%s", why);
	else if (strchr(word, '$'))
		import_refuse(im, from, "contains a variable without a known value");
	else if (str_starts(word, "hugepages=") || str_starts(word, "hugepagesz=") ||
		 str_starts(word, "default_hugepagesz="))
		import_refuse_pages(im, from, false);
	else if (!keep_iommu(im, from, word) && !keep_isolated(im, from, word))
		import_keep(im, from, &slot, word);
}

char *import_word(char **rest)
{
	char *word = *rest + strspn(*rest, IMPORT_BLANKS), *p = word;
	bool quoted = false;

	for (; *p && (quoted || !strchr(IMPORT_BLANKS, *p)); p++)
		quoted ^= *p == '"';
	*rest = p + (*p != '\0');
	*p = '\0';
	return *word ? word : NULL;
}

void import_arguments(struct import *im, const struct origin *from, const char *words)
{
	cleanup_free char *copy = xstrdup(words);
	char *rest = copy, *word;
	bool any = false;

	while (!im->excess && (word = import_word(&rest))) {
		struct origin one = {from->file, from->line, word};

		import_argument(im, &one, word);
		any = true;
	}
	if (!any)
		import_refuse(im, from, "has no argument");
}
