import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A fenced block of a Markdown file. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line of its text's first line, counted from 1. */
  readonly line: number;
}

/** A block that is run, and the block after it that shows its output. */
export interface Example {
  readonly title: string;
  readonly block: Block;
  readonly shown: Block | undefined;
}

const shows = new Set(['json', 'text']);

/** A Markdown file whose examples can be run, and rewritten with their actual output. */
export class Document {
  readonly examples: readonly Example[];
  readonly #path: string;
  readonly #lines: string[];

  constructor(path: string) {
    this.#path = path;
    this.#lines = readFileSync(path, 'utf8').split('\n');
    const blocks = this.#blocks();
    this.examples = blocks
      .filter(({ language }, index) => !(shows.has(language) && isRun(blocks[index - 1])))
      .map((block) => {
        const next = blocks[blocks.indexOf(block) + 1];
        const firstLine = block.text.split('\n', 1)[0] ?? '';
        return {
          title: `${basename(path)} line ${block.line}: ${firstLine.slice(0, 90)}`,
          block,
          shown: isRun(block) && next && shows.has(next.language) ? next : undefined,
        };
      });
  }

  #blocks(): Block[] {
    const blocks: Block[] = [];
    let open: { language: string; from: number } | undefined;
    for (const [index, line] of this.#lines.entries()) {
      const [, language] = /^```(\w*)\s*$/.exec(line) ?? [];
      if (language === undefined) continue;
      if (open) {
        blocks.push({
          language: open.language,
          text: this.#lines.slice(open.from, index).join('\n'),
          line: open.from + 1,
        });
        open = undefined;
      } else open = { language, from: index + 1 };
    }
    return blocks;
  }

  /** Replaces the texts of some blocks. */
  rewrite(texts: ReadonlyMap<Block, string>): void {
    for (const [block, text] of [...texts].sort(([a], [b]) => b.line - a.line))
      this.#lines.splice(block.line - 1, block.text.split('\n').length, ...text.split('\n'));
    writeFileSync(this.#path, this.#lines.join('\n'));
  }
}

const isRun = (block: Block | undefined): boolean => block !== undefined && !shows.has(block.language);
