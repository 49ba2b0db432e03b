import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Document } from './document.ts';
import { Reader } from './reader.ts';

const block = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\`\n`;

describe('The executor of documented examples', () => {
  let folder: string;
  let reader: Reader;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-example-'));
  });
  beforeEach(async () => {
    reader = await Reader.start();
  });
  afterEach(() => reader.end());
  after(() => rm(folder, { recursive: true }));

  async function open(...blocks: string[]): Promise<Document> {
    const path = join(folder, 'example.md');
    await writeFile(path, blocks.join('\nText in between.\n\n'));
    return new Document(path);
  }

  /** Follows a document; returns the message of the first failure, or `as shown`. */
  async function follow(...blocks: string[]): Promise<string> {
    try {
      for (const example of (await open(...blocks)).examples) await reader.follow(example, false);
      return 'as shown';
    } catch (error) {
      return (error as Error).message;
    }
  }

  const ids = ['0190a1b2-0000-7000-8000-000000000001', '0190a1b2-0000-7000-8000-000000000002'];
  const print = (json: string): string => block('bash', `echo '${json}'`);

  it('accepts other ids and times', async () => {
    const time = '2026-01-01T00:00:00.000Z';
    const shown = block('json', `{"id":"${ids[0]}",\n "at":"${time}"}`);
    expect(await follow(print(`{"id":"${ids[1]}","at":"${time.replace('2026', '2027')}"}`) + shown)).to.equal(
      'as shown',
    );
  });

  it('notices another value, another order and an additional member', async () => {
    const shown = block('json', '{"a":1,"b":null}');
    for (const json of ['{"a":2,"b":null}', '{"b":null,"a":1}', '{"a":1,"b":null,"c":[]}'])
      expect(await follow(print(json) + shown)).to.include('to equal');
  });

  it('notices a different id where the document shows the same one', async () => {
    const shown = block('json', `{"id":"${ids[0]}"}`);
    expect(await follow(print(`{"id":"${ids[0]}"}`) + shown, print(`{"id":"${ids[1]}"}`) + shown)).to.include(
      'to equal',
    );
  });

  it('notices a failing command, and an error that is not shown', async () => {
    expect(await follow(block('bash', 'false'))).to.include('status 1');
    expect(await follow(print('{"error":{"code":"INTERNAL"}}'))).to.include('it fails without saying so');
  });

  it('refuses a block that it cannot run', async () => {
    expect(await follow(block('yaml', 'a: 1'))).to.include('nobody knows how to run');
    expect(await follow(block('', 'redis-cli PING'))).to.include('nobody knows how to run');
    expect(await follow(block('bash', 'npm start\nls'))).to.include('a block of its own');
    expect(await follow(block('bash', 'npm run nothing'))).to.include('status 1');
    expect(await follow(block('toml', 'a = 1'))).to.include('nobody knows how to run');
  });

  it('updates the document with the actual output, wrapped into short lines', async () => {
    const document = await open(block('bash', `echo '{"a":[1,2],"b":"${'x, '.repeat(40)}"}'`) + block('json', '{}'));
    const [example] = document.examples;
    if (!example?.shown) throw new Error('no example');
    document.rewrite(new Map([[example.shown, (await reader.follow(example, true)) ?? '']]));
    const text = await readFile(join(folder, 'example.md'), 'utf8');
    expect(text).to.include(block('json', `{"a":[1,2],\n "b":"${'x, '.repeat(40)}"}`));
    expect(await reader.follow(new Document(join(folder, 'example.md')).examples[0] ?? example, false)).to.equal(
      undefined,
    );
  });
});
