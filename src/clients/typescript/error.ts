import type { ErrorCode } from './generated/errors.ts';

/** A call that failed. */
export class MusterError extends Error {
  override readonly name = 'MusterError';
  /** The API's code (see `ErrorCodes`); UNREACHABLE if there was no response or no key, UNREADABLE if the response was not Muster's. */
  readonly code: ErrorCode | 'UNREACHABLE' | 'UNREADABLE';
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The request's id in the server's log and events; null if there was no response. */
  readonly requestId: string | null;
  /** The response's Retry-After, if any. */
  readonly retryAfterSeconds: number | null;
  /** The position and name of the refused call of an atomic batch; otherwise null. */
  readonly index: number | null;
  readonly call: string | null;

  constructor(
    code: MusterError['code'],
    message: string,
    {
      status = 0,
      requestId = null,
      retryAfterSeconds = null,
      index = null,
      call = null,
      cause,
    }: Partial<MusterError> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    this.index = index;
    this.call = call;
  }

  /** For EVENTS_DAMAGED and MESSAGES_DAMAGED, the `cursor` that continues after the damaged part; otherwise null. */
  get nextCursor(): string | null {
    return /; cursor=(\S+) continues after them$/.exec(this.message)?.[1] ?? null;
  }
}

/** Anything thrown as a text, even what `String` cannot turn into one. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'an error that cannot be shown as text';
  }
}

/** Whether a call was refused with one of these codes. */
export function isRefusal(error: unknown, ...codes: readonly MusterError['code'][]): error is MusterError {
  return error instanceof MusterError && codes.includes(error.code);
}
