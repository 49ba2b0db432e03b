import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { libraryOf } from '../../src/engine/library/library.ts';
import type { Script } from '../../src/engine/library/loader.ts';
import { luaRoot } from '../../src/engine/library/source.ts';
import { ApiError } from '../../src/engine/route/errors.ts';
import type { Input, Route } from '../../src/engine/route/route.ts';
import { codesOf } from '../../src/engine/route/route-errors.ts';
import { allErrors, allRoutes, luaNames } from '../../src/primitives/primitives.ts';
import { guide, guideFile } from '../support/guide/describe.ts';
import { reaches } from '../support/guide/reach.ts';
import { inputs, leftOut, samples } from '../support/sample.ts';

const { scripts: all } = libraryOf(luaNames);
const scriptOf = (name: string): Script | undefined => all.find((script) => script.name === name);

const scripts = new Map(reaches().map((reach) => [reach.name, reach]));
const sources = readdirSync(luaRoot, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.lua'));
const textOf = (path: string): string => readFileSync(join(luaRoot, path), 'utf8').replaceAll(/--.*/g, '');
const typescript = readdirSync(join(luaRoot, '../src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(luaRoot, '../src', path), 'utf8'))
  .join('\n');

/** The refusals of lib/call on a route, by its rate class and its Idempotency-Key rule. */
const ofEveryCall = new Set([
  'INVALID_API_KEY',
  'PERMISSION_DENIED',
  'SPACE_NOT_FOUND',
  'SERVICE_RATE_LIMITED',
  'RATE_LIMITED',
  'IDEMPOTENCY_KEY_REUSED',
]);

/** Refusals because of a deleted record that another one refers to, by script. */
const deletable: Readonly<Record<string, string>> = {
  'mailbox/requeue': 'MAILBOX_NOT_FOUND',
  'schedule/trigger': 'MAILBOX_NOT_FOUND',
};

/** A list reads records alone; the functions that end them, in the same file, lead to other rooms. */
const unreached: Readonly<Record<string, string>> = { 'pool/listHolds': 'POOL_NOT_FOUND' };

/** Codes that a script can refuse with, and prefixes of codes that it concatenates. */
function refusals(name: string): { codes: Set<string>; beginnings: string[] } {
  const script = scripts.get(name);
  const found = [...(script?.code ?? '').matchAll(/\brefuse\('(\w+)'( *\.\.)?/g)];
  const { args = [], rare = [] } = scriptOf(name) ?? {};
  // Helpers also look up what a record refers to: only what the request names can be missing.
  const askedFor = (code: string): boolean => {
    const [, kind] = /^([A-Z]+)_NOT_FOUND$/.exec(code) ?? [];
    return (
      kind === undefined ||
      deletable[name] === code ||
      (args.includes('key') && kind === 'NOTE') ||
      (rare.includes('required') && ['POOL', 'ALLOWANCE'].includes(kind)) ||
      (name === 'mailbox/requeue' && kind === 'POOL') ||
      ((rare.includes('prerequisites') || args.includes('conditions')) &&
        ['MESSAGE', 'GROUP', 'SCOPE'].includes(kind)) ||
      [...args, ...rare].some((arg) => arg.toLowerCase().endsWith(`${kind.toLowerCase()}id`))
    );
  };
  const whole = found.filter(([, , more]) => more === undefined).map(([, code = '']) => code);
  const codes = new Set(whole.filter((code) => !ofEveryCall.has(code) && askedFor(code) && unreached[name] !== code));
  return { codes, beginnings: found.filter(([, , more]) => more !== undefined).map(([, code = '']) => code) };
}

/** The value with a NUL in one of its texts, or instead of another value; each in turn. */
function withNul(value: unknown): unknown[] {
  if (typeof value === 'string') return ['\0', `${value}\0`, `\0${value}`];
  if (Array.isArray(value)) return [['\0']];
  if (typeof value !== 'object' || value === null) return ['\0'];
  return Object.entries(value).flatMap(([name, member]) => withNul(member).map((bad) => ({ ...value, [name]: bad })));
}

/** The arguments that a route passes to its script; empty if it refuses the request. */
function argsOf(route: Route, query: unknown, body: unknown): [string, string | number][] {
  const read = [route.query?.validate(query), route.body?.validate(body)];
  if (read.some((result) => result?.error)) return [];
  const [input] = inputs(route);
  try {
    return Object.entries(
      route.args?.({ ...(input as Input), query: read[0]?.value ?? {}, body: read[1]?.value ?? {} }) ?? {},
    );
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

describe('the scripts', () => {
  it("every route's script exists and takes exactly what the route passes", () => {
    const callArgs = scriptOf('space/admit')?.args ?? [];
    for (const route of allRoutes) {
      const script = scriptOf(route.script);
      for (const input of inputs(route)) {
        const { spaceId, ...ids } = input.params;
        const args = { ...ids, ...route.args?.(input) };
        expect([...callArgs, ...Object.keys(args)], route.call).to.have.members([
          ...(script?.args ?? []),
          ...(script?.rare ?? []),
        ]);
        for (const [name, value] of Object.entries(args))
          expect(value, `${route.call} ${name}`).to.be.oneOf([String(value), Number(value)]);
      }
    }
  });

  it('get no NUL, which terminates arguments, except in arguments that are sent separately', () => {
    for (const route of allRoutes) {
      const { long = [] } = scriptOf(route.script) ?? {};
      const [query] = samples(route.query);
      const [body] = samples(route.body, leftOut[route.call]);
      const requests = [
        ...withNul(query).map((bad) => argsOf(route, bad, body)),
        ...withNul(body).map((bad) => argsOf(route, query, bad)),
      ];
      for (const [name, value] of requests.flat())
        if (!long.includes(name)) expect(String(value), `${route.call} ${name}`).to.not.include('\0');
    }
  });

  it('refuse only with codes that their routes declare', () => {
    for (const script of new Set(allRoutes.map((route) => route.script))) {
      // Two routes may use one script differently: together they declare its refusals.
      const declared = allRoutes.filter((route) => route.script === script).flatMap((route) => codesOf(route));
      const { codes, beginnings } = refusals(script);
      expect(declared, script).to.include.members([...codes]);
      for (const start of beginnings) {
        const isDeclared = declared.some((code) => code.startsWith(start));
        expect(isDeclared, `${script} ${start}`).to.equal(true);
      }
    }
  });

  it('or the code before them can refuse with every code that their routes declare', () => {
    for (const route of allRoutes) {
      const { codes, beginnings } = refusals(route.script);
      for (const code of route.refuses) {
        const inLua = codes.has(code) || beginnings.some((start) => code.startsWith(start));
        // Readers of records, which the loader generates, refuse with it: see test/spec/mailbox/damaged.test.ts.
        const inReaders = code === 'MESSAGES_DAMAGED';
        // What an atomic batch expects is compared between its calls: test/http/atomic.test.ts.
        const inAnswers = code === 'EXPECTATION_FAILED' && route.parts !== undefined;
        const isKnown = inLua || inReaders || inAnswers || typescript.includes(`apiError('${code}'`);
        expect(isKnown, `${route.call} ${code}`).to.equal(true);
      }
    }
  });

  it('have a declared code in every refusal', () => {
    const cli = ['ORG_NOT_FOUND', 'ORG_EXISTS', 'KEY_EXISTS', 'KEY_ENDED'];
    for (const path of sources) {
      for (const [text, , code, more] of textOf(path).matchAll(/(?<!function )\brefuse\((?:('(\w+)'( *\.\.)?)|)/g)) {
        expect(code, `${path}: ${text}`).to.not.equal(undefined);
        const known = [...Object.keys(allErrors), ...cli];
        const isKnown = known.some((one) => (more === undefined ? one === code : one.startsWith(code ?? '')));
        expect(isKnown, `${path}: ${code}`).to.equal(true);
      }
    }
  });

  it('use every key through its declaration, and every declared key is used', () => {
    const used = new Set<string>();
    for (const path of sources) {
      const text = textOf(path);
      for (const [, key = ''] of text.matchAll(/\bkeys\.(\w+)\(/g)) used.add(key);
      for (const [, record = ''] of readFileSync(join(luaRoot, path), 'utf8').matchAll(/^--- @record (\w+)/gm))
        used.add(record);
      // lib/invocation sets it; elsewhere keys are built by their declarations.
      if (path !== 'lib/invocation.lua') expect(text, path).to.not.match(/\broot\b/);
      expect(text, path).to.not.match(/'muster:|redis\.p?call\('(?!TIME'|PUBLISH'|XINFO')\w+', *'/);
    }
    // Outside of the organizations' slots: written by Node, not by scripts.
    for (const name of ['format', 'orgs', 'due', 'queue', 'round', 'oldestClaim', 'lateDestinations', 'outbox'])
      used.add(name);
    expect([...used]).to.include.members(Object.keys(luaNames.keys));
  });

  it('scripts and keys are described in lua/README.md: npm run -s describe', () => {
    expect(readFileSync(guideFile, 'utf8') === guide(), 'lua/README.md is not up to date').to.equal(true);
    for (const { name, summary } of scripts.values()) expect(summary, `${name} has no summary`).to.match(/\S/);
  });
});
