import { readFileSync, statSync } from 'node:fs';
import * as z from 'zod';
import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import { MAX_PARTY_INDEX } from '#mpc/party.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { RECOVERY_VERSION } from '#mpc/recovery/package.ts';

/** An export of one vault has a few dozen kilobytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_PACKAGES = 1000;
const MAX_EPOCH = 0xffff_ffff;

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`), `is not ${bytes} bytes in hex`);
const point = z.string().regex(/^(?:[0-9a-f]{64}|0[23][0-9a-f]{64})$/, 'is not a point in hex');
const cosigner = z.int().min(1).max(MAX_PARTY_INDEX);
const keyId = z.string().regex(/^[a-z2-7]{26}$/, 'is not a key id');

/** A scalar has 32 bytes, and the tag of AES-GCM has 16. */
const CIPHERTEXT_BYTES = 48;

const packageSchema = z.strictObject({
  version: z.literal(RECOVERY_VERSION),
  scheme: z.enum(KEY_SCHEMES),
  keyId,
  epoch: z.int().min(1).max(MAX_EPOCH),
  node: cosigner,
  threshold: cosigner,
  publicKey: point,
  publicShares: z.record(z.string().regex(/^[1-5]$/, 'is not a co-signer'), point),
  recoveryKey: hex(32),
  encapsulated: hex(32),
  ciphertext: hex(CIPHERTEXT_BYTES),
  signature: hex(64),
});

const namesSchema = z.object({ keyId, node: cosigner });

const missing = z.strictObject({ keyId: z.string(), node: z.int(), reason: z.string() });
const fileSchema = z.strictObject({
  packages: z.array(z.unknown()).max(MAX_PACKAGES),
  missing: z.array(missing).max(MAX_PACKAGES).optional(),
});

export interface ReadPackages {
  readonly packages: readonly RecoveryPackage[];
  /** The entries that are no packages, each with its key id when it names one. */
  readonly unread: readonly { readonly keyId: string | null; readonly fault: string }[];
}

/**
 * Returns the packages of saved responses of `admin recovery export`. Throws for a file that is no
 * such response. One entry that is no package is a fault and blocks no other one: a single
 * co-signer could spoil the whole file otherwise.
 */
export function packagesIn(files: readonly string[]): ReadPackages {
  const packages: RecoveryPackage[] = [];
  const unread: { keyId: string | null; fault: string }[] = [];
  for (const file of files) {
    for (const [i, entry] of entriesOf(file).entries()) {
      const parsed = packageSchema.safeParse(entry);
      if (parsed.success) packages.push(parsed.data);
      else unread.push(unreadEntry(entry, `${file}, package ${i + 1}`, reasonOf(parsed.error)));
    }
  }
  return { packages, unread };
}

/** Names the key and the co-signer of an entry where they can be read. */
function unreadEntry(entry: unknown, position: string, reason: string): ReadPackages['unread'][number] {
  const named = namesSchema.safeParse(entry);
  if (!named.success) return { keyId: null, fault: `${position}: ${reason}` };
  const { keyId: id, node } = named.data;
  return { keyId: id, fault: `${position} (${id}, co-signer ${node}): ${reason}` };
}

function entriesOf(file: string): readonly unknown[] {
  if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`${file} has more than ${MAX_FILE_BYTES} bytes.`);
  const parsed = fileSchema.safeParse(jsonOf(file));
  if (!parsed.success) throw new Error(`${file} is not an export of recovery packages: ${reasonOf(parsed.error)}`);
  return parsed.data.packages;
}

/** Returns the JSON of a file. Throws, without a part of the content, for a file that has none. */
export function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The message of a parser quotes the file, which may be a secret that was named by mistake.
    if (error instanceof SyntaxError) throw new Error(`${file} is not JSON.`, { cause: error });
    throw error;
  }
}

/** Returns where the first fault is, and what it is. */
export function reasonOf({ issues }: z.ZodError): string {
  const [issue] = issues;
  return issue === undefined ? 'malformed' : [...issue.path.map(String), issue.message].join(': ');
}
