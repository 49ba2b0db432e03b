import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { toolNames } from './rest.ts';

const textOf = (name: string): string => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');
const page = textOf('docs/mcp.md');
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);

describe('docs/mcp.md', () => {
  let world: World;
  before(async () => {
    world = await World.create();
  });

  /** What a client makes of what it is configured with: variables, and the reader's own address, space and key. */
  const filled = (text: string): string =>
    text
      .replaceAll(/\$\{?(?:env:)?MUSTER_(URL|SPACE|KEY)\}?/g, (_, name: 'URL' | 'SPACE' | 'KEY') =>
        name === 'URL' ? world.url : name === 'SPACE' ? world.spaceId : world.apiKey,
      )
      .replaceAll('http://127.0.0.1:8080', world.url)
      .replaceAll('0190a1b2-0000-7000-8000-000000000000', world.spaceId)
      .replaceAll(/\$\{input:muster-key\}|mk_main_…/g, world.apiKey);

  async function expectTools(url: string, authorization: string): Promise<void> {
    const client = new Client({ name: 'reader', version: '1' });
    const requestInit = { headers: { Authorization: authorization } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    expect((await client.listTools()).tools).to.have.length.above(20);
    await client.close();
  }

  it('has a configuration for each client that reaches the server', async () => {
    const blocks = blocksOf('json');
    expect(blocks).to.have.lengthOf(4);
    for (const text of blocks) {
      const { mcpServers, servers, inputs = [] } = JSON.parse(text);
      expect(inputs.map(({ id }: { id: string }) => `\${input:${id}}`)).to.satisfy((names: string[]) =>
        names.every((name) => text.includes(name)),
      );
      const { url, headers, args, env } = JSON.parse(filled(JSON.stringify((mcpServers ?? servers).muster)));
      if (url !== undefined) await expectTools(url, headers.Authorization);
      // Its program takes the address as an argument, and a header that names a variable.
      else await expectTools(args[2], env[/^Authorization:\$\{(\w+)\}$/.exec(args[4])?.[1] ?? '']);
    }
  });

  it('has the command of Claude Code, as the README does', async () => {
    const [command = ''] = blocksOf('bash');
    expect(textOf('README.md')).to.contain(command);
    const [, url = '', header = ''] = /"(\S+)" --header "(.*)"/.exec(filled(command)) ?? [];
    await expectTools(url, header.replace(/^Authorization: /, ''));
  });

  it('names every tool, once, and no other', () => {
    const rows = [...page.matchAll(/^\| `\w+` \| .* \| (`.*) \|$/gm)].map(([, tools = '']) => tools);
    const named = rows.flatMap((tools) => [...tools.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named).to.have.members(toolNames);
    const documented = [...page.matchAll(/`([a-z]+_[a-zA-Z]+)`/g)].map(([, name = '']) => name);
    const others = ['coordination_read', 'coordination_write', 'input_required'];
    expect([...named, ...others]).to.include.members(documented);
  });
});
