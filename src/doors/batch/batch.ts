import { authorizeThenRefuse } from '../../engine/call/authorize.ts';
import type { Call, Response } from '../../engine/call/call.ts';
import type { Operation } from '../../engine/call/operation.ts';
import { refusalOf } from '../../engine/call/refusal.ts';
import { Raw } from '../../engine/declare/raw.ts';
import { type ReplyHead, readHead } from '../../engine/declare/reply.ts';
import { callArgs } from '../../engine/route/args.ts';
import { batchRoute, isBatched, isOffered, wrongCall } from '../../engine/route/batch-route.ts';
import { ApiError, invalid } from '../../engine/route/errors.ts';
import { stringify } from '../../engine/route/json.ts';
import type { CallService } from '../../engine/route/service.ts';
import { Atomic } from './atomic.ts';
import { type Element, type List, readElements } from './calls.ts';
import { type Answers, mayRefer, resolved } from './references.ts';
import { Slots } from './slots.ts';

const callRule =
  'call must be the name of a POST, PUT, PATCH or DELETE of /openapi.json, like message.send; those of destinations and batch itself have requests of their own';

interface BatchResult extends Response {
  readonly code?: string;
}

/** The members of a batch's line in the log. */
export interface BatchState {
  calls?: number;
  /** How many calls were refused, by code. */
  refused?: Readonly<Record<string, number>>;
}

/** Makes the calls of a list, each in its turn, for HTTP and MCP. */
export class Batch {
  readonly route = batchRoute;
  readonly pattern = `/v1/spaces/:spaceId${batchRoute.path}`;
  readonly log: CallService['log'];
  readonly #service: CallService;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #atomic: Atomic;

  /** operations: by call name. */
  constructor(service: CallService, operations: ReadonlyMap<string, Operation>) {
    this.#service = service;
    this.#operations = operations;
    this.#atomic = new Atomic(service, operations);
    this.log = service.log.child({ route: this.pattern, script: batchRoute.script });
  }

  /** Throws if the batch is refused as a whole. */
  async answer(batch: Call, state: BatchState = {}): Promise<Response> {
    const { elements, isAtomic } = await this.#read(batch);
    state.calls = elements.length;
    if (isAtomic) {
      const { results, headers } = await this.#atomic.answer(elements, batch);
      return { status: 200, headers, text: textOf(results) };
    }
    const [head] = await this.#admit(batch, String(batch.spaceId).toLowerCase());
    const slots = new Slots(this.#service.scripts);
    const answers: Promise<BatchResult>[] = [];
    for (const [index, element] of elements.entries())
      answers.push(this.#resultOf(element, index, batch, slots, answers));
    const results = await Promise.all(answers);
    const refused: Record<string, number> = {};
    for (const { code } of results) if (code !== undefined) refused[code] = (refused[code] ?? 0) + 1;
    if (Object.keys(refused).length > 0) state.refused = refused;
    return { status: 200, headers: ratesOf(readHead(String(head)), results), text: textOf(results) };
  }

  async #read(batch: Call): Promise<List> {
    try {
      return readElements(batch);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw await authorizeThenRefuse(error, batch.spaceId, (spaceId) => this.#admit(batch, spaceId));
    }
  }

  /** Checks that the caller may enter the space. Counts nothing. */
  #admit({ caller, requestId }: Call, spaceId: string) {
    const { script, call: callName } = batchRoute;
    return this.#service.scripts.execute(script, caller.org, {
      ...callArgs,
      apiKeyDigest: caller.apiKeyDigest,
      spaceId,
      callName,
      requestId,
    });
  }

  async #resultOf(element: Element, index: number, batch: Call, slots: Slots, answers: Answers): Promise<BatchResult> {
    const { name, text, fields, expect } = element;
    const found = typeof name === 'string' ? this.#operations.get(name) : undefined;
    const operation = found && isBatched(found.route) && isOffered(found.route, batch) ? found : undefined;
    const slot = slots.next();
    try {
      const refers = operation && mayRefer(text);
      const call = element.call(refers ? await resolved(fields, index, operation.route, answers) : fields, { slot });
      if (expect !== undefined) throw invalid('expect is only taken where atomic is true');
      if (!operation) throw wrongCall(name, batch, callRule);
      return await operation.answer(call);
    } catch (thrown) {
      const { code, answer } = refusalOf(thrown, this.#service, {
        requestId: batch.requestId,
        route: operation?.pattern ?? this.pattern,
        log: operation?.log ?? this.log,
      });
      return { ...answer, code };
    } finally {
      slot.end();
    }
  }
}

function textOf(results: readonly Response[]): string {
  return stringify({
    results: results.map(({ status, text, headers }) => ({
      status,
      body: text === undefined ? null : new Raw(text),
      replayed: headers['Idempotent-Replayed'] !== undefined,
      ...(status === 429 && { retryAfter: Number(headers['Retry-After']) }),
    })),
  });
}

/** The rates after the last call. */
function ratesOf(head: ReplyHead, results: readonly BatchResult[]): Record<string, string> {
  const { headers } = results.findLast((result) => 'RateLimit' in result.headers) ?? head;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('RateLimit')));
}
