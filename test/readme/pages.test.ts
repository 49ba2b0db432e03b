import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const below = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => !/(^|\/)(node_modules|generated)\//.test(path))
    .map((path) => `${folder}/${path}`);

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'lua/README.head.md'],
  ...[...below('docs'), ...below('.github')].filter((path) => path.endsWith('.md')),
];
/** The example room that CONTRIBUTING.md lets its reader add. */
const example = /^(src\/primitives|lua|test\/spec)\/lock\//;

const headingsOf = (path: string): string[] => [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

for (const page of pages)
  describe(page, () => {
    const text = textOf(page);

    it('names existing npm scripts and files', () => {
      const { scripts } = JSON.parse(textOf('package.json'));
      const named = [...text.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].map(([, name = '']) => name);
      expect(Object.keys(scripts)).to.include.members(named);
      const files = [...text.matchAll(/`((?:src|test|lua|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path);
      expect(files.filter((path) => !example.test(path) && !existsSync(join(root, path)))).to.deep.equal([]);
    });

    it('links to existing files and sections', () => {
      const broken = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)].filter(([, file, anchor]) => {
        const target = file ? join(dirname(page), file) : page;
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !headingsOf(target).map(anchorOf).includes(anchor);
      });
      expect(broken.map(([link]) => link)).to.deep.equal([]);
    });
  });

describe('The pages', () => {
  it('have the headings that other files cite', () => {
    const cited = [...pages, ...['src', 'lua', 'test'].flatMap(below).filter((path) => /\.(ts|lua|yml)$/.test(path))];
    const missing = cited.flatMap((path) =>
      [...textOf(path).matchAll(/\b(README|docs\/\w+\.md), "([^"\n]+)"/g)]
        .filter(([, page = '', heading = '']) => {
          const file = page === 'README' ? 'README.md' : page;
          return !existsSync(join(root, file)) || !headingsOf(file).includes(heading);
        })
        .map(([citation]) => `${path}: ${citation}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('list the versions of the CI workflow', () => {
    const { test } = parse(textOf('.github/workflows/ci.yml')).jobs;
    const { node, store, include } = test.strategy.matrix;
    expect(include.map((one: { store: string }) => one.store)).to.deep.equal(store);
    expect(test.steps.at(-1)).to.deep.equal({ run: '.ci/run' });
    const [nodes, stores] = [node, store].map((all: unknown[]) => `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`);
    expect(textOf('CONTRIBUTING.md')).to.include(`on Node ${nodes} with ${stores}.`);
  });
});
