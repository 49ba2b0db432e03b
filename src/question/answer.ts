/** The path of the pages on which people answer; the token of the link follows. */
export const answerPath = '/answer/';

/** The argument `choice` of the scripts that answer: the answer, given as JSON, if it is a text. */
export function oneOfTheOptions(answer: string): string {
  return answer.startsWith('"') ? (JSON.parse(answer) as string) : '';
}
