import { refusalOf } from '../../engine/call/refusal.ts';
import { StoreUnavailable } from '../../engine/redis/scripts.ts';
import type { Step } from './context.ts';
import { notFound } from './home.ts';
import type { HttpService } from './service.ts';

/** Turns errors of later steps into answers. */
export function answerErrors(service: HttpService): Step {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const { state } = ctx;
      const refused = refusalOf(thrown, service, state);
      state.code = refused.code;
      if (thrown instanceof StoreUnavailable) state.reason = thrown.message;
      const text = state.match?.handler.errorBody?.(refused.error) ?? refused.answer.text;
      const answer = { ...refused.answer, text };
      const isPage = refused.code === 'ROUTE_NOT_FOUND' && service.routes.length > 0;
      state.answer = isPage ? notFound(ctx, answer) : answer;
    }
  };
}
