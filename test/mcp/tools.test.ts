import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { adviceOf } from '../../src/call/errors.ts';
import { allowedBy, type Route } from '../../src/call/route.ts';
import { commonFields } from '../../src/declare/glossary.ts';
import { guide, instructions } from '../../src/mcp/guide.ts';
import { toolsOf } from '../../src/mcp/tools.ts';
import { allErrors, product } from '../../src/primitives.ts';
import { World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';
import { routeOf, toolNames } from './rest.ts';

interface Property {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Property>>;
}

const tools = [...toolsOf(product).values()].map(({ tool }) => tool);
const propertiesOf = (schema: object) => (schema as { properties?: Record<string, Property> }).properties ?? {};
/** What a model reads of all tools before it begins; a token is some four characters. */
const maxCharacters = 66_000;

describe('The tools', () => {
  it('are those that have words, each with a route', () => {
    expect(tools.map(({ name }) => name)).to.have.members(toolNames);
    expect(tools[0]?.name, 'in the order of the reference').to.equal('mailbox_list');
    for (const { name, title } of tools) expect(title, name).to.match(/^[A-Z][a-z]+ .+/);
    expect(tools).to.have.length.within(20, 48);
    for (const { name } of tools) expect(name).to.match(/^[A-Za-z_]{1,64}$/);
  });

  it('say what to do with each refusal of their routes; nothing is said twice or for nothing', () => {
    const advice = new Map<string, string>();
    for (const { name, description } of tools)
      for (const code of routeOf(name).refuses) {
        advice.set(code, adviceOf(allErrors, code));
        expect(description, name).to.contain(`\n- ${code}: ${advice.get(code)}`);
        expect(advice.get(code), code).to.have.length.above(10);
      }
    const advised = Object.keys(allErrors).filter((code) => allErrors[code]?.advice !== undefined);
    expect([...advice.keys()]).to.include.members(advised);
    expect(Object.keys(allErrors)).to.include.members([...advice.keys()]);
    expect(new Set(advice.values()).size).to.be.above(advice.size - 3);
  });

  it('say what each parameter is; required ones are those of path and body', () => {
    for (const { name, inputSchema } of tools) {
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
      expect(JSON.stringify(inputSchema), name).to.not.match(/"null"|[[,]null[,\]]/);
      expect(inputSchema['additionalProperties']).to.equal(false);
    }
  });

  it('are annotated: reads as read-only, what cannot be taken back as destructive', () => {
    for (const { name, annotations } of tools) {
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
      expect(readOnlyHint, name).to.equal(routeOf(name).method === 'GET');
      expect(readOnlyHint && destructiveHint, name).to.equal(false);
      expect(!readOnlyHint || idempotentHint, name).to.equal(true);
      expect(openWorldHint).to.equal(false);
    }
    const destructive = tools.filter(({ annotations }) => annotations.destructiveHint).map(({ name }) => name);
    expect(destructive).to.have.members([
      'message_nack',
      'task_reject',
      'budget_void',
      'scope_cancel',
      'note_delete',
      'question_withdraw',
      'batch',
    ]);
  });

  it('are explained in a page; what is named there is there', () => {
    const named = [...`${guide}${instructions}`.matchAll(/\b[a-z]+_[a-zA-Z]+\b/g)].map(([name]) => name);
    expect(tools.map(({ name }) => name)).to.include.members(named);
    const codes = [...guide.matchAll(/\b[A-Z]+_[A-Z_]+\b/g)].map(([code]) => code);
    expect(Object.keys(allErrors)).to.include.members(codes);
    expect(guide).to.have.length.below(4_950);
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
        const isMine = ({ permission }: Route): boolean =>
          // What a batch needs is what its calls need.
          permission === 'none' || allowedBy(permission).some((one) => permissions.includes(one));
        const mine = tools.filter(({ name }) => isMine(routeOf(name)));
        expect(listed.map(({ name }) => name)).to.deep.equal(mine.map(({ name }) => name));
        expect(mine).to.have.length.within(1, tools.length - 1);
        for (const { name, description, inputSchema, annotations } of listed) {
          const listed = mine.find((tool) => tool.name === name);
          expect({ description, inputSchema, annotations }).to.deep.equal({
            description: listed?.description,
            inputSchema: listed?.inputSchema,
            annotations: listed?.annotations,
          });
        }
        await agent.close();
      }
  });
});
