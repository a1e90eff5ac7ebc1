/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The style sheet of the page. Each colour of text has a contrast of at least 4.5 on each of its
 * backgrounds, in both schemes (make check-pictures), and no meaning depends on colour alone.
 */
#include "base/mem.h"
#include "report/html_parts.h"

static const char *const colours[] = {
	":root{color-scheme:light dark;",
	"--page:#f4f5f7;--card:#fff;--inset:#f0f2f5;--line:#d5d9e0;--text:#1a1f27;--dim:#535c6b;",
	"--link:#0a55b0;--bad:#a8130b;--bad-ground:#fdecea;--warn:#7c4700;--warn-ground:#fdf1dc;",
	"--wait:#4a4699;--wait-ground:#eeedfb;--good:#1c6330;--good-ground:#e5f4e9;",
	"--nic:#1d6fb8;--gpu:#3c8a3f;--nvme:#8a53b5;--other:#7a8494;--huge:#1d6fb8;--used:#8b95a5;",
	"--free:#e2e6ec}\n",
	"@media (prefers-color-scheme:dark){:root{",
	"--page:#12151a;--card:#1b2027;--inset:#242a33;--line:#39414d;--text:#e6e9ee;--dim:#"
	"a7b0be;",
	"--link:#86b9f7;--bad:#ff9c93;--bad-ground:#3d1a18;--warn:#f2bd66;--warn-ground:#38290f;",
	"--wait:#bdb8fb;--wait-ground:#28264a;--good:#85d39a;--good-ground:#15301d;",
	"--nic:#62a8ea;--gpu:#74c278;--nvme:#c193e8;--other:#8b95a5;--huge:#62a8ea;--used:#778293;",
	"--free:#39414d}}\n",
};

static const char *const text[] = {
	"*{box-sizing:border-box}\n",
	"body{margin:0 auto;max-width:1880px;padding:20px 24px 48px;background:var(--page);",
	"color:var(--text);font:14px/1.45 system-ui,'Segoe UI','DejaVu Sans',sans-serif;",
	"overflow-wrap:anywhere}\n",
	"h1,h2,h3,h4,h5,p,ul,ol,dl,dd{margin:0;padding:0}\n",
	"h1{font-size:24px;font-weight:650;line-height:1.25}\n",
	"h2{font-size:18px;font-weight:650;margin:28px 0 10px}\n",
	"h3{font-size:14px;font-weight:650;margin:0 0 8px}\n",
	"h4{font-size:14px;font-weight:650}h5{font-size:13px;font-weight:400}\n",
	"ul,ol{list-style:none}a{color:var(--link)}small{font-size:12px;color:var(--dim)}\n",
	"code,.fn h5 code,td a,.who a,.at a,.pair a,.vfs{font-family:ui-monospace,'DejaVu Sans "
	"Mono',"
	"Menlo,monospace;font-size:12.5px}\n",
	".by,.note{color:var(--dim);font-size:13px}.note{margin:4px 0 8px}\n",
	".kind{color:var(--dim);font-size:12px}\n",
	".terms{display:flex;flex-wrap:wrap;gap:4px 28px;margin:6px 0 12px}\n",
	".terms div{display:flex;gap:8px;min-width:0}.terms dt{color:var(--dim);flex:none}",
	".terms dd{min-width:0}\n",
	":target{outline:3px solid var(--link);outline-offset:2px}\n",
};

