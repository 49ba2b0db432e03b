import { el, setHeading } from '../dom.ts';
import { count, money, plural, shortId, words } from '../format.ts';
import type { KindName } from '../kinds.ts';
import { stateOf } from '../pages/message-list.ts';
import {
  age,
  badge,
  button,
  buttons,
  clock,
  mailboxLink,
  messageLink,
  named,
  objectLink,
  pairs,
  pauseButton,
  scopeLink,
  type TableText,
  table,
} from '../parts.ts';
import { address } from '../place.ts';
import { progress, runState } from '../progress.ts';
import type { Run, Scope } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { bulkTable } from './bulk.ts';
import { barrierTable, groupTable } from './meetings.ts';
import { type Panel, panel } from './panel.ts';

const texts = {
  messages: {
    caption: 'Messages',
    heads: ['Message', 'Created', 'State', 'Mailbox', 'Work key', 'Attempts', 'Holder', 'Scope'],
    empty: 'No message.',
  },
  members: {
    caption: 'Members',
    heads: ['Task', 'State', 'Verdict', 'Attempts', 'Group'],
    empty: 'No member.',
    isCaptionVisible: true,
  },
  reservations: {
    caption: 'Reservations',
    heads: ['Created', 'State', 'Budget', 'Holder', 'Reserved', 'Settled', 'Settle by'],
    empty: 'No reservation.',
  },
  waiters: {
    caption: 'Waiters',
    heads: ['Since', 'State', 'Allowance', 'Holder', 'Units', 'Position'],
    empty: 'No waiter.',
  },
  holds: {
    caption: 'Holds',
    heads: ['Since', 'State', 'Pool', 'Holder', 'Units', 'Fence', 'Position'],
    empty: 'No hold.',
  },
} as const satisfies Record<string, TableText>;

interface ScopeNode {
  readonly id: string;
  readonly below: readonly ScopeNode[];
}

/** Scopes as nested lists, each with a note. */
function scopeTree(nodes: readonly ScopeNode[], note: (id: string) => Element | null, world: SpaceState): Element {
  const items = nodes.map(({ id, below }) => {
    const children = below.length === 0 ? null : scopeTree(below, note, world);
    return el('li', { 'data-key': id }, scopeLink(id, world), ' ', el('span', { class: 'note' }, note(id)), children);
  });
  return el('ul', { class: 'tree' }, ...items);
}

function nodesBelow(parentId: string, scopes: readonly Scope[]): ScopeNode[] {
  const children = scopes.filter(({ parentScopeId }) => parentScopeId === parentId);
  return children.map(({ id }) => ({ id, below: nodesBelow(id, scopes) }));
}

function head({ scope, consumptions, truncated, bulks }: Run, world: SpaceState): Node[] {
  const { parentScopeId } = scope;
  const facts = pairs([
    scope.name !== null && ['Name', named(scope.name)],
    ['State', runState(scope)],
    ['Progress', progress(scope)],
    ['Live', `${plural(scope.live.messages, 'message')}, ${plural(scope.live.waiters, 'waiter')}`],
    ['Began', clock(scope.createdAt)],
    ['Parent', parentScopeId === null ? 'none: a root' : scopeLink(parentScopeId, world)],
    ['Consumed', `${plural(consumptions.units, 'unit')} in ${plural(consumptions.count, 'call')}`],
  ]);
  const canStop = world.can.write && scope.state !== 'CANCELLED';
  const ended = { FAILED: scope.ended.failed, REJECTED: scope.ended.rejected, EXPIRED: scope.ended.expired };
  const note = 'Only 200 records of each kind are shown; there are more.';
  return [
    facts,
    ...[
      buttons(
        canStop && pauseButton('Run', scope, { id: scope.id }),
        world.can.write && scope.live.messages > 0 && button('purgeRun', 'Purge what waits…', { id: scope.id }),
        ...(['FAILED', 'REJECTED', 'EXPIRED'] as const).map(
          (state) =>
            canStop &&
            ended[state] > 0 &&
            button('requeueRun', `Requeue all ${words(state)}…`, { id: scope.id, state }),
        ),
        canStop && button('stop', 'Stop this run…', { id: scope.id }),
      ),
    ].filter((one) => one !== null),
    ...bulkTable(bulks.slice(0, 3), world),
    ...(truncated ? [el('p', { class: 'note' }, note)] : []),
  ];
}

