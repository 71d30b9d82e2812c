import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { arePins } from '#domain/access/cosigner-pin.ts';

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);

const pinnedVault = z.strictObject({
  /** The identity keys of the co-signers. */
  cosigners: z
    .array(z.strictObject({ index: z.int(), signing: hex32 }))
    .refine((pins) => arePins(pins), 'Must name co-signers 1 to n in order'),
  /** How many co-signers must agree: as many as sign together. */
  threshold: z.int().min(2),
  /** The policy that this device verified last. */
  policy: z.strictObject({ version: z.int().min(1), hash: hex32 }),
  /**
   * Keys of the vault that this device has received: the service may not omit one of them later.
   */
  keyIds: z.array(z.string()),
});

const pinFile = z.strictObject({ version: z.literal(2), vaults: z.record(z.string(), pinnedVault) });

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
    return pinFile.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
  }
}
