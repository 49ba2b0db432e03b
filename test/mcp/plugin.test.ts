import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../docs/plugins/claude-code', import.meta.url));
const jsonOf = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));

interface Hook {
  readonly matcher?: string;
  readonly hooks: readonly { readonly type: string; readonly command: string }[];
}

describe('The plugin for Claude Code', () => {
  let world: World;
  let data: string;
  let mailboxId: string;
  let client: Client;
  const scopeId = randomUUID();
  const session = { session_id: randomUUID(), cwd: '/' };
  const environment = () => ({
    ...{ MUSTER_URL: world.url, MUSTER_SPACE: world.spaceId, MUSTER_KEY: world.apiKey },
    ...{ CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data },
  });

  before(async () => {
    world = await World.create();
    data = mkdtempSync(join(tmpdir(), 'muster-plugin-'));
    ({ id: mailboxId } = await world.mustPost('/mailboxes', { name: 'pages' }));
    const variables = environment() as Record<string, string>;
    const filled = (value: string): string => value.replaceAll(/\$\{(\w+)\}/g, (_, name) => variables[name] ?? '');
    const { url, headers } = jsonOf('.mcp.json').mcpServers.muster;
    client = new Client({ name: 'claude-code', version: '1' });
    const requestInit = { headers: { Authorization: filled(headers.Authorization) } };
    await client.connect(new StreamableHTTPClientTransport(new URL(filled(url)), { requestInit }));
  });
  after(async () => {
    await client.close();
    rmSync(data, { recursive: true });
  });

  /** Runs the hooks of an event, each as the client does: its command in a shell, the event on stdin. */
  async function fire(name: string, fields: object = {}): Promise<string> {
    const outputs: string[] = [];
    for (const { hooks } of jsonOf('hooks/hooks.json').hooks[name] as Hook[])
      for (const { command } of hooks) {
        const child = spawn(command, { shell: true, env: { ...process.env, ...environment() } });
        child.stdin.end(JSON.stringify({ ...session, hook_event_name: name, ...fields }));
        const done = new Promise((resolve) => child.once('close', resolve));
        const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
        expect([await done, stderr]).to.deep.equal([0, '']);
        outputs.push(stdout);
      }
    return outputs.join('');
  }

  /** Calls a tool between its hooks. */
  async function use(tool: string, args: Record<string, unknown>) {
    const called = { tool_name: `mcp__plugin_muster_muster__${tool}`, tool_input: args };
    await fire('PreToolUse', called);
    const { content, structuredContent } = await client.callTool({ name: tool, arguments: args });
    const output = await fire('PostToolUse', { ...called, tool_response: content });
    return { answer: structuredContent as Record<string, string>, output };
  }

  const recv = () => use('message_recv', { mailboxId, scopeId, holder: 'claude', holderSession: session.session_id });
  const send = () => world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
  const viewed = async (id: string | undefined) => (await world.get(`/messages/${id}`)).body;
  const held = (): readonly string[] => readdirSync(join(data, session.session_id));

  it('is one that the client loads', () => {
    expect(jsonOf('.claude-plugin/plugin.json')).to.include({ name: 'muster' });
    expect(Object.keys(jsonOf('hooks/hooks.json').hooks)).to.deep.equal(['PreToolUse', 'PostToolUse', 'SessionEnd']);
  });

  it('remembers a claim for its owner alone, and forgets it once it was completed', async () => {
    await send();
    const { answer } = await recv();
    expect(held()).to.deep.equal([answer['id']]);
    expect(statSync(join(data, session.session_id, String(answer['id']))).mode & 0o777).to.equal(0o600);
    await use('message_complete', { messageId: answer['id'], token: answer['token'] });
    expect(held()).to.deep.equal([]);
    expect((await viewed(answer['id'])).state).to.equal('ACKED');
  });

  it('renews a claim after a third of its lease, whichever tool is used, and says when it is lost', async () => {
    await send();
    const { answer } = await recv();
    const id = String(answer['id']);
    const file = join(data, session.session_id, id);
    const before = (await viewed(id)).leaseExpiresAt;
    await fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'true' } });
    expect((await viewed(id)).leaseExpiresAt, 'renewed just now').to.equal(before);
    const old = new Date(Date.now() - 201_000);
    utimesSync(file, old, old);
    expect(await fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'true' } })).to.equal('');
    const after = (await viewed(id)).leaseExpiresAt;
    expect(Date.parse(after)).to.be.above(Date.parse(before));
    expect(statSync(file).mtimeMs).to.be.above(old.getTime() + 100_000);
    await world.mustPost(`/messages/${id}/cancel`);
    utimesSync(file, old, old);
    const { hookSpecificOutput } = JSON.parse(await fire('PostToolUse', { tool_name: 'Bash', tool_response: 'done' }));
    expect(hookSpecificOutput).to.include({ hookEventName: 'PostToolUse' });
    expect(hookSpecificOutput.additionalContext).to.match(new RegExp(`CLAIM_LOST.*${id}`));
    expect(held()).to.deep.equal([]);
  });

  it('gives back what the session holds at its end', async () => {
    await send();
    const { answer } = await recv();
    await fire('SessionEnd', { reason: 'prompt_input_exit' });
    expect(await viewed(answer['id'])).to.include({
      state: 'READY',
      lastError: 'the session that worked on it has ended',
    });
    expect(readdirSync(data)).to.deep.equal([]);
    // With nothing held, and none ever held.
    await fire('SessionEnd', { reason: 'other' });
  });
});
