import { createHash } from 'node:crypto';
import type { ReplyMember } from '../declare/reply.ts';
import { expandKey, type KeyTable } from './keys.ts';
import { type EventTable, emitters } from './lua-events.ts';
import { LuaLines } from './lua-lines.ts';
import { Modules, membersAdded } from './lua-modules.ts';
import { LuaRecords, type RecordTable } from './lua-records.ts';
import { checkReplies } from './lua-replies.ts';
import { type Edit, edited, freePath, type Syntax, walk } from './lua-syntax.ts';
import { errorAt, type Folders, isScript, type LuaSource, luaFiles, readSource } from './source.ts';

/** Names that rooms declare and scripts use: `keys.message(id)`, `emit.message.sent(id, event)`, `@record message`. */
export interface LuaNames {
  readonly keys: KeyTable;
  readonly records: RecordTable;
  readonly events: EventTable;
  readonly folders: Folders;
}

/** All scripts as loaded into Redis: a function library named by its content. */
export interface Library extends Draft {
  /** The suffix of every function's name, `mailbox_send_<version>`, so that two versions can coexist in one server. */
  readonly version: string;
  /** The function that runs calls of several scripts. */
  readonly mixedName: string;
}

export interface Script {
  /** `mailbox/send` */
  readonly name: string;
  readonly functionName: string;
  /**
   * The arguments in the order sent: the shared ones in one string, the other short ones in one string, then each long one.
   */
  readonly args: readonly string[];
  readonly shared: readonly string[];
  readonly long: readonly string[];
  /** Arguments that follow the short ones in their string if a call has any of them. */
  readonly rare: readonly string[];
  readonly gathers: boolean;
  /** The members of its reply, in order. */
  readonly reply: readonly ReplyMember[];
}

/** Files that replace others, which they may include as `=lib/unit`. Tests replace lib/clock. */
export type Overrides = Readonly<Record<string, string>>;

/** A library before it gets its guard, and its version, which is a hash of the text. */
export interface Draft {
  readonly text: string;
  /** The source of each line of the text: `lua/mailbox/send.lua:12`, only the file for a generated line, or ''. */
  readonly origins: readonly string[];
  readonly scripts: readonly Script[];
}

/**
 * Adds the guard to a draft, and replaces the version by a hash of the text.
 *
 * @param guard Lua that every function begins with
 */
export function complete(draft: Draft, guard = ''): Library {
  const guarded = draft.text.replaceAll('@guard@', () => guard);
  const version = createHash('sha256').update(guarded).digest('hex').slice(0, 8);
  const named = (text: string): string => text.replaceAll('@version@', version);
  return {
    version,
    mixedName: `mixed_${version}`,
    text: named(guarded),
    origins: draft.origins,
    scripts: draft.scripts.map((script) => ({ ...script, functionName: named(script.functionName) })),
  };
}

/** The registry of lua/lib/guards.lua. */
const guards = 'guards';
/** The files whose exports the loader's own Lua uses. */
const callFile = 'lib/call';
const journalFile = 'lib/journal';
const countFile = 'lib/count';
const callerFile = 'lib/caller';

/**
 * Builds the library of all rooms. Helpers (files of lib/ and files named `_helper`) run once, when Redis loads the library,
 * each in its own scope and after the files it includes. Every other file is a script.
 *
 * @throws Error with file and line for names, headers or replies that do not match
 */
export function draftOf(words: LuaNames, overrides: Overrides = {}): Draft {
  return new Builder(words, overrides).draft();
}

/** Lua of the function that sets the shared arguments of an invocation's requests. */
function sharing(scripts: readonly Script[]): string[] {
  const { shared = [] } = scripts.find((script) => script.shared.length > 0) ?? {};
  if (shared.length === 0) return [];
  return [`local function share(text) ${shared.join(', ')} = ${unpacked(shared.length, 'text')} end`];
}

const unpacked = (count: number, text: string): string => `struct.unpack('${'s'.repeat(count)}', ${text})`;

