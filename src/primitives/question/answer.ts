import { text } from '../../engine/route/fields.ts';

/** The path of the answer pages; the link's token follows. */
export const answerPath = '/answer/';

/** One of the answers to choose from. */
export const option = () => text(1, 200);

const optionSchema = option();

/** The scripts' argument `choice`: an answer given as JSON if it can be one of the options, else ''. */
export function choiceOf(answer: string): string {
  const value: unknown = answer.startsWith('"') ? JSON.parse(answer) : '';
  return optionSchema.validate(value).error ? '' : String(value);
}
