import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import * as admin from '../../../src/primitives/org/admin.ts';
import { newApiKey } from '../../../src/primitives/org/api-key.ts';
import { emptyStore } from '../../redis/empty-store.ts';
import { type OwnStore, rejectionOf } from '../../support/own-store.ts';

describe('API keys', () => {
  let store: OwnStore;
  let to: admin.Admin;
  before(async () => {
    store = await emptyStore();
    to = await store.admin();
    await admin.createOrganization(to, { org: 'acme', plan: 'team' });
  });

  it('are mk_<org>_<43 base62 characters> and use all 62 characters', () => {
    const keys = Array.from({ length: 200 }, () => newApiKey('a-1'));
    for (const key of keys) expect(key).to.match(/^mk_a-1_[0-9A-Za-z]{43}$/);
    expect(new Set(keys).size).to.equal(200);
    expect(new Set(keys.join('').replaceAll('mk_a-1_', '')).size).to.equal(62);
  });

  it('are stored only as digests: neither the store nor its files contain the key', async () => {
    const { apiKey } = await admin.createKey(to, { org: 'acme', permissions: ['coordination_read'], name: 'seen' });
    const secret = apiKey.slice('mk_acme_'.length);
    const everything = await dumpAll();
    expect(everything, 'the dump sees what there is').to.include('seen');
    expect(everything).not.to.include(secret);
    const files = await readdir(store.dataDir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      expect(await readFile(join(file.parentPath, file.name), 'latin1'), file.name).not.to.include(secret);
    }
  });

  it('are never shown again by lists', async () => {
    const { keyId, apiKey } = await admin.createKey(to, { org: 'acme', permissions: ['resource_config'] });
    const listed = (await admin.listKeys(to, 'acme')).find((key) => key.keyId === keyId);
    expect(listed).to.deep.include({
      org: 'acme',
      name: null,
      permissions: ['resource_config'],
      spaces: [],
      revokedAt: null,
    });
    expect(JSON.stringify(listed)).not.to.include(apiKey.slice(-43));
  });

  it('are listed over pages, each once, oldest first', async () => {
    await admin.createOrganization(to, { org: 'rotates', plan: 'enterprise' });
    const create = () => admin.createKey(to, { org: 'rotates', permissions: ['coordination_read'] });
    const created = await Promise.all(Array.from({ length: 300 }, create));
    const listed = (await admin.listKeys(to, 'rotates')).map((key) => key.keyId);
    expect(listed).to.deep.equal(created.map((key) => key.keyId).sort());
  });

  it('require at least one known permission, and spaces of their organization only', async () => {
    const { spaceId } = await admin.createSpace(to, { org: 'acme' });
    const key = (permissions: string[], spaces?: string[]) =>
      admin.createKey(to, { org: 'acme', permissions, ...(spaces && { spaces }) });
    for (const bad of [[], [''], ['read'], ['coordination_read', 'admin']]) {
      expect(await rejectionOf(key(bad)), bad.join()).to.equal('VALIDATION_FAILED');
    }
    for (const bad of [[], [''], ['x'], [spaceId, 'x']]) {
      expect(await rejectionOf(key(['coordination_read'], bad)), bad.join()).to.equal('VALIDATION_FAILED');
    }
    const strangers = Array.from({ length: 101 }, () => randomUUID());
    expect(await rejectionOf(key(['coordination_read'], strangers))).to.equal('VALIDATION_FAILED');
    expect(await rejectionOf(key(['coordination_read'], strangers.slice(1)))).to.equal('SPACE_NOT_FOUND');
    const stranger = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e';
    expect(await rejectionOf(key(['coordination_read'], [spaceId, stranger]))).to.equal('SPACE_NOT_FOUND');
    const created = await key(
      ['resource_config', 'coordination_read', 'resource_config'],
      [spaceId.toUpperCase(), spaceId],
    );
    expect(created).to.deep.include({ permissions: ['coordination_read', 'resource_config'], spaces: [spaceId] });
  });

  async function dumpAll(): Promise<string> {
    const found: string[] = [];
    for (const key of await to.store.keys('*')) {
      const type = await to.store.type(key);
      if (type === 'hash') found.push(key, JSON.stringify(await to.store.hgetall(key)));
      else if (type === 'stream') found.push(key, JSON.stringify(await to.store.xrange(key, '-', '+')));
      else if (type === 'set') found.push(key, JSON.stringify(await to.store.smembers(key)));
      else if (type === 'zset') found.push(key, JSON.stringify(await to.store.zrange(key, '0', '-1')));
      else if (type === 'string') found.push(key, String(await to.store.get(key)));
      else throw new Error(`a ${type}, which this test does not read: ${key}`);
    }
    return found.join('\n');
  }
});
