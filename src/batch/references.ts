import { invalid } from '../call/errors.ts';
import { isObject } from '../call/read-input.ts';
import type { Response } from '../call/response.ts';
import type { Route } from '../call/route.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The answers of the calls of a batch, by their place in it. */
export type Answers = readonly Promise<Response>[];

/** Whether a call may have references, by its text: most have none. */
export const mayRefer = (text: string): boolean => text.includes('"$from"');

/**
 * The fields of the call at `index` with its references to calls before it replaced: `{"$from": i}` in place of an id is the
 * `id` that call i answered, `{"$from": i, "member": "scopeId"}` another member of its answer. Opaque values stay as they are.
 *
 * @throws ApiError VALIDATION_FAILED for a reference that leads nowhere
 */
export async function resolved(fields: Fields, index: number, route: Route, answers: Answers): Promise<Fields> {
  const opaque = [route.opaque?.at(-1), route.alsoOpaque?.at(-1)];
  const resolve = async (value: unknown, name: string): Promise<unknown> => {
    if (opaque.includes(name)) return value;
    if (Array.isArray(value)) return Promise.all(value.map((one) => resolve(one, name)));
    if (!isObject(value)) return value;
    if ('$from' in value) return idOf(value, name, index, answers);
    const members = Object.entries(value).map(async ([key, one]) => [key, await resolve(one, key)] as const);
    return Object.fromEntries(await Promise.all(members));
  };
  return (await resolve(fields, '')) as Fields;
}

async function idOf(reference: Fields, name: string, index: number, answers: Answers): Promise<string> {
  const { $from: from, member = 'id', ...others } = reference;
  if (!/Id$/.test(name)) throw invalid(`${name} takes no $from: only fields that take an id do`);
  const isCall = Number.isInteger(from) && Number(from) >= 0 && Number(from) < index;
  if (!isCall || typeof member !== 'string' || Object.keys(others).length > 0)
    throw invalid(
      `${name} must be an id, or {"$from": i} with the index of a call before this one, and member if it is not its id`,
    );
  const { status, text } = (await answers[Number(from)]) ?? {};
  if (status === undefined || status >= 300) throw invalid(`${name} is of call ${from}, which was refused`);
  const answer: unknown = text === undefined ? null : JSON.parse(text);
  const id = isObject(answer) && Object.hasOwn(answer, member) ? (answer as Fields)[member] : undefined;
  if (typeof id !== 'string') throw invalid(`${name} is of call ${from}, whose answer has no id in ${member}`);
  return id;
}
