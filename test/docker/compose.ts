import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly user?: string;
  readonly profiles?: readonly string[];
  readonly environment?: Record<string, string>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly configs?: readonly { source: string; target: string }[];
  readonly networks?: readonly string[] | Readonly<Record<string, { ipv4_address?: string }>>;
  readonly depends_on?: Readonly<Record<string, { condition: string }>>;
  readonly healthcheck?: { test?: readonly string[]; disable?: boolean };
  readonly init?: boolean;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, object>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly configs: Readonly<Record<string, { file?: string }>>;
}

/** docker-compose.yml as Compose reads it without variables. */
export function readCompose(): Compose {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const filled = text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
  if (filled.replaceAll('$$', '').includes('$')) throw new Error('a dollar sign that is not a variable with a default');
  const compose: Compose = parse(
    filled.replaceAll('$$', () => '$'),
    { merge: true },
  );
  for (const { environment = {} } of Object.values(compose.services))
    for (const [name, value] of Object.entries(environment)) environment[name] = String(value);
  return compose;
}

export function networksOf({ networks = ['default'] }: Service): string[] {
  return Array.isArray(networks) ? [...networks] : Object.keys(networks);
}

/** The fixed addresses of services. */
export function addressesOf(compose: Compose): string[] {
  return Object.values(compose.services).flatMap(({ networks }) =>
    networks && !Array.isArray(networks) ? Object.values(networks).flatMap((one) => one.ipv4_address ?? []) : [],
  );
}
