/** Addresses and times as people read them. */

/** Returns the beginning and the end of an address; the element that shows it has the whole in its title. */
export function abbreviated(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function timeText(iso: string): string {
  return TIME.format(new Date(iso));
}
