import type { Abi, AbiFunction, Hex } from 'viem';
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem/utils';

/** A decoded call that an approver can read. */
export interface DecodedCall {
  /** The standard that defines this function. */
  readonly standard: string;
  readonly function: string;
  /** In the order of the function; numbers as decimal texts. */
  readonly arguments: { readonly name: string; readonly type: string; readonly value: DecodedValue }[];
}

type DecodedValue = string | boolean | DecodedValue[];

/**
 * Functions whose meaning is fixed by a standard. A contract may still do something else: this
 * shows what the call requests.
 */
const STANDARDS: readonly { readonly standard: string; readonly abi: Abi }[] = [
  {
    standard: 'ERC-20',
    abi: parseAbi([
      'function transfer(address to, uint256 amount)',
      'function approve(address spender, uint256 amount)',
      'function transferFrom(address from, address to, uint256 amount)',
      'function increaseAllowance(address spender, uint256 addedAmount)',
      'function decreaseAllowance(address spender, uint256 subtractedAmount)',
    ]),
  },
  {
    standard: 'ERC-2612',
    abi: parseAbi([
      'function permit(address owner, address spender, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    ]),
  },
  {
    standard: 'ERC-721',
    abi: parseAbi([
      'function safeTransferFrom(address from, address to, uint256 tokenId)',
      'function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)',
      'function setApprovalForAll(address operator, bool approved)',
    ]),
  },
  {
    standard: 'ERC-1155',
    abi: parseAbi([
      'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
      'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
    ]),
  },
  {
    standard: 'ERC-4626',
    abi: parseAbi([
      'function deposit(uint256 assets, address receiver)',
      'function mint(uint256 shares, address receiver)',
      'function withdraw(uint256 assets, address receiver, address owner)',
      'function redeem(uint256 shares, address receiver, address owner)',
    ]),
  },
  { standard: 'WETH9', abi: parseAbi(['function deposit()', 'function withdraw(uint256 amount)']) },
];

/**
 * Decodes calldata of a known standard. Returns null for any other, and for bytes that are not
 * exactly the encoding of the decoded values: the display must be complete.
 *
 * @param data lower-case hex with 0x
 */
export function decodeCall(data: string): DecodedCall | null {
  const bytes = data as Hex;
  for (const { standard, abi } of STANDARDS) {
    const decoded = attempt(() => decodeFunctionData({ abi, data: bytes }));
    if (decoded === null) continue;
    const values: readonly unknown[] = decoded.args ?? [];
    const again = attempt(() => encodeFunctionData({ abi, functionName: decoded.functionName, args: values }));
    const item = abi.find((one) => isFunction(one, decoded.functionName, values.length));
    if (again !== data || item?.type !== 'function') continue;
    return {
      standard,
      function: decoded.functionName,
      arguments: item.inputs.map(({ name, type }, i) => ({ name: name ?? '', type, value: shown(values[i]) })),
    };
  }
  return null;
}

/** Two functions may share a name and differ in their inputs. */
function isFunction(item: Abi[number], name: string, inputs: number): item is AbiFunction {
  return item.type === 'function' && item.name === name && item.inputs.length === inputs;
}

function shown(value: unknown): DecodedValue {
  if (Array.isArray(value)) return value.map(shown);
  return typeof value === 'boolean' ? value : String(value);
}

/** viem throws for an unknown selector and for bytes that do not decode. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
