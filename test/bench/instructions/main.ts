// npm run bench:instructions -- --help
import { start } from '../options.ts';
import { makeCalls } from './calls.ts';
import { CountedRedis } from './counted-redis.ts';
import { figuresOf, figuresTable, readFigures, writeFigures } from './figures.ts';
import { replaceRandomIds } from './ids.ts';
import { RecordedService } from './recorded-service.ts';
import { runRounds } from './rounds.ts';
import { type Options, readOptions } from './settings.ts';
import { openTree } from './tree.ts';

const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

async function measure({ tree: root, rounds, json, against }: Options): Promise<void> {
  const earlier = against === undefined ? undefined : await readFigures(against);
  replaceRandomIds();
  const tree = await openTree(root);
  const counted = await CountedRedis.start(tree);
  cleanUps.push(() => counted.stop());
  const service = await RecordedService.start(tree, counted.socketPath);
  cleanUps.push(() => service.stop());
  const prepare = await makeCalls((request) => service.post(request));
  const found = await runRounds(
    { service, prepare, redis: counted.client, count: (work) => counted.count(work) },
    rounds,
  );
  const figures = figuresOf(found, counted.version);
  console.log(figuresTable(figures, earlier));
  if (json !== undefined) await writeFigures(json, figures);
}

async function bench(options: Options): Promise<void> {
  try {
    await measure(options);
  } finally {
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
