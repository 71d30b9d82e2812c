/**
 * Times as people read them, in one format for every locale. `Intl` is not used: its first format
 * loads the data of the locale, which costs a phone up to 0.2 s before the page is usable.
 */

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

/**
 * Returns a time in the zone of the browser, with the zone: `3 Nov 2026, 13:21 UTC+1`. Two people
 * who compare a time may be in different zones.
 */
export function timeText(iso: string): string {
  const time = new Date(iso);
  const month = MONTHS[time.getMonth()]?.slice(0, 3);
  return `${time.getDate()} ${month} ${time.getFullYear()}, ${clockText(time)} ${zoneText(-time.getTimezoneOffset())}`;
}

/** Returns the day of a time in UTC, such as `3 November 2026`. */
export function dayText(iso: string): string {
  const time = new Date(iso);
  return `${time.getUTCDate()} ${MONTHS[time.getUTCMonth()]} ${time.getUTCFullYear()}`;
}

/** Returns hours and minutes in the zone of the browser, such as `13:21`. */
export function clockText(time: Date): string {
  return `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}

/** Returns the time of day with its seconds, such as `13:21:05`. */
export function secondsText(time: Date): string {
  return `${clockText(time)}:${twoDigits(time.getSeconds())}`;
}

/** Returns the zone that is ahead of UTC by these minutes: `UTC`, `UTC+1`, `UTC-3:30`. */
function zoneText(minutesAhead: number): string {
  if (minutesAhead === 0) return 'UTC';
  const minutes = Math.abs(minutesAhead);
  const part = minutes % 60 === 0 ? '' : `:${twoDigits(minutes % 60)}`;
  return `UTC${minutesAhead < 0 ? '-' : '+'}${Math.floor(minutes / 60)}${part}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
