import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { counted, events } from '../../src/declare/event.ts';
import { id, number, text } from '../../src/declare/field.ts';
import { record } from '../../src/declare/record.ts';
import { replyReader } from '../../src/declare/reply.ts';
import { allWords, product, rooms } from '../../src/primitives.ts';
import { emitters } from '../../src/redis/lua-events.ts';
import { collect } from '../../src/room.ts';

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
  it('let only src/redis/cluster.ts know whether the store is a cluster', () => {
    const knows = /\binstanceof (Cluster|Redis)\b|\.isCluster\b|\bimport\b[^;]*\bCluster\w*[^;]*from 'ioredis'/;
    const knowing = filesBelow('src', '.ts').filter((path) => knows.test(readFileSync(root + path, 'utf8')));
    expect(knowing).to.deep.equal(['src/redis/cluster.ts']);
  });

  it('let src/call, src/openapi, src/http, src/batch, src/redis and src/declare import nothing from a room', () => {
    const paths = ['call', 'openapi', 'http', 'batch', 'redis', 'declare'].flatMap((folder) =>
      filesBelow(`src/${folder}`, '.ts'),
    );
    expect(found(paths, [new RegExp(`from '(?:\\.\\./)+(?:${names.join('|')}|primitives)\\b[^']*'`)])).to.deep.equal(
      [],
    );
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
    const folders = readdirSync(`${root}src`);
    expect(folders).to.include.members(names);
    const lua = readdirSync(`${root}lua`).filter((name) => !name.includes('.'));
    expect([...names, 'lib', 'retention', 'timer']).to.include.members(lua);
  });

  it('refuse a name that two rooms declare', () => {
    expect(() => collect([...rooms, { name: 'other', keys: { message: allWords.keys['message'] as never } }])).to.throw(
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

describe('The imports of src, types included', () => {
  const files = filesBelow('src', '.ts').filter((path) => !path.startsWith('src/client/dist/'));
  const importsOf = (path: string): string[] =>
    [...readFileSync(root + path, 'utf8').matchAll(/\b(?:from|import|module) ?\(?'(\.[^']+)'/g)].map(([, other = '']) =>
      join(dirname(path), other).replace(/\.js$/, '.ts'),
    );
  // src/mailbox/records.ts is of src/mailbox; a file directly in src is by itself.
  const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/');

  it('form no circle of files', () => {
    const reached = reachable(new Map(files.map((path) => [path, importsOf(path)])));
    expect(files.filter((path) => reached.get(path)?.has(path))).to.deep.equal([]);
  });

  it('form no circle of folders', () => {
    const folders = new Map<string, string[]>();
    for (const path of files) {
      const folder = folderOf(path);
      const others = importsOf(path).map(folderOf);
      folders.set(folder, [...(folders.get(folder) ?? []), ...others.filter((other) => other !== folder)]);
    }
    const reached = reachable(folders);
    expect([...folders.keys()].filter((folder) => reached.get(folder)?.has(folder))).to.deep.equal([]);
  });
});

describe('Nothing is read by its position', () => {
  it('no file of the product destructures a reply', () => {
    const paths = [...names, 'workers', 'metrics', 'snapshot', 'cli'].flatMap((folder) =>
      filesBelow(`src/${folder}`, '.ts'),
    );
    const forms = [
      /\bscripts\.run\(/,
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
    const declared = filesBelow('src', '.ts')
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
