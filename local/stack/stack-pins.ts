import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';

/** Returns the identity keys of the co-signers of a stack, as their operators know them. */
export function pinsOfStack(folder: string): readonly CosignerPin[] {
  const { vars }: { vars: { PEERS: string } } = JSON.parse(
    readFileSync(join(folder, 'cosigner-1', 'wrangler.json'), 'utf8'),
  );
  const peers: Record<string, { signing: string }> = JSON.parse(vars.PEERS);
  return Object.entries(peers).map(([index, { signing }]) => ({ index: Number.parseInt(index, 10), signing }));
}
