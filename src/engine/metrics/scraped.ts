import type { Metric } from 'prom-client';

export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** A labelled series of durations. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly tally: { readonly count: number; readonly sumSeconds: number; readonly buckets: readonly number[] };
}

/**
 * A metric computed at each scrape. (prom-client's own metrics find a series by a string of all its labels and a bucket by
 * its name, which costs a request about twenty times as much as a tally.)
 */
export function scraped(
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  samples: () => readonly Sample[] | Promise<readonly Sample[]>,
): Metric {
  const get = async () => ({ name, help, type, values: await samples() });
  // The registry only uses `name` and `get`; prom-client's type is a union of its own four classes.
  return { name, get } as unknown as Metric;
}

/** A histogram of tallies with these bounds. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  series: () => readonly Series[],
): Metric {
  const samples = ({ labels, tally }: Series): Sample[] => {
    let upTo = 0;
    const bucket = (le: number | string, value: number) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le },
      value,
    });
    const buckets = bounds.map((le, i) => {
      upTo += tally.buckets[i] ?? 0;
      return bucket(le, upTo);
    });
    return [
      ...buckets,
      bucket('+Inf', tally.count),
      { metricName: `${name}_sum`, labels, value: tally.sumSeconds },
      { metricName: `${name}_count`, labels, value: tally.count },
    ];
  };
  return scraped('histogram', name, help, () => series().flatMap(samples));
}
