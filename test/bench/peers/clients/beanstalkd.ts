import { Link } from './beanstalkd-link.ts';
import { type Client, lanes, Tally } from './client.ts';

const TTR_SECONDS = 600;

async function put(link: Link, body: unknown): Promise<string> {
  const text = JSON.stringify(body);
  const { words } = await link.ask(`put 0 0 ${TTR_SECONDS} ${Buffer.byteLength(text)}\r\n${text}`);
  if (words[0] !== 'INSERTED') throw new Error(`beanstalkd answered ${words.join(' ')}`);
  return words[1] ?? '';
}

async function remove(link: Link, id: string): Promise<void> {
  const { words } = await link.ask(`delete ${id}`);
  if (words[0] !== 'DELETED') throw new Error(`beanstalkd answered ${words.join(' ')}`);
}

/**
 * One connection puts, with its commands in flight together. A waiting reserve blocks its connection, so each lane has
 * its own.
 */
const worker: Client['worker'] = async (address, atOnce) => {
  const producer = await Link.open(address);
  const tally = new Tally();
  const lane = async () => {
    const link = await Link.open(address);
    for (;;) {
      const { words, body } = await link.ask('reserve');
      JSON.parse(body.toString());
      await remove(link, words[1] ?? '');
      tally.done();
    }
  };
  for (let i = 0; i < atOnce; i++) void lane();
  return {
    through: async (messages, puts, body) => {
      const finished = tally.next(messages);
      await lanes(messages, puts, () => put(producer, body));
      await finished;
    },
  };
};

/** One connection for all: a job can be deleted only by the connection that reserved it. */
const service: Client['service'] = async (address) => {
  const link = await Link.open(address);
  return {
    send: (body) => put(link, body),
    recv: async () => {
      const { words, body } = await link.ask('reserve-with-timeout 0');
      if (words[0] !== 'RESERVED') return null;
      return { id: words[1] ?? '', token: '', payload: JSON.parse(body.toString()) };
    },
    complete: (id) => remove(link, id),
  };
};

export const client: Client = { worker, service };
