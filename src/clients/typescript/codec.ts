import { jsonOf } from './json.ts';
import { isOpaque, isUnreadable, parseValue, setUnreadable, UnreadableValue } from './unreadable.ts';

/**
 * Transforms payloads, inputs and results on their way to the service and back: compresses them, encrypts them, or stores
 * them elsewhere. Passed to `createMuster`, it works for sends, reads and workers alike. With several codecs, the first one
 * encodes first.
 */
export interface Codec {
  /** Stored with each value, so that readers know how to decode it. */
  readonly name: string;
  /**
   * True for a codec that proves where a value comes from, as encryption does: it must encode every value, and a value that
   * it has not encoded cannot be read.
   */
  readonly seals?: boolean;
  /**
   * Returns the encoded bytes, or undefined to leave them unchanged. The first codec gets the value's JSON text.
   *
   * @param places where the value may be read: `work/<mailboxId>/<workKey>`, or `mailbox/<mailboxId>` without a workKey and in
   *   schedules, `task/<groupId>/<taskKey>`, `result/<messageId>`; empty if nobody knows yet, as with an id that an atomic
   *   batch makes
   */
  encode(bytes: Uint8Array, places: readonly string[]): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** @param places where the value is read; a codec that seals compares them with those of encode, of which one must agree */
  decode(bytes: Uint8Array, places: readonly string[]): Uint8Array | Promise<Uint8Array>;
}

/** The form of an encoded value in a payload. */
interface Coded {
  /** The names of the codecs that encoded it, in order. */
  readonly $codec: readonly string[];
  /** Base64. */
  readonly data: string;
}

