import type { Command } from 'commander';
import type { Admin } from '../org/admin.ts';
import { withStore } from './store.ts';

/** How a command is typed: the operator pastes what the help shows. */
export const invocation = 'npm run -s muster --';

/** Why a plan's requests a minute are not what a new space takes. */
export const spaceRate = `A new space takes 600 requests a minute, whatever its plan allows. To raise that up to the plan's figure, send
PUT /v1/spaces/<spaceId>/limits {"requestsPerMinute": 3000} with a key that has the permission resource_config.`;

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
