import type { Operation } from '../../engine/call/operation.ts';
import type { Handler } from '../http/context.ts';
import { HttpCall } from '../http/http-call.ts';
import type { HttpService } from '../http/service.ts';
import { Batch } from './batch.ts';

/** `POST /v1/spaces/{spaceId}/batch`. */
export function batchGateway(service: HttpService, operations: ReadonlyMap<string, Operation>): Handler {
  const batch = new Batch(service, operations);
  const { route, pattern, log } = batch;
  return {
    method: route.method,
    pattern,
    log,
    maxBodyBytes: route.maxBodyBytes,
    handle: (ctx, params) => batch.answer(new HttpCall(ctx, params), ctx.state),
  };
}
