// Model calls within limits: ten agents share a provider's limit of tokens and a budget. Each call reserves the most
// that it may need, and settles the usage in the provider's answer. A small server stands in for the provider here.
import { createServer } from 'node:http';
import { createMuster } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

let tokens = 0;
const provider = createServer((_, response) => {
  tokens += 150;
  response.setHeader('content-type', 'application/json').setHeader('x-ratelimit-remaining-tokens', 5000 - tokens);
  response.end('{"text":"an answer","usage":{"input_tokens":100,"output_tokens":50}}');
});
await new Promise<void>((listening) => provider.listen(0, listening));
const address = provider.address() as { port: number };

const scopeId = crypto.randomUUID();
const name = `models ${scopeId}`;
// Ten dollars a day for the team, out of the company's thousand.
const money = { currency: 'USD', scale: 6 };
const company = await muster.budget.create({ ...money, name: `company ${name}`, limitMinor: '1000000000' });
const day = { windowSeconds: 86_400, alertPercents: [80] };
const team = { ...money, ...day, name, limitMinor: '10000000', parentBudgetId: company.id };
const { id: budgetId } = await muster.budget.create(team);
// As many tokens and requests a day as the provider allows.
const { id: allowanceId } = await muster.allowance.create({ name, unitsLimit: 5000, windowSeconds: 86_400 });
const requests = `requests of ${name}`;
await muster.allowance.create({ name: requests, unitsLimit: 100, windowSeconds: 86_400 });

/** Three millionths of a dollar for an input token, fifteen for an output token. */
const price = (usage: { inputTokens: number; outputTokens: number }) => 3 * usage.inputTokens + 15 * usage.outputTokens;

async function ask(question: string): Promise<string> {
  const estimate = { units: 1000, amountMinor: 9000 };
  const quotas = [{ quota: name }, { quota: requests, counts: 'requests' }] as const;
  return muster.spend({ budget: name, quotas, estimate, price, label: 'answers', scopeId }, async (call) => {
    const response = await call.fetch(`http://127.0.0.1:${address.port}`, { method: 'POST', body: question });
    if (!response.ok) throw new Error(`the provider says ${response.status}`);
    const { text } = (await response.json()) as { text: string };
    return text;
  });
}

const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(`question ${n}`)));
provider.close();

const { usedUnits, unitsLimit } = await muster.allowance.view({ allowanceId });
const { balances, spentByLabel } = await muster.budget.view({ budgetId });
console.log(`${answers.length} answers took ${usedUnits} of ${unitsLimit} tokens`);
console.log(`they cost ${balances.settled} millionths of a dollar, ${spentByLabel['answers']} of them for answers`);
console.log(`${(await muster.budget.view({ budgetId: company.id })).balances.settled} of the company's are spent`);
