import type { Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { luaRoot } from '../../src/engine/library/source.ts';
import { Document } from './document.ts';
import { fillSpace } from './night.ts';
import { isBuilt, Reader, readAll } from './reader.ts';

const document = new Document(join(luaRoot, 'README.head.md'));

/** Commands that could block or change a store in use. */
const unsafe =
  /\b(KEYS|MONITOR|FLUSH\w*|HSCAN|SMEMBERS|SORT|DEL|UNLINK|SET|HSET|ZADD|XADD|XTRIM|EVAL|FCALL|CONFIG|DEBUG)\b/;
const unbounded = /\b(LRANGE|ZRANGE|XRANGE|XREVRANGE)\b(?!.*(COUNT \d+| 0 \d+))|\bS?SCAN\b(?!.*COUNT \d+)/;

describe('The recipes of lua/README.md', () => {
  let reader: Reader;
  let receiver: Server;
  before(async () => {
    reader = await Reader.start();
    await reader.startServer({ WEBHOOK_ALLOW_PRIVATE: 'true', ...isBuilt });
    const { url, ...access } = await reader.access();
    const filled = await fillSpace(url, access);
    receiver = filled.receiver;
    const { PORT = '', RUN = '', ...ids } = filled.ids;
    await reader.know('HOOKS', `127.0.0.1:${PORT}`, '127.0.0.1:9000');
    await reader.know('RUN', RUN, RUN);
    for (const [index, [name, id]] of Object.entries(ids).entries())
      await reader.know(name, id, `01a1fc43-3c71-7002-984a-${String(index + 1).padStart(12, '0')}`);
  });
  after(async () => {
    receiver?.close();
    await reader?.end();
  });

  readAll(document, () => reader);

  it('only read, and a bounded number of entries', () => {
    const lines = document.examples.flatMap(({ block }) => block.text.split('\n'));
    expect(lines.filter((line) => unsafe.test(line) || unbounded.test(line))).to.deep.equal([]);
  });
});
