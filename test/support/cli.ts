import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** How a command ended. */
export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `muster <args>` in a process, as operators do, from the build that `npm test` makes first. */
export function muster(args: readonly string[], settings: Record<string, string>): Promise<Outcome> {
  const env = { ...process.env, REDIS_URL: '', ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/cli/main.js', ...args], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    );
  });
}

/** Runs a command that succeeds; returns the one JSON value it prints, on one line. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every shape.
export async function record(args: readonly string[], settings: Record<string, string>): Promise<any> {
  const { status, stdout, stderr } = await muster(args, settings);
  if (status !== 0 || stderr !== '' || !/^.+\n$/.test(stdout))
    throw new Error(`muster ${args.join(' ')}: ${status} ${stderr}`);
  return JSON.parse(stdout);
}

/** Runs a command that fails; checks the shape of the error, and returns code and message. */
export async function failure(
  args: readonly string[],
  settings: Record<string, string>,
): Promise<{ code: string; message: string }> {
  const { status, stdout, stderr } = await muster(args, settings);
  const envelope = JSON.parse(stderr);
  const members = Object.keys(envelope.error).join();
  if (status !== 1 || stdout !== '' || stderr.split('\n').length !== 2 || members !== 'code,message,requestId') {
    throw new Error(`muster ${args.join(' ')}: ${status} ${stdout} ${stderr}`);
  }
  return envelope.error;
}
