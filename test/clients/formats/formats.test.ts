import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { World } from '../../support/world.ts';
import type { Access, Outcome } from './use/outcome.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const generated = join(here, 'generated');

/** Runs a program of this folder's packages; rejects with its output if it fails. */
async function run(name: string, ...args: string[]): Promise<string> {
  const bin = join(here, 'node_modules/.bin', name);
  const options = {
    cwd: here,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, CI: '1', REDOCLY_TELEMETRY: 'off' },
  };
  const { stdout, stderr } = await promisify(execFile)(bin, args, options).catch((error) => {
    throw new Error(`${name}: ${error.stdout}${error.stderr}`.slice(0, 4_000));
  });
  return stdout + stderr;
}

describe('/openapi.json, as the tools of others read it', () => {
  let world: World;
  before(async () => {
    world = await World.create();
    await rm(generated, { recursive: true, force: true });
    await mkdir(generated);
    const document = await (await fetch(`${world.url}/openapi.json`)).text();
    await writeFile(join(generated, 'openapi.json'), document);
  });

  it('has no mistake for Spectral', async () => {
    expect(
      await run('spectral', 'lint', 'generated/openapi.json', '--ruleset', 'spectral.yaml', '-F', 'warn'),
    ).to.contain('No results');
  });

  it('has no mistake for Redocly', async () => {
    const said = await run(
      'redocly',
      'lint',
      'generated/openapi.json',
      '--config',
      'redocly.yaml',
      '--max-problems',
      '10',
    );
    expect(said)
      .to.match(/Your API description is valid/)
      .and.not.match(/You have \d+ warnings?/);
  });

  it('becomes types and clients of five generators, which compile strictly', async () => {
    // Otherwise a field with a default would have to be given.
    const optional = ['--default-non-nullable', 'false'];
    await run('openapi-typescript', 'generated/openapi.json', ...optional, '-o', 'generated/openapi-typescript.ts');
    await run('openapi-ts', '-i', './generated/openapi.json', '-o', 'generated/hey-api');
    await run(
      'swagger-typescript-api',
      'generate',
      '-p',
      'generated/openapi.json',
      '-o',
      'generated/swagger',
      '-n',
      'api.ts',
    );
    await run('orval');
    await run('kubb', 'generate', '--config', 'kubb.config.mjs');
    expect(await readdir(generated)).to.include.members(['hey-api', 'swagger', 'orval', 'kubb']);
    await run('tsc', '-p', 'tsconfig.json');
  });

  for (const name of ['openapi-fetch', 'hey-api', 'swagger-typescript-api', 'orval', 'kubb'])
    it(`serves the client of ${name}, which sends, receives, completes and settles`, async () => {
      const client = (await import(pathToFileURL(join(here, `use/${name}.ts`)).href)) as {
        run(access: Access): Promise<Outcome>;
      };
      const { url, apiKey: key, spaceId } = world;
      expect(await client.run({ url, key, spaceId, runId: randomUUID() })).to.deep.equal({
        sent: 'READY',
        received: { page: 7 },
        completed: 'ACKED',
        settledMinor: '40',
        refused: 'MESSAGE_NOT_FOUND',
      });
    });
});
