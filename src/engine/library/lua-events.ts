import { actorName, countOf, type EventDeclaration, ofEvent } from '../declare/event.ts';
import type { AnyField, Fields } from '../declare/field.ts';

/** The events of all rooms, by type. */
export type EventTable = ReadonlyMap<string, EventDeclaration>;

/** An operand of a Lua concatenation: a literal, or an expression. */
type Part = { readonly text: string } | { readonly lua: string };

/**
 * A value in the journal's format. `=` stands for the aggregate's id; texts that could be taken for another type are quoted.
 */
function encodedValue(name: string, { kind, special }: AnyField): Part[] {
  const value = typeof special.or === 'number' ? `(event.${name} or ${special.or})` : `event.${name}`;
  const { isNullable, isOptional } = special;
  const missing = isOptional ? ` or ${isNullable ? `event.${name} == nil and ` : ''}''` : '';
  const absent = `${missing}${isNullable ? " or 'null'" : ''}`;
  if (kind.lua === 'flag') return [{ lua: `tostring(${value})` }];
  if (kind.lua === 'number')
    return [{ lua: absent ? `(${value} and decimal(${value})${absent})` : `decimal(${value})` }];
  const written = special.or === '=id' ? `${value} == id and '=' or ${value}` : value;
  if (kind.isWord) return [{ lua: absent || written !== value ? `(${written}${absent})` : written }];
  if (absent) return [{ lua: `(${value} and '"' .. ${value} .. '"'${absent})` }];
  return [{ text: '"' }, { lua: value }, { text: '"' }];
}

/** A member of the payload in the journal's format. */
function encodedMember(name: string, field: AnyField): Part[] {
  // An event with a cause of its own is an effect that nobody asked for by itself.
  if (name === actorName) return [{ lua: "(cause == nil and caller.actorMember() or '')" }];
  const start = ` ${name}=`;
  // A nullable member that may be missing is null if it is false, and missing if it is nil.
  const isThere = field.special.isNullable ? `event.${name} ~= nil` : `event.${name}`;
  // Two operands of one concatenation cost less than a temporary string.
  return [
    field.special.isOptional ? { lua: `(${isThere} and '${start}' or '')` } : { text: start },
    ...encodedValue(name, field),
  ];
}

/** Lua that concatenates parts, with adjacent literals merged. */
function concatenation(parts: readonly Part[]): string {
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

/** The scope of an event, which only some events of its type may have. */
const scopeOf = ({ scopeId }: Fields): string =>
  scopeId?.special.isOptional ? "(event.scopeId or '~')" : 'event.scopeId';

/**
 * `function emit.message.sent(id, event, cause)` appends the event to the journal, in the format that event/record.ts reads,
 * and counts it if its type is counted. cause: the id of the causing request; nil for the current one.
 */
function emitter({ type, payload, isScoped, isTraced, isCounted }: EventDeclaration): string {
  const members = Object.entries(payload as Fields).filter(([name]) => !ofEvent.has(name)) as [string, AnyField][];
  const head: Part[] = [
    { lua: 'id' },
    { text: ' ' },
    isScoped ? { lua: scopeOf(payload) } : { text: '~' },
    { text: ' ' },
    { lua: "(cause or (requestId == '' and '~' or requestId))" },
  ];
  const trace: Part[] = isTraced ? [{ lua: "(event.traceparent and ' traceparent=' .. event.traceparent or '')" }] : [];
  const text = concatenation([...head, ...members.flatMap(([name, field]) => encodedMember(name, field)), ...trace]);
  const counts = isCounted ? `count.space('${countOf(type)}', 1) ` : '';
  return `function emit.${type}(id, event, cause) ${counts}journal.append('${type}', ${text}) end\n`;
}

/** Lua of the functions that emit these types, to follow lib/journal. */
export function emitters(types: Iterable<string>, events: EventTable): string {
  const declared = [...new Set(types)].sort().map((type) => events.get(type) as EventDeclaration);
  if (declared.length === 0) return '';
  const aggregates = [...new Set(declared.map(({ aggregate }) => aggregate))];
  return `local emit = { ${aggregates.map((name) => `${name} = {}`).join(', ')} }\n${declared.map(emitter).join('')}`;
}
