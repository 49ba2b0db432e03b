import { runCommand } from '../../src/cli/program.ts';

/** How a command ended. */
export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `muster <args>` as its own process would, but in this process: starting one costs half a second of processor
 * time.
 */
export async function muster(args: readonly string[], settings: Record<string, string>): Promise<Outcome> {
  const printed = { stdout: '', stderr: '' };
  const to = (name: keyof typeof printed) => ({
    write: (text: unknown) => {
      printed[name] += text;
      return true;
    },
  });
  const env = { ...process.env, REDIS_URL: '', ...settings };
  const failure = await runCommand(args, { env, stdout: to('stdout'), stderr: to('stderr') });
  if (failure !== null) printed.stderr += `${failure}\n`;
  return { status: failure === null ? 0 : 1, ...printed };
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
