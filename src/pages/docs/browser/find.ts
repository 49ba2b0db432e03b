import { synonymsOf } from './synonyms.js';

/** A section of a page: its address, the page's title, its heading, its text. */
export type Section = readonly [address: string, page: string, heading: string, text: string];

export interface Hit {
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  /** The text around the first word found. */
  readonly excerpt: string;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** Words of a question that say nothing about its subject. */
const fillers = new Set(
  'a an and can do does how i in is it my of on or the to what when where which why with'.split(' '),
);

function wordsOfQuery(query: string): readonly string[] {
  const words = wordsOf(query);
  const telling = words.filter((word) => !fillers.has(word));
  return telling.length > 0 ? telling : words;
}

/** How well a word matches a text: as a word, as the start of one, within one, or (0) not at all. */
function weightIn(text: string, word: string): number {
  if (!text.includes(word)) return 0;
  const [, rest] = new RegExp(`(?<![\\p{L}\\p{N}_])${word}([\\p{L}\\p{N}_]*)`, 'u').exec(text) ?? [];
  return rest === undefined ? 0.3 : rest === '' || rest === 's' ? 1 : 0.7;
}

/** A title with few other words is the better match. */
const weightInTitle = (title: string, word: string): number =>
  weightIn(title.toLowerCase(), word) * (0.5 + (0.5 * word.length) / Math.max(word.length, title.length));

function weightOfWord([, page, heading, text]: Section, word: string): number {
  const ofTitles = weightInTitle(heading, word) * 8 + weightInTitle(page, word) * (heading === '' ? 9 : 3);
  return ofTitles + weightIn(text.toLowerCase(), word);
}

/** A synonym counts less than the word typed. */
const weightOfSynonym = 0.7;

/** Pages that list everything come after those that explain it. */
const listing = /^(\.\.\/docs|redis-cli|changelog|design|errors|reference|evidence\/[a-z-]+|api)(#|$)/;
const weightOfListing = 0.5;

/** How many words of a query are in a section, and how well they match. */
function weigh(section: Section, words: readonly string[]): readonly [count: number, weight: number] {
  let count = 0;
  let sum = 0;
  for (const word of words) {
    const others = synonymsOf(word).map((other) => weightOfSynonym * weightOfWord(section, other));
    const weight = Math.max(weightOfWord(section, word), ...others);
    if (weight > 0) count += 1;
    sum += weight;
  }
  return [count, sum];
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

/** The sections with every word of a query, or else with most of them, best first. */
export function find(sections: readonly Section[], query: string, limit = 12): readonly Hit[] {
  const words = wordsOfQuery(query);
  const counted = sections.map((section) => {
    const [count, weight] = weigh(section, words);
    return { section, count, weight: listing.test(section[0]) ? weight * weightOfListing : weight };
  });
  const most = Math.max(1, ...counted.map(({ count }) => count));
  const weighed = counted.filter(({ count }) => count === most);
  weighed.sort((a, b) => b.weight - a.weight);
  return weighed.slice(0, limit).map(({ section: [address, page, heading, text] }) => ({
    address,
    page,
    heading,
    excerpt: excerptOf(text, [...words, ...words.flatMap(synonymsOf)]),
  }));
}
