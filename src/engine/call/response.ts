import type { Answered, Fields } from '../declare/field.ts';
import { One } from '../declare/record.ts';
import type { Result } from '../route/hold.ts';
import { stringify } from '../route/json.ts';
import type { LinkTo } from '../route/link.ts';
import type { Answer, Input, Route } from '../route/route.ts';

/** The answer to a call, ready to be written. Without text and stream it has no content. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers name another type. */
  readonly text?: string | undefined;
  readonly stream?: AsyncIterable<string>;
}

/** Writes an answer as text. */
export function respond({ status, body, stream }: Answer, headers: Response['headers']): Response {
  if (stream) return { status, headers, stream };
  return { status, headers, text: body === undefined ? undefined : stringify(body) };
}

/** Returns a function that turns a result into an answer, by the route's `answer` or its default. */
export function answerer(route: Route): (result: Result, input: Input, linkTo: LinkTo) => Answer {
  const status = Number(Object.keys(route.success)[0]);
  const hasBody = route.success[status] !== null;
  const [member, ...others] = Object.values(route.reply);
  const isRecord = member instanceof One && others.length === 0;
  return ({ note, reply }, input, linkTo) => {
    if (reply === undefined) return { status: 204 };
    if (route.answer) return route.answer(reply as Answered<Fields>, input, note.replayed, linkTo);
    if (!hasBody) return { status };
    return { status, body: isRecord ? Object.values(reply as object)[0] : reply };
  };
}
