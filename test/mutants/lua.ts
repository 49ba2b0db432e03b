import { parseLua, type Syntax, walk } from '../../src/engine/library/lua-syntax.ts';
import type { Change } from './mutant.ts';

const comparisons: Record<string, string> = { '==': '~=', '~=': '==', '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const operators: Record<string, string> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', and: 'or', or: 'and' };

/** The changes that can be planted in a Lua file. */
export function luaChanges(text: string): Change[] {
  const found: Change[] = [];
  walk(parseLua(text).body, (node) => {
    found.push(...changesOf(node, text));
  });
  return found;
}

function changesOf(node: Syntax, text: string): Change[] {
  const [from, to] = node.range;
  const whole = (kind: Change['kind'], replacement: string): Change[] => [{ kind, from, to, text: replacement }];
  const rangeOf = (part: unknown): [number, number] => (part as Syntax).range;
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      // The tree has no position of the operator itself.
      const at = text.indexOf(node.operator, rangeOf(node.left)[1]);
      const range = { from: at, to: at + node.operator.length };
      const compared = comparisons[node.operator];
      if (compared !== undefined) return [{ kind: 'comparison', ...range, text: compared }];
      const other = operators[node.operator];
      return other === undefined ? [] : [{ kind: 'operator', ...range, text: other }];
    }
    case 'UnaryExpression':
      // Only the operator goes, as the ranges of luaparse leave out parentheses around an operand.
      return node.operator === '#'
        ? []
        : [{ kind: 'operator', from, to: from + (node.operator === 'not' ? 'not ' : '-').length, text: '' }];
    case 'NumericLiteral':
      return whole('constant', String(node.value + 1));
    case 'BooleanLiteral':
      return whole('constant', String(!node.value));
    case 'StringLiteral':
      return /^['"]/.test(node.raw) ? whole('constant', `${node.raw.slice(0, -1)}~${node.raw.at(-1)}`) : [];
    case 'CallStatement':
      return whole('dropped call', '');
    case 'IfClause':
    case 'ElseifClause':
    case 'WhileStatement':
    case 'RepeatStatement': {
      const [start, end] = rangeOf(node.condition);
      const never = node.type === 'RepeatStatement' ? 'true' : 'false';
      return [{ kind: 'condition made false', ...parenthesized(text, start, end), text: never }];
    }
    default:
      return [];
  }
}

/** The ranges of luaparse leave out parentheses around an expression: takes those in that stand unpaired. */
function parenthesized(text: string, from: number, to: number): { from: number; to: number } {
  let [start, end] = [from, to];
  for (;;) {
    const before = /\(\s*$/.exec(text.slice(0, start));
    const after = /^\s*\)/.exec(text.slice(end));
    if (!before || !after) return { from: start, to: end };
    start = before.index;
    end += after[0].length;
  }
}
