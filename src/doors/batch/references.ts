import type { Response } from '../../engine/call/call.ts';
import { isObject } from '../../engine/call/read-input.ts';
import { invalid } from '../../engine/route/errors.ts';
import { maxDepth, tooDeep } from '../../engine/route/json.ts';
import type { Route } from '../../engine/route/route.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The answers of a batch's calls, in order. */
export type Answers = readonly Promise<Response>[];

/** A reference as sent: `{"$from": i}` is the `id` that call i answered; `member` names another member of its answer. */
export interface Reference {
  /** The field that contains it. */
  readonly name: string;
  readonly from: number;
  readonly member: string;
}

/** Whether a call's text may contain references. Most have none. */
export const mayRefer = (text: string): boolean => text.includes('"$from"');

/**
 * The fields of the call at `index`, with the result of `idOf` in place of each reference. Opaque values stay as they are.
 *
 * @throws ApiError VALIDATION_FAILED for a reference to anything but an earlier call or in a field that takes no id, and
 *   for fields nested too deeply
 */
export function replaced<T>(fields: Fields, index: number, route: Route, idOf: (reference: Reference) => T): Fields {
  const opaque = [route.opaque?.at(-1), route.alsoOpaque?.at(-1)];
  const place = (value: unknown, name: string, depth = 1): unknown => {
    if (opaque.includes(name)) return value;
    if (depth > maxDepth) throw tooDeep();
    if (Array.isArray(value)) return value.map((one) => place(one, name, depth + 1));
    if (!isObject(value)) return value;
    if ('$from' in value) return idOf(readReference(value, name, index));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, place(one, key, depth + 1)]));
  };
  return place(fields, '') as Fields;
}

function readReference({ $from: from, member = 'id', ...others }: Fields, name: string, index: number): Reference {
  if (!/(^i|I)d$/.test(name)) throw invalid(`${name} takes no $from: only fields that take an id do`);
  const isCall = Number.isInteger(from) && Number(from) >= 0 && Number(from) < index;
  if (!isCall || typeof member !== 'string' || Object.keys(others).length > 0)
    throw invalid(
      `${name} must be an id, or {"$from": i} with the index of a call before this one, and member if it is not its id`,
    );
  return { name, from: Number(from), member };
}

/** The error if a reference leads to no id. */
export const noId = ({ name, from, member }: Reference): string =>
  `${name} is of call ${from}, whose answer has no id in ${member}`;

/**
 * The fields of the call at `index`, with ids from the answers of earlier calls in place of its references.
 *
 * @throws ApiError VALIDATION_FAILED for a reference that leads to no id
 */
export async function resolved(fields: Fields, index: number, route: Route, answers: Answers): Promise<Fields> {
  const references: Reference[] = [];
  replaced(fields, index, route, (reference) => references.push(reference));
  const ids: string[] = [];
  for (const reference of references) ids.push(await idOf(reference, answers));
  return replaced(fields, index, route, () => ids.shift());
}

async function idOf(reference: Reference, answers: Answers): Promise<string> {
  const { name, from, member } = reference;
  const { status, text } = (await answers[from]) ?? {};
  if (status === undefined || status >= 300) throw invalid(`${name} is of call ${from}, which was refused`);
  const answer: unknown = text === undefined ? null : JSON.parse(text);
  const id = isObject(answer) && Object.hasOwn(answer, member) ? (answer as Fields)[member] : undefined;
  if (typeof id !== 'string') throw invalid(noId(reference));
  return id;
}
