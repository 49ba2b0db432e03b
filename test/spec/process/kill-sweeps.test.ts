import { setTimeout as sleep } from 'node:timers/promises';
import { call, type MusterProcess, until } from '../../support/processes.ts';
import { Killing } from './killing.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('kill -9 of a worker before its sweep', () => {
  let kill: Killing;
  let api: MusterProcess;
  before(async () => {
    kill = await Killing.create();
    api = await kill.start('api');
  });
  after(() => kill.end());

  it('due work that a killed worker was about to sweep is swept by the next one', async () => {
    const mailbox = (await call(api.url, kill.access, '/mailboxes', { name: 'sweep' })).body.id;
    // It stands still until the message is due and the store takes no writes.
    const killed = await kill.start('worker');
    killed.signal('SIGSTOP');
    const deadline = Date.now() + 3_000;
    const message = { scopeId, payload: 1, deadline: new Date(deadline).toISOString() };
    await call(api.url, kill.access, `/mailboxes/${mailbox}/messages`, message);
    await sleep(Math.max(0, deadline - Date.now()));
    await kill.redis.client('PAUSE', 30_000, 'WRITE');
    killed.signal('SIGCONT');
    await until(() => kill.isHeldUp());
    await killed.end('SIGKILL');
    await kill.redis.client('UNPAUSE');
    await kill.start('worker');
    const expired = async () =>
      (await call(api.url, kill.access, `/mailboxes/${mailbox}/messages?state=EXPIRED`)).body.messages.length === 1;
    await until(expired);
  });
});
