import { hash } from 'node:crypto';

/** The SHA-256 of a key, base64url (43 characters): all that is stored of it. */
export function apiKeyDigest(apiKey: string): string {
  return hash('sha256', apiKey, 'base64url');
}