/** Lua that reads a script's short arguments from their string into variables; rare ones follow if a call has any. */
function unpacking(names: readonly string[], rare: readonly string[], text: string): string[] {
  if (rare.length === 0) return names.length === 0 ? [] : [`${names.join(', ')} = ${unpacked(names.length, text)}`];
  return [
    'local rareAt = 1',
    `${rare.join(', ')} = ${rare.map(() => "''").join(', ')}`,
    // After its values, `struct.unpack` returns the position where it stopped.
    ...(names.length === 0 ? [] : [`${names.join(', ')}, rareAt = ${unpacked(names.length, text)}`]),
    `if rareAt <= #${text} then ${rare.join(', ')} = ${unpacked(rare.length, `${text}, rareAt`)} end`,
  ];
}

/** The rare arguments of a script, from the files below it. */
const rareOf = (below: readonly LuaSource[]): string[] => below.flatMap(({ rare }) => rare);

/** Collects the parts of a library. */
export class Builder {
  readonly #words: LuaNames;
  readonly #sources = new Map<string, LuaSource>();
  readonly #includes = new Map<string, readonly string[]>();
  /** Each file with everything it includes, in the library's order. */
  readonly #below = new Map<string, readonly LuaSource[]>();
  readonly #helpers: LuaSource[] = [];
  readonly #records: LuaRecords;
  readonly #emitted = new Set<string>();
  /** The arguments that lib/guards checks, by name. */
  readonly #guarded = new Set<string>();
  readonly #lines = new LuaLines();
  readonly modules: Modules;

