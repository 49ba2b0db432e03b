import { Command, CommanderError } from 'commander';
import { addAuditCommands } from './audit.ts';
import { Cli, examples, invocation, type Streams } from './command.ts';
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

const nouns = [addOrgCommands, addSpaceCommands, addKeyCommands, addAuditCommands, addSnapshotCommands];

/** Runs a command line. Resolves with the error's envelope if it failed, or null. */
export async function runCommand(args: readonly string[], streams: Streams): Promise<string | null> {
  const cli = new Cli(streams);
  const program = new Command(invocation)
    .description(about)
    // Handle usage errors like all others; commander would print them and exit by itself.
    .exitOverride()
    .configureOutput({ writeOut: (text) => void streams.stdout.write(text), writeErr: () => undefined });
  for (const addCommands of nouns) addCommands(program, cli);
  examples(
    program,
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
