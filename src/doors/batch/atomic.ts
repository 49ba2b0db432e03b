import { authorizeThenRefuse } from '../../engine/call/authorize.ts';
import type { Call, Response } from '../../engine/call/call.ts';
import { addIdempotency, argsOfCall, type CallArgs, permissionOf } from '../../engine/call/call-args.ts';
import { callFromObject } from '../../engine/call/call-from-object.ts';
import { announce, repeated } from '../../engine/call/executor.ts';
import { type Operation, respond, type ValidCall } from '../../engine/call/operation.ts';
import { isObject } from '../../engine/call/read-input.ts';
import { toApiError } from '../../engine/call/refusal.ts';
import { readHead } from '../../engine/declare/reply.ts';
import type { Reply } from '../../engine/declare/value.ts';
import { type MixedCall, Refusal } from '../../engine/redis/scripts.ts';
import { type Args, joinArgs } from '../../engine/route/args.ts';
import { batchRoute, isAtomic, isOffered, wrongCall } from '../../engine/route/batch-route.ts';
import { ApiError, apiError, invalid } from '../../engine/route/errors.ts';
import { maxReceivedBytes, pathNames, type Route } from '../../engine/route/route.ts';
import { statusOf } from '../../engine/route/route-errors.ts';
import type { CallService } from '../../engine/route/service.ts';
import type { Element } from './calls.ts';
import { ComparedAnswer } from './sources.ts';
import { References, readExpect } from './terms.ts';

/** A call of an atomic batch, ready for the store. */
interface Ready extends ValidCall {
  readonly operation: Operation;
  /** See lua/lib/answers; '' for none. */
  readonly terms: string;
}

/** The results of the calls, and the headers of the answer. */
export interface CallOutcome {
  readonly results: readonly Response[];
  readonly headers: Response['headers'];
}

const openingScript = 'space/openBatch';
const callRule =
  'call must be the name of a call that an atomic batch takes: most POST, PUT, PATCH and DELETE of /openapi.json, and views of one record, like budget.view';
/** The result of a read in a batch that repeats an earlier one. */
const notRead: Response = { status: 200, headers: { 'Idempotent-Replayed': 'true' } };

/** Answers atomic batches: all calls happen in one step, or none does. */
export class Atomic {
  readonly #service: CallService;
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(service: CallService, operations: ReadonlyMap<string, Operation>) {
    this.#service = service;
    this.#operations = operations;
  }

  /** Throws the refusal of a call, with its place. */
  async answer(elements: readonly Element[], batch: Call): Promise<CallOutcome> {
    const { org } = batch.caller;
    const operations = elements.map(({ name }) => this.#operationOf(name, batch));
    const permissions = elements.map(({ fields }, index) => permissionFor(operations[index]?.route, fields, batch));
    const opening = openingOf(batch, operations, permissions);
    const placed = (error: ApiError, index: number): ApiError => {
      const element = elements[index];
      return element ? error.with({ inBatch: { index, call: String(element.name) } }) : error;
    };
    /** The first call that needs the missing permission is refused. */
    const denied = (thrown: unknown): unknown => {
      if (!(thrown instanceof Refusal && thrown.code === 'PERMISSION_DENIED')) return thrown;
      const index = permissions.findIndex((text) => text.split(' ').includes(thrown.detail));
      return placed(toApiError(thrown, this.#service.errors), index);
    };
    const references = new References();
    const ready: Ready[] = [];
    try {
      for (const element of elements)
        ready.push(readyOf(element, ready.length, operations[ready.length], references, batch));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw await authorizeThenRefuse(placed(error, ready.length), batch.spaceId, (spaceId) =>
        this.#service.scripts.execute('space/admit', org, { ...opening.args, spaceId }).catch((thrown) => {
          throw denied(thrown);
        }),
      );
    }
    try {
      const spaceId = String(batch.spaceId).toLowerCase();
      const { placeholders } = references;
      const { args, batchDigest } = opening;
      const openingArgs = { ...args, spaceId, batchDigest, placeholders: placeholders.join(' ') };
      const replies = await this.#execute(ready, openingArgs, org);
      return this.#outcome(ready, replies, placeholders, org);
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      // The opening is the first call run.
      const index = Number((thrown as Refusal & { readonly index?: number }).index) - 1;
      const refused = ready[index];
      if (!refused) throw denied(thrown);
      throw placed(tooLarge(thrown) ?? this.#refusal(thrown, refused), index);
    }
  }

  #operationOf(name: unknown, batch: Call): Operation | undefined {
    const operation = typeof name === 'string' ? this.#operations.get(name) : undefined;
    return operation && isAtomic(operation.route) && isOffered(operation.route, batch) ? operation : undefined;
  }

  /** Runs the calls in one step; again if one of them is sent back. */
  #execute(ready: readonly Ready[], opening: Args, org: string): Promise<Reply[]> {
    return repeated(this.#service, org, (changes) => {
      const calls = ready.map(({ operation: { route }, args, terms }, index): MixedCall => {
        // The opening was counted in place of the first call.
        const rateClass = index === 0 ? 'held' : String(opening['rateClass']);
        return { script: route.script, args: joinArgs(args, route.asRecord?.args, { rateClass }, changes), terms };
      });
      const first: MixedCall = { script: openingScript, args: joinArgs(opening, changes) };
      return this.#service.scripts.executeWhole(org, [first, ...calls], maxReceivedBytes);
    });
  }

  /** The error of a call that was refused. */
  #refusal(refusal: Refusal, { operation: { route, pattern }, input }: Ready): ApiError {
    const { errors } = this.#service;
    const detail = route.detail?.(refusal, input) ?? refusal.detail;
    const status = statusOf(errors, refusal.code, pattern, detail);
    return toApiError(new Refusal(refusal.code, refusal.head, detail), errors).with({ status });
  }

  /** Turns the replies into answers. The first reply is the opening's: its head, then the ids of the references. */
  #outcome(
    ready: readonly Ready[],
    [first = [], ...replies]: readonly Reply[],
    placeholders: readonly string[],
    org: string,
  ): CallOutcome {
    const [, ...ids] = first;
    const results = ready.map((call, index): Response => {
      const reply = replies[index] ?? [];
      if (isEmpty(reply)) return notRead;
      const answer = answerTo(reply, call);
      const { wake } = readHead(String(reply[0]));
      if (wake !== '') announce(this.#service, org, wake);
      const text = placeholders.reduce((text, one, at) => text?.replaceAll(one, String(ids[at])), answer.text);
      return { ...answer, text };
    });
    const last = replies.findLast((reply) => !isEmpty(reply)) ?? first;
    const isReplayed = results.some(({ headers }) => headers['Idempotent-Replayed'] !== undefined);
    return { results, headers: { ...readHead(String(last[0])).headers, ...(isReplayed && notRead.headers) } };
  }
}

