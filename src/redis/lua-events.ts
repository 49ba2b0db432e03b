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

function writtenOf(name: string, { kind, special }: AnyField): Part[] {
  const value = typeof special.or === 'number' ? `(event.${name} or ${special.or})` : `event.${name}`;
  const isText = kind.lua === 'text';
  const plain =
    kind.lua === 'flag' ? `tostring(${value})` : kind.lua === 'number' ? `(digits[${value}] or ${value})` : value;
  if (special.isNullable)
    return [{ lua: isText ? `(${value} and '"' .. ${value} .. '"' or 'null')` : `(${value} or 'null')` }];
  return isText ? [{ text: '"' }, { lua: plain }, { text: '"' }] : [{ lua: plain }];
}

/** One member of the payload, with a comma in front unless it is the first. */
function memberOf(name: string, field: AnyField, isFirst: boolean): Part[] {
  const start = `${isFirst ? '' : ','}"${name}":`;
  if (!field.special.isOptional) return [{ text: start }, ...writtenOf(name, field)];
  // Three short pieces of one concatenation cost less than a text made only to be put into another.
  const value = `event.${name}`;
  const quote = field.kind.lua === 'text' ? '"' : '';
  return [
    { lua: `(${value} and '${start}${quote}' or '')` },
    { lua: field.kind.lua === 'number' ? `(digits[${value}] or ${value} or '')` : `(${value} or '')` },
    ...(quote === '' ? [] : [{ lua: `(${value} and '"' or '')` }]),
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
    { text: ' ' },
  ];
  const areOptional = members.length > 0 && members.every(([, { special }]) => special.isOptional);
  const body = members.flatMap(([name, field], index) => memberOf(name, field, index === 0 && !areOptional));
  const text = areOptional ? `${joined(head)} .. string.sub(${joined(body)}, 2)` : joined([...head, ...body]);
  return `function emit.${type}(id, event) journal.append('${type}', ${text}) end\n`;
}

/** The functions that emit these types; they follow lib/journal. */
export function emitters(types: Iterable<string>, events: EventTable): string {
  const declared = [...new Set(types)].sort().map((type) => events.get(type) as EventDeclaration);
  if (declared.length === 0) return '';
  const aggregates = [...new Set(declared.map(({ aggregate }) => aggregate))];
  return `local emit = { ${aggregates.map((name) => `${name} = {}`).join(', ')} }\n${declared.map(emitter).join('')}`;
}
