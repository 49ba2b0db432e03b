import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { findInstalled } from '../../support/debian.ts';
import { until } from '../../support/processes.ts';
import { freePort } from '../proxies/proxy.ts';
import { prometheus } from './programs.ts';

interface Alerts {
  readonly data: {
    readonly alerts: readonly { readonly labels: Readonly<Record<string, string>>; readonly state: string }[];
  };
}

/** A Prometheus of its own, which scrapes its targets and looks at its rules once a second. */
export class Prometheus {
  readonly #folder: string;
  readonly #server: ChildProcess;
  readonly #url: string;

  private constructor(folder: string, server: ChildProcess, url: string) {
    this.#folder = folder;
    this.#server = server;
    this.#url = url;
  }

  static async start(rules: string): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'muster-prometheus-'));
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'muster', file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }] }],
    };
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
    await writeFile(join(folder, 'rules.yml'), rules);
    await writeFile(join(folder, 'targets.json'), '[]');
    const { command, env } = await findInstalled(prometheus);
    const address = `127.0.0.1:${await freePort()}`;
    const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`];
    const server = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
    endAtExit(server);
    let said = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const url = `http://${address}`;
    await until(async () => {
      if (server.exitCode !== null) throw new Error(`prometheus has ended: ${said}`);
      return fetch(`${url}/-/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    });
    return new Prometheus(folder, server, url);
  }

  /** host:port of each. */
  async scrape(targets: readonly string[]): Promise<void> {
    const file = join(this.#folder, 'targets.json');
    await writeFile(`${file}.part`, JSON.stringify([{ targets }]));
    await rename(`${file}.part`, file);
  }

  /** The labels of the alerts that fire. */
  async firing(): Promise<readonly Readonly<Record<string, string>>[]> {
    const { data } = (await (await fetch(`${this.#url}/api/v1/alerts`)).json()) as Alerts;
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.kill('SIGTERM');
    await closed;
    await rm(this.#folder, { recursive: true });
  }
}
