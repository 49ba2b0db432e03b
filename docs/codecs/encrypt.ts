// Encrypts every value with AES-256-GCM and a new nonce, which is put in front of it.
import type { Codec } from 'muster-client';

const nonceBytes = 12;

/** @param key 32 bytes that senders, workers and readers share, and that the service never sees */
export async function encrypt(key: Uint8Array<ArrayBuffer>): Promise<Codec> {
  const secret = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
  const gcm = (iv: Uint8Array<ArrayBuffer>) => ({ name: 'AES-GCM', iv });
  return {
    name: 'aes-256-gcm',
    encode: async (bytes) => {
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const sealed = await crypto.subtle.encrypt(gcm(nonce), secret, Uint8Array.from(bytes));
      return Buffer.concat([nonce, new Uint8Array(sealed)]);
    },
    decode: async (bytes) => {
      const [nonce, sealed] = [
        Uint8Array.from(bytes.subarray(0, nonceBytes)),
        Uint8Array.from(bytes.subarray(nonceBytes)),
      ];
      return new Uint8Array(await crypto.subtle.decrypt(gcm(nonce), secret, sealed));
    },
  };
}
