import type { AbiFunction, Hex } from 'viem';
import { decodeFunctionData, encodeFunctionData } from 'viem/utils';

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
const STANDARDS: readonly { readonly standard: string; readonly abi: readonly AbiFunction[] }[] = [
  {
    standard: 'ERC-20',
    abi: [
      declared('transfer', 'address to', 'uint256 amount'),
      declared('approve', 'address spender', 'uint256 amount'),
      declared('transferFrom', 'address from', 'address to', 'uint256 amount'),
      declared('increaseAllowance', 'address spender', 'uint256 addedAmount'),
      declared('decreaseAllowance', 'address spender', 'uint256 subtractedAmount'),
    ],
  },
  {
    standard: 'ERC-2612',
    abi: [
      declared(
        'permit',
        'address owner',
        'address spender',
        'uint256 amount',
        'uint256 deadline',
        'uint8 v',
        'bytes32 r',
        'bytes32 s',
      ),
    ],
  },
  {
    standard: 'ERC-721',
    abi: [
      declared('safeTransferFrom', 'address from', 'address to', 'uint256 tokenId'),
      declared('safeTransferFrom', 'address from', 'address to', 'uint256 tokenId', 'bytes data'),
      declared('setApprovalForAll', 'address operator', 'bool approved'),
    ],
  },
  {
    standard: 'ERC-1155',
    abi: [
      declared('safeTransferFrom', 'address from', 'address to', 'uint256 id', 'uint256 amount', 'bytes data'),
      declared(
        'safeBatchTransferFrom',
        'address from',
        'address to',
        'uint256[] ids',
        'uint256[] amounts',
        'bytes data',
      ),
    ],
  },
  {
    standard: 'ERC-4626',
    abi: [
      declared('deposit', 'uint256 assets', 'address receiver'),
      declared('mint', 'uint256 shares', 'address receiver'),
      declared('withdraw', 'uint256 assets', 'address receiver', 'address owner'),
      declared('redeem', 'uint256 shares', 'address receiver', 'address owner'),
    ],
  },
  { standard: 'WETH9', abi: [declared('deposit'), declared('withdraw', 'uint256 amount')] },
];

/**
 * Returns the ABI of a function without its outputs; an input is `type name`. The parser of viem
 * costs a page 12 kB and time at its start.
 */
function declared(name: string, ...inputs: readonly string[]): AbiFunction {
  return {
    type: 'function',
    name,
    stateMutability: 'nonpayable',
    inputs: inputs.map((input) => {
      const [type = '', inputName = ''] = input.split(' ');
      return { type, name: inputName };
    }),
    outputs: [],
  };
}

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
    // Two functions may share a name and differ in their inputs.
    const item = abi.find(({ name, inputs }) => name === decoded.functionName && inputs.length === values.length);
    if (again !== data || item === undefined) continue;
    return {
      standard,
      function: decoded.functionName,
      arguments: item.inputs.map(({ name, type }, i) => ({ name: name ?? '', type, value: shown(values[i]) })),
    };
  }
  return null;
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
