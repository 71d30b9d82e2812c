/** Addresses, counts and times as people read them. */

/**
 * Returns the beginning and the end of an address. The element that shows it has the whole address
 * as its title.
 */
export function abbreviated(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}

export function approvalsText(count: number): string {
  return count === 1 ? '1 approval' : `${count} approvals`;
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function timeText(iso: string): string {
  return TIME.format(new Date(iso));
}
