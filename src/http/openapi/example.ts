import { hash } from 'node:crypto';
import type { JsonSchema, NamedSchemas } from './schema.ts';

/** What fields of these names hold, where the kind does not say it; `.example()` of a field comes first. */
const known: Readonly<Record<string, unknown>> = {
  accepted: 0,
  arrivalKey: 'reviewer-1',
  attempt: 2,
  attempts: 2,
  available: '98750',
  availableUnits: 99,
  backlogLimit: 1_000,
  body: null,
  cancelled: 0,
  consecutiveFailures: 0,
  cron: '0 9 * * 1-5',
  cursor: null,
  error: 'the printer is out of paper',
  eventType: 'message.sent',
  eventTypes: 'message.*',
  expired: 0,
  expiresAt: '2026-01-31T12:01:00.000Z',
  failed: 0,
  holder: 'worker-7',
  holderSession: 'worker-7/3',
  lastError: 'the printer is out of paper',
  leaseExpiresAt: '2026-01-31T12:01:00.000Z',
  limit: '100000',
  limitMinor: '100000',
  max: 10,
  maxAttempts: 5,
  maxBacklog: 10_000,
  maxPayloadBytes: 65_536,
  maxRetryDelaySeconds: 3_600,
  missed: 0,
  name: 'orders',
  overdue: false,
  progress: { page: 3 },
  reason: 'the provider is down',
  recipientId: 'agent-7',
  rejected: 0,
  replay: false,
  replayed: false,
  requestId: 'request-4711',
  requestsPerMinute: 6_000,
  result: null,
  retryAfter: null,
  running: 0,
  scale: 2,
  settled: '0',
  settledMinor: '0',
  signingSecret: `whsec_${'A'.repeat(43)}=`,
  succeeded: 0,
  target: 3,
  taskKey: 'order-4711',
  timezone: 'Europe/Berlin',
  token: 'q1Yw3T0dB8mLr5vXz7Nc2A',
  truncated: false,
  unitsLimit: 100,
  url: 'https://example.com/events',
  voidedMinor: '0',
  waitSeconds: 20,
  windowEndsAt: '2026-01-31T12:01:00.000Z',
  workKey: 'order-4711',
};

/** Ids that are another's: a claim's is its message's, and so is a task's. */
const alike: Readonly<Record<string, string>> = { claimId: 'messageId', taskId: 'messageId' };

/** What answers show although it may be null. */
const shown = new Set([
  'cron',
  'lastError',
  'name',
  'nextAt',
  'oldestReadyAt',
  'position',
  'resultMessageId',
  'taskId',
  'taskState',
  'timezone',
  'workKey',
]);

/** Texts that have a form. */
const formed = ['2026-01-31T12:00:00.000Z', '1250', 'EUR', '2026-01-31', '2026-01'];

/** The same id wherever the field has this name. */
const idOf = (name: string): string => `0190a1b2-0000-7000-8000-${hash('sha256', alike[name] ?? name).slice(0, 12)}`;

/**
 * A value that the schema accepts, so that every body has an example that nobody writes. Of alternatives it is the last
 * one. `name`: of the field, or of the component.
 */
export function exampleOf(schema: JsonSchema, named: NamedSchemas, name = ''): unknown {
  const { $ref, examples, anyOf, oneOf, enum: values, properties, items } = schema as Parts;
  if (examples) return examples[0];
  if ($ref !== undefined) {
    const component = $ref.slice($ref.lastIndexOf('/') + 1);
    return exampleOf(named.get(component) ?? {}, named, name === '' ? component : name);
  }
  if ('const' in schema) return schema['const'];
  if (values) return values[0];
  const one = oneOf?.[0] ?? anyOf?.findLast(({ type }) => type !== 'null');
  if (one) return exampleOf(one, named, name);
  if (properties) return objectOf(schema as Parts, named, name);
  if (items) return [exampleOf(items, named, '$ref' in items ? '' : name)];
  return plain(schema as Parts, name);
}

interface Parts {
  readonly $ref?: string;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

const isNullable = ({ type, anyOf }: Parts): boolean =>
  [type].flat().includes('null') || (anyOf ?? []).some((one) => one['type'] === 'null');

/**
 * In answers no field is optional, and what may be null is mostly what only later states have, such as the moment of the
 * end: it is null. In requests optional fields are shown.
 */
function objectOf({ properties = {}, required = [] }: Parts, named: NamedSchemas, of: string): unknown {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const isRequired = required.includes(name);
    const isLater = isRequired && isNullable(schema) && !shown.has(name) && !('examples' in schema);
    // The `id` of a Message, or of a SentMessage, is the `messageId` of others.
    const [noun = ''] = /[A-Z]?[a-z]*$/.exec(of) ?? [];
    const value = isLater ? null : exampleOf(schema, named, name === 'id' ? `${noun.toLowerCase()}Id` : name);
    return value === null && !isRequired ? [] : [[name, value] as const];
  });
  return Object.fromEntries(fields);
}

function plain(schema: Parts, name: string): unknown {
  const { format, pattern, minimum = 0, maximum = Infinity } = schema;
  const types = [schema.type ?? []].flat();
  const word = known[name];
  if (types.includes('boolean')) return word ?? schema.default ?? true;
  if (word !== null && (types.includes('integer') || types.includes('number'))) {
    const usual = typeof word === 'number' ? word : /Seconds$/.test(name) ? 60 : 1;
    return Math.min(Math.max(usual, minimum), maximum);
  }
  if (format === 'uuid') return idOf(name);
  if (format === 'date-time') return '2026-01-31T18:00:00.000Z';
  if (pattern !== undefined) {
    const form = new RegExp(pattern);
    return [word, idOf(name), ...formed].find((text) => typeof text === 'string' && form.test(text));
  }
  if (types.length === 1 && types[0] === 'null') return null;
  return name in known ? word : types.includes('string') ? name : types.includes('object') ? {} : { orderId: 4711 };
}
