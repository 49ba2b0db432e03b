import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Route } from '../../src/engine/route/route.ts';
import { allRoutes } from '../../src/primitives/primitives.ts';
import { endpoints } from '../contract/endpoints.ts';
import { allPermissions, codeOf, World } from '../support/world.ts';

/** By the letter that the list of endpoints has. */
const allowing: Readonly<Record<string, readonly string[]>> = {
  r: ['coordination_read'],
  w: ['coordination_write'],
  c: ['resource_config'],
  s: ['resource_spend', 'resource_config'],
};

describe('every endpoint', () => {
  it('is allowed by the permissions of its row, each by itself, and by no other', async () => {
    const world = await World.create();
    const keys = await Promise.all(
      allPermissions.map(async (permission) => [permission, await world.key([permission])] as const),
    );
    const may = async (key: string, { method, path }: Pick<Route, 'method' | 'path'>): Promise<boolean> => {
      const target = path.replaceAll(/:\w+/g, randomUUID());
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const reply = await world.call(method, target, body, { Authorization: `Bearer ${key}` });
      return codeOf(reply) !== '403 PERMISSION_DENIED';
    };
    for (const row of endpoints) {
      const [method, pattern = '', letter = ''] = row.split(/ +/);
      const expected = allowing[letter];
      if (expected === undefined) continue;
      const path = pattern.replaceAll('{}', ':id');
      const found: string[] = [];
      for (const [permission, key] of keys)
        if (await may(key, { method: method as Route['method'], path })) found.push(permission);
      expect(found, row).to.have.members(expected);
    }
  });

  it('says what it needs: the permissions of a refusal, and x-permission', async () => {
    const world = await World.create();
    const key = await world.key(['coordination_write']);
    const refused = await world.post(`/budgets/${randomUUID()}/settle`, {}, { Authorization: `Bearer ${key}` });
    expect(refused.body.error.message).to.equal('the API key lacks the permission resource_spend, or resource_config');
    const spending = allRoutes.filter(({ permission }) => permission === 'resource_spend').map(({ call }) => call);
    expect(spending).to.have.members([
      ...['budget.reserve', 'budget.settle', 'budget.void', 'allowance.consume', 'allowance.wait'],
      ...['allowance.settle', 'allowance.observe'],
    ]);
  });
});