function messages(run: Run, world: SpaceState): Element {
  return table(
    texts.messages,
    run.messages.map((message) => ({
      key: message.id,
      cells: [
        messageLink(message.id, world),
        clock(message.createdAt),
        stateOf(message),
        mailboxLink(message.mailboxId, world),
        named(message.taskKey ?? message.workKey ?? '–'),
        `${message.attempts} of ${message.maxAttempts}`,
        named(message.holder ?? '–'),
        scopeLink(message.scopeId, world),
      ],
    })),
    12,
  );
}

function members({ groups }: Run, world: SpaceState): Element {
  const rows = groups.flatMap((group) =>
    group.members.map((member) => ({
      key: `${group.id} ${member.taskId}`,
      cells: [
        named(member.taskKey ?? shortId(member.taskId)),
        el('span', {}, badge(member.state), member.reason === null ? '' : ` ${words(member.reason)}`),
        member.verdict === null ? '–' : words(member.verdict),
        member.attempts,
        objectLink('group', group.id, world),
      ],
    })),
  );
  return table(texts.members, rows);
}

function reservations(run: Run, world: SpaceState): Element {
  return table(
    texts.reservations,
    run.reservations.map((one) => {
      const { name, scale = 0, currency = 'minor units' } = world.named(one.budgetId, 'budget');
      const of = (minor: string): string => `${money(minor, scale)} ${currency}`;
      const settleBy = one.settleBy === null ? '–' : age(one.settleBy);
      return {
        key: one.id,
        cells: [
          clock(one.createdAt),
          badge(one.state),
          el('a', { class: 'named', href: address(world.spaceId, `budget/${one.budgetId}`) }, name),
          named(one.holder),
          of(one.amountMinor),
          of(one.settledMinor),
          el('span', {}, settleBy, one.overdue ? ' overdue' : ''),
        ],
      };
    }),
  );
}

/** A link to an object that has no name, shown as its time. */
function openedBy(moment: Element, kind: KindName, id: string, world: SpaceState): Element {
  return el('a', { href: address(world.spaceId, `${kind}/${id}`) }, moment);
}

function waiters(run: Run, world: SpaceState): Element {
  return table(
    texts.waiters,
    run.waiters.map((waiter) => ({
      key: waiter.id,
      cells: [
        openedBy(clock(waiter.createdAt), 'waiter', waiter.id, world),
        badge(waiter.state),
        objectLink('allowance', waiter.allowanceId, world),
        named(waiter.holder),
        count(waiter.units),
        waiter.position ?? '–',
      ],
    })),
  );
}

function holds(run: Run, world: SpaceState): Element {
  return table(
    texts.holds,
    run.holds.map((hold) => ({
      key: hold.id,
      cells: [
        openedBy(clock(hold.createdAt), 'hold', hold.id, world),
        badge(hold.state),
        objectLink('pool', hold.poolId, world),
        named(hold.holder),
        count(hold.units),
        hold.fence === null ? '–' : String(hold.fence),
        hold.position ?? '–',
      ],
    })),
  );
}

function section(title: string, ...content: Node[]): Element {
  return el('section', { 'aria-label': title }, el('h2', {}, title), ...content);
}

/** A panel with everything that belongs to one run. */
export function runPanel(scopeId: string): Panel {
  return panel<Run>({
    id: 'run',
    path: `/ops/runs/${scopeId}`,
    hears: ['message', 'task', 'group', 'barrier', 'budget', 'waiter', 'allowance', 'hold', 'pool', 'scope', 'bulk'],
    everySeconds: 4,
    idleSeconds: 20,
    learn: ({ scope, scopes }, world) => {
      world.learnRuns([scope, ...scopes]);
      setHeading(scope.name === null ? 'Run' : `Run ${scope.name}`, scope.id);
    },
    render: (run, world) => {
      const scopes = new Map(run.scopes.map((one) => [one.id, el('span', {}, runState(one), ' ', progress(one))]));
      const below = nodesBelow(run.scope.id, run.scopes);
      const tree =
        below.length === 0
          ? el('p', { class: 'empty' }, 'No scope below this one.')
          : scopeTree(below, (id) => scopes.get(id) ?? null, world);
      return [
        ...head(run, world),
        section('Scopes below', tree),
        section('Messages of this run', messages(run, world)),
        section('Task groups of this run', groupTable(run.groups, world), members(run, world)),
        section('Barriers of this run', barrierTable(run.barriers, world)),
        section('Reservations of this run', reservations(run, world)),
        section('Waiters of this run', waiters(run, world)),
        section('Holds of this run', holds(run, world)),
      ];
    },
  });
}