static const char *const states[] = {
	".verdict{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 14px;margin:14px 0 0;",
	"padding:12px 16px;border:1px solid;border-left-width:6px;border-radius:6px}\n",
	".verdict .word{font-size:20px;font-weight:700}.verdict dl{flex-basis:100%;margin:4px 0 0;",
	"color:var(--text)}.verdict dt{color:var(--text);font-weight:600}\n",
	".verdict.good{color:var(--good);background:var(--good-ground)}\n",
	".verdict.blocks{color:var(--bad);background:var(--bad-ground)}\n",
	".verdict.pending{color:var(--wait);background:var(--wait-ground)}\n",
	".badge{display:inline-block;padding:0 7px;border:1px solid;border-radius:9px;",
	"font-size:12px;font-weight:650;line-height:17px}\n",
	".badge.blocks{color:var(--bad)}.badge.warning{color:var(--warn)}",
	".badge.pending{color:var(--wait)}\n",
	".marks{display:grid;gap:6px;margin:8px 0}\n",
	".mark{padding:6px 10px;border-left:4px solid;border-radius:3px;font-size:13px}\n",
	".mark p,.mark .at,.mark code{color:var(--text)}.mark .remedy span{font-weight:600}\n",
	".mark code{font-weight:600}.mark .at{display:block;font-size:12px}\n",
	".mark.blocks{border-color:var(--bad);background:var(--bad-ground)}\n",
	".mark.warning{border-color:var(--warn);background:var(--warn-ground)}\n",
	".mark.pending{border-color:var(--wait);background:var(--wait-ground)}\n",
	"#problems>.marks{grid-template-columns:repeat(auto-fill,minmax(min(100%,520px),1fr))}\n",
	".state{font-weight:600}.state.up{color:var(--good)}.state.down{color:var(--bad)}",
	".state.off{color:var(--dim)}\n",
};

static const char *const node[] = {
	".sockets{display:grid;gap:14px;",
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,560px),1fr))}\n",
	".socket{min-width:0;padding:12px;border:1px solid var(--line);border-radius:8px;",
	"background:var(--card)}\n",
	".numas{display:grid;gap:12px;",
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,250px),1fr))}\n",
	".numa{min-width:0}.numa:not(:only-child){padding:8px;border:1px solid var(--line);"
	"border-radius:6px}\n",
	".numa>.head p{color:var(--dim);font-size:13px}.numa>.head .memory{color:var(--text)}\n",
	".bar{display:flex;height:10px;margin:4px 0;border-radius:3px;overflow:hidden;",
	"background:var(--free)}\n",
	".huge{background:var(--huge)}.used{background:var(--used)}.free{background:var(--free)}\n",
	".legend{display:flex;flex-wrap:wrap;gap:2px 14px;font-size:12px;color:var(--dim)}\n",
	".legend i{display:inline-block;width:10px;height:10px;margin-right:5px;border-radius:2px;",
	"border:1px solid var(--line)}\n",
	".tree{display:flex;flex-wrap:wrap;align-items:stretch;gap:10px;margin-top:10px}\n",
	".switch{flex:1 1 min(100%,500px);min-width:0;padding:8px;border:1px solid var(--line);",
	"border-radius:6px;background:var(--inset)}\n",
	".slot{flex:1 1 min(100%,190px);min-width:0;display:flex;flex-direction:column}\n",
	".below{display:flex;flex-wrap:wrap;gap:8px;margin-top:6px}\n",
	".way{color:var(--dim);font-size:12px}.way code{font-size:12px}\n",
	".bridge{white-space:nowrap}.bridge+.bridge::before{content:'\\203a ';margin-left:2px}\n",
	".fn{flex:1;padding:8px 10px;border:1px solid var(--line);border-top:4px solid "
	"var(--other);",
	"border-radius:5px;background:var(--card)}\n",
	".fn.nic{border-top-color:var(--nic)}.fn.gpu{border-top-color:var(--gpu)}",
	".fn.nvme{border-top-color:var(--nvme)}\n",
	".fn.blocks{border-color:var(--bad);box-shadow:inset 0 0 0 1px var(--bad)}",
	".fn.warning{border-color:var(--warn);box-shadow:inset 0 0 0 1px var(--warn)}",
	".fn.pending{border-color:var(--wait)}",
	".fn.gone{border:2px dashed var(--bad);background:none}\n",
	".label{font-weight:700}.driver{color:var(--dim)}.name{font-size:13px}\n",
	".parts{font-size:13px}.facts,.pair,.vfs-of{font-size:12.5px}.facts{color:var(--dim)}\n",
	".facts span+span::before{content:'\\b7  '}\n",
	".link{font-size:13px}.link em{font-style:normal}.link.less em{color:var(--warn);"
	"font-weight:600}\n",
	".meter{display:block;height:4px;margin:2px 0 "
	"3px;border-radius:2px;background:var(--free)}\n",
	".meter i{display:block;height:4px;border-radius:2px;background:var(--used)}",
	".less .meter i{background:var(--warn)}\n",
	".vfs{display:grid;grid-template-columns:repeat(auto-fill,minmax(57px,1fr));gap:3px;",
	"margin-top:4px}\n",
	".vfs li{padding:1px 2px 1px 4px;border:1px solid "
	"var(--line);border-radius:3px;line-height:1.3;",
	"font-size:11.5px}.vfs small{display:block;font-size:11px}\n",
	".vfs .badge{display:block;padding:0;border:0;font-size:11px;line-height:1.3}\n",
	".vfs .blocks{border-color:var(--bad);background:var(--bad-ground)}",
	".vfs .warning{border-color:var(--warn);background:var(--warn-ground)}",
	".vfs .pending{border-color:var(--wait);background:var(--wait-ground)}\n",
	".others{margin-top:8px;font-size:12.5px;color:var(--dim)}summary{cursor:pointer}\n",
	".cards{display:grid;gap:14px;margin-top:14px;align-items:start;",
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr))}\n",
	".card{min-width:0;padding:12px;border:1px solid var(--line);border-radius:8px;",
	"background:var(--card)}\n",
	".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13px}\n",
	"th,td{padding:3px 12px 3px 0;text-align:left;vertical-align:top;font-weight:400}\n",
	"thead th{color:var(--dim);font-size:12px}tbody tr{border-top:1px solid var(--line)}\n",
};

