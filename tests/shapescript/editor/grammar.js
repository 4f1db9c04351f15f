// Holds the extension's grammar against the lexer: on every program of the corpus each token has the
// scopes of its class, from its first unit to its last. Ends with 77 where the engine is absent.
//
//   node grammar.js TOKENS_PROGRAM NODE_MODULES PROGRAM.ss...
"use strict";

const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const [tokensProgram, modules, ...files] = process.argv.slice(2);
const extension = path.join(__dirname, "..", "..", "..", "shapescript", "editors", "vscode");

let textmate, oniguruma;
try {
  textmate = require(path.join(modules, "vscode-textmate"));
  oniguruma = require(path.join(modules, "vscode-oniguruma"));
} catch (missing) {
  console.log(`skipped: ${missing.message.split("\n")[0]}`);
  process.exit(77);
}

const scopesOf = {
  keyword: /^keyword\./,
  number: /^constant\.numeric\./,
  string: /^(string\.|constant\.character\.escape)/,
  comment: /^comment\./,
  operator: /^keyword\.operator\.shapescript/,
  punctuation: /^punctuation\./,
  // A name is coloured by its place, but never as something else.
  name: /^(variable|entity|support|storage)\./,
};

function lexed() {
  const out = execFileSync(tokensProgram, files, { maxBuffer: 1 << 28, encoding: "utf8" });
  return out.trim().split("\n").map((line) => JSON.parse(line));
}

function check(grammar, { file, tokens }) {
  const lines = fs.readFileSync(file, "utf8").replace(/^\uFEFF/, "").split(/\r\n|\n/);
  let state = textmate.INITIAL;
  const seen = lines.map((line) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    return result.tokens;
  });
  let wrong = 0;
  for (const [line, begin, end, kind] of tokens) {
    for (const one of seen[line].filter((t) => t.startIndex < end && t.endIndex > begin)) {
      const scope = one.scopes[one.scopes.length - 1];
      const inside = one.startIndex >= begin && one.endIndex <= end;
      if (scopesOf[kind].test(scope) && (inside || kind === "punctuation")) continue;
      console.log(`${file}:${line + 1}:${begin + 1}: ${kind} is ${scope}`);
      wrong += 1;
    }
  }
  return wrong;
}

async function main() {
  const wasm = fs.readFileSync(path.join(modules, "vscode-oniguruma", "release", "onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => {
      const file = path.join(extension, "syntaxes", "shapescript.tmLanguage.json");
      return textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file);
    },
  });
  const manifest = JSON.parse(fs.readFileSync(path.join(extension, "package.json"), "utf8"));
  const grammar = await registry.loadGrammar(manifest.contributes.grammars[0].scopeName);
  let wrong = 0;
  let tokens = 0;
  for (const one of lexed()) {
    wrong += check(grammar, one);
    tokens += one.tokens.length;
  }
  console.log(`${tokens} tokens of ${files.length} programs, ${wrong} wrong`);
  process.exit(wrong === 0 && tokens > 0 ? 0 : 1);
}

main();
