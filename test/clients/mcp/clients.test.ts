import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { toolsOf } from '../../../src/doors/mcp/tools.ts';
import { product } from '../../../src/primitives/primitives.ts';
import { World } from '../../support/world.ts';
import type { Access, Connected } from './use/client.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const listed = [...toolsOf(product).values()].map(({ tool }) => tool);

// They report to their makers otherwise.
process.env['OPENAI_AGENTS_DISABLE_TRACING'] = '1';
process.env['MASTRA_TELEMETRY_DISABLED'] = '1';
process.env['LANGSMITH_TRACING'] = 'false';

/** A program of `use`, which has its maker's packages. */
const load = (name: string) => import(pathToFileURL(`${here}use/${name}.ts`).href);

const accessTo = (world: World): Access => ({
  url: `${world.url}/v1/spaces/${world.spaceId}/mcp`,
  key: world.apiKey,
});

/** The schema's structure, without the words and keywords that clients may add. */
function shapeOf(schema: unknown): unknown {
  const { type, properties, required, items, enum: values } = (schema ?? {}) as Record<string, unknown>;
  const members = Object.entries((properties ?? {}) as object).map(([name, member]) => [name, shapeOf(member)]);
  return {
    type,
    required: [...((required ?? []) as string[])].sort(),
    ...(items !== undefined && { items: shapeOf(items) }),
    ...(values !== undefined && { values }),
    properties: Object.fromEntries(members),
  };
}

