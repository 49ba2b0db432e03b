import type { EventDeclaration } from '../declare/event.ts';
import type { AnyField, Fields } from '../declare/field.ts';

/** The events of all rooms, by type. */
export type EventTable = ReadonlyMap<string, EventDeclaration>;

const emitted = /\bemit\.(\w+)\.(\w+)\b/g;

/** The types that a text emits. Throws for one that no room declares. */
export function emittedTypes(lua: string, events: EventTable, file: string): string[] {
  return [...lua.matchAll(emitted)].map(([call, aggregate, what]) => {
    const type = `${aggregate}.${what}`;
    if (!events.has(type)) throw new Error(`${file}: ${call} is in no room's events`);
    return type;
  });
}

/** Text between pieces of Lua, and the pieces. */
type Part = { readonly text: string } | { readonly lua: string };

/** A value as the journal has it: `=` is the aggregate's own id; quotes are around what would else not read as a text. */
function writtenOf(name: string, { kind, special }: AnyField): Part[] {
  const value = typeof special.or === 'number' ? `(event.${name} or ${special.or})` : `event.${name}`;
  const absent = special.isNullable ? " or 'null'" : special.isOptional ? " or ''" : '';
  if (kind.lua === 'flag') return [{ lua: `tostring(${value})` }];
  if (kind.lua === 'number') return [{ lua: `(digits[${value}] or ${value}${absent})` }];
  const written = special.or === '=id' ? `${value} == id and '=' or ${value}` : value;
  if (kind.isWord) return [{ lua: absent || written !== value ? `(${written}${absent})` : written }];
  if (absent) return [{ lua: `(${value} and '"' .. ${value} .. '"'${absent})` }];
  return [{ text: '"' }, { lua: value }, { text: '"' }];
}

/** One member of the payload. */
function memberOf(name: string, field: AnyField): Part[] {
  const start = ` ${name}=`;
  // Two short pieces of one concatenation cost less than a text made only to be put into another.
  return [
    field.special.isOptional ? { lua: `(event.${name} and '${start}' or '')` } : { text: start },
    ...writtenOf(name, field),
  ];
}

/** Lua that puts parts together, with texts that meet made one. */
function joined(parts: readonly Part[]): string {
  const pieces: string[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') pieces.push(`'${text}'`);
    text = '';
  };
  for (const part of parts) {
    if ('text' in part) text += part.text;
    else {
      flush();
      pieces.push(part.lua);
    }
  }
  flush();
  return pieces.join(' .. ') || "''";
}

/** `function emit.message.sent(id, event)`: appends it to the journal, in the form that event/record.ts reads. */
function emitter({ type, payload, isScoped }: EventDeclaration): string {
  const members = Object.entries(payload as Fields).filter(([name]) => name !== 'scopeId') as [string, AnyField][];
  const head: Part[] = [
    { lua: 'id' },
    { text: ' ' },
    isScoped ? { lua: 'event.scopeId' } : { text: '~' },
    { text: ' ' },
    { lua: "(requestId == '' and '~' or requestId)" },
  ];
  const text = joined([...head, ...members.flatMap(([name, field]) => memberOf(name, field))]);
  return `function emit.${type}(id, event) journal.append('${type}', ${text}) end\n`;
}

/** The functions that emit these types; they follow lib/journal. */
export function emitters(types: Iterable<string>, events: EventTable): string {
  const declared = [...new Set(types)].sort().map((type) => events.get(type) as EventDeclaration);
  if (declared.length === 0) return '';
  const aggregates = [...new Set(declared.map(({ aggregate }) => aggregate))];
  return `local emit = { ${aggregates.map((name) => `${name} = {}`).join(', ')} }\n${declared.map(emitter).join('')}`;
}
