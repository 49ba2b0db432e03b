import { freePath, type Syntax, walk } from './lua-syntax.ts';
import { errorAt, type LuaSource } from './source.ts';

/** The tables that a file replies with: arguments of `call.answer` or, outside requests, return values. */
function replies({ body }: LuaSource, isRequest: boolean): Syntax[] {
  const found: (Syntax | undefined)[] = [];
  if (!isRequest) {
    walk(body, (node, around) => {
      if (node.type === 'ReturnStatement' && !around.some(({ type }) => type === 'FunctionDeclaration'))
        found.push(node.arguments[0] as Syntax);
    });
    return found.filter((one) => one?.type === 'TableConstructorExpression') as Syntax[];
  }
  walk(body, (node) => {
    if (node.type === 'CallExpression' && freePath(node.base as Syntax)?.join('.') === 'call.answer')
      found.push(node.arguments[0] as Syntax | undefined);
  });
  return found.filter((one) => one !== undefined && one.type !== 'NilLiteral') as Syntax[];
}

/** Throws if a script, or a helper that replies for it, replies with a member missing from its `@reply`. */
export function checkReplies(script: LuaSource, below: readonly LuaSource[]): void {
  const declared = script.reply.map((member) => member.name);
  const isRequest = script.request !== undefined;
  const all = [script, ...(isRequest ? below.filter(({ file }) => !file.startsWith('lib/')) : [])];
  for (const source of all)
    for (const table of replies(source, isRequest)) {
      const at = table.range[0];
      if (table.type !== 'TableConstructorExpression')
        throw errorAt(
          source,
          at,
          `${script.file}: it replies with ${source.text.slice(...table.range).slice(0, 20)}…, not with a table`,
        );
      for (const field of table.fields) {
        const name = field.type === 'TableKeyString' ? field.key.name : '[…]';
        if (!declared.includes(name))
          throw errorAt(
            source,
            at,
            `${script.file}: it replies with ${name}, which @reply does not name: ${declared.join(' ') || 'nothing'}`,
          );
      }
    }
}
