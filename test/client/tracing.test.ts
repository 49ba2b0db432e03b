import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMuster, type Muster, Worker } from '../../src/clients/typescript/index.ts';
import { someTrace } from '../support/trace.ts';
import { World } from '../support/world.ts';

// With OpenTelemetry: test/tracing.
describe('the typed client without OpenTelemetry', () => {
  let muster: Muster;
  const scopeId = randomUUID();
  const trace = { traceparent: someTrace(), tracestate: 'a=1' };
  before(async () => {
    const world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });

  it('takes a trace as an option of a call, and sends none without it', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const sent = { mailboxId, scopeId, payload: 1 };
    const first = await muster.message.send(sent, trace);
    const second = await muster.message.send(sent);
    const { traceparent, tracestate } = trace;
    expect(await muster.message.view({ messageId: first.id })).to.include({ traceparent, tracestate });
    expect(await muster.message.view({ messageId: second.id })).to.include({ traceparent: null, tracestate: null });
  });

  it('hands the trace of each message on to the result that its worker publishes', async () => {
    const jobs = await muster.mailbox.create({ name: randomUUID() });
    const done = await muster.mailbox.create({ name: randomUUID() });
    const sent = [trace, {}, { traceparent: someTrace() }];
    for (const [at, options] of sent.entries())
      await muster.message.send({ mailboxId: jobs.id, scopeId, payload: at }, options);
    const options = { mailbox: { mailboxId: jobs.id }, resultsTo: { mailboxId: done.id }, concurrency: 8 };
    const worker = new Worker(muster, { ...options, closeOnSignals: false }, ({ payload }) => payload);
    await worker.drained();
    await worker.close();
    const kept: unknown[] = [];
    for await (const { payload, traceparent, tracestate } of muster.message.all({ mailboxId: done.id, scopeId }))
      kept.push([payload, traceparent, tracestate]);
    expect(kept).to.have.deep.members([
      [0, trace.traceparent, trace.tracestate],
      [1, null, null],
      [2, sent[2]?.traceparent, null],
    ]);
  });
});
