import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { libraryOf } from '../../src/engine/library/library.ts';
import { draftOf } from '../../src/engine/library/loader.ts';
import type { Store } from '../../src/engine/redis/connection.ts';
import { Refusal, ScriptFailure, Scripts, StoreUnavailable } from '../../src/engine/redis/scripts.ts';
import { allRoutes, luaNames } from '../../src/primitives/primitives.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { api, overrides, World } from '../support/world.ts';

describe('Scripts', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-lua-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  /** The library with one file replaced. */
  const withFile = async (file: string, text: string) => {
    const path = join(folder, `${file.replaceAll('/', '-')}.lua`);
    await writeFile(path, text);
    return () => draftOf(luaNames, { [file]: path });
  };

  it("every room's scripts load into the store, including every route's", async () => {
    const { scripts } = await api();
    await scripts.load();
    const names = libraryOf(luaNames).scripts.map(({ name }) => name);
    for (const route of allRoutes) expect(names, route.call).to.include(route.script);
  });

  it('are in a library named by its content: another clock, another name; the same, the same', () => {
    const real = libraryOf(luaNames);
    expect(libraryOf(luaNames).version).to.equal(real.version);
    expect(libraryOf(luaNames, overrides).version).to.not.equal(real.version);
  });

  it('may not include each other: the refusal names the files', async () => {
    const load = await withFile('lib/id', '--- @include lib/id\n');
    expect(load).to.throw(/circular include: .*lib\/id > lib\/id/);
  });

  it('may not declare an argument twice, be it with their helpers', async () => {
    expect(await withFile('mailbox/nack', '--- @args token token\n')).to.throw(
      /mailbox\/nack: argument token is declared twice/,
    );
    const load = await withFile('mailbox/nack', '--- @request write\n--- @args spaceId\n');
    expect(load).to.throw(/mailbox\/nack: argument spaceId is declared twice/);
  });

  it('may not use a key that no room declares, or with the wrong parts', async () => {
    expect(await withFile('mailbox/nack', "redis.call('GET', keys.nothing())")).to.throw(
      /keys\.nothing\(\) is not declared/,
    );
    expect(await withFile('mailbox/nack', "redis.call('GET', keys.message('a', 'b'))")).to.throw(
      /has the wrong number of arguments/,
    );
  });

  it('may not return a reply that @reply does not name, or one that is not a table of named members', async () => {
    const head = '--- @request write\n--- @args state\n--- @reply state\n--- @include lib/call\n';
    expect(await withFile('mailbox/nack', `${head}return call.answer({ state = 1, colour = 2 })`)).to.throw(
      'mailbox/nack: it replies with colour, which @reply does not name: state',
    );
    expect(await withFile('mailbox/nack', `${head}return call.answer(state)`)).to.throw('not with a table');
    expect(await withFile('mailbox/nack', '--- @reply a:b:c\n')).to.throw(
      'it must be name, name?, name:record or name:record[]',
    );
    expect(await withFile('mailbox/nack', '--- @reply colour:paint\n')).to.throw(
      'paint is not declared in any records.ts',
    );
  });

  it('may not use a field that no record has, or a record or an event that no room declares', async () => {
    const head = '--- @include mailbox/_message\n';
    const reading = (fields: string) =>
      withFile('mailbox/nack', `--- @args messageId state\n${head}message.load(messageId, ${fields})`);
    expect(await reading("'state', 'colour'")).to.throw('Message has no stored field colour');
    expect(await reading("'@colour'")).to.throw('colour is not declared in any records.ts');
    expect(await reading("'@budget'")).to.throw('budget shows no such field of message');
    expect(await reading("'@claim:never'")).to.throw('message.load takes an id and field names as literals');
    expect(await reading("'state:sent'")).to.throw('message.load takes an id and field names as literals');
    expect(await reading("'@heldClaim', 'place'")).not.to.throw();
    expect(await reading('state')).to.throw('message.load takes an id and field names as literals, not state');
    expect(await withFile('mailbox/_message', '--- @record massage\n')).to.throw(
      'massage is not declared in any records.ts',
    );
    expect(await withFile('mailbox/nack', "emit.message.lost('id', {})")).to.throw(
      'emit.message.lost is not declared in any events.ts',
    );
  });

  it('called with a missing or extra argument fail with an error that names it, but not its value', async () => {
    const { scripts } = await api();
    const run = (args: Record<string, string>) =>
      scripts.execute('timer/sweep', 'nobody', args).catch((error: Error) => error);
    for (const args of [
      { spaceId: '', requestId: '' },
      { spaceId: '', requestId: '', maxChanges: '1', extra: 'secret' },
      { spaceId: '', requestId: '', extra: 'secret' },
    ]) {
      const error = await run(args);
      expect(error).to.be.instanceOf(ScriptFailure);
      expect(String(error)).to.contain('timer/sweep').and.to.not.contain('secret');
    }
  });

  it("classify the store's errors: unavailable, a refusal, or a defect", async () => {
    let loads = 0;
    const saying = (message: string) => {
      const fcall = () => Promise.reject(new Error(message));
      const store = { fcall, call: async () => loads++ } as unknown as Store;
      const args = { spaceId: '', requestId: '', maxChanges: 1 };
      return new Scripts(store, luaNames).execute('timer/sweep', 'o', args).catch((error: Error) => error);
    };
    const states =
      'LOADING READONLY OOM MASTERDOWN CLUSTERDOWN NOREPLICAS TRYAGAIN BUSY MISCONF UNBLOCKED NOAUTH WRONGPASS NOPERM';
    for (const state of states.split(' ')) {
      const error = await saying(`${state} the server's own words`);
      const says = state === 'NOPERM' ? "NOPERM the server's own words" : state;
      expect(error, state).to.be.instanceOf(StoreUnavailable).with.property('message', says);
    }
    for (const closed of ["Stream isn't writeable and", 'Reached the max retries per request', 'Connection is closed.'])
      expect(await saying(closed))
        .to.be.instanceOf(StoreUnavailable)
        .with.property('message', 'no connection');
    expect(await saying('ERR Function not found')).to.be.instanceOf(StoreUnavailable);
    expect(loads, 'a store that loses them each time').to.equal(3);
    // The formats of Redis 7 and Valkey 8, of Valkey 9, and of an FCALL of several calls.
    for (const place of [' script: timer_sweep, on @user_function:1.', ' script: on @user_function:1.', '']) {
      const refused = await saying(`NOT_FOUND 1,,, the detail${place}`);
      expect(refused, place).to.be.instanceOf(Refusal);
      expect(refused).to.include({ code: 'NOT_FOUND', head: '1,,,', detail: 'the detail' });
    }
    expect(await saying('WRONGTYPE Operation against a key')).to.be.instanceOf(ScriptFailure);
  });

  it('called with a NUL in an argument fail before anything is sent', async () => {
    const { scripts } = await api();
    const args = { spaceId: '', requestId: 'secret\0', maxChanges: 1 };
    const error = await scripts.execute('timer/sweep', 'nobody', args).catch((failure: Error) => failure);
    expect(error).to.be.instanceOf(ScriptFailure);
    expect(String(error)).to.contain('timer/sweep: argument requestId contains a NUL').and.to.not.contain('secret');
  });

  it('get arguments of every kind as they were sent: empty, long, beyond ASCII', async () => {
    const queue = await Queue.create();
    const fields = { workKey: 'schlüssel\u2028🔑', payload: { text: '\0\u001f', more: 'é'.repeat(20_000) } };
    await queue.sent(fields);
    const { workKey, payload } = await queue.claim({ holder: 'ä' });
    expect({ workKey, payload }).to.deep.equal(fields);
  });

  it('are loaded again by the next call if the store has lost them', async () => {
    const world = await World.create();
    await world.mustPost('/mailboxes', { name: 'a' });
    await world.service.store.call('FUNCTION', 'FLUSH');
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => world.post('/mailboxes', { name: `m${i}` })),
    );
    expect(replies.map(({ status }) => status)).to.deep.equal(Array(20).fill(201));
  });
});
