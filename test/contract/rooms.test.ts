import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { counted, events } from '../../src/engine/declare/event.ts';
import { id, number, text } from '../../src/engine/declare/field.ts';
import { record } from '../../src/engine/declare/record.ts';
import { replyReader } from '../../src/engine/declare/reply.ts';
import { emitters } from '../../src/engine/library/lua-events.ts';
import { luaNames, product, rooms } from '../../src/primitives/primitives.ts';
import { collect } from '../../src/primitives/room.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const names = rooms.map(({ name }) => name);

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending) && !/(^|\/)(node_modules|generated)\//.test(path))
    .map((path) => `${folder}/${path}`);
}

/** The places with forbidden code: `path: what`. */
function found(paths: readonly string[], forms: readonly RegExp[]): string[] {
  return paths.flatMap((path) => {
    const code = readFileSync(root + path, 'utf8').replaceAll(/^\s*(?:--|\/\/|\*|\/\*).*$/gm, '');
    return forms.flatMap((form) => [...code.matchAll(new RegExp(form, 'g'))].map(([what]) => `${path}: ${what}`));
  });
}

describe('The boundaries of rooms', () => {
  it('let only src/engine/redis/cluster.ts know whether the store is a cluster', () => {
    const knows = /\binstanceof (Cluster|Redis)\b|\.isCluster\b|\bimport\b[^;]*\bCluster\w*[^;]*from 'ioredis'/;
    const knowing = filesBelow('src', '.ts').filter((path) => knows.test(readFileSync(root + path, 'utf8')));
    expect(knowing).to.deep.equal(['src/engine/redis/cluster.ts']);
  });

  it('let the engine and the doors for HTTP and batches import nothing from a room', () => {
    const paths = ['engine', 'doors/http', 'doors/batch'].flatMap((folder) => filesBelow(`src/${folder}`, '.ts'));
    expect(found(paths, [/from '(?:\.\.\/)+primitives\b[^']*'/])).to.deep.equal([]);
  });

  it('let lua/lib include nothing from a room', () => {
    const included = filesBelow('lua/lib', '.lua').flatMap((path) =>
      [...readFileSync(root + path, 'utf8').matchAll(/@include (.*)/g)]
        .flatMap(([, files = '']) => files.split(' '))
        .filter((file) => !file.startsWith('lib/'))
        .map((file) => `${path}: ${file}`),
    );
    expect(included).to.deep.equal([]);
  });

  it('keep every room in a folder of its name in src/, and its Lua, if it has any, in lua/', () => {
    const folders = readdirSync(`${root}src/primitives`);
    expect(folders).to.include.members(names);
    const lua = readdirSync(`${root}lua`).filter((name) => !name.includes('.'));
    expect([...names, 'lib', 'retention', 'timer']).to.include.members(lua);
  });

  it('refuse a name that two rooms declare', () => {
    expect(() => collect([...rooms, { name: 'other', keys: { message: luaNames.keys['message'] as never } }])).to.throw(
      'message is declared twice',
    );
  });
});

/** What each name imports, directly or not. */
function reachable(graph: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, ReadonlySet<string>> {
  const from = (start: string): Set<string> => {
    const found = new Set(graph.get(start));
    // A set may grow while it is walked.
    for (const name of found) for (const next of graph.get(name) ?? []) found.add(next);
    return found;
  };
  return new Map([...graph.keys()].map((name) => [name, from(name)]));
}

/** The wings of src from the top down: what each holds, and which others it may import. */
const wings: Readonly<Record<string, readonly [holds: string, imports: readonly string[]]>> = {
  cli: [
    'the command `muster`',
    ['main', 'tools', 'jobs', 'pages', 'primitives', 'embedded', 'engine', 'clients', 'package'],
  ],
  tools: [
    'build, generator, release, demo, the server for tests',
    ['main', 'pages', 'primitives', 'embedded', 'engine', 'clients', 'external-programs', 'log', 'package'],
  ],
  main: [
    '`main.ts`, `serve.ts`, `service.ts`, `config.ts`: a process, put together',
    ['jobs', 'pages', 'doors', 'primitives', 'embedded', 'engine', 'log', 'package'],
  ],
  jobs: ['workers, snapshots, tracing', ['doors', 'primitives', 'embedded', 'engine', 'log', 'package']],
  pages: ['console, docs, the page of a question', ['doors', 'primitives', 'engine', 'package']],
  doors: ['HTTP, batch, MCP, tokens', ['primitives', 'engine', 'log', 'package']],
  primitives: ['the rooms', ['engine', 'package']],
  embedded: ['a Redis of our own', ['engine', 'external-programs', 'log', 'package']],
  engine: ['declarations, the Lua library, the store, routes, calls', ['package']],
  clients: ['for TypeScript and Python', []],
  'external-programs': ['finds and unpacks programs', []],
  log: ['`log.ts`', []],
  package: ['`package.ts`', []],
};

const wingOf = (path: string): string => {
  const [, top = '', ...rest] = path.split('/');
  const name = top.replace(/\.ts$/, '');
  return rest.length > 0 || ['log', 'package'].includes(name) ? name : 'main';
};

/** The table as docs/design.md has it. */
const wingTable = [
  '| Wing | Holds | May import |',
  '| --- | --- | --- |',
  ...Object.entries(wings).map(([name, [holds, imports]]) => `| ${name} | ${holds} | ${imports.join(', ') || '–'} |`),
].join('\n');

describe('The imports of src, types included', () => {
  const files = filesBelow('src', '.ts').filter((path) => !path.startsWith('src/clients/typescript/dist/'));
  // The generator writes imports of other files.
  const importsOf = (path: string): string[] =>
    [...readFileSync(root + path, 'utf8').matchAll(/\b(?:from|import|module) ?\(?'(\.[^']+)'/g)]
      .map(([, other = '']) => join(dirname(path), other).replace(/\.js$/, '.ts'))
      .filter((other) => files.includes(other));
  const divided = new Set(files.filter((path) => path.split('/').length > 3).map(wingOf));
  // src/engine/redis/due.ts is of src/engine/redis; a file directly in src, or in a wing of folders, is by itself.
  const folderOf = (path: string): string =>
    path
      .split('/')
      .slice(0, divided.has(wingOf(path)) ? 3 : 2)
      .join('/');
  const folders = new Map<string, string[]>();
  for (const path of files) {
    const folder = folderOf(path);
    const others = importsOf(path).map(folderOf);
    folders.set(folder, [...(folders.get(folder) ?? []), ...others.filter((other) => other !== folder)]);
  }

  it('form no circle of files', () => {
    const reached = reachable(new Map(files.map((path) => [path, importsOf(path)])));
    expect(files.filter((path) => reached.get(path)?.has(path))).to.deep.equal([]);
  });

  it('form no circle of folders', () => {
    const reached = reachable(folders);
    expect([...folders.keys()].filter((folder) => reached.get(folder)?.has(folder))).to.deep.equal([]);
  });

  it('point from wing to wing as the table says, which docs/design.md prints', () => {
    const wrong = files.flatMap((path) =>
      importsOf(path)
        .map((other) => [wingOf(path), wingOf(other), other] as const)
        .filter(([wing, other]) => wing !== other && !wings[wing]?.[1].includes(other))
        .map(([, , other]) => `${path} imports ${other}`),
    );
    expect(wrong).to.deep.equal([]);
    expect(Object.keys(wings)).to.include.members(files.map(wingOf));
    expect(readFileSync(`${root}docs/design.md`, 'utf8')).to.include(`\n${wingTable}\n`);
  });

  it('are 18 layers of folders at most, from main.ts to the ground', () => {
    const layers = new Map<string, number>();
    const layerOf = (folder: string): number => {
      const known = layers.get(folder);
      if (known !== undefined) return known;
      const layer = 1 + Math.max(0, ...(folders.get(folder) ?? []).map(layerOf));
      layers.set(folder, layer);
      return layer;
    };
    const highest = layerOf('src/main.ts');
    for (const folder of folders.keys()) layerOf(folder);
    const rows = Array.from({ length: Math.max(...layers.values()) }, (_, index) =>
      [...layers].filter(([, layer]) => layer === index + 1).map(([folder]) => folder.replace('src/', '')),
    );
    for (const [index, row] of [...rows.entries()].reverse())
      console.log(`      ${index + 1}  ${row.sort().join('  ')}`);
    expect(highest).to.be.at.most(18);
  });

  it('leave src with few entries: its wings, and the files of a process', () => {
    const entries = readdirSync(`${root}src`);
    expect(entries).to.have.length.at.most(17);
    expect(entries.map((entry) => wingOf(`src/${entry}${entry.endsWith('.ts') ? '' : '/'}`))).to.satisfy(
      (all: string[]) => all.every((wing) => wing in wings),
    );
  });
});

describe('Nothing is read by its position', () => {
  it('no file of the product destructures a reply', () => {
    const paths = ['primitives', 'jobs/workers', 'engine/metrics', 'jobs/snapshot', 'cli'].flatMap((folder) =>
      filesBelow(`src/${folder}`, '.ts'),
    );
    const forms = [
      /\bscripts\.execute\(/,
      /answer: \(\[/,
      /\b(?:values|row|reply|rest)\[\d+\]/,
      /as (?:Reply|Value\[\]|Values)\b/,
    ];
    expect(found(paths, forms)).to.deep.equal([]);
  });

  it('no script destructures a record, or reads it field by field', () => {
    const paths = filesBelow('lua', '.lua').filter((path) => !path.startsWith('lua/lib/'));
    const forms = [
      /\b\w+\[(?:[3-9]|\d\d+)\]/,
      /redis\.call\('HMGET', keys\.\w+\([^)]*\), '[^\n]*/,
      /\b(?:values|row|record|stored|reply)\[\d\]/,
    ];
    expect(found(paths, forms)).to.deep.equal([]);
  });

  it('a reply that differs from its declaration prevents the start', () => {
    const members = [{ name: 'id' }, { name: 'state' }];
    expect(() => replyReader('lock/view', members, { id: id(), fence: number() })).to.throw(
      'lock/view replies with id state, but what is read of it is fence id',
    );
    const read = replyReader('lock/view', members, { state: text(), id: id().orNull() });
    expect(read(['', 'HELD'])).to.deep.equal({ id: null, state: 'HELD' });
    expect(() => read(['x', null])).to.throw('lock/view: state is missing');
    expect(read([])).to.equal(undefined);
  });
});

describe('Events', () => {
  it('are declared once each, by their full name, which is also used where they are emitted', () => {
    const declared = filesBelow('src/primitives', '.ts')
      .map((path) => readFileSync(root + path, 'utf8'))
      .join('\n');
    const emitted = filesBelow('lua', '.lua')
      .map((path) => readFileSync(root + path, 'utf8'))
      .join('\n');
    for (const { type } of product.events) {
      expect(declared.split(`'${type}':`).length - 1, `${type} in src`).to.equal(1);
      expect(emitted, type).to.match(new RegExp(`\\bemit\\.${type.replace('.', '\\.')}\\b`));
    }
  });

  it('have no secrets, and may have texts, numbers and absent members in their payload', () => {
    expect(() => events({ 'lock.stolen': { token: text().secret() } })).to.throw('lock.stolen: token is a secret');
    const [stolen] = events({
      'lock.stolen': { scopeId: id(), by: text(), fence: number(), from: id().orNull(), how: text().optional() },
    });
    const lua = emitters(['lock.stolen'], new Map([['lock.stolen', stolen as never]]));
    expect(lua).to.contain(
      `id .. ' ' .. event.scopeId .. ' ' .. (cause or (requestId == '' and '~' or requestId)) .. ' by="' .. event.by .. '" fence='`,
    );
    expect(lua).to.contain(`(event.from or 'null')`).and.not.contain('count.');
    const [counts] = events({ 'lock.stolen': counted({ scopeId: id() }) });
    expect(emitters(['lock.stolen'], new Map([['lock.stolen', counts as never]]))).to.contain(
      `function emit.lock.stolen(id, event, cause) count.space('events:lock.stolen', 1) journal.append('lock.stolen', `,
    );
  });
});

describe('Records', () => {
  it('name a missing field, wherever it is', () => {
    const Pair = record('Pair', { id: id(), count: number() });
    expect(Pair.read(['a', 1])).to.deep.equal({ id: 'a', count: 1 });
    expect(() => Pair.read(['a', null])).to.throw('count is missing');
  });

  it('have unique names, and are in OpenAPI under these', () => {
    const all = product.records.map(({ name }) => name);
    expect(new Set(all).size).to.equal(all.length);
  });
});
