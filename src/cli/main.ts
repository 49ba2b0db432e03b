import { envelope } from './errors.ts';
import { runCommand } from './program.ts';

/** Formats an error: as a sentence on a terminal, otherwise as the API's envelope. */
function said(envelope: string): string {
  if (!process.stderr.isTTY || process.argv.includes('--json')) return envelope;
  const { code, message } = (JSON.parse(envelope) as { error: { code: string; message: string } }).error;
  return `muster: ${message} (${code})`;
}

// Exit explicitly: a failed connection would keep the process alive for seconds.
const fail = (text: string): unknown => process.stderr.write(`${said(text)}\n`, () => process.exit(1));

// A closed pipe (`| head`) is fine, but a full disk has lost the result.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  error.code === 'EPIPE' ? process.exit(0) : fail(envelope(error)),
);
const failure = await runCommand(process.argv.slice(2), process);
if (failure !== null) fail(failure);
