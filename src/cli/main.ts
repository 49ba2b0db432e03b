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
  'Every command prints one JSON value to stdout; errors are JSON on stderr, with exit status 1.',
  'The store is the one in REDIS_URL, or else the embedded one that npm start runs on DATA_DIR (default ./data).',
].join('\n\n');

const program = new Command(invocation)
  .description(about)
  // Handle usage errors like all others; commander would print them and exit by itself.
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

// Exit explicitly: a failed connection would keep the process alive for seconds.
const fail = (error: unknown): unknown => process.stderr.write(`${envelope(error)}\n`, () => process.exit(1));

// A closed pipe (`| head`) is fine; a full disk has lost the result.
process.stdout.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? process.exit(0) : fail(error)));
try {
  await program.parseAsync();
} catch (error) {
  const wasHelp = error instanceof CommanderError && error.exitCode === 0;
  if (!wasHelp) fail(error);
}
