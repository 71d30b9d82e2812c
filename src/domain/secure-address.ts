/** Reports whether a URL names this machine. */
export function isLoopback(text: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(text).hostname);
}

/** Reports whether others cannot read what is sent to a URL: it has TLS, or is on this machine. */
export function isSecureAddress(text: string): boolean {
  const { protocol } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(text));
}
