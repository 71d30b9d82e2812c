import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { Client, unwrap, NoAnswer } from '../../cli/api-client.ts';
import type { ScriptDevice } from '../../cli/device/script-device.ts';
import { pollUntil } from './poll.ts';

export interface Person {
  readonly name: string;
  readonly id: string;
  /** Value of a personal access token. */
  readonly token: string;
  /** The cookie of a session, as a browser sends it. It is valid for a day. */
  readonly cookie: string;
  readonly client: Client;
}

export interface VaultOptions {
  /** The identity keys of the co-signers, which signers verify statements with. */
  readonly cosigners?: readonly CosignerPin[];
  readonly name: string;
  /** All of them are signers and initiators. */
  readonly signers: readonly Person[];
  readonly threshold: number;
  readonly initialState?: 'DRAFT' | 'SUBMITTED';
  readonly mostPending?: number;
  /** Two when absent. */
  readonly signingThreshold?: number;
  /** Chains besides the local one. */
  readonly chains?: readonly string[];
  /** Whether the vault is on the local chain; true when absent. */
  readonly isOnAnvil?: boolean;
  readonly bitcoinAddressType?: 'p2tr' | 'p2wpkh';
  /**
   * `token` when absent: local vaults hold no value, and their co-signers trust the coordinator's
   * count.
   */
  readonly approvalMode?: 'token' | 'device';
  /** One device of each signer, in their order; none when absent. In device mode they found it. */
  readonly devices?: readonly ScriptDevice[];
}

export interface ReadyVault {
  readonly id: number;
  /** The address on anvil; empty when the vault is not on it. */
  readonly address: string;
  /** The addresses by the name of the chain. */
  readonly addresses: Readonly<Record<string, string>>;
}

const ROLES = ['viewer', 'initiator', 'signer'] as const;

/** Generating a key takes about 3 s on two cores: three pairings and three proofs. */
const KEY_DEADLINE_MS = 60_000;

/**
 * Creates a user, with a session by enrolment and a token that the session creates. Throws for an
 * enrolled user: an operator issues another credential only by a credential reset.
 */
export async function createPerson(service: Client, url: string, name: string): Promise<Person> {
  const { user } = service.api.internal;
  const { id } = await unwrap(user.$post({ json: { name, email: `${name}@example.com` } }));
  const session = await unwrap(user[':userId'].session.$post({ param: { userId: id } }));
  const cookie = session.cookie.split(';')[0] ?? '';
  const { token } = await ownToken(url, cookie, { name: 'local' });
  return { name, id, token, cookie, client: new Client(url, token) };
}

/**
 * Creates one more token of a user, as the dashboard does. @param cookie of a session of the user
 */
export async function ownToken(
  url: string,
  cookie: string,
  body: { readonly name: string; readonly expiresAt?: number },
): Promise<{ readonly id: string; readonly token: string }> {
  const headers = { cookie, origin: new URL(url).origin, 'content-type': 'application/json' };
  const response = await fetch(`${url}/session/access-token`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 201) throw new Error(`Creating a token returned ${response.status}`);
  return (await response.json()) as { readonly id: string; readonly token: string };
}

/**
 * Creates a vault and waits for its keys. A second call with the same name returns the same vault.
 *
 * @param onWallet is called once for each wallet, when its address is known
 */
export async function createReadyVault(
  service: Client,
  options: VaultOptions,
  onWallet: (chain: string, address: string) => void = () => {},
): Promise<ReadyVault> {
  const owned = options.signers.flatMap((signer, i) => ownedBy(signer, options.devices?.[i]));
  const creation = {
    name: options.name,
    reference: options.name.replaceAll(' ', '-'),
    members: options.signers.map(({ id }) => ({ userId: id, roles: [...ROLES] })),
    threshold: options.threshold,
    approvalMode: options.approvalMode ?? 'token',
    initialState: options.initialState ?? 'SUBMITTED',
    chains: [...(options.isOnAnvil === false ? [] : ['anvil']), ...(options.chains ?? [])],
    ...(options.mostPending === undefined ? {} : { mostPending: options.mostPending }),
    ...(options.signingThreshold === undefined ? {} : { signingThreshold: options.signingThreshold }),
    ...(owned.length === 0 ? {} : { devices: owned.map(({ signer, device }) => device.enrolment(signer.id)) }),
    ...(options.cosigners === undefined ? {} : { cosigners: [...options.cosigners] }),
    ...(options.bitcoinAddressType === undefined ? {} : { bitcoinAddressType: options.bitcoinAddressType }),
  };
  const vault = await unwrap(service.api.internal.vault.$post({ json: creation }));
  await acceptVault(vault.id, options.signers);
  const changeId = vault.founding?.changeId ?? null;
  if (changeId !== null) for (const founder of owned) await foundWith(founder, { vaultId: String(vault.id), changeId });
  const reported = new Set<string>();
  const probe = async () => {
    const wallets = await walletsOf(service, vault.id);
    for (const { chain, address } of wallets) {
      if (address !== null && !reported.has(chain)) onWallet(chain, address);
      if (address !== null) reported.add(chain);
    }
    return completeAddresses(wallets);
  };
  const addresses = await pollUntil('keys', probe, KEY_DEADLINE_MS);
  return { id: vault.id, address: addresses['anvil'] ?? '', addresses };
}

/** Accepts a vault as its new members. */
export async function acceptVault(vaultId: number, members: readonly Pick<Person, 'client'>[]): Promise<void> {
  const param = { vaultId: String(vaultId) };
  for (const { client } of members) await unwrap(client.api.vault[':vaultId'].accept.$post({ param }));
}

interface Founder {
  readonly signer: Person;
  readonly device: ScriptDevice;
}

function ownedBy(signer: Person, device: ScriptDevice | undefined): readonly Founder[] {
  return device === undefined ? [] : [{ signer, device }];
}

/** Approves the founding of a vault with the device of a signer. */
async function foundWith(
  { signer, device }: Founder,
  param: { readonly vaultId: string; readonly changeId: string },
): Promise<void> {
  const change = signer.client.api.vault[':vaultId']['policy-change'][':changeId'];
  const { digest } = await unwrap(change.$get({ param, query: {} }));
  await unwrap(change.approve.$post({ param, json: device.sign(digest) }));
}

interface WalletView {
  readonly chain: string;
  /** Null until the key is generated. */
  readonly address: string | null;
}

/** Returns the addresses of a vault's wallets, by chain; null while one is missing. */
export async function addressesOf(service: Client, vaultId: number): Promise<Readonly<Record<string, string>> | null> {
  return completeAddresses(await walletsOf(service, vaultId));
}

/**
 * Returns the wallets of a vault; none without a response. The local co-signers compute on the
 * thread that also responds, for seconds when a machine is busy. A connection that has idled that
 * long is closed during the next request, and the caller polls again.
 */
async function walletsOf(service: Client, vaultId: number): Promise<readonly WalletView[]> {
  try {
    const param = { vaultId: String(vaultId) };
    return (await unwrap(service.api.internal.vault[':vaultId'].$get({ param }))).wallets;
  } catch (error) {
    if (error instanceof NoAnswer) return [];
    throw error;
  }
}

function completeAddresses(wallets: readonly WalletView[]): Readonly<Record<string, string>> | null {
  const known = wallets.flatMap(({ chain, address }) => (address === null ? [] : [[chain, address] as const]));
  return known.length === 0 || known.length < wallets.length ? null : Object.fromEntries(known);
}
