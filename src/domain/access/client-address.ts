/** An address as one number of 128 bits. IPv4 has its place in IPv6 (RFC 4291, 2.5.5.2). */
type AddressBits = bigint;

const BITS = 128;
const IPV4_BITS = 32;
/** `::ffff:0:0`, the network of all IPv4 addresses in IPv6. */
const IPV4_IN_IPV6 = 0xffffn << BigInt(IPV4_BITS);

/** The addresses that share their first `prefix` bits, of 128. */
interface Network {
  readonly first: AddressBits;
  readonly prefix: number;
}

const DECIMAL = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = new RegExp(`^${DECIMAL}(?:\\.${DECIMAL}){3}$`);

/** Returns the eight groups of an IPv6 address, or null for any other text. */
export function ipv6Groups(address: string): readonly number[] | null {
  // The parser of URLs writes an address in its one shortest form.
  const url = /^[0-9a-f.:]{2,45}$/i.test(address) ? URL.parse(`http://[${address}]/`) : null;
  if (url === null) return null;
  const [head = [], tail = []] = url.hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const omitted = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...omitted, ...tail].map((group) => Number.parseInt(group, 16));
}

/** Reports whether a text is a network in CIDR notation, or one address. */
export function isNetwork(text: string): boolean {
  return networkOf(text) !== null;
}

/** Reports whether a network contains an address or all of another network. */
export function contains(network: string, other: string): boolean {
  const [outer, inner] = [networkOf(network), networkOf(other)];
  if (outer === null || inner === null || inner.prefix < outer.prefix) return false;
  return maskedTo(inner.first, outer.prefix) === outer.first;
}

/** Ours: the part of an address that stays the same when its client gets another one. */
const NEIGHBOURHOOD = { ipv4: BITS - 8, ipv6: 48 } as const;

/** Returns the name of the network around an address, or null for another text. */
export function neighbourhoodOf(address: string): string | null {
  const bits = bitsOf(address);
  if (bits === null) return null;
  const isIpv4 = bits >> BigInt(IPV4_BITS) === IPV4_IN_IPV6 >> BigInt(IPV4_BITS);
  return maskedTo(bits, isIpv4 ? NEIGHBOURHOOD.ipv4 : NEIGHBOURHOOD.ipv6).toString(16);
}

/**
 * Returns the network of a text in CIDR notation (RFC 4632, RFC 4291), or null. One address is the
 * network that has only it. Bits after the prefix must be 0: `10.1.0.0/8` can mean two networks.
 */
function networkOf(text: string): Network | null {
  const [, address = '', length] = /^([0-9A-Fa-f.:]{2,45})(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const bits = bitsOf(address);
  if (bits === null) return null;
  const own = IPV4.test(address) ? IPV4_BITS : BITS;
  const shared = length === undefined ? own : Number.parseInt(length, 10);
  if (shared > own) return null;
  const prefix = BITS - own + shared;
  return maskedTo(bits, prefix) === bits ? { first: bits, prefix } : null;
}

function bitsOf(address: string): AddressBits | null {
  if (IPV4.test(address)) return IPV4_IN_IPV6 | joined(address.split('.').map(BigInt), 8n);
  const groups = ipv6Groups(address);
  return groups === null ? null : joined(groups.map(BigInt), 16n);
}

function joined(parts: readonly bigint[], width: bigint): bigint {
  return parts.reduce((bits, part) => (bits << width) | part, 0n);
}

function maskedTo(bits: AddressBits, prefix: number): AddressBits {
  const rest = BigInt(BITS - prefix);
  return (bits >> rest) << rest;
}
