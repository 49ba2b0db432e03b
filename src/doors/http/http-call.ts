import type { IncomingHttpHeaders } from 'node:http';
import type { Call, CallParts, Origin } from '../../engine/call/call.ts';
import type { Operation } from '../../engine/call/operation.ts';
import { type Caller, readCaller } from '../../engine/route/caller.ts';
import { readTrace, type TraceContext } from '../../engine/route/trace.ts';
import type { Context, Handler } from './context.ts';

const origin: Origin = {
  parameter: 'a query parameter',
  field: 'a field of the body',
  prefix: 'query parameter ',
  path: ' in the path',
  key: 'the header Idempotency-Key',
};

const noQuery: CallParts['query'] = {};

/** Answers each request as one call of the operation. */
export function handlerOf(operation: Operation): Handler {
  const { route, pattern, log } = operation;
  return {
    method: route.method,
    pattern,
    log,
    maxBodyBytes: route.maxBodyBytes,
    handle: (ctx, params) => operation.answer(new HttpCall(ctx, params)),
  };
}

export class HttpCall implements Call {
  readonly caller: Caller;
  readonly text: string;
  readonly origin = origin;
  readonly #ctx: Context;
  readonly #params: CallParts['params'];

  /** Throws UNAUTHENTICATED or INVALID_API_KEY. */
  constructor(ctx: Context, params: CallParts['params']) {
    ctx.state.caller ??= readCaller(ctx.req.headers.authorization);
    this.caller = ctx.state.caller;
    const { rawBody } = ctx.request;
    this.text = typeof rawBody === 'string' ? rawBody : '';
    this.#ctx = ctx;
    this.#params = params;
  }

  get requestId(): string {
    return this.#ctx.state.requestId;
  }

  get headers(): IncomingHttpHeaders {
    return this.#ctx.req.headers;
  }

  get trace(): TraceContext {
    return readTrace(this.headers);
  }

  get spaceId(): unknown {
    return this.#params['spaceId'];
  }

  get body(): unknown {
    return this.text === '' ? {} : this.#ctx.request.body;
  }

  get idempotencyKey(): unknown {
    return this.headers['idempotency-key'];
  }

  get identity(): string {
    return `${this.#ctx.req.method} ${this.#ctx.req.url}\n${this.text}`;
  }

  parts(): CallParts {
    const query = this.#ctx.req.url?.includes('?') ? this.#ctx.query : noQuery;
    return { params: this.#params, query, body: this.body };
  }

  ifUnwritten(undo: () => void): void {
    const { state } = this.#ctx;
    state.unwritten ??= [];
    state.unwritten.push(undo);
  }

  gone(): AbortSignal {
    const { req, res } = this.#ctx;
    const controller = new AbortController();
    if (res.closed || req.socket.destroyed) controller.abort();
    else res.once('close', () => controller.abort());
    return controller.signal;
  }
}
