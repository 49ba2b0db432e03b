import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, UnreadableValue } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { until } from '../../support/processes.ts';
import { findPython } from '../../support/python.ts';
import { World } from '../../support/world.ts';
import { canonical, textOf, type Value, values } from './values.ts';
import { hosts } from './workers.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const maxProgressBytes = 4_096;
/** The progress of an ended attempt. */
const maxKeptBytes = 256;

/** A call, and where its answer has values. */
interface Read {
  readonly call: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly paths: readonly (readonly (string | number)[])[];
}

/** A value as a client has read it, printed as JSON, or the error of reading it, and the text in it. */
interface Outcome {
  readonly json?: string;
  readonly error?: string;
  readonly text?: string;
}

type Reader = (world: World, reads: readonly Read[]) => Promise<readonly (readonly Outcome[])[]>;

const python =
  (kind: string): Reader =>
  async (world, reads) => {
    const { command, env } = await findPython();
    const access = { MUSTER_URL: world.url, MUSTER_KEY: world.apiKey, MUSTER_SPACE: world.spaceId };
    const child = spawn(command, [here('reads.py'), kind], {
      env: { ...env, PYTHONPATH: here('../../../src/clients/python'), ...access },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endAtExit(child);
    child.stdin.end(JSON.stringify(reads));
    return (await json(child.stdout)) as Outcome[][];
  };

const readers: Readonly<Record<string, Reader>> = {
  TypeScript: async (world, reads) => {
    const muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    const rooms = muster as unknown as Record<string, Record<string, (args: object) => Promise<unknown>>>;
    return Promise.all(
      reads.map(async ({ call, args, paths }) => {
        const [room = '', name = ''] = call.split('.');
        const answer = await rooms[room]?.[name]?.(args);
        return paths.map((path) => said(answer, path));
      }),
    );
  },
  Python: python('sync'),
  asyncio: python('async'),
};

function said(answer: unknown, path: Read['paths'][number]): Outcome {
  try {
    return { json: JSON.stringify(path.reduce((one, step) => (one as Record<string, unknown>)[step], answer)) };
  } catch (error) {
    if (!(error instanceof UnreadableValue)) throw error;
    return { error: error.name, text: error.text };
  }
}

const isShort = (value: Value): boolean => textOf(value).length < maxProgressBytes;

describe('A value that may be too much for a language', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.create({ limits: { maxBacklog: 10_000 } });
  });

  /** Sends this text. */
  const post = async (path: string, body: string, method = 'POST') => {
    const headers = {
      Authorization: `Bearer ${world.apiKey}`,
      'Idempotency-Key': randomUUID(),
      'Content-Type': 'application/json',
    };
    const {
      status,
      text,
      body: answer,
    } = await world.send(method, `/v1/spaces/${world.spaceId}${path}`, body, headers);
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
    return answer;
  };

  describe('in an answer is read as it is, or is an error that has its text, and the values beside it are read', () => {
    let reads: readonly (Read & { readonly of: readonly Value[] })[];
    let mailboxId: string;
    let scopeId: string;
    const claim = async () => {
      const claimed = await world.mustPost(`/mailboxes/${mailboxId}/recv`, {
        scopeId,
        holder: 'h',
        holderSession: 's',
      });
      return { id: claimed.id as string, token: claimed.token as string };
    };

    before(async () => {
      const records: (Read & { readonly of: readonly Value[] })[] = [];
      mailboxId = (await world.mustPost('/mailboxes', { name: randomUUID() })).id;
      const idle = (await world.mustPost('/mailboxes', { name: randomUUID() })).id;
      scopeId = (await world.mustPost('/scopes', {})).id;
      const groupId = (
        await world.mustPost('/task-groups', { parentScopeId: scopeId, mailboxId, condition: 'ALL_TERMINAL' })
      ).id;
      const short = values.filter(isShort);
      for (const [i, value] of values.entries()) {
        const text = textOf(value);
        const payload = `{"scopeId":"${scopeId}","payload":${text}}`;
        await post(`/mailboxes/${idle}/messages`, payload);
        const sent = await post(`/mailboxes/${mailboxId}/messages`, payload);
        const claimed = await claim();
        const progress = isShort(value) ? text : '1';
        await post(`/messages/${sent.id}/renew`, `{"token":"${claimed.token}","progress":${progress}}`);
        await post(`/messages/${sent.id}/nack`, `{"token":"${claimed.token}","retry":true}`);
        const { token } = await claim();
        await post(`/messages/${sent.id}/complete`, `{"token":"${token}","result":{"payload":${text}}}`);
        const paths = isShort(value) ? [['payload'], ['result'], ['progress']] : [['payload'], ['result']];
        records.push({ call: 'message.view', args: { messageId: sent.id }, paths, of: paths.map(() => value) });
        if (text.length <= maxKeptBytes)
          records.push({
            ...{ call: 'message.attempts', args: { messageId: sent.id }, paths: [['attempts', 0, 'progress']] },
            of: [value],
          });
        await post(`/task-groups/${groupId}/tasks`, `{"taskKey":"${i}","input":${text}}`);
        const task = await claim();
        await post(`/messages/${task.id}/complete`, `{"token":"${task.token}","result":{"payload":${text}}}`);
        await post(`/scopes/${scopeId}/notes/n${String(i).padStart(3, '0')}`, `{"value":${text}}`, 'PUT');
        const key = `n${String(i).padStart(3, '0')}`;
        records.push({ call: 'note.view', args: { scopeId, key }, paths: [['value']], of: [value] });
        const schedule = { name: randomUUID(), mailboxId, scopeId, everySeconds: 86_400 };
        const { id: scheduleId } = await post(
          '/schedules',
          `${JSON.stringify(schedule).slice(0, -1)},"payload":${text}}`,
        );
        records.push({ call: 'schedule.view', args: { scheduleId }, paths: [['payload']], of: [value] });
        if (!isShort(value)) continue;
        const asking = await post(`/mailboxes/${mailboxId}/messages`, `{"scopeId":"${scopeId}","payload":1}`);
        const asker = await claim();
        const { question } = await post(
          `/messages/${asking.id}/ask`,
          `{"token":"${asker.token}","question":${text},"progress":${text}}`,
        );
        await post(`/questions/${question.id}/answer`, `{"answer":${text},"answeredBy":"ann"}`);
        const both = [['question'], ['answer']];
        records.push(
          { call: 'question.view', args: { questionId: question.id }, paths: both, of: [value, value] },
          {
            ...{ call: 'message.view', args: { messageId: asking.id } },
            paths: [['progress'], ...both.map((path) => ['question', ...path])],
            of: [value, value, value],
          },
        );
        const { token: last } = await claim();
        await post(`/messages/${asking.id}/complete`, `{"token":"${last}"}`);
      }
      // Newest first, where lists are.
      const newest = short.toReversed();
      const lists: readonly [string, object, string, readonly string[][], readonly Value[]][] = [
        ['message.list', { mailboxId: idle }, 'messages', [['payload']], values],
        ['group.view', { groupId }, 'members', [['outcome']], values],
        ['note.list', { scopeId, values: true }, 'notes', [['value']], values],
        ['schedule.list', {}, 'schedules', [['payload']], values.toReversed()],
        ['question.list', { state: 'ANSWERED' }, 'questions', [['question'], ['answer']], newest],
      ];
      for (const [call, args, list, paths, of] of lists)
        records.push({
          call,
          args: { ...args, ...(call !== 'group.view' && { limit: 100 }) },
          paths: of.flatMap((_, i) => paths.map((path) => [list, i, ...path])),
          of: of.flatMap((value) => paths.map(() => value)),
        });
      reads = records;
    });

    for (const [language, read] of Object.entries(readers))
      it(language, async () => {
        const outcomes = await read(world, reads);
        for (const [i, { call, paths, of }] of reads.entries())
          for (const [n, value] of of.entries()) {
            const found = outcomes[i]?.[n] ?? {};
            const about = `${call} ${paths[n]?.join('.')}: ${value.name}`;
            const text = textOf(value);
            if (value.unreadable?.includes(language))
              expect([found.error, found.text], about).to.deep.equal(['UnreadableValue', text]);
            else
              expect(found.json === undefined ? found : canonical(found.json), about).to.equal(
                canonical(value.short ?? text),
              );
          }
      });
  });

  for (const [language, start] of Object.entries(hosts))
    it(`fails one attempt of its own message at the most, and no neighbour of it: ${language}`, async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: randomUUID(), maxAttempts: 1 });
      const sent: { readonly id: string; readonly value?: Value }[] = [];
      const send = async (payload: string) =>
        (await post(`/mailboxes/${mailboxId}/messages`, `{"scopeId":"${randomUUID()}","payload":${payload}}`)).id;
      for (const value of values) {
        sent.push({ id: await send('"neighbour"') });
        sent.push({ id: await send(textOf(value)), value });
      }
      const host = await start(world);
      const worker = await host.start({ mailboxId, url: world.url, options: { concurrency: 10 } });
      await until(async () => {
        const { ready, claimed } = (await world.get(`/mailboxes/${mailboxId}`)).body.counts;
        return ready + claimed === 0;
      });
      await worker.close();
      await host.stop();
      for (const { id, value } of sent) {
        const { text, body } = await world.get(`/messages/${id}`);
        const about = value?.name ?? 'neighbour';
        const isFailed = [...(value?.unreadable ?? []), ...(value?.unsendable ?? [])].includes(language);
        const how = value?.unreadable?.includes(language)
          ? /^UnreadableValue: the value has a number/
          : /^(Value|UnicodeEncode)Error: /;
        expect([body.state, body.attempts], `${about} ${body.lastError}`).to.deep.equal([
          isFailed ? 'FAILED' : 'ACKED',
          1,
        ]);
        if (isFailed) expect(body.lastError, about).to.match(how);
        else {
          const result = /"result":(.*),"createdAt":/s.exec(text)?.[1] ?? '';
          expect(canonical(result), about).to.equal(canonical(value ? (value.short ?? textOf(value)) : '"neighbour"'));
        }
      }
    });

  for (const [language, start] of Object.entries(hosts))
    it(`in the answer to a question fails the handler that reads it, and no other: ${language}`, async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: randomUUID(), maxAttempts: 1 });
      const asks = [{ ask: 'how many?' }];
      const sent: string[] = [];
      for (const next of [[{ see: 'answer' }], [{ return: 1 }]])
        sent.push(
          await world
            .mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: randomUUID(), payload: { work: [asks, next] } })
            .then(({ id }) => id),
        );
      const host = await start(world);
      const worker = await host.start({ mailboxId, url: world.url, options: { concurrency: 10 } });
      const open = async () => (await world.get('/questions?state=OPEN')).body.questions;
      await until(async () => (await open()).length === 2);
      for (const { id } of await open()) await post(`/questions/${id}/answer`, '{"answer":[1e400],"answeredBy":"ann"}');
      const ends = () => Promise.all(sent.map(async (id) => (await world.get(`/messages/${id}`)).body));
      await until(async () => (await ends()).every(({ state }) => ['ACKED', 'FAILED'].includes(state)));
      await worker.close();
      await host.stop();
      const [reads, does] = await ends();
      expect([reads.state, does.state, does.attempts]).to.deep.equal(['FAILED', 'ACKED', 1]);
      expect(reads.lastError).to.match(/^UnreadableValue: /);
    });
});