  constructor(words: LuaNames, overrides: Overrides = {}) {
    this.#words = words;
    this.#records = new LuaRecords(words.records, words.keys);
    for (const [file, path] of luaFiles(words.folders)) {
      const override = overrides[file];
      this.#sources.set(file, readSource(file, override ?? path));
      const original = `=${file}`;
      if (override !== undefined && this.#sources.get(file)?.includes.includes(original))
        this.#sources.set(original, readSource(original, path));
    }
    for (const source of this.#sources.values()) this.#includes.set(source.file, this.#allIncludes(source));
    for (const file of this.#sources.keys()) if (!isScript(file)) this.#add(file, []);
    for (const source of this.#sources.values())
      for (const name of membersAdded(source, guards)) this.#guarded.add(name);
    this.modules = new Modules(this.#sources);
  }

  /** The files that a file includes, and those needed by the loader's replacements in it. */
  #allIncludes(source: LuaSource): string[] {
    const paths = new Set<string>();
    walk(source.body, (node) => paths.add(freePath(node)?.[0] ?? ''));
    const needs = [
      ...(paths.has('emit') ? [journalFile] : []),
      ...(source.request === undefined ? [] : [callFile]),
      // lib/journal gets the functions that emit events, which count them and name their actor.
      ...(source.file === journalFile ? [countFile, callerFile] : []),
      ...source.records.flatMap((record) => this.#records.needs(record)),
    ];
    for (const file of source.includes)
      if (!this.#sources.has(file)) throw errorAt(source, 0, `it includes ${file}, which does not exist`);
    return [...new Set([...needs.filter((need) => need !== source.file), ...source.includes])];
  }

  #add(file: string, chain: readonly string[]): readonly LuaSource[] {
    const known = this.#below.get(file);
    if (known) return known;
    if (chain.includes(file)) throw new Error(`circular include: ${[...chain, file].join(' > ')}`);
    const source = this.#sources.get(file) as LuaSource;
    const includes = this.includesOf(file).flatMap((other) => this.#add(other, [...chain, file]));
    const below = [...new Set(includes), source];
    this.#below.set(file, below);
    if (!isScript(file)) this.#helpers.push(source);
    return below;
  }

  /** All files, after overrides. */
  files(): readonly LuaSource[] {
    return [...this.#sources.values()];
  }

  /** The files that a file includes, with those that the loader adds. */
  includesOf(file: string): readonly string[] {
    return this.#includes.get(file) ?? [];
  }

  draft(): Draft {
    const scripts = [...this.#sources.values()].filter(({ file }) => isScript(file));
    const imports = new Map([...this.#sources.values()].map((source) => [source, this.#check(source)]));
    const bodies = new Map([...this.#sources.values()].map((source) => [source, this.#expanded(source)]));
    const parts = this.#helpers.map((source) =>
      this.#module(source, imports.get(source) ?? [], bodies.get(source) ?? ''),
    );
    const described = scripts.map((source) => this.#script(source));
    const functions = scripts.map((source, index) =>
      this.#function(source, described[index] as Script, imports.get(source) ?? [], bodies.get(source) ?? ''),
    );
    const text = [
      '#!lua name=muster_@version@',
      `local ${this.modules.variables.join(', ')}`,
      'local exports, rows, scripts = {}, {}, {}',
      ...parts,
      this.#records.rows(),
      'local serve = exports.serve',
      ...sharing(described),
      'local function callback(run, script)',
      'return function(keys, args)',
      '@guard@',
      'return run(script, keys[1], args)',
      'end',
      'end',
      ...functions,
      "redis.register_function('mixed_@version@', callback(serve.mixed, scripts))",
    ].join('\n');
    return { ...this.#lines.unmarked(text), scripts: described };
  }

  #check(source: LuaSource): string[] {
    return this.modules.check(source, this.includesOf(source.file));
  }

  /** A helper's scope: its imports, its records' tables, its code, its exports. */
  #module(source: LuaSource, imports: readonly string[], body: string): string {
    const { path, file, records, exports, variables } = source;
    const tables = records.map((record) => this.#records.define(record)).join('\n');
    const after = file === journalFile ? emitters(this.#emitted, this.#words.events) : '';
    const given = [...exports, ...records, ...(after === '' ? [] : ['emit'])].filter(
      (name) => !variables.includes(name),
    );
    const own = new Set([...exports, ...records]);
    const words = new Set(`${tables}\n${after}`.match(/\w+/g));
    const needed = this.includesOf(file).flatMap((other) => {
      const { exports: names = [], variables: shared = [] } = this.#sources.get(other) ?? {};
      return names.filter((name) => words.has(name) && !shared.includes(name) && !own.has(name));
    });
    const mark = (text: string): string => this.#lines.mark(path, text);
    return [
      mark('do'),
      ...importing([...imports, ...needed]).map(mark),
      ...(tables === '' ? [] : [mark(tables)]),
      body,
      ...(after === '' ? [] : [mark(after)]),
      ...(given.length === 0
        ? []
        : [mark(`${given.map((name) => `exports.${name}`).join(', ')} = ${given.join(', ')}`)]),
      mark('end'),
    ].join('\n');
  }

  #script(source: LuaSource): Script {
    const { file, args, long, gathers, reply } = source;
    const below = this.#add(file, []);
    const helpers = source.request === undefined ? [] : below.filter((one) => one.file.startsWith('lib/'));
    const shared = helpers.flatMap((one) => one.shared);
    const others = helpers.flatMap((one) => one.args.filter((arg) => !one.shared.includes(arg)));
    const all = [...shared, ...others, ...args, ...long];
    const rare = rareOf(below);
    const named = [...all, ...rare];
    const twice = named.find((arg, index) => named.indexOf(arg) !== index);
    if (twice !== undefined) throw new Error(`${file}: argument ${twice} is declared twice`);
    checkReplies(source, below);
    return {
      name: file,
      functionName: `${file.replace('/', '_')}_@version@`,
      args: all,
      shared,
      rare,
      long,
      gathers,
      reply,
    };
  }

  /** A script's function, with its description for lib/serve. */
  #function(
    source: LuaSource,
    { name, functionName, args, shared, rare, long, reply }: Script,
    imports: readonly string[],
    body: string,
  ): string {
    const { variables } = this.modules;
    const included = new Set(this.#add(name, []).flatMap((one) => one.variables));
    const packed = args.slice(shared.length, args.length - long.length);
    // lib/serve reads the string of shared arguments.
    const first = shared.length === 0 ? 1 : 2;
    // If an argument is a variable of an included file, it sets that variable.
    const locals = [...packed, ...rare].filter((arg) => !(variables.includes(arg) && included.has(arg)));
    const isRequest = source.request !== undefined;
    const list = this.#records.replyList(reply, isRequest ? ["''"] : []);
    const given = [
      `name = '${name}'`,
      `width = ${first + long.length}`,
      ...(isRequest ? [`kind = '${source.request}'`, `isLinked = ${source.isLinked}`, 'share = share'] : []),
      ...(isRequest ? [`guarded = { ${this.#guardedOf(source).map((arg) => `'${arg}'`)} }`] : []),
      `list = function(reply) ${list} end`,
    ];
    const mark = (text: string): string => this.#lines.mark(source.path, text);
    const callback = `callback(serve.${isRequest ? 'requests' : 'script'}, script)`;
    return [
      mark('do'),
      ...importing(isRequest ? [...imports, 'call'] : imports).map(mark),
      mark(`local script = { ${given.join(', ')} }`),
      ...(isRequest ? [mark(this.#spaceReader(name, source))] : []),
      mark('function script.body(args, offset)'),
      ...(locals.length === 0 ? [] : [mark(`local ${locals.join(', ')}`)]),
      ...unpacking(packed, rare, `args[offset + ${first}]`).map(mark),
      ...long.map((arg, index) => mark(`local ${arg} = args[offset + ${first + 1 + index}]`)),
      ...(isRequest && !opensItself(source)
        ? [mark(`do\nlocal replay = ${this.#opening(source)}\nif replay then return replay end\nend`)]
        : []),
      body,
      mark('end'),
      mark(`scripts['${name}'] = script`),
      source.allowsFull
        ? mark(
            `redis.register_function{ function_name = '${functionName}', flags = { 'allow-oom' }, callback = ${callback} }`,
          )
        : mark(`redis.register_function('${functionName}', ${callback})`),
      mark('end'),
    ].join('\n');
  }

  #guardedOf({ file, args }: LuaSource): string[] {
    return [...args, ...rareOf(this.#add(file, []))].filter((arg) => this.#guarded.has(arg));
  }

  /** Lua of `call.open` with those arguments of the script that have guards. */
  #opening(source: LuaSource): string {
    return `call.open(${this.#guardedOf(source).join(', ')})`;
  }

  /**
   * Lua of `script.readSpace(key, operations)`, which reads the fields of the space's record that a request needs;
   * `operations` names the counter of its call. A table created with all its members is not copied as it grows.
   */
  #spaceReader(name: string, source: LuaSource): string {
    const below = this.#add(name, []);
    const fields = [...new Set(below.flatMap(({ spaceFields }) => spaceFields))];
    const text = ['requestsPerMinute', 'requestsMinute', 'usedRequests', 'usageDay', 'number'];
    const wanted = fields.filter((field) => !text.includes(field));
    const isWrite = source.request === 'write' || source.request === 'worker';
    const at = (index: number): string => `v[${index + 1}]`;
    const numbered = (field: string, index: number): string => `[${field}] = tonumber(${at(index)}) or ${at(index)}`;
    const names = [...text, ...wanted].map((field) => `'${field}'`);
    return [
      `script.fields = { ${wanted.map((field) => `'${field}'`).join(', ')} }`,
      'function script.readSpace(key, operations)',
      `local v = redisCall('HMGET', key, ${[...names, ...(isWrite ? ['operations'] : [])].join(', ')})`,
      'return { changed = false, hashKey = key, ' +
        [
          ...text.map((field, index) => `${field} = ${at(index)}`),
          ...wanted.map((field, index) => numbered(`'${field}'`, text.length + index)),
          ...(isWrite ? [numbered('operations', text.length + wanted.length)] : []),
        ].join(', ') +
        ' }',
      'end',
    ].join('\n');
  }

  /** A file's code with keys, records and commands replaced, marked line by line. */
  #expanded(source: LuaSource): string {
    const { text, body, path } = source;
    const edits: Edit[] = [...source.edits];
    const isLib = source.file.replace('=', '').startsWith('lib/');
    const within = (node: Syntax): string => {
      const [from, to] = node.range;
      const inner: Edit[] = [];
      this.#replacements(source, node, isLib, inner, within);
      return edited(
        text.slice(from, to),
        inner
          .concat(source.edits.filter((edit) => edit.from >= from && edit.to <= to))
          .map((edit) => ({ ...edit, from: edit.from - from, to: edit.to - from })),
      );
    };
    for (const node of body) this.#replacements(source, node, isLib, edits, within);
    const replaced = edited(text, edits);
    const inString = linesOfStrings(body);
    const lines: string[] = [];
    const numbers: number[] = [];
    for (const [index, line] of replaced.split('\n').entries()) {
      if (line.trim() === '' && !inString.has(index + 1)) continue;
      lines.push(inString.has(index + 1) ? line : line.trimEnd());
      numbers.push(index + 1);
    }
    return this.#lines.mark(path, lines.join('\n'), numbers);
  }

  #replacements(
    source: LuaSource,
    root: Syntax,
    isLib: boolean,
    edits: Edit[],
    within: (node: Syntax) => string,
  ): void {
    const fail = (node: Syntax, error: unknown): never => {
      throw errorAt(source, node.range[0], (error as Error).message);
    };
    const replace = (node: Syntax, text: string): unknown =>
      edits.push({ from: node.range[0], to: node.range[1], text });
    walk(root, (node) => {
      const called = node.type === 'CallExpression' ? freePath(node.base as Syntax) : undefined;
      if (node.type === 'CallExpression' && called) this.#call(source, node, called, within, replace, fail);
      const path = freePath(node) ?? [];
      if (path[0] === 'emit' && path.length === 3) {
        const type = `${path[1]}.${path[2]}`;
        if (!this.#words.events.has(type)) fail(node, new Error(`emit.${type} is not declared in any events.ts`));
        this.#emitted.add(type);
      } else if (path.join('.') === 'redis.call') replace(node, isLib ? 'redisCall' : 'redisQuery');
      else if (path[0] === 'rows' && path.length === 2 && path[1] !== 'each') this.#records.addRow(path[1] ?? '');
    });
  }

  #call(
    source: LuaSource,
    node: Extract<Syntax, { type: 'CallExpression' }>,
    path: readonly string[],
    within: (node: Syntax) => string,
    replace: (node: Syntax, text: string) => unknown,
    fail: (node: Syntax, error: unknown) => never,
  ): void {
    const [table = '', name = ''] = path;
    if (path.length !== 2) return;
    const given = node.arguments as Syntax[];
    try {
      if (table === 'keys') {
        const declaration = this.#words.keys[name];
        const call = source.text.slice(...node.range);
        if (!declaration?.pattern.startsWith('muster:{org}')) throw new Error(`${call} is not declared in any keys.ts`);
        replace(node, expandKey(declaration, given.map(within), call));
      } else if (table === 'call' && name === 'open') {
        replace(node, this.#opening(source));
      } else if ((name === 'load' || name === 'stored') && this.#words.records.has(table)) {
        const texts = given.map(within);
        const { as, ids } = this.#records.reader(table, name, texts);
        replace(node, `${table}.${as}(${texts.slice(0, ids).join(', ')})`);
      } else if (name === 'removedFields' && this.#words.records.has(table)) {
        replace(node, this.#records.removed(table));
      }
    } catch (error) {
      fail(node, error);
    }
  }
}

/** Whether a script calls `call.open` itself, because on a replay it does more than return the stored answer. */
function opensItself({ body }: LuaSource): boolean {
  let opens = false;
  walk(body, (node) => {
    opens ||= freePath(node)?.join('.') === 'call.open';
  });
  return opens;
}

/** Lua that makes exports local variables of a file. */
function importing(names: readonly string[]): string[] {
  const unique = [...new Set(names)].filter((name) => !['keys', 'rows'].includes(name));
  return unique.length === 0
    ? []
    : [`local ${unique.join(', ')} = ${unique.map((name) => `exports.${name}`).join(', ')}`];
}

/** The numbers of the lines inside strings, which must stay unchanged. */
function linesOfStrings(body: readonly Syntax[]): Set<number> {
  const found = new Set<number>();
  walk(body, (node) => {
    if (node.type !== 'StringLiteral' || !node.loc) return;
    for (let line = node.loc.start.line; line < node.loc.end.line; line++) found.add(line).add(line + 1);
  });
  return found;
}
