import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { failure, muster } from '../support/cli.ts';
import { redisUrl } from '../support/store.ts';
import { Traffic } from '../support/traffic.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('muster events', () => {
  let world: World;
  let settings: Record<string, string>;
  before(async () => {
    settings = { REDIS_URL: await redisUrl() };
    world = await World.create();
    const traffic = await Traffic.on(world);
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    await Promise.all([traffic.messages(deadline), traffic.group()]);
    const { org, spaceId, service } = world;
    await service.packing.packSpace(org, spaceId, undefined, { sealAfterMs: 0, isAll: true, size: 10 });
    await traffic.barrier();
  });

  const run = async (...more: string[]): Promise<unknown[]> => {
    const { status, stdout, stderr } = await muster(['events', world.spaceId, '--org', world.org, ...more], settings);
    expect([status, stderr]).to.deep.equal([0, '']);
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  };

  it('prints the journal, packed or not, from a time on and filtered as a watch', async () => {
    const { events } = (await world.get('/events?limit=500')).body;
    const { occurredAt, scopeId } = events[25];
    const [all, later, some, below] = await Promise.all([
      run(),
      run('--from', occurredAt),
      run('--types', 'message.acked,barrier.*', '--aggregate', 'message'),
      run('--scope', scopeId),
    ]);
    expect(all).to.deep.equal(events);
    expect(later).to.deep.equal(events.filter((event: { occurredAt: string }) => event.occurredAt >= occurredAt));
    expect(some).to.deep.equal((await world.get('/watch?types=message.acked&limit=500')).body.events);
    expect(below).to.deep.equal((await world.get(`/watch?scopeId=${scopeId}&limit=500`)).body.events);
    expect([some.length, below.length].every((count) => count > 0)).to.equal(true);
  });

  const follow = (...more: string[]) => {
    const args = ['dist/cli/main.js', 'events', world.spaceId, '--org', world.org, '--follow', ...more];
    const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...settings } });
    endAtExit(child);
    return child;
  };

  it('--follow goes on with what happens', async () => {
    const child = follow('--types', 'budget.*');
    let text = '';
    const lines = async (count: number) => {
      for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
        text += chunk;
        if (text.split('\n').length > count) break;
      }
      return text.split('\n').slice(0, count);
    };
    await lines(1);
    await world.mustPost('/budgets', { name: 'later', currency: 'EUR', scale: 2, limitMinor: '1' });
    const [, second = ''] = await lines(2);
    expect(JSON.parse(second)).to.include({ type: 'budget.created' });
    child.kill();
  });

  it('refuses what it does not know; prints all but damaged events, and fails', async () => {
    const { org, spaceId, prefix, service } = world;
    const refusals = [
      [['events', spaceId, '--org', 'nobody'], 'ORG_NOT_FOUND', /org list/],
      [['events', '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e', '--org', org], 'SPACE_NOT_FOUND', /space list/],
      [['events', 'x', '--org', org], 'VALIDATION_FAILED', /^spaceId: /],
      [['events', spaceId, '--org', org, '--types', 'nothing'], 'VALIDATION_FAILED', /types must be event types/],
      [['events', spaceId, '--org', org, '--from', 'noon'], 'VALIDATION_FAILED', /from must be a date-time/],
    ] as const;
    const refused = await Promise.all(refusals.map(([args]) => failure(args, settings)));
    for (const [i, [, code, message]] of refusals.entries()) {
      expect(refused[i]?.code).to.equal(code);
      expect(refused[i]?.message).to.match(message);
    }
    const [, [last = '', [, first = '']] = ['', []]] = await service.store.xrange(`${prefix}:eventSegments`, '-', '+');
    await service.store.set(`${prefix}:eventSegment:${last}`, 'garbage');
    const { events } = (await world.get('/events?limit=500')).body;
    const { status, stdout, stderr } = await muster(['events', spaceId, '--org', org], settings);
    expect(status).to.equal(1);
    expect(stdout.trim().split('\n')).to.have.length(events.length - 10);
    const { code, message } = JSON.parse(stderr).error;
    expect(code).to.equal('EVENTS_DAMAGED');
    expect(message).to.include(`${first} to ${last}`);
    const child = follow();
    const [warning] = await once(child.stderr, 'data');
    child.kill();
    expect(String(warning)).to.equal(`${message}\n`);
  });
});
