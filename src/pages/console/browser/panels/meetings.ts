import { el } from '../dom.ts';
import { count, percent, plural, words } from '../format.ts';
import {
  age,
  badge,
  bar,
  mailboxLink,
  objectLink,
  pager,
  type Row,
  scopeLink,
  type TableText,
  table,
} from '../parts.ts';
import { type PageRef, queryText } from '../place.ts';
import type { Barrier, Barriers, Group, Groups } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';

const groupText: TableText = {
  caption: 'Task groups',
  heads: ['Group', 'State', 'Decides on', 'Members', 'Mailbox', 'Deadline', 'Run'],
  empty: 'No task group.',
};

const barrierText: TableText = {
  caption: 'Barriers',
  heads: ['Barrier', 'State', 'Epoch', 'Arrivals', 'Age', 'Run'],
  empty: 'No barrier.',
};

function groupRow(group: Group, world: SpaceState): Row {
  const { members, accepted, rejected, pending, running, succeeded } = group.counts;
  const needed = group.condition === 'N_ACCEPTED' ? ` (${group.threshold})` : '';
  const tally = `${pending} pending, ${running} running, ${succeeded} succeeded; ${accepted} accepted, ${rejected} rejected`;
  const parts = { settled: percent(succeeded, members), reserved: percent(running, members) };
  return {
    key: group.id,
    cells: [
      objectLink('group', group.id, world),
      el('span', {}, badge(group.state), group.outcome === null ? '' : ` ${words(group.outcome)}`),
      `${words(group.condition)}${needed}`,
      el('span', {}, `${plural(members, 'member')}: ${tally}`, bar(`${plural(members, 'member')}: ${tally}`, parts)),
      mailboxLink(group.mailboxId, world),
      group.deadline === null ? '–' : age(group.deadline),
      scopeLink(group.scopeId, world),
    ],
  };
}

export function groupTable(groups: readonly Group[], world: SpaceState): Element {
  return table(
    groupText,
    groups.map((group) => groupRow(group, world)),
  );
}

export function groupsPanel(place: PageRef): Panel {
  return panel<Groups>({
    id: 'groups',
    path: `/task-groups${queryText({ limit: '20', cursor: place.query.get('groups') ?? undefined })}`,
    hears: ['group', 'task'],
    learn: (answer, world) => {
      for (const { scopeId, parentScopeId, createdAt } of answer.groups)
        world.scopes.learn(scopeId, createdAt, parentScopeId);
    },
    render: (answer, world) => [groupTable(answer.groups, world), ...pager(place, answer.nextCursor, 'groups')],
  });
}

export function barrierTable(barriers: readonly Barrier[], world: SpaceState): Element {
  return table(
    barrierText,
    barriers.map(({ id, state, epoch, arrivals, target, createdAt, scopeId }) => {
      const label = `${count(arrivals)} of ${count(target)}`;
      return {
        key: id,
        cells: [
          objectLink('barrier', id, world),
          badge(state),
          epoch,
          el('span', {}, label, bar(`${label} arrived`, { settled: percent(arrivals, target) })),
          age(createdAt),
          scopeLink(scopeId, world),
        ],
      };
    }),
  );
}

export function barriersPanel(place: PageRef): Panel {
  return panel<Barriers>({
    id: 'barriers',
    path: `/barriers${queryText({ limit: '50', cursor: place.query.get('barriers') ?? undefined })}`,
    hears: ['barrier'],
    learn: (answer, world) => {
      for (const { scopeId, createdAt } of answer.barriers) world.scopes.learn(scopeId, createdAt);
    },
    render: (answer, world) => [barrierTable(answer.barriers, world), ...pager(place, answer.nextCursor, 'barriers')],
  });
}
