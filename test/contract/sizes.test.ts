import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Helpers beyond the size of helpers, and how long each may be: what every call does, in the order in which it is done. */
const longer: Readonly<Record<string, number>> = {
  ...{ 'lua/lib/call.lua': 190, 'lua/lib/records.lua': 160, 'lua/lib/sorted.lua': 130, 'lua/lib/usage.lua': 80 },
  ...{
    'lua/lib/gathered.lua': 90,
    'lua/lib/streams.lua': 90,
    'lua/lib/rates.lua': 85,
    'lua/lib/merge.lua': 75,
    'lua/scope/_scope.lua': 70,
  },
  ...{ 'lua/lib/unit.lua': 65, 'lua/webhook/_delivery.lua': 85 },
  ...{ 'src/declare/record.ts': 205, 'src/redis/loader.ts': 220, 'src/workers/dispatcher.ts': 225 },
  ...{ 'src/redis/scripts.ts': 210, 'test/cluster/parts.test.ts': 260, 'test/redis/cluster.test.ts': 255 },
  ...{ 'test/spec/webhook/deliver.test.ts': 255 },
};

/** How many lines a file may have; the first that fits. */
const sizes: readonly (readonly [form: RegExp, lines: number])[] = [
  [/^lua\/(lib\/|.*\/_)\w+\.lua$/, 60],
  [/^lua\/.*\.lua$/, 80],
  [/^test\/model\/(budget|barrier|allowance)\.model\.ts$/, 75],
  [/^test\/.*\.ts$/, 250],
  [/^src\/.*\.ts$/, 200],
];

const filesBelow = (folder: string): string[] =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => !/\/(node_modules|generated)\//.test(path));

describe('The files', () => {
  it('are no longer than their kind is to be', () => {
    const found = ['lua', 'src', 'test'].flatMap(filesBelow).flatMap((path) => {
      const most = longer[path] ?? sizes.find(([form]) => form.test(path))?.[1];
      if (most === undefined) return [];
      const lines = readFileSync(root + path, 'utf8').split('\n').length - 1;
      return lines > most ? [`${path} has ${lines} lines, and is to have ${most} at most`] : [];
    });
    expect(found).to.deep.equal([]);
  });

  it('ask src/redis/cluster.ts for what matters to them of a cluster, and do not know one themselves', () => {
    const knows = /\binstanceof (Cluster|Redis)\b|\.isCluster\b|\bimport\b[^;]*\bCluster\w*[^;]*from 'ioredis'/;
    const isKnowing = (path: string) => path.endsWith('.ts') && knows.test(readFileSync(root + path, 'utf8'));
    expect(filesBelow('src').filter(isKnowing)).to.deep.equal(['src/redis/cluster.ts']);
  });
});
