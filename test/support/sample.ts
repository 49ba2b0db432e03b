import type Joi from 'joi';
import type { Input, Route } from '../../src/engine/route/route.ts';
import { newTrace, noTrace } from '../../src/engine/route/trace.ts';

/** Values of every kind of field. The first that a field accepts is its sample. */
const values = [
  '0190a1b2-0000-7000-8000-000000000000',
  '2099-01-31T12:00:00.000Z',
  '2026-01-31',
  'https://example.com/hook',
  'EUR',
  'message.*',
  'message',
  '0 9 * * 1-5',
  'UTC',
  '17',
  'true',
  17,
  5,
  1,
  60,
  true,
  [],
  {},
  [{ call: 'barrier.cancel', barrierId: '0190a1b2-0000-7000-8000-000000000000' }],
  [{ messageId: '0190a1b2-0000-7000-8000-000000000000' }],
  ['yes', 'no'],
];

/** Fields of a call's body that exclude others, and fields that the call needs besides its required ones. */
export const leftOut: Readonly<Record<string, readonly string[]>> = {
  'schedule.create': ['everySeconds'],
  'schedule.update': ['everySeconds'],
  'hold.renew': ['ttlSeconds'],
  'message.suspend': ['after', 'note'],
  'hold.release': ['force'],
};
export const needed: Readonly<Record<string, object>> = {
  'schedule.create': { everySeconds: 60 },
  'message.suspend': { delaySeconds: 60 },
  'hold.release': { token: '17' },
  'budget.update': { limitMinor: '17' },
};

interface Described {
  readonly flags?: { readonly presence?: string };
  readonly preferences?: { readonly presence?: string };
  readonly allow?: readonly unknown[];
  readonly metas?: readonly { readonly pattern?: string }[];
  readonly keys?: Readonly<Record<string, Described>>;
}

/** Two objects that a schema accepts: with every field, and with only the required ones. */
export function samples(
  schema: Joi.ObjectSchema | undefined,
  without: readonly string[] = [],
): Record<string, unknown>[] {
  if (!schema) return [{}];
  const described = schema.describe() as Described;
  const presence = described.preferences?.presence ?? 'optional';
  const full: Record<string, unknown> = {};
  const least: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(described.keys ?? {})) {
    if (without.includes(name)) continue;
    full[name] = sampleOf(schema, key, name);
    if ((key.flags?.presence ?? presence) === 'required') least[name] = full[name];
  }
  return [full, least];
}

/** A value that the object accepts for this field, regardless of the others. */
function sampleOf(schema: Joi.ObjectSchema, described: Described, name: string): unknown {
  if (described.keys) return samples(schema.extract(name) as Joi.ObjectSchema)[0];
  // For a list of states, the first state in its pattern.
  const named = described.metas?.map(({ pattern }) => /^\^\((\w+)/.exec(pattern ?? '')?.[1]) ?? [];
  const candidates = [...(described.allow ?? []).filter((value) => value !== null), ...named, ...values];
  const found = candidates.find((value) => {
    if (value === undefined) return false;
    const { error } = schema.prefs({ abortEarly: false }).validate({ [name]: value });
    return !error?.details.some(({ path }) => path[0] === name);
  });
  if (found === undefined) throw new Error(`no sample value fits ${name}: add one`);
  return found;
}

/** Requests with every field, and with only the required ones; without cursors, which are opaque. */
export function inputs(route: Route): Input[] {
  const params = Object.fromEntries(
    [...`/:spaceId${route.path}`.matchAll(/:(\w+)/g)].map(([, name = '']) => [
      name,
      '0190a1b2-0000-7000-8000-000000000000',
    ]),
  );
  const [fullQuery, leastQuery] = samples(route.query, ['cursor']).map(
    (query) => route.query?.validate(query).value ?? {},
  );
  const [full, least] = samples(route.body, ['cursor', ...(leftOut[route.call] ?? [])]);
  const [fullBody, leastBody] = [full, least && { ...least, ...needed[route.call] }].map(
    (body) => body && (route.body?.validate(body).value ?? {}),
  );
  const headers = {};
  return [
    { params, query: fullQuery, body: fullBody, headers, trace: newTrace() },
    { params, query: leastQuery ?? fullQuery, body: leastBody ?? fullBody, headers, trace: noTrace },
  ];
}
