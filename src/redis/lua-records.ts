import type { AnyField, Fields } from '../declare/field.ts';
import { countedStates, Many, One, type RecordDeclaration } from '../declare/record.ts';
import { isRow, isRows, type ReplyMember } from '../declare/reply.ts';
import { type KeyTable, partsOf } from './keys.ts';
import { counting, inserting, reader } from './lua-access.ts';
import { argumentsAt, closingAt, lineBreaks } from './lua-text.ts';

/** The records of all rooms, by their names in scripts. */
export type RecordTable = ReadonlyMap<string, RecordDeclaration>;

/** `message.load(id, 'state')`: reads these fields of a record, or all if none is named. */
const loadCall = /(?<!function )\b(\w+)\.load\(/g;

/** Generates the Lua for a library's records, and replaces `load` in its scripts by calls of that. */
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
    if (!found) throw new Error(`${name} is not declared in any records.ts`);
    return found;
  }

  /** The helpers that a record's table needs. */
  needs(name: string): string[] {
    const record = this.record(name);
    const ofSpace = this.#keys[record.luaName]?.pattern.includes('<space') ? ['lib/space'] : [];
    const packed = record.packedBy === undefined ? [] : [record.packedBy];
    return ['lib/records', ...(countedStates(record) ? ['lib/count'] : ofSpace), ...packed];
  }

  /** Replaces each `load` by a call of the reader for its fields. */
  expand(lua: string): string {
    let text = '';
    let from = 0;
    for (const { 0: call, 1: name = '', index } of lua.matchAll(loadCall)) {
      if (!this.#table.has(name)) continue;
      if (index < from) throw new Error(`${name}.load is an argument of another load: assign it to a local`);
      const start = index + call.length;
      const given = argumentsAt(lua, start);
      const key = this.#keys[name];
      // A record whose key has no variable part has no id.
      const ids = key && partsOf(key).length === 0 ? 0 : 1;
      const reader = this.#reader(name, given.slice(ids));
      const end = closingAt(lua, start - 1) + 1;
      text += `${lua.slice(from, index)}${name}.${reader}(${given.slice(0, ids).join(', ')})${lineBreaks(lua.slice(start, end))}`;
      from = end;
    }
    return text + lua.slice(from);
  }

  /** The name of the reader for these fields, which must be string literals. */
  #reader(name: string, given: readonly string[]): string {
    const wanted = given.map((field) => {
      const [, literal] = /^'(\w+)'$/.exec(field) ?? [];
      if (literal === undefined) throw new Error(`${name}.load takes an id and field names as literals, not ${field}`);
      return literal;
    });
    const readers = this.#readers.get(name) ?? new Map<string, string>();
    this.#readers.set(name, readers);
    const known = readers.get(wanted.join()) ?? `load${readers.size + 1}`;
    readers.set(wanted.join(), known);
    return known;
  }

  /** Adds the functions that a text calls as `rows.message(record)`. */
  addRows(lua: string): void {
    for (const [, name = ''] of lua.matchAll(/\brows\.(\w+)\(/g)) this.row(this.record(name));
  }

  /** Lua of the table that `@record` declares. To be called after every text of the library was expanded. */
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

  /** Lua for the values that are sent of a record, which is in the local `record`. */
  values({ fields, wire }: RecordDeclaration): string {
    const members = wire.map((name) => {
      const field = Object.entries(fields as Fields).find(([key, one]) => (one.special.named ?? key) === name)?.[1];
      return this.member(`record.${name}`, field);
    });
    return members.join(', ');
  }

  /** Lua that returns the list which is sent for the table `reply`; `first`: Lua of values before it. */
  replyList(members: readonly ReplyMember[], first: readonly string[]): string {
    const listed = (...values: readonly string[]): string => `{ ${[...first, ...values].join(', ')} }`;
    const [{ name, record = '' } = { name: '' }] = members;
    if (isRow(members)) return `local record = reply.${name} return ${listed(this.values(this.record(record)))}`;
    if (!isRows(members)) return `return ${listed(...members.map((one) => this.member(`reply.${one.name}`, one)))}`;
    const { wire } = this.record(record);
    const values = this.values(this.record(record));
    const places = wire.map((_, index) => `list[at + ${index + 1}]`).join(', ');
    return [
      `local records = reply.${name}`,
      // The list has its size from the start if there is one record, which is mostly so.
      `local record = records[1] if not record then return ${listed('0')} end`,
      `local list = ${listed('#records', values)}`,
      `for i = 2, #records do local at = #list record = records[i] ${places} = ${values} end`,
      'return list',
    ].join(' ');
  }

  /** Adds the function that lists the values that are sent of a record, and returns its name. */
  row(record: RecordDeclaration): string {
    const { luaName } = record;
    if (!this.#rows.has(luaName)) {
      // Added before it is generated: a record may contain records of the same type.
      this.#rows.set(luaName, '');
      this.#rows.set(luaName, `rows.${luaName} = function(record) return { ${this.values(record)} } end\n`);
    }
    return `rows.${luaName}`;
  }

  /** Lua for the value that is sent of one member of a record or reply. */
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

  /** Lua of the functions that `row` added. */
  rows(): string {
    if (this.#rows.size === 0) return '';
    const each =
      'function rows.each(records, row)\nlocal list = {}\nfor i, record in ipairs(records) do list[i] = row(record) end\nreturn list\nend\n';
    return `rows = {}\n${each}${[...this.#rows.values()].join('')}`;
  }
}
