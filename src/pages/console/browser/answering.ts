import { type Api, Failure } from './api.ts';
import type { Action, Target } from './ask.ts';
import { count } from './format.ts';
import { textOf } from './json-text.ts';
import type { Question } from './records.ts';

const storedName = 'muster-name';

/** The field for the name of whoever answers. The name is kept like the key, until the tab closes. */
export const nameField = (): HTMLInputElement | null => document.querySelector<HTMLInputElement>('#answered-by');

export function storedAnswerer(): string {
  try {
    return sessionStorage.getItem(storedName) ?? '';
  } catch {
    return '';
  }
}

export function storeAnswerer(name: string): void {
  try {
    sessionStorage.setItem(storedName, name);
  } catch {
    // Without storage, the name has to be typed again on the next page.
  }
}

async function send(api: Api, id: string, answer: string, answeredBy: string): Promise<string> {
  const { state } = await api.send<Question>('POST', `/questions/${id}/answer`, { answer, answeredBy });
  return `${state === 'ANSWERED' ? 'Answered' : state}: ${answer.slice(0, 80)}. One operation.`;
}

/** Actions without a confirmation. Each resolves to a text that says what was done. */
export const instants: Readonly<Record<string, (api: Api, target: Target) => Promise<string>>> = {
  choose: async (api, { id = '', option = '' }) => {
    const field = nameField();
    const name = field?.value.trim() ?? '';
    if (name !== '') return send(api, id, option, name);
    field?.focus();
    return 'Say who answers: type your name first.';
  },
};

/** Asks for an answer in the user's own words. */
export const answer: Action = async (api, { id = '' }) => {
  const { question, state } = await api.get<Question>(`/questions/${id}`);
  if (state !== 'OPEN') throw new Failure(409, 'QUESTION_CLOSED', `the question is ${state}`);
  return {
    title: 'Answer this question?',
    lines: [textOf(question), 'The first answer stands, and the work goes on with it. It counts as one operation.'],
    fields: [
      { name: 'answer', label: 'Answer', value: '', check: (text) => (text === '' ? 'Write an answer.' : '') },
      {
        name: 'name',
        label: 'Your name',
        value: nameField()?.value.trim() ?? '',
        check: (text) => (text !== '' && text.length <= 256 ? '' : `Enter a name of at most ${count(256)} characters.`),
      },
    ],
    confirm: 'Answer',
    act: async (values) => send(api, id, values['answer'] ?? '', values['name'] ?? ''),
  };
};
