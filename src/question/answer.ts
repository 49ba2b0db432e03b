import { text } from '../call/fields.ts';

/** The path of the pages on which people answer; the token of the link follows. */
export const answerPath = '/answer/';

/** An answer to choose from. */
export const option = () => text(1, 200);

const optionSchema = option();

/** The argument `choice` of the scripts that answer: the answer, given as JSON, if it can be one of the options; else ''. */
export function choiceOf(answer: string): string {
  const value: unknown = answer.startsWith('"') ? JSON.parse(answer) : '';
  return optionSchema.validate(value).error ? '' : String(value);
}
