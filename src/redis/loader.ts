import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReplyMember } from '../declare/reply.ts';
import { expandKeys, type KeyTable } from './keys.ts';
import { type EventTable, emittedTypes, emitters } from './lua-events.ts';
import { LuaLines } from './lua-lines.ts';
import { LuaRecords, type RecordTable } from './lua-records.ts';
import { checkReplies } from './lua-replies.ts';
import { withoutUnused } from './lua-unused.ts';
import { type Folders, isScript, roomNames, type Source, Sources } from './source.ts';

/** What rooms declare and scripts refer to: `keys.message(id)`, `emit.message.sent(id, event)`, `@record message`. */
export interface Vocabulary {
  readonly keys: KeyTable;
  readonly records: RecordTable;
  readonly events: EventTable;
  readonly folders: Folders;
}

/** The scripts of one room as Redis gets them: a function library, named by its content. */
export interface Library {
  readonly text: string;
  /** The source of each line of the text: `lua/mailbox/send.lua:12`, only the file for a generated line, or ''. */
  readonly origins: readonly string[];
  /** The suffix of every function's name, `mailbox_send_<version>`: two versions can coexist in one server. */
  readonly version: string;
  readonly scripts: ReadonlyMap<string, Script>;
}

export interface Script {
  /** `mailbox/send` */
  readonly name: string;
  /** The function's name, for FCALL. */
  readonly functionName: string;
  /** In the order in which they are sent: the short ones in one string, then each long one. */
  readonly args: readonly string[];
  readonly long: readonly string[];
  readonly gathers: boolean;
  /** The members of its reply, in order. */
  readonly reply: readonly ReplyMember[];
}

/** Files that replace others, which they may include as `=lib/unit`. Tests replace lib/clock. */
export type Overrides = Readonly<Record<string, string>>;

/** A library without its first line, and before it has its guard and, named by its text, its version. */
export interface Draft extends Pick<Library, 'text' | 'origins'> {
  readonly scripts: readonly Script[];
}

/** A source file with its keys and records expanded. */
export interface Expanded extends Source {
  readonly file: string;
  readonly path: string;
  /** `['name.begin']` if the file has such a function, which resets its state before each call. */
  readonly begin: readonly string[];
}

/**
 * Builds the library of `lua/<room>/`. Files of lib/ and `_helper` files run once, when Redis loads the library, each
 * before its first user. Every other file is a script, and becomes a function. Each call of a script sets the `@args`
 * of the helpers that it includes; its own are its locals.
 *
 * @throws Error for circular includes, and for an argument that is declared twice
 */
export function loadLibrary(room: string, words: Vocabulary, overrides: Overrides = {}): Library {
  return complete(room, draftOf(room, words, overrides));
}

export function draftOf(
  room: string,
  words: Vocabulary,
  overrides: Overrides = {},
  sources = new Sources(words.folders),
): Draft {
  const builder = new Builder(words, overrides, sources);
  for (const name of sources.files.keys()) if (isScript(name) && name.startsWith(`${room}/`)) builder.addScript(name);
  return builder.draft();
}

/** `guard`: Lua that every function begins with. */
function complete(room: string, draft: Draft, guard = ''): Library {
  const guarded = draft.text.replaceAll('@guard@', () => guard && ` ${guard}`);
  const version = createHash('sha256').update(guarded).digest('hex').slice(0, 8);
  const named = (text: string): string => text.replaceAll('@version@', version);
  const scripts = draft.scripts.map(
    (script) => [script.name, { ...script, functionName: named(script.functionName) }] as const,
  );
  const text = `#!lua name=muster_${room}_${version}\n${named(guarded)}`;
  return { version, text, origins: ['', ...draft.origins], scripts: new Map(scripts) };
}

/**
 * This package's libraries as the build has drafted them: putting them together takes a third of a start. Only a bundle
 * has this folder beside it, and none of that is run with other words or overrides.
 */
const drafts = fileURLToPath(new URL('libraries/', import.meta.url));
const hasDrafts = existsSync(drafts);

