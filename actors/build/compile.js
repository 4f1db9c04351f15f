// Compiles one Motoko actor with the compiler from npm, as a child of `moxzi build`, `check` and
// `did`, and compares stable types for `moxzi upgrade-check`.
//
//   node compile.js --npm DIR [--package NAME DIR]... [--canister NAME PRINCIPAL FILE.did]...
//                   [--flag FLAG]... [--format plain|human|json]
//                   [--name NAME] [--deps FILE] [--public-metadata] [--strip-names] FILE.mo OUTDIR
//   node compile.js --npm DIR [...] --only check|did FILE.mo
//   node compile.js --npm DIR --only compatible OLD.most NEW.most
//
// The first writes OUTDIR/NAME.{wasm,did,most}. Diagnostics go to stderr, `file:line:col: error [M0050]
// text`, with the line itself below it (`human`), or an object a line (`json`); what was asked for with
// `--only did` goes to stdout. Exit 1 if any diagnostic is an error, 2 if the command line is wrong.
//
// --deps writes what decided the result, for the cache: `SHA256 PATH` for each file read, `- PATH` for
// each that was looked for and absent, `@ PRINCIPAL NAME` for each actor that was imported. Paths of the
// project are relative to FILE's folder, those of packages absolute.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

const source_bytes_max = 16 << 20; // of one file; the compiler needs some hundred times as much memory

class refusal extends Error {}

function parse_arguments(argv) {
  const options = {packages: new Map(), canisters: new Map(), flags: [], format: 'plain', only: '',
                   rest: []};
  for (let i = 0; i < argv.length; ++i) {
    if (argv[i] === '--npm') options.npm = argv[++i];
    else if (argv[i] === '--name') options.name = argv[++i];
    else if (argv[i] === '--deps') options.deps = argv[++i];
    else if (argv[i] === '--only') options.only = argv[++i];
    else if (argv[i] === '--flag') options.flags.push(argv[++i]);
    else if (argv[i] === '--format') options.format = argv[++i];
    else if (argv[i] === '--public-metadata') options.publicMetadata = true;
    else if (argv[i] === '--strip-names') options.stripNames = true;
    else if (argv[i] === '--package') options.packages.set(argv[i + 1], argv[(i += 2)]);
    else if (argv[i] === '--canister') {
      options.canisters.set(argv[i + 1], {id: argv[i + 2], did: argv[i + 3]});
      i += 3;
    } else options.rest.push(argv[i]);
  }
  const files = {'': 2, check: 1, did: 1, compatible: 2}[options.only];
  if (!options.npm || options.rest.length !== files) {
    process.stderr.write('usage: node compile.js --npm DIR [--package NAME DIR]... ' +
                         '[--canister NAME PRINCIPAL FILE.did]... [--flag FLAG]... ' +
                         '[--format plain|human|json] [--name NAME] [--deps FILE] ' +
                         '[--public-metadata] [--strip-names] [--only check|did|compatible] ' +
                         'FILE.mo [OUTDIR]\n');
    process.exit(2);
  }
  [options.file, options.out] = options.rest;
  options.name = options.name || path.basename(options.file, '.mo');
  return options;
}

// The string literals that follow `import` outside comments and strings. What the compiler would not
// accept as an import may be among them: it only leads to a file being offered to it.
function imports_of(text) {
  const token = /\/\/[^\n]*|\/\*|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_][A-Za-z0-9_]*|[;{}]/g;
  const found = [];
  let importing = false;
  for (let match; (match = token.exec(text)) !== null;) {
    const [word, literal] = match;
    if (word === '/*') token.lastIndex = end_of_comment(text, token.lastIndex);
    else if (word === 'import') importing = true;
    else if (literal !== undefined && importing) found.push(literal);
    if (literal !== undefined || word === ';') importing = false;
  }
  return found;
}

// Block comments nest.
function end_of_comment(text, from) {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  for (let depth = 1, match; (match = mark.exec(text)) !== null;) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}

