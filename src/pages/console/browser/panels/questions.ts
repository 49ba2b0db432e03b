import type { Api } from '../api.ts';
import { type Child, el } from '../dom.ts';
import { plural } from '../format.ts';
import { isText, jsonOf, pretty } from '../json-text.ts';
import { age, button, instantButton, mailboxLink, messageLink, named, scopeLink } from '../parts.ts';
import { queryText } from '../place.ts';
import type { Question, Questions } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { panel } from './panel.ts';

/** More than anybody reads at once. */
const maxPages = 10;

interface Inbox {
  readonly questions: readonly Question[];
  /** There are older ones that were not read. */
  readonly isCut: boolean;
}

/** The API returns the newest questions first; the inbox shows the oldest first. */
async function readOpen(api: Api, signal: AbortSignal): Promise<Inbox> {
  const questions: Question[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page++) {
    const query = queryText({ state: 'OPEN', limit: '200', cursor: cursor ?? undefined });
    const found: Questions = await api.get<Questions>(`/questions${query}`, signal);
    questions.push(...found.questions);
    cursor = found.nextCursor;
    if (cursor === null) break;
  }
  return { questions: questions.reverse(), isCut: cursor !== null };
}

/** A text as it is, any other JSON indented. */
export function asked(question: unknown): Element {
  if (isText(question)) return el('p', { class: 'question named' }, question);
  // Focusable, since it scrolls.
  return el('pre', { tabindex: '0', role: 'group', 'aria-label': 'Question' }, pretty(jsonOf(question)));
}

/** Who asked, in which message and run, and until when the question can be answered. */
function about({ holder, mailboxId, messageId, scopeId, createdAt, expiresAt }: Question, world: SpaceState): Child[] {
  return [
    ...(holder === null ? [] : [named(holder), ' asked ']),
    age(createdAt),
    ...(mailboxId === null ? [] : [' in ', mailboxLink(mailboxId, world)]),
    ...(messageId === null ? [] : [', message ', messageLink(messageId, world)]),
    ', run ',
    scopeLink(scopeId, world),
    '; open until ',
    age(expiresAt),
  ];
}

/** A button for each option, which answers with one click; without options, a button that asks for a text. */
function ways({ id, options, question }: Question): Element[] {
  const label = isText(question) ? question.slice(0, 80) : id;
  if (options === null) return [button('answer', 'Answer…', { id, label })];
  return options.map((option) => instantButton('choose', option, { id, option, label: `to ${label}` }));
}

/** The questions that nobody has answered. */
export const openQuestions = panel<Inbox>({
  id: 'questions',
  path: '/questions',
  hears: ['question'],
  everySeconds: 2.5,
  idleSeconds: 20,
  read: readOpen,
  render: ({ questions, isCut }, world) => [
    questions.length === 0
      ? el('p', { class: 'empty' }, 'Nobody waits for an answer.')
      : el(
          'ol',
          { class: 'plain inbox', 'aria-label': plural(questions.length, 'open question') },
          ...questions.map((one) =>
            el(
              'li',
              { 'data-key': one.id },
              asked(one.question),
              el('p', { class: 'note' }, ...about(one, world)),
              world.can.write ? el('p', { class: 'buttons' }, ...ways(one)) : '',
            ),
          ),
        ),
    ...(isCut ? [el('p', {}, 'There are older ones: answer these first.')] : []),
  ],
});
