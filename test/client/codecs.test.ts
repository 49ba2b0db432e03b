import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
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
  UnreadableValue,
  Worker,
} from '../../src/clients/typescript/index.ts';
import { S3 } from '../support/bucket.ts';
import { World } from '../support/world.ts';

const expectedIdBefore = 'encryption needs the id of the mailbox, group or message before the call';
const sealedText =
  'ADUAAQIDBAUGBwgJCgtbIndvcmsvMDE5MGExYjItMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAwL2dyw7zDn2UiXWOjnRVlfftzVdWXX16b85/DQaY2J4Je/xgXv06AzgX+tpc=';
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
    expect(kept.payload.$codec).to.deep.equal(['gzip', 'aes-256-gcm-bound', 'folder']);
    expect(JSON.stringify(kept)).to.have.length.below(3_000);
    const [file = ''] = await readdir(path);
    expect(file).to.match(/^[0-9a-f]{64}$/);
  });

  it('encrypt as the codec in Python does', async () => {
    // test/python/codecs_test.py has the same value.
    const { decode } = await encrypt(new Uint8Array(32).fill(7));
    const sealed = Buffer.from(sealedText, 'base64');
    const read = await decode(sealed, ['work/0190a1b2-0000-7000-8000-000000000000/grüße']);
    expect(Buffer.from(read).toString()).to.equal('{"text":"grüße"}');
  });

  describe('that encrypt', () => {
    let muster: Muster;
    before(async () => {
      muster = client([compress, await encrypt(randomBytes(32))]);
    });

    /** Reads a payload or a result, or returns why it cannot be read. */
    async function read(messageId: string, field: 'payload' | 'result' = 'payload'): Promise<unknown> {
      const message = await muster.message.view({ messageId });
      try {
        return message[field];
      } catch (error) {
        return (error as Error).message;
      }
    }
    const stored = async (messageId: string) => (await plain.message.view({ messageId })).payload;
    const elsewhere = 'the value cannot be decoded: aes-256-gcm-bound failed';

    it('bind a payload to its mailbox and its workKey', async () => {
      const [mailboxId, other] = [await mailbox(), await mailbox()];
      const { id } = await muster.message.send({ mailboxId, scopeId, payload: 'pay 7', workKey: 'a/b' });
      expect(await read(id)).to.equal('pay 7');
      const payload = await stored(id);
      for (const place of [{ mailboxId: other, workKey: 'a/b' }, { mailboxId, workKey: 'a/c' }, { mailboxId }]) {
        const copy = await plain.message.send({ ...place, scopeId, payload });
        expect(await read(copy.id)).to.equal(elsewhere);
      }
    });

    it('bind a payload without a workKey to its mailbox alone', async () => {
      const mailboxId = await mailbox();
      const { id } = await muster.message.send({ mailboxId, scopeId, payload: 'pay 7' });
      const payload = await stored(id);
      const here = await plain.message.send({ mailboxId, scopeId, payload });
      const there = await plain.message.send({ mailboxId: await mailbox(), scopeId, payload });
      expect([await read(id), await read(here.id), await read(there.id)]).to.deep.equal(['pay 7', 'pay 7', elsewhere]);
    });

    it('bind the input of a task to its group and its taskKey', async () => {
      const mailboxId = await mailbox();
      const group = () => muster.group.create({ mailboxId, condition: 'ALL_TERMINAL' });
      const [{ groupId }, other] = [await group(), await group()];
      const ids: string[] = [];
      for (const input of [{ n: 3 }, undefined]) {
        const taskKey = `${input}`;
        ids.push((await muster.task.submit({ groupId, taskKey, ...(input && { input }) })).messageId);
      }
      expect(await Promise.all(ids.map((id) => read(id)))).to.deep.equal([{ n: 3 }, null]);
      const input = await stored(ids[0] ?? '');
      const copy = await plain.task.submit({ groupId: other.groupId, taskKey: '[object Object]', input });
      expect(await read(copy.messageId)).to.equal(elsewhere);
    });

    it('bind a result to its message, and to the mailbox that it is sent to', async () => {
      const [mailboxId, results, other] = [await mailbox(), await mailbox(), await mailbox()];
      const claim = async () => {
        await muster.message.send({ mailboxId, scopeId, payload: 1 });
        const claimed = await muster.message.recv({ mailboxId, scopeId, holder: 'w', holderSession: 's' });
        return { messageId: claimed?.id ?? '', token: claimed?.token ?? '' };
      };
      const first = await claim();
      const done = await muster.message.complete({
        ...first,
        result: { payload: 'done', mailboxId: results, scopeId },
      });
      expect([await read(first.messageId, 'result'), await read(done.resultMessageId ?? '')]).to.deep.equal([
        'done',
        'done',
      ]);
      const { result: payload } = await plain.message.view({ messageId: first.messageId });
      const second = await claim();
      const copied = await plain.message.complete({ ...second, result: { payload, mailboxId: other, scopeId } });
      expect([await read(second.messageId, 'result'), await read(copied.resultMessageId ?? '')]).to.deep.equal([
        elsewhere,
        elsewhere,
      ]);
    });

    it('refuse a value that is not encrypted, null included', async () => {
      const mailboxId = await mailbox();
      const zipped = { $codec: ['gzip'], data: gzipSync('1').toString('base64') };
      for (const payload of ['plain', null, zipped, { $codec: [], data: 'MQ==' }]) {
        const { id } = await plain.message.send({ mailboxId, scopeId, payload });
        expect(await read(id)).to.equal('the value is not encoded by aes-256-gcm-bound, as every value must be');
      }
    });

    it('encrypt no value whose mailbox is not known before the call', async () => {
      const sending = muster.atomic((t) => {
        const { id: mailboxId } = t.mailbox.create({ name: randomUUID() });
        return t.message.send({ mailboxId, scopeId, payload: 1 });
      });
      const error = await sending.catch((thrown: Error) => thrown);
      expect(error).to.have.property('message', expectedIdBefore);
    });
  });

  it('have different names', () => {
    expect(() => client([compress, compress])).to.throw(TypeError, 'two codecs are named gzip');
  });

  it('encode every value if they seal values', async () => {
    const lax: Codec = { name: 'lax', seals: true, encode: () => undefined, decode: (bytes) => bytes };
    const sending = client([lax]).message.send({ mailboxId: await mailbox(), scopeId, payload: 1 });
    const error = await sending.catch((thrown: Error) => thrown);
    expect(error).to.have.property('message', 'the codec lax seals values, and has left one as it was');
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
    expect(bad.lastError).to.equal('Error: the value cannot be decoded: aes-256-gcm-bound failed');
    expect(() => bad.payload).to.throw();
    const unknown = client([compress]);
    const seen = await unknown.message.view({ messageId: id });
    expect(() => seen.payload).to.throw('encoded by aes-256-gcm-bound: createMuster needs this codec');
  });

  it('leave a number that JavaScript cannot hold to the value that has it, encoded or not', async () => {
    const reversed = { name: 'reversed', encode: () => undefined, decode: (bytes: Uint8Array) => bytes.toReversed() };
    const mailboxId = await mailbox();
    const coded = JSON.stringify({ $codec: ['reversed'], data: btoa(']3990474529917009[') });
    for (const payload of ['{"a":1e400}', coded, '"plain"'])
      await world.send(
        'POST',
        `/v1/spaces/${world.spaceId}/mailboxes/${mailboxId}/messages`,
        `{"scopeId":"${scopeId}","payload":${payload}}`,
        {
          Authorization: `Bearer ${world.apiKey}`,
          'Idempotency-Key': randomUUID(),
          'Content-Type': 'application/json',
        },
      );
    const textOf = (message: { readonly payload: unknown } | undefined): unknown => {
      try {
        return message?.payload;
      } catch (error) {
        return error instanceof UnreadableValue ? error.text : String(error);
      }
    };
    const read = async (codec: Codec) =>
      (await client([codec]).message.list({ mailboxId })).messages.map((message) => textOf(message));
    expect(await read(reversed)).to.deep.equal(['{"a":1e400}', '[9007199254740993]', 'plain']);
    const [number] = await read({ ...reversed, name: 'sealed', seals: true });
    expect(number).to.equal('Error: the value is not encoded by sealed, as every value must be');
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
