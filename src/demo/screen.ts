import { stripVTControlCharacters, styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** On a terminal, a picture that is redrawn, with the latest messages below it; otherwise the messages, line by line. */
export class Screen {
  readonly #out: NodeJS.WriteStream;
  readonly live: boolean;
  readonly #startedAt = performance.now();
  readonly #messages: string[] = [];
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

  /** Adds a message. */
  log(topic: string, text: string): void {
    const line = `${this.clock}  ${this.style('cyan', topic.padEnd(8))} ${text}`;
    this.#messages.push(line);
    if (!this.live) this.#out.write(`${line}\n`);
  }

  /** Draws the picture; what does not fit is cut off. */
  draw(picture: readonly string[]): void {
    if (!this.live) return;
    const rows = (this.#out.rows ?? 24) - 1;
    const messages = this.#messages.slice(-Math.min(8, Math.max(0, rows - picture.length - 1)));
    const lines = [...picture, '', ...messages].slice(0, rows).map((line) => this.#fit(line));
    const up = this.#drawn > 1 ? `\x1b[${this.#drawn - 1}A` : '';
    this.#out.write(`${up}\r\x1b[0J${lines.join('\n')}`);
    this.#drawn = lines.length;
  }

  #fit(line: string): string {
    const columns = (this.#out.columns ?? 80) - 1;
    const plain = stripVTControlCharacters(line);
    return plain.length <= columns ? line : `${plain.slice(0, columns - 1)}…`;
  }

  /** Keeps the last picture and restores the terminal. */
  close(): void {
    if (this.live) this.#out.write(`${this.#drawn > 0 ? '\n' : ''}\x1b[?25h`);
    this.#drawn = 0;
  }

  print(line = ''): void {
    this.#out.write(`${line}\n`);
  }
}
