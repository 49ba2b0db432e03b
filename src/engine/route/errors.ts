/** An error of the API. Its message says what was wrong with which field, and what would be right. */
export interface ErrorEntry {
  readonly status: number;
  /** The message, given the script's detail ('' for none). */
  readonly message: (detail: string) => string;
  /** Further advice for a model, if the message does not say enough; it may depend on the script's detail. */
  readonly advice?: string | ((detail: string) => string);
  /** The path parameter that a `…_NOT_FOUND` is about, if it is not the usual id. */
  readonly parameter?: string;
}

export type ErrorTable = Readonly<Record<string, ErrorEntry>>;

/** A row of the tables in each room's errors.ts. */
export function entry(status: number, message: string | ((detail: string) => string)): ErrorEntry {
  return { status, message: typeof message === 'string' ? () => message : message };
}

/** Like `entry`, with advice. */
export function advised(advice: string, ...parts: Parameters<typeof entry>): ErrorEntry {
  return { ...entry(...parts), advice };
}

/** The message of a code, with … in place of its variable parts. */
export function messageOf(errors: ErrorTable, code: string): string {
  if (code === 'VALIDATION_FAILED') return 'a field is missing, unknown or has the wrong shape: the message says which';
  return (errors[code]?.message('… … …') ?? '').replaceAll(/…( …)+/g, '…');
}

/** The call that caused an atomic batch to be refused. */
export interface PlaceInBatch {
  /** From 0. */
  readonly index: number;
  readonly call: string;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly inBatch: PlaceInBatch | undefined;
  /** For models. */
  readonly advice: string | undefined;
  /** Why the store did not accept the call, in a word. */
  readonly reason: string | undefined;
  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    inBatch?: PlaceInBatch,
    advice?: string,
    reason?: string,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.inBatch = inBatch;
    this.advice = advice;
    this.reason = reason;
  }

  /** A copy of the error with other properties. */
  with({
    status = this.status,
    message = this.message,
    headers = this.headers,
    inBatch = this.inBatch,
    reason = this.reason,
  }: Partial<ApiError>): ApiError {
    return new ApiError(status, this.code, message, headers, inBatch, this.advice, reason);
  }
}

export function invalid(message: string): ApiError {
  return new ApiError(400, 'VALIDATION_FAILED', message);
}

/** The messages for the limits of a key, by the first word of the detail. Any other word is the missing permission. */
const limitsOfKeys: Readonly<Record<string, (rest: string) => string>> = {
  space: () => 'the API key is limited to other spaces',
  mailbox: () => 'the API key is limited to other mailboxes',
  mailboxes: () => 'the API key is limited to some mailboxes: this call needs one without that limit',
  holder: (name) => `the API key is bound to a holder: holder must be ${JSON.stringify(name)}, or be left out`,
  answeredBy: (name) => `the API key is bound to a holder: answeredBy must be ${JSON.stringify(name)}, or be left out`,
  beyond: (field) => `the API key can give no more than it has itself: ${field} goes beyond it`,
};

function deniedBecause(detail: string): string {
  const [limit = '', ...rest] = detail.split(' ');
  return limitsOfKeys[limit]?.(rest.join(' ')) ?? `the API key lacks the permission ${detail.replace(',', ', or ')}`;
}

/** The errors that any route may answer (docs/reference.md, "Requests"). */
export const commonErrors: ErrorTable = {
  MALFORMED_JSON: entry(400, 'the body is not valid JSON: send one JSON object, UTF-8'),
  VALIDATION_FAILED: entry(400, (detail) => detail),
  IDEMPOTENCY_KEY_REQUIRED: entry(
    400,
    'the header Idempotency-Key is missing: send 1 to 255 visible ASCII characters, new for each operation, the same for its retries',
  ),
  IDEMPOTENCY_KEY_INVALID: entry(
    400,
    'the header Idempotency-Key must be 1 to 255 visible ASCII characters, without spaces',
  ),
  INVALID_CURSOR: entry(400, 'cursor was not issued by this list: pass the nextCursor of the previous page, unchanged'),
  UNAUTHENTICATED: entry(401, 'the header Authorization is missing: send "Authorization: Bearer <API key>"'),
  INVALID_API_KEY: entry(401, 'the API key is malformed, unknown, ended or revoked'),
  OPERATIONS_EXHAUSTED: advised(
    'no new work this month: finish what you hold, and stop',
    402,
    (limit) =>
      `the plan's ${limit} operations of this month are used up: new work is refused until the next month or a larger plan, running work may finish`,
  ),
  PERMISSION_DENIED: entry(403, deniedBecause),
  ROUTE_NOT_FOUND: entry(404, 'there is no such path: see /docs, /openapi.json or /console'),
  SPACE_NOT_FOUND: entry(404, 'there is no such space in the organization of this API key'),
  METHOD_NOT_ALLOWED: entry(405, (methods) => `this path takes ${methods}`),
  REQUEST_TIMEOUT: entry(
    408,
    'the request did not arrive in time: nothing was done; send it again with the same Idempotency-Key',
  ),
  PAYLOAD_TOO_LARGE: advised('store the data elsewhere and send a reference; make a batch smaller', 413, (detail) => {
    const [limit = '', field = 'payload'] = detail.split(' ').reverse();
    if (limit === '') return 'the body is larger than 256 KiB';
    return ['progress', 'question'].includes(field)
      ? `${field} is larger than ${limit} bytes of compact JSON`
      : `${field} is larger than the space's maxPayloadBytes of ${limit} bytes of compact JSON`;
  }),
  UNSUPPORTED_MEDIA_TYPE: entry(415, 'the body must be JSON: send "Content-Type: application/json"'),
  IDEMPOTENCY_KEY_REUSED: entry(
    422,
    'this Idempotency-Key was used for another request in the last 24 hours: nothing was done; use a new key',
  ),
  RATE_LIMITED: entry(
    429,
    "the space's requestsPerMinute is used up: retry in the next minute, or raise it with PUT /limits, up to the plan's figure",
  ),
  SERVICE_RATE_LIMITED: entry(
    429,
    "the organization's requests per minute are used up: retry in the next minute, or move to a larger plan",
  ),
  CONNECTIONS_LIMITED: entry(
    429,
    (limit) =>
      `${limit} requests open at this process, which is the most: close some, or let one stream serve several readers`,
  ),
  HEADERS_TOO_LARGE: entry(
    431,
    'the request line and the headers are larger than 16 KiB together: pass large values in the body, and a cursor unchanged',
  ),
  INTERNAL: entry(500, 'an unexpected error: quote the requestId to the operator'),
  STORE_UNAVAILABLE: entry(503, 'the store cannot take the request now: retry with the same Idempotency-Key'),
};

/** The error for a code, with status and message from a table; by default the table of errors that any route may answer. */
export function apiError(
  code: string,
  detail = '',
  headers: Readonly<Record<string, string>> = {},
  errors: ErrorTable = commonErrors,
): ApiError {
  const entry = errors[code];
  if (!entry) return apiError('INTERNAL', '', headers);
  const advice = typeof entry.advice === 'function' ? entry.advice(detail) : entry.advice;
  return new ApiError(entry.status, code, entry.message(detail), headers, undefined, advice);
}

/** 401. Does not reveal whether the key exists. */
export function invalidApiKey(): ApiError {
  return apiError('INVALID_API_KEY', '', { 'WWW-Authenticate': 'Bearer error="invalid_token"' });
}
