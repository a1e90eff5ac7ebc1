/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The box of a PCI function: its name, link, netdevs, RDMA devices, pair and VFs. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/missing.h"
#include "base/str.h"
#include "report/html.h"
#include "report/html_picture.h"
#include "report/inventory.h"

/* --- the link ------------------------------------------------------------------------------ */

static double lanes_times_speed(unsigned int width, uint32_t speed)
{
	return (double)width * speed;
}

void html_link(FILE *out, const struct link_state *link)
{
	unsigned int best_width = link->best_width ? link->best_width : link->width;
	uint32_t best_speed = link->best_speed ? link->best_speed : link->speed;
	bool less = link->narrow || link->slow;

	if (!link->width || !link->speed)
		return;
	html(out, "<div class=\"link%s\"><span>PCIe x%u, %.1f GT/s", less ? " less" : "",
	     link->width, link->speed / 10.0);
	if (best_width > link->width || best_speed > link->speed)
		html(out, " <em>of x%u, %.1f GT/s</em>", best_width, best_speed / 10.0);
	if (!less && best_speed > link->speed)
		html(out, " (lower while idle)");
	html(out,
	     "</span><i class=meter aria-hidden=true><i style=\"width:%.0f%%\"></i></i></div>\n",
	     100 * lanes_times_speed(link->width, link->speed) /
		     lanes_times_speed(best_width, best_speed));
}

/* --- netdevs, RDMA devices, drives ---------------------------------------------------------- */

static void put_state(FILE *out, const char *state, bool good)
{
	if (state)
		html(out, " <span class=\"state %s\">%s</span>", good ? "up" : "off", state);
}

void html_netdev(FILE *out, const struct thing *t, const char *name)
{
	const char *speed = thing_get(t, "speed"), *mtu = thing_get(t, "mtu");
	const char *state = thing_get(t, "operstate");

	html(out, "<li><span class=kind>netdev</span> <b>%s</b>", name);
	put_state(out, state, state && streq(state, "up"));
	if (speed && *speed != '-')
		html(out, " %s Mb/s", speed);
	if (mtu)
		html(out, " mtu %s", mtu);
	html(out, "</li>\n");
}

static void put_port(FILE *out, const struct thing *port)
{
	const char *state = thing_get(port, "state"), *rate = thing_get(port, "rate");
	const char *word = state && strchr(state, ' ') ? strchr(state, ' ') + 1 : state;

	html(out, "<br>port %s %s", port->name, thing_get(port, "link_layer"));
	put_state(out, word, word && streq(word, "ACTIVE"));
	if (rate)
		html(out, " %s", rate);
}

void html_rdma(FILE *out, const struct thing *t, const char *name)
{
	const char *firmware = thing_get(t, "fw_ver");

	html(out, "<li><span class=kind>rdma</span> <b>%s</b>", name);
	if (firmware)
		html(out, " firmware %s", firmware);
	for (size_t i = 0; t && i < t->parts.n; i++)
		put_port(out, &t->parts.v[i]);
	html(out, "</li>\n");
}

static void put_drives(const struct picture *p, const struct pci_fn *fn)
{
	for (size_t i = 0; i < p->page->inv->nvme.n; i++) {
		const struct thing *t = &p->page->inv->nvme.v[i];
		const char *device = thing_get(t, "device"), *state = thing_get(t, "state");

		if (!device || !streq(device, fn->addr))
			continue;
		html(p->out, "<li><span class=kind>drive</span> <b>%s</b>", t->name);
		put_state(p->out, state, state && streq(state, "live"));
		html(p->out, " %s</li>\n", thing_get(t, "model"));
	}
}

static void put_parts(const struct picture *p, const struct pci_fn *fn)
{
	html(p->out, "<ul class=parts>\n");
	for (size_t i = 0; i < fn->net.n; i++)
		html_netdev(p->out, thing_find(&p->page->inv->net, fn->net.v[i]), fn->net.v[i]);
	for (size_t i = 0; i < fn->ibdevs.n; i++)
		html_rdma(p->out, thing_find(&p->page->inv->rdma, fn->ibdevs.v[i]),
			  fn->ibdevs.v[i]);
	put_drives(p, fn);
	html(p->out, "</ul>\n");
}

/* --- pairs --------------------------------------------------------------------------------- */

static void put_pair_end(FILE *out, const struct pci_fn *other, const struct pair *pair)
{
	cleanup_free char *id = html_anchor(other->addr);

	html(out, "<p class=pair><span class=kind>pair</span> <a href=\"#%s\">%s</a> %s</p>\n", id,
	     other->addr, nearness_name(pair->how));
}

