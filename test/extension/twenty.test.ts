// A library has room for many more rooms: twenty copies of the lock beside all others, in one service.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import pino from 'pino';
import { rooms } from '../../src/primitives/primitives.ts';
import { collect, type Room } from '../../src/primitives/room.ts';
import { startService } from '../../src/service.ts';
import { OwnStore } from '../support/own-store.ts';
import { overrides, World } from '../support/world.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = pathToFileURL(`${fileURLToPath(new URL('../../', import.meta.url))}`).href;
const letters = [...'abcdefghijklmnopqrst'];

/** The text with every name of the lock made that of a copy. */
function renamed(text: string, letter: string): string {
  return text
    .replaceAll(/(?<![bc])lock/g, `lock${letter}`)
    .replaceAll('Lock', `Lock${letter}`)
    .replaceAll('LOCK', `LOCK${letter.toUpperCase()}`);
}

/** Writes a copy of the room below a folder, and loads it. */
async function copy(folder: string, letter: string): Promise<Room> {
  const place = join(folder, letter);
  await mkdir(join(place, 'lua'), { recursive: true });
  for (const file of await readdir(join(here, 'lua')))
    await writeFile(
      join(place, 'lua', renamed(file, letter)),
      renamed(await readFile(join(here, 'lua', file), 'utf8'), letter),
    );
  const module = join(place, 'room.ts');
  const text = renamed(await readFile(join(here, 'lock.ts'), 'utf8'), letter);
  await writeFile(module, text.replaceAll("'../../src/", `'${root}src/`).replaceAll("'../", `'${root}test/`));
  const loaded = (await import(pathToFileURL(module).href)) as Record<string, Room>;
  return loaded[`lock${letter}Room`] as Room;
}

describe('Twenty more rooms', () => {
  it('fit into the library, and work', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-rooms-'));
    const ownStore = await OwnStore.start();
    const copies = await Promise.all(letters.map((letter) => copy(folder, letter)));
    const rest = { role: 'api', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }), overrides } as const;
    const service = await startService({ redisUrl: ownStore.url, product: collect([...rooms, ...copies]), ...rest });
    try {
      const world = await World.create({ on: service });
      const headers = { Authorization: `Bearer ${world.apiKey}`, 'Content-Type': 'application/json' };
      for (const letter of letters) {
        const path = `${world.url}/v1/spaces/${world.spaceId}/lock${letter}s`;
        const body = JSON.stringify({ scopeId: randomUUID(), name: 'build', holder: 'ann', leaseSeconds: 30 });
        const acquire = () =>
          fetch(path, { method: 'POST', headers: { ...headers, 'Idempotency-Key': randomUUID() }, body });
        const first = await acquire();
        expect(first.status, `${letter}: ${await first.text()}`).to.equal(201);
        const second = await acquire();
        expect(await second.text(), letter).to.contain(`LOCK${letter.toUpperCase()}_HELD`);
      }
    } finally {
      await service.stop();
      await ownStore.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
