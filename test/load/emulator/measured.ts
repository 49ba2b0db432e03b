import type { Sample } from './protocol.ts';

/** A metric as k6 passes it to handleSummary. */
export interface Metric {
  readonly type: Sample['kind'];
  readonly values: Readonly<Record<string, number>>;
  readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
}

/**
 * All samples of a run, by metric and by the sub-metrics that thresholds name, such as
 * `http_req_duration{operation:send}`.
 */
export class Measured {
  readonly #thresholds: Readonly<Record<string, readonly string[]>>;
  readonly #samples = new Map<string, { kind: Sample['kind']; values: number[] }>();
  readonly #begunMs = Date.now();

  constructor(thresholds: Readonly<Record<string, readonly string[]>>) {
    this.#thresholds = thresholds;
  }

  add({ metric, kind, value, tags }: Sample): void {
    this.#under(metric, kind, value);
    for (const [tag, text] of Object.entries(tags)) {
      const name = `${metric}{${tag}:${text}}`;
      if (this.#thresholds[name]) this.#under(name, kind, value);
    }
  }

  #under(name: string, kind: Sample['kind'], value: number): void {
    const known = this.#samples.get(name);
    if (known) known.values.push(value);
    else this.#samples.set(name, { kind, values: [value] });
  }

  metrics(): Record<string, Metric> {
    const seconds = (Date.now() - this.#begunMs) / 1000;
    return Object.fromEntries(
      [...this.#samples].map(([name, { kind, values }]) => {
        const found = valuesOf(kind, values, seconds);
        const thresholds = (this.#thresholds[name] ?? []).map((text) => [text, { ok: isMet(text, found) }] as const);
        return [name, { type: kind, values: found, thresholds: Object.fromEntries(thresholds) }];
      }),
    );
  }
}

function valuesOf(kind: Sample['kind'], values: readonly number[], seconds: number): Record<string, number> {
  const sum = values.reduce((total, value) => total + value, 0);
  if (kind === 'counter') return { count: sum, rate: sum / seconds };
  if (kind === 'rate') return { rate: sum / values.length, passes: sum, fails: values.length - sum };
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { med: at(0.5), 'p(95)': at(0.95), max: at(1), count: values.length };
}

function isMet(threshold: string, values: Readonly<Record<string, number>>): boolean {
  const [, name = '', comparison, limit] = /^([^<>=]+)(<|>|==)([\d.]+)$/.exec(threshold) ?? [];
  const value = values[name];
  if (value === undefined || limit === undefined) throw new Error(`what is a threshold ${threshold}?`);
  if (comparison === '<') return value < Number(limit);
  return comparison === '>' ? value > Number(limit) : value === Number(limit);
}
