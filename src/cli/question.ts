import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { ConfigError } from '../config.ts';
import { asksTheApi, clientOf } from './client.ts';
import { type Cli, examples } from './command.ts';
import { roundedIn } from './rounded.ts';

const example = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e';
/** Pages of 200. Nobody at a terminal reads more. */
const maxPages = 5;

export function addQuestionCommands(program: Command, cli: Cli): void {
  const question = program.command('question').description('questions asked by work and answered by people');
  examples(question, 'question list', `question answer ${example} yes`);

  const list = question
    .command('list')
    .description('list the questions that nobody has answered, oldest first')
    .option('--scope <scopeId>', 'only of this scope and those below')
    .action(async ({ scope }: { scope?: string }) => cli.print(await openQuestions(cli, scope)));
  list.addHelpText('after', asksTheApi('coordination_read'));
  examples(list, 'question list');

  const answer = question
    .command('answer <questionId> <answer>')
    .description('answer a question with a text; the message that asked it goes on')
    .option('--by <name>', 'who answers (default: the name of your user on this machine)')
    .option('--as-json', 'the answer is JSON, not a text')
    .action(async (questionId: string, text: string, { by, asJson }: { by?: string; asJson?: true }) => {
      const value: unknown = asJson ? parsed(text) : text;
      const answeredBy = by ?? userName();
      cli.print(await clientOf(cli.env, 'question answer').question.answer({ questionId, answer: value, answeredBy }));
    });
  answer.addHelpText('after', asksTheApi('coordination_write'));
  examples(answer, `question answer ${example} yes`, `question answer ${example} '{"pages":[1,2]}' --as-json --by ann`);

  const link = question
    .command('link <questionId>')
    .description('make a link to a page on which a person answers the question, without a key')
    .action(async (questionId: string) =>
      cli.print(await clientOf(cli.env, 'question link').question.link({ questionId })),
    );
  link.addHelpText('after', asksTheApi('coordination_write'));
  examples(link, `question link ${example}`);
}

/** Containers often run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new ConfigError('your user has no name on this machine: say who answers with --by <name>');
  }
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConfigError('the answer must be JSON with --as-json, such as \'"yes"\' or \'{"pages":[1]}\'');
  }
  // The client sends the parsed value, in which a number has only the digits that JavaScript keeps.
  const rounded = roundedIn(text);
  if (rounded === undefined) return value;
  throw new ConfigError(`the answer has a number that would be rounded, ${rounded}: send it as a text, "${rounded}"`);
}

async function openQuestions(cli: Cli, scopeId: string | undefined) {
  const muster = clientOf(cli.env, 'question list');
  const questions = [];
  let cursor: string | null = '';
  for (let page = 0; page < maxPages && cursor !== null; page++) {
    const found = await muster.question.list({
      ...{ state: 'OPEN', limit: 200 },
      ...(scopeId !== undefined && { scopeId }),
      ...(cursor !== '' && { cursor }),
    });
    questions.push(...found.questions);
    cursor = found.nextCursor;
  }
  // The API lists the newest first.
  return { questions: questions.reverse(), nextCursor: cursor };
}
