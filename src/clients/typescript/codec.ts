/**
 * Transforms payloads, inputs and results on their way to the service and back: compresses them, encrypts them, or stores
 * them elsewhere. Passed to `createMuster`, it works for sends, reads and workers alike. With several codecs, the first one
 * encodes first.
 */
export interface Codec {
  /** Stored with each value, so that readers know how to decode it. */
  readonly name: string;
  /** Returns the encoded bytes, or undefined to leave them unchanged. The first codec gets the value's JSON text. */
  encode(bytes: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  decode(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
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

/** The names of fields whose values the service never reads. */
const opaque: readonly string[] = ['payload', 'input', 'result', 'outcome'];
const chunk = 8_192;

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += chunk) text += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return btoa(text);
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

const isCoded = (value: unknown): value is Coded => typeof value === 'object' && value !== null && '$codec' in value;

/** A value in the form in which it is sent. */
async function encodeValue(codecs: readonly Codec[], value: unknown): Promise<unknown> {
  const json = JSON.stringify(value);
  if (value instanceof Encoded || json === undefined) return value;
  let bytes: Uint8Array = new TextEncoder().encode(json);
  const names: string[] = [];
  for (const codec of codecs) {
    const encoded = await codec.encode(bytes);
    if (!encoded) continue;
    bytes = encoded;
    names.push(codec.name);
  }
  // Wrap a value that merely looks encoded, so that readers get it back unchanged.
  if (names.length === 0 && !isCoded(value)) return value;
  return new Encoded({ $codec: names, data: toBase64(bytes) } satisfies Coded);
}

async function decodeValue(codecs: readonly Codec[], { $codec, data }: Coded): Promise<unknown> {
  let bytes = fromBase64(data);
  for (const name of [...$codec].reverse()) {
    const codec = codecs.find((one) => one.name === name);
    if (!codec) throw new Error(`the value is encoded by ${name}: createMuster needs this codec, too`);
    bytes = await codec.decode(bytes);
  }
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

/** The arguments of a call, or of the calls of a batch, with values encoded. */
export async function encodeArgs(codecs: readonly Codec[], args: Fields): Promise<Fields> {
  const encoded: Record<string, unknown> = { ...args };
  for (const name of ['payload', 'input']) if (name in args) encoded[name] = await encodeValue(codecs, args[name]);
  const { result, calls } = args as { result?: Fields | null; calls?: readonly Fields[] };
  if (result && 'payload' in result) encoded['result'] = await encodeArgs(codecs, result);
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
    Object.entries(fields).map(async ([name, value]) => {
      if (!opaque.includes(name) || !isCoded(value)) return decodeAnswer(codecs, value);
      try {
        fields[name] = await decodeValue(codecs, value);
      } catch (error) {
        const get = (): never => {
          throw error;
        };
        Object.defineProperty(fields, name, { get, enumerable: true });
      }
      return undefined;
    }),
  );
  return answer;
}

const known = new WeakMap<object, readonly Codec[]>();

/** Remembers a client's codecs for its workers. */
export function keepCodecs(muster: object, codecs: readonly Codec[]): void {
  known.set(muster, codecs);
}

/** Encodes the values in a call's arguments, or in those of a batch's calls, once for several attempts. */
export async function encodeOnce<Args extends object>(muster: object, args: Args): Promise<Args> {
  const codecs = known.get(muster);
  return codecs ? ((await encodeArgs(codecs, args as Fields)) as Args) : args;
}
