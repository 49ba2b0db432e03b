import type { AnyField, Fields } from '../declare/field.ts';
import { countedStates, Many, One, type RecordDeclaration } from '../declare/record.ts';
import type { ReplyMember } from '../declare/reply.ts';
import { type KeyTable, partsOf } from './keys.ts';
import { counting, inserting, reader } from './lua-access.ts';
import { argumentsAt, closingAt, lineBreaks } from './lua-text.ts';

/** The records of all rooms, by the names that scripts know them by. */
export type RecordTable = ReadonlyMap<string, RecordDeclaration>;

/** `message.load(id, 'state')`: the record by name, with these fields, or with all where none is named. */
const loading = /(?<!function )\b(\w+)\.load\(/g;

/** The Lua that a library's records come to, and the calls of it put in place of what the scripts say. */
export class LuaRecords {
  readonly #table: RecordTable;
  readonly #keys: KeyTable;
  readonly #readers = new Map<string, Map<string, string>>();
  readonly #rows = new Map<string, string>();

  constructor(table: RecordTable, keys: KeyTable) {
    this.#table = table;
    this.#keys = keys;
  }

  record(name: string): RecordDeclaration {
    const found = this.#table.get(name);
    if (!found) throw new Error(`${name} is no record of any room`);
    return found;
  }

  /** The helpers that the table of a record needs. */
  needs(name: string): string[] {
    const record = this.record(name);
    const ofSpace = this.#keys[record.luaName]?.pattern.includes('<space') ? ['lib/space'] : [];
    return ['lib/records', ...(countedStates(record) ? ['lib/count'] : ofSpace)];
  }

  /** Names the readers that a text asks for, in place of what it says. */
  expand(lua: string): string {
    let text = '';
    let from = 0;
    for (const { 0: call, 1: name = '', index } of lua.matchAll(loading)) {
      if (!this.#table.has(name)) continue;
      if (index < from) throw new Error(`${name}.load stands inside another load: give it a local`);
      const start = index + call.length;
      const given = argumentsAt(lua, start);
      const key = this.#keys[name];
      // A record that has a key to itself has no id.
      const ids = key && partsOf(key).length === 0 ? 0 : 1;
      const reader = this.#reader(name, given.slice(ids));
      const end = closingAt(lua, start - 1) + 1;
      text += `${lua.slice(from, index)}${name}.${reader}(${given.slice(0, ids).join(', ')})${lineBreaks(lua.slice(start, end))}`;
      from = end;
    }
    return text + lua.slice(from);
  }

  /** The name of the reader of these fields, which are written as texts. */
  #reader(name: string, given: readonly string[]): string {
    const wanted = given.map((field) => {
      const [, literal] = /^'(\w+)'$/.exec(field) ?? [];
      if (literal === undefined) throw new Error(`${name}.load takes an id and names of fields, not ${field}`);
      return literal;
    });
    const readers = this.#readers.get(name) ?? new Map<string, string>();
    this.#readers.set(name, readers);
    const known = readers.get(wanted.join()) ?? `load${readers.size + 1}`;
    readers.set(wanted.join(), known);
    return known;
  }

  /** Rows that a text makes by itself: `rows.message(record)`. */
  named(lua: string): void {
    for (const [, name = ''] of lua.matchAll(/\brows\.(\w+)\(/g)) this.row(this.record(name));
  }

  /** What `@record` stands for: the table of that name. Every text of the library has been expanded by then. */
  define(name: string): string {
    const record = this.record(name);
    const readers = [...(this.#readers.get(name) ?? [])];
    return [
      `local ${name} = {}`,
      ...readers.map(([fields, as]) => reader(as, record, fields === '' ? [] : fields.split(','), this.#keys)),
      counting(record),
      this.#keys[record.luaName] ? inserting(record, this.#keys) : '',
    ].join('\n');
  }

  /** What travels of a record, the local of that name. */
  values({ fields, wire }: RecordDeclaration): string {
    const members = wire.map((name) => {
      const field = Object.entries(fields as Fields).find(([own, one]) => (one.special.named ?? own) === name)?.[1];
      return this.member(`record.${name}`, field);
    });
    return members.join(', ');
  }

  /** The function that makes the list which travels of a record. */
  row(record: RecordDeclaration): string {
    const { luaName } = record;
    if (!this.#rows.has(luaName)) {
      // Named before it is written: a record may hold others of its kind.
      this.#rows.set(luaName, '');
      this.#rows.set(luaName, `rows.${luaName} = function(record) return { ${this.values(record)} } end\n`);
    }
    return `rows.${luaName}`;
  }

  /** What travels of one member of a record or of a reply. */
  member(value: string, field: Pick<ReplyMember, 'record' | 'isList'> | AnyField | undefined): string {
    const isRecord = field instanceof Many || field instanceof One;
    const named = !isRecord && field && 'record' in field ? field : undefined;
    const record = isRecord ? field.record : named?.record === undefined ? undefined : this.record(named.record);
    if (!record) return `${value} or false`;
    const row = this.row(record);
    return field instanceof Many || named?.isList
      ? `rows.each(${value}, ${row})`
      : `${value} and ${row}(${value}) or false`;
  }

  /** The functions that `row` names. */
  rows(): string {
    if (this.#rows.size === 0) return '';
    const each =
      'function rows.each(records, row)\nlocal list = {}\nfor i, record in ipairs(records) do list[i] = row(record) end\nreturn list\nend\n';
    return `rows = {}\n${each}${[...this.#rows.values()].join('')}`;
  }
}
