import { type Fields, flag, raw, time } from '../../engine/declare/field.ts';
import { exactly, readMembers, type Shown } from '../../engine/declare/record.ts';
import { looksAt, ofEachKind, wantedOf } from '../../engine/route/list-limits.ts';
import { type Route, read } from '../../engine/route/route.ts';

/** waits: the members that rooms declare for it. */
export function waitsRoute(waits: Fields): Route {
  const shown = Object.entries(waits).map(([name, field]) => [name, field.schema]);
  return read({
    path: '/ops/waits',
    call: 'waits.get',
    needsAllMailboxes: true,
    summary: 'What each waiting task and waiter waits for, and who holds what',
    description:
      'A task waits for others of its run that are before it (`waitsFor` HEAD_OF_LINE, `position`), for its `readyAt` ' +
      '(DELAY, or RETRY after an attempt), for what `blockedBy` names (BLOCKED), for a resume (PAUSED), or for somebody to receive it (RECEIVER). A waiter waits for others in its ' +
      'queue (HEAD_OF_LINE), for units of the next window (WINDOW) or for the end of a cooldown (COOLDOWN); it is granted at ' +
      '`blockedUntil` at the earliest, unless units are given back or the limit is raised. A hold waits for others ' +
      '(HEAD_OF_LINE), for units (UNITS) or for the plan’s agents (AGENTS).',
    query: ofEachKind(waits),
    title: 'See who waits for what',
    tool: 'See how many tasks and agents wait, by what they wait for, and how much is held. Call it when nothing seems to move. With full true each of them: since when, who holds which message, quota or pool until when; pass `state` (a reason of the counts) and a small limit.',
    isBrief: true,
    success: { 200: exactly({ asOf: time().schema, ...Object.fromEntries(shown), truncated: flag().schema }) },
    refuses: [],
    script: 'space/waits',
    args: ({ query }) => ({ maxRows: looksAt(query) }),
    reply: { asOf: time(), lists: raw<Shown[]>(), truncated: flag() },
    answer: ({ asOf, lists, truncated }, { query }) => {
      const wanted = wantedOf(readMembers(waits, lists), query);
      return { status: 200, body: { asOf, ...wanted.lists, truncated: truncated || wanted.isCut } };
    },
  });
}
