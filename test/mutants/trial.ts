import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allWords } from '../../src/primitives.ts';
import { Builder } from '../../src/redis/loader.ts';
import { isScript } from '../../src/redis/source.ts';
import type { Mutant } from './mutant.ts';
import type { Outcome, Records } from './records.ts';
import { type Found, Runner, WorkerLost } from './runner.ts';
import type { Target } from './targets.ts';

/** Slower machines, and the load of others, are no death. */
const patience = (ms: number): number => 60_000 + 5 * ms;

/** Plants mutants of a target in a copy of the project, and runs its tests until one fails. */
export class Trial {
  readonly #tree: string;
  readonly #target: Target;
  readonly #records: Records;
  readonly #seed: number;
  #runner: Runner | undefined;
  /** Test files that fail without a mutant, too. */
  readonly broken = new Map<string, string>();

  constructor(tree: string, target: Target, records: Records, seed: number) {
    this.#tree = tree;
    this.#target = target;
    this.#records = records;
    this.#seed = seed;
  }

  end(): void {
    this.#runner?.end();
    this.#runner = undefined;
  }

  async #ready(): Promise<Runner> {
    this.#runner ??= await Runner.start(this.#tree, this.#target.tests, this.#seed);
    return this.#runner;
  }

  /** Runs each test file without a mutant, unless that is known. */
  async prepare(say: (line: string) => void): Promise<void> {
    const unknown = this.#target.tests.filter((test) => {
      const found = this.#records.unchanged(test);
      return !found || found.failure !== undefined;
    });
    if (unknown.length === 0) return;
    say(`${unknown.length} test files without a mutant`);
    await (await this.#ready()).renew(true);
    for (const test of unknown) {
      let found = await this.#run(test);
      // A test that depends on the machine's pace gets a second try.
      if (found.failure) {
        this.end();
        await (await this.#ready()).renew(true);
        found = await this.#run(test);
      }
      if (found.failure) this.broken.set(test, `${found.failure.title}: ${found.failure.message}`);
      this.#records.keepUnchanged(test, found);
    }
    const left = await (await this.#ready()).look();
    if (left.length > 0) throw new Error(`without a mutant, the tests leave the store dirty:\n${left.join('\n')}`);
  }

  async #run(test: string): Promise<Found> {
    const before = this.#records.unchanged(test)?.ms ?? 60_000;
    return (await this.#ready()).test(test, patience(before), 3 * patience(before));
  }

  /** Whether the mutant dies, and by which test. */
  async try(mutant: Mutant): Promise<Outcome> {
    const path = join(this.#tree, mutant.file);
    const original = readFileSync(path);
    writeFileSync(path, mutant.text);
    try {
      return await this.#tryPlanted(mutant).catch((error) => this.#again(mutant, error));
    } catch (error) {
      // A mutant of the process's own code may keep it from beginning.
      if (!(error instanceof WorkerLost) || (this.#target.isLua && !error.inTest)) throw error;
      this.#runner = undefined;
      return this.#records.keep(mutant, this.#target.tests, 'died', undefined, `the process: ${error.message}`);
    } finally {
      writeFileSync(path, original);
    }
  }

  /** A lost process is no death before it happens twice. */
  #again(mutant: Mutant, error: unknown): Promise<Outcome> {
    if (!(error instanceof WorkerLost)) throw error;
    this.#runner = undefined;
    return this.#tryPlanted(mutant);
  }

  async #tryPlanted(mutant: Mutant): Promise<Outcome> {
    const { tests, isLua } = this.#target;
    // A mutated module of the process needs a new one.
    if (!isLua) this.end();
    const reason = await (await this.#ready()).renew(false);
    if (reason !== undefined) return this.#records.keep(mutant, tests, 'invalid', undefined, reason);
    for (const test of this.#order(mutant.file)) {
      const failed = await this.#failure(test);
      if (failed !== undefined) return this.#records.keep(mutant, tests, 'died', test, failed);
    }
    const left = await (await this.#ready()).look();
    if (left.length === 0) return this.#records.keep(mutant, tests, 'survived');
    return this.#records.keep(mutant, tests, 'died', undefined, `the store is dirty: ${left[0]}`);
  }

  /** The failing test of a file. A failure that is not an assertion's must happen again in a new process. */
  async #failure(test: string): Promise<string | undefined> {
    const first = (await this.#run(test)).failure;
    if (first === undefined) return undefined;
    if (!/Timeout of|ECONN|socket|hook/i.test(first.title + first.message)) return first.title;
    this.end();
    await (await this.#ready()).renew(false);
    return (await this.#run(test)).failure?.title;
  }

  /** The tests, those first that are likely to kill: they did before, or call the mutated script a lot for their length. */
  #order(file: string): string[] {
    const killers = this.#records.killers(file);
    const reaching = this.#target.isLua && this.#target.tests.length > 1 ? reach(file) : undefined;
    const score = (test: string): number => {
      const { ms = 60_000, calls = {} } = this.#records.unchanged(test) ?? {};
      const all = Object.entries(calls);
      const reached = all.filter(([script]) => reaching?.has(script) ?? true).length;
      return (killers.get(test) ?? 0) * 1_000 + (reached + 0.1) / (all.length + 1) / (ms + 1_000);
    };
    const tests = this.#target.tests.filter((test) => !this.broken.has(test));
    return [...tests].sort((a, b) => score(b) - score(a));
  }
}

let builder: Builder | undefined;

/** The scripts that include a Lua file, directly or not. */
function reach(file: string): ReadonlySet<string> {
  builder ??= new Builder(allWords);
  const all = builder;
  const found = new Set<string>();
  const wanted = file.replace(/^lua\/|\.lua$/g, '');
  const includes = (one: string, seen: Set<string>): boolean => {
    if (one === wanted) return true;
    if (seen.has(one)) return false;
    seen.add(one);
    return all.includesOf(one).some((other) => includes(other, seen));
  };
  for (const { file: script } of all.files()) if (isScript(script) && includes(script, new Set())) found.add(script);
  return found;
}
