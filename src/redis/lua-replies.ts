import { argumentsAt, closingAt } from './lua-text.ts';
import type { Source } from './source.ts';

const answering = /\bcall\.(?:done|unchanged|uncounted|answer)\(/g;
const returning = /^\s*return (?=\{)/gm;

/**
 * The member names of each table that a file replies with: the argument of `call.done` etc. or, outside of requests,
 * the return value.
 */
function replies(body: string, isCall: boolean): string[][] {
  const starts = [...body.matchAll(isCall ? answering : returning)].map((found) => found.index + found[0].length);
  return starts.flatMap((start) => {
    if (body.charAt(start) === ')') return [];
    if (body.charAt(start) !== '{')
      throw new Error(`it replies with ${body.slice(start, start + 20)}…, not with a table`);
    const members = argumentsAt(body.slice(0, closingAt(body, start)), start + 1);
    return [members.map((member) => /^(\w+) =/.exec(member)?.[1] ?? member)];
  });
}

/** Throws if a script, or a helper that replies for it, replies with a member that its `@reply` does not name. */
export function checkReplies(name: string, source: Source, below: readonly Source[]): void {
  const declared = source.reply.map((member) => member.name);
  const isCall = below.some(({ around }) => around !== undefined);
  const all = [source, ...(isCall ? below.filter(({ around }) => around === undefined) : [])];
  try {
    for (const members of all.flatMap(({ body }) => replies(body, isCall))) {
      const extra = members.find((member) => !declared.includes(member));
      if (extra !== undefined)
        throw new Error(`it replies with ${extra}, which @reply does not name: ${declared.join(' ') || 'nothing'}`);
    }
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}
