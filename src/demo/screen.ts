import { stripVTControlCharacters, styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** On a terminal one picture, drawn again and again, with the last of the story below it; else the story, line by line. */
export class Screen {
  readonly #out: NodeJS.WriteStream;
  readonly live: boolean;
  readonly #startedAt = performance.now();
  readonly #story: string[] = [];
  #drawn = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.live = out.isTTY === true && process.env['TERM'] !== 'dumb';
    if (this.live) out.write('\x1b[?25l');
  }

  /** Time since the start: 0:07. */
  get clock(): string {
    const seconds = Math.floor((performance.now() - this.#startedAt) / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  }

  style(style: Style, text: string): string {
    return this.live ? styleText(style, text, { validateStream: false }) : text;
  }

  /** A line of the story. */
  tell(topic: string, text: string): void {
    const line = `${this.clock}  ${this.style('cyan', topic.padEnd(8))} ${text}`;
    this.#story.push(line);
    if (!this.live) this.#out.write(`${line}\n`);
  }

  /** The picture; what does not fit is left out. */
  draw(picture: readonly string[]): void {
    if (!this.live) return;
    const rows = (this.#out.rows ?? 24) - 1;
    const story = this.#story.slice(-Math.min(8, Math.max(0, rows - picture.length - 1)));
    const lines = [...picture, '', ...story].slice(0, rows).map((line) => this.#fit(line));
    const up = this.#drawn > 1 ? `\x1b[${this.#drawn - 1}A` : '';
    this.#out.write(`${up}\r\x1b[0J${lines.join('\n')}`);
    this.#drawn = lines.length;
  }

  #fit(line: string): string {
    const columns = (this.#out.columns ?? 80) - 1;
    const plain = stripVTControlCharacters(line);
    return plain.length <= columns ? line : `${plain.slice(0, columns - 1)}…`;
  }

  /** Leaves the last picture and gives the terminal back. */
  close(): void {
    if (this.live) this.#out.write(`${this.#drawn > 0 ? '\n' : ''}\x1b[?25h`);
    this.#drawn = 0;
  }

  print(line = ''): void {
    this.#out.write(`${line}\n`);
  }
}