describe('MCP clients of other makers', () => {
  /** The hosts that were asked for anything. */
  const hosts = new Set<string>();
  const { fetch } = globalThis;
  before(() => {
    globalThis.fetch = (input, init) => {
      hosts.add(new URL(input instanceof Request ? input.url : input).hostname);
      return fetch(input, init);
    };
  });
  after(() => {
    globalThis.fetch = fetch;
    expect([...hosts], 'hosts').to.deep.equal(['127.0.0.1']);
  });

  const clients = { 'ai-sdk': '@ai-sdk/mcp', 'openai-agents': '@openai/agents', langchain: '@langchain/mcp-adapters' };

  for (const [name, title] of Object.entries({ ...clients, mastra: '@mastra/mcp' }))
    describe(`${title}, connected to a space`, () => {
      let world: World;
      let client: Connected;
      before(async () => {
        world = await World.create();
        client = await (await load(name)).connect(accessTo(world));
      });
      after(() => client?.close());

      /** Calls a tool, and expects a success. */
      const must = async (tool: string, args: Record<string, unknown>) => {
        const { isError, text } = await client.call(tool, args);
        if (isError) throw new Error(`${tool}: ${text}`);
        return JSON.parse(text);
      };
      const codeOf = async (tool: string, args: Record<string, unknown>): Promise<string> => {
        const { isError, text } = await client.call(tool, args);
        return isError ? JSON.parse(text).error.code : text;
      };
      const claim = (mailboxId: string) =>
        must('message_recv', { mailboxId, scopeId: '*', holder: title, holderSession: 's' });

      it('offers a model every tool, with its description and all its arguments', () => {
        expect(client.tools.map((tool) => tool.name)).to.have.members(listed.map((tool) => tool.name));
        for (const { name: tool, description, inputSchema } of listed) {
          const offered = client.tools.find((one) => one.name === tool);
          expect(offered?.description, tool).to.equal(description);
          expect(shapeOf(offered?.schema), tool).to.deep.equal(shapeOf(inputSchema));
        }
      });

      it('makes a mailbox, sends, receives, renews with progress, completes and sees the end', async () => {
        const { id: mailboxId } = await must('mailbox_create', { name: 'pages' });
        const sent = await must('message_send', { mailboxId, scopeId: randomUUID(), payload: { page: 7 }, after: [] });
        const claimed = await claim(mailboxId);
        expect([sent.state, claimed.id, claimed.payload]).to.deep.equal(['READY', sent.id, { page: 7 }]);
        const { id: messageId, token } = claimed;
        const renewed = await must('message_renew', { messageId, token, progress: { done: 3 } });
        expect([renewed.state, (await must('message_view', { messageId })).progress]).to.deep.equal([
          'CLAIMED',
          { done: 3 },
        ]);
        await must('message_complete', { messageId, token, result: { payload: { words: 90 } } });
        const { state, result } = await must('message_view', { messageId });
        expect([state, result]).to.deep.equal(['ACKED', { words: 90 }]);
        expect(await claim(mailboxId), 'an empty mailbox').to.equal(null);
      });

      it('shows a refusal as an error with its code', async () => {
        expect(await codeOf('message_view', { messageId: randomUUID() })).to.equal('MESSAGE_NOT_FOUND');
        const { id: mailboxId } = await must('mailbox_create', { name: 'twice' });
        await must('message_send', { mailboxId, scopeId: randomUUID(), payload: 1 });
        const { id: messageId, token } = await claim(mailboxId);
        await must('message_complete', { messageId, token });
        expect(await codeOf('message_renew', { messageId, token })).to.equal('CLAIM_LOST');
      });

      it('refuses to connect with a key that is none, saying so', async () => {
        const other = (await load(name)).connect({ ...accessTo(world), key: 'mk_none_0' });
        const thrown = await other.then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(String(thrown), 'the refusal').to.match(/401|unauthori[sz]ed|INVALID_API_KEY/i);
      });

      it('sends and reads values as they are, whatever their letters, names or sizes', async () => {
        const { id: mailboxId } = await must('mailbox_create', { name: 'Ünïcode 💥 \u2028' });
        const values: unknown[] = [
          ...['', '💥 e\u0301 \u0000 \u2028 "\\', '9007199254740993', 'x'.repeat(20_000)],
          ...[0, false, 2 ** 53 - 1, 1e308, 5e-324, -1.5],
          ...[[], {}, { list: [], lists: [[], [[1]]], none: null, '': '', constructor: 1, toString: [null] }],
        ];
        for (const payload of values) {
          const { id: messageId } = await must('message_send', { mailboxId, scopeId: randomUUID(), payload });
          const { body } = await world.get(`/messages/${messageId}`);
          expect(body.payload, 'stored').to.deep.equal(payload);
          expect((await must('message_view', { messageId })).payload, 'read').to.deep.equal(payload);
        }
        const { mailboxes } = await must('mailbox_list', {});
        expect(mailboxes.map((one: { name: string }) => one.name)).to.include('Ünïcode 💥 \u2028');
      });

      it('keeps a value that it sends, or sends none', async () => {
        const { id: mailboxId } = await must('mailbox_create', { name: 'lists' });
        // The schema has no list in a list and no null, as the APIs of models take neither.
        const checksArguments = name === 'langchain' || name === 'mastra';
        const sent: unknown[] = [];
        const values: unknown[] = [[[1]], [null], null, '\ud83d'];
        // Mastra's own copy of the arguments has no such member, so it never sends it.
        if (name !== 'mastra') values.push(JSON.parse('{"__proto__":{"a":1}}'));
        for (const payload of values) {
          const args = { mailboxId, scopeId: randomUUID(), payload };
          const id = await must('message_send', args).then(
            (answer) => answer.id as string,
            () => undefined,
          );
          const wanted = JSON.stringify(payload);
          if (id !== undefined) {
            const { body } = await world.get(`/messages/${id}`);
            expect(JSON.stringify(body.payload)).to.equal(wanted);
            sent.push(wanted);
          }
        }
        const { counts } = (await world.get(`/mailboxes/${mailboxId}`)).body;
        expect(counts.ready, 'messages').to.equal(sent.length);
        const lists = sent.filter((one) => String(one).startsWith('['));
        expect(lists).to.deep.equal(checksArguments ? [] : ['[[1]]', '[null]']);
      });

      it('makes several calls in one, with fields that the schema of a batch does not name', async () => {
        const { id: mailboxId } = await must('mailbox_create', { name: 'batch' });
        const one = { call: 'message.send', mailboxId, scopeId: randomUUID(), payload: { deep: [{ n: 1 }] } };
        const { results } = await must('batch', { calls: [one, one], atomic: true });
        for (const { body } of results)
          expect((await world.get(`/messages/${body.id}`)).body.payload).to.deep.equal({ deep: [{ n: 1 }] });
        const sent = { mailboxId, scopeId: randomUUID(), payload: 1, waitSeconds: 0 };
        expect((await must('message_send_and_wait', sent)).state).to.equal('READY');
      });

      it('shows all digits of a number that no double holds, and sends none that it would change', async () => {
        const { id: mailboxId } = await must('mailbox_create', { name: 'digits' });
        const digits = '[9007199254740993,12345678901234567890.25]';
        const { text: sent } = await world.send(
          'POST',
          `/v1/spaces/${world.spaceId}/mailboxes/${mailboxId}/messages`,
          `{"scopeId":"${randomUUID()}","payload":${digits}}`,
          {
            ...{ Authorization: `Bearer ${world.apiKey}`, 'Idempotency-Key': randomUUID() },
            'Content-Type': 'application/json',
          },
        );
        const { text } = await client.call('message_view', { messageId: JSON.parse(sent).id });
        expect(text).to.contain(`"payload":${digits},`);

        const tried = await codeOf('message_send', { mailboxId, scopeId: randomUUID(), payload: 2n ** 53n + 1n }).catch(
          () => 'thrown',
        );
        expect(tried).to.equal('thrown');
        expect((await world.get(`/mailboxes/${mailboxId}`)).body.counts.ready).to.equal(1);
        // As the literal 9007199254740995 becomes.
        expect(await codeOf('mailbox_create', { name: 'many', backlogLimit: 2 ** 53 + 4 })).to.equal(
          'VALIDATION_FAILED',
        );

        const { id: budgetId } = await world.mustPost('/budgets', {
          ...{ name: 'b', currency: 'EUR', scale: 2, limitMinor: '999999999999999999' },
        });
        const amountMinor = '900719925474099301';
        const ids = { budgetId, scopeId: randomUUID(), holder: title, workKey: 'w' };
        expect((await must('budget_reserve', { ...ids, amountMinor })).amountMinor).to.equal(amountMinor);
      });
    });

  describe('Programs that use them', () => {
    it('compile strictly', async () => {
      const tsc = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url));
      await promisify(execFile)(tsc, ['-p', 'tsconfig.json'], { cwd: here }).catch(({ stdout }) => {
        throw new Error(stdout);
      });
    });

    it('have strict schemas with OpenAI’s but where a value is free, and send null for what is left out', async () => {
      const world = await World.create();
      const strict = await (await load('openai-agents')).connectStrictly(accessTo(world));
      after(() => strict.close());
      const free = listed.filter(({ inputSchema }) => /"object"[,\]]/.test(JSON.stringify(inputSchema.properties)));
      expect(strict.unconverted).to.have.members(free.map(({ name }) => name));
      const { id: mailboxId } = JSON.parse(await strict.call('mailbox_create', { name: 'strict' }));
      await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: randomUUID(), payload: 1 });
      const asked = { mailboxId, scopeId: '*', holder: 'h', holderSession: 's' };
      expect(JSON.parse(await strict.call('message_recv', asked)).payload).to.equal(1);
      for (const name of ['mailbox_list', 'event_watch', 'budget_list', 'question_list', 'waits_get'])
        expect(JSON.parse(await strict.call(name, {})), name).to.not.have.property('error');
    });
  });
});
