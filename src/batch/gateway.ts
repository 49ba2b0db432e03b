import { admitMistake } from '../call/admit.ts';
import { callArgs } from '../call/args.ts';
import { ApiError, invalid } from '../call/errors.ts';
import { stringify } from '../call/json.ts';
import { type Note, readNote } from '../call/note.ts';
import type { Operation } from '../call/operation.ts';
import { refusalOf } from '../call/refusal.ts';
import type { Response } from '../call/response.ts';
import { Raw } from '../declare/raw.ts';
import type { Handler } from '../http/context.ts';
import { HttpCall } from '../http/http-call.ts';
import type { HttpService } from '../http/service.ts';
import { Atomic } from './atomic.ts';
import { type Element, type List, readElements } from './calls.ts';
import { type Answers, mayRefer, resolved } from './references.ts';
import { batchRoute, isBatched } from './route.ts';
import { Turns } from './turns.ts';

const callRule =
  'call must be the name of a POST, PUT, PATCH or DELETE of /openapi.json, like message.send; those of destinations and batch itself have requests of their own';

interface Result extends Response {
  readonly code?: string;
}

/** `POST /v1/spaces/{spaceId}/batch`: makes the calls of the list, each in its turn. */
export function batchGateway(service: HttpService, operations: ReadonlyMap<string, Operation>): Handler {
  const { method, path, script, maxBodyBytes, call: callName } = batchRoute;
  const pattern = `/v1/spaces/:spaceId${path}`;
  const log = service.log.child({ route: pattern, script });
  const atomic = new Atomic(service, operations);
  /** Whether the caller may enter the space: nothing is counted. */
  const admit = ({ caller, requestId }: HttpCall, spaceId: string) =>
    service.scripts.run(script, caller.org, {
      ...callArgs,
      apiKeyDigest: caller.apiKeyDigest,
      spaceId,
      callName,
      requestId,
    });
  const resultOf = async (
    element: Element,
    index: number,
    requestId: string,
    turns: Turns,
    answers: Answers,
  ): Promise<Result> => {
    const { name, text, fields, expect } = element;
    const found = typeof name === 'string' ? operations.get(name) : undefined;
    const operation = found && isBatched(found.route) ? found : undefined;
    const turn = turns.next();
    try {
      const refers = operation && mayRefer(text);
      const call = element.call(refers ? await resolved(fields, index, operation.route, answers) : fields, { turn });
      if (expect !== undefined) throw invalid('expect is only taken where atomic is true');
      if (!operation)
        throw invalid(name === undefined ? callRule.replace('must be', 'is missing: it must be') : callRule);
      return await operation.answer(call);
    } catch (thrown) {
      const { code, answer } = refusalOf(thrown, service, {
        requestId,
        route: operation?.pattern ?? pattern,
        log: operation?.log ?? log,
      });
      return { ...answer, code };
    } finally {
      turn.end();
    }
  };
  return {
    method,
    pattern,
    log,
    maxBodyBytes,
    handle: async (ctx, params) => {
      const request = new HttpCall(ctx, params);
      let list: List;
      try {
        list = readElements(request);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        throw await admitMistake(error, params['spaceId'], (spaceId) => admit(request, spaceId));
      }
      const { elements, isAtomic } = list;
      if (isAtomic) {
        ctx.state.calls = elements.length;
        const { results, headers } = await atomic.answer(elements, request);
        return { status: 200, headers, text: textOf(results) };
      }
      const [note] = await admit(request, String(params['spaceId']).toLowerCase());
      const turns = new Turns(service.scripts);
      const answers: Promise<Result>[] = [];
      for (const [index, element] of elements.entries())
        answers.push(resultOf(element, index, request.requestId, turns, answers));
      const results = await Promise.all(answers);
      const refused: Record<string, number> = {};
      for (const { code } of results) if (code !== undefined) refused[code] = (refused[code] ?? 0) + 1;
      ctx.state.calls = elements.length;
      if (Object.keys(refused).length > 0) ctx.state.refused = refused;
      return { status: 200, headers: ratesOf(readNote(String(note)), results), text: textOf(results) };
    },
  };
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
function ratesOf(note: Note, results: readonly Result[]): Record<string, string> {
  const { headers } = results.findLast((result) => 'RateLimit' in result.headers) ?? note;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('RateLimit')));
}
