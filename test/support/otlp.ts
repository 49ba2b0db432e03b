import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './processes.ts';

/** A span as received by OTLP. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** '' for the first span of a trace. */
  readonly parentId: string;
  readonly name: string;
  /** As in OTLP: 2 SERVER, 3 CLIENT, 4 PRODUCER, 5 CONSUMER. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The ids of the linked spans. */
  readonly links: readonly string[];
  readonly isError: boolean;
}

/** A receiver of OTLP over HTTP, with protobuf. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.requests.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
        this.spans.push(...spansOf(Buffer.concat(chunks)));
        response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
      });
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => void receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async find(test: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    let found: ReceivedSpan | undefined;
    await until(() => {
      found = this.spans.find(test);
      return found !== undefined;
    });
    return found as ReceivedSpan;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

/** The values of a protobuf message by field number. */
type Message = ReadonlyMap<number, readonly (Buffer | bigint)[]>;

function messageOf(bytes: Buffer): Message {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const wireType = key & 7;
    const value = wireType === 0 ? varint() : take(wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint()));
    const known = fields.get(key >> 3) ?? [];
    fields.set(key >> 3, [...known, value]);
  }
  return fields;
}

const bytesIn = (message: Message, field: number): readonly Buffer[] => (message.get(field) ?? []) as readonly Buffer[];
const messagesIn = (message: Message, field: number): Message[] => bytesIn(message, field).map(messageOf);
const textIn = (message: Message, field: number): string => String(bytesIn(message, field)[0] ?? '');
const hexIn = (message: Message, field: number): string => bytesIn(message, field)[0]?.toString('hex') ?? '';
const numberIn = (message: Message, field: number): number => Number(message.get(field)?.[0] ?? 0);

/** Text and integer attributes; no others are sent. */
function attributesIn(message: Message, field: number): Record<string, string | number> {
  const pairs = messagesIn(message, field).map((pair) => {
    const [value = new Map()] = messagesIn(pair, 2);
    return [textIn(pair, 1), value.has(1) ? textIn(value, 1) : numberIn(value, 3)] as const;
  });
  return Object.fromEntries(pairs);
}

/** The spans of an ExportTraceServiceRequest. */
function spansOf(bytes: Buffer): ReceivedSpan[] {
  return messagesIn(messageOf(bytes), 1).flatMap((ofResource) => {
    const [resource = new Map()] = messagesIn(ofResource, 1);
    const service = String(attributesIn(resource, 1)['service.name']);
    return messagesIn(ofResource, 2).flatMap((ofScope) =>
      messagesIn(ofScope, 2).map((span) => {
        const [status = new Map()] = messagesIn(span, 15);
        return {
          service,
          traceId: hexIn(span, 1),
          spanId: hexIn(span, 2),
          parentId: hexIn(span, 4),
          name: textIn(span, 5),
          kind: numberIn(span, 6),
          attributes: attributesIn(span, 9),
          links: messagesIn(span, 13).map((link) => hexIn(link, 2)),
          isError: numberIn(status, 3) === 2,
        };
      }),
    );
  });
}
