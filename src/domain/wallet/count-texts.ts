import type { ChainCounts } from '#domain/wallet/wallet-nonce.ts';

/** `ChainCounts` as decimal text, for a call to the nonce allocator. */
export interface CountTexts {
  readonly latest: string;
  readonly pending: string;
  /** Absent when it was not requested. */
  readonly proven?: { readonly latest: string | null; readonly pending: string | null; readonly block: string };
}

export function countTexts({ latest, pending, proven }: ChainCounts): CountTexts {
  const texts = { latest: latest.toString(), pending: pending.toString() };
  if (proven === undefined) return texts;
  const [provenLatest, provenPending] = [proven.latest?.toString() ?? null, proven.pending?.toString() ?? null];
  return { ...texts, proven: { latest: provenLatest, pending: provenPending, block: proven.block.toString() } };
}

export function countsIn({ latest, pending, proven }: CountTexts): ChainCounts {
  const counts = { latest: BigInt(latest), pending: BigInt(pending) };
  if (proven === undefined) return counts;
  const [provenLatest, provenPending] = [countIn(proven.latest), countIn(proven.pending)];
  return { ...counts, proven: { latest: provenLatest, pending: provenPending, block: BigInt(proven.block) } };
}

function countIn(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
