# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads TOML with Python 3.9 and later, whose library has no reader before 3.11.

    import read_toml
    document = read_toml.load(file)     file: opened in mode "rb"

Before 3.11 a reader of its own stands in, for what the files of this tree use: tables and arrays of
them, dotted and quoted keys, strings of all four kinds, integers, booleans, arrays, inline tables.
Anything else that TOML has is a TOMLDecodeError with its line. What TOML forbids is taken here and
there: a table that comes twice is read as one, {a = 1,} as {a = 1}, 01 as 1, and a string may have
control characters.
"""
import json
import re

try:
    from tomllib import TOMLDecodeError, loads
except ModuleNotFoundError:
    class TOMLDecodeError(ValueError):
        """Not TOML, or of TOML what is not read here."""

    KEY = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
    BLANK = re.compile(r"[ \t]*")
    SPACE = re.compile(r"(?:\s|#[^\n]*)*")
    END = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
    VALUE = re.compile(
        r'"""\n?(?P<text>(?:[^\\]|\\.)*?)"""|\'\'\'\n?(?P<raw>.*?)\'\'\''
        r'|"(?P<string>(?:[^"\\\n]|\\.)*)"|\'(?P<literal>[^\'\n]*)\''
        r'|(?P<number>[+-]?\d+(?:_\d+)*)(?![\w.:-])|(?P<bool>true|false)\b', re.DOTALL)

    class Reader:
        """One document, read from its beginning to its end."""

        def __init__(self, text):
            self.text, self.at = text, 0

        def fail(self, wanted):
            line = self.text.count("\n", 0, self.at) + 1
            raise TOMLDecodeError(f"expected {wanted} (at line {line})")

        def take(self, pattern, wanted):
            found = pattern.match(self.text, self.at)
            if not found:
                self.fail(wanted)
            self.at = found.end()
            return found

        def takes(self, token):
            if not self.text.startswith(token, self.at):
                return False
            self.at += len(token)
            return True

        def expect(self, token):
            if not self.takes(token):
                self.fail(repr(token))

        def key(self):
            parts = []
            while True:
                self.take(BLANK, "")
                part = self.take(KEY, "a key")[0]
                parts.append(self.unescape(part[1:-1]) if part[0] == '"' else part.strip("'"))
                self.take(BLANK, "")
                if not self.takes("."):
                    return parts

        def value(self):
            for token, items, end in ("[", self.array, "]"), ("{", self.table, "}"):
                if self.takes(token):
                    return items(end)
            found = self.take(VALUE, "a value")
            kind, text = found.lastgroup, found[found.lastgroup]
            if kind == "number":
                return int(text.replace("_", ""))
            if kind == "bool":
                return text == "true"
            return self.unescape(text) if kind in ("string", "text") else text

        # By JSON's rules, which TOML's escapes are but for \U and a newline that is escaped.
        def unescape(self, text):
            text = re.sub(r"\\\n\s*|(\\.)|(\")", lambda m: m[1] or m[2] and '\\"' or "", text)
            try:
                return json.loads(f'"{text}"', strict=False)
            except ValueError:
                self.fail("escapes of JSON")

        def items(self, end, one):
            while True:
                self.take(SPACE, "")
                if self.takes(end):
                    return
                one()
                self.take(SPACE, "")
                if not self.takes(","):
                    self.expect(end)
                    return

        def array(self, end):
            values = []
            self.items(end, lambda: values.append(self.value()))
            return values

        def table(self, end):
            table = {}
            self.items(end, lambda: self.pair(table))
            return table

        def pair(self, table):
            *path, name = self.key()
            self.expect("=")
            self.take(BLANK, "")
            table = self.below(table, path)
            if name in table:
                self.fail(f"{name} once")
            table[name] = self.value()

        def below(self, table, path):
            for name in path:
                table = table.setdefault(name, {})
                table = table[-1] if isinstance(table, list) else table
                if not isinstance(table, dict):
                    self.fail(f"{name} to be a table")
            return table

        def header(self, document):
            many = self.takes("[")
            *path, name = self.key()
            self.expect("]]" if many else "]")
            table = self.below(document, path)
            if isinstance(table.get(name, [] if many else {}), list) != many:
                self.fail(f"{name} as a table, or as an array of tables")
            if not many:
                return self.below(table, [name])
            table.setdefault(name, []).append({})
            return table[name][-1]

        def document(self):
            document = table = {}
            self.take(SPACE, "")
            while self.at < len(self.text):
                if self.takes("["):
                    table = self.header(document)
                else:
                    self.pair(table)
                self.take(END, "the end of the line")
                self.take(SPACE, "")
            return document

    def loads(text):
        return Reader(text.replace("\r\n", "\n")).document()


def load(file):
    return loads(file.read().decode())
