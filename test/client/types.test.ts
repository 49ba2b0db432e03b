import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { calls } from '../../src/clients/typescript/generated/calls.ts';
import {
  type Answer,
  type Args,
  type ErrorCode,
  type Event,
  type Handler,
  type Muster,
  type TaskContext,
  Worker,
  type WorkerMessage,
} from '../../src/clients/typescript/index.ts';
import { TestTask } from '../../src/clients/typescript/testing/index.ts';
import { openapi } from '../../src/engine/openapi/openapi.ts';
import { patternOf } from '../../src/engine/route/route.ts';
import { codesOf } from '../../src/engine/route/route-errors.ts';
import { allRoutes, product } from '../../src/primitives/primitives.ts';

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
  await muster.mailbox.update({ mailboxId: '', perKey: null });
  // @ts-expect-error a number, or null for none
  await muster.mailbox.update({ mailboxId: '', perKey: 'none' });
  new Worker(muster, { mailbox: { name: '', perKey: 1 } }, ({ key, priority }) => [key?.charAt(0), priority.toFixed()]);
  // @ts-expect-error a path parameter is missing
  await muster.group.seal({});
  // @ts-expect-error money is a string of digits
  await muster.budget.create({ name: '', currency: 'EUR', scale: 2, limitMinor: 100 });
  // @ts-expect-error no such call
  muster.budget.refund;
  const query: Args<'budget.view'> = { budgetId: '', limit: 5 };
  const state: Answer<'group.view'>['outcome'] = 'SATISFIED';
  const summary = (event: Event): number | string | undefined => {
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
  await muster.atomic((t) => {
    const pool = t.pool.create({ name: '', units: 1 });
    const requires = { pools: [{ poolId: pool.id }] };
    const sent = t.message.send({ mailboxId: '', scopeId: '', payload: 1, requires }, { expect: { state: 'READY' } });
    t.message.complete({
      messageId: sent.id,
      token: '',
      result: { payload: 1, mailboxId: t.mailbox.create({ name: '' }).id },
    });
    t.budget.view({ budgetId: '' }, { expect: { balances: { available: '10' } } });
    // @ts-expect-error it shows no reservations
    t.budget.view({ budgetId: '', limit: 5 });
    // @ts-expect-error no such state
    t.message.view({ messageId: sent.id }, { expect: { state: 'GONE' } });
    // @ts-expect-error not in one step
    t.message.recv;
  });
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
  void [query, state, summary, first, code];
}

/** What is looked at of the document. */
interface Described {
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> };
  readonly paths: Record<string, Record<string, Operation>>;
}
interface Content {
  readonly content?: { readonly 'application/json'?: { readonly schema: Record<string, unknown> } };
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name?: string; readonly description?: string }[];
  readonly requestBody?: Content;
  readonly responses: Record<string, Content>;
}

interface Job {
  readonly file: string;
}

/** Never run either: payloads, results and events of given types. */
async function compilesTyped(muster: Muster): Promise<void> {
  const { mailboxId, scopeId } = { mailboxId: '', scopeId: '' };
  await muster.message.send<Job>({ mailboxId, scopeId, payload: { file: '' } });
  // @ts-expect-error not a Job
  await muster.message.send<Job>({ mailboxId, scopeId, payload: { path: '' } });
  const claim = await muster.message.recv<Job>({ mailboxId, scopeId, holder: '', holderSession: '' });
  claim?.payload.file.charAt(0);
  // @ts-expect-error a Job has no size
  claim?.payload.size;
  const many = await muster.message.recv<Job>({ mailboxId, scopeId, holder: '', holderSession: '', max: 2 });
  many?.messages[0]?.payload.file.charAt(0);
  for await (const { payload, result } of muster.message.all<Job, number>({ mailboxId })) {
    payload.file.charAt(0);
    // @ts-expect-error it may have none yet
    result.toFixed();
    result?.toFixed();
  }
  // @ts-expect-error the iterator has the cursor
  muster.message.all({ mailboxId, cursor: '' });
  const { members } = await muster.group.view<number>({ groupId: '' });
  members[0]?.outcome?.toFixed();
  await muster.message.complete<number>({ messageId: '', token: '', result: { payload: 1 } });
  // @ts-expect-error not a number
  await muster.message.complete<number>({ messageId: '', token: '', result: { payload: '' } });
  const [claimed] = await muster.batch([
    muster.call.message.recv<Job>({ mailboxId, scopeId, holder: '', holderSession: '' }),
  ]);
  if (claimed.ok) claimed.answer?.payload.file.charAt(0);
  for await (const event of muster.events({ types: ['barrier.arrived', 'message.*'] })) {
    event.type satisfies 'barrier.arrived' | `message.${string}`;
    if (event.type === 'barrier.arrived') event.payload.arrivals.toFixed();
    else event.payload.messageId.charAt(0);
  }
  for await (const event of muster.events()) event.type satisfies Event['type'];
  // @ts-expect-error no such type
  muster.events({ types: ['message.eaten'] });
  new Worker<Job, number>(muster, { mailbox: 'jobs' }, ({ payload, attempt }, { signal }) => {
    signal.throwIfAborted();
    // @ts-expect-error a Job has no size
    payload.size;
    return payload.file.length + attempt;
  });
  // @ts-expect-error the result is no number
  new Worker<Job, number>(muster, { mailbox: 'jobs' }, () => '');
  // @ts-expect-error no mailbox
  new Worker(muster, { concurrency: 1 }, () => 1);
  new Worker<Job>(muster, { mailbox: 'jobs', scopeId }, async (_, { reserve, units, progress }) => {
    const money = await reserve('llm', 100n);
    await units({ allowanceId: '' }, 2);
    progress({ page: 1 });
    await money.settle('7');
  }).on('completed', ({ message }) => message.payload.file);
}

