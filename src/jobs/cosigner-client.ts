import * as z from 'zod';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

/** Why a co-signer gave nothing: it refused, or nothing came back that could be understood. */
export interface CosignerFault {
  /** The node that was asked. */
  readonly node: PartyIndex;
  /** The node's own code, or `unreachable`. */
  readonly code: string;
  readonly detail: string | null;
  /** The node that the protocol blames. */
  readonly culprit: number | null;
}

/** One co-signer, over a service binding or over HTTPS alike: both take a Request. */
export interface CosignerClient {
  readonly index: PartyIndex;
  /** @param path such as `key/abc/open` */
  call(path: string, body: unknown): Promise<Result<unknown, CosignerFault>>;
}

/** A round takes some ten milliseconds; a pairing a second. Whoever needs longer is away. */
const TIMEOUT_MS = 20_000;

const reply = z.union([
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({
    ok: z.literal(false),
    refusal: z.object({ code: z.string(), detail: z.string().nullable(), culprit: z.number().nullable() }),
  }),
]);

/** The co-signers of this deployment, in order. */
export function cosignersOf(env: CoordinatorEnv): readonly CosignerClient[] {
  return [env.COSIGNER_1, env.COSIGNER_2, env.COSIGNER_3].map((fetcher, i) => {
    const index = parsePartyIndex(i + 1);
    if (index === null) throw new Error('at most five co-signers');
    return cosignerClient(index, fetcher);
  });
}

export function cosignerClient(index: PartyIndex, fetcher: Pick<Fetcher, 'fetch'>): CosignerClient {
  return {
    index,
    call: async (path, body) => {
      const unreachable = (detail: string) => refused({ node: index, code: 'unreachable', detail, culprit: null });
      try {
        const response = await fetcher.fetch(`http://cosigner/${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        const parsed = reply.safeParse(await response.json());
        if (!parsed.success) return unreachable(`answered ${response.status} with something else`);
        return parsed.data.ok ? accepted(parsed.data.value) : refused({ node: index, ...parsed.data.refusal });
      } catch (error) {
        return unreachable(error instanceof Error ? error.name : 'failed');
      }
    },
  };
}