static const char *const boot[] = {
	".boot{display:flex;flex-wrap:wrap;gap:4px}\n",
	".boot li{flex:1 1 118px;padding:6px 10px;border:1px solid var(--line);",
	"border-top:4px solid "
	"var(--nic);border-radius:5px;background:var(--card);font-size:13px}\n",
	".boot li span{display:block;color:var(--dim);font-size:12px}\n",
	".boot .gap{flex-basis:86px;border:1px dashed var(--line);background:none}\n",
	".boot .failed{border-color:var(--bad)}.boot .wait,.boot "
	".reboot{border-top-color:var(--wait)}",
	".boot .verdict{display:block;margin:0;padding:6px 10px;border:1px solid var(--line);",
	"border-top:4px solid var(--text)}.boot .device{border-top-color:var(--warn)}\n",
	".past-boots{display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr))}\n",
	".stage{margin-top:12px}.stage .legend{margin-bottom:6px}\n",
	".lane{display:grid;grid-template-columns:150px minmax(0,1fr) 290px;gap:0 12px;",
	"align-items:center;padding:2px 0;font-size:12.5px;border-top:1px solid var(--line)}\n",
	".lane svg{display:block;background:var(--inset)}.said{color:var(--dim)}\n",
	".ticks{border-top:0;color:var(--dim);font-size:12px}.tick{display:flex;",
	"justify-content:space-between}\n",
	".grid{stroke:var(--line)}.key{margin-right:5px}\n",
	".sort-change{fill:#7a8494}.sort-failed{fill:#c8281e}.sort-link_up{fill:#b08a1e}",
	".sort-measurement{fill:#0f8b8d}",
	".sort-eswitch{fill:#8a6d4f}.sort-numvfs{fill:#1d6fb8}.sort-vfs_seen{fill:#5fa3de}",
	".sort-addresses{fill:#8a53b5}.sort-bind{fill:#2f8a4f}.sort-ready{fill:#77bf6b}",
	".sort-mtu{fill:#c4669c}.sort-look_again{fill:#9aa3b0}\n",
	".figures td small{display:block}.figures .chart{width:190px;padding-top:7px}\n",
	".figure{display:block;border-radius:2px}.figure .ground{fill:var(--inset)}",
	".figure .value{fill:var(--used)}.figure.bad .value{fill:var(--bad)}\n",
	".threshold{stroke:var(--text);stroke-width:2}\n",
	".past{display:flex;flex-wrap:wrap;align-items:center;gap:0 "
	"10px}.history{display:block}.history "
	"polyline{fill:none;stroke:var(--nic);stroke-width:1.5}",
	".history circle{fill:var(--nic)}.history .threshold{stroke-width:1;stroke-dasharray:3 "
	"3}\n",
	"@media print{body{background:#fff}.fn,.switch,.socket{break-inside:avoid}}\n",
};

static void put(FILE *out, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputs(lines[i], out);
}

void html_style(FILE *out)
{
	put(out, colours, array_len(colours));
	put(out, text, array_len(text));
	put(out, states, array_len(states));
	put(out, node, array_len(node));
	put(out, boot, array_len(boot));
}
