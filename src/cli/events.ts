import type { Command } from 'commander';
import { type Cli, examples } from './command.ts';
import { type EventsQuery, printEvents } from './print-events.ts';

export function addEventsCommand(program: Command, cli: Cli): void {
  const events = program
    .command('events <spaceId>')
    .description("print a space's journal, oldest event first, packed or not: one JSON value a line")
    .requiredOption('--org <org>', 'the organization')
    .option('--from <time>', 'from this time on, such as 2026-01-31T12:00:00Z')
    .option('--types <types>', 'only these, such as message.sent or message.*; several with commas')
    .option('--aggregate <aggregate>', 'only of these, such as budget, or of one, such as budget:<uuid>')
    .option('--scope <scopeId>', 'only of this scope and those below')
    .option('--follow', 'go on with new events until interrupted')
    .action((spaceId: string, query: Omit<EventsQuery, 'spaceId'>) =>
      cli.stream((admin, print) => printEvents(admin, { ...query, spaceId }, { print, warn: cli.warn })),
    );
  const one = 'events 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e --org acme';
  examples(events, one, `${one} --types message.failed,message.expired --from 2026-01-31T12:00:00Z`, `${one} --follow`);
}
