import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { guide, instructions } from '../../src/doors/mcp/guide.ts';
import { toolsOf } from '../../src/doors/mcp/tools.ts';
import { commonFields } from '../../src/engine/declare/glossary.ts';
import { atomicRule, isAtomic, isBatched, isOffered } from '../../src/engine/route/batch-route.ts';
import { allowedBy } from '../../src/engine/route/caller.ts';
import { allErrors, product } from '../../src/primitives/primitives.ts';
import { allPermissions, World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';
import { routeOf, sendAndWait, toolNames } from './rest.ts';

interface Property {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Property>>;
}

const all = [...toolsOf(product).values()];
const tools = all.map(({ tool }) => tool);
const propertiesOf = (schema: object) => (schema as { properties?: Record<string, Property> }).properties ?? {};
/** What a model reads of all tools before it begins; a token is some four characters. */
const maxCharacters = 50_000;

describe('The tools', () => {
  it('are those that have words, each with a route', () => {
    expect(tools.map(({ name }) => name)).to.have.members(toolNames);
    expect(tools[0]?.name, 'in the order of the reference').to.equal('mailbox_create');
    for (const { name, title } of tools) expect(title, name).to.match(/^[A-Z][a-z]+ .+/);
    expect(tools).to.have.length.within(20, 64);
    for (const { name } of tools) expect(name).to.match(/^[A-Za-z_]{1,64}$/);
  });

  it('say what each parameter is; required ones are those of path and body', () => {
    for (const { name, inputSchema } of tools) {
      // Its fields are those of message_send, which are described there.
      if (name === sendAndWait) continue;
      for (const [field, { description, properties = {} }] of Object.entries(propertiesOf(inputSchema))) {
        expect(description, `${name} ${field}`).to.have.length.above(10);
        for (const [member, { description }] of Object.entries(properties))
          expect(description, `${name} ${field}.${member}`).to.have.length.above(10);
      }
      const { path } = routeOf(name);
      const inPath = [...path.matchAll(/:(\w+)/g)].map(([, id]) => id);
      expect(inputSchema['required'] ?? []).to.include.members(inPath);
    }
    const used = JSON.stringify(tools.map(({ inputSchema }) => inputSchema));
    for (const fields of [commonFields, ...product.records.map((record) => record.fields)])
      for (const [name, { special }] of Object.entries(fields)) expect(used, name).to.contain(special.model ?? '');
  });

  it('have schemas that a validator compiles, and that leave null out', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    for (const { name, inputSchema } of tools) {
      ajv.compile(inputSchema);
      expect(JSON.stringify(inputSchema), name).to.not.match(/"null"|[[,:]null\b/);
      expect(inputSchema['additionalProperties']).to.equal(false);
    }
  });

  it('have schemas that the APIs of OpenAI, Anthropic and Google take', () => {
    interface Schema {
      readonly type?: string | readonly string[];
      readonly enum?: readonly unknown[];
      readonly items?: Schema;
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly format?: string;
      readonly [keyword: string]: unknown;
    }
    // A keyword that one of them does not know refuses the whole list of tools, or the tool is left out in silence.
    const keywords = [
      ...['type', 'description', 'enum', 'items', 'properties', 'required', 'additionalProperties', 'default'],
      ...['format', 'minimum', 'maximum'],
    ];
    const walk = (schema: Schema, path: string): void => {
      expect(keywords, path).to.include.members(Object.keys(schema));
      const types = [schema.type ?? []].flat();
      expect(types, `${path} has a type`).to.have.length.above(0);
      if (schema.enum)
        expect(types.length === 1 && schema.enum.every((value) => typeof value === types[0]), path).to.equal(true);
      if (types.includes('array')) expect(schema.items, `items of ${path}`).to.be.an('object');
      if (schema.format !== undefined) expect([schema.format, types], path).to.deep.equal(['date-time', ['string']]);
      for (const [name, member] of Object.entries(schema.properties ?? {})) {
        expect(name, path).to.match(/^[A-Za-z0-9_.-]{1,64}$/);
        walk(member, `${path}.${name}`);
      }
      if (schema.items) walk(schema.items, `${path}[]`);
    };
    for (const { name, inputSchema, outputSchema } of tools) {
      expect(name).to.match(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      expect([inputSchema.type, Object.keys(propertiesOf(inputSchema)).length > 0]).to.deep.equal(['object', true]);
      walk(inputSchema as Schema, name);
      for (const [member, { type, enum: values, items }] of Object.entries(
        propertiesOf(outputSchema ?? {}) as Record<string, Schema>,
      )) {
        if (values) expect(type, `${name} answers ${member}`).to.equal('string');
        if (type === 'array') expect(items, `${name} answers ${member}`).to.be.an('object');
      }
    }
  });

  it('are annotated: reads as read-only, what cannot be taken back as destructive', () => {
    for (const { name, annotations } of tools) {
      const isRead = routeOf(name).method === 'GET';
      expect('readOnlyHint' in annotations, name).to.equal(isRead);
      expect('destructiveHint' in annotations, name).to.equal(!isRead);
      expect(annotations.openWorldHint).to.equal(false);
    }
    const destructive = tools
      .filter(({ annotations }) => 'destructiveHint' in annotations && annotations.destructiveHint)
      .map(({ name }) => name);
    expect(destructive).to.have.members([
      'message_nack',
      'message_cancel',
      'waiter_cancel',
      'task_reject',
      'budget_void',
      'scope_cancel',
      'note_delete',
      'question_withdraw',
      'batch',
    ]);
  });

  it('say which calls a batch takes only with atomic, and which only without', () => {
    const batched = product.routes.filter((one) => isOffered(one, { isModel: true }));
    const reads = batched.filter((one) => isAtomic(one) && !isBatched(one));
    expect(reads.every(({ method }) => method === 'GET')).to.equal(true);
    const others = batched.filter((one) => isBatched(one) && !isAtomic(one)).map(({ call }) => call);
    expect(atomicRule).to.equal(`views only with atomic, ${others.sort().join(' and ')} only without`);
    const batch = JSON.stringify(tools.find(({ name }) => name === 'batch'));
    expect(batch).to.include(atomicRule);
  });

  it('are explained in a page; what is named there is there', () => {
    const named = [...`${guide}${instructions}`.matchAll(/\b[a-z]+_[a-zA-Z]+\b/g)].map(([name]) => name);
    expect(tools.map(({ name }) => name)).to.include.members(named);
    const codes = [...guide.matchAll(/\b[A-Z]+_[A-Z_]+\b/g)].map(([code]) => code);
    expect(Object.keys(allErrors)).to.include.members(codes);
    expect(guide).to.have.length.below(5_600);
    expect(JSON.stringify(tools)).to.have.length.below(maxCharacters);
  });

  it('listed are those that the key may call, in every version', async () => {
    const world = await World.create();
    for (const version of versions)
      for (const permissions of [
        ['coordination_read'],
        ['coordination_write'],
        ['resource_config'],
        ['coordination_read', 'resource_config'],
      ]) {
        const agent = await Agent.connect(world, { version, key: await world.key(permissions) });
        const { tools: listed } = await agent.client.listTools();
        const may = (one: (typeof all)[number]['permissions'][number]): boolean =>
          // What a batch needs is what its calls need.
          one === 'none' || allowedBy(one).some((allowed) => permissions.includes(allowed));
        const mine = all.filter(({ permissions: needed }) => needed.every(may)).map(({ tool }) => tool);
        expect(listed.map(({ name }) => name)).to.deep.equal(mine.map(({ name }) => name));
        expect(mine).to.have.length.within(1, tools.length - 1);
        for (const { name, description, inputSchema, outputSchema, annotations } of listed) {
          const listed = mine.find((tool) => tool.name === name);
          expect({ description, inputSchema, outputSchema, annotations }).to.deep.equal({
            description: listed?.description,
            inputSchema: listed?.inputSchema,
            outputSchema: listed?.outputSchema,
            annotations: listed?.annotations,
          });
        }
        await agent.close();
      }
  });

  it('require the holder where the call does: not of a key that is bound to one', async () => {
    const world = await World.create();
    const needing = async (key: string): Promise<string[]> => {
      const agent = await Agent.connect(world, { key });
      const { tools: listed } = await agent.client.listTools();
      await agent.close();
      return listed.flatMap(({ name, inputSchema }) => (inputSchema.required?.includes('holder') ? [name] : []));
    };
    const names = ['message_recv', 'budget_reserve', 'allowance_consume', 'allowance_wait', 'pool_acquire'];
    expect(await needing(world.apiKey)).to.have.members(names);
    expect(await needing(await world.key(allPermissions, undefined, { holder: 'h' }))).to.deep.equal([]);
    // A key that names nobody is refused by exactly these.
    const agent = await Agent.connect(world);
    for (const { name, inputSchema } of tools.filter((tool) => propertiesOf(tool.inputSchema)['holder'])) {
      const ids = (inputSchema['required'] as string[]).filter((field) => field.endsWith('Id'));
      const given = Object.fromEntries(ids.map((field) => [field, randomUUID()]));
      const more = {
        holderSession: 's',
        units: 1,
        amountMinor: '1',
        question: '?',
        ...(name === 'budget_reserve' && { workKey: 'w' }),
      };
      const fields = Object.entries({ ...more, ...given }).filter(([field]) => field in propertiesOf(inputSchema));
      const { value } = await agent.call(name, Object.fromEntries(fields));
      expect(/^holder is missing/.test(value.error?.message ?? ''), name).to.equal(names.includes(name));
    }
    await agent.close();
  });

  it('an agent’s loop has tools that describe their answers, which the client checks', () => {
    const described = tools.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name);
    expect(described).to.have.members([
      ...['message_recv', 'message_renew', 'message_complete', 'message_nack', 'message_send', 'message_view'],
      ...['message_ask', 'budget_reserve', 'budget_settle', 'allowance_consume', 'pool_acquire', 'hold_release'],
    ]);
    const ajv = new Ajv2020({ strict: true, strictTypes: false });
    for (const { outputSchema } of tools) if (outputSchema) ajv.compile(outputSchema);
    const token = propertiesOf(tools.find(({ name }) => name === 'message_recv')?.outputSchema ?? {})['token'];
    expect(token).to.deep.equal({ type: 'string' });
  });

  it('can be asked for by groups; an unknown group is refused with the names of all', async () => {
    const world = await World.create();
    const named = async (groups: string): Promise<string[]> => {
      const agent = await Agent.connect(world, { groups });
      const { tools: listed } = await agent.client.listTools();
      await agent.close();
      return listed.map(({ name }) => name);
    };
    expect(await named('money')).to.have.members(['budget_list', 'budget_reserve', 'budget_settle', 'budget_void']);
    const both = await named('work,money');
    expect(both).to.include.members(['message_recv', sendAndWait, 'budget_list']);
    expect(both).to.not.include.members(['run_view']);
    const agent = await Agent.connect(world, { groups: 'money' });
    const called = agent.client.callTool({ name: 'mailbox_list', arguments: {} });
    expect(await called.catch((error: Error) => error.message)).to.match(/there is no tool mailbox_list/);
    await agent.close();
    const refused = await fetch(`${world.url}/v1/spaces/${world.spaceId}/mcp?tools=work,nothing`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${world.apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    const groups = [...new Set(all.map(({ group }) => group))].join(', ');
    expect([refused.status, ((await refused.json()) as { error: { message: string } }).error.message]).to.deep.equal([
      400,
      `query parameter tools must be a comma-separated list of ${groups}`,
    ]);
  });
});
