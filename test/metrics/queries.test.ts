import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { dashboardFile, dashboard as described } from '../../src/engine/metrics/dashboard.ts';
import { LateDestinations } from '../../src/jobs/workers/late-destinations.ts';
import { World } from '../support/world.ts';
import type { Scrape } from './exposition.ts';
import { selectorsOf } from './expressions.ts';
import { Metered, scrape } from './metered.ts';

const textOf = (name: string): string =>
  readFileSync(new URL(`../../src/engine/metrics/${name}`, import.meta.url), 'utf8');

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}
interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string };
}

const dashboard: { uid: string; panels: Panel[]; templating: { list: { query: { query: string } }[] } } = JSON.parse(
  readFileSync(dashboardFile, 'utf8'),
);
const rules: Rule[] = parse(textOf('alerts.yml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);

describe('The queries of dashboard and alerts', () => {
  let metered: Metered;
  let seen: Scrape;
  before(async () => {
    metered = await Metered.start();
    const snapshots = { folder: metered.store.dataDir, keep: 1, intervalSeconds: 3600, embedded: true };
    const service = await metered.service({ metricsPort: 0, snapshots, webhookAllowPrivate: true });
    await service.store.config('SET', 'maxmemory', String(2 ** 30));
    const world = await World.create({ on: service, plan: 'free' });
    await world.get('/budgets');
    await world.get('/nothing');
    // Nobody listens there.
    await world.mustPost('/destinations', { url: 'http://127.0.0.1:9/', eventTypes: [] });
    await world.mustPost('/mailboxes', { name: 'jobs' });
    await new LateDestinations(service.store, service.scripts).look();
    seen = await scrape(service);
    await service.store.config('SET', 'maxmemory', '0');
  });
  after(() => metered.stop());

  /** Unknown metrics and labels in an expression. */
  const problems = (expression: string): string[] =>
    selectorsOf(expression).flatMap(({ name, labels }) => {
      // Prometheus' own metric, of every target.
      const found = name === 'up' ? [{ labels: {} }] : seen.samples.filter((sample) => sample.name === name);
      if (found.length === 0) return [`${name} is no metric`];
      const known = new Set(['job', 'instance', ...found.flatMap((sample) => Object.keys(sample.labels))]);
      return labels.filter((label) => !known.has(label)).map((label) => `${name} has no label ${label}`);
    });

  it('are those of the dashboard as described: npm run -s describe', () => {
    expect(readFileSync(dashboardFile, 'utf8')).to.equal(described());
  });

  it('use existing metrics and labels', () => {
    const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
    const expressions = [...targets.map(({ expr }) => expr), ...rules.map(({ expr }) => expr)];
    for (const expression of expressions) {
      expect(selectorsOf(expression), expression).to.not.be.empty;
      expect(problems(expression), expression).to.deep.equal([]);
    }
    for (const { expr, legendFormat } of targets)
      for (const [, label = ''] of legendFormat.matchAll(/{{(\w+)}}/g))
        expect(expr).to.match(new RegExp(`\\b${label}\\b`));
    for (const { query } of dashboard.templating.list)
      expect(problems(/^label_values\((\w+), \w+\)$/.exec(query.query)?.[1] ?? query.query)).to.deep.equal([]);
  });

  it('are checked for wrong metrics, labels and groupings', () => {
    const wrong = 'sum by (le, rute) (rate(muster_refusals_total{cod="x",code!="y"}[5m])) / max(muster_nothing) > 0.5';
    expect(problems(wrong)).to.deep.equal([
      'muster_refusals_total has no label cod',
      'muster_refusals_total has no label rute',
      'muster_nothing is no metric',
    ]);
  });

  it('show every metric of ours on the dashboard', () => {
    const shown = JSON.stringify(dashboard.panels);
    const hidden = [...seen.types.keys()].filter((name) => name.startsWith('muster_') && !shown.includes(name));
    // Constants, and metrics that only alerts need.
    expect(hidden).to.have.members([
      'muster_info',
      'muster_store_append_only',
      'muster_store_evicted_keys_total',
      'muster_store_memory_ratio',
      'muster_retained_bytes_ratio',
      'muster_snapshot_failing',
      'muster_spaces_read',
      'muster_spaces_partial',
    ]);
  });

  it('are in panels that do not overlap, and in alerts with a severity and a summary', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos } of dashboard.panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.get(`${x} ${y}`), `${title} lies on`).to.equal(undefined);
          expect(x, title).to.be.lessThan(24);
          taken.set(`${x} ${y}`, title);
        }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).to.equal(dashboard.panels.length);
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(labels.severity, alert).to.be.oneOf(['critical', 'warning']);
      expect(annotations.summary, alert).to.match(/\.$/);
    }
  });
});
