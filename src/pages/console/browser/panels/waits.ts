import { el } from '../dom.ts';
import { count, plural, shortId } from '../format.ts';
import {
  age,
  blockersOf,
  mailboxLink,
  messageLink,
  named,
  objectLink,
  onlySome,
  type Row,
  scopeLink,
  shownOf,
  type TableText,
  table,
} from '../parts.ts';
import type { Waits } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { panel } from './panel.ts';
import { waitingRows } from './pools.ts';
import { allowanceLink } from './resources.ts';

const reasons: Readonly<Record<string, string>> = {
  HEAD_OF_LINE: 'others are before it',
  WINDOW: 'the window is used up',
  COOLDOWN: 'the allowance is in cooldown',
  DELAY: 'delayed',
  RETRY: 'paused after a failed attempt',
  RECEIVER: 'nobody has received it',
  BLOCKED: 'it waits for other work',
  PAUSED: 'its run or mailbox is paused',
};

const unitsText: TableText = {
  caption: 'Waiting for units, longest first',
  heads: ['Who', 'For', 'Since', 'Because', 'Run'],
  empty: 'Nobody is waiting for units.',
  isCaptionVisible: true,
};

const workerText: TableText = {
  caption: 'Waiting for a worker, longest first',
  heads: ['Who', 'For', 'Since', 'Because', 'Run'],
  empty: 'No task is waiting for a worker.',
  isCaptionVisible: true,
};

interface Dated extends Row {
  /** Rows without a time come last. */
  readonly since: string | undefined;
}

function byAge(rows: readonly Dated[]): Row[] {
  const at = ({ since }: Dated): number => (since === undefined ? Number.MAX_VALUE : Date.parse(since));
  return [...rows].sort((a, b) => at(a) - at(b));
}

function units(value: number, allowanceId: string, world: SpaceState): Element {
  return el('span', { class: 'named' }, `${plural(value, 'unit')} of allowance `, allowanceLink(allowanceId, world));
}

type Waiter = Waits['waiters'][number];
type Task = Waits['waitingTasks'][number];

/** Why a waiter has no units yet and, if it is first in line, the earliest time at which it can get them. */
export function whyNoUnits({ position, blockedBy, blockedUntil }: Waiter): Element {
  const reason = `position ${position}: ${reasons[blockedBy] ?? blockedBy}`;
  return el('span', {}, reason, ...(blockedUntil === null ? [] : [', until ', age(blockedUntil)]));
}

/** Why no worker has taken the task yet. */
function whyNobody({ waitsFor, blockedBy, position, readyAt, groupId }: Task, world: SpaceState): Element {
  if (waitsFor === 'BLOCKED') return el('span', {}, 'waits for ', ...blockersOf(blockedBy, world));
  const reason =
    position !== null && position > 1 ? `others of its run are before it: position ${position}` : reasons[waitsFor];
  const until = readyAt === null ? [] : [', ready ', age(readyAt)];
  const group = groupId === null ? [] : [' (group ', objectLink('group', groupId, world), ')'];
  return el('span', {}, reason ?? waitsFor, ...until, ...group);
}

function forUnits(answer: Waits, world: SpaceState): Row[] {
  const rows = answer.waiters.map((waiter) => ({
    key: waiter.waiterId,
    since: waiter.waitingSince,
    cells: [
      named(waiter.holder),
      units(waiter.units, waiter.allowanceId, world),
      age(waiter.waitingSince),
      whyNoUnits(waiter),
      scopeLink(waiter.scopeId, world),
    ],
  }));
  return byAge([...rows, ...waitingRows(answer, world)]);
}

/** If more than this many tasks of a mailbox wait for the same reason, only the first is shown by itself. */
const maxAlike = 3;

function forWorker({ waitingTasks }: Waits, world: SpaceState): Row[] {
  const alike = new Map<string, Task[]>();
  for (const task of waitingTasks) {
    const key = `${task.mailboxId} ${task.waitsFor}`;
    alike.set(key, [...(alike.get(key) ?? []), task]);
  }
  const rows = [...alike].flatMap(([key, tasks]) => {
    const shown = tasks.length > maxAlike ? tasks.slice(0, 1) : tasks;
    const rest = tasks.slice(shown.length);
    return [...shown.map((task) => taskRow(task, world)), ...(rest.length > 0 ? [restRow(key, rest, world)] : [])];
  });
  return byAge(rows);
}

function taskRow(task: Task, world: SpaceState): Dated {
  return {
    key: task.taskId,
    since: task.waitingSince,
    cells: [
      el('span', {}, 'task ', messageOf(task, world)),
      forMailbox(task, world),
      age(task.waitingSince),
      whyNobody(task, world),
      scopeLink(task.scopeId, world),
    ],
  };
}

/** The task of a group's member has its own id, which is not a message id. */
function messageOf({ taskId, groupId }: Task, world: SpaceState): Element {
  return groupId === null ? messageLink(taskId, world) : el('span', { class: 'id' }, shortId(taskId));
}

function forMailbox({ mailboxId }: Task, world: SpaceState): Element {
  return el('span', { class: 'named' }, 'a worker at mailbox ', mailboxLink(mailboxId, world));
}

/** One row for all other tasks that wait like the one above. */
function restRow(key: string, tasks: readonly Task[], world: SpaceState): Dated {
  const [first] = tasks as readonly [Task, ...Task[]];
  const reason = first.waitsFor === 'HEAD_OF_LINE' ? 'others of their runs are before them' : reasons[first.waitsFor];
  const runs = new Set(tasks.map(({ scopeId }) => scopeId)).size;
  return {
    key,
    since: first.waitingSince,
    cells: [
      `${count(tasks.length)} more`,
      forMailbox(first, world),
      age(first.waitingSince),
      reason ?? first.waitsFor,
      plural(runs, 'run'),
    ],
  };
}

export const waits = panel<Waits>({
  id: 'waits',
  path: '/ops/waits',
  hears: ['message', 'waiter', 'allowance', 'hold', 'pool', 'task'],
  everySeconds: 4,
  idleSeconds: 20,
  learn: (answer, world) => {
    world.waits = answer;
    const { waiters, heldGrants, waitingHolds, heldHolds, heldClaims, waitingTasks } = answer;
    for (const rows of [waiters, heldGrants, waitingHolds, heldHolds, heldClaims, waitingTasks])
      for (const { scopeId } of rows) world.scopes.learn(scopeId, answer.asOf);
  },
  render: (answer, world) => [
    table(unitsText, forUnits(answer, world), shownOf(2, 1)),
    table(workerText, forWorker(answer, world), shownOf(3, 1)),
    ...(answer.truncated ? [el('p', { class: 'note' }, onlySome)] : []),
  ],
});
