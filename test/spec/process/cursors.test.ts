import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isAlive } from '../../../src/embedded/process-identity.ts';
import { call, Processes, until } from '../../support/processes.ts';

describe('Journal cursors', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());

  it('cursors survive an unclean start, except at an event that was lost; an interrupted restore ends them', async () => {
    const DATA_DIR = await processes.folder();
    const first = await processes.start({ DATA_DIR }).ready();
    const { access } = first;
    await call(first.url, access, '/mailboxes', { name: 'kept-mailbox' });
    const kept = (await call(first.url, access, '/events')).body.nextCursor;
    const { server } = JSON.parse(await readFile(join(DATA_DIR, 'server.json'), 'utf8'));
    const logs = join(DATA_DIR, 'appendonlydir');
    const log = join(logs, (await readdir(logs)).find((name) => name.endsWith('.incr.aof')) ?? '');
    // The name is no word of the library, which the log has, too. It is written up to here; the rest is cut off, as in a
    // power failure.
    await until(async () => (await readFile(log, 'utf8')).includes('kept-mailbox'));
    const { size } = await stat(log);
    await call(first.url, access, '/mailboxes', { name: 'lost-mailbox' });
    const lost = (await call(first.url, access, '/events')).body.nextCursor;
    await until(async () => (await readFile(log, 'utf8')).includes('lost-mailbox'));
    await first.end('SIGKILL');
    process.kill(Number.parseInt(server, 10), 'SIGKILL');
    await until(() => !isAlive(server));
    await truncate(log, size);

    const second = await processes.start({ DATA_DIR }).ready();
    await until(() => second.said.length > 0);
    expect(second.said.join()).to.match(
      /^the store was not shut down cleanly: if its last second was lost, .* expired$/,
    );
    await call(second.url, access, '/mailboxes', { name: 'next' });
    for (const path of ['/events', '/watch']) {
      const onward = await call(second.url, access, `${path}?cursor=${kept}`);
      expect(onward.status).to.equal(200);
      expect(onward.body.events.map(({ type }: { type: string }) => type)).to.deep.equal(['mailbox.created']);
      const late = await call(second.url, access, `${path}?cursor=${lost}`);
      expect([late.status, late.body.error.code]).to.deep.equal([410, 'CURSOR_EXPIRED']);
      expect(late.body.error.message).to.match(/was lost when the store failed/);
    }
    const names = (await call(second.url, access, '/mailboxes')).body.mailboxes.map(
      ({ name }: { name: string }) => name,
    );
    expect(names).to.deep.equal(['next', 'kept-mailbox']);
    await second.end('SIGTERM');

    // A restore leaves its own marker, and no marker of a clean shutdown.
    await writeFile(join(DATA_DIR, 'restored'), '');
    await rm(join(DATA_DIR, 'clean'));
    const third = await processes.start({ DATA_DIR }).ready();
    await until(() => third.said.length > 0);
    expect(third.said.join()).to.match(/^the store was restored from a snapshot: journal cursors .* expired$/);
    const late = await call(third.url, access, `/events?cursor=${kept}`);
    expect(late.status).to.equal(410);
    expect(late.body.error.message).to.match(/from before the store was restored/);
    expect(existsSync(join(DATA_DIR, 'restored'))).to.equal(false);
  });
});