// Offers the actor's file, and each file it can reach by imports, to the compiler's own file system.
// There the folder of the actor's file is the root, so that nothing in the result depends on where
// the project lies.
class loader {
  constructor(compiler, main, packages, canisters) {
    this.compiler = compiler;
    this.folder = path.dirname(path.resolve(main));
    this.packages = packages;
    this.canisters = canisters;
    this.seen = new Map(); // absolute path → digest, or null for an absent file
    this.texts = new Map(); // as the compiler knows the files → contents
    this.imported = new Set(); // `PRINCIPAL NAME`
  }

  load(file, inside) {
    if (this.seen.has(file)) return;
    let bytes = null;
    try {
      if (fs.statSync(file).isFile()) bytes = fs.readFileSync(file);
    } catch (e) {
      if (e.code !== 'ENOENT' && e.code !== 'ENOTDIR') throw e;
    }
    this.seen.set(file, bytes && crypto.createHash('sha256').update(bytes).digest('hex'));
    if (bytes === null) return;
    if (bytes.length > source_bytes_max)
      throw new refusal(`${file}: larger than ${source_bytes_max >> 20} MiB`);
    const text = bytes.toString('utf8');
    this.compiler.write(inside, text);
    this.texts.set(inside, text);
    if (file.endsWith('.did')) return;
    for (const wanted of imports_of(text)) this.follow(wanted, path.dirname(file), inside);
  }

  follow(wanted, folder, inside) {
    const scheme = /^([a-z]+):(.*)$/.exec(wanted);
    if (!scheme) return this.candidates(path.resolve(folder, wanted),
                                        path.join(path.dirname(inside), wanted));
    if (scheme[1] === 'canister' && this.canisters.has(scheme[2])) {
      const {id, did} = this.canisters.get(scheme[2]);
      this.imported.add(`${id} ${scheme[2]}`);
      return this.load(path.resolve(did), `.canisters/${id}.did`);
    }
    if (scheme[1] !== 'mo') return;
    const [name, ...rest] = scheme[2].split('/');
    if (!this.packages.has(name)) return;
    const below = rest.length === 0 ? 'lib' : rest.join('/');
    this.candidates(path.resolve(this.packages.get(name), below), `.packages/${name}/${below}`);
  }

  candidates(file, inside) {
    if (file.endsWith('.mo')) return this.load(file, inside);
    this.load(file + '.mo', inside + '.mo');
    this.load(path.join(file, 'lib.mo'), path.join(inside, 'lib.mo'));
  }

  deps() {
    const lines = [];
    const packages = [...this.packages.values()].map((dir) => path.resolve(dir) + path.sep);
    const interfaces = new Set([...this.canisters.values()].map(({did}) => path.resolve(did)));
    for (const [file, digest] of this.seen) {
      const foreign = interfaces.has(file) || packages.some((dir) => file.startsWith(dir));
      lines.push(`${digest || '-'} ${foreign ? file : path.relative(this.folder, file)}\n`);
    }
    for (const actor of this.imported) lines.push(`@ ${actor}\n`);
    return lines.join('');
  }
}

function render(diagnostic, options, texts) {
  const zero = {line: 0, character: 0};
  const {start, end} = diagnostic.range || {start: zero, end: zero};
  const file = diagnostic.source ? path.join(path.dirname(options.file), diagnostic.source)
                                 : options.file;
  const severity = diagnostic.severity === 1 ? 'error' : 'warning';
  const message = diagnostic.message.trimEnd() + hint_for(diagnostic);
  if (options.format === 'json')
    return JSON.stringify({file, line: start.line + 1, column: start.character + 1,
                           end_line: end.line + 1, end_column: end.character + 1, severity,
                           code: diagnostic.code, message}) + '\n';
  const plain = `${file}:${start.line + 1}:${start.character + 1}: ${severity} ` +
    `[${diagnostic.code}] ${message}\n`;
  if (options.format === 'plain') return plain;
  const text = texts.get(path.normalize(diagnostic.source || ''));
  return plain + (text === undefined ? '' : excerpt(text, start, end));
}

