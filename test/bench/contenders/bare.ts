import { CALL_PHASES, type Phase } from '../phases.ts';
import type { Settings, Work } from './contender.ts';
import { Forked, postTo } from './forked.ts';

/** A limit: a server that does one EVALSHA per request and nothing else, whatever the phase. */
class Bare extends Forked {
  readonly name: string;
  readonly phases: readonly Phase[];
  protected readonly file: string;

  constructor(settings: Settings, name: string, file: string, phases: readonly Phase[]) {
    super(settings);
    this.name = name;
    this.file = file;
    this.phases = phases;
  }

  protected work(_phase: Phase, seconds: number): Promise<Work> {
    return this.post(seconds);
  }
}

/** The limit set by the records: the rate of a call that only makes the writes. */
class Writes extends Bare {
  protected override readonly env = { BENCH_SPACES: String(this.settings.spaces) };

  protected override async work(phase: Phase, seconds: number): Promise<Work> {
    const steps = phase === 'reserve' ? ['reserve', 'settle'] : [phase];
    const work = await this.post(seconds, postTo(...steps));
    return { ...work, count: work.count * steps.length };
  }
}

/** The contender that every ratio "of (b)" refers to. */
export const LIMIT = '(b) Koa';

export const bareContenders = {
  'bare-http': (settings: Settings) => new Bare(settings, '(a) node:http', 'servers/bare-http.ts', ['send']),
  'bare-koa': (settings: Settings) => new Bare(settings, LIMIT, 'servers/bare-koa.ts', ['send', ...CALL_PHASES]),
  writes: (settings: Settings) =>
    new Writes(settings, 'Koa, writes only', 'servers/writes-koa.ts', ['send', ...CALL_PHASES]),
};
