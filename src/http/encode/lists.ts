import * as z from 'zod';
import { isNetwork } from '#domain/access/client-address.ts';

const MAX_NETWORKS = 20;

/** The addresses and networks to which a credential is limited. */
export const networkList = z
  .array(
    z.string().refine(isNetwork, 'Must be an IPv4 or IPv6 address or network, such as 192.0.2.0/24 or 2001:db8::/32.'),
  )
  .min(1)
  .max(MAX_NETWORKS)
  .refine(isSet, 'Must not repeat an address.');

/** Reports whether a list has each of its values once. */
export function isSet(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}
