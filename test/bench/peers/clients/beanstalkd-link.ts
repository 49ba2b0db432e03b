// The few commands of beanstalkd's text protocol that the benchmark needs, with any number of them in flight on a
// connection.
import { connect, type Socket } from 'node:net';

export interface Reply {
  words: string[];
  body: Buffer;
}

const END = '\r\n';
/** Replies with a body: its length is the last word of their line. */
const WITH_BODY = /^RESERVED /;
const NOTHING = Buffer.alloc(0);

export class Link {
  readonly #socket: Socket;
  readonly #waiting: ((reply: Reply) => void)[] = [];
  #rest: Buffer = NOTHING;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  static open(path: string): Promise<Link> {
    return new Promise((resolve, reject) => {
      const socket = connect({ path }, () => resolve(new Link(socket)));
      socket.once('error', reject);
    });
  }

  #read(chunk: Buffer): void {
    let rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    for (let end = rest.indexOf(END); end !== -1; end = rest.indexOf(END)) {
      const line = rest.toString('latin1', 0, end);
      const words = line.split(' ');
      let next = end + END.length;
      let body: Buffer = NOTHING;
      if (WITH_BODY.test(line)) {
        const size = Number(words.at(-1));
        if (rest.length < next + size + END.length) break;
        body = rest.subarray(next, next + size);
        next += size + END.length;
      }
      rest = rest.subarray(next);
      this.#waiting.shift()?.({ words, body });
    }
    this.#rest = rest;
  }

  ask(command: string): Promise<Reply> {
    this.#socket.write(command + END);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
