import type { Answered, Fields } from '../declare/field.ts';
import { One } from '../declare/record.ts';
import { stringify } from '../route/json.ts';
import type { LinkTo } from '../route/link.ts';
import type { ScriptResult } from '../route/long-poll.ts';
import type { Input, Route, RouteAnswer } from '../route/route.ts';

/** The answer to a call, ready to be written. Without text and stream it has no content. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers name another type. */
  readonly text?: string | undefined;
  readonly stream?: AsyncIterable<string>;
}

/** Writes an answer as text. */
export function respond({ status, body, stream }: RouteAnswer, headers: Response['headers']): Response {
  if (stream) return { status, headers, stream };
  return { status, headers, text: body === undefined ? undefined : stringify(body) };
}

/** Returns a function that turns a result into an answer, by the route's `answer` or its default. */
export function answerer(route: Route): (result: ScriptResult, input: Input, linkTo: LinkTo) => RouteAnswer {
  const status = Number(Object.keys(route.success)[0]);
  const hasBody = route.success[status] !== null;
  const [member, ...others] = Object.values(route.reply);
  const isRecord = member instanceof One && others.length === 0;
  return ({ head, reply }, input, linkTo) => {
    if (reply === undefined) return { status: 204 };
    if (route.answer) return route.answer(reply as Answered<Fields>, input, head.replayed, linkTo);
    if (!hasBody) return { status };
    return { status, body: isRecord ? Object.values(reply as object)[0] : reply };
  };
}