static void put_pair(const struct picture *p, const struct pci_fn *fn)
{
	const struct pairs *pairs = &p->page->inv->pairs;

	for (size_t i = 0; i < pairs->n; i++) {
		if (!pairs->v[i].gpu)
			continue;
		if (pairs->v[i].nic == fn)
			put_pair_end(p->out, pairs->v[i].gpu, &pairs->v[i]);
		else if (pairs->v[i].gpu == fn)
			put_pair_end(p->out, pairs->v[i].nic, &pairs->v[i]);
	}
}

/* --- VFs ------------------------------------------------------------------------------------ */

/* "18:00.1" of a VF of "0000:18:00.0"; the whole address if the domains differ. */
static const char *short_address(const struct pci_fn *vf, const struct pci_fn *pf)
{
	const char *colon = strchr(vf->addr, ':');

	return colon && strncmp(vf->addr, pf->addr, (size_t)(colon - vf->addr)) == 0 ? colon + 1
										     : vf->addr;
}

/* The gravest mark of the VF. */
static const struct mark *mark_of_vf(const struct marks *marks, const struct pci_fn *vf, int index)
{
	for (size_t i = 0; i < marks->list.n; i++)
		if (mark_is_about_vf(&marks->list.v[i], vf, index))
			return &marks->list.v[i];
	return NULL;
}

static void put_vf(const struct picture *p, const struct pci_fn *pf, size_t at, int index)
{
	const struct pci_fn *vf = &node_functions(p->page->node)->v[at];
	const char *group = thing_get(&p->page->inv->pci.v[at], "iommu_group");
	const struct mark *mark = mark_of_vf(p->marks, vf, index);
	cleanup_free char *id = html_anchor(vf->addr);

	html(p->out, "<li id=\"%s\" data-pci=\"%s\" class=\"%s\">%s", id, vf->addr,
	     mark ? mark_grade_name(mark->grade) : "", short_address(vf, pf));
	if (!vf->driver)
		html(p->out, "<small>no driver</small>");
	if (group)
		html(p->out, "<small>g %s</small>", group);
	if (mark)
		html_badge(p->out, mark->grade);
	html(p->out, "</li>\n");
}

static void put_names(FILE *out, const struct strv *names)
{
	for (size_t i = 0; i < names->n; i++)
		html(out, "<span>%s</span> ", names->v[i]);
}

/* The row includes names for which the cells have no room. */
static void put_vf_row(const struct picture *p, size_t at)
{
	const struct pci_fn *vf = &node_functions(p->page->node)->v[at];

	html(p->out, "<tr><td>%s</td><td>%s</td><td>", vf->addr,
	     vf->driver ? vf->driver : "no driver");
	put_names(p->out, &vf->net);
	put_names(p->out, &vf->ibdevs);
	html(p->out, "</td></tr>\n");
}

static void put_vf_table(const struct picture *p, const struct pci_fn *pf)
{
	const struct pci_functions *functions = node_functions(p->page->node);

	html(p->out,
	     "<details class=others><summary>VFs with their names</summary><table><thead><tr>"
	     "<th scope=col>VF</th><th scope=col>driver</th><th scope=col>devices</th></tr>"
	     "</thead><tbody>\n");
	for (size_t i = 0; i < functions->n; i++)
		if (streq(functions->v[i].physfn, pf->addr))
			put_vf_row(p, i);
	html(p->out, "</tbody></table></details>\n");
}

static void put_vfs(const struct picture *p, const struct pci_fn *pf)
{
	const struct pci_functions *functions = node_functions(p->page->node);
	struct vfs_of vfs = vfs_of(p->page->node, pf);

	if (!pf->totalvfs && !vfs.n)
		return;
	html(p->out, "<p class=vfs-of><span class=kind>VFs</span> %zu of %u%s%s</p>\n", vfs.n,
	     pf->totalvfs, vfs.n ? ", " : "", vfs.n ? vfs.driver : "");
	if (!vfs.n)
		return;
	html(p->out, "<ol class=vfs>\n");
	for (size_t i = 0, index = 0; i < functions->n; i++)
		if (streq(functions->v[i].physfn, pf->addr))
			put_vf(p, pf, i, (int)index++);
	html(p->out, "</ol>\n");
	put_vf_table(p, pf);
}

/* --- the box -------------------------------------------------------------------------------- */

struct kind_of_function {
	const char *class, *label;
};

