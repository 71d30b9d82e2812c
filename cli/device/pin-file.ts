import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { arePins } from '#domain/policy/cosigner-pin.ts';
import { minSigners } from '#mpc/party.ts';

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);

const pinnedVault = z.strictObject({
  /** The identity keys of the co-signers. */
  cosigners: z
    .array(z.strictObject({ index: z.int(), signing: hex32 }))
    .refine((pins) => arePins(pins), 'Must name co-signers 1 to n in order'),
  /**
   * How many co-signers must agree: as many as sign together. Null when no signer confirmed the
   * number. Then all of them must agree, since a lower number lets fewer hostile co-signers
   * convince the device.
   */
  threshold: z.int().min(2).nullable(),
  /** The policy that this device verified last. */
  policy: z.strictObject({ version: z.int().min(1), hash: hex32 }),
  /**
   * Keys of the vault that this device has received: the service may not omit one of them later.
   */
  keyIds: z.array(z.string()),
});

const pinFile = z.strictObject({ version: z.literal(2), vaults: z.record(z.string(), pinnedVault) });

/** Files of version 1 have a smallest majority as threshold when the signer entered none. */
const firstPinFile = z.strictObject({
  version: z.literal(1),
  vaults: z.record(z.string(), pinnedVault.extend({ threshold: z.int().min(2).nullish() })),
});

/** The pinned data of one vault. */
export type PinnedVault = z.infer<typeof pinnedVault>;

/**
 * The pins of a device, in a file beside the key of the device: `alice.pem` has
 * `alice.pem.pins.json`. It holds no secret. An attacker that can write it can remove the
 * protection of the statements, as with the key itself.
 */
export class PinFile {
  readonly #path: string;

  constructor(keyPath: string) {
    this.#path = `${keyPath}.pins.json`;
  }

  /**
   * Returns the pins of a vault, or null when nothing is pinned. Throws for a damaged file, which
   * must never look like an empty one.
   */
  read(vaultId: number): PinnedVault | null {
    return this.#all().vaults[String(vaultId)] ?? null;
  }

  /** Replaces the file as a whole, so that a crash leaves the old one or the new one. */
  write(vaultId: number, pinned: PinnedVault): void {
    const { vaults } = this.#all();
    const text = JSON.stringify({ version: 2, vaults: { ...vaults, [String(vaultId)]: pinned } }, null, 2);
    const fresh = `${this.#path}.new`;
    writeFileSync(fresh, `${text}\n`, { mode: 0o600 });
    renameSync(fresh, this.#path);
  }

  #all(): z.infer<typeof pinFile> {
    if (!existsSync(this.#path)) return { version: 2, vaults: {} };
    const file = z.union([pinFile, firstPinFile]).parse(JSON.parse(readFileSync(this.#path, 'utf8')));
    if (file.version === 2) return file;
    const vaults = Object.entries(file.vaults).map(([id, pinned]) => [id, confirmedIn(pinned)] as const);
    return { version: 2, vaults: Object.fromEntries(vaults) };
  }
}

/** A signer entered a threshold above the default. The default may not have been entered. */
function confirmedIn(pinned: z.infer<typeof firstPinFile>['vaults'][string]): PinnedVault {
  const { threshold = null, cosigners } = pinned;
  const isEntered = threshold !== null && threshold > minSigners(cosigners.length);
  return { ...pinned, threshold: isEntered ? threshold : null };
}
