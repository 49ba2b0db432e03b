import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { calls } from '../../src/client/generated/calls.ts';
import type { Answer, Args, ErrorCode, Event, Muster } from '../../src/client/index.ts';
import { codesOf } from '../../src/http/route-errors.ts';
import { allRoutes, product } from '../../src/primitives.ts';

/** Never run: it is the compiler that tests it. */
async function compiles(muster: Muster): Promise<void> {
  const claim = await muster.message.recv({ mailboxId: '', scopeId: '', holder: '', holderSession: '' });
  // @ts-expect-error nothing may have been ready
  claim.token;
  claim?.token.charAt(0);
  // @ts-expect-error a required field is missing
  await muster.mailbox.create({});
  // @ts-expect-error no such field
  await muster.mailbox.create({ name: '', colour: '' });
  // @ts-expect-error no such mode
  await muster.mailbox.create({ name: '', mode: 'PLAY' });
  await muster.mailbox.create({ name: '', mode: null });
  // @ts-expect-error a path parameter is missing
  await muster.group.seal({});
  // @ts-expect-error money is a string of digits
  await muster.budget.create({ name: '', currency: 'EUR', scale: 2, limitMinor: 100 });
  // @ts-expect-error no such call
  muster.budget.refund;
  const query: Args<'budget.view'> = { budgetId: '', limit: 5 };
  const state: Answer<'group.view'>['outcome'] = 'SATISFIED';
  const told = (event: Event): number | string | undefined => {
    // @ts-expect-error not before its type is known
    event.payload.arrivals;
    if (event.type === 'barrier.arrived') return event.payload.arrivals;
    if (event.type !== 'message.acked') return undefined;
    // @ts-expect-error a message has none
    event.payload.arrivals;
    return event.payload.mailboxId;
  };
  const [first]: readonly Event[] = (await muster.event.list()).events;
  // @ts-expect-error no such code
  const code: ErrorCode = 'NO_LUCK';
  const { message, mailbox, budget } = muster.call;
  const [sent, one, many, gone] = await muster.batch([
    message.send({ mailboxId: '', scopeId: '', payload: 1 }, { idempotencyKey: 'k' }),
    message.recv({ mailboxId: '', scopeId: '', holder: '', holderSession: '' }),
    message.recv({ mailboxId: '', scopeId: '', holder: '', holderSession: '', max: 5 }),
    mailbox.delete({ mailboxId: '' }),
  ]);
  // @ts-expect-error it may have been refused
  sent.answer;
  if (sent.ok) sent.answer.mailboxId.charAt(0);
  else sent.error.code satisfies string;
  if (one.ok) one.answer?.token.charAt(0);
  if (many.ok) many.answer?.messages[0]?.token.charAt(0);
  if (gone.ok) gone.answer satisfies undefined;
  // @ts-expect-error a receive in a batch does not wait
  message.recv({ mailboxId: '', scopeId: '', holder: '', holderSession: '', waitSeconds: 1 });
  // @ts-expect-error a required field is missing
  budget.create({ name: '' });
  // @ts-expect-error a read is no call of a batch
  message.view;
  // @ts-expect-error nor is a destination
  muster.call.destination;
  // @ts-expect-error not made by muster.call
  await muster.batch([{ mailboxId: '' }]);
  const some = [1, 2].map((payload) => message.send({ mailboxId: '', scopeId: '', payload }));
  for (const result of await muster.batch(some)) if (result.ok) result.answer.id.charAt(0);
  void [query, state, told, first, code];
}

describe('what the typed client is made of', function () {
  this.timeout(60_000);
  it('has every call of the service, with its method and path', () => {
    const made = Object.entries(calls).map(([name, [method, path]]) => `${name} ${method} ${path}`);
    const served = [
      ...allRoutes.map((route) => ({ ...route, path: `/:spaceId${route.path}` })),
      ...product.spacelessRoutes,
    ].map(({ call, method, path }) => `${call} ${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(made).to.have.members(served);
  });

  it('has types that refuse what the service would', () => {
    expect(compiles).to.be.a('function');
  });

  it('has room for the arguments of a call in one object: no field is called as a path parameter is', () => {
    for (const { call, method, path, query, body } of allRoutes) {
      const names = [query, body].flatMap((schema) => Object.keys(schema?.describe()['keys'] ?? {}));
      for (const [, name = ''] of path.matchAll(/:(\w+)/g)) expect(names, call).to.not.include(name);
      expect(method !== 'GET' && query !== undefined, `${call} would send its query as a body`).to.equal(false);
    }
  });

  it('knows every error code', () => {
    const text = readFileSync(new URL('../../src/client/generated/calls.ts', import.meta.url), 'utf8');
    const codes = (text.split('export type ErrorCode =')[1] ?? '').matchAll(/'(\w+)'/g);
    expect([...codes].map(([, code]) => code)).to.have.members([...new Set(allRoutes.flatMap(codesOf))]);
  });

  it('is in the package, with its types, its licence notices and without what only builds it', () => {
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      stdio: 'pipe',
    });
    const [packed] = JSON.parse(String(listed)) as [{ files: { path: string }[] }];
    const paths = packed.files.map(({ path }) => path);
    expect(paths).to.include.members([
      'dist/client/index.js',
      'dist/client/index.d.ts',
      'dist/client/generated/openapi.d.ts',
      'dist/docs/swagger-ui/LICENSE',
      'dist/main.js',
      'lua/mailbox/send.lua',
      'README.md',
      'LICENSE',
    ]);
    expect(paths.filter((path) => /^(src|test)\/|generator|\.map$|tsbuildinfo/.test(path))).to.deep.equal([]);
  });
});
