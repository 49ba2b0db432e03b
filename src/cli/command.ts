import type { Command } from 'commander';
import type { Admin } from '../org/admin.ts';
import { withStore } from './store.ts';

/** How a command is typed: the operator pastes what the help shows. */
export const invocation = 'npm run -s muster --';

/** Adds examples, without the words that start each of them, to a command's help. */
export function examples(command: Command, ...lines: string[]): Command {
  const text = lines.map((line) => `  ${invocation} ${line}`).join('\n');
  return command.addHelpText('after', `\nExample${lines.length > 1 ? 's' : ''}:\n${text}`);
}

/** Runs one operation on the store and prints its record. */
export async function answer(operation: (admin: Admin) => Promise<unknown>): Promise<void> {
  print(await withStore(operation));
}

/** Prints the one value of a command: for people on a terminal, on one line for programs. */
export function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0)}\n`);
}
