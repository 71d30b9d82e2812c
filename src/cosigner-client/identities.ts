import * as z from 'zod';
import { boundedFetch } from '#chains/rpc/bounded-fetch.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { arePins } from '#domain/access/cosigner-pin.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';
import { transportOf } from '#cosigner-client/client.ts';
import type { CosignerSettings } from '#cosigner-client/endpoints.ts';
import { cosignerEndpoints } from '#cosigner-client/endpoints.ts';

/** An identity is read from a setting. A slower co-signer counts as unreachable. */
const IDENTITY_TIMEOUT_MS = 2_000;

const identity = z.object({ index: z.int(), signing: z.string().regex(/^[0-9a-f]{64}$/) });

/**
 * Returns the identity keys of all co-signers, as each of them publishes its own; null when one of
 * them returns none. They need no proof here: co-signers refuse a policy with other keys than they
 * pin.
 */
export async function cosignerIdentities(env: CosignerSettings): Promise<readonly CosignerPin[] | null> {
  const request = cosignerEndpoints(env).map(async (endpoint) => {
    const { origin, ...fetcher } = transportOf(endpoint);
    const bounds = { timeoutMs: IDENTITY_TIMEOUT_MS, ...fetcher };
    const answer = await boundedFetch(`${origin}/identity`, { method: 'GET' }, bounds);
    return 'fault' in answer ? null : (identity.safeParse(jsonIn(answer.text)).data ?? null);
  });
  const pins = (await Promise.all(request)).filter((pin) => pin !== null);
  return pins.length === request.length && arePins(pins) ? pins : null;
}
