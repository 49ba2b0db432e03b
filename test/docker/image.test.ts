import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { Metered } from '../metrics/metered.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const lines = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replaceAll('\\\n', '')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line));
const allOf = (instruction: string): string[] =>
  lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
/** Instructions of the final stage. */
const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
const lastOf = (instruction: string): string =>
  last.findLast((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1) ?? '';
const environment = Object.fromEntries(
  lastOf('ENV')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
);
const { scripts, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('The Dockerfile', () => {
  it('copies existing files, and .dockerignore lets only these into the build', () => {
    const copied = allOf('COPY')
      .filter((line) => !line.startsWith('--from='))
      .flatMap((line) => line.split(' ').slice(0, -1));
    for (const path of copied) expect(existsSync(join(root, path)), path).to.equal(true);
    const [everything, ...exceptions] = readFileSync(join(root, '.dockerignore'), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(everything).to.equal('*');
    const kept = exceptions.map((line) => line.replace(/^!/, ''));
    for (const path of copied)
      expect(
        kept.some((one) => path === one || path.startsWith(`${one}/`)),
        path,
      ).to.equal(true);
    for (const path of kept) expect(copied).to.include(path);
  });

  it('runs what the build makes, with existing scripts, as a user other than root', () => {
    const command: string[] = JSON.parse(lastOf('CMD'));
    expect(command).to.deep.equal(['muster', 'serve']);
    expect(allOf('RUN').join()).to.include(`ln -s /muster/${bin.muster} /usr/local/bin/muster`);
    // As `npm start` runs it.
    const [first = ''] = readFileSync(join(root, 'src/cli/bin.ts'), 'utf8').split('\n');
    const [, flags] = /^#!\/usr\/bin\/env -S node (.*)$/.exec(first) ?? [];
    expect(`exec node ${flags} dist/main.js`).to.equal(scripts.start);
    for (const [, name = ''] of allOf('RUN')
      .join('\n')
      .matchAll(/npm run -s (\w+)/g))
      expect(scripts).to.have.property(name);
    // The scripts that npm ci would run need development dependencies.
    for (const install of allOf('RUN').filter((line) => line.startsWith('npm ci')))
      expect(install).to.include('--ignore-scripts');
    expect(lastOf('USER')).to.equal('node');
    expect(lastOf('STOPSIGNAL')).to.equal('SIGTERM');
    for (const image of allOf('FROM')) expect(image).to.match(/^node:\d+\.\d+\.\d+-bookworm-slim( AS \w+)?$/);
  });

  it('sets known settings, and a volume for written data', () => {
    const { NODE_ENV, ...settings } = environment;
    expect(NODE_ENV).to.equal('production');
    const config = readConfig(settings);
    expect(config).to.include({ host: '0.0.0.0', role: 'all', dataDir: lastOf('VOLUME') });
    expect(lastOf('EXPOSE')).to.equal(`${config.port} ${config.metricsPort}`);
  });

  it('has a health check that passes while /readyz does, and fails without an answer', async () => {
    const metered = await Metered.start();
    const service = await metered.service({ role: 'api', metricsPort: 0 });
    const [, text = ''] = /CMD (\[.*\])$/.exec(lastOf('HEALTHCHECK')) ?? [];
    const [program = '', ...words]: string[] = JSON.parse(text);
    const check = async (): Promise<number> => {
      const env = { ...process.env, METRICS_PORT: new URL(service.metricsUrl ?? '').port };
      const ended = await promisify(execFile)(program, words, { env }).catch((error) => error);
      return ended.code ?? 0;
    };
    expect(await check()).to.equal(0);
    await metered.store.stop();
    expect(await check(), 'without a store').to.equal(1);
    await metered.stop();
    expect(await check(), 'without a service').to.equal(1);
  });
});
