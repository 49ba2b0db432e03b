import { expect } from 'chai';
import { codeOf, World } from './world.ts';

type Call = readonly [path: string, body?: unknown, method?: string];

/** A world whose plan has limits, set by the functions below. */
export const limitedWorld = (): Promise<World> => World.create({ plan: 'free' });

const set = (world: World, limits: Record<string, string>) =>
  world.service.store.hset(`muster:{${world.org}}`, { ...limits, unlimited: '' });

async function expectAll(world: World, calls: readonly Call[], answer: (code: string) => string): Promise<void> {
  const answers: string[] = [];
  for (const [path, body, method = 'POST'] of calls) answers.push(codeOf(await world.call(method, path, body)));
  expect(calls.map(([path], index) => `${path} ${answers[index]}`)).to.deep.equal(
    calls.map(([path], index) => `${path} ${answer(answers[index] ?? '')}`),
  );
}

/**
 * Expects that these calls are refused when no operation is left this month, and that the others are not. Some operation must
 * have been used before.
 */
export async function expectNeedsOperation(
  world: World,
  refused: readonly Call[],
  others: readonly Call[],
): Promise<void> {
  await set(world, { operations: '1' });
  await expectAll(world, refused, () => '402 OPERATIONS_EXHAUSTED');
  await expectAll(world, others, (code) => (code.startsWith('2') ? code : '2xx'));
  await set(world, { operations: '100000' });
}

/** Expects that these calls, in a scope that does not exist, are refused when the plan has no more runs. */
export async function expectNeedsRun(world: World, calls: readonly Call[]): Promise<void> {
  await set(world, { runs: '0' });
  await expectAll(world, calls, () => '409 ACTIVE_RUNS_LIMITED');
  await set(world, { runs: '100' });
}
