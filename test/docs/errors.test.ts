import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { mcpErrors } from '../../src/doors/mcp/gateway.ts';
import { patternOf } from '../../src/engine/route/route.ts';
import { codesOf, statusOf } from '../../src/engine/route/route-errors.ts';
import { allErrors, allRoutes, product } from '../../src/primitives/primitives.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The tables' rows: each code with its statuses; '' where the table has none. */
const rows = [...textOf('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \| (?:([\d, ]+) \| )?\S.* \| \S.* \|$/gm)].map(
  ([, code = '', statuses = '']) => [code, statuses] as const,
);

/** Every status with which a code is answered. */
function statusesOf(code: string): string {
  // A batch answers with the statuses of its calls.
  const found = [...allRoutes, ...product.spacelessRoutes]
    .filter((route) => codesOf(route).includes(code) && (!route.parts || route.refuses.includes(code)))
    .map((route) => statusOf(allErrors, code, patternOf(route)));
  const { status } = { ...allErrors, ...mcpErrors }[code] ?? {};
  return [...new Set(found.length > 0 ? found : [status])].sort().join(', ');
}

describe('docs/errors.md', () => {
  it('has every code of the API once, with its statuses', () => {
    const ofApi = rows.filter(([, statuses]) => statuses !== '');
    const codes = [...Object.keys(allErrors), ...Object.keys(mcpErrors)];
    expect(Object.fromEntries(ofApi)).to.deep.equal(Object.fromEntries(codes.map((code) => [code, statusesOf(code)])));
    expect(ofApi.length).to.equal(codes.length);
  });

  it('has the codes that only the clients and the command line have', () => {
    const sources = [
      [textOf('src/clients/typescript/error.ts'), /ErrorCode \| (.*);/, /'([A-Z_]+)'/g],
      [textOf('src/cli/errors.ts'), /messages[\s\S]*?\n\};/, /^ {2}([A-Z_]+):/gm],
      [textOf('src/cli/incomplete.ts'), /code = .*;/, /'([A-Z_]+)'/g],
      [textOf('src/jobs/snapshot/failure.ts'), /type SnapshotCode =[^;]*;/, /'([A-Z_]+)'/g],
    ] as const;
    const codes = sources.flatMap(([text, part, code]) => [...(part.exec(text)?.[0] ?? '').matchAll(code)]);
    const others = codes.map(([, code = '']) => code).filter((code) => allErrors[code] === undefined);
    const inPage = rows.filter(([, statuses]) => statuses === '').map(([code]) => code);
    expect(inPage).to.have.members(others);
  });
});

/** The pages that list the errors of calls, by what the names of those calls begin with. */
const listed: Readonly<Record<string, readonly string[]>> = {
  mailboxes: ['mailbox', 'message'],
  budgets: ['budget'],
  groups: ['group', 'task'],
  barriers: ['barrier'],
  allowances: ['allowance', 'waiter'],
  schedules: ['schedule'],
  runs: ['scope', 'run'],
  events: ['event'],
  webhooks: ['destination', 'delivery'],
};

describe('The errors of a page', () => {
  for (const [page, rooms] of Object.entries(listed))
    it(`docs/${page}.md: are those of its calls, but for what most calls may answer`, () => {
      const calls = allRoutes.filter(({ call }) => rooms.includes(call.split('.')[0] ?? ''));
      const usual = page === 'events' ? [] : ['INVALID_CURSOR', 'OPERATIONS_EXHAUSTED'];
      const expected = new Set(calls.flatMap(({ refuses }) => refuses).filter((code) => !usual.includes(code)));
      const [, section = ''] = textOf(`docs/${page}.md`).split('\n## Errors\n');
      expect([...section.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code)).to.have.members([...expected]);
    });
});
