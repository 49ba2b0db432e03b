// Claims of a Claude Code session: renewed before and after each tool call, given back when the session ends. A model cannot
// renew while it thinks or while a command runs, and a session that is closed would keep its work until the lease lapses.
//
// Each claim is a file named after its message, because hooks of parallel tool calls run at the same time. The file's mtime is
// the time of the last renewal.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const { MUSTER_URL, MUSTER_SPACE, MUSTER_KEY, CLAUDE_PLUGIN_DATA } = process.env;

const event = JSON.parse(await text(process.stdin));
const data = CLAUDE_PLUGIN_DATA ?? join(tmpdir(), 'muster-claims');
const folder = join(data, String(event.session_id).replaceAll(/[^\w-]/g, '_'));

/** Whether the call succeeded; false once the claim is lost. Throws after any other failure: the claim may still be held. */
async function call(messageId, name, body) {
  const url = `${MUSTER_URL}/v1/spaces/${MUSTER_SPACE}/messages/${messageId}/${name}`;
  const headers = {
    Authorization: `Bearer ${MUSTER_KEY}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  };
  const signal = AbortSignal.timeout(4_000);
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  if (answer.ok) return true;
  if (answer.status === 404 || answer.status === 409) return false;
  throw new Error(`${name} of ${messageId}: ${answer.status} ${await answer.text()}`);
}

const claimsNow = async () => {
  const files = await readdir(folder).catch(() => []);
  return Promise.all(files.map(async (id) => ({ id, file: join(folder, id), ...(await read(join(folder, id))) })));
};

const read = async (file) => ({
  ...JSON.parse(await readFile(file, 'utf8')),
  renewedMs: (await stat(file)).mtimeMs,
});

const forget = (id) => rm(join(folder, id), { force: true });

/** The answer of an MCP tool, whichever form Claude Code passes it on in. */
function answered(response) {
  if (response?.structuredContent) return response.structuredContent;
  const content = Array.isArray(response) ? response : response?.content;
  const first = typeof response === 'string' ? response : content?.find(({ type }) => type === 'text')?.text;
  try {
    return JSON.parse(first) ?? {};
  } catch {
    return {};
  }
}

/** Updates the session's claims after a tool call. */
async function learn({ tool_name: name, tool_input: input, tool_response: response }) {
  const [, tool] = /^mcp__.*muster.*__(\w+)$/.exec(name) ?? [];
  const answer = answered(response);
  if (tool === 'message_recv') {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const { id, token, leaseSeconds } of answer.messages ?? (answer.token ? [answer] : []))
      await writeFile(join(folder, id), JSON.stringify({ token, leaseSeconds }), { mode: 0o600 });
  }
  if (['message_complete', 'message_nack', 'message_ask'].includes(tool) && !answer.error)
    await forget(input.messageId);
}

/** Renews claims that have passed a third of their lease. Resolves with the ids of lost messages. */
async function renew() {
  const due = (await claimsNow()).filter((one) => Date.now() - one.renewedMs > (one.leaseSeconds * 1_000) / 3);
  const lost = await Promise.all(
    due.map(async ({ id, file, token, leaseSeconds }) => {
      if (await call(id, 'renew', { token, leaseSeconds })) return utimes(file, new Date(), new Date());
      await forget(id);
      return id;
    }),
  );
  return lost.filter((id) => id !== undefined);
}

async function giveBack() {
  const error = 'the session that worked on it has ended';
  await Promise.all((await claimsNow()).map(({ id, token }) => call(id, 'nack', { token, retry: true, error })));
  await rm(folder, { recursive: true, force: true });
}

if (event.hook_event_name === 'SessionEnd') await giveBack();
else {
  if (event.hook_event_name === 'PostToolUse') await learn(event);
  const lost = await renew();
  if (lost.length > 0) {
    const additionalContext = `CLAIM_LOST: another agent may work on ${lost.join(', ')} by now. Drop that work, publish nothing.`;
    const hookSpecificOutput = { hookEventName: event.hook_event_name, additionalContext };
    process.stdout.write(JSON.stringify({ hookSpecificOutput }));
  }
}
