// The client of `shapescript lsp`: starts it, and shows the pages that its reports lead to.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function makeClient() {
  const command = vscode.workspace.getConfiguration("shapescript").get("path") || "shapescript";
  const server = { command, args: ["lsp"] };
  return new LanguageClient(
    "shapescript",
    "ShapeScript",
    { run: server, debug: server },
    {
      documentSelector: [{ language: "shapescript" }],
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.ss") },
    }
  );
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (failed) {
    vscode.window.showErrorMessage(
      `ShapeScript: ${failed.message}. Set "shapescript.path" to the program \`shapescript\`.`
    );
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old && old.isRunning()) await old.stop();
}

// A report's code leads to `shapescript-explain:CODE.md`, whose text the server has.
const explanations = {
  async provideTextDocumentContent(uri) {
    const code = uri.path.replace(/\.md$/, "");
    if (!client || !client.isRunning()) return `The language server is not running.`;
    return client.sendRequest("shapescript/explain", { code });
  },
};

async function activate(context) {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider("shapescript-explain", explanations),
    vscode.commands.registerCommand("shapescript.restart", async () => {
      await stop();
      await start();
    })
  );
  await start();
}

module.exports = { activate, deactivate: stop };
