/**
 * keccak256 of Transfer(address,address,uint256): ERC-20 with two indexed words, ERC-721 with
 * three.
 */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/**
 * Approval(address,address,uint256): ERC-20 with two indexed words, ERC-721 with three; and
 * ApprovalForAll(address,address,bool).
 */
export const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
export const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31';
/** ERC-1155: TransferSingle and TransferBatch. */
export const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
export const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

/** Deposit(address,uint256) and Withdrawal(address,uint256) of a wrapped native asset (WETH9). */
export const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
export const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';

/** The topics of logs that move an asset. */
export const MOVEMENT_TOPICS: ReadonlySet<string> = new Set([
  TRANSFER,
  TRANSFER_SINGLE,
  TRANSFER_BATCH,
  DEPOSIT,
  WITHDRAWAL,
]);
