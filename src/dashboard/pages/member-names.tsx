import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { Hash } from '#dashboard/pages/record-fields.tsx';

interface Acquaintance {
  readonly me: string;
  readonly names: ReadonlyMap<string, string>;
}

const Known = createContext<Acquaintance>({ me: '', names: new Map() });

/** Whoever is in one of the reader's vaults has a name on every page below. */
export function People(props: {
  readonly me: Person;
  readonly vaults: readonly OwnVault[];
  readonly children: preact.ComponentChildren;
}) {
  const { me, vaults, children } = props;
  const names = new Map(vaults.flatMap(({ members }) => members.map(({ userId, name }) => [userId, name] as const)));
  return <Known.Provider value={{ me: me.id, names }}>{children}</Known.Provider>;
}

/** A person: `you`, a name with the id behind it, or the id of somebody who is in none of one's vaults (any more). */
export function MemberLabel({ userId }: { readonly userId: string }) {
  const { me, names } = useContext(Known);
  if (userId === me) return <>you</>;
  const name = names.get(userId);
  return name === undefined ? <Hash value={userId} /> : <span title={userId}>{name}</span>;
}
