import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply, World } from './world.ts';

/** Starts a read with `waitSeconds`. Resolves, once it is held, with a promise of its answer. */
export async function heldRead(world: World, path: string, waitSeconds = 20): Promise<{ answer: Promise<Reply> }> {
  const { wake } = world.service;
  const before = wake.reads;
  const answer = world.get(`${path}${path.includes('?') ? '&' : '?'}waitSeconds=${waitSeconds}`);
  let isAnswered = false;
  const ended = answer.then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  );
  while (wake.reads === before && !isAnswered) await Promise.race([sleep(5), ended]);
  if (isAnswered) throw new Error(`GET ${path} was not held: ${(await answer).text}`);
  return { answer };
}

/** The topics that a space's scripts publish during `action`. */
export async function topicsOf(world: World, channel: string, action: () => Promise<unknown>): Promise<string[]> {
  const topics: string[] = [];
  let isMarked = false;
  const listening = world.service.wake.listen(channel, (message) => {
    if (message === 'mark') isMarked = true;
    else topics.push(...message.split(',').filter((topic) => topic !== ''));
  });
  await listening.ready;
  await action();
  await world.service.store.spublish(channel, 'mark');
  while (!isMarked) await sleep(5);
  listening.stop();
  return topics;
}
