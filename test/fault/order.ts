import type { Event } from './journal.ts';
import type { Workload } from './workload.ts';

const ends = ['acked', 'rejected', 'failed', 'expired', 'cancelled'].map((end) => `message.${end}`);

/** Claims of messages before their prerequisites had ended as required. */
export function tooEarly({ planted }: Pick<Workload, 'planted'>, events: readonly Event[]): string[] {
  const ended = new Map<string, Set<string>>();
  return events.flatMap(({ type, aggregateId }) => {
    if (ends.includes(type)) ended.set(aggregateId, (ended.get(aggregateId) ?? new Set()).add(type));
    const { after = [], onFailure } = (type === 'message.claimed' && planted.get(aggregateId)) || {};
    const isOpen = (id: string): boolean =>
      onFailure === 'RUN' ? !ended.has(id) : !ended.get(id)?.has('message.acked');
    return after.filter(isOpen).map((id) => `${aggregateId} was claimed before ${id}`);
  });
}

/**
 * Claims of messages while a message with the same key that was sent or requeued earlier had not ended: messages of a
 * key are worked one at a time, until each has ended.
 */
export function outOfTurn({ keyed }: Pick<Workload, 'keyed'>, events: readonly Event[]): string[] {
  const queues = new Map<string, string[]>();
  return events.flatMap(({ type, aggregateId }) => {
    const key = keyed.get(aggregateId);
    if (key === undefined) return [];
    const queue = queues.get(key) ?? [];
    queues.set(key, queue);
    if (type === 'message.sent' || type === 'message.requeued') queue.push(aggregateId);
    else if (ends.includes(type)) queue.splice(queue.indexOf(aggregateId), 1);
    else if (type === 'message.claimed' && queue[0] !== aggregateId)
      return [`${aggregateId} was claimed before ${queue[0]}, both of ${key}`];
    return [];
  });
}

interface Line {
  readonly units: number;
  held: number;
  readonly waiting: string[];
}

/** Grants of a pool's units to a hold that came after a waiting one, or beyond the units of the pool. */
export function outOfLine(events: readonly Event[]): string[] {
  const lines = new Map<string, Line>();
  return events.flatMap(({ type, aggregateId, payload }) => {
    if (type === 'pool.created') lines.set(aggregateId, { units: Number(payload['units']), held: 0, waiting: [] });
    const line = lines.get(String(payload['poolId']));
    if (!type.startsWith('hold.') || line === undefined) return [];
    if (type === 'hold.queued') {
      line.waiting.push(aggregateId);
      return [];
    }
    if (type === 'hold.released' || type === 'hold.lapsed') {
      line.held -= Number(payload['units']);
      return [];
    }
    const [first = aggregateId] = line.waiting;
    const place = line.waiting.indexOf(aggregateId);
    if (place >= 0) line.waiting.splice(place, 1);
    if (type !== 'hold.held') return [];
    line.held += Number(payload['units']);
    return [
      ...(first === aggregateId ? [] : [`${aggregateId} was granted before ${first}`]),
      ...(line.held <= line.units
        ? []
        : [`${line.held} units of ${payload['poolId']} were held, which has ${line.units}`]),
    ];
  });
}

/** Claims of messages while a message of the same run with a higher priority had been READY since its send. */
export function overtaken({ ordered }: Pick<Workload, 'ordered'>, events: readonly Event[]): string[] {
  const ready = new Map<string, Map<string, number>>();
  return events.flatMap(({ type, aggregateId }) => {
    const { run, priority } = ordered.get(aggregateId) ?? {};
    if (run === undefined || priority === undefined) return [];
    const ofRun = ready.get(run) ?? new Map<string, number>();
    ready.set(run, ofRun);
    if (type === 'message.sent') {
      ofRun.set(aggregateId, priority);
      return [];
    }
    ofRun.delete(aggregateId);
    if (type !== 'message.claimed') return [];
    return [...ofRun].flatMap(([id, other]) => (other > priority ? `${aggregateId} was claimed before ${id}` : []));
  });
}
