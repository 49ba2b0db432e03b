// An agent over MCP. With the protocol's own client library it takes the steps of a model that is connected to the space.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMuster } from 'muster-client';

const { MUSTER_URL, MUSTER_KEY, MUSTER_SPACE } = process.env;
const client = new Client({ name: 'example', version: '1' });
const headers = { Authorization: `Bearer ${MUSTER_KEY}` };
const address = new URL(`${MUSTER_URL}/v1/spaces/${MUSTER_SPACE}/mcp`);
await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));

/** Calls a tool. A refusal is a result with the code and a remedy: a model would read it, this program throws. */
async function tool<T>(name: string, args: Record<string, unknown>): Promise<T> {
  const { isError, content } = await client.callTool({ name, arguments: args });
  const [answer] = content;
  if (isError || answer?.type !== 'text') throw new Error(JSON.stringify(content));
  return JSON.parse(answer.text) as T;
}

interface Claim {
  readonly id: string;
  readonly token: string;
  readonly payload: { readonly text: string };
}

const { tools } = await client.listTools();
const names = tools.map(({ name }) => name).filter((name) => ['message_recv', 'message_complete'].includes(name));
console.log(`there are tools to ${names.join(' and ')}`);

// The operator creates the mailbox, and another program sends the messages.
const muster = createMuster({ url: MUSTER_URL, key: MUSTER_KEY, spaceId: MUSTER_SPACE });
const { id } = await muster.mailbox.create({ name: 'letters', unique: true });
const scopeId = crypto.randomUUID();
for (const text of ['hello', 'goodbye']) await muster.message.send({ mailboxId: id, scopeId, payload: { text } });

const { mailboxes } = await tool<{ mailboxes: { id: string }[] }>('mailbox_list', { name: 'letters' });
const mailboxId = mailboxes[0]?.id;
for (;;) {
  const asked = { mailboxId, scopeId, holder: 'example', holderSession: '1' };
  // null: nothing is ready.
  const claim = await tool<Claim | null>('message_recv', asked);
  if (!claim) break;
  const payload = claim.payload.text.toUpperCase();
  await tool('message_complete', { messageId: claim.id, token: claim.token, result: { payload } });
  console.log(`${claim.payload.text}: ${payload}`);
}
await client.close();
