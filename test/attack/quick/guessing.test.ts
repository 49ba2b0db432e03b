import { expect } from 'chai';
import { connect, type Store } from '../../../src/engine/redis/connection.ts';
import { createKey, revokeKey, rotateKey } from '../../../src/primitives/org/admin.ts';
import { OwnStore } from '../../support/own-store.ts';
import { delivering } from '../../support/webhooks.ts';
import { allPermissions, World } from '../../support/world.ts';
import { changed, digests } from '../support/digest.ts';

/** The work of the store as text: each command with its count, and the bytes received. */
type Work = string;

/** On a separate store, so that no other work is counted. */
describe('Guessing keys', () => {
  let ownStore: OwnStore;
  let world: World;
  let watcher: Store;

  before(async () => {
    ownStore = await OwnStore.start();
    world = await World.create({ on: await delivering({ redisUrl: ownStore.url, role: 'api' }), org: 'abcdefgh' });
    watcher = await connect(ownStore.url);
  });
  after(async () => {
    watcher.disconnect();
    await world.service.stop();
    await ownStore.stop();
  });

  async function work(run: () => Promise<unknown>): Promise<Work> {
    await watcher.call('CONFIG', 'RESETSTAT');
    const before = await bytesIn();
    await run();
    const bytes = (await bytesIn()) - before;
    const stats = String(await watcher.info('commandstats'));
    const commands = [...stats.matchAll(/^cmdstat_([\w|]+):calls=(\d+)/gm)].map(
      ([, name, calls]) => `${calls} ${name}`,
    );
    return `${commands.filter((line) => !/info|config/.test(line)).join(', ')}, ${bytes} bytes`;
  }
  async function bytesIn(): Promise<number> {
    return Number(/total_net_input_bytes:(\d+)/.exec(String(await watcher.info('stats')))?.[1]);
  }
  const ask = (apiKey: string, path = '/mailboxes', spaceId = world.spaceId) =>
    world.send('GET', `/v1/spaces/${spaceId}${path}`, undefined, {
      Authorization: `Bearer ${apiKey}`,
      'X-Request-Id': '0190a1b2-0000-4000-8000-000000000000',
    });

  it('takes the same work and gets the same answer, however close the guess', async () => {
    const { apiKey, service, org } = world;
    const revoked = await createKey(service, { org, permissions: allPermissions });
    await revokeKey(service, org, revoked.keyId);
    const ended = await createKey(service, { org, permissions: allPermissions });
    await rotateKey(service, { org, keyId: ended.keyId, overlapHours: 0 });
    const other = (key: string): string => (key.endsWith('a') ? 'b' : 'a');
    const guesses = {
      'an unknown organization': `mk_zyxwvuts_${'a'.repeat(43)}`,
      'a known organization, a wrong key': `mk_${org}_${'a'.repeat(43)}`,
      'the first half of a key': `${apiKey.slice(0, 35)}${'a'.repeat(apiKey.length - 35)}`,
      'all of a key but its last character': `${apiKey.slice(0, -1)}${other(apiKey)}`,
      'a key in lower case': apiKey.toLowerCase() === apiKey ? apiKey.toUpperCase() : apiKey.toLowerCase(),
      'a revoked key': revoked.apiKey,
      'an ended key': ended.apiKey,
    };
    await ask(guesses['a revoked key']);
    const answers = new Set<string>();
    const works = new Set<string>();
    for (const key of Object.values(guesses)) works.add(await work(async () => answers.add((await ask(key)).text)));
    expect([...answers]).to.have.length(1);
    expect([...works]).to.have.length(1);
    // The script's one read is of the key's digest: no key text is compared, neither a prefix nor the whole.
    expect([...works][0])
      .to.match(/\b1 hmget\b/)
      .and.to.match(/\b1 fcall\b/);
  });

  it('leaves nothing in the store, whatever organization is named', async () => {
    const before = await digests(world);
    const keys = await watcher.dbsize();
    const guesses = Array.from(
      { length: 100 },
      (_, i) => `mk_${i % 2 ? world.org : `org-${i}`}_${String(i).padStart(43, 'x')}`,
    );
    await Promise.all(guesses.map((key) => ask(key)));
    expect(await watcher.dbsize()).to.equal(keys);
    expect(changed(before, await digests(world))).to.deep.equal([]);
  });
});
