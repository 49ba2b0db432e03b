import { expect } from 'chai';
import { connect } from '../../src/engine/redis/connection.ts';
import { clients } from '../support/clients.ts';
import { dirt, isDeclared } from '../support/dirt.ts';
import { OwnStore } from '../support/own-store.ts';

const id = '0190a1b2-0000-7000-8000-000000000000';

describe('the suite fails if tests leave something behind', () => {
  let ownStore: OwnStore;
  before(async () => {
    ownStore = await OwnStore.start();
  });
  after(() => ownStore.stop());

  it('names a connection that was not closed, and no other', async () => {
    const known = await clients(ownStore.url);
    const leaked = await connect(ownStore.url);
    await leaked.client('SETNAME', 'forgotten');
    const found = await dirt(ownStore.url, known);
    expect(found.length).to.equal(1);
    expect(found[0]).to.match(/^leaked: id=\d+ .*name=forgotten/);
    leaked.disconnect();
    expect(await dirt(ownStore.url, known)).to.deep.equal([]);
  });

  it('names a key that no pattern describes, and a field that no record declares', async () => {
    const known = await clients(ownStore.url);
    const store = await connect(ownStore.url);
    await store.set(`muster:{acme}:7:nothing`, '1');
    await store.hset(`muster:{acme}:${id}`, 'name', 'n');
    await store.hset(`muster:{acme}:7:barrier:${id}`, 'state', 'OPEN', 'colour', 'red');
    store.disconnect();
    expect(await dirt(ownStore.url, known)).to.deep.equal([
      `undeclared key: muster:{acme}:7:nothing`,
      `undeclared field: muster:{acme}:7:barrier:${id}: colour`,
    ]);
  });

  it('knows keys by every part of their pattern and by their type', () => {
    expect(isDeclared('muster:{acme}', 'hash')).to.equal(true);
    expect(isDeclared(`muster:{acme}:7:mailbox:${id}`, 'hash')).to.equal(true);
    expect(isDeclared(`muster:{acme}:7:mailbox:${id}`, 'string')).to.equal(false);
    expect(isDeclared(`muster:{acme}:7:mailbox:jobs`, 'hash')).to.equal(false);
    expect(isDeclared(`muster:{acme}:${id}:mailbox:${id}`, 'hash')).to.equal(false);
    expect(isDeclared('muster:{acme}:other', 'hash')).to.equal(false);
    expect(isDeclared(`muster:acme:${id}`, 'hash')).to.equal(false);
    expect(isDeclared('{muster}:queue:sweep:meta', 'hash')).to.equal(true);
    expect(isDeclared('muster:{acme}:clock', 'string')).to.equal(true);
  });
});