// What the compiler cannot know: how packages are found here.
function hint_for(diagnostic) {
  const missing = /^package "(.*)" not defined/.exec(diagnostic.message);
  if (!missing) return '';
  const newer = missing[1] === 'base' ? '; "mo:core/…" is built in and took its place' : '';
  return ` (say where it lies: --package ${missing[1]} DIR, or in mops.toml${newer})`;
}

// The line with what is meant marked below it. Columns count bytes of UTF-8.
function excerpt(text, start, end) {
  const line = text.split('\n')[start.line];
  if (line === undefined) return '';
  const bytes = Buffer.from(line, 'utf8');
  const upTo = (column) => [...bytes.subarray(0, column).toString('utf8')].length;
  const from = upTo(start.character);
  const to = end.line === start.line ? upTo(end.character) : [...line].length;
  const number = String(start.line + 1);
  const margin = ' '.repeat(number.length);
  const before = [...line].slice(0, from).map((c) => c === '\t' ? '\t' : ' ').join('');
  return `  ${number} | ${line.trimEnd()}\n  ${margin} | ${before}${'^'.repeat(Math.max(1, to - from))}\n`;
}

function load_compiler(npm) {
  const home = path.resolve(npm, 'node_modules', 'motoko');
  try {
    const module = require(home);
    const core = JSON.parse(fs.readFileSync(path.join(home, 'packages/latest/core.json'), 'utf8'));
    return {mo: module.default || module, core};
  } catch (e) {
    throw new refusal(`the Motoko compiler cannot be loaded from ${home} (${e.code || e.message}): ` +
                      `run 'make deps'`);
  }
}

// The compiler with everything it may ask for; returns it and the files that were read.
function prepare(options) {
  const info = fs.statSync(options.file, {throwIfNoEntry: false});
  if (!info || !info.isFile()) throw new refusal(`${options.file}: no such file`);
  const {mo, core} = load_compiler(options.npm);
  set_flags(mo, options.flags);
  if (options.publicMetadata)
    mo.setPublicMetadata(['candid:service', 'candid:args', 'motoko:stable-types', 'motoko:compiler']);
  if (!options.packages.has('core')) mo.loadPackage(core);
  for (const [name, folder] of options.packages) {
    if (!fs.existsSync(folder)) throw new refusal(`--package ${name} ${folder}: no such folder`);
    mo.write(`.packages/${name}/.folder`, ''); // the compiler asks for it even if nobody imports it
    mo.usePackage(name, `.packages/${name}`);
  }
  if (options.canisters.size !== 0) {
    mo.write('.canisters/.folder', '');
    mo.setAliases('.canisters',
                  Object.fromEntries([...options.canisters].map(([name, {id}]) => [name, id])));
  }
  const files = new loader(mo, options.file, options.packages, options.canisters);
  files.load(path.resolve(options.file), path.basename(options.file));
  return {mo, files};
}

// What the compiler says of a flag that it does not know is a list of those that it does.
function set_flags(mo, flags) {
  if (flags.length === 0) return;
  try {
    mo.setExtraFlags(flags);
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : JSON.stringify(thrown);
    const reason = /mocjs: (.*?)(\\n|\n|$)/.exec(text); // what follows lists all of them
    throw new refusal(`--moc-flag: ${reason ? reason[1] : text.slice(0, 2000)}`);
  }
}

function report(diagnostics, options, files) {
  process.stderr.write(diagnostics.map((one) => render(one, options, files.texts)).join(''));
  const is_strict = options.flags.includes('-Werror'); // the compiler leaves that to its caller
  return diagnostics.some((one) => one.severity === 1 || is_strict) ? 1 : 0;
}

