import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { invocation, version } from '../package.ts';
import { addAuditCommands } from './audit.ts';
import { Cli, examples, type Streams } from './command.ts';
import { envelope } from './errors.ts';
import { addEventsCommand } from './events.ts';
import { addImportCommands } from './import.ts';
import { addKeyCommands } from './key.ts';
import { addMemoryCommand } from './memory.ts';
import { addOrgCommands } from './org.ts';
import { addQuestionCommands } from './question.ts';
import { addSnapshotCommands } from './snapshot.ts';
import { addSpaceCommands } from './space.ts';
import { addTopCommand } from './top.ts';

const about = [
  'Manages the organizations, spaces, API keys and snapshots of a Muster store, prints journals, answers questions, shows live figures, estimates memory, and imports the queues of BullMQ.',
  'Prints tables on a terminal, and one JSON value in a pipe or with --json (events: one a line); errors go to stderr, with exit status 1.',
  'The store is the one in REDIS_URL, or else the embedded one that muster serve (npm start) runs on DATA_DIR (default ./data).',
].join('\n\n');

const nouns = [
  addOrgCommands,
  addSpaceCommands,
  addKeyCommands,
  addAuditCommands,
  addEventsCommand,
  addQuestionCommands,
  addTopCommand,
  addMemoryCommand,
  addSnapshotCommands,
  addImportCommands,
];

/** Runs a command line. Resolves with the error's envelope if it failed, or null. */
export async function runCommand(args: readonly string[], streams: Streams): Promise<string | null> {
  const cli = new Cli(streams);
  const program = new Command(invocation)
    .description(about)
    // Handle usage errors like all others; commander would print them and exit itself.
    .exitOverride()
    .configureOutput({ writeOut: (text) => void streams.stdout.write(text), writeErr: () => undefined });
  program
    .version(version, '--version', 'print the version')
    .option('--json', 'print JSON on a terminal, too')
    .hook('preAction', () => {
      cli.isJson = program.opts()['json'] === true;
    })
    .command('serve')
    .description(
      'run the server: API, workers and, without REDIS_URL, an embedded Redis; serve --help has its settings',
    )
    // bin.ts, the package's command, handles these itself.
    .action(() => {
      throw new InvalidArgumentError(
        'the server is started with npm start, or with the installed command muster serve',
      );
    });
  program
    .command('test-server')
    .description('run a server for one test run, as the clients’ testServer does; it ends with its input')
    .action(() => {
      throw new InvalidArgumentError('the installed command muster has it; tests call testServer of a client');
    });
  for (const addCommands of nouns) addCommands(program, cli);
  examples(
    program,
    'serve',
    'org create acme',
    'space create --org acme --name staging',
    'key create --org acme --permissions coordination_read,coordination_write',
    'key create --help',
  );
  try {
    await program.parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    return isHelp ? null : envelope(error);
  }
}
