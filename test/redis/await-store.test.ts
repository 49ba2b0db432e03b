import { expect } from 'chai';
import { Redis } from 'ioredis';
import { awaitStore } from '../../src/redis/await-store.ts';
import { OwnStore } from '../support/own-store.ts';

describe('Waiting for the store of REDIS_URL', () => {
  const { signal } = new AbortController();

  it('ends with one clear line when it does not come', async () => {
    const lines: string[] = [];
    const patience = { patienceMs: 300, lineEveryMs: 50, signal, log: (line: string) => lines.push(line) };
    const failure = await awaitStore('redis://:hunter2@127.0.0.1:1', patience).catch(String);
    expect(failure).to.equal(
      'Error: REDIS_URL: the store could not be reached for 0 s (connect ECONNREFUSED 127.0.0.1:1): start it, or correct REDIS_URL',
    );
    expect(lines.length).to.be.greaterThan(1);
  });

  it('ends at once when the login is refused', async () => {
    const own = await OwnStore.start();
    const admin = new Redis(own.url);
    await admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>hunter2');
    const failure = await awaitStore(own.url, { signal, log: () => undefined }).catch(String);
    expect(failure).to.match(
      /^Error: REDIS_URL: the store refuses the login \(NOAUTH .*\): correct user and password$/,
    );
    await admin.call('ACL', 'SETUSER', 'default', 'nopass');
    admin.disconnect();
    await own.stop();
  });
});
