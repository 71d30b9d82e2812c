import type { Hex } from 'viem';
import { decodeAbiParameters } from 'viem/utils';
import { parseHexBytes } from '#chains/evm/rules/hex.ts';
import type { NodeFault } from '#chains/rpc/json-rpc.ts';
import { REVERT_CODE } from '#chains/evm/client/rpc-calls.ts';
import { redacted } from '#chains/rpc/redact.ts';

/** Messages of RPC nodes when a call fails inside the EVM and not in the node. */
const REVERT_WORDS = [
  'revert',
  'invalid opcode',
  'invalid jump',
  'bad instruction',
  'bad jump',
  'vm execution error',
  'out of gas',
  'gas required exceeds allowance',
  'stack underflow',
  'stack overflow',
  'stack limit reached',
];

const ERROR_SELECTOR = '0x08c379a0';
const PANIC_SELECTOR = '0x4e487b71';

/** Solidity's panic codes as texts. */
const PANICS = new Map([
  [0x01n, 'an assertion failed'],
  [0x11n, 'arithmetic overflow or underflow'],
  [0x12n, 'division by zero'],
  [0x21n, 'value outside the enum'],
  [0x31n, 'pop of an empty array'],
  [0x32n, 'index out of range'],
  [0x41n, 'out of memory'],
  [0x51n, 'call of an uninitialised function'],
]);

/**
 * Returns why the EVM refused a call, as a text; null when the fault is the RPC node's and says
 * nothing about the call.
 */
export function revertReason(fault: NodeFault): string | null {
  if (fault.kind === 'no-answer') return null;
  const words = fault.detail.toLowerCase();
  const reverted = fault.code === REVERT_CODE || REVERT_WORDS.some((word) => words.includes(word));
  if (!reverted) return null;
  const data = parseHexBytes(fault.data);
  return (data === null ? null : decodeRevert(data)) ?? fault.detail;
}

/**
 * Decodes `Error(string)` and `Panic(uint256)`; of any other error only the selector is known.
 * Returns null for empty data. The text comes from the contract and is untrusted.
 */
export function decodeRevert(data: Hex): string | null {
  if (data.length < 10) return null;
  try {
    const body: Hex = `0x${data.slice(10)}`;
    if (data.startsWith(ERROR_SELECTOR)) return redacted(decodeAbiParameters([{ type: 'string' }], body)[0]);
    if (data.startsWith(PANIC_SELECTOR)) {
      const [code] = decodeAbiParameters([{ type: 'uint256' }], body);
      return `The contract panicked: ${PANICS.get(code) ?? `code ${code}`}.`;
    }
  } catch {
    return 'The contract reverted with an error that cannot be decoded.';
  }
  return `The contract reverted with the custom error ${data.slice(0, 10)}.`;
}
