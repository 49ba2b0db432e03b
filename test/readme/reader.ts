import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { runLoad } from '../load/emulator/run.ts';
import { withCurl } from '../support/curl.ts';
import type { Access } from '../support/processes.ts';
import { findPython } from '../support/python.ts';
import type { Block, Document, Example } from './document.ts';
import { compactJson, Normal, withoutFigures, wrapJson } from './normal.ts';
import { freePort, StartedServer } from './server.ts';
import { Shell } from './shell.ts';
import { specialsOf } from './special.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
/** Values in the documents that a test must replace: port 8080 may be in use, and ./data may hold someone's data. */
const shownUrl = '127.0.0.1:8080';
const shownReceiver = '127.0.0.1:9000';
const shownData = './data';

/** `npm test` has built already: this makes npm skip prestart and prebench, which would build again. */
export const isBuilt = { npm_config_ignore_scripts: 'true' };

const muster = 'npm run -s muster --';
/** npm takes about as long as the command: once it has been shown to run it, it is left out. */
const musterWithoutNpm = 'env npm_lifecycle_event=muster node dist/cli/main.js';
let hasRunMuster = false;

/** Follows a document like its reader, in one terminal, with a separate server. */
export class Reader {
  readonly #shell: Shell;
  readonly #places: [shown: string, real: string][];
  readonly #env: NodeJS.ProcessEnv;
  readonly #shown = new Normal();
  readonly #real = new Normal();
  #server: StartedServer | undefined;

  private constructor(shell: Shell, env: NodeJS.ProcessEnv, places: [string, string][]) {
    this.#shell = shell;
    this.#env = env;
    this.#places = places;
  }