interface Chapter {
  readonly kind: 'text' | 'picture';
  words: string[];
}

/** Never run either: a test of a handler infers its types. */
async function compilesTests(): Promise<void> {
  const count: Handler<Chapter, number> = ({ payload }) => payload.words.length;
  const { result } = await new TestTask({ kind: 'text', words: ['one'] }).run(count);
  result satisfies number | null;
  // @ts-expect-error it is a number
  result satisfies string | null;
  // @ts-expect-error no such kind
  await new TestTask({ kind: 'film', words: [] }).run(count);
  const chapter: Chapter = { kind: 'text', words: [] };
  await new TestTask(chapter, { attempt: 2 }).run(count);
  async function named(message: WorkerMessage<Chapter>, task: TaskContext): Promise<string> {
    await task.send('next', message.payload.words, { workKey: message.id });
    return task.hold('deploys', ({ fence }) => `${fence}`, { units: 2 });
  }
  (await new TestTask(chapter).run(named)).result?.charAt(0);
  // @ts-expect-error a Chapter has no size
  await new TestTask(chapter).run(({ payload }) => payload.size);
  const inline = await new TestTask({ words: ['one'] }).run(async ({ payload }, { muster }) => {
    await muster.limits.get();
    return payload.words.map((word) => word.length);
  });
  inline.result?.[0]?.toFixed();
  // @ts-expect-error the class says which result there is
  await new TestTask<Chapter, number>(chapter).run(() => 'text');
  // @ts-expect-error no such option of a message
  new Worker<Chapter>({} as Muster, { mailbox: 'a' }, (_, task) => task.send('b', 1, { colour: 'red' }));
}

