/** One sample of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A validated scrape. */
export interface Scrape {
  readonly text: string;
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The value of the sample with these labels, if there is one. */
  value(name: string, labels?: Record<string, string>): number | undefined;
  /** `name{labels}` of every sample. */
  series(): Set<string>;
}

const sampleForm = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (NaN|Nan|[+-]Inf|-?[0-9.]+(?:e[+-]?\d+)?)$/;
const labelForm = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** Parses the Prometheus text format; throws at the first error. */
export function readExposition(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  let family = '';
  let helped = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest] = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') helped = name;
    else if (keyword === 'TYPE') {
      if (types.has(name) || helped !== name) throw new Error(`TYPE ${name}: twice, or without HELP`);
      if (name.endsWith('_total') !== (rest === 'counter')) throw new Error(`${name} is a ${rest}`);
      types.set(name, rest ?? '');
      family = name;
    } else samples.push(readSample(line, family, types.get(family)));
  }
  const series = new Set(samples.map(nameOf));
  if (series.size !== samples.length) throw new Error('a series twice');
  for (const name of [...types].filter(([, type]) => type === 'histogram').map(([one]) => one))
    checkHistogram(name, samples);
  return {
    text,
    types,
    samples,
    value: (name, labels = {}) => {
      const wanted = nameOf({ name, labels });
      return samples.find((sample) => nameOf(sample) === wanted)?.value;
    },
    series: () => series,
  };
}

function readSample(line: string, family: string, type: string | undefined): Sample {
  const [, name = '', inside = '', value = ''] = sampleForm.exec(line) ?? [];
  const suffixes =
    type === 'histogram' ? ['_bucket', '_sum', '_count'] : type === 'summary' ? ['', '_sum', '_count'] : [''];
  if (!suffixes.some((suffix) => name === family + suffix)) throw new Error(`${line}: not of ${family}`);
  const labels: Record<string, string> = {};
  let end = 0;
  labelForm.lastIndex = 0;
  for (let found = labelForm.exec(inside); found; found = labelForm.exec(inside)) {
    labels[found[1] ?? ''] = found[2] ?? '';
    end = labelForm.lastIndex;
  }
  if (end !== inside.length) throw new Error(`${line}: labels`);
  return { name, labels, value: Number(value.replace('Nan', 'NaN').replace('Inf', 'Infinity')) };
}

function nameOf({ name, labels }: Pick<Sample, 'name' | 'labels'>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return `${name}{${pairs.sort().join()}}`;
}

/** Bucket counts must rise, and the last must equal the total. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const before = new Map<string, number>();
  const counts = new Map(samples.filter((one) => one.name === `${name}_count`).map((one) => [nameOf(one), one.value]));
  for (const { labels, value } of samples.filter((one) => one.name === `${name}_bucket`)) {
    const { le, ...rest } = labels;
    const key = nameOf({ name: `${name}_count`, labels: rest });
    if (value < (before.get(key) ?? 0)) throw new Error(`${key}: bucket ${le} falls`);
    before.set(key, value);
    if (le === '+Inf' && counts.get(key) !== value) throw new Error(`${key}: the last bucket is not the count`);
  }
}
