import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Builder } from '../../src/engine/library/loader.ts';
import { isScript } from '../../src/engine/library/source.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
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
  /** The file of the present mutant without the change. */
  #original: Buffer = Buffer.alloc(0);
  /** Test files that fail without a mutant, too. */
  readonly broken = new Map<string, string>();

  constructor(tree: string, target: Target, records: Records, seed: number) {
    this.#tree = tree;
    this.#target = target;
    this.#records = records;
    this.#seed = seed;
  }

  async end(): Promise<void> {
    await this.#runner?.end();
    this.#runner = undefined;
  }

  async #ready(): Promise<Runner> {
    this.#runner ??= await Runner.start(this.#tree, this.#target.tests, this.#seed);
    return this.#runner;
  }

  async #run(test: string): Promise<Found> {
    // Unknown ones take about as long as most.
    const before = this.#records.measured(test)?.ms ?? 5_000;
    const found = await (await this.#ready()).test(test, patience(before), 3 * patience(before));
    if (!found.failure) {
      this.#records.measure(test, found);
      // Even with a mutant planted: it fails without one only by chance.
      this.#records.keepSound(test);
    }
    return found;
  }

  /** Whether the mutant dies, and by which test. */
  async try(mutant: Mutant): Promise<Outcome> {
    const path = join(this.#tree, mutant.file);
    this.#original = readFileSync(path);
    writeFileSync(path, mutant.text);
    try {
      return await this.#tryPlanted(mutant).catch((error) => this.#again(mutant, error));
    } catch (error) {
      // A mutant of the process's own code may keep it from beginning.
      if (!(error instanceof WorkerLost) || (this.#target.isLua && !error.inTest)) throw error;
      this.#runner = undefined;
      return this.#records.keep(mutant, this.#target.tests, 'died', undefined, `the process: ${error.message}`);
    } finally {
      writeFileSync(path, this.#original);
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
    if (!isLua) await this.end();
    const reason = await (await this.#ready()).renew(false);
    if (reason !== undefined) return this.#records.keep(mutant, tests, 'invalid', undefined, reason);
    for (const test of this.#order(mutant.file)) {
      const failed = await this.#failure(test);
      if (failed !== undefined && (await this.#isSound(test, mutant)))
        return this.#records.keep(mutant, tests, 'died', test, failed);
    }
    const left = await (await this.#ready()).look();
    if (left.length === 0) return this.#records.keep(mutant, tests, 'survived');
    return this.#records.keep(mutant, tests, 'died', undefined, `the store is dirty: ${left[0]}`);
  }

  /** The failing test of a file. A failure that is not an assertion's must happen again in a new process. */
  async #failure(test: string): Promise<string | undefined> {
    const first = (await this.#run(test)).failure;
    if (first === undefined) return undefined;
    if (!/Timeout of|ECONN|no connection|STORE_UNAVAILABLE|socket|hook/i.test(first.title + first.message))
      return first.title;
    await this.#anew(false);
    return (await this.#run(test)).failure?.title;
  }

  /** Whether a test file that has failed passes without the mutant. It is tried once, unless it has passed before. */
  async #isSound(test: string, mutant: Mutant): Promise<boolean> {
    if (this.#records.isSound(test)) return true;
    const path = join(this.#tree, mutant.file);
    writeFileSync(path, this.#original);
    await (await this.#ready()).renew(true);
    let { failure } = await this.#run(test);
    if (failure) {
      await this.#anew(true);
      failure = (await this.#run(test)).failure;
    }
    if (failure) this.broken.set(test, `${failure.title}: ${failure.message}`);
    writeFileSync(path, mutant.text);
    if (failure) await this.#anew(false);
    return !failure;
  }

  /** A new process, on the files as they are now. */
  async #anew(isClean: boolean): Promise<void> {
    await this.end();
    const reason = await (await this.#ready()).renew(isClean);
    if (reason !== undefined) throw new Error(`the library cannot be loaded: ${reason}`);
  }

  /**
   * The tests, those first that are likely to kill: they did before, are named after the part of the client, or call the mutated
   * script a lot for their length.
   */
  #order(file: string): string[] {
    const killers = this.#records.killers(file);
    const reaching = this.#target.isLua && this.#target.tests.length > 1 ? reach(file) : undefined;
    const score = (test: string): number => {
      // Unknown ones in the middle.
      const { ms = 5_000, calls = {} } = this.#records.measured(test) ?? {};
      const all = Object.entries(calls);
      const reached = all.filter(([script]) => reaching?.has(script) ?? true).length;
      const name = this.#target.isLua ? basename(file, '.lua').replace(/^_/, '') : basename(this.#target.name);
      const namesake = test.includes(name) ? 1 : 0;
      const fit = this.#target.isLua ? (reached + 1 + namesake) / (all.length + 1) : 1 + 100 * namesake;
      return (killers.get(test) ?? 0) * 1_000 + fit * (1_000 / (ms + 1_000));
    };
    const tests = this.#target.tests.filter((test) => !this.broken.has(test));
    return [...tests].sort((a, b) => score(b) - score(a));
  }
}

let builder: Builder | undefined;

/** The scripts that include a Lua file, directly or not. */
function reach(file: string): ReadonlySet<string> {
  builder ??= new Builder(luaNames);
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
