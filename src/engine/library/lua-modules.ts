import { assigned, freePath, type Syntax, walk } from './lua-syntax.ts';
import { errorAt, type LuaSource, originOf } from './source.ts';

/** The globals of Lua that Redis keeps or adds, except time and random numbers, which scripts must not use. */
const globals = new Set(
  (
    '_G _VERSION assert collectgarbage error getmetatable ipairs loadstring next pairs pcall rawequal rawget rawset select ' +
    'setmetatable tonumber tostring type unpack xpcall coroutine math string table redis struct cjson cmsgpack bit'
  ).split(' '),
);
/** The expressions that the loader replaces: `keys.message(id)`, `emit.message.sent(id, event)`, `rows.message(record)`. */
export const vocabulary = new Set(['keys', 'emit', 'rows']);
/** The members that the loader gives to each record's table. */
const generated = ['load', 'stored', 'insert', 'enter', 'leave', 'removedFields'];

/** An export of a file, and the files that add members to it. */
interface Export {
  readonly source: LuaSource;
  /** The members of a table, by the file that defines them; undefined if it is not a table, or may have any member. */
  readonly members: Map<string, LuaSource> | undefined;
}

/** The members of a file's own table that its code names: in the constructor, in assignments and as functions. */
function membersOf(source: LuaSource, name: string): string[] | undefined {
  let isTable = source.records.includes(name);
  const found: string[] = [];
  walk(source.body, (node) => {
    if (node.type === 'LocalStatement') {
      const at = node.variables.findIndex((one) => one.name === name);
      const init = node.init[at];
      if (init?.type !== 'TableConstructorExpression') return;
      isTable = true;
      for (const field of init.fields) if (field.type === 'TableKeyString') found.push(field.key.name);
    }
    for (const target of targetsOf(node)) if (target.name === name && target.member) found.push(target.member);
  });
  return isTable ? found : undefined;
}

/** The members that a file's code adds to a table. */
export function membersAdded({ body }: LuaSource, name: string): string[] {
  return body.flatMap((node) =>
    targetsOf(node).flatMap((target) => (target.name === name && target.member !== undefined ? [target.member] : [])),
  );
}

/** The variables that a statement assigns, including a function's name. */
function targetsOf(node: Syntax): { name: string; isFree: boolean; member?: string; at: number }[] {
  const targets =
    node.type === 'AssignmentStatement'
      ? node.variables
      : node.type === 'FunctionDeclaration' && node.identifier !== null && !node.isLocal
        ? [node.identifier]
        : [];
  return targets.flatMap((target) => {
    const found = assigned(target as Syntax);
    return found ? [{ ...found, at: (target as Syntax).range[0] }] : [];
  });
}

/**
 * The modules of a library: each file is a scope of its own with named exports. Every use of a name by another file is
 * checked when the library is built.
 */
export class Modules {
  readonly #sources: ReadonlyMap<string, LuaSource>;
  readonly #exports = new Map<string, Export>();

  /** @throws Error with file and line for a name exported twice, or by a file that does not define it */
  constructor(sources: ReadonlyMap<string, LuaSource>) {
    this.#sources = sources;
    for (const source of sources.values())
      for (const name of [...source.exports, ...source.records, ...source.variables]) this.#add(source, name);
    for (const source of sources.values()) this.#addMembers(source);
  }

