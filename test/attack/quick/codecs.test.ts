import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { S3 } from '../../support/bucket.ts';
import { World } from '../../support/world.ts';
import { type CodecName, type Reader, readers } from '../support/codec-readers.ts';

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const coded = ($codec: unknown, data: Buffer | string) => ({ $codec, data: Buffer.from(data).toString('base64') });
const zip = (value: unknown) => gzipSync(JSON.stringify(value));
const maxBytes = 2 ** 24;
const secret = 'the word of another bucket';

/** Starts a store whose other bucket, and whose redirections, have what a reader must not be led to. */
async function trap(): Promise<S3> {
  const store = await S3.start();
  store.objects.set('/other-bucket/secret', Buffer.from(JSON.stringify(secret)));
  store.redirects.set(`/my-bucket/${'a'.repeat(64)}`, '/other-bucket/secret');
  store.objects.set(`/my-bucket/${'b'.repeat(64)}`, Buffer.from(JSON.stringify(secret)));
  const large = randomBytes(maxBytes + 1);
  store.objects.set(`/my-bucket/${sha256(large)}`, large);
  largeKey = sha256(large);
  return store;
}
let largeKey = '';

interface Attack {
  readonly title: string;
  readonly codecs: readonly CodecName[];
  readonly payload: () => unknown;
  readonly error: string;
}

const failed = (codec: string): string => `the value cannot be decoded: ${codec} failed`;
const order = /^the value names its codecs twice, or in another order than \w+ has them$/;
const s3 = (title: string, key: () => string): Attack => ({
  title,
  codecs: ['s3'],
  payload: () => coded(['s3'], key()),
  error: failed('s3'),
});
const attacks: readonly Attack[] = [
  s3('a key that leads to another bucket', () => '../other-bucket/secret'),
  s3('a key with an encoded path', () => '%2e%2e/other-bucket/secret'),
  s3('a key with a query', () => `${'b'.repeat(64)}?versionId=1`),
  s3('a key in capitals', () => 'B'.repeat(64)),
  s3('the key of an object with other content', () => 'b'.repeat(64)),
  s3('a key that the bucket redirects', () => 'a'.repeat(64)),
  s3('the key of an object that is missing', () => 'c'.repeat(64)),
  s3('the key of an object that is too large', () => largeKey),
  {
    title: 'a name that leads out of the folder',
    codecs: ['folder'],
    payload: () => coded(['folder'], '../secret'),
    error: failed('folder'),
  },
  {
    title: 'the name of a file with other content',
    codecs: ['folder'],
    payload: () => coded(['folder'], 'd'.repeat(64)),
    error: failed('folder'),
  },
  {
    title: 'a value that unpacks to more than 16 MiB',
    codecs: ['gzip'],
    payload: () => coded(['gzip'], gzipSync(`"${'0'.repeat(maxBytes)}"`)),
    error: failed('gzip'),
  },
  {
    title: 'a value that is cut off',
    codecs: ['gzip'],
    payload: () => coded(['gzip'], zip('value').subarray(0, -9)),
    error: failed('gzip'),
  },
  {
    title: 'text that is not JSON',
    codecs: ['gzip'],
    payload: () => coded(['gzip'], gzipSync(secret)),
    error: failed('JSON'),
  },
  {
    title: 'data that are not Base64',
    codecs: ['gzip'],
    payload: () => ({ $codec: ['gzip'], data: '!secret!' }),
    error: failed('Base64'),
  },
  ...[{ $codec: 'gzip', data: '' }, { $codec: ['gzip', 1], data: '' }, { $codec: ['gzip'] }].map((payload) => ({
    title: `the half-encoded value ${JSON.stringify(payload)}`,
    codecs: ['gzip'] as const,
    payload: () => payload,
    error: 'the value looks encoded, but not as a client does it',
  })),
];

describe('Codecs that are ready to copy', () => {
  let world: World;
  let path: string;
  let store: S3;
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create();
    path = await mkdtemp(join(tmpdir(), 'muster-codecs-'));
    await writeFile(join(path, 'd'.repeat(64)), JSON.stringify(secret));
    store = await trap();
  });
  after(async () => {
    store.stop();
    await rm(path, { recursive: true });
  });

  const mailbox = async () => (await world.mustPost('/mailboxes', { name: randomUUID(), maxAttempts: 1 })).id;
  /** Sends a payload as it is, as anybody with a key can. */
  const send = async (payload: unknown, mailboxId?: string): Promise<string> =>
    (await world.mustPost(`/mailboxes/${mailboxId ?? (await mailbox())}/messages`, { scopeId, payload })).id;

  for (const [language, start] of Object.entries(readers))
    describe(`in ${language}`, () => {
      let reader: Reader;
      before(async () => {
        reader = await start(world, { folder: path, bucket: store.bucket });
      });
      after(() => reader.stop());

      for (const { title, codecs, payload, error } of attacks)
        it(`refuse ${title}, and say nothing of what they found`, async () => {
          expect(await reader.read(codecs, await send(payload()))).to.deep.equal({ error });
        });

      it('never ask for anything outside the bucket', () => {
        expect(store.asked.filter((url) => !/^\/my-bucket\/[0-9a-f]{64}$/.test(url))).to.deep.equal([]);
      });

      it('put nothing of another bucket into lastError', async () => {
        const mailboxId = await mailbox();
        const id = await send(coded(['s3'], '../other-bucket/secret'), mailboxId);
        await reader.work(['s3'], mailboxId);
        const { state, lastError } = (await world.get(`/messages/${id}`)).body;
        expect([state, lastError.replace(/^\w+: /, '')]).to.deep.equal(['FAILED', failed('s3')]);
      });

      it('are used once, in the order that the client gives', async () => {
        const twice = await send(coded(['gzip', 'gzip'], gzipSync(zip(1))));
        expect((await reader.read(['gzip', 's3'], twice)).error).to.match(order);
        const reversed = await send(coded(['s3', 'gzip'], gzipSync('a'.repeat(64))));
        expect((await reader.read(['gzip', 's3'], reversed)).error).to.match(order);
      });

      it('leave what looks encoded deep in a plain value as it is', async () => {
        const lookAlike = coded(['gzip'], zip('unpacked'));
        const record = { id: scopeId, mailboxId: scopeId, messageId: scopeId };
        const value = { payload: lookAlike, result: lookAlike, outcome: lookAlike, ...record, list: [lookAlike] };
        const deep = { ...record, payload: { ...record, payload: value }, list: [value] };
        expect(await reader.read(['gzip'], await send(deep))).to.deep.equal({ value: deep });
      });
    });
});
