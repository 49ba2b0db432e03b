import { Command, CommanderError } from 'commander';
import { addAuditCommands } from './audit.ts';
import { examples, invocation } from './command.ts';
import { envelope } from './errors.ts';
import { addKeyCommands } from './key.ts';
import { addOrgCommands } from './org.ts';
import { addSnapshotCommands } from './snapshot.ts';
import { addSpaceCommands } from './space.ts';

const about = [
  'Manages the organizations, spaces, API keys and snapshots of a Muster store.',
  'Every command prints one JSON value on stdout. Errors are JSON on stderr, with exit status 1.',
  'The store is the one that REDIS_URL names, else the embedded one that npm start runs on DATA_DIR (default ./data).',
].join('\n\n');

const program = new Command(invocation)
  .description(about)
  // Usage errors take the same way out as all others; commander would print and exit by itself.
  .exitOverride()
  .configureOutput({ writeErr: () => undefined });
const nouns = [addOrgCommands, addSpaceCommands, addKeyCommands, addAuditCommands, addSnapshotCommands];
for (const addCommands of nouns) addCommands(program);
examples(
  program,
  'org create acme',
  'space create --org acme --name staging',
  'key create --org acme --permissions coordination_read,coordination_write',
  'key create --help',
);

// Not by itself at the end: a connection that failed lingers for seconds.
const fail = (error: unknown): unknown => process.stderr.write(`${envelope(error)}\n`, () => process.exit(1));

// Whoever reads the answer may have seen enough of it (`| head`); on a full disk it is lost.
process.stdout.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? process.exit(0) : fail(error)));
try {
  await program.parseAsync();
} catch (error) {
  const wasHelp = error instanceof CommanderError && error.exitCode === 0;
  if (!wasHelp) fail(error);
}
