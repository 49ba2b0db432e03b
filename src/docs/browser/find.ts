/** A section of a page: its address, the page's title, its heading, its text. */
export type Section = readonly [address: string, page: string, heading: string, text: string];

export interface Hit {
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  /** Around the first word that was found. */
  readonly excerpt: string;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** How well a word is found in a text: as a word, as the beginning of one, within one, or (0) not. */
function weightIn(text: string, word: string): number {
  if (!text.includes(word)) return 0;
  const [, rest] = new RegExp(`(?<![\\p{L}\\p{N}_])${word}([\\p{L}\\p{N}_]*)`, 'u').exec(text) ?? [];
  return rest === undefined ? 0.3 : rest === '' || rest === 's' ? 1 : 0.7;
}

/** A title that has little else is the better match. */
const weightInTitle = (title: string, word: string): number =>
  weightIn(title.toLowerCase(), word) * (0.5 + (0.5 * word.length) / Math.max(word.length, title.length));

function weigh([, page, heading, text]: Section, words: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    const ofTitles = weightInTitle(heading, word) * 6 + weightInTitle(page, word) * (heading === '' ? 7 : 2);
    const weight = ofTitles + weightIn(text.toLowerCase(), word);
    if (weight === 0) return 0;
    sum += weight;
  }
  return sum;
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.max(
    0,
    Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0), text.length),
  );
  const from = at < 60 || at === text.length ? 0 : text.indexOf(' ', at - 50) + 1;
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + 150)}${text.length > from + 150 ? ' …' : ''}`;
}

/** The sections that have every word of a query, best first. */
export function find(sections: readonly Section[], query: string, limit = 12): readonly Hit[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const weighed = sections
    .map((section) => ({ section, weight: weigh(section, words) }))
    .filter(({ weight }) => weight > 0);
  weighed.sort((a, b) => b.weight - a.weight);
  return weighed.slice(0, limit).map(({ section: [address, page, heading, text] }) => ({
    address,
    page,
    heading,
    excerpt: excerptOf(text, words),
  }));
}
