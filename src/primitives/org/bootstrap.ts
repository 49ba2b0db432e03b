import { unless } from '../../engine/redis/failures.ts';
import { permissions } from '../../engine/route/caller.ts';
import { invocation } from '../../package.ts';
import { limitsAt } from '../space/limits.ts';
import {
  type Admin,
  createKey,
  createOrganization,
  createSpace,
  listKeys,
  listOrganizations,
  listSpaces,
} from './admin.ts';

const org = 'dev';
const anotherKey = `# another key: ${invocation} key create --org ${org} --permissions ${permissions.join(',')}`;

/**
 * Prepares a new embedded store for its first request: creates the organization `dev`, a space and a key. Each step is done
 * once, so interrupted and concurrent starts end with one of each. A store with other organizations is left alone.
 *
 * @param url where the API listens
 * @returns the lines to print, to be pasted into a shell
 * @throws StoreUnavailable
 */
export async function bootstrap(admin: Admin, url: string): Promise<string[]> {
  const found = await listOrganizations(admin);
  const isOurs = found.some((organization) => organization.org === org);
  const lines = [`export MUSTER_URL=${url}`];
  if (isOurs && (await listKeys(admin, org)).length > 0) return [...lines, ...(await laterLines(admin, url))];
  if (found.length > (isOurs ? 1 : 0)) return lines;

  if (!isOurs) await createOrganization(admin, { org, plan: 'enterprise' }).catch(unless('ORG_EXISTS'));
  const { spaceId } = await createSpace(admin, { org, limits: limitsAt(admin.limits, 'max'), first: true });
  lines.push(`export MUSTER_SPACE=${spaceId}`);
  const key = await createKey(admin, { org, permissions, first: true }).catch(unless('KEY_EXISTS'));
  return [...lines, key ? `export MUSTER_KEY=${key.apiKey}` : anotherKey, consoleLine(url, spaceId)];
}

async function laterLines(admin: Admin, url: string): Promise<string[]> {
  const [space] = await listSpaces(admin, org);
  return space ? [`export MUSTER_SPACE=${space.spaceId}`, anotherKey, consoleLine(url, space.spaceId)] : [anotherKey];
}

/** The address of the space in the console, which asks for the key. */
function consoleLine(url: string, spaceId: string): string {
  return `# console: ${url}/console#/space/${spaceId}`;
}
