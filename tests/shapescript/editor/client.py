#!/usr/bin/env python3
"""Sessions of a real client library (pygls) with `shapescript lsp`: one opens a file, hovers, completes,
renames, mends and formats; in the other the chapter's program is written key after key, as an editor
with its list of completions would. Ends with 77 where the library is not installed.

  client.py --program build/release/bin/shapescript
"""

import argparse
import asyncio
import os
import re
import sys

try:
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

URI = "file:///tmp/session.ss"

PROGRAM = """# 🙂 𝒮
dim D  = 784
dim Hd = 256

model Mlp:
    param w1: [D Hd] = normal(std=0.02)

fn f(m: Mlp, x: [b D]) -> [b Hd]:
    return x @ m.w1 |> rellu
"""


def expect(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"{what}: {seen!r}, but {wanted!r} was expected")


def place_of(text, before, after=""):
    """The place between two pieces of text, in UTF-16 units as the protocol has it."""
    at = text.index(before + after) + len(before)
    line = text.count("\n", 0, at)
    start = text.rfind("\n", 0, at) + 1
    return lsp.Position(line, len(text[start:at].encode("utf-16-le")) // 2)


def edited(text, edits):
    """The text after a list of edits."""
    units = text.encode("utf-16-le")
    starts = [0]
    for i in range(0, len(units), 2):
        if units[i:i + 2] == b"\n\0":
            starts.append(i + 2)
    places = [(starts[e.range.start.line] + 2 * e.range.start.character,
               starts[e.range.end.line] + 2 * e.range.end.character, e.new_text) for e in edits]
    for begin, end, fresh in sorted(places, reverse=True):
        units = units[:begin] + fresh.encode("utf-16-le") + units[end:]
    return units.decode("utf-16-le")


class Session:
    def __init__(self):
        self.client = LanguageClient("session", "1")
        self.reports = asyncio.Queue()

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.reports.put_nowait(params)

    async def next_reports(self):
        return await asyncio.wait_for(self.reports.get(), 20)

    async def start(self, program):
        client = self.client
        await client.start_io(program, "lsp")
        started = await client.initialize_async(lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(general=lsp.GeneralClientCapabilities(
                position_encodings=[lsp.PositionEncodingKind.Utf16]))))
        expect("encoding", started.capabilities.position_encoding, "utf-16")
        client.initialized(lsp.InitializedParams())
        return started.capabilities

    def open(self, text):
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(
            lsp.TextDocumentItem(URI, "shapescript", 1, text)))

    async def end(self):
        client = self.client
        expect("shutdown", await client.shutdown_async(None), None)
        client.exit(None)
        await asyncio.wait_for(client._server.wait(), 20)
        expect("exit status", client._server.returncode, 0)
        await client.stop()

    async def run(self, program):
        await self.start(program)
        self.open(PROGRAM)
        text = await self.mend(await self.next_reports())
        await self.ask(text)
        await self.end()

    async def mend(self, published):
        """Applies the fix of the only report, as an editor does."""
        expect("codes", [d.code for d in published.diagnostics], ["E0201"])
        report = published.diagnostics[0]
        actions = await self.client.text_document_code_action_async(lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(URI), report.range, lsp.CodeActionContext([report])))
        expect("titles", [a.title for a in actions], ["Replace `rellu` by `relu`"])
        edits = actions[0].edit.changes[URI]
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(2, URI),
            [lsp.TextDocumentContentChangePartial(e.range, e.new_text) for e in edits]))
        expect("reports", list((await self.next_reports()).diagnostics), [])
        return edited(PROGRAM, edits)

    async def ask(self, text):
        document = lsp.TextDocumentIdentifier(URI)
        client = self.client
        shown = await client.text_document_hover_async(
            lsp.HoverParams(document, place_of(text, "m.", "w1 |>")))
        expect("hover", shown.contents.value.split("\n\n")[:2],
               ["```shapescript\nw1: [D Hd]\n```", "`D` is 784, `Hd` is 256"])
        items = await client.text_document_completion_async(
            lsp.CompletionParams(document, place_of(text, "m.", "w1 |>")))
        expect("completion", [x.label for x in items], ["w1"])
        expect("its edit", items[0].text_edit.range,
               lsp.Range(place_of(text, "m.", "w1 |>"), place_of(text, "m.", "w1 |>")))
        help = await client.text_document_signature_help_async(
            lsp.SignatureHelpParams(document, place_of(text, "normal(", "std")))
        expect("signature", help.signatures[0].label, "normal(std=?, mean=?, rng=?)")
        changes = await client.text_document_rename_async(
            lsp.RenameParams(document, place_of(text, "dim ", "Hd"), "Hidden"))
        expect("rename", edited(text, changes.changes[URI]), text.replace("Hd", "Hidden"))
        edits = await client.text_document_formatting_async(lsp.DocumentFormattingParams(
            document, lsp.FormattingOptions(tab_size=4, insert_spaces=True)))
        expect("formatting", list(edits), [])
        symbols = await client.text_document_document_symbol_async(
            lsp.DocumentSymbolParams(document))
        expect("symbols", [x.name for x in symbols], ["D", "Hd", "Mlp", "f"])
        tokens = await client.text_document_semantic_tokens_full_async(
            lsp.SemanticTokensParams(document))
        expect("tokens", len(tokens.data) % 5, 0)


WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# What is said of a function before its last line is written.
OF_UNFINISHED = {"E0111", "E0605", "W0201"}


class Writer(Session):
    """Someone who writes a program and takes the first completion as soon as it is the word."""

    def __init__(self):
        super().__init__()
        self.text = ""
        self.version = 1
        self.keys = 0
        self.signs = ""

    def end_of_text(self):
        line = self.text.rfind("\n") + 1
        return lsp.Position(self.text.count("\n"), len(self.text[line:]))

    def change(self, start, fresh):
        """Puts text in place of all from an offset on."""
        end = self.end_of_text()
        line = self.text.rfind("\n", 0, start) + 1
        begin = lsp.Position(self.text.count("\n", 0, start), start - line)
        self.version += 1
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(self.version, URI),
            [lsp.TextDocumentContentChangePartial(lsp.Range(begin, end), fresh)]))
        self.text = self.text[:start] + fresh

    def press(self, key):
        self.keys += 1
        self.change(len(self.text), key)

    async def completions(self, sign=None):
        context = lsp.CompletionContext(lsp.CompletionTriggerKind.Invoked) if sign is None else \
            lsp.CompletionContext(lsp.CompletionTriggerKind.TriggerCharacter, sign)
        found = await self.client.text_document_completion_async(lsp.CompletionParams(
            lsp.TextDocumentIdentifier(URI), self.end_of_text(), context=context))
        return sorted(found or [], key=lambda x: x.sort_text)

    async def word(self, wanted, rest):
        """Writes a word by hand until the first completion that is left is the word."""
        begin = len(self.text)
        items = []
        for i, key in enumerate(wanted):
            self.press(key)
            if i == 0:
                items = await self.completions()
            left = [x for x in items if x.label.startswith(wanted[:i + 1])]
            if not left or len(wanted) - i <= 2:
                continue
            fresh = left[0].text_edit.new_text
            if fresh == wanted or (fresh == wanted + "=" and rest.startswith("=")):
                start = left[0].text_edit.range.start
                expect("where a completion begins", start.character,
                       begin - (self.text.rfind("\n", 0, begin) + 1))
                self.keys += 1
                self.change(begin, fresh)
                return len(fresh)
        return len(wanted)

    async def reports_now(self):
        """What is reported on the text as it is now."""
        while True:
            published = await self.next_reports()
            if published.version == self.version:
                return published.diagnostics

    async def check_reports(self):
        """Nothing is said of other lines than the one at hand, but of an unfinished function."""
        here = self.end_of_text().line
        for one in await self.reports_now():
            if one.range.start.line < here and one.code not in OF_UNFINISHED:
                raise SystemExit(f"after {self.text[-30:]!r}: {one.code} in line "
                                 f"{one.range.start.line + 1}: {one.message}")

    async def write(self, program):
        at = 0
        while at < len(program):
            word = WORD.match(program, at)
            comment = "#" in self.text[self.text.rfind("\n") + 1:]
            if word and not comment and self.text.count('"') % 2 == 0:
                at += await self.word(word.group(), program[word.end():])
                continue
            key = program[at]
            self.press(key)
            at += 1
            if key in self.signs:
                await self.completions(key)
            if key in "(,":
                await self.client.text_document_signature_help_async(lsp.SignatureHelpParams(
                    lsp.TextDocumentIdentifier(URI), self.end_of_text()))
            if key in "\n=":
                await self.check_reports()

    async def run(self, program):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                               "../../golden/shapescript/chapter/train.ss"), encoding="utf-8") as f:
            chapter = f.read()
        able = await self.start(program)
        self.signs = able.completion_provider.trigger_characters
        self.open("")
        await self.write(chapter)
        expect("text", self.text, chapter)
        expect("reports", list(await self.reports_now() if self.reports.qsize() else []), [])
        # Most of its characters are new names, signs, numbers and words of a letter or two.
        if 6 * self.keys > 5 * len(chapter):
            raise SystemExit(f"too many keys: {self.keys} for {len(chapter)} characters")
        print(f"{len(chapter)} characters by {self.keys} keys")
        await self.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    asyncio.run(Session().run(program))
    asyncio.run(Writer().run(program))


if __name__ == "__main__":
    main()
