import type { ErrorCode } from './generated/calls.ts';

/** A call that failed. */
export class MusterError extends Error {
  override readonly name = 'MusterError';
  /** The API's code; UNREACHABLE: no answer came; UNREADABLE: what came is not Muster's. */
  readonly code: ErrorCode | 'UNREACHABLE' | 'UNREADABLE';
  /** The HTTP status; 0 where no answer came. */
  readonly status: number;
  /** What the server's log and events know the request by; null where no answer came. */
  readonly requestId: string | null;
  /** When another try may succeed, where the answer says. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: MusterError['code'],
    message: string,
    { status = 0, requestId = null, retryAfterSeconds = null, cause }: Partial<MusterError> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
