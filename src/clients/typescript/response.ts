import { MusterError } from './error.ts';
import { parseAnswer } from './unreadable.ts';

/** Far above the largest answer of the service: the messages of a receive have 4 MiB together. */
const maxMebibytes = 32;
const maxBytes = maxMebibytes * 1024 * 1024;

type Envelope = Pick<MusterError, 'code' | 'message' | 'index' | 'call'>;

/** The response to one attempt. */
export interface SendOutcome {
  readonly status: number;
  readonly headers: Headers;
  /** The id that the request was sent with. */
  readonly requestId: string;
  /** The JSON object in its body; undefined if there is none. */
  readonly body: unknown;
  /** The error in its body; undefined if it has none. */
  readonly envelope: Envelope | undefined;
  /** Why it is not Muster's answer to this request; undefined if it is. */
  readonly strange: string | undefined;
}

/** Reads a response completely. Rejects if it breaks off. */
export async function receive(response: Response, requestId: string): Promise<SendOutcome> {
  const { status, headers } = response;
  const text = await textOf(response);
  const body = text === undefined ? undefined : objectOf(text);
  const envelope = envelopeOf(body);
  const isRead = status === 204 || (status < 300 ? body !== undefined : envelope !== undefined);
  const strange = strangeness(response, requestId) ?? (isRead ? undefined : described(headers, text));
  return { status, headers, requestId, body, envelope, strange };
}

/** Why the head of a response is not of Muster's answer to this request; undefined if it may be. */
export function strangeness({ status, headers, type }: Response, requestId: string): string | undefined {
  if ((status >= 300 && status < 400) || type === 'opaqueredirect')
    return `a redirect to ${originOf(headers.get('Location'))}, which the client does not follow`;
  const found = headers.get('X-Request-Id');
  if (found === null) return `${contentTypeOf(headers)} without the header X-Request-Id`;
  // Headers that are too large are refused unread.
  if (found !== requestId && status !== 431)
    return 'its X-Request-Id is not that of the request, which a proxy must pass on unchanged';
  return undefined;
}

/** The answer of a call; throws if it is an error. */
export function read(outcome: SendOutcome | Error, call: string): unknown {
  if (outcome instanceof Error) {
    const why = outcome.cause instanceof Error ? outcome.cause.message : outcome.message;
    throw new MusterError('UNREACHABLE', `${call}: no answer: ${why || outcome.message}`, { cause: outcome });
  }
  const { status, requestId, body, envelope, strange } = outcome;
  const about = { status, requestId, retryAfterSeconds: retryAfter(outcome) };
  if (strange !== undefined)
    throw new MusterError('UNREADABLE', `${call}: ${status}, not a Muster response: ${strange}`, about);
  if (envelope && status >= 300) {
    const { code, message, index, call } = envelope;
    throw new MusterError(code, message, { ...about, requestId: outcome.headers.get('X-Request-Id'), index, call });
  }
  return status === 204 ? undefined : body;
}

export function retryAfter({ headers }: Pick<SendOutcome, 'headers'>): number | null {
  const text = headers.get('Retry-After');
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

/** The text of a response; undefined if it is too large. */
async function textOf({ body }: Response): Promise<string | undefined> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return parts.join('') + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
}

function objectOf(text: string): object | undefined {
  try {
    const value = parseAnswer(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function envelopeOf(body: unknown): Envelope | undefined {
  const { error } = (body ?? {}) as { error?: Envelope };
  return typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined;
}

/** What a body is, without any of it: it may have the data of others. */
function described(headers: Headers, text: string | undefined): string {
  if (text === undefined) return `larger than ${maxMebibytes} MiB`;
  if (text === '') return 'its body is empty';
  return `${contentTypeOf(headers)} of ${text.length} characters`;
}

const contentTypeOf = (headers: Headers): string => headers.get('Content-Type')?.slice(0, 100) ?? 'something';

function originOf(location: string | null): string {
  return location !== null && URL.canParse(location) ? new URL(location).origin : 'another path';
}
