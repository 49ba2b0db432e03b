import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import autocannon, { type Request } from 'autocannon';
import type { Job, JobResult, Step } from './driver.ts';

/** The values that one lap of a plan has kept so far. autocannon's context: a new one for every lap. */
type Kept = Record<string, string>;

/** Unique to this run, so that no request is ever a replay. */
const keyPrefix = `bench-${process.pid}-${Date.now().toString(36)}-`;
let nextKey = 0;
const newKey = () => keyPrefix + nextKey++;

/** A falsy request tells autocannon to go back to the first one; its types leave that out. */
const startOver = undefined as unknown as Request;

/** Fills in the template's `<name>`s; undefined while one of them is missing. */
function filler(template: string): (kept: Kept) => string | undefined {
  const parts = template.split(/<(\w+)>/);
  if (parts.length === 1) return () => template;
  return (kept) => {
    let text = '';
    for (const [i, part] of parts.entries()) {
      const piece = i % 2 === 0 ? part : part === 'key' ? newKey() : kept[part];
      if (piece === undefined) return undefined;
      text += piece;
    }
    return text;
  };
}

function keep(wanted: Record<string, string>, body: string, kept: Kept): void {
  const answer = JSON.parse(body) as Record<string, unknown>;
  for (const [name, member] of Object.entries(wanted)) {
    const value = answer[member];
    if (typeof value === 'string') kept[name] = value;
  }
}

/** Finds every record with an id and a token in an answer, and fills in the template for each. */
function keepEach(wanted: Record<string, string>, body: string, kept: Kept): void {
  const records = [...body.matchAll(/"id":"([^"]+)".*?"token":"([^"]+)"/g)];
  for (const [name, template] of Object.entries(wanted)) {
    const texts = records.map(([, id = '', token = '']) => template.replace('<id>', id).replace('<token>', token));
    if (texts.length > 0) kept[name] = texts.join(',');
  }
}

/** How many of a batch's results have each status. */
function statusesOf(body: string): Map<number, number> {
  const statuses = new Map<number, number>();
  for (const [, status] of body.matchAll(/"status":(\d+),"body"/g))
    statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1);
  return statuses;
}

/** Successes and times of one step over all connections. */
class Tally {
  readonly #times: RecordableHistogram = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  count = 0;

  get isTimed(): boolean {
    return this.#times.count > 0;
  }

  time(milliseconds: number): void {
    this.#times.record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  result(): JobResult['steps'][string] {
    return { count: this.count, p50Micros: this.#times.percentile(50), p99Micros: this.#times.percentile(99) };
  }
}

function run(job: Job): Promise<JobResult> {
  const tallies = new Map((job.plans[0] ?? []).map(({ name }) => [name, new Tally()]));
  const refused: Record<string, number> = {};
  const headers = { 'content-type': 'application/json', ...job.headers };
  let answered: Tally | undefined;

  const request = (step: Step): Request => {
    const tally = tallies.get(step.name);
    const path = filler(step.path);
    const body = filler(step.body);
    return {
      method: 'POST',
      headers: { ...headers },
      setupRequest: (draft, context) => {
        const filledPath = path(context as Kept);
        const filledBody = body(context as Kept);
        if (filledPath === undefined || filledBody === undefined) return startOver;
        draft.path = filledPath;
        draft.body = filledBody;
        if (step.keyed && draft.headers) draft.headers['idempotency-key'] = newKey();
        return draft;
      },
      // autocannon calls this just before it emits 'response', which carries the time but not the request.
      onResponse: (status, text, context) => {
        answered = tally;
        if (status === 204 || status >= 300) return;
        if (step.keep) keep(step.keep, text, context as Kept);
        if (step.keepEach) keepEach(step.keepEach, text, context as Kept);
        for (const [code, count] of step.isBatch ? statusesOf(text) : [[status, 1] as const]) {
          if (code >= 300) refused[code] = (refused[code] ?? 0) + count;
          else if (tally) tally.count += count;
        }
      },
    };
  };

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
        ...(job.requestsPerSecond ? { overallRate: job.requestsPerSecond } : {}),
        sampleInt: 100,
        timeout: 30,
        skipAggregateResult: true,
        setupClient: (client) => {
          const plan = job.plans[connection++ % job.plans.length];
          if (plan) client.setRequests(plan.map(request));
        },
      },
      (error) => {
        if (error) return reject(error);
        const used = process.cpuUsage(cpu);
        const answeredSteps = [...tallies].filter(([, tally]) => tally.isTimed);
        resolve({
          requests,
          laps: [...tallies.values()].at(-1)?.count ?? 0,
          seconds: (lastAnswerAt - startedAt) / 1000,
          steps: Object.fromEntries(answeredSteps.map(([name, tally]) => [name, tally.result()])),
          refused,
          driverMicrosPerRequest: (used.user + used.system) / requests,
        });
      },
    );
    instance.on('response', (_client, status, _bytes, milliseconds) => {
      requests++;
      lastAnswerAt = performance.now();
      if (status >= 300) refused[status] = (refused[status] ?? 0) + 1;
      answered?.time(milliseconds);
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
