#!/usr/bin/env python3
"""A session of a real client library (pygls) with `shapescript lsp`: open, hover, complete, rename,
code action, format, shutdown. Ends with 77 where the library is not installed.

  client.py --program build/release/bin/shapescript
"""

import argparse
import asyncio
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

    async def run(self, program):
        client = self.client
        await client.start_io(program, "lsp")
        started = await client.initialize_async(lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(general=lsp.GeneralClientCapabilities(
                position_encodings=[lsp.PositionEncodingKind.Utf16]))))
        expect("encoding", started.capabilities.position_encoding, "utf-16")
        client.initialized(lsp.InitializedParams())
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(
            lsp.TextDocumentItem(URI, "shapescript", 1, PROGRAM)))
        text = await self.mend(await self.next_reports())
        await self.ask(text)
        expect("shutdown", await client.shutdown_async(None), None)
        client.exit(None)
        await asyncio.wait_for(client._server.wait(), 20)
        expect("exit status", client._server.returncode, 0)
        await client.stop()

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    asyncio.run(Session().run(parser.parse_args().program))


if __name__ == "__main__":
    main()
