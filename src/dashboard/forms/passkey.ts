import type { Challenge } from '#dashboard/api.ts';

type Device = Challenge['devices'][number];

/** The signature of a device, in the form of an approval. */
export interface SignatureBody {
  readonly keyId: string;
  readonly signature: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
}

/** Returns the passkeys of the approval page among the devices of a person. */
export function passkeysOfPage(devices: readonly Device[], origin: string | null): readonly Device[] {
  return devices.filter((device) => origin !== null && device.origin === origin);
}

export function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
