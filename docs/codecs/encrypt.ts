// Encrypts every value with AES-256-GCM. A value is read only where it was sent to: a copy of it in another mailbox, under
// another workKey, or as another message's result is refused, as is a value that is not encrypted.
// Stored: the length of the places (2 bytes), a new nonce (12 bytes), the places as JSON, the encrypted value.
import type { Codec } from 'muster-client';

const lengthBytes = 2;
const nonceBytes = 12;

/** @param key 32 bytes that senders, workers and readers share, and that the service never sees */
export async function encrypt(key: Uint8Array<ArrayBuffer>): Promise<Codec> {
  const secret = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
  const gcm = (iv: Uint8Array<ArrayBuffer>, additionalData: Uint8Array<ArrayBuffer>) => ({
    name: 'AES-GCM',
    iv,
    additionalData,
  });
  return {
    name: 'aes-256-gcm-bound',
    seals: true,
    encode: async (bytes, places) => {
      if (places.length === 0)
        throw new Error('encryption needs the id of the mailbox, group or message before the call');
      const bound = new TextEncoder().encode(JSON.stringify(places));
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const sealed = await crypto.subtle.encrypt(gcm(nonce, bound), secret, Uint8Array.from(bytes));
      const length = new Uint8Array([bound.length >> 8, bound.length & 255]);
      return Buffer.concat([length, nonce, bound, new Uint8Array(sealed)]);
    },
    decode: async (bytes, places) => {
      const [high = 0, low = 0] = bytes;
      const nonceEnd = lengthBytes + nonceBytes;
      const boundEnd = nonceEnd + high * 256 + low;
      const nonce = Uint8Array.from(bytes.subarray(lengthBytes, nonceEnd));
      const bound = Uint8Array.from(bytes.subarray(nonceEnd, boundEnd));
      const value = await crypto.subtle.decrypt(gcm(nonce, bound), secret, Uint8Array.from(bytes.subarray(boundEnd)));
      const sentTo: readonly string[] = JSON.parse(new TextDecoder().decode(bound));
      if (!sentTo.some((place) => places.includes(place))) throw new Error('the value was sent to another place');
      return new Uint8Array(value);
    },
  };
}