/** Whether a read was left out: its reply does not even have a head. */
const isEmpty = ([head, ...values]: Reply): boolean => head === '' && values.length === 0;

const tooLarge = ({ code, detail, head }: Refusal): ApiError | undefined =>
  code === 'PAYLOAD_TOO_LARGE' && detail === 'answers'
    ? apiError(code, '', readHead(head).headers).with({ message: 'the answers are larger than 4 MiB together' })
    : undefined;

/** The permissions that a call needs; '' if there is no such call. */
function permissionFor(route: Route | undefined, fields: Element['fields'], batch: Call): string {
  return route ? permissionOf(route, callFromObject(fields, batch)) : '';
}

/** Turns a reply, which starts with its head, into the answer, without the lists of a record. */
function answerTo([first, ...values]: Reply, { operation, ...valid }: Ready): Response {
  const head = readHead(String(first));
  const { status, body } = operation.answerTo({ head, reply: operation.reader(values) }, valid);
  const { without = [] } = operation.route.asRecord ?? {};
  const shown = isObject(body)
    ? Object.fromEntries(Object.entries(body).filter(([name]) => !without.includes(name)))
    : body;
  return respond({ status, body: shown }, head.headers);
}

/** The arguments of lib/call for the opening, which is checked for everything that its calls need. */
function openingOf(
  batch: Call,
  operations: readonly (Operation | undefined)[],
  permissions: readonly string[],
): { readonly args: CallArgs; readonly batchDigest: string } {
  const args = argsOfCall(batch, batchRoute);
  args.permission = [...new Set(permissions.flatMap((text) => text.split(' ')))].filter(Boolean).join(' ');
  args.rateClass = rateClassOf(operations.map((operation) => operation?.route));
  addIdempotency(args, batch, { ...batchRoute, idempotency: 'optional' });
  return { args: { ...args, idempotencyDigest: '' }, batchDigest: args.idempotencyDigest };
}

/** The rate class of a batch: the most restricted of its calls. */
function rateClassOf(routes: readonly (Route | undefined)[]): string {
  const classes = new Set(routes.map((route) => route?.rate ?? 'ordinary'));
  return (['ordinary', 'operator', 'limits'] as const).find((one) => classes.has(one)) ?? 'recovery';
}

/** Reads a call. Throws ApiError for a mistake. */
function readyOf(
  element: Element,
  index: number,
  operation: Operation | undefined,
  references: References,
  batch: Call,
): Ready {
  const { name, idempotencyKey, expect } = element;
  if (!operation) throw wrongCall(name, batch, callRule);
  const { route } = operation;
  if (idempotencyKey !== undefined)
    throw invalid('idempotencyKey is not taken here: the Idempotency-Key of the request covers an atomic batch');
  if (route.idempotency === 'required' && batch.idempotencyKey === undefined)
    throw apiError('IDEMPOTENCY_KEY_REQUIRED');
  const { fields, from, distinct } = references.placed(element.fields, index, route);
  const call = element.call(fields, { identity: batch.identity });
  if (route.method === 'GET') checkRead(fields, route);
  const valid = operation.read(call, argsOfCall(call, route));
  const answer = new ComparedAnswer(route, valid.input);
  references.answers.push(answer);
  const wanted = references.placed({ expect }, index, route);
  const expected = readExpect(wanted.fields['expect'], answer);
  const terms = { from: [...from, ...wanted.from], distinct, expect: expected };
  const hasTerms = terms.from.length > 0 || expected.length > 0;
  return { operation, ...valid, terms: hasTerms ? JSON.stringify(terms) : '' };
}

/** A read takes only the ids in its path: it neither waits nor pages through lists. */
function checkRead(fields: Element['fields'], route: Route): void {
  const path = pathNames(route);
  const other = Object.keys(fields).find((field) => !path.includes(field));
  if (other !== undefined)
    throw invalid(`${other} is not a field of ${route.call} in an atomic batch, which takes ${path.join(', ')}`);
}
