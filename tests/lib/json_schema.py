#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What an editor would say of profiles, by the JSON Schema.

json_schema.py SCHEMA FILE...: a line for each file, "accepted NAME" or "refused NAME: why".
The system's own python3: that is where Debian's packages are.
"""
import json
import os
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """YAML 1.2's core schema, as editors read it; PyYAML's own rules are those of 1.1."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        names = [as_key(key) for key in keys]
        for name in names:
            if names.count(name) > 1:
                raise yaml.YAMLError(f"the key {name} twice")
        return {n: self.construct_object(v, deep=True) for n, (_, v) in zip(names, node.value)}


def as_key(key):
    """Keys of JSON are strings."""
    words = {True: "true", False: "false", None: "null"}
    if isinstance(key, bool) or key is None:
        return words[key]
    if isinstance(key, (str, int, float)):
        return str(key)
    raise yaml.YAMLError("a key must be a word")


def number(_, node):
    text = node.value
    return int(text, 0) if re.match(r"0[xo]", text) else int(text)


def real(_, node):
    return float(node.value)


for tag, pattern, first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^({pattern})$"), first)
Loader.add_constructor("tag:yaml.org,2002:int", number)
Loader.add_constructor("tag:yaml.org,2002:float", real)
Loader.add_constructor("tag:yaml.org,2002:map", Loader.construct_mapping)


def judge(validator, path):
    """Why a file is refused, or None."""
    try:
        with open(path, "rb") as file:
            doc = yaml.load(file, Loader)
    except (yaml.YAMLError, UnicodeError, RecursionError) as e:
        return "not read: " + str(e).replace("\n", " ")
    error = jsonschema.exceptions.best_match(validator.iter_errors(doc))
    if error is None:
        return None
    where = ".".join(str(part) for part in error.absolute_path)
    return f"{where}: {error.message}"


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for path in paths:
        why = judge(validator, path)
        name = os.path.basename(path)
        print(f"accepted {name}" if why is None else f"refused {name}: {why}")


main(*sys.argv[1:])
