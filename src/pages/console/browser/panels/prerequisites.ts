import { type Api, Failure } from '../api.ts';
import { el } from '../dom.ts';
import { plural } from '../format.ts';
import { type AwaitedKind, awaitedLink, awaitedOf, badge, mailboxLink, named, scopeLink } from '../parts.ts';
import type { Message, Waits } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Edge, type GraphNode, waitsGraph } from '../waits-graph.ts';
import { type Panel, panel } from './panel.ts';

/** At most how many nodes are drawn on each side of a message, and how many steps away from it. */
const maxSide = 12;
const maxDepth = 3;

type Task = Waits['waitingTasks'][number];

/** What a message is after or suspended for. */
interface Before {
  readonly id: string;
  readonly kind: AwaitedKind;
  readonly state: string;
  /** The largest number of steps to the message that is shown. */
  depth: number;
  /** undefined: it is no message, or retention has removed it. */
  readonly message: Message | undefined;
}

interface Found {
  readonly message: Message;
  readonly before: readonly Before[];
  readonly behind: readonly Task[];
  readonly edges: readonly Edge[];
  /** Whether there are more nodes than are drawn. */
  readonly isCut: boolean;
}

async function messageOf(api: Api, id: string, signal: AbortSignal): Promise<Message | undefined> {
  try {
    return await api.get<Message>(`/messages/${id}`, signal);
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return undefined;
    throw error;
  }
}

type Direct = Pick<Before, 'id' | 'kind' | 'state'>;

/** What a message is after and was last suspended for, and the message with the same key that it waits for. */
function directly({ after, suspension, blockedBy }: Message): readonly Direct[] {
  const named = [...after, ...(suspension?.after ?? [])].map((one): Direct => {
    const [id, kind] = awaitedOf(one);
    return { id, kind, state: one.state ?? 'GONE' };
  });
  const others = blockedBy.flatMap(({ kind, id }): Direct[] => {
    if (id === null || (kind !== 'KEY' && kind !== 'NOTE')) return [];
    return [{ id, kind: kind === 'KEY' ? 'MESSAGE' : kind, state: kind === 'KEY' ? 'LIVE' : 'AWAITED' }];
  });
  return [...named, ...others];
}

/** Reads a message's prerequisites, direct and indirect. `ended` caches messages that can no longer change. */
async function beforeOf(api: Api, message: Message, ended: Map<string, Message>, signal: AbortSignal) {
  const before = new Map<string, Before>();
  const edges: Edge[] = [];
  let isCut = false;
  let level: readonly Message[] = [message];
  for (let depth = 1; depth <= maxDepth && level.length > 0; depth++) {
    const next: Message[] = [];
    for (const one of level)
      for (const { id, kind, state } of directly(one)) {
        const known = before.get(id);
        if (known) known.depth = depth;
        if (!known && before.size === maxSide) {
          isCut = true;
          continue;
        }
        edges.push([id, one.id]);
        if (known) continue;
        const found = kind === 'MESSAGE' ? (ended.get(id) ?? (await messageOf(api, id, signal))) : undefined;
        if (found?.state === 'ACKED') ended.set(id, found);
        before.set(id, { id, kind, state: found?.state ?? state, depth, message: found });
        if (found) next.push(found);
      }
    level = next;
  }
  return { before: [...before.values()].sort((one, other) => other.depth - one.depth), edges, isCut };
}

/** The tasks that wait for a message, directly or through others. Nothing waits for an ACKED message. */
async function behindOf(api: Api, { id, state }: Message, signal: AbortSignal) {
  const behind = new Map<string, Task>();
  const edges: Edge[] = [];
  if (state === 'ACKED') return { behind: [], edges, isCut: false };
  const { waitingTasks } = await api.get<Waits>('/ops/waits', signal);
  let level: readonly string[] = [id];
  for (let depth = 1; depth <= maxDepth && level.length > 0; depth++) {
    const found = level.flatMap((before) =>
      waitingTasks
        .filter(({ blockedBy }) => blockedBy.some((one) => one.id === before))
        .map((task) => [before, task] as const),
    );
    level = found.filter(([, { taskId }]) => !behind.has(taskId)).map(([, { taskId }]) => taskId);
    for (const [before, task] of found) {
      behind.set(task.taskId, task);
      edges.push([before, task.taskId]);
    }
  }
  return { behind: [...behind.values()].slice(0, maxSide), edges, isCut: behind.size > maxSide };
}

const kindWords: Readonly<Record<AwaitedKind, string>> = {
  MESSAGE: 'removed since',
  GROUP: 'a task group',
  SCOPE: 'a run, until nothing is live in it',
  NOTE: 'until it has another version',
};

function beforeNode({ id, kind, state, message }: Before, world: SpaceState): GraphNode {
  const name = message?.workKey ?? message?.taskKey ?? message?.key ?? null;
  return {
    ...{ id, state },
    line: [awaitedLink(id, kind, world), badge(state)],
    note: message ? [name === null ? null : named(name), mailboxLink(message.mailboxId, world)] : [kindWords[kind]],
  };
}

/** The waits identify a group's member by its task, so this links to its run, which has a link to the message. */
function behindNode({ taskId, groupId, scopeId, mailboxId, waitsFor }: Task, world: SpaceState): GraphNode {
  const place = groupId === null ? [] : ['in run', scopeLink(scopeId, world)];
  return {
    ...{ id: taskId, state: waitsFor },
    line: [awaitedLink(groupId ?? taskId, groupId === null ? 'MESSAGE' : 'GROUP', world), ...place, badge(waitsFor)],
    note: [mailboxLink(mailboxId, world)],
  };
}

function drawn(found: Found | undefined, world: SpaceState): Node[] {
  if (!found) return [];
  const { message, before, behind, edges, isCut } = found;
  if (before.length + behind.length === 0)
    return [el('p', { class: 'empty' }, 'It has no prerequisites, and nothing waits for it.')];
  const own: GraphNode = {
    ...{ id: message.id, state: message.state, isThis: true },
    line: [el('b', {}, 'this message'), badge(message.state)],
    note: [named(message.workKey ?? message.taskKey ?? message.key ?? '')],
  };
  const nodes = [...before.map((one) => beforeNode(one, world)), own, ...behind.map((one) => behindNode(one, world))];
  const label = `It is after ${plural(before.length, 'other')}; ${plural(behind.length, 'other')} behind it`;
  return [
    waitsGraph(label, nodes, edges),
    el('p', { class: 'note' }, 'From top to bottom: its prerequisites, and the work that waits for it.'),
    ...(isCut ? [el('p', { class: 'note' }, `There are more than ${maxSide} on a side.`)] : []),
  ];
}

/** A message's prerequisites and the tasks that wait for it, as a graph. latest: the message as last read. */
export function prerequisitesPanel(latest: () => Promise<Message> | undefined): Panel {
  const ended = new Map<string, Message>();
  return panel<Found | undefined>({
    id: 'message-graph',
    path: '/ops/waits',
    hears: [],
    idleSeconds: 20,
    read: async (api, signal) => {
      // If it cannot be read, its own panel says why.
      const message = await latest()?.catch(() => undefined);
      if (!message) return undefined;
      const [before, behind] = await Promise.all([
        beforeOf(api, message, ended, signal),
        behindOf(api, message, signal),
      ]);
      return {
        ...{ message, before: before.before, behind: behind.behind },
        ...{ edges: [...before.edges, ...behind.edges], isCut: before.isCut || behind.isCut },
      };
    },
    render: drawn,
  });
}