/** The libraries of a product, each built on first use and shared by all services of the process. */
export class Libraries {
  static readonly #known = new WeakMap<Vocabulary, Map<string, Libraries>>();
  readonly #words: Vocabulary;
  readonly #overrides: Overrides;
  readonly #guard: string;
  #sources: Sources | undefined;
  readonly #built = new Map<string, Library>();

  private constructor(words: Vocabulary, overrides: Overrides, guard: string) {
    this.#words = words;
    this.#overrides = overrides;
    this.#guard = guard;
  }

  static of(words: Vocabulary, overrides: Overrides, guard: string): Libraries {
    const known = Libraries.#known.get(words) ?? new Map<string, Libraries>();
    Libraries.#known.set(words, known);
    const name = JSON.stringify([overrides, guard]);
    const libraries = known.get(name) ?? new Libraries(words, overrides, guard);
    known.set(name, libraries);
    return libraries;
  }

  get rooms(): string[] {
    return hasDrafts ? readdirSync(drafts).map((file) => basename(file, '.json')) : roomNames(this.#read().files);
  }

  of(room: string): Library {
    let library = this.#built.get(room);
    if (!library) {
      const draft = hasDrafts
        ? (JSON.parse(readFileSync(join(drafts, `${room}.json`), 'utf8')) as Draft)
        : draftOf(room, this.#words, this.#overrides, this.#read());
      library = complete(room, draft, this.#guard);
      this.#built.set(room, library);
    }
    return library;
  }

  #read(): Sources {
    this.#sources ??= new Sources(this.#words.folders);
    return this.#sources;
  }
}

/** Collects the parts of a library. */
export class Builder {
  readonly #words: Vocabulary;
  readonly #overrides: Overrides;
  readonly #sources: Sources;
  readonly #records: LuaRecords;
  readonly #expanded = new Map<string, Expanded>();
  /** Each helper with all that it includes, in the order in which the library has them. */
  readonly #below = new Map<string, readonly Expanded[]>();
  readonly #helpers: Expanded[] = [];
  readonly #scripts: Script[] = [];
  readonly #functions: string[] = [];
  readonly #emitted = new Set<string>();
  readonly #lines = new LuaLines();

  constructor(words: Vocabulary, overrides: Overrides, sources: Sources) {
    this.#words = words;
    this.#overrides = overrides;
    this.#sources = sources;
    this.#records = new LuaRecords(words.records, words.keys);
  }

  /** A file, with its keys and records expanded. */
  read(file: string): Expanded {
    const known = this.#expanded.get(file);
    if (known) return known;
    const { keys, events } = this.#words;
    const isOriginal = file.startsWith('=');
    const name = isOriginal ? file.slice(1) : file;
    const original = this.#sources.files.get(name) ?? name;
    const path = isOriginal ? original : (this.#overrides[file] ?? original);
    const source = this.#sources.read(path);
    const types = emittedTypes(source.body, events, file);
    for (const type of types) this.#emitted.add(type);
    this.#records.addRows(source.body);
    const body = expandKeys(this.#records.expand(source.body), keys, file).replaceAll(
      'redis.call(',
      name.startsWith('lib/') ? 'run(' : 'query(',
    );
    const needs = [
      ...(types.length > 0 ? ['lib/journal'] : []),
      ...source.records.flatMap((record) => this.#records.needs(record)),
    ].filter((need) => need !== file);
    const expanded: Expanded = {
      ...source,
      file,
      path,
      body,
      includes: [...needs, ...source.includes],
      begin: /^function (\w+\.begin)\(/m.exec(body)?.slice(1) ?? [],
    };
    this.#expanded.set(file, expanded);
    return expanded;
  }

  /** Adds a script, and the helpers that it includes. */
  addScript(name: string): void {
    const source = this.read(name);
    const below = this.addHelpers(name);
    const shared = [...new Set(below.flatMap(({ args }) => args))];
    const args = [...shared, ...source.args, ...source.long];
    const twice = args.find((arg, index) => args.indexOf(arg) !== index);
    if (twice !== undefined) throw new Error(`${name}: argument ${twice} is declared twice`);
    checkReplies(name, source, below);
    const functionName = `${name.replace('/', '_')}_@version@`;
    const { long, gathers, reply } = source;
    this.#scripts.push({ name, functionName, args, long, gathers, reply });
    this.#functions.push(this.#toFunction(functionName, shared, source, below));
  }

  /** Adds the helpers that a file includes to the library, and returns them in its order. */
  addHelpers(name: string): Expanded[] {
    const below = this.read(name).includes.flatMap((file) => this.#add(file, [name]));
    return [...new Set(below)];
  }

  #add(file: string, chain: readonly string[]): readonly Expanded[] {
    const known = this.#below.get(file);
    if (known) return known;
    if (chain.includes(file)) throw new Error(`circular include: ${[...chain, file].join(' > ')}`);
    const source = this.read(file);
    const includes = source.includes.flatMap((other) => this.#add(other, [...chain, file]));
    this.#helpers.push(source);
    const below = [...new Set(includes), source];
    this.#below.set(file, below);
    return below;
  }

  /**
   * A script's function: resets the helpers, unpacks the arguments, and runs the file's code. If a helper has an
   * `@around` function, that runs the code as often as needed, each time with the arguments from `offset + 1` on.
   */
  #toFunction(
    functionName: string,
    shared: readonly string[],
    { path, args, long, body, lines, reply, allowsFull }: Expanded,
    below: readonly Expanded[],
  ): string {
    const around = below.find((one) => one.around !== undefined)?.around;
    const packed = [...shared, ...args];
    const nth = (n: number): string => `args[offset + ${n}]`;
    const unpacking: string[] = [];
    if (args.length > 0) unpacking.push(`local ${args.join(', ')}`);
    if (packed.length > 0)
      unpacking.push(`${packed.join(', ')} = struct.unpack('${'s'.repeat(packed.length)}', ${nth(1)})`);
    unpacking.push(...long.map((arg, index) => `local ${arg} = ${nth(index + 2)}`));
    const list = this.#records.replyList(reply, around === undefined ? [] : ["''"]);
    const runs =
      around === undefined
        ? `local reply = ${functionName}_body(args, 0)\nreturn reply and ${functionName}_list(reply) or {}`
        : `return ${around}(args, ${1 + long.length}, ${functionName}_body, ${functionName}_list, ${functionName}_begin)`;
    const prologue = [
      'do', // A library is one Lua function, which may have no more than 200 locals at once.
      `local function ${functionName}_list(reply) ${list} end`,
      `local function ${functionName}_begin() ${below.flatMap(({ begin }) => begin.map((name) => `${name}()`)).join(' ')} end`,
      `local function ${functionName}_body(args, offset)`,
      ...unpacking,
    ].join('\n');
    const epilogue = [
      'end',
      allowsFull
        ? `redis.register_function{ function_name = '${functionName}', flags = { 'allow-oom' }, callback = function(keys, args)`
        : `redis.register_function('${functionName}', function(keys, args)`,
      'root, run, spaceNumber, spaceRoot = keys[1], redis.call',
      'query = run@guard@',
      `${functionName}_begin()`,
      runs,
      allowsFull ? 'end }' : 'end)',
      'end\n',
    ].join('\n');
    const mark = this.#lines.mark.bind(this.#lines, path);
    return [mark(prologue), mark(body, lines), mark(epilogue)].join('\n');
  }

  draft(): Draft {
    const args = [...new Set(this.#helpers.flatMap((helper) => helper.args))];
    const helpers = this.#helpers.map(({ file, path, records, body, lines }) => {
      const tables = records.map((record) => `${this.#records.define(record)}\n`).join('');
      const after = file === 'lib/journal' ? emitters(this.#emitted, this.#words.events) : '';
      const mark = this.#lines.mark.bind(this.#lines, path);
      return `${mark(tables)}${mark(body, lines)}\n${mark(after)}`;
    });
    const declared = args.length > 0 ? `local ${args.join(', ')}\n` : '';
    const below = [this.#records.rows(), ...this.#functions].join('');
    const registries = new Set(this.#helpers.flatMap(({ registry = [] }) => registry));
    const kept = withoutUnused(helpers, below, registries);
    const locals = 'local root, run, query, rows, spaceNumber, spaceRoot\n';
    return { ...this.#lines.unmarked([locals, declared, ...kept, below].join('')), scripts: this.#scripts };
  }
}