describe('what the typed client is made of', () => {
  it('has every call of the service, with its method and path', () => {
    const called = Object.entries(calls).map(([name, [method, path]]) => `${name} ${method} ${path}`);
    const served = [...allRoutes, ...product.spacelessRoutes].map(
      (route) =>
        `${route.call} ${route.method} ${patternOf(route)
          .slice('/v1'.length)
          .replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(called).to.have.members(served);
  });

  it('has types that refuse what the service would', () => {
    expect([compiles, compilesTyped, compilesTests].every((one) => typeof one === 'function')).to.equal(true);
  });

  it('has room for the arguments of a call in one object: no field is called as a path parameter is', () => {
    for (const { call, method, path, query, body } of allRoutes) {
      const names = [query, body].flatMap((schema) => Object.keys(schema?.describe()['keys'] ?? {}));
      for (const [, name = ''] of path.matchAll(/:(\w+)/g)) expect(names, call).to.not.include(name);
      expect(
        !['GET', 'DELETE'].includes(method) && query !== undefined,
        `${call} would send its query as a body`,
      ).to.equal(false);
    }
  });

  it('knows every error code', () => {
    const text = readFileSync(new URL('../../src/clients/typescript/generated/errors.ts', import.meta.url), 'utf8');
    const codes = (text.split('export interface ErrorCodes {')[1] ?? '').matchAll(/^ {2}readonly (\w+): \d{3};/gm);
    expect([...codes].map(([, code]) => code)).to.have.members([
      ...new Set([...allRoutes, ...product.spacelessRoutes].flatMap(codesOf)),
    ]);
  });

  it('says of every call, field and error code what it is, as OpenAPI does', () => {
    const folder = new URL('../../src/clients/typescript/generated/', import.meta.url);
    const text = ['calls.ts', 'errors.ts'].map((name) => readFileSync(new URL(name, folder), 'utf8')).join('');
    expect(text).to.match(
      /\/\*\*\n {3}\* the token holds no claim: it has ended [^*]*\n {3}\*\/\n {2}readonly CLAIM_LOST: 409;/,
    );
    expect(text).to.match(/ \* @throws \{MusterError\} [^/]*CLAIM_LOST/);
    // A comment closes right before each call, iterator and code.
    const bare = [...text.matchAll(/([^\n]*)\n( {4}\w+(?:<[^>]*>)?\(args| {2}readonly [A-Z_]+: \d)/g)].filter(
      ([, before = '']) => !before.endsWith('*/'),
    );
    expect(bare.map(([, , line]) => line)).to.deep.equal([]);
    const undescribed: string[] = [];
    const look = (schema: Record<string, unknown>, path: string): void => {
      for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, object>)) {
        if (!('description' in field)) undescribed.push(`${path}.${name}`);
        look(field as Record<string, unknown>, `${path}.${name}`);
      }
      if (schema['items']) look(schema['items'] as Record<string, unknown>, path);
      for (const one of (schema['anyOf'] ?? []) as Record<string, unknown>[]) look(one, path);
    };
    const document = JSON.parse(JSON.stringify(openapi(product))) as Described;
    for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name);
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      const { operationId, parameters = [], requestBody, responses } = operation;
      if (operationId.startsWith('system.')) continue;
      for (const { name, description } of parameters)
        if (name !== undefined && description === undefined) undescribed.push(`${operationId} ${name}`);
      const answers = Object.entries(responses).flatMap(([status, answer]) => (status < '300' ? [answer] : []));
      for (const { content } of [requestBody ?? {}, ...answers])
        if (content?.['application/json']) look(content['application/json'].schema, operationId);
    }
    expect(undescribed).to.deep.equal([]);
  });

  it('is a package of its own: without dependencies, with types that need none, and without what only builds it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-client-'));
    try {
      const root = fileURLToPath(new URL('../../', import.meta.url));
      const pack = ['pack', '-w', 'muster-client', '--json', '--ignore-scripts', '--pack-destination', folder];
      const [packed] = JSON.parse(String(execFileSync('npm', pack, { cwd: root, stdio: 'pipe' })));
      const paths = (packed as { files: { path: string }[] }).files.map(({ path }) => path);
      expect(paths).to.include.members(['dist/index.js', 'dist/index.d.ts', 'README.md', 'LICENSE', 'package.json']);
      expect(
        paths.filter((path) => !/^(dist\/.*\.(js|d\.ts)|README.md|LICENSE|package.json)$/.test(path)),
      ).to.deep.equal([]);
      expect(paths.filter((path) => path.includes('generator'))).to.deep.equal([]);
      const home = join(folder, 'node_modules/muster-client');
      await mkdir(home, { recursive: true });
      execFileSync('tar', ['xzf', join(folder, packed.filename), '--strip-components=1', '-C', home]);
      const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
      for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
        expect(manifest).to.not.have.property(kind);
      const program = `
        import { createMuster, type ErrorCode, MusterError, verifyWebhook, Worker } from 'muster-client';
        const muster = createMuster({ url: 'http://127.0.0.1:1', key: 'k', spaceId: 's', attempts: 1 });
        const error = await muster.limits.get().catch((thrown: unknown) => thrown);
        if (error instanceof MusterError) console.log(error.code satisfies ErrorCode | 'UNREACHABLE' | 'UNREADABLE');
        console.log(typeof verifyWebhook, typeof Worker);
      `;
      await writeFile(join(folder, 'package.json'), '{"type":"module"}');
      await writeFile(join(folder, 'main.ts'), program);
      const options = {
        target: 'es2022',
        module: 'nodenext',
        lib: ['es2022', 'dom', 'dom.asynciterable'],
        types: [],
        strict: true,
        checkers: 1,
      };
      const settings = { compilerOptions: { ...options, skipLibCheck: false }, files: ['main.ts'] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
      const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
      execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'pipe' });
      const said = String(execFileSync(process.execPath, [join(folder, 'main.js')], { stdio: 'pipe' }));
      expect(said).to.equal('UNREACHABLE\nfunction function\n');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
