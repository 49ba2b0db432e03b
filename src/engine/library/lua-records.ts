import type { AnyField, Fields } from '../declare/field.ts';
import { countedStates, Many, One, type RecordDeclaration, storedFields } from '../declare/record.ts';
import { isRow, isRows, type ReplyMember } from '../declare/reply.ts';
import { type KeyTable, partsOf } from './keys.ts';
import { counting, inserting, reader } from './lua-access.ts';

/** The records of all rooms, by their names in scripts. */
export type RecordTable = ReadonlyMap<string, RecordDeclaration>;

/** A function that reads some fields of a record, or all if none is named. */
interface Reader {
  readonly as: string;
  readonly isStored: boolean;
  readonly wanted: readonly string[];
}

/** Generates the Lua for a library's records. */
export class LuaRecords {
  readonly #table: RecordTable;
  readonly #keys: KeyTable;
  readonly #readers = new Map<string, Map<string, Reader>>();
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
    return ['lib/records', 'lib/decimal', ...(countedStates(record) ? ['lib/count'] : ofSpace), ...packed];
  }

  /**
   * The name of the reader for a call of `message.load(id, 'state', …)` or of `message.stored`, which does not find packed
   * records; and how many of the arguments are ids. given: Lua of all arguments. `'@claim'` stands for the fields that a
   * reply with that record shows; `'@claim:sent'` for those that a record may have from the beginning, `'@claim:later'`
   * for the others.
   *
   * @throws Error unless the field names are string literals
   */
  reader(name: string, how: 'load' | 'stored', given: readonly string[]): { as: string; ids: number } {
    const key = this.#keys[name];
    // A record whose key has no variable part has no id.
    const ids = key && partsOf(key).length === 0 ? 0 : 1;
    const listed = given.slice(ids).flatMap((field) => {
      const [, , isRecord, literal, part] = /^(['"])(@?)(\w+)(?::(sent|later))?\1$/.exec(field) ?? [];
      if (literal === undefined || (part !== undefined && isRecord !== '@'))
        throw new Error(`${name}.${how} takes an id and field names as literals, not ${field}`);
      return isRecord === '@' ? this.#fieldsFor(name, literal, part) : [literal];
    });
    const wanted = [...new Set(listed)];
    const readers = this.#readers.get(name) ?? new Map<string, Reader>();
    this.#readers.set(name, readers);
    const place = `${how} ${wanted.join()}`;
    const known = readers.get(place) ?? { as: `load${readers.size + 1}`, isStored: how === 'stored', wanted };
    readers.set(place, known);
    return { as: known.as, ids };
  }

  /**
   * The stored fields of a record that replies with `shown` are made of. part: only those that it may have from the
   * beginning (`sent`), or only those that are set later.
   */
  #fieldsFor(name: string, shown: string, part: string | undefined): string[] {
    const { wire, rare } = this.record(shown);
    const needed = new Set([...wire, ...rare]);
    const found = storedFields(this.record(name)).filter(
      ([field, { special }]) =>
        needed.has(field) && (part === undefined || (special.isLater === true) === (part === 'later')),
    );
    if (found.length === 0) throw new Error(`${shown} shows no such field of ${name}`);
    return found.map(([field]) => field);
  }

  /** Lua of a list: the names of the record's stored fields that its tombstone does not keep. */
  removed(name: string): string {
    const removed = storedFields(this.record(name)).filter(([, { special }]) => !special.isKept);
    return `{ ${removed.map(([field]) => `'${field}'`).join(', ')} }`;
  }

  /** Adds the function that a script calls as `rows.message(record)`. */
  addRow(name: string): void {
    this.row(this.record(name));
  }

  /** Lua of the table that `@record` declares. Call it after every text of the library has been expanded. */
  define(name: string): string {
    const record = this.record(name);
    const readers = [...(this.#readers.get(name)?.values() ?? [])];
    return [
      `local ${name} = {}`,
      ...readers.map((one) => reader(one, record, one.wanted, this.#keys)),
      counting(record),
      this.#keys[record.luaName] ? inserting(record, this.#keys) : '',
    ].join('\n');
  }

  /** Lua for the values to send of a record, which is in the local `record`. */
  values({ fields, wire, rare }: RecordDeclaration): string {
    const membersOf = (names: readonly string[]): string[] =>
      names.map((name) => {
        const field = Object.entries(fields as Fields).find(([key, one]) => (one.special.named ?? key) === name)?.[1];
        return this.member(`record.${name}`, field);
      });
    const hasRare = rare
      .map((name) => {
        const { or } = fields[name]?.special ?? {};
        return typeof or === 'number' ? `(record.${name} or ${or}) ~= ${or}` : `record.${name}`;
      })
      .join(' or ');
    const rares = hasRare === '' ? [] : [`(${hasRare}) and { ${membersOf(rare).join(', ')} } or false`];
    return [...membersOf(wire), ...rares].join(', ');
  }

  /** Lua that returns the list to send for the table `reply`. first: Lua of values in front. */
  replyList(members: readonly ReplyMember[], first: readonly string[]): string {
    const listed = (...values: readonly string[]): string => `{ ${[...first, ...values].join(', ')} }`;
    const [{ name, record = '' } = { name: '' }] = members;
    if (isRow(members)) return `local record = reply.${name} return ${listed(this.values(this.record(record)))}`;
    if (!isRows(members)) return `return ${listed(...members.map((one) => this.member(`reply.${one.name}`, one)))}`;
    const { width } = this.record(record);
    const values = this.values(this.record(record));
    const places = Array.from({ length: width }, (_, index) => `list[at + ${index + 1}]`).join(', ');
    return [
      `local records = reply.${name}`,
      // For the usual case of one record, the list gets its size at once.
      `local record = records[1] if not record then return ${listed('0')} end`,
      `local list = ${listed('#records', values)}`,
      `for i = 2, #records do local at = #list record = records[i] ${places} = ${values} end`,
      'return list',
    ].join(' ');
  }

  /** Adds the function that lists the values to send of a record. Returns its name. */
  row(record: RecordDeclaration): string {
    const { luaName } = record;
    if (!this.#rows.has(luaName)) {
      // Registered before it is generated, as a record may contain records of its own type.
      this.#rows.set(luaName, '');
      this.#rows.set(luaName, `rows.${luaName} = function(record) return { ${this.values(record)} } end\n`);
    }
    return `rows.${luaName}`;
  }

  /** Lua for the value to send of one member of a record or reply. */
  member(value: string, field: Pick<ReplyMember, 'record' | 'isList' | 'isOptional'> | AnyField | undefined): string {
    if (field && 'isOptional' in field) return value;
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
    return `${each}${[...this.#rows.values()].join('')}`;
  }
}
