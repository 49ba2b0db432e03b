// npm run bench:peers -- --help
import { Driver } from '../driver.ts';
import { machine, start } from '../options.ts';
import { fixed, median, ratio, table, whole } from '../report.ts';
import { type Contender, runRounds, type Sample, stopAll } from './rounds.ts';
import { MEASURE } from './rows.ts';
import { type Options, readOptions } from './settings.ts';

const FEWEST_ROUNDS = 3;
/** A space takes 100,000 requests a minute, and a message is three. */
const MESSAGES_PER_SPACE = 5_000;

function of(contender: Contender | undefined, value: (sample: Sample) => number): number | undefined {
  return contender?.samples.length ? median(contender.samples.map(value)) : undefined;
}

const bothMicros = (sample: Sample) => sample.storeMicros + sample.clientMicros;

function peersTable(contenders: Contender[]): string {
  const measure = contenders.find(({ name }) => name === MEASURE);
  const against = (contender: Contender, value: (sample: Sample) => number) =>
    fixed(ratio(of(contender, value), of(measure, value)), 2);
  const rows = contenders.map((contender) => [
    contender.row.title,
    contender.row.where,
    contender.durability,
    whole(of(contender, ({ perSecond }) => perSecond)),
    against(contender, ({ perSecond }) => perSecond),
    whole(of(contender, ({ storeMicros }) => storeMicros)),
    whole(of(contender, ({ clientMicros }) => clientMicros)),
    whole(of(contender, bothMicros)),
    against(contender, bothMicros),
  ]);
  const header = [
    '',
    'client',
    'durability',
    'messages/s',
    'of Muster',
    'store µs',
    'client µs',
    'both µs',
    'of Muster',
  ];
  return table('Messages sent, received and completed; µs are processor time per message', header, rows);
}

async function bench({ messages, rounds, connections, only }: Options): Promise<void> {
  const driver = new Driver();
  try {
    const spaces = Math.ceil(messages / MESSAGES_PER_SPACE);
    const contenders = await runRounds(only, rounds, messages, { driver, connections, spaces });
    console.log(`${rounds} rounds of ${whole(messages)} messages, ${connections} at once; medians; ${machine()}`);
    if (rounds < FEWEST_ROUNDS) console.log(`fewer than ${FEWEST_ROUNDS} rounds: a trial, not a result`);
    console.log(peersTable(contenders));
    for (const { row, failure } of contenders) {
      if (!failure) continue;
      console.log(`\n${row.title}, ${row.where}: not measured: ${failure}`);
      process.exitCode = 1;
    }
  } finally {
    await stopAll();
    driver.stop();
  }
}

await start(readOptions(process.argv.slice(2)), bench, stopAll);
