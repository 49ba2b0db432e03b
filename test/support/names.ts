import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const types = { A: 1, CNAME: 5, AAAA: 28 } as const;

/** A name in DNS format: each label after its length. */
function encoded(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}

/** A name server on the loopback whose records a test can change at any time. */
export class Names {
  readonly #socket: Socket;
  readonly #names = new Map<string, readonly string[]>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (question, from) => this.#answer(question, from));
  }

  static async start(): Promise<Names> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new Names(socket);
  }

  get server(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /**
   * Sets the addresses of a name, or another name as its alias; without targets the name has no address. Names never set are
   * unknown.
   */
  set(name: string, ...targets: string[]): void {
    this.#names.set(name, targets);
  }

  stop(): void {
    this.#socket.close();
  }

  #answer(question: Buffer, from: RemoteInfo): void {
    const labels: string[] = [];
    let at = 12;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.subarray(at + 1, at + 1 + length).toString());
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const records = this.#records(name, question.readUInt16BE(at + 1));
    const head = Buffer.alloc(12);
    question.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8580 | (this.#names.has(name) ? 0 : 3), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    this.#socket.send(Buffer.concat([head, question.subarray(12, at + 5), ...records]), from.port, from.address);
  }

  /** The chain of names and the addresses at its end, as a resolving server answers. */
  #records(name: string, type: number, depth = 0): Buffer[] {
    return (this.#names.get(name) ?? []).flatMap((target) => {
      if (isIP(target) === 0) {
        const next = depth < 5 ? this.#records(target, type, depth + 1) : [];
        return [record(name, types.CNAME, encoded(target)), ...next];
      }
      const addressType = isIP(target) === 4 ? types.A : types.AAAA;
      return addressType === type ? [record(name, addressType, Buffer.from(ipaddr.parse(target).toByteArray()))] : [];
    });
  }
}

function record(name: string, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encoded(name), head, data]);
}
