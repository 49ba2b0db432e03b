import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { browser, useBrowser } from '../support/browser.ts';
import { Processes, until } from '../support/processes.ts';
import { findPython } from '../support/python.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'docs/examples');

describe('the research desk', () => {
  useBrowser();
  const processes = new Processes();
  let service: MusterService;
  before(async () => {
    service = await delivering();
  });
  afterEach(() => processes.clear());
  after(() => service.stop());

  /** Runs it, and answers its question as a person with a browser does. What it has printed. */
  async function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
    const world = await World.create({ on: service });
    const access = { MUSTER_URL: world.url, MUSTER_KEY: world.apiKey, MUSTER_SPACE: world.spaceId };
    const desk = processes.start({ ...env, ...access }, args, [command]);
    const asks = () => /^please answer: (\S+)$/m.exec(desk.stdout)?.[1];
    const hasEnded = desk.ended.then(({ stderr }) => Promise.reject(new Error(stderr)));
    await Promise.race([until(() => asks() !== undefined), hasEnded]);
    hasEnded.catch(() => undefined);
    const page = await (await browser()).newPage();
    await page.goto(asks() ?? '');
    expect(await page.getByRole('main').textContent()).to.include('Publish "12 finds, from the queues of 2015');
    await page.getByLabel('Your name').fill('Ann');
    await page.getByRole('button', { name: 'yes' }).click();
    await page.getByText('Thank you!').waitFor();
    await page.close();
    const { status, stdout, stderr } = await desk.ended;
    expect(status, stderr).to.equal(0);
    return stdout.trimEnd().split('\n').slice(1);
  }

  const printed = ['12 finds, from the queues of 2015 to the queues of 2026; published by Ann', '240 cents were spent'];

  it('in TypeScript publishes what a person has let out by a link', async () => {
    expect(await run(process.execPath, ['--import', 'tsx', join(folder, 'desk.ts')])).to.deep.equal(printed);
  });

  it('in Python, too', async () => {
    const python = await findPython();
    const env = {
      ...(python.env as Record<string, string>),
      PYTHONPATH: join(root, 'src/clients/python'),
    };
    expect(await run(python.command, [join(folder, 'desk.py')], env)).to.deep.equal(printed);
  });

  it('is a program of at most 100 lines in each language', async () => {
    for (const name of ['desk.ts', 'desk.py'])
      expect((await readFile(join(folder, name), 'utf8')).split('\n').length, name).to.be.at.most(101);
  });
});
