import type { AnyField } from '../declare/field.ts';
import { countedStates, type RecordDeclaration, storedFields } from '../declare/record.ts';
import { expandKey, type KeyTable, partsOf } from './keys.ts';

/** Lua for the value of a field missing from the hash. */
function absent({ special: { or = 'false' } }: AnyField): string {
  if (typeof or === 'number') return String(or);
  return or.startsWith('=') ? or.slice(1) : or === 'false' ? or : `'${or}'`;
}

/** Whether '' is stored for null, because a missing field has another value. */
const isEmptied = ({ special }: AnyField): boolean => special.isNullable === true && special.or !== undefined;

/** Lua that converts a stored value to the value that scripts see. */
function converted(value: string, field: AnyField): string {
  if (field.kind.lua === 'flag') return `${value} == '1'`;
  const present = `${field.kind.lua === 'number' ? `tonumber(${value})` : value} or ${absent(field)}`;
  return isEmptied(field) ? `${value} ~= '' and (${present})` : present;
}

/** Lua for the key of a record's hash, and the local it takes: `id`, or none. */
function placeOf({ name, luaName }: RecordDeclaration, keys: KeyTable) {
  const key = keys[luaName];
  if (!key) throw new Error(`${name} is not declared in any keys.ts, so scripts cannot load it`);
  const id = partsOf(key).length > 0 ? 'id' : '';
  return { id, key: expandKey(key, id === '' ? [] : [id], luaName) };
}

/**
 * Lua of a function that reads some or all fields of a record. An invocation has one table per record, with the fields
 * read or set so far; only fields that are nil are read. The function returns nil if there is no such record or, with
 * isStored, if the record is packed.
 */
export function reader(
  { as, isStored = false }: { as: string; isStored?: boolean },
  record: RecordDeclaration,
  names: readonly string[],
  keys: KeyTable,
): string {
  const { id, key } = placeOf(record, keys);
  const stored = storedFields(record);
  const fields = (names.length === 0 ? stored.map(([name]) => name) : names).map((name) => {
    const field = stored.find(([other]) => other === name)?.[1];
    if (!field) throw new Error(`${record.name} has no stored field ${name}`);
    return [name, field] as const;
  });
  const ids = ['changed = false', ...(id === '' ? [] : ['id = id']), 'hashKey = key'];
  const mayBePacked = record.packedBy !== undefined && !isStored;
  const body = names.length === 0 ? wholeReader(fields, ids, mayBePacked) : partReader(fields, ids, mayBePacked);
  const heading = `function ${record.luaName}.${as}(${id})`;
  const isCounted = names.length === 0 || fields.some(([, { kind }]) => kind.lua === 'number');
  const end = [...(isCounted ? ['if sums then fold(record) end'] : []), 'return record', 'end'];
  if (id === '' || names.length === 0)
    return [heading, `local key = ${key}`, 'local record = known[key]', ...body, ...end].join('\n');
  const last = 'lastId, lastRoot, lastKey, lastRecord';
  return [
    'do',
    `local ${last}`,
    heading,
    'local record = lastRecord',
    // The calls of an invocation mostly read the same mailbox or budget, so its key need not be built again, nor its fields
    // be checked.
    'if id ~= lastId or spaceRoot ~= lastRoot or known[lastKey] ~= record then',
    `local key = ${key}`,
    'record = known[key]',
    ...body,
    `${last} = id, spaceRoot, key, record`,
    'end',
    ...end,
    'end',
  ].join('\n');
}

/**
 * How a reader continues if there is no hash. `packed.values` returns the values of a packed record: of these fields or, for
 * `*`, of all fields as HGETALL replies. A packed record is never written: it must be unpacked before it changes.
 */
const markPacked = 'if isPacked then record.changed, record.isPacked = nil, true end';

function wholeReader(
  fields: readonly (readonly [string, AnyField])[],
  ids: readonly string[],
  mayBePacked: boolean,
): string[] {
  return [
    'if record == false or record and record.isWhole then return record or nil end',
    "local flat = record and record.isNew and nothing or redisCall('HGETALL', key)",
    ...(mayBePacked
      ? [
          'local isPacked',
          "if not flat[1] and not (record and record.isNew) then flat = packed.values(id, '*') or nothing isPacked = not record end",
        ]
      : []),
    'if not (record or flat[1]) then return nil end',
    // Preallocates every field, as Lua copies a growing table again and again.
    `local whole = { ${[...ids, 'isWhole = true', ...fields.map(([name]) => `${name} = false`)].join(', ')} }`,
    'for i = 1, #flat, 2 do whole[flat[i]] = flat[i + 1] end',
    ...fields.flatMap(([name, field]) => {
      const value = converted(`whole.${name}`, field);
      return value === `whole.${name} or false` ? [] : [`whole.${name} = ${value}`];
    }),
    'if not record then record, known[key] = whole, whole',
    ' else for name, value in pairs(whole) do if record[name] == nil then record[name] = value end end end',
    ...(mayBePacked ? [markPacked] : []),
  ];
}

