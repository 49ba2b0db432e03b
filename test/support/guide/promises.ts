import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { givenTitle } from '../lint/tests.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const file = 'docs/evidence/promises.md';

const head = `# Promises

What Muster promises, room by room, in the words of the tests: each line is the title of a test, which fails when the promise is
broken. \`npm test\` keeps most of them; those of [faults](faults.md), [attacks](attacks.md) and clusters take minutes, and are kept
once a week. \`npx mocha <file> -g '<title>'\` runs one alone.
`;

/** A block of tests, or a test, with the words between the quotes. */
const line = new RegExp(`^( *)(?:for \\(.*\\) )?(describe|it)${givenTitle}`, 'gm');

/** The titles of a file's tests, each with the blocks that it is in. */
function titlesOf(text: string): { readonly blocks: string; readonly title: string }[] {
  const open: { readonly depth: number; readonly words: string }[] = [];
  const found: { blocks: string; title: string }[] = [];
  for (const [, indent = '', kind, single, double, template] of text.matchAll(line)) {
    const words = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1').replaceAll(/\$\{[^}]*\}/g, '…');
    const depth = indent.length;
    while (open.length > 0 && (open.at(-1)?.depth ?? 0) >= depth) open.pop();
    if (kind === 'describe') open.push({ depth, words });
    else found.push({ blocks: open.map((block) => block.words).join(', '), title: words });
  }
  return found;
}

/** The folder of its tests; of a primitive, the room itself. */
const roomOf = (name: string): string => name.replace(/^spec\//, '').split('/')[0] ?? '';

/** A text in which Markdown means nothing, except what stands in backticks. */
const plain = (text: string): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[\\*<[|]/g, '\\$&')))
    .join('`');

/** The page of all titles. */
export function promises(): string {
  const names = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' });
  const rooms = new Map<string, string[]>();
  for (const name of names.filter((one) => one.endsWith('.test.ts') && !one.includes('node_modules')).sort()) {
    const lines = rooms.get(roomOf(name)) ?? [];
    rooms.set(roomOf(name), lines);
    let last = '';
    for (const { blocks, title } of titlesOf(readFileSync(`${root}test/${name}`, 'utf8'))) {
      if (blocks !== last) lines.push(`${lines.length > 0 ? '\n' : ''}*${plain(blocks)}*\n`);
      last = blocks;
      lines.push(`- ${plain(title)}`);
    }
  }
  const parts = [...rooms].filter(([, lines]) => lines.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${head}\n${parts.map(([room, lines]) => `## ${room}\n\n${lines.join('\n')}\n`).join('\n')}`;
}

/** The page as it is kept. */
export const keptPromises = (): string => readFileSync(root + file, 'utf8');

export const writePromises = (): void => writeFileSync(root + file, promises());