/** A value already encoded, so that all attempts of a call send the same bytes. */
class Encoded {
  readonly #value: unknown;
  constructor(value: unknown) {
    this.#value = value;
  }
  toJSON(): unknown {
    return this.#value;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields with encoded values, and the field that tells their records from others: those of events have neither. */
const coded: Readonly<Record<string, string>> = { payload: 'mailboxId', result: 'mailboxId', outcome: 'messageId' };
const chunk = 8_192;

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += chunk) text += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return btoa(text);
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

const looksCoded = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && '$codec' in value;

/** An encoded value; undefined for a plain one. */
function codedIn(value: unknown): Coded | undefined {
  if (!looksCoded(value)) return undefined;
  const { $codec, data } = value as Partial<Coded>;
  const isList = Array.isArray($codec) && $codec.every((name) => typeof name === 'string');
  if (isList && typeof data === 'string' && Object.keys(value).length === 2) return { $codec, data };
  throw new Error('the value looks encoded, but not as a client does it');
}

const idOf = (value: unknown): string | undefined => (typeof value === 'string' ? value.toLowerCase() : undefined);

/** Where a payload may be read. Without a workKey, anywhere in its mailbox. */
function placesInMailbox(record: Fields): string[] {
  const mailboxId = idOf(record['mailboxId']);
  if (mailboxId === undefined) return [];
  const { workKey } = record;
  return [typeof workKey === 'string' ? `work/${mailboxId}/${workKey}` : `mailbox/${mailboxId}`];
}

function placesInGroup(record: Fields): string[] {
  const groupId = idOf(record['groupId']);
  const { taskKey } = record;
  return groupId !== undefined && typeof taskKey === 'string' ? [`task/${groupId}/${taskKey}`] : [];
}

function placesOfResult(messageId: unknown): string[] {
  const id = idOf(messageId);
  return id === undefined ? [] : [`result/${id}`];
}

/** Where a value of a record is read. */
function placesRead(name: string, record: Fields): string[] {
  if (name === 'result') return placesOfResult(record['id']);
  if (name === 'outcome') return placesOfResult(record['messageId']);
  // A schedule's messages get workKeys of their own.
  const anywhere = placesInMailbox({ mailboxId: record['mailboxId'] });
  return [...new Set([...placesInMailbox(record), ...anywhere, ...placesInGroup(record)])];
}

/** A value in the form in which it is sent. */
async function encodeValue(codecs: readonly Codec[], value: unknown, places: readonly string[]): Promise<unknown> {
  const json = jsonOf(value);
  if (value instanceof Encoded || json === undefined) return value;
  let bytes: Uint8Array = new TextEncoder().encode(json);
  const names: string[] = [];
  for (const codec of codecs) {
    const encoded = await codec.encode(bytes, places);
    if (!encoded && codec.seals) throw new Error(`the codec ${codec.name} seals values, and has left one as it was`);
    if (!encoded) continue;
    bytes = encoded;
    names.push(codec.name);
  }
  // Wrap a value that merely looks encoded, so that readers get it back unchanged.
  if (names.length === 0 && !looksCoded(value)) return value;
  return new Encoded({ $codec: names, data: toBase64(bytes) } satisfies Coded);
}

/** The codecs that have encoded a value, in order. Each may be named once, in the order in which the client has them. */
function codecsOf(codecs: readonly Codec[], names: readonly string[]): readonly Codec[] {
  for (const name of names)
    if (!codecs.some((one) => one.name === name))
      throw new Error(`the value is encoded by ${name.slice(0, 64)}: createMuster needs this codec, too`);
  const found = codecs.filter(({ name }) => names.includes(name));
  if (found.some(({ name }, at) => name !== names[at]) || found.length !== names.length)
    throw new Error('the value names its codecs twice, or in another order than createMuster has them');
  return found;
}

async function decodeValue(codecs: readonly Codec[], value: unknown, places: readonly string[]): Promise<unknown> {
  const encoded = codedIn(value);
  const used = encoded ? codecsOf(codecs, encoded.$codec) : [];
  const lacking = codecs.find((one) => one.seals && !used.includes(one));
  if (lacking) throw new Error(`the value is not encoded by ${lacking.name}, as every value must be`);
  if (!encoded) return value;
  let name = 'Base64';
  try {
    let bytes = fromBase64(encoded.data);
    for (const codec of [...used].reverse()) {
      name = codec.name;
      bytes = await codec.decode(bytes, places);
    }
    name = 'JSON';
    return parseValue(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    if (cause instanceof UnreadableValue) throw cause;
    // The message becomes a lastError. Only the cause, which stays here, may say what the codec has found.
    throw new Error(`the value cannot be decoded: ${name} failed`, { cause });
  }
}

/** The arguments of a call, or of the calls of a batch, with values encoded. */
export async function encodeArgs(codecs: readonly Codec[], args: Fields): Promise<Fields> {
  const encoded: Record<string, unknown> = { ...args };
  if ('payload' in args) encoded['payload'] = await encodeValue(codecs, args['payload'], placesInMailbox(args));
  // A receiver takes the payload of a task without input for one that nobody has sealed.
  const input = 'taskKey' in args && codecs.some(({ seals }) => seals) ? (args['input'] ?? null) : args['input'];
  if (input !== undefined) encoded['input'] = await encodeValue(codecs, input, placesInGroup(args));
  const { result, calls } = args as { result?: Fields | null; calls?: readonly Fields[] };
  if (result && 'payload' in result) {
    const places = [...placesOfResult(args['messageId']), ...placesInMailbox(result)];
    encoded['result'] = { ...result, payload: await encodeValue(codecs, result['payload'], places) };
  }
  if (calls) encoded['calls'] = await Promise.all(calls.map((call) => encodeArgs(codecs, call)));
  return encoded;
}

/**
 * Decodes the values of an answer in place. A value that cannot be decoded throws when it is read, without affecting others.
 */
export async function decodeAnswer<T>(codecs: readonly Codec[], answer: T): Promise<T> {
  if (typeof answer !== 'object' || answer === null) return answer;
  const fields = answer as Record<string, unknown>;
  await Promise.all(
    Object.keys(fields).map(async (name) => {
      if (!isOpaque(name, (other) => other in fields)) return decodeAnswer(codecs, fields[name]);
      // Plain, as an encoded value has no numbers.
      const isPlain = isUnreadable(fields, name);
      const value = isPlain ? undefined : fields[name];
      const isAbsent = value === null && name !== 'payload';
      if (isAbsent || !(coded[name] !== undefined && coded[name] in fields)) return undefined;
      try {
        const decoded = await decodeValue(codecs, value, placesRead(name, fields));
        if (!isPlain) fields[name] = decoded;
      } catch (error) {
        setUnreadable(fields, name, error);
      }
      return undefined;
    }),
  );
  return answer;
}

const known = new WeakMap<object, readonly Codec[]>();

/**
 * Remembers a client's codecs for its workers.
 *
 * @throws TypeError if two codecs have one name
 */
export function keepCodecs(muster: object, codecs: readonly Codec[]): void {
  const names = codecs.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new TypeError(`two codecs are named ${twice}`);
  known.set(muster, codecs);
}

/** Encodes the values in a call's arguments, or in those of a batch's calls, once for several attempts. */
export async function encodeOnce<Args extends object>(muster: object, args: Args): Promise<Args> {
  const codecs = known.get(muster);
  return codecs ? ((await encodeArgs(codecs, args as Fields)) as Args) : args;
}