function partReader(
  fields: readonly (readonly [string, AnyField])[],
  ids: readonly string[],
  mayBePacked: boolean,
): string[] {
  // The index of a field that every record has.
  const requiredAt = fields.findIndex(([, { special }]) => !special.isNullable && special.or === undefined);
  const [only] = fields.length === 1 ? fields : [];
  const command = `redisCall('${only ? 'HGET' : 'HMGET'}', key, ${fields.map(([name]) => `'${name}'`).join(', ')})`;
  const value = (index: number): string => (only ? 'values' : `values[${index + 1}]`);
  const members = fields.map(([name, field], index) => `${name} = ${converted(value(index), field)}`);
  const packed = `packed.values(id, '${fields.map(([name]) => name).join(',')}')`;
  const absent = 'known[key] = false return nil';
  const missing = mayBePacked
    ? `local row = ${packed} if not row or not row[${requiredAt + 1}] then ${absent} end values, isPacked = row${only ? '[1]' : ''}, true`
    : absent;
  const canBePacked = mayBePacked && requiredAt >= 0;
  return [
    'if not record then',
    ' if record == false then return nil end',
    ` local values${canBePacked ? ', isPacked' : ''} = ${command}`,
    ...(requiredAt < 0 ? [] : [`if not ${value(requiredAt)} then ${missing} end`]),
    `record = { ${[...ids, ...members].join(', ')} }`,
    'known[key] = record',
    ...(canBePacked ? [markPacked] : []),
    ` elseif ${fields.map(([name]) => `record.${name} == nil`).join(' or ')} then`,
    ` local values = ${only ? 'false' : 'nothing'}`,
    ...(ids.includes('id = id') ? ['record.id = id'] : []),
    ...(mayBePacked
      ? [
          ` if record.isPacked then values = (${packed} or nothing)${only ? '[1]' : ''}`,
          ` elseif not record.isNew then values = ${command} end`,
        ]
      : [` if not record.isNew then values = ${command} end`]),
    ...fields.map(
      ([name, field], index) => `if record.${name} == nil then record.${name} = ${converted(value(index), field)} end`,
    ),
    ' end',
  ];
}

/** Lua of `enter` and `leave`, which keep the census of a record's states. */
export function counting(record: RecordDeclaration): string {
  const { luaName } = record;
  const { counted, name = '', states = [] } = countedStates(record) ?? {};
  if (counted === undefined) return '';
  const counters = `${luaName}_counters`;
  const isStored = storedFields(record).some(([field]) => field === name);
  return [
    `local ${counters} = { ${states.map((state) => `${state} = '${counted}:${state}'`).join(', ')} }`,
    `function ${luaName}.leave(state) count.space(${counters}[state], -1) end`,
    `function ${luaName}.enter(record, state)`,
    `if record.state then count.space(${counters}[record.state], -1) end`,
    `count.space(${counters}[state], 1)`,
    // A new record is written with all its fields anyway.
    isStored
      ? `if record.changed == nil then record.${name} = state else records.set(record, '${name}', state) end\nend\n`
      : 'record.state = state\nend\n',
  ].join('\n');
}

/**
 * Lua of `message.insert(record)`, which writes a new record. It leaves out fields with their default value. It writes later
 * fields only if any field was set after the record was made.
 */
export function inserting(record: RecordDeclaration, keys: KeyTable): string {
  const { luaName } = record;
  const { id, key } = placeOf(record, keys);
  const line = ([name, field]: readonly [string, AnyField]): string => {
    const add = (text: string): string => `args[n + 1], args[n + 2], n = '${name}', ${text}, n + 2`;
    const isOther =
      field.special.or === undefined ? '' : ` and record.${name} ~= ${absent(field).replace(/^(?=[a-z])/, 'record.')}`;
    const value = { text: `record.${name}`, number: `decimal(record.${name})`, flag: "'1'" }[field.kind.lua];
    const empty = isEmptied(field) ? ` elseif record.${name} == false then ${add("''")}` : '';
    return ` if record.${name}${isOther} then ${add(value)}${empty} end`;
  };
  const stored = storedFields(record);
  const later = stored.filter(([, { special }]) => special.isLater).map(line);
  return [
    `local function ${luaName}_written(record, args)`,
    ' local n = 2',
    ...stored.filter(([, { special }]) => !special.isLater).map(line),
    ...(later.length > 0 ? [' if record.isSet then', ...later, ' end'] : []),
    ' return n',
    'end',
    `function ${luaName}.insert(record)`,
    ...(id === '' ? [] : [' local id = record.id']),
    ` records.insert(${key}, record, ${luaName}_written)`,
    'end\n',
  ].join('\n');
}
