import { visible } from '../text/visible.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as HTML, between tags or in an attribute with quotes. */
export function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** A caller's text as HTML, with hidden characters as `<U+202E>`, so that no two texts look alike. Not for values of forms. */
export const said = (text: string): string => html(visible(text));

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"[\]{},:]+|[[\]{},:]/g;

/** Compact JSON with one member per line. Numbers stay as written. */
export function indented(json: string): string {
  let text = '';
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  const all = json.match(tokens) ?? [];
  all.forEach((token, at) => {
    const [before, after] = [all[at - 1] ?? '', all[at + 1] ?? ''];
    if (token === '{' || token === '[') {
      depth++;
      text += '}]'.includes(after) && after !== '' ? token : token + line();
    } else if (token === '}' || token === ']') {
      depth--;
      text += before === '{' || before === '[' ? token : line() + token;
    } else if (token === ',') text += token + line();
    else text += token === ':' ? ': ' : token;
  });
  return text;
}

const dateOf = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** A moment for people. The page cannot know their time zone. */
export function moment(iso: string): string {
  return `<time datetime="${iso}">${dateOf.format(new Date(iso))} UTC</time>`;
}

const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** The time left until then: `in 6 days`. */
export function timeLeft(iso: string, now: number): string {
  const left = Date.parse(iso) - now;
  const [unit, ms] = steps.find(([, length]) => left >= 2 * length) ?? ['second', 1_000];
  const count = Math.max(1, Math.floor(left / ms));
  return `in ${count} ${unit}${count === 1 ? '' : 's'}`;
}
