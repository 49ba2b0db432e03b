import {
  AckPolicy,
  type JsMsg,
  jetstreamManager,
  jetstream as jetstreamOf,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Client, lanes, Tally } from './client.ts';

const STREAM = 'MESSAGES';
const SUBJECT = 'messages';
const CONSUMER = 'workers';
/** Prefetched by consume(): its documented fast path. */
const AHEAD = 500;
const IDLE_MS = 1_000;

async function open(servers: string) {
  const nats = await connect({ servers });
  const manager = await jetstreamManager(nats);
  await manager.streams.add({
    name: STREAM,
    subjects: [SUBJECT],
    storage: StorageType.File,
    retention: RetentionPolicy.Workqueue,
  });
  await manager.consumers.add(STREAM, {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 10_000,
    ack_wait: 600e9,
  });
  const js = jetstreamOf(nats);
  const consumer = await js.consumers.get(STREAM, CONSUMER);
  return { nats, js, messages: await consumer.consume({ max_messages: AHEAD }) };
}

/** An ack is not confirmed in the fast path; the last flush waits until the server has read them all. */
const worker: Client['worker'] = async (address) => {
  const { nats, js, messages } = await open(address);
  const tally = new Tally();
  void (async () => {
    for await (const message of messages) {
      message.json();
      message.ack();
      tally.done();
    }
  })();
  return {
    through: async (count, atOnce, body) => {
      const finished = tally.next(count);
      await lanes(count, atOnce, () => js.publish(SUBJECT, JSON.stringify(body)));
      await finished;
      await nats.flush();
    },
  };
};

/** Messages from consume() wait here for the next recv. A completion is a confirmed ack, as with every other peer. */
const service: Client['service'] = async (address) => {
  const { js, messages } = await open(address);
  const ready: JsMsg[] = [];
  const waiting: ((message: JsMsg | null) => void)[] = [];
  const claimed = new Map<string, JsMsg>();
  void (async () => {
    for await (const message of messages) {
      const first = waiting.shift();
      if (first) first(message);
      else ready.push(message);
    }
  })();
  const next = () =>
    new Promise<JsMsg | null>((resolve) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(answer), 1);
        resolve(null);
      }, IDLE_MS);
      const answer = (message: JsMsg | null) => {
        clearTimeout(timer);
        resolve(message);
      };
      waiting.push(answer);
    });
  return {
    send: async (body) => String((await js.publish(SUBJECT, JSON.stringify(body))).seq),
    recv: async () => {
      const message = ready.shift() ?? (await next());
      if (!message) return null;
      const id = String(message.seq);
      claimed.set(id, message);
      return { id, token: id, payload: message.json() };
    },
    complete: async (id) => {
      const message = claimed.get(id);
      claimed.delete(id);
      await message?.ackAck();
    },
  };
};

export const client: Client = { worker, service };
