/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kargs/token.h"

#include <string.h>

#include "base/mem.h"

struct token token_of(const char *text)
{
	size_t len = strlen(text);
	bool quoted = *text == '"';
	struct token t = {0};
	const char *eq;

	if (quoted) {
		text++;
		len--;
	}
	/* a '=' at the front is part of the name */
	eq = len ? memchr(text + 1, '=', len - 1) : NULL;
	/* "Don't include quotes in value": next_arg() in lib/cmdline.c. */
	if (eq && eq[1] == '"') {
		t.value = eq + 2;
		t.value_len = len - (size_t)(t.value - text);
		if (t.value_len > 0 && text[len - 1] == '"')
			t.value_len--;
	} else {
		if (quoted && len > 0 && text[len - 1] == '"')
			len--;
		if (eq) {
			t.value = eq + 1;
			t.value_len = len - (size_t)(t.value - text);
		}
	}
	t.name = text;
	t.name_len = eq ? (size_t)(eq - text) : len;
	return t;
}

/* dash2underscore() in kernel/params.c */
static char dash(char c)
{
	return c == '-' ? '_' : c;
}

bool token_name_is(const struct token *t, const char *name, size_t len)
{
	if (t->name_len != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (dash(t->name[i]) != dash(name[i]))
			return false;
	return true;
}

bool token_named(const struct token *t, const char *name)
{
	return token_name_is(t, name, strlen(name));
}

bool token_value_same(const struct token *a, const struct token *b)
{
	if (!a->value || !b->value)
		return !a->value && !b->value;
	return a->value_len == b->value_len && memcmp(a->value, b->value, a->value_len) == 0;
}

bool karg_same_key(const char *a, const char *b)
{
	struct token x = token_of(a), y = token_of(b);

	return token_name_is(&x, y.name, y.name_len);
}

bool karg_equal(const char *a, const char *b)
{
	struct token x = token_of(a), y = token_of(b);

	return token_name_is(&x, y.name, y.name_len) && token_value_same(&x, &y);
}

/*
 * The keys whose handlers do more than assign. Source:
 * Documentation/admin-guide/kernel-parameters.txt, else the handlers that are named here.
 * clearcpuid= is not such a list: cmdline_find_option() takes its last occurrence.
 */
static const struct {
	const char *key;
	enum karg_rule rule;
} rules[] = {
	{"intel_iommu", KARG_LIST},	    /* intel_iommu_setup() */
	{"amd_iommu", KARG_LIST},	    /* parse_amd_iommu_options() */
	{"iommu", KARG_LIST},		    /* iommu_setup() in arch/x86/kernel/pci-dma.c */
	{"intremap", KARG_LIST},	    /* setup_irqremap() */
	{"pci", KARG_LIST},		    /* pci_setup() */
	{"efi", KARG_LIST},		    /* parse_efi_cmdline() */
	{"memmap", KARG_LIST},		    /* parse_memmap_opt() */
	{"cgroup_disable", KARG_LIST},	    /* kernel/cgroup/cgroup.c */
	{"initcall_blacklist", KARG_LIST},  /* init/main.c */
	{"tsc", KARG_LIST},		    /* tsc_setup(): one word in each occurrence */
	{"intel_pstate", KARG_LIST},	    /* intel_pstate_setup(): the same */
	{"mce", KARG_LIST},		    /* mcheck_enable(): the same */
	{"modprobe.blacklist", KARG_LIST},  /* modprobe(8) */
	{"rd.driver.blacklist", KARG_LIST}, /* dracut.cmdline(7), as for all rd. below */
	{"rd.driver.pre", KARG_LIST},
	{"console", KARG_EACH},
	{"acpi_osi", KARG_EACH}, /* acpi_osi_setup() */
	{"video", KARG_EACH},	 /* video_setup(): one for each connector */
	{"rd.luks.uuid", KARG_EACH},
	{"rd.luks.name", KARG_EACH},	/* systemd-cryptsetup-generator(8) */
	{"rd.luks.options", KARG_EACH}, /* the same */
	{"rd.lvm.lv", KARG_EACH},
	{"rd.lvm.vg", KARG_EACH},
	{"rd.md.uuid", KARG_EACH},
	{"rd.dm.uuid", KARG_EACH},
	{"ip", KARG_EACH},
	{"nameserver", KARG_EACH},
	{"ifname", KARG_EACH},
	{"systemd.mask", KARG_EACH},  /* systemd-debug-generator(8) */
	{"systemd.wants", KARG_EACH}, /* the same */
	{"systemd.setenv", KARG_EACH},
	{"hugepagesz", KARG_PAGES},
	{"hugepages", KARG_PAGES},
	{"default_hugepagesz", KARG_PAGES},
	{"crashkernel", KARG_KIND},
	{"isolcpus", KARG_FIRST},    /* housekeeping_setup() in kernel/sched/isolation.c */
	{"nohz_full", KARG_FIRST},   /* the same */
	{"earlyprintk", KARG_FIRST}, /* setup_early_printk() */
	{"earlycon", KARG_FIRST},    /* setup_earlycon() */
};

enum karg_rule token_rule(const struct token *t)
{
	if (!t->value)
		return KARG_FLAG;
	for (size_t i = 0; i < array_len(rules); i++)
		if (token_named(t, rules[i].key))
			return rules[i].rule;
	return KARG_LAST;
}

bool token_is_param(const struct token *t)
{
	return memchr(t->name, '.', t->name_len) != NULL;
}

const char *token_kind(const struct token *t)
{
	static const char *const kinds[] = {",high", ",low", ",cma"};

	for (size_t i = 0; i < array_len(kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (t->value && t->value_len >= len &&
		    memcmp(t->value + t->value_len - len, kinds[i], len) == 0)
			return kinds[i];
	}
	return "";
}

enum karg_rule karg_rule(const char *text)
{
	struct token t = token_of(text);

	return token_rule(&t);
}
