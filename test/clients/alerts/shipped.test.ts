import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findInstalled } from '../../support/debian.ts';
import { type Case, cases } from './cases.ts';
import { promtool } from './programs.ts';
import { shippedFile, shippedRules } from './rules.ts';

const run = promisify(execFile);
const time = (minutes: number): string => `${Math.round(minutes * 60)}s`;

describe('The shipped alerts', () => {
  const rules = shippedRules();
  const severityOf = (alert: string) => rules.find((rule) => rule.alert === alert)?.labels.severity ?? '';

  /** What promtool has against a case; '' if nothing. */
  async function problemsOf({ alert, series, fires, silent, labels, summary }: Case): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'muster-alerts-'));
    const alerts = [{ exp_labels: { severity: severityOf(alert), ...labels }, exp_annotations: { summary } }];
    const file = {
      rule_files: [shippedFile],
      evaluation_interval: '15s',
      tests: [
        {
          interval: '15s',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          alert_rule_test: [
            ...fires.map((minutes) => ({ eval_time: time(minutes), alertname: alert, exp_alerts: alerts })),
            ...silent.map((minutes) => ({ eval_time: time(minutes), alertname: alert, exp_alerts: [] })),
          ],
        },
      ],
    };
    try {
      const path = join(folder, 'test.yml');
      // YAML includes JSON.
      await writeFile(path, JSON.stringify(file));
      const { command, env } = await findInstalled(promtool);
      return await run(command, ['test', 'rules', path], { env }).then(
        () => '',
        ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  for (const one of cases)
    it(`${one.fires.length > 0 ? 'fire' : 'stay silent'} when ${one.because}: ${one.alert}`, async () => {
      expect(await problemsOf(one)).to.equal('');
    });

  it('each have a case in which they fire and resolve', () => {
    const seen = cases.filter(({ fires, silent }) => fires.length > 0 && silent.some((at) => at > Math.max(...fires)));
    expect([...new Set(seen.map(({ alert }) => alert))]).to.have.members(rules.map(({ alert }) => alert));
  });

  it('are checked at each moment: an alert too many or too few is a problem', async () => {
    const [down] = cases as [Case];
    expect(await problemsOf({ ...down, fires: [9] })).to.include('MusterDown');
    expect(await problemsOf({ ...down, silent: [11.5] })).to.include('MusterDown');
  });
});
