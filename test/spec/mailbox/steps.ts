import type { Queue } from './queue.ts';

export const all = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

export const step = (queue: Queue, what: 'purge' | 'requeue', body: object = {}, headers?: Record<string, string>) =>
  queue.world.post(`/mailboxes/${queue.id}/${what}`, body, headers);

/** The ids of messages in a state, oldest first. */
export async function inState(queue: Queue, state: string): Promise<string[]> {
  const { messages } = (await queue.list(`?state=${state}&limit=200`)).body;
  return messages.map(({ id }: { id: string }) => id);
}

export async function stateOf(queue: Queue, ids: readonly string[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await queue.world.get(`/messages/${id}`)).body.state));
}

/** Sends messages one after the other. */
export async function row(queue: Queue, count: number, fields: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await queue.sent(fields));
  return ids;
}
