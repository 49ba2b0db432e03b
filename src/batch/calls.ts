import type { Call } from '../call/call.ts';
import { apiError, invalid } from '../call/errors.ts';
import { callFromFields } from '../call/from-fields.ts';
import { checkIdempotencyKey } from '../call/idempotency.ts';
import { elements } from '../call/json.ts';
import { isObject, objectOf, readParam } from '../call/read-input.ts';
import { defaultMaxBodyBytes } from '../call/route.ts';
import type { Turn } from '../call/turn.ts';
import type { HttpCall } from '../http/http-call.ts';
import { maxCalls } from './route.ts';

const neverAborts = new AbortController().signal;

/** An element of the list of a batch. */
export interface Element {
  /** As sent. */
  readonly name: unknown;
  readonly text: string;
  /** Its arguments, with references to other calls as they were sent. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The call that it describes. Throws PAYLOAD_TOO_LARGE for one that would be too large for a request of its own. */
  call(turn: Turn, fields: Readonly<Record<string, unknown>>): Call;
}

/** Reads the calls of a batch. Throws VALIDATION_FAILED or IDEMPOTENCY_KEY_INVALID if the batch is refused as a whole. */
export function readElements(request: HttpCall): readonly Element[] {
  const { origin, spaceId, idempotencyKey: outerKey } = request;
  readParam(spaceId, 'spaceId', origin);
  const { calls, ...others } = objectOf(request.body);
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`${other} is not a field of the body of this request, which takes calls`);
  if (!Array.isArray(calls) || calls.length < 1 || calls.length > maxCalls) {
    const isMissing = calls === undefined ? ' is missing: it' : '';
    throw invalid(`calls${isMissing} must be a list of 1 to ${maxCalls} calls`);
  }
  if (outerKey !== undefined) checkIdempotencyKey(outerKey, origin);
  const texts = elements(request.text, 'calls');
  return calls.map((element: unknown, index) => {
    if (!isObject(element) || Array.isArray(element))
      throw invalid(`calls[${index}] must be an object, like {"call":"message.send", …}`);
    const { call: name, idempotencyKey, ...fields } = element;
    const derivedKey = outerKey === undefined ? undefined : `${outerKey}:${index}`;
    const text = texts[index] ?? '';
    return {
      name,
      text,
      fields,
      call: (turn, args) => {
        if (Buffer.byteLength(text) > defaultMaxBodyBytes) throw apiError('PAYLOAD_TOO_LARGE');
        const { caller, requestId, headers, trace } = request;
        return callFromFields(args, {
          caller,
          requestId,
          headers,
          trace,
          spaceId,
          text,
          idempotencyKey: idempotencyKey ?? derivedKey,
          hasDerivedKey: (idempotencyKey ?? undefined) === undefined,
          // No request of its own has this.
          identity: `batch\n${text}`,
          turn,
          gone: () => neverAborts,
        });
      },
    };
  });
}
