#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Examples of docs/examples that no test runs: parsed by their own tools where these are installed,
# else by the parser of their language; what they hold of railhead's is checked by railhead. Each says
# itself that it is unverified. bake.bats and tests/long/images have those that are run.

bats_require_minimum_version 1.5.0
load lib/fakenode

examples=$BATS_TEST_DIRNAME/../docs/examples
shipped=$BATS_TEST_DIRNAME/../profiles

@test "each example says that it is unverified, or is run" {
  for file in "$examples"/{bootc/Containerfile,packer/node.pkr.hcl,cloud-init/user-data,ansible/node.yaml}; do
    grep -q '^# Unverified: parsed by tests/examples.bats' "$file"
  done
  for file in mmdebstrap mkosi; do
    grep -q "run_$file()" "$BATS_TEST_DIRNAME/long/images"
  done
  # None is forgotten here.
  run -0 ls "$examples"
  [ "$output" = "ansible
bake-hook
bootc
cloud-init
mkosi
mmdebstrap
packer
profiles" ]
}

# All that the text installs below /etc/railhead, laid over the shipped profiles.
tree_of() { # YAML-FILE
  root=$BATS_TEST_TMPDIR/tree
  mkdir -p "$root/usr/lib/railhead/profiles" "$root/etc"
  cp "$shipped"/*.yaml "$root/usr/lib/railhead/profiles/"
  python3 - "$1" "$root" <<'P'
import os, sys, yaml
with open(sys.argv[1]) as f:
    doc = yaml.safe_load(f)
found = []
def walk(node):
    if isinstance(node, dict):
        path = node.get("path") or node.get("dest")
        if path and "content" in node:
            found.append((path, node["content"]))
        node = list(node.values())
    for item in node if isinstance(node, list) else []:
        walk(item)
walk(doc)
assert found, "writes nothing"
for path, content in found:
    path = sys.argv[2] + path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(content)
P
}

@test "cloud-init: user-data is YAML of its keys, and its profile and policy are valid" {
  head -n 1 "$examples/cloud-init/user-data" | grep -qx '#cloud-config'
  tree_of "$examples/cloud-init/user-data"
  run -0 "$railhead" check --root "$root"
  [[ $output == *"/etc/railhead/profiles/site.yaml: ok"* ]]
  [[ $output == *"/etc/railhead/railhead.conf.d/50-site.conf: ok"* ]]
  if command -v cloud-init >/dev/null; then
    cloud-init schema --config-file "$examples/cloud-init/user-data"
  fi
  run -0 python3 -c 'import sys, yaml; print(*yaml.safe_load(open(sys.argv[1])))' "$examples/cloud-init/user-data"
  [ "$output" = "write_files runcmd power_state" ]
}

@test "ansible: the playbook is YAML, each task has one module, and its policy is valid" {
  tree_of "$examples/ansible/node.yaml"
  run -0 "$railhead" check --root "$root"
  [[ $output == *"/etc/railhead/railhead.conf.d/50-site.conf: ok"* ]]
  if command -v ansible-playbook >/dev/null; then
    ansible-playbook --syntax-check -i nodes, "$examples/ansible/node.yaml"
  fi
  python3 - "$examples/ansible/node.yaml" <<'P'
import sys, yaml
with open(sys.argv[1]) as f:
    (play,) = yaml.safe_load(f)
assert {"name", "hosts", "tasks"} <= set(play), play
for task in play["tasks"]:
    modules = [key for key in task if key.startswith("ansible.builtin.")]
    rest = set(task) - set(modules) - {"name", "loop", "register", "changed_when", "failed_when"}
    assert len(modules) == 1 and task["name"] and not rest, task
P
}

# Blocks, strings and here-documents close; each line is a block, an attribute or an element.
@test "packer: the template is HCL, and bakes what bake takes" {
  if command -v packer >/dev/null; then
    packer fmt -check "$examples/packer"
    packer validate -syntax-only "$examples/packer"
  fi
  python3 - "$examples/packer/node.pkr.hcl" <<'P'
import re, sys
with open(sys.argv[1]) as f:
    text = f.read()
text = re.sub(r"<<-(\w+)\n.*?\n\s*\1\n", '"here"\n', text, flags=re.S)
text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '"s"', text)
text = re.sub(r"^\s*#.*\n", "", text, flags=re.M)
assert not re.search(r"[<>']", text), "a string or here-document is open"
stack, pairs = [], {"}": "{", "]": "["}
for char in text:
    if char in "{[":
        stack.append(char)
    elif char in pairs:
        assert stack and stack.pop() == pairs[char], "brackets do not match"
assert not stack, "brackets are open"
line = r'\s*(?:\w+(?: "s")* \{|\}|\]|"s",?|(?:\w+|"s")\s*= (?:"s"|\w+|[\w.]+|\{|\[|\["s"(?:, "s")*\]))\s*'
for l in filter(str.strip, text.splitlines()):
    assert re.fullmatch(line, l), l
P
  read -ra bake <<<"$(grep -o 'railhead bake [^"]*' "$examples/packer/node.pkr.hcl")"
  [ "${bake[*]}" = "railhead bake --root /mnt --profile hgx-h100-cx7 --gate containerd --strict" ]
}