function look(options) {
  const {mo, files} = prepare(options);
  const main = path.basename(options.file);
  if (options.only === 'check') return report(mo.compiler.check(main).diagnostics, options, files);
  const {diagnostics, code} = mo.compiler.candid(main);
  const status = report(diagnostics.filter((one) => one.severity === 1), options, files);
  if (status !== 0) return status;
  if (!code || !code.trim()) throw no_actor(options.file);
  process.stdout.write(code.trimEnd() + '\n');
  return 0;
}

// Whether what OLD.most says is kept by NEW.most. The compiler's reasons have no place in a file.
function compare(options) {
  const {mo} = load_compiler(options.npm);
  const [old_file, new_file] = options.rest;
  mo.write('old.most', fs.readFileSync(old_file, 'utf8'));
  mo.write('new.most', fs.readFileSync(new_file, 'utf8'));
  const {diagnostics} = mo.compiler.stableCompatible('old.most', 'new.most');
  const names = {'old.most': old_file, 'new.most': new_file};
  for (const one of diagnostics) {
    const {line, character} = one.range.start;
    const where = names[one.source] ? `${names[one.source]}:${line + 1}:${character + 1}` : new_file;
    process.stderr.write(`${where}: ${one.severity === 1 ? 'error' : 'warning'} [${one.code}] ` +
                         `${one.message.trimEnd()}\n`);
  }
  return diagnostics.some((one) => one.severity === 1) ? 1 : 0;
}

function no_actor(file) {
  return new refusal(`${file}:1:1: error: there is no actor in this file; ` +
                     `moxzid hosts 'persistent actor { … }'`);
}

// The module without its custom section `name`.
function without_names(wasm) {
  const kept = [wasm.subarray(0, 8)];
  for (let at = 8; at < wasm.length;) {
    const begin = at;
    const kind = wasm[at++];
    let size, length;
    [size, at] = leb128(wasm, at);
    const end = at + size;
    [length, at] = kind === 0 ? leb128(wasm, at) : [0, at];
    const isNames = kind === 0 && wasm.toString('latin1', at, at + length) === 'name';
    if (!isNames) kept.push(wasm.subarray(begin, end));
    at = end;
  }
  return Buffer.concat(kept);
}

function leb128(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
}

function compile(options) {
  const {mo, files} = prepare(options);
  const {diagnostics, code} = mo.compiler.compileWasm('ic', path.basename(options.file));
  if (report(diagnostics, options, files) !== 0 || !code) return 1;
  if (!code.candid || !code.candid.trim() || !code.stable) throw no_actor(options.file);
  fs.mkdirSync(options.out, {recursive: true});
  const write = (kind, data) => fs.writeFileSync(path.join(options.out, `${options.name}.${kind}`), data);
  const wasm = Buffer.from(code.wasm);
  write('wasm', options.stripNames ? without_names(wasm) : wasm);
  write('did', code.candid.trimEnd() + '\n');
  write('most', code.stable.trimEnd() + '\n');
  if (options.deps) fs.writeFileSync(options.deps, files.deps());
  return 0;
}

// The compiler is OCaml turned into JavaScript: what it throws is often no Error.
function describe(thrown) {
  if (thrown instanceof refusal) return thrown.message;
  if (thrown instanceof RangeError) return 'the source is nested too deeply for the Motoko compiler';
  if (thrown instanceof Error && thrown.code) return thrown.message; // the file system's
  const text = thrown instanceof Error ? thrown.message : JSON.stringify(thrown);
  return `the Motoko compiler gave up: ${String(text).slice(0, 2000)}`;
}

try {
  const options = parse_arguments(process.argv.slice(2));
  const work = {'': compile, check: look, did: look, compatible: compare}[options.only];
  process.exitCode = work(options);
} catch (thrown) {
  process.stderr.write(describe(thrown) + '\n');
  process.exitCode = 1;
}
