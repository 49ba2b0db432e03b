import type { BatchSlot } from '../../engine/call/batch-slot.ts';
import type { Call } from '../../engine/call/call.ts';
import { checkIdempotencyKey } from '../../engine/call/call-args.ts';
import { callFromObject } from '../../engine/call/call-from-object.ts';
import { isObject, objectOf, readParam } from '../../engine/call/read-input.ts';
import { batchRoute, maxAtomicCalls, maxCalls } from '../../engine/route/batch-route.ts';
import { apiError, invalid } from '../../engine/route/errors.ts';
import { elements } from '../../engine/route/json.ts';
import { defaultMaxBodyBytes } from '../../engine/route/route.ts';

const neverAborts = new AbortController().signal;

/** The list of a batch. */
export interface List {
  /** Whether all its calls happen or none. */
  readonly isAtomic: boolean;
  readonly elements: readonly Element[];
}

/** An element of the list. */
export interface Element {
  /** As sent. */
  readonly name: unknown;
  readonly text: string;
  /** As sent. */
  readonly expect: unknown;
  /** As sent; null counts as absent. */
  readonly idempotencyKey: unknown;
  /** Its arguments, with references to other calls as sent. */
  readonly fields: Readonly<Record<string, unknown>>;
  /**
   * The call it describes, with these fields: at its turn, or as part of the call with this `identity`. Throws
   * PAYLOAD_TOO_LARGE if it is too large for a request of its own.
   */
  call(
    fields: Readonly<Record<string, unknown>>,
    as: { readonly slot: BatchSlot } | { readonly identity: string },
  ): Call;
}

/** Reads the calls of a batch. Throws VALIDATION_FAILED or IDEMPOTENCY_KEY_INVALID if the batch is refused as a whole. */
export function readElements(request: Call): List {
  const { origin, spaceId, idempotencyKey: outerKey } = request;
  readParam(spaceId, 'spaceId', origin);
  const { calls, atomic, ...others } = objectOf(request.parts(batchRoute).body);
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw invalid(`${other} is not a field of the body of this request, which takes calls, atomic`);
  if (typeof (atomic ?? false) !== 'boolean') throw invalid('atomic must be true or false');
  const [max, only] = atomic === true ? [maxAtomicCalls, ', as atomic is true'] : [maxCalls, ''];
  if (!Array.isArray(calls) || calls.length < 1 || calls.length > max) {
    const isMissing = calls === undefined ? ' is missing: it' : '';
    throw invalid(`calls${isMissing} must be a list of 1 to ${max} calls${only}`);
  }
  if (outerKey !== undefined) checkIdempotencyKey(outerKey, origin);
  const texts = elements(request.text, 'calls');
  const list = calls.map((element: unknown, index): Element => {
    if (!isObject(element) || Array.isArray(element))
      throw invalid(`calls[${index}] must be an object, like {"call":"message.send", …}`);
    const { call: name, expect, idempotencyKey: given, ...fields } = element;
    const idempotencyKey = given ?? undefined;
    const derivedKey = outerKey === undefined ? undefined : `${outerKey}:${index}`;
    const text = texts[index] ?? '';
    return {
      name,
      text,
      expect: expect ?? undefined,
      idempotencyKey,
      fields,
      call: (args, as) => {
        if (Buffer.byteLength(text) > defaultMaxBodyBytes) throw apiError('PAYLOAD_TOO_LARGE');
        const { caller, requestId, headers, trace, isModel = false } = request;
        return callFromObject(args, {
          caller,
          requestId,
          headers,
          isModel,
          trace,
          spaceId,
          text,
          idempotencyKey: idempotencyKey ?? derivedKey,
          hasDerivedKey: idempotencyKey === undefined,
          // An HTTP request never has this identity.
          identity: `batch\n${text}`,
          ...as,
          gone: () => neverAborts,
          ifUnwritten: (undo) => request.ifUnwritten(undo),
        });
      },
    };
  });
  return { isAtomic: atomic === true, elements: list };
}
