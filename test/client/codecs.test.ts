import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { compress } from '../../docs/codecs/compress.ts';
import { encrypt } from '../../docs/codecs/encrypt.ts';
import { folder } from '../../docs/codecs/folder.ts';
import { s3, signed } from '../../docs/codecs/s3.ts';
import {
  type Codec,
  createMuster,
  type Handler,
  type Muster,
  type MusterOptions,
  Worker,
} from '../../src/clients/typescript/index.ts';
import { S3 } from '../support/bucket.ts';
import { World } from '../support/world.ts';

const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex');

describe('codecs of the typed client', () => {
  let world: World;
  let path: string;
  let plain: Muster;
  const scopeId = randomUUID();
  const workers: Pick<Worker, 'close'>[] = [];
  before(async () => {
    world = await World.create();
    path = await mkdtemp(join(tmpdir(), 'muster-codecs-'));
    plain = client();
  });
  afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(0))));
  after(() => rm(path, { recursive: true }));

  const client = (codecs?: readonly Codec[], more: Partial<MusterOptions> = {}) =>
    createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, codecs, ...more });
  const mailbox = async (more: object = {}) => (await plain.mailbox.create({ name: randomUUID(), ...more })).id;

  /** Has a worker answer a message, and resolves with it as it stands then. */
  async function worked<P, R>(muster: Muster, mailboxId: string, payload: P, handler: Handler<P, R>) {
    const { id: messageId } = await muster.message.send({ mailboxId, scopeId, payload });
    workers.push(new Worker<P, R>(muster, { mailbox: { mailboxId }, closeOnSignals: false }, handler));
    return muster.message.view<P, R>({ messageId, waitSeconds: 20 });
  }

  it('let work be larger than what a queue takes, and both ends see plain values', async () => {
    const muster = client([compress, await encrypt(randomBytes(32)), folder(path)]);
    const mailboxId = await mailbox();
    const big = { text: noise(300_000) };
    const { id, payload, result, state } = await worked(muster, mailboxId, big, (message) => ({
      answer: message.payload.text,
    }));
    expect([state, payload, result]).to.deep.equal(['ACKED', big, { answer: big.text }]);
    const kept = await plain.message.view<{ $codec: string[]; data: string }, unknown>({ messageId: id });
    expect(kept.payload.$codec).to.deep.equal(['gzip', 'aes-256-gcm', 'folder']);
    expect(JSON.stringify(kept)).to.have.length.below(3_000);
    const [file = ''] = await readdir(path);
    expect(file).to.match(/^[0-9a-f]{64}$/);
  });

  it('encrypt as the codec in Python does', async () => {
    // test/python/codecs_test.py has the same value.
    const { decode } = await encrypt(Buffer.alloc(32, 7));
    const sealed = Buffer.from('AAECAwQFBgcICQoLY6OdFWV9+3NV1ZdfXpvzn8NBmNM39epPvXRnOzw2WhJRbw==', 'base64');
    expect(Buffer.from(await decode(sealed)).toString()).to.equal('{"text":"grüße"}');
  });

  it('keep every JSON value as it is, those that look encoded included', async () => {
    const never: Codec = { name: 'never', encode: () => undefined, decode: (bytes) => bytes };
    const values = [null, 0, '', [], {}, 'grüße 👋', { $codec: ['gzip'], data: 'AAAA' }, { $codec: 1, more: [1] }];
    for (const codecs of [[never], [await encrypt(randomBytes(32))]]) {
      const muster = client(codecs);
      for (const value of values) {
        const { payload, result } = await worked(muster, await mailbox(), value, (message) => message.payload);
        expect([payload, result]).to.deep.equal([value, value]);
      }
    }
  });

  it('work in batches, lists, groups and schedules', async () => {
    const muster = client([await encrypt(randomBytes(32))]);
    const mailboxId = await mailbox();
    const { message } = muster.call;
    await muster.batch([1, 2].map((payload) => message.send({ mailboxId, scopeId, payload })));
    const listed: unknown[] = [];
    for await (const { payload } of muster.message.all({ mailboxId })) listed.push(payload);
    expect(listed).to.deep.equal([1, 2]);
    const { groupId } = await muster.group.create({ mailboxId, condition: 'ALL_TERMINAL' });
    await muster.task.submit({ groupId, taskKey: 'a', input: { n: 3 } });
    await muster.group.seal({ groupId });
    workers.push(new Worker(muster, { mailbox: { mailboxId }, closeOnSignals: false }, ({ payload }) => [payload]));
    await plain.mailbox.view({ mailboxId, waitSeconds: 20 });
    const { members } = await muster.group.view({ groupId });
    expect(members.map(({ outcome }) => outcome)).to.deep.equal([[{ n: 3 }]]);
    expect(JSON.stringify(await plain.group.view({ groupId }))).to.include('aes-256-gcm');
    const asked = { name: 'nightly', mailboxId, scopeId, cron: '0 3 * * *', payload: { secret: 1 } };
    await muster.schedule.create(asked);
    expect((await muster.schedule.list()).schedules.map(({ payload }) => payload)).to.deep.equal([{ secret: 1 }]);
    expect(JSON.stringify(await plain.schedule.list())).not.to.include('secret');
  });

  it('encode a result once, so that a repetition of its completion is the same request', async () => {
    let failures = 0;
    const bodies = new Set<string>();
    const failing: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (!/(complete|batch)$/.test(new URL(String(url)).pathname)) return response;
      bodies.add(String(init?.body));
      if (failures++ % 2 === 0) throw new TypeError('the answer is lost');
      return response;
    };
    const muster = client([await encrypt(randomBytes(32))], { fetch: failing });
    const [mailboxId, next] = [await mailbox(), await mailbox()];
    const handlers: readonly Handler<unknown, unknown>[] = [
      () => 'done',
      (_, { finish }) => finish('done', (t) => t.message.send({ mailboxId: next, scopeId, payload: 'go on' })),
    ];
    for (const handler of handlers) {
      const { id: messageId } = await muster.message.send({ mailboxId, scopeId, payload: 1 });
      const options = { mailbox: { mailboxId }, closeOnSignals: false, batch: false };
      const worker = new Worker(muster, options, handler);
      workers.push(worker);
      await new Promise<void>((resolve) => worker.on('completed', () => resolve()));
      expect((await muster.message.view({ messageId })).result).to.equal('done');
      await worker.close();
    }
    const sent = await muster.message.list({ mailboxId: next });
    expect(sent.messages.map(({ payload }) => payload)).to.deep.equal(['go on']);
    expect([failures, bodies.size]).to.deep.equal([4, 2]);
  });

  it('fail where a value is read that cannot be decoded: the message comes back, and others go on', async () => {
    const [ours, theirs] = [client([await encrypt(randomBytes(32))]), client([await encrypt(randomBytes(32))])];
    const mailboxId = await mailbox({ maxAttempts: 1 });
    const { id } = await theirs.message.send({ mailboxId, scopeId, payload: 'theirs' });
    const good = await worked(ours, mailboxId, 'ours', ({ payload }) => payload);
    expect(good.result).to.equal('ours');
    const bad = await ours.message.view({ messageId: id, waitSeconds: 20 });
    expect(bad.state).to.equal('FAILED');
    expect(bad.lastError).to.match(/operation/i);
    expect(() => bad.payload).to.throw();
    const unknown = client([compress]);
    const seen = await unknown.message.view({ messageId: id });
    expect(() => seen.payload).to.throw('encoded by aes-256-gcm: createMuster needs this codec');
  });

  describe('with a store of S3', () => {
    let store: S3;
    before(async () => {
      store = await S3.start();
    });
    after(() => store.stop());

    it('keeps large values there', async () => {
      const text = noise(200_000);
      const { payload, result } = await worked(client([s3(store.bucket)]), await mailbox(), text, (message) => [
        message.payload,
      ]);
      expect([payload, result]).to.deep.equal([text, [text]]);
      expect(store.objects.size).to.equal(2);
    });

    it('signs as the SDK of AWS does', () => {
      const at = new Date('2026-01-31T12:00:00Z');
      const place = { ...store.bucket, url: 'http://127.0.0.1:9000/my-bucket' };
      const { headers } = signed(place, 'PUT', 'abc', Buffer.from('hello'), at);
      // What botocore's S3SigV4Auth gives for the same request.
      const signature = 'e122c89197fe2c1e02ee0b0fd6473f3a437070b53afedadabf0e68d13fee35aa';
      expect(headers.get('Authorization')).to.match(new RegExp(`^AWS4-HMAC-SHA256 .*, Signature=${signature}$`));
    });
  });
});
