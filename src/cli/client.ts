import { createMuster, type Muster } from '../clients/typescript/index.ts';
import { ConfigError } from '../config.ts';

const settings = ['MUSTER_URL', 'MUSTER_SPACE', 'MUSTER_KEY'] as const;

/** The help of commands that call the API. */
export const asksTheApi = (...permissions: readonly string[]): string => `
Unlike most others it asks the API, so it works from anywhere: for the space MUSTER_SPACE at MUSTER_URL, with the key MUSTER_KEY.
The server prints lines that set them when it starts; ${enough(permissions)} enough.`;

const enough = (permissions: readonly string[]): string =>
  permissions.length === 1 ? `the permission ${permissions[0]} is` : `the permissions ${permissions.join(' and ')} are`;

/** The client for a command that calls the API. attempts: of each call, by default as many as fit. Throws ConfigError. */
export function clientOf(env: NodeJS.ProcessEnv, command: string, attempts?: number): Muster {
  const [url, spaceId, key] = settings.map((name) => {
    const value = env[name];
    if (!value)
      throw new ConfigError(
        `${name} is not set: muster ${command} needs ${settings.join(', ')}; see ${command} --help`,
      );
    return value;
  }) as [string, string, string];
  return createMuster({ url, spaceId, key, ...(attempts !== undefined && { attempts }) });
}
