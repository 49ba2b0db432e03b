import type { Raw } from '../../engine/declare/raw.ts';
import type { Question } from '../../primitives/question/records.ts';
import type { Linked } from './linked-question.ts';
import { style } from './style.ts';
import { html, indented, moment, said, timeLeft } from './text.ts';

/** The values typed into a form that is shown again, and what was wrong with them. */
export interface Typed {
  readonly answer: string;
  readonly answeredBy: string;
  readonly mistake: string;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${html(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** A JSON value: a string as text, anything else as indented JSON. */
function value({ text }: Raw, tag: string, name: string): string {
  if (!text.startsWith('"')) return `<pre tabindex="0">${said(indented(text))}</pre>`;
  return `<${tag} class="${name}">${said(JSON.parse(text) as string)}</${tag}>`;
}

const rows = (all: readonly (readonly [name: string, html: string])[]): string =>
  `<dl>${all.map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`).join('\n')}</dl>`;

/** Who asks, for which work, and until when. */
function about({ question: { holder, expiresAt }, mailboxName, scopeName }: Linked, now: number): string {
  const named = (name: string, text: string | null) => (text === null ? [] : [[name, said(text)] as const]);
  return rows([
    ...named('Asked by', holder),
    ...named('Work', mailboxName),
    ...named('Run', scopeName),
    ['Answer by', `${moment(expiresAt)} (${timeLeft(expiresAt, now)})`],
  ]);
}

/** Buttons for the options. Enter presses the first button, so that one does nothing. */
function choices(options: readonly string[]): string {
  const buttons = options.map(
    (one) => `<button class="option" name="answer" value="${html(one)}">${said(one)}</button>`,
  );
  return `<button disabled hidden></button>
<fieldset>
<legend>Your answer</legend>
${buttons.join('\n')}
</fieldset>`;
}

const field = (answer: string): string => `<label>Your answer
<textarea name="answer" required rows="4">
${html(answer)}</textarea></label>`;

const nameField = (answeredBy: string): string => `<label>Your name
<input name="answeredBy" required maxlength="256" autocomplete="name" value="${html(answeredBy)}"></label>`;

/** The form, which is sent to the page's own address. */
export function formPage(linked: Linked, now: number, typed?: Typed): string {
  const { options, question } = linked.question;
  const name = nameField(typed?.answeredBy ?? '');
  const parts = options ? [name, choices(options)] : [field(typed?.answer ?? ''), name, '<button>Send answer</button>'];
  return page(
    'A question for you',
    `<h1>A question for you</h1>
${value(question, 'p', 'question')}
${about(linked, now)}
${typed ? `<p class="wrong" role="alert">${said(typed.mistake)}</p>` : ''}
<form method="post">
${parts.join('\n')}
</form>
<p class="note">It can be answered once. Your name is kept with the answer, as you type it here.</p>`,
  );
}

/** Says that the answer has been accepted. */
export function donePage({ question, answer, answeredBy, answeredAt }: typeof Question.type): string {
  const given = answer === null ? '' : JSON.parse(answer.text);
  return page(
    'Answered',
    `<h1 class="good">Answered. Thank you!</h1>
${value(question, 'p', 'question')}
${rows([
  ['Answer', said(String(given))],
  ['By', said(answeredBy ?? '')],
  ['At', moment(answeredAt ?? '')],
])}
<p class="note">The work goes on. You can close this page.</p>`,
  );
}

/** Says that the question is no longer OPEN. */
export function closedPage({ state, answeredBy, answeredAt, expiresAt }: typeof Question.type): string {
  if (state === 'ANSWERED')
    return wordsPage(
      'This question is answered',
      `${said(answeredBy ?? '')} answered it on ${moment(answeredAt ?? '')}. A question can be answered once.`,
    );
  if (state === 'EXPIRED')
    return wordsPage('It is too late to answer', `This question could be answered until ${moment(expiresAt)}.`);
  return wordsPage('This question was withdrawn', 'Nobody waits for an answer any more.');
}

/** A page of a few words. text: HTML. */
export function wordsPage(title: string, text: string): string {
  return page(title, `<h1 class="plain">${html(title)}</h1>\n<p>${text}</p>`);
}
