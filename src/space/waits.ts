import { type Route, read } from '../call/route.ts';
import { type Fields, flag, raw, time } from '../declare/field.ts';
import { exactly, readMembers, type Shown } from '../declare/record.ts';

/** Rows shown of each list. */
const maxRows = 200;

/** `waits`: the members that rooms declare for it. */
export function waitsRoute(waits: Fields): Route {
  const shown = Object.entries(waits).map(([name, field]) => [name, field.schema]);
  return read({
    path: '/ops/waits',
    call: 'waits.get',
    needsAllMailboxes: true,
    summary: 'What each waiting task and waiter waits for, and who holds what',
    description:
      'A task waits for others of its run that are before it (`waitsFor` HEAD_OF_LINE, `position`), for its `readyAt` ' +
      '(DELAY, or RETRY after an attempt), for what `blockedBy` names (BLOCKED), or for somebody to receive it (RECEIVER). A waiter waits for others in its ' +
      'queue (HEAD_OF_LINE), for units of the next window (WINDOW) or for the end of a cooldown (COOLDOWN), and is not ' +
      'granted before `blockedUntil`.',
    title: 'See who waits for what',
    tool: 'See which tasks and agents wait, for what and since when, and who holds which message or quota until when. Call it when nothing seems to move.',
    success: { 200: exactly({ asOf: time().schema, ...Object.fromEntries(shown), truncated: flag().schema }) },
    refuses: [],
    script: 'space/waits',
    args: () => ({ maxRows }),
    reply: { asOf: time(), lists: raw<Shown[]>(), truncated: flag() },
    answer: ({ asOf, lists, truncated }) => ({
      status: 200,
      body: { asOf, ...readMembers(waits, lists), truncated },
    }),
  });
}
