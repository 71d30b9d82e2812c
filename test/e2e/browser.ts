/**
 * The HTTP part of a browser: the class keeps cookies by host, follows redirects, and submits the
 * form of a page.
 */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>();
  /** The current address. */
  url = '';

  cookie(origin: string, name: string): string | undefined {
    return this.#jarOf(origin).get(name);
  }

  setCookie(origin: string, name: string, value: string): void {
    this.#jarOf(origin).set(name, value);
  }

  /**
   * Opens an address as if a user had typed it, and follows redirects. Stops before an address that
   * `stopAt` matches.
   */
  async go(url: string, stopAt: (url: string) => boolean = () => false): Promise<Response> {
    let [address, response] = [url, await this.#request(url)];
    for (let hops = 0; response.status >= 300 && response.status < 400; hops++) {
      if (hops > 20) throw new Error('sent in circles');
      address = new URL(response.headers.get('location') ?? '', address).href;
      this.url = address;
      if (stopAt(address)) return response;
      response = await this.#request(address);
    }
    this.url = address;
    return response;
  }

  /** Submits the form of a page with the typed values, and follows the redirects. */
  async submit(
    page: string,
    typed: Readonly<Record<string, string>>,
    stopAt: (url: string) => boolean = () => false,
  ): Promise<Response> {
    const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const fields = { ...Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])), ...typed };
    const target = new URL(action, this.url).href;
    const response = await this.#request(target, { method: 'POST', body: new URLSearchParams(fields) });
    const next = new URL(response.headers.get('location') ?? '', target).href;
    return this.go(next, stopAt);
  }

  /** Sends a command as a script of a page of the service does. */
  command(method: string, url: string, body?: unknown): Promise<Response> {
    const { origin } = new URL(url);
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return this.#request(url, { method, headers: { origin, 'sec-fetch-site': 'same-origin', ...type }, ...content });
  }

  async #request(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.#jarOf(new URL(url).origin);
    const headers = new Headers(init.headers);
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    return response;
  }

  #jarOf(origin: string): Map<string, string> {
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    return jar;
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((text) => text.trim());
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
  const isOver = attributes.some((text) => /^(max-age=0|expires=Thu, 01 Jan 1970)/i.test(text));
  if (isOver) jar.delete(name);
  else jar.set(name, value);
}
