import nodeModule from 'node:module';
import type { Chunk, Comment, Node } from 'luaparse';

type Ranged = { readonly range: [number, number] };
/** A node of luaparse's syntax tree, with the options below. */
export type Syntax = Node & Ranged;

interface Parser {
  parse(code: string, options: object): Omit<Chunk, 'comments'> & { readonly comments: readonly (Comment & Ranged)[] };
}

/** Loaded only to build a library. A built product has its library as text. */
let parser: Parser | undefined;

/** @throws Error with the line and column of the mistake */
export function parseLua(code: string): ReturnType<Parser['parse']> {
  parser ??= nodeModule.createRequire(import.meta.url)('luaparse') as Parser;
  return parser.parse(code, { luaVersion: '5.1', scope: true, ranges: true, locations: true });
}

/** Calls `visit` with each node of a tree and its ancestors, the nearest last. */
export function walk(node: unknown, visit: (node: Syntax, around: readonly Syntax[]) => void): void {
  const around: Syntax[] = [];
  const enter = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    if (Array.isArray(one)) for (const item of one) enter(item);
    else if ('type' in one) {
      const syntax = one as Syntax;
      visit(syntax, around);
      around.push(syntax);
      // A library has some 60,000 nodes and is walked several times: no list of the members is made.
      for (const name in syntax) if (name !== 'range' && name !== 'loc') enter(syntax[name as keyof Syntax]);
      around.pop();
    }
  };
  enter(node);
}

/** `['message', 'load']` for `message.load` if its first name is not a local of the file; else undefined. */
export function freePath(node: Syntax): string[] | undefined {
  if (node.type === 'Identifier') return (node as { isLocal?: boolean }).isLocal === false ? [node.name] : undefined;
  if (node.type !== 'MemberExpression' || node.indexer !== '.') return undefined;
  const base = freePath(node.base as Syntax);
  return base && [...base, node.identifier.name];
}

/** The variable that an assignment to `node` changes, or the table at the start of `a.b[c]`: its name and the member. */
export function assigned(node: Syntax): { name: string; isFree: boolean; member?: string } | undefined {
  if (node.type === 'Identifier') return { name: node.name, isFree: (node as { isLocal?: boolean }).isLocal === false };
  if (node.type !== 'MemberExpression' && node.type !== 'IndexExpression') return undefined;
  const base = assigned(node.base as Syntax);
  if (!base || base.member !== undefined) return base;
  return { ...base, member: node.type === 'MemberExpression' ? node.identifier.name : '[]' };
}

/** A replacement of a part of a text. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Replaces parts of a text and keeps its number of lines. If parts are nested, only the outer one counts: its new text
 * already has the inner ones replaced.
 */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.from - b.from || b.to - a.to)) {
    if (edit.from < at) continue;
    const breaks = text.slice(edit.from, edit.to).split('\n').length - edit.text.split('\n').length;
    result += text.slice(at, edit.from) + edit.text + '\n'.repeat(Math.max(0, breaks));
    at = edit.to;
  }
  return result + text.slice(at);
}
