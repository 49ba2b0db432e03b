import { envelope, said } from './errors.ts';
import { runCommand } from './program.ts';

const isTTY = process.stderr.isTTY;
const isJson = process.argv.includes('--json');
// Exit explicitly: a failed connection would keep the process alive for seconds.
const fail = (text: string): unknown =>
  process.stderr.write(`${said(text, { isTTY, isJson })}\n`, () => process.exit(1));

// A closed pipe (`| head`) is fine, but a full disk has lost the result.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  error.code === 'EPIPE' ? process.exit(0) : fail(envelope(error)),
);
const failure = await runCommand(process.argv.slice(2), process);
if (failure !== null) fail(failure);
