import { createRequire } from 'node:module';
import type * as TypeScript from '../../src/tools/generator/node_modules/typescript/lib/typescript.js';
import type { Change } from './mutant.ts';

/** The compiler of the generator's package, because TypeScript 7 has no JavaScript API. */
const ts = createRequire(new URL('../../src/tools/generator/package.json', import.meta.url))(
  'typescript',
) as typeof TypeScript;

const comparisons: Record<string, string> = {
  ...{ '===': '!==', '!==': '===', '==': '!=', '!=': '==' },
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
};
const operators: Record<string, string> = {
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '+=': '-=', '-=': '+=' },
  ...{ '&&': '||', '||': '&&', '??': '&&' },
};

/** The changes that can be planted in a TypeScript file. */
export function typescriptChanges(text: string): Change[] {
  const found: Change[] = [];
  const file = ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.ESNext, true);
  const visit = (node: TypeScript.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    found.push(...changesOf(node, text));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function changesOf(node: TypeScript.Node, text: string): Change[] {
  const [from, to] = [node.getStart(), node.end];
  const whole = (kind: Change['kind'], replacement: string): Change[] => [{ kind, from, to, text: replacement }];
  const never = (condition: TypeScript.Node | undefined): Change[] =>
    condition === undefined
      ? []
      : [{ kind: 'condition made false', from: condition.getStart(), to: condition.end, text: 'false' }];
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    const range = { from: node.operatorToken.getStart(), to: node.operatorToken.end };
    const compared = comparisons[operator];
    if (compared !== undefined) return [{ kind: 'comparison', ...range, text: compared }];
    const other = operators[operator];
    return other === undefined ? [] : [{ kind: 'operator', ...range, text: other }];
  }
  if (ts.isPrefixUnaryExpression(node) && /^[!-]/.test(text.slice(from, to)))
    return [{ kind: 'operator', from, to: from + 1, text: '' }];
  if (ts.isNumericLiteral(node)) return whole('constant', String(Number(node.text) + 1));
  if (node.kind === ts.SyntaxKind.TrueKeyword) return whole('constant', 'false');
  if (node.kind === ts.SyntaxKind.FalseKeyword) return whole('constant', 'true');
  if (ts.isStringLiteral(node) && !(ts.isPropertyAssignment(node.parent) && node.parent.name === node))
    return whole('constant', `${text.slice(from, to - 1)}~${text[to - 1]}`);
  if (ts.isExpressionStatement(node) && isCall(node.expression)) return whole('dropped call', ';');
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return never(node.expression);
  if (ts.isForStatement(node) || ts.isConditionalExpression(node)) return never(node.condition);
  return [];
}

/** A call, awaited or not: `f()`, `await f()`, `void f()`. */
function isCall(node: TypeScript.Expression): boolean {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isCall(node.expression);
  return ts.isCallExpression(node);
}
