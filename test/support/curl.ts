import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram, type ProgramKind } from '../../src/external-programs/find.ts';

const curlProgram: ProgramKind = {
  label: 'curl',
  wanted: 'curl',
  variable: 'CURL',
  names: ['curl'],
  packages: ['curl'],
  path: 'usr/bin/curl',
  versionIn: (printed) => {
    const version = /^curl (\d+[\d.]*)/.exec(printed)?.[1];
    if (!version) throw new Error('its --version is not that of curl');
    return version;
  },
  whatToDo: 'install curl, or set CURL to its program',
};

const folder = fileURLToPath(new URL('../../.curl', import.meta.url));

/**
 * An environment in which a shell finds curl, as the documents use it: from CURL, PATH, or the distribution's packages,
 * downloaded once into `.curl/`.
 */
export async function withCurl(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const log = (line: string): void => console.log(`    ${line}`);
  const { command, env: programEnv } = await findProgram(curlProgram, { log, env, folder });
  return { ...programEnv, PATH: [dirname(command), env['PATH']].join(delimiter) };
}
