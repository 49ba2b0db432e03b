import { randomUUID } from 'node:crypto';
import { trace as openTelemetry, SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { expect } from 'chai';
import { createMuster, type Muster, Worker } from '../../src/clients/typescript/index.ts';
import { until } from '../support/processes.ts';
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

describe('the typed client with OpenTelemetry', () => {
  const exporter = new InMemorySpanExporter();
  before(() => {
    openTelemetry.setGlobalTracerProvider(
      new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
  });
  after(() => openTelemetry.disable());

  it('marks the span of an attempt as failed whose claim was lost', async () => {
    const world = await World.create();
    const muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const lost: unknown[] = [];
    const worker = new Worker(muster, { mailbox: { mailboxId }, closeOnSignals: false }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    worker.on('received', ({ message }) => void muster.message.cancel({ messageId: message.id }));
    worker.on('lost', (event) => lost.push(event));
    await muster.message.send({ mailboxId, scopeId: randomUUID(), payload: 1 });
    await until(() => lost.length === 1);
    await worker.close();
    const attempts = exporter.getFinishedSpans().filter(({ name }) => name === `process ${mailboxId}`);
    expect(attempts.map(({ status }) => status.code)).to.deep.equal([SpanStatusCode.ERROR]);
  });
});
