import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const textOf = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

export const page = textOf('docs/operate/production.md');

/** The files that the page has the reader write, by path. */
export const files: ReadonlyMap<string, string> = new Map(
  [...page.matchAll(/`(\/etc\/[^`]+)`[^`]*(?:`worker-2`)?:\n\n```ini\n([\s\S]*?)```/g)].map(
    ([, path = '', text = '']) => [path, text] as const,
  ),
);

/** The lines of the page that the reader runs. */
export const commands: readonly string[] = [...page.matchAll(/```bash\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
  text.trim().split('\n'),
);

/** The words of the page's `muster` commands. */
export const ofMuster: readonly (readonly string[])[] = commands.flatMap((line) => {
  const [, words] = /export REDIS_URL; muster ([^']+)'/.exec(line) ?? [];
  return words === undefined ? [] : [words.split(' ')];
});

/** `NAME=value` of each line. */
export const settingsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
