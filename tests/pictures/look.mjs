// SPDX-License-Identifier: GPL-2.0-or-later
// look.mjs CHROMIUM DIR: opens each page of tests/pictures/pages in DIR, 1280 and 1920 pixels wide,
// in light and in dark, and fails where
//  - two texts overlap, or one is cut off by a box that it stands in, or by the edge of the page;
//  - a function, netdev or RDMA device of the node's survey is not in the drawing exactly once;
//  - anything is fetched, or a script is there;
//  - axe-core finds a violation (contrast, names of pictures, order of headings, and the like).
// The pictures go to DIR/NAME-WIDTH-SCHEME.png, for the eyes of whoever changes the look.
import { readFileSync, readdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [chromium, dir] = process.argv.slice(2);
const require = createRequire(resolve("build/pictures/npm") + "/");
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const SLACK = 1; // pixels: rounding of boxes

// Runs in the page: every line of text that is shown, with its place, and what is wrong with it.
function measure(slack) {
  const bad = [];
  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const shown = (element) => element.checkVisibility() && !element.closest("title, style");

  while (walker.nextNode()) {
    const node = walker.currentNode;
    const range = document.createRange();
    if (!node.data.trim() || !shown(node.parentElement)) continue;
    range.selectNodeContents(node);
    for (const r of range.getClientRects())
      if (r.width > 0) lines.push({ node, text: node.data.trim().slice(0, 60), r });
  }
  for (const { node, text, r } of lines) {
    if (r.right > document.documentElement.clientWidth + slack || r.left < -slack)
      bad.push(`"${text}" is cut off by the edge of the page`);
    for (let e = node.parentElement; e !== document.body; e = e.parentElement) {
      const box = e.getBoundingClientRect();
      if (getComputedStyle(e).display === "inline") continue;
      if (r.right > box.right + slack || r.left < box.left - slack ||
          r.bottom > box.bottom + slack || r.top < box.top - slack) {
        bad.push(`"${text}" leaves its ${e.tagName.toLowerCase()}.${e.className}`);
        break;
      }
    }
  }
  lines.sort((a, b) => a.r.top - b.r.top);
  for (let i = 0; i < lines.length; i++)
    for (let k = i + 1; k < lines.length && lines[k].r.top < lines[i].r.bottom - 2 * slack; k++) {
      const a = lines[i].r, b = lines[k].r;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // lines of one paragraph may touch: a line's box is higher than its letters
      if (wide > slack && high > 4 * slack && lines[i].node !== lines[k].node)
        bad.push(`"${lines[i].text}" and "${lines[k].text}" overlap`);
    }
  if (document.scripts.length) bad.push("there is a script");
  return { bad, lines: lines.length };
}

// Runs in the page: what of the survey is not in the drawing.
function missing(survey) {
  const bad = [];
  const words = new Set(document.querySelector("#node").innerText.split(/[\s,]+/));

  for (const { address } of survey.pci) {
    const n = document.querySelectorAll(`#node [data-pci="${address}"]`).length;
    if (n !== 1) bad.push(`${address} is in the drawing ${n} times`);
  }
  for (const { name } of [...survey.netdevs, ...survey.rdma, ...survey.nvme])
    if (!words.has(name)) bad.push(`${name} is not in the drawing`);
  for (const { nic, gpu } of survey.pairs)
    if (gpu && ![...document.querySelectorAll("#node tr")].some((row) =>
      row.textContent.includes(nic) && row.textContent.includes(gpu)))
      bad.push(`the pair ${nic} ${gpu} is not in its table`);
  // room for memory that is not there is counted, not drawn
  for (const { node } of survey.numa_nodes.filter((n) => n.cpus || n.memory !== 0))
    if (!document.querySelector(`#numa-${node}`)) bad.push(`NUMA node ${node} is not in the drawing`);
  return bad;
}

async function look(browser, name, width, scheme) {
  const page = await browser.newPage();
  const fetched = [];
  const file = resolve(dir, `${name}.html`);
  const survey = JSON.parse(readFileSync(resolve(dir, `${name}.json`), "utf8"));

  await page.setViewport({ width, height: 1000 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  page.on("request", (request) => fetched.push(request.url()));
  await page.goto(`file://${file}`);
  const { bad, lines } = await page.evaluate(measure, SLACK);
  await page.screenshot({ path: resolve(dir, `${name}-${width}-${scheme}.png`), fullPage: true });
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  bad.push(...(await page.evaluate(measure, SLACK)).bad.map((line) => `opened: ${line}`));
  bad.push(...await page.evaluate(missing, survey));
  if (fetched.length !== 1) bad.push(`it fetches: ${fetched.slice(1)}`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const { id, help, nodes } of violations)
    bad.push(`axe-core: ${id}: ${help}: ${nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  await page.close();
  return { bad, lines };
}

const names = readdirSync(dir).filter((f) => f.endsWith(".html")).map((f) => f.slice(0, -5)).sort();
const profile = mkdtempSync(join(resolve(dir), "chromium-"));
let failed = 0;
const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
try {
  if (!names.length) throw new Error(`${dir}: there are no pages`);
  for (const name of names)
    for (const width of [1280, 1920])
      for (const scheme of ["light", "dark"]) {
        const { bad, lines } = await look(browser, name, width, scheme);
        console.log(`${bad.length ? "not ok" : "ok"} ${name} at ${width}, ${scheme} (${lines} lines of text)`);
        for (const line of bad.slice(0, 12)) console.log(`#   ${line}`);
        if (bad.length > 12) console.log(`#   and ${bad.length - 12} more`);
        failed += bad.length > 0;
      }
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
