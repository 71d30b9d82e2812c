import type { Challenge } from '#dashboard/api.ts';

type Device = Challenge['devices'][number];

/** The signature of a device, in the form of an approval. */
export interface SignatureBody {
  readonly keyId: string;
  readonly signature: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
}

/** Returns the approval pages that a person has a passkey of, in the order of the pages. */
export function pagesOf(devices: readonly Pick<Device, 'origin'>[], origins: readonly string[]): readonly string[] {
  return origins.filter((origin) => devices.some((device) => device.origin === origin));
}
