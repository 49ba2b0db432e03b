import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import autocannon, { type Request } from 'autocannon';
import type { Job, JobResult, Step, Target } from './driver.ts';

interface Claim {
  id?: string;
  token?: string;
}

/** Unlike any key of another run, so that no send is ever a replay. */
const keyPrefix = `bench-${process.pid}-${Date.now().toString(36)}-`;
let nextKey = 0;

function withKey(request: Request): Request {
  if (request.headers) request.headers['idempotency-key'] = keyPrefix + nextKey++;
  return request;
}

/** A falsy request tells autocannon to go back to the first one; its types leave that out. */
const startOver = undefined as unknown as Request;

function run(job: Job): Promise<JobResult> {
  const histograms: Partial<Record<Step, RecordableHistogram>> = {};
  const successes: Record<Step, number> = { send: 0, recv: 0, complete: 0 };
  const refused: Record<string, number> = {};
  let answered: Step = 'send';

  const headers = { 'content-type': 'application/json', ...job.headers };
  const step = (name: Step, request: Request): Request => ({
    method: 'POST',
    headers: { ...headers },
    ...request,
    // autocannon calls this just before it emits 'response', which carries the time but not the request.
    onResponse: (status, body, context) => {
      answered = name;
      if (status === 204 || status >= 300) return;
      successes[name]++;
      if (name === 'recv') Object.assign(context, JSON.parse(body) as Claim);
    },
  });

  const send = (target: Target) =>
    step('send', { path: target.sendPath, body: target.sendBody, setupRequest: (request) => withKey(request) });
  const recv = (target: Target) =>
    step('recv', {
      path: target.recvPath,
      body: target.recvBody,
      setupRequest: (request, context) => {
        Object.assign(context, { id: undefined, token: undefined } satisfies Record<keyof Claim, undefined>);
        return request;
      },
    });
  const complete = (target: Target) =>
    step('complete', {
      setupRequest: (request, context) => {
        const { id, token } = context as Claim;
        if (!id || !token) return startOver;
        request.path = `${target.messagesPath}/${id}/complete`;
        request.body = `{"token":"${token}"}`;
        return withKey(request);
      },
    });
  const plans = {
    send: (target: Target) => [send(target)],
    drain: (target: Target) => [recv(target), complete(target)],
    through: (target: Target) => [send(target), recv(target), complete(target)],
  };
  const lastStep: Step = job.plan === 'send' ? 'send' : 'complete';

  return new Promise((resolve, reject) => {
    let connection = 0;
    let requests = 0;
    let lastAnswerAt = 0;
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    const instance = autocannon(
      {
        url: job.url,
        connections: job.connections,
        ...(job.amount ? { amount: job.amount } : { duration: job.seconds ?? 3 }),
        sampleInt: 100,
        timeout: 30,
        skipAggregateResult: true,
        setupClient: (client) => {
          const target = job.targets[connection++ % job.targets.length];
          if (target) client.setRequests(plans[job.plan](target));
        },
      },
      (error) => {
        if (error) return reject(error);
        const used = process.cpuUsage(cpu);
        const steps: JobResult['steps'] = {};
        for (const [name, histogram] of Object.entries(histograms)) {
          steps[name as Step] = {
            count: successes[name as Step],
            p50Micros: histogram.percentile(50),
            p99Micros: histogram.percentile(99),
          };
        }
        resolve({
          requests,
          messages: successes[lastStep],
          seconds: (lastAnswerAt - startedAt) / 1000,
          steps,
          refused,
          driverMicrosPerRequest: (used.user + used.system) / requests,
        });
      },
    );
    instance.on('response', (_client, status, _bytes, milliseconds) => {
      requests++;
      lastAnswerAt = performance.now();
      if (status >= 300) refused[status] = (refused[status] ?? 0) + 1;
      histograms[answered] ??= createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
      histograms[answered]?.record(Math.max(1, Math.round(milliseconds * 1000)));
    });
    instance.on('reqError', () => {
      refused[0] = (refused[0] ?? 0) + 1;
    });
  });
}

process.on('message', (job: Job) => {
  run(job).then(
    (result) => process.send?.({ ok: true, result }),
    (error: unknown) => process.send?.({ ok: false, message: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
