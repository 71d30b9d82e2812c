import { useEffect } from 'preact/hooks';
import type { Balance, Transaction } from '#dashboard/api.ts';

interface Heard {
  readonly transaction?: (record: Transaction) => void;
  readonly balance?: (record: Balance) => void;
}

/** What changes in a vault, as it happens; the browser goes on by itself after a break, from where it was. Null: nothing yet. */
export function useLive(vaultId: string | null, heard: Heard): void {
  useEffect(() => {
    if (vaultId === null) return undefined;
    const source = new EventSource(`/vault/${vaultId}/events`);
    source.addEventListener('transaction', ({ data }: MessageEvent<string>) =>
      heard.transaction?.(JSON.parse(data) as Transaction),
    );
    source.addEventListener('balance', ({ data }: MessageEvent<string>) =>
      heard.balance?.(JSON.parse(data) as Balance),
    );
    return () => source.close();
  }, [vaultId]);
}
