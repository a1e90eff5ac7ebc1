#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""html_check.py PAGE.html SURVEY.json: says what is wrong with a page of `survey --html` or `status
--html`, and exits 1 if anything is: a tag that is not closed, an id that is there twice, a link that
leads nowhere or out of the page, a script, text that is no UTF-8, something of the survey that is
not in the drawing. Prints the text of the page, without markup, to standard output."""
import json
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "br"}
INLINE = {"a", "b", "code", "em", "i"}  # with no white space around them
OUTSIDE = {"src", "srcset", "action", "data", "poster", "background", "ping"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.hrefs, self.functions, self.bad = [], [], [], [], []
        self.text = []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img", "iframe", "object", "base", "form"):
            self.bad.append(f"there is a <{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in OUTSIDE:
                self.bad.append(f"<{tag}> has {name}={value}")
            if name == "style" and "url(" in value:
                self.bad.append(f"<{tag}> has style={value}")
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.hrefs += [attrs["href"]] if "href" in attrs else []
        self.functions += [attrs["data-pci"]] if "data-pci" in attrs else []
        self.text += [] if tag in INLINE else [" "]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.text += [] if tag in INLINE else [" "]
        if not self.open or self.open[-1] != tag:
            self.bad.append(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        elif tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["style"]:
            if re.search(r"url\(|@import|</", data):
                self.bad.append("the style sheet fetches something")
        else:
            self.text.append(data)


def main():
    with open(sys.argv[1], "rb") as f:
        source = f.read().decode("utf-8")  # or dies
    with open(sys.argv[2]) as f:
        survey = json.load(f)
    page = Page()
    page.feed(source)
    page.close()
    bad = page.bad
    text = " ".join("".join(page.text).split())
    words = set(re.split(r"[\s,]+", text))
    bad += [f"<{tag}> is not closed" for tag in page.open]
    bad += [f"id {i} is there twice" for i in set(page.ids) if page.ids.count(i) > 1]
    bad += [f"a link leads to {h}" for h in page.hrefs if h[:1] != "#" or h[1:] not in page.ids]
    bad += [f"there is {url}" for url in re.findall(r"https?:[^\s\"<]*", source)]
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", source):
        bad.append("there is a control character")
    for function in survey["pci"]:
        n = page.functions.count(function["address"])
        if n != 1:
            bad.append(f"{function['address']} is in the drawing {n} times")
    names = [t["name"] for kind in ("netdevs", "rdma", "nvme") for t in survey[kind]]
    bad += [f"{name} is not in the page" for name in names
            if re.fullmatch(r"[\w.-]+", name) and name not in words]
    bad += [f"NUMA node {n['node']} is not in the page" for n in survey["numa_nodes"]
            if f"numa-{n['node']}" not in page.ids and n.get("memory") != 0]
    print(text)
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
