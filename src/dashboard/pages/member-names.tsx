import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { visibleText } from '#domain/visible-text.ts';
import { Hash } from '#dashboard/pages/record-fields.tsx';

interface Acquaintance {
  readonly me: string;
  readonly names: ReadonlyMap<string, string>;
  readonly vaults: readonly OwnVault[];
}

const Known = createContext<Acquaintance>({ me: '', names: new Map(), vaults: [] });

/** Provides the reader's vaults, and the names of their members, to the pages below. */
export function People(props: {
  readonly me: Person;
  readonly vaults: readonly OwnVault[];
  readonly children: preact.ComponentChildren;
}) {
  const { me, vaults, children } = props;
  const members = vaults.flatMap((vault) => vault.members);
  // The end of the id distinguishes two people whose names look the same.
  const names = new Map(members.map(({ userId, name }) => [userId, visibleText(name)]));
  for (const { userId, name, hasNamesake } of members) {
    if (hasNamesake) names.set(userId, `${visibleText(name)} (…${userId.slice(-6)})`);
  }
  return <Known.Provider value={{ me: me.id, names, vaults }}>{children}</Known.Provider>;
}

/** Returns the vault; null when the reader is not a member of it. */
export function useOwnVault(vaultId: string): OwnVault | null {
  return useContext(Known).vaults.find(({ id }) => String(id) === vaultId) ?? null;
}

/**
 * Shows a person: `you`, a name with the id, or only the id of a person who is in none of the
 * reader's vaults.
 */
export function MemberLabel({ userId }: { readonly userId: string }) {
  const { me, names } = useContext(Known);
  if (userId === me) return <>you</>;
  const name = names.get(userId);
  return name === undefined ? <Hash value={userId} /> : <span title={userId}>{name}</span>;
}
