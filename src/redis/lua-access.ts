import type { AnyField } from '../declare/field.ts';
import { countedStates, type RecordDeclaration, storedFields } from '../declare/record.ts';
import { expandKey, type KeyTable, partsOf } from './keys.ts';

/** Lua for the value of a field where the hash has none. */
function absent({ special: { or = 'false' } }: AnyField): string {
  if (typeof or === 'number') return String(or);
  return or.startsWith('=') ? or.slice(1) : or === 'false' ? or : `'${or}'`;
}

/** A field that another one stands in for has '' stored where it has no value. */
const isEmptied = ({ special }: AnyField): boolean => special.isNullable === true && special.or !== undefined;

/** A stored value as scripts see it. */
function seen(value: string, field: AnyField): string {
  if (field.kind.lua === 'flag') return `${value} == '1'`;
  const own = `${field.kind.lua === 'number' ? `tonumber(${value})` : value} or ${absent(field)}`;
  return isEmptied(field) ? `${value} ~= '' and (${own})` : own;
}

/** Where the hash of a record is, of the local `id` where it has one. */
function placeOf({ name, luaName }: RecordDeclaration, keys: KeyTable) {
  const key = keys[luaName];
  if (!key) throw new Error(`${name} is not declared in any keys.ts, so scripts cannot load it`);
  const id = partsOf(key).length > 0 ? 'id' : '';
  return { id, key: expandKey(key, id === '' ? [] : [id], luaName) };
}

/**
 * A reader of some fields, or of all. A run has each record once, with the fields that it has read or set: only those
 * that are nil are asked for. nil where a field that each record has is not there.
 */
export function reader(as: string, record: RecordDeclaration, names: readonly string[], keys: KeyTable): string {
  const { id, key } = placeOf(record, keys);
  const stored = storedFields(record);
  const fields = (names.length === 0 ? stored.map(([name]) => name) : names).map((name) => {
    const field = stored.find(([other]) => other === name)?.[1];
    if (!field) throw new Error(`${record.name} has no stored field ${name}`);
    return [name, field] as const;
  });
  // Room for the names of eight fields that change: a table that grows with each is made anew again and again.
  const room = Array<string>(8).fill('false');
  const ids = [...room, 'n = 0', ...(id === '' ? [] : ['id = id']), 'key = key'];
  const body = names.length === 0 ? wholeReader(fields, ids) : partReader(fields, ids);
  return [
    `function ${record.luaName}.${as}(${id})`,
    `local key = ${key}`,
    'local record = known[key]',
    ...body,
    'end',
  ].join('\n');
}

function wholeReader(fields: readonly (readonly [string, AnyField])[], ids: readonly string[]): string[] {
  return [
    'if record == false or record and record.isWhole then return record or nil end',
    "local flat = record and record.isNew and nothing or run('HGETALL', key)",
    'if not (record or flat[1]) then return nil end',
    // Room for every field at once: a table that grows with each is made anew again and again.
    `local whole = { ${[...ids, 'isWhole = true', ...fields.map(([name]) => `${name} = false`)].join(', ')} }`,
    'for i = 1, #flat, 2 do whole[flat[i]] = flat[i + 1] end',
    ...fields.flatMap(([name, field]) => {
      const value = seen(`whole.${name}`, field);
      return value === `whole.${name} or false` ? [] : [`whole.${name} = ${value}`];
    }),
    'if not record then record, known[key] = whole, whole',
    ' else for name, value in pairs(whole) do if record[name] == nil then record[name] = value end end end',
    'if sums then fold(record) end',
    'return record',
  ];
}

function partReader(fields: readonly (readonly [string, AnyField])[], ids: readonly string[]): string[] {
  const sure = fields.findIndex(([, { special }]) => !special.isNullable && special.or === undefined);
  const [only] = fields.length === 1 ? fields : [];
  const asked = `run('${only ? 'HGET' : 'HMGET'}', key, ${fields.map(([name]) => `'${name}'`).join(', ')})`;
  const value = (index: number): string => (only ? 'values' : `values[${index + 1}]`);
  const members = fields.map(([name, field], index) => `${name} = ${seen(value(index), field)}`);
  return [
    'if not record then',
    ' if record == false then return nil end',
    ` local values = ${asked}`,
    ...(sure < 0 ? [] : [`if not ${value(sure)} then known[key] = false return nil end`]),
    `record = { ${[...ids, ...members].join(', ')} }`,
    'known[key] = record',
    ` elseif ${fields.map(([name]) => `record.${name} == nil`).join(' or ')} then`,
    ` local values = ${only ? 'false' : 'nothing'}`,
    ...(ids.includes('id = id') ? ['record.id = id'] : []),
    ` if not record.isNew then values = ${asked} end`,
    ...fields.map(
      ([name, field], index) => `if record.${name} == nil then record.${name} = ${seen(value(index), field)} end`,
    ),
    ' end',
    ...(fields.some(([, { kind }]) => kind.lua === 'number') ? ['if sums then fold(record) end'] : []),
    'return record',
  ];
}

/** Counts the steps of a record whose states the census counts: `enter` and, where it goes, `leave`. */
export function counting(record: RecordDeclaration): string {
  const { luaName } = record;
  const { counted, name = '' } = countedStates(record) ?? {};
  if (counted === undefined) return '';
  const isStored = storedFields(record).some(([field]) => field === name);
  return [
    `function ${luaName}.leave(state) count.space('${counted}:' .. state, -1) end`,
    `function ${luaName}.enter(record, state)`,
    `if record.state then count.space('${counted}:' .. record.state, -1) end`,
    `count.space('${counted}:' .. state, 1)`,
    isStored ? `records.set(record, '${name}', state)\nend\n` : 'record.state = state\nend\n',
  ].join('\n');
}

/** `message.insert(record)`: a new record is written with all that differs from what its absence says. */
export function inserting(record: RecordDeclaration, keys: KeyTable): string {
  const { luaName } = record;
  const { id, key } = placeOf(record, keys);
  const lines = storedFields(record).map(([name, field]) => {
    const add = (text: string): string => `args[n + 1], args[n + 2], n = '${name}', ${text}, n + 2`;
    const isOther =
      field.special.or === undefined ? '' : ` and record.${name} ~= ${absent(field).replace(/^(?=[a-z])/, 'record.')}`;
    const value = { text: `record.${name}`, number: `string.format('%d', record.${name})`, flag: "'1'" }[
      field.kind.lua
    ];
    const empty = isEmptied(field) ? ` elseif record.${name} == false then ${add("''")}` : '';
    return ` if record.${name}${isOther} then ${add(value)}${empty} end`;
  });
  return [
    `local function ${luaName}_written(record, args)`,
    ' local n = 2',
    ...lines,
    ' return n',
    'end',
    `function ${luaName}.insert(record)`,
    ...(id === '' ? [] : [' local id = record.id']),
    ` records.insert(${key}, record, ${luaName}_written)`,
    'end\n',
  ].join('\n');
}