static struct kind_of_function kind_of(const struct pci_fn *fn)
{
	if (pci_fn_is_gpu(fn))
		return (struct kind_of_function){"gpu", "GPU"};
	switch (fn->class >> 16) {
	case 0x01:
		return (struct kind_of_function){"nvme",
						 fn->class >> 8 == 0x0108 ? "NVMe" : "storage"};
	case 0x02:
		return (struct kind_of_function){"nic", "NIC"};
	case 0x03:
		return (struct kind_of_function){"other", "display"};
	case 0x12:
		return (struct kind_of_function){"gpu", "accelerator"};
	default:
		return fn->net.n || fn->ibdevs.n ? (struct kind_of_function){"nic", "NIC"}
						 : (struct kind_of_function){"other", "device"};
	}
}

static void put_facts(const struct picture *p, const struct pci_fn *fn, const struct thing *more,
		      int numa)
{
	const char *group = thing_get(more, "iommu_group");

	html(p->out, "<p class=facts>");
	if (group)
		html(p->out, "<span>IOMMU group %s</span> ", group);
	if (fn->part_number)
		html(p->out, "<span>part %s</span> ", fn->part_number);
	if (numa_of(p->page->node, fn) != numa)
		html(p->out, "<span>NUMA node %d</span> ", fn->numa);
	html(p->out, "</p>\n");
}

static enum mark_grade worst_of(const struct picture *p, const struct pci_fn *fn)
{
	for (size_t i = 0; i < p->marks->list.n; i++)
		if (mark_is_about(&p->marks->list.v[i], p->page->node, fn))
			return p->marks->list.v[i].grade;
	return MARK_GRADE_COUNT;
}

void html_function(const struct picture *p, size_t at, int numa)
{
	const struct pci_fn *fn = &node_functions(p->page->node)->v[at];
	const struct thing *more = &p->page->inv->pci.v[at];
	const struct thing *module =
		fn->driver ? thing_find(&p->page->inv->modules, fn->driver) : NULL;
	struct function_names names = function_names(p->names, p->page->inv, fn);
	struct link_state link = link_state_of(p->page->inv, fn, more);
	struct kind_of_function kind = kind_of(fn);
	enum mark_grade worst = worst_of(p, fn);
	cleanup_free char *id = html_anchor(fn->addr);
	char ids[16];

	snprintf(ids, sizeof(ids), "%04x:%04x", fn->vendor, fn->device);
	html(p->out, "<article class=\"fn %s %s\" id=\"%s\" data-pci=\"%s\">\n", kind.class,
	     worst < MARK_GRADE_COUNT ? mark_grade_name(worst) : "", id, fn->addr);
	html(p->out, "<h5><span class=label>%s</span> <code>%s</code> <span class=driver>%s",
	     kind.label, fn->addr, fn->driver ? fn->driver : "no driver");
	html(p->out, "%s%s</span></h5>\n", module ? " " : "",
	     module ? thing_get(module, "version") : "");
	html_marks_of(p, fn);
	html(p->out, "<p class=name>%s <small>[%s]</small></p>\n",
	     *names.product ? names.product : names.class, ids);
	html_link(p->out, &link);
	put_parts(p, fn);
	put_pair(p, fn);
	put_facts(p, fn, more, numa);
	put_vfs(p, fn);
	html(p->out, "</article>\n");
}

/* --- the empty box of a function that is gone ------------------------------------------------- */

bool html_is_missing(const struct picture *p, const struct missing *m, int numa)
{
	const struct thing *t = thing_find(&p->page->inv->numa, m->numa);
	bool drawn = t && !numa_is_empty(p->page->node, t);

	return !node_find(p->page->node, m->addr) && (drawn ? atoi(t->name) : -1) == numa;
}

void html_missing(const struct picture *p, const struct missing *m)
{
	cleanup_free char *id = html_anchor(m->addr), *port = html_anchor(m->root_port);
	cleanup_free char *text = missing_text(m);
	struct pci_fn was = {0};
	struct function_names names;

	sscanf(m->model, "%hx:%hx %hx:%hx", &was.vendor, &was.device, &was.subsystem_vendor,
	       &was.subsystem_device);
	names = function_names(p->names, p->page->inv, &was);
	html(p->out, "<div class=slot>\n");
	if (node_find(p->page->node, m->root_port))
		html(p->out, "<p class=way>root port <a href=\"#%s\"><code>%s</code></a></p>\n",
		     port, m->root_port);
	html(p->out,
	     "<article class=\"fn gone\" id=\"%s\">\n<h5><span class=label>missing</span> "
	     "<code>%s</code></h5>\n",
	     id, m->addr);
	html(p->out, "<p class=name>%s <small>[%s]</small></p>\n<p>%s</p>\n</article>\n</div>\n",
	     names.product, m->model, text);
}
