import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compress } from '../../../docs/codecs/compress.ts';
import { folder } from '../../../docs/codecs/folder.ts';
import { type Bucket, s3 } from '../../../docs/codecs/s3.ts';
import { type Codec, createMuster, Worker } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { findPython } from '../../support/python.ts';
import type { World } from '../../support/world.ts';

export type CodecName = 'gzip' | 'folder' | 's3';

export interface Read {
  readonly value?: unknown;
  readonly error?: string;
}

/** A client with codecs of docs/codecs. */
export interface Reader {
  /** Reads a value of a message. */
  read(codecs: readonly CodecName[], messageId: string, field?: 'payload' | 'result'): Promise<Read>;
  /** Has a worker answer each message of a mailbox with its payload. */
  work(codecs: readonly CodecName[], mailboxId: string): Promise<void>;
  stop(): Promise<void>;
}

interface Places {
  readonly folder: string;
  readonly bucket: Bucket;
}

export const readers: Readonly<Record<string, (world: World, places: Places) => Promise<Reader>>> = {
  TypeScript: async (world, places) => {
    const byName: Readonly<Record<CodecName, Codec>> = {
      gzip: compress,
      folder: folder(places.folder),
      s3: s3(places.bucket),
    };
    const client = (names: readonly CodecName[]) =>
      createMuster({
        url: world.url,
        key: world.apiKey,
        spaceId: world.spaceId,
        codecs: names.map((name) => byName[name]),
      });
    return {
      read: async (names, messageId, field = 'payload') => {
        const message = await client(names).message.view({ messageId });
        try {
          return { value: message[field] };
        } catch (error) {
          return { error: (error as Error).message };
        }
      },
      work: async (names, mailboxId) => {
        const options = { mailbox: { mailboxId }, closeOnSignals: false };
        const worker = new Worker<unknown, unknown>(client(names), options, ({ payload }) => payload);
        worker.on('error', () => undefined);
        await worker.drained();
        await worker.close();
      },
      stop: async () => undefined,
    };
  },
  Python: async (world, { folder, bucket }) => {
    const { command, env } = await findPython();
    const child = spawn(command, [fileURLToPath(new URL('codec_reader.py', import.meta.url))], {
      env: {
        ...env,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: ['../../../src/clients/python', '../../python']
          .map((path) => fileURLToPath(new URL(path, import.meta.url)))
          .join(':'),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    endAtExit(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const access = { url: world.url, key: world.apiKey, spaceId: world.spaceId, folder, bucket: bucket.url };
    const ask = async (asked: object): Promise<Read> => {
      child.stdin.write(`${JSON.stringify({ ...access, ...asked })}\n`);
      const { value } = await lines.next();
      return JSON.parse(value ?? '{"error":"the program has ended"}');
    };
    return {
      read: (codecs, messageId, field = 'payload') => ask({ act: 'read', codecs, messageId, field }),
      work: async (codecs, mailboxId) => void (await ask({ act: 'work', codecs, mailboxId })),
      stop: async () => {
        child.stdin.end();
        await once(child, 'exit');
      },
    };
  },
};
