// An agent that sends work and waits for its result, and the worker that does it, at the second attempt: with the SDK of
// OpenTelemetry, as a program sets it up.
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { createMuster, Worker } from 'muster-client';

const { url, key, spaceId } = JSON.parse(process.env.ACCESS);
const resource = defaultResource().merge(resourceFromAttributes({ 'service.name': 'agent' }));
const provider = new NodeTracerProvider({
  resource,
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

const muster = createMuster({ url, key, spaceId });
const jobs = await muster.mailbox.create({ name: 'jobs' });
const done = await muster.mailbox.create({ name: 'done' });
const scopeId = crypto.randomUUID();
const worker = new Worker(muster, { mailbox: 'jobs', resultsTo: 'done', concurrency: 4 }, ({ payload, attempt }) => {
  if (attempt === 1) throw new Error('not yet');
  return trace.getTracer('agent').startActiveSpan('work', async (span) => {
    await muster.message.send({ mailboxId: done.id, scopeId, payload: 'on the way' });
    span.end();
    return payload + 1;
  });
});
worker.on('failed', () => undefined);
await trace.getTracer('agent').startActiveSpan('agent', async (span) => {
  const sent = await muster.message.send({ mailboxId: jobs.id, scopeId, payload: 41 });
  const ended = await muster.message.view({ messageId: sent.id, waitSeconds: 30 });
  const { messages } = await muster.message.recv({
    mailboxId: done.id,
    scopeId,
    holder: 'agent',
    holderSession: 'a',
    max: 2,
    waitSeconds: 30,
  });
  span.end();
  await worker.close();
  await provider.shutdown();
  console.log(JSON.stringify({ jobs: jobs.id, done: done.id, traceId: span.spanContext().traceId, ended, messages }));
});
