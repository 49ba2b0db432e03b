// The parts of a checkout that the benchmark uses: only a few, so that it can measure checkouts with a different
// structure.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type Embedded = typeof import('../../../src/embedded/embedded.ts');
type ServerBinary = typeof import('../../../src/embedded/server-binary.ts');
type Service = typeof import('../../../src/service.ts');
type Bootstrap = typeof import('../../../src/primitives/org/bootstrap.ts');

export type Tree = Pick<Embedded, 'startEmbedded'> &
  Pick<ServerBinary, 'findRedisServer'> &
  Pick<Service, 'startService'> &
  Pick<Bootstrap, 'bootstrap'> & { readonly root: string };

export async function openTree(root: string): Promise<Tree> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(root, 'src', path)).href);
  const { startEmbedded } = (await load('embedded/embedded.ts')) as Embedded;
  const { findRedisServer } = (await load('embedded/server-binary.ts')) as ServerBinary;
  const { startService } = (await load('service.ts')) as Service;
  const { bootstrap } = (await load(
    existsSync(join(root, 'src/org')) ? 'org/bootstrap.ts' : 'primitives/org/bootstrap.ts',
  )) as Bootstrap;
  return { root, startEmbedded, findRedisServer, startService, bootstrap };
}

const time = "redis.call('TIME')";
/** Microseconds since 1970: in the first minute of a day. */
const START = Date.UTC(2027, 0, 4) * 1000;
/** Small enough that all gathered calls are in that minute, and that none meets a timer. */
const STEP = 250;

/** Still asks Redis for the time, which is part of a call's cost, but advances by the same step with each call. */
const ticking = `local tickingClock = { micros = ${START} }
function tickingClock.instead()
  tickingClock.micros = tickingClock.micros + ${STEP}
  return { math.floor(tickingClock.micros / 1000000), tickingClock.micros % 1000000 }
end
`;

/** Writes the checkout's own clock to a file, with the benchmark's time in place of the store's. */
export async function writeClock({ root }: Tree, path: string): Promise<void> {
  const [before, after, ...more] = (await readFile(join(root, 'lua/lib/clock.lua'), 'utf8')).split(time);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`lua/lib/clock.lua of ${root} does not read ${time} in one place`);
  // Below the file's header.
  const [head = ''] = /^(?:---.*\n)*/.exec(before) ?? [];
  await writeFile(path, `${head}${ticking}${before.slice(head.length)}tickingClock.instead(${time})${after}`);
}