  static async start(): Promise<Reader> {
    // Variables that `npm test` sets for its children would change how a reader's npm behaves.
    const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|REDIS_URL|MUSTER_)/i.test(name));
    const env = await withCurl({ ...Object.fromEntries(inherited), LOG_LEVEL: 'error' });
    // A reader's project has installed it.
    env['MUSTER_SERVER'] = join(root, 'dist/cli/bin.js');
    const port = await freePort();
    const shell = await Shell.start(root, { ...env, ...isBuilt });
    const data = `${shell.folder}/data`;
    await shell.run(`export DATA_DIR=${data}`);
    return new Reader(shell, { ...env, PORT: String(port), DATA_DIR: data }, [
      [shownUrl, `127.0.0.1:${port}`],
      [shownReceiver, `127.0.0.1:${await freePort()}`],
      [shownData, data],
    ]);
  }

  /** Runs an example and compares its output; with `update`, returns the output to show instead. */
  async follow({ block, shown }: Example, update: boolean): Promise<string | undefined> {
    // A program of another system, with a store of its own: a test in test/docs runs it.
    if (block.language === 'ts') return undefined;
    const output = this.#asShown(await this.#run(block));
    if (!shown) {
      expect(output, 'it fails without saying so').not.to.match(/"error":\{/);
      return undefined;
    }
    if (block.text.startsWith('k6 ')) {
      expect(withoutFigures(output)).to.equal(withoutFigures(shown.text));
      return undefined;
    }
    const real = shown.language === 'json' ? compactJson(output, /\n/) : output.trim();
    if (update) return shown.language === 'json' ? real.split('\n').map(wrapJson).join('\n\n') : real;
    const expected = shown.language === 'json' ? compactJson(shown.text, /\n\n/) : shown.text.trim();
    expect(this.#real.of(real)).to.equal(this.#shown.of(expected));
    return undefined;
  }

  /** Runs a block again: it must succeed, or fail with the code that is shown. */
  async repeat({ block, shown }: Example): Promise<void> {
    const codes = (text: string): string[] =>
      [...text.matchAll(/"error":\{"code":"(\w+)"/g)].map(([, code = '']) => code);
    const printed = await this.#run(block).catch((error: Error) => {
      throw new Error(`${error.message}\n${block.text}`);
    });
    expect(codes(printed), block.text).to.deep.equal(codes(shown?.text ?? ''));
  }

  async #run(block: Block): Promise<string> {
    if (block.language === 'js') return this.#program(block.text, 'mjs', 'node');
    if (block.language === 'python')
      return this.#program(block.text, 'py', `PYTHONPATH='${root}/src/clients/python' ${(await findPython()).command}`);
    // Settings, bodies that are sent elsewhere, and pages that a browser opens elsewhere.
    if (['ini', 'json', 'html'].includes(block.language)) return '';
    if (block.language !== 'bash') throw new Error(`nobody knows how to run a block of "${block.language}"`);
    const specials = specialsOf(block.text, root);
    if (!specials) {
      const text = hasRunMuster ? block.text.replaceAll(muster, musterWithoutNpm) : block.text;
      hasRunMuster ||= text.includes(muster);
      return this.bash(this.#asReal(text));
    }
    let printed = '';
    for (const special of specials) {
      if (special.kind === 'start') printed += await this.startServer(special.settings);
      else if (special.kind === 'load') printed += await this.#load(special.script);
      else for (const command of special.commands) await this.bash(command);
    }
    return printed;
  }

  /** Runs a program inside the package, so that it can import the package by name, as a reader's project does. */
  async #program(text: string, suffix: string, command: string): Promise<string> {
    const file = join(root, 'dist', `readme-${randomUUID()}.${suffix}`);
    await writeFile(file, this.#asReal(text));
    try {
      return await this.bash(`${command} '${file}'`);
    } finally {
      await rm(file);
    }
  }

  /** The API that the terminal uses. */
  async access(): Promise<Access & { readonly url: string }> {
    const [url = '', spaceId = '', apiKey = ''] = (await this.bash('echo $MUSTER_URL $MUSTER_SPACE $MUSTER_KEY'))
      .trim()
      .split(' ');
    return { url, spaceId, apiKey };
  }

  async #load(script: string): Promise<string> {
    const { url, spaceId, apiKey } = await this.access();
    const short = { VUS: '2', DURATION: '0.2s', P95: '5000' };
    const env = { MUSTER_URL: url, MUSTER_SPACE: spaceId, MUSTER_KEY: apiKey, ...short };
    return (await runLoad(pathToFileURL(join(root, script)), env)).stdout;
  }

  /** Sets a variable in the terminal to an id, which the document shows as `shown`. */
  async know(name: string, real: string, shown: string): Promise<void> {
    this.#places.push([shown, real]);
    await this.bash(`export ${name}=${real}`);
  }

  /** Starts a server in place of the previous one; the terminal gets its `export` lines. */
  async startServer(settings: Readonly<Record<string, string>>): Promise<string> {
    await this.#server?.stop();
    // The first start is as the reader's, including the build.
    this.#server = new StartedServer(root, { ...this.#env, ...(this.#server && isBuilt), ...settings });
    await this.#server.ready();
    const { printed } = this.#server;
    await this.bash(
      printed
        .split('\n')
        .filter((line) => line.startsWith('export '))
        .join('\n'),
    );
    return printed;
  }

  /** Runs text in the terminal; throws if it fails. */
  async bash(text: string): Promise<string> {
    const { status, output } = await this.#shell.run(text);
    if (status !== 0) throw new Error(`it ends with status ${status}: ${output}`);
    return output;
  }

  #asReal(text: string): string {
    return this.#places.reduce((result, [shown, real]) => result.replaceAll(shown, real), text);
  }

  #asShown(text: string): string {
    return this.#places.reduce((result, [shown, real]) => result.replaceAll(real, shown), text);
  }

  async end(): Promise<void> {
    await this.#server?.stop();
    await this.#shell.end();
  }
}

/** With UPDATE=1 in the environment, documents are rewritten with the actual output of their examples. */
const isUpdate = process.env['UPDATE'] === '1';

/** Defines a test for each example of a document, in order. */
export function readAll(document: Document, reader: () => Reader): void {
  const texts = new Map<Block, string>();
  for (const example of document.examples)
    it(`${example.title} does what is shown`, async () => {
      const text = await reader().follow(example, isUpdate);
      if (text !== undefined && example.shown) texts.set(example.shown, text);
    });
  after(() => {
    if (isUpdate) document.rewrite(texts);
  });
}