  #add(source: LuaSource, name: string): void {
    const known = this.#exports.get(name);
    if (known?.source === source) return;
    if (known) throw errorAt(source, 0, `${name} is exported by ${known.source.file}, too`);
    const isOpen = source.registries.includes(name) || source.variables.includes(name);
    const own = isOpen ? undefined : membersOf(source, name);
    const all = own && source.records.includes(name) ? [...generated, ...own] : own;
    this.#exports.set(name, { source, members: all && new Map(all.map((member) => [member, source])) });
  }

  /** Files of a room may add functions to the tables of its records, each name once. */
  #addMembers(source: LuaSource): void {
    for (const node of source.body)
      for (const { name, isFree, member, at } of targetsOf(node)) {
        const found = this.#exports.get(name);
        if (!isFree || member === undefined || !found?.members || found.source === source) continue;
        if (!found.source.records.includes(name) || roomOf(found.source) !== roomOf(source)) continue;
        const other = found.members.get(member);
        if (other) throw errorAt(source, at, `${name}.${member} is a function of ${other.file}, too`);
        found.members.set(member, source);
      }
  }

  /** The file that exports a name. */
  exporter(name: string): LuaSource | undefined {
    return this.#exports.get(name)?.source;
  }

  /** The variables of all files, in order. */
  get variables(): string[] {
    return [...new Set([...this.#sources.values()].flatMap(({ variables }) => variables))];
  }

  /**
   * Checks every name that a file uses without defining it, and every assignment to such a name.
   *
   * @param includes the files that it includes, with those added by the loader
   * @returns its imports: the exported names it uses that are not variables
   * @throws Error with file and line
   */
  check(source: LuaSource, includes: readonly string[]): string[] {
    const own = new Set([...source.args, ...source.rare, ...source.long, ...source.records, ...source.variables]);
    const imports = new Set<string>();
    walk(source.body, (node) => {
      const path = freePath(node);
      const [name = '', member] = path ?? [];
      const at = node.range[0];
      if (name === 'emit') imports.add(name);
      if (node.type === 'Identifier' && path && !own.has(name) && !globals.has(name) && !vocabulary.has(name)) {
        const found = this.#exports.get(name);
        if (!found) throw errorAt(source, at, `${name} is defined nowhere, and exported by no file`);
        if (!includes.includes(found.source.file))
          throw errorAt(source, at, `${name} is exported by ${found.source.file}, which is not included`);
        if (!found.source.variables.includes(name)) imports.add(name);
      }
      if (path?.length === 2 && member !== undefined) this.#checkMember(source, includes, name, member, at);
      for (const target of targetsOf(node)) this.#checkAssigned(source, own, target);
    });
    for (const name of source.exports)
      if (!source.variables.includes(name) && !definesTop(source.body, name))
        throw errorAt(source, 0, `it exports ${name}, which it does not define`);
    return [...imports];
  }

  #checkMember(source: LuaSource, includes: readonly string[], name: string, member: string, at: number): void {
    const members = this.#exports.get(name)?.members;
    if (!members) return;
    const owner = members.get(member);
    if (!owner) throw errorAt(source, at, `${name} has no ${member}`);
    const { source: exporter } = this.#exports.get(name) as Export;
    if (owner !== source && owner !== exporter && !includes.includes(owner.file))
      throw errorAt(source, at, `${name}.${member} is of ${owner.file}, which is not included`);
  }

  #checkAssigned(
    source: LuaSource,
    own: ReadonlySet<string>,
    { name, isFree, member, at }: { name: string; isFree: boolean; member?: string; at: number },
  ): void {
    const found = this.#exports.get(name);
    if (!isFree || (own.has(name) && found?.source === source) || (member === undefined && own.has(name))) return;
    if (!found) throw errorAt(source, at, `${name} is not declared: use a local`);
    if (member === undefined)
      throw errorAt(source, at, `${name} is a variable of ${found.source.file}: only that file assigns it`);
    if (found.source.registries.includes(name) || found.members?.get(member) === source) return;
    throw errorAt(
      source,
      at,
      `${name}.${member}: ${name} is a table of ${found.source.file}, which declares no registry`,
    );
  }

  /**
   * Exports that no other file uses, and members that nothing uses, as `lua/lib/sorted.lua: sorted.first`.
   *
   * @param generated the Lua made by the loader, which may use them as well
   */
  unused(generatedText: string): string[] {
    const used = new Set(generatedText.match(/\w+(?:\.\w+)?/g));
    for (const source of this.#sources.values()) {
      const assignedAt = new Set<number>();
      walk(source.body, (node) => {
        for (const { at } of targetsOf(node)) assignedAt.add(at);
        const path = freePath(node);
        if (path?.length === 1) used.add(path[0] ?? '');
        if (node.type === 'MemberExpression' && node.base.type === 'Identifier' && !assignedAt.has(node.range[0]))
          used.add(`${node.base.name}.${node.identifier.name}`);
      });
    }
    return [...this.#exports].flatMap(([name, { source, members }]) => [
      ...(used.has(name) ? [] : [`${originOf(source.path, 0)}: ${name}`]),
      ...[...(members ?? [])].flatMap(([member, owner]) =>
        generated.includes(member) || used.has(`${name}.${member}`)
          ? []
          : [`${originOf(owner.path, 0)}: ${name}.${member}`],
      ),
    ]);
  }
}

const roomOf = ({ file }: LuaSource): string => file.split('/', 1)[0] ?? '';

function definesTop(body: readonly Syntax[], name: string): boolean {
  return body.some((node) =>
    node.type === 'LocalStatement'
      ? node.variables.some((one) => one.name === name)
      : node.type === 'FunctionDeclaration' &&
        node.isLocal &&
        node.identifier?.type === 'Identifier' &&
        node.identifier.name === name,
  );
}
