import { hash } from 'node:crypto';

/** All that is ever stored of a key: the SHA-256 of its text, base64url (43 characters). */
export function apiKeyDigest(apiKey: string): string {
  return hash('sha256', apiKey, 'base64url');
}
