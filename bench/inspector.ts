interface Target {
  readonly id: string;
  readonly webSocketDebuggerUrl: string;
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** V8's inspector of one isolate, which speaks the Chrome DevTools Protocol. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Answer));
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the inspector has gone'));
      this.#waiting.clear();
    });
  }

  /**
   * Connects to the deployed isolates and returns them by the names of their Workers. Isolates of
   * the simulator are excluded.
   */
  static async ofAll(url: string): Promise<ReadonlyMap<string, Inspector>> {
    const targets = (await (await fetch(`${url}/json`)).json()) as readonly Target[];
    const inspectors = new Map<string, Inspector>();
    for (const { id, webSocketDebuggerUrl } of targets) {
      const name = /^core:user:(conclave.*)$/.exec(id)?.[1];
      if (name !== undefined) inspectors.set(name, new Inspector(await opened(webSocketDebuggerUrl)));
    }
    return inspectors;
  }

  /** Throws the error of the isolate for an unsupported method. */
  call(method: string, parameters: object = {}): Promise<unknown> {
    const id = ++this.#last;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    this.#socket.send(JSON.stringify({ id, method, params: parameters }));
    return answer.promise;
  }

  close(): void {
    this.#socket.close();
  }

  #take({ id = 0, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  }
}

function opened(url: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.addEventListener('open', () => resolve(socket));
    socket.addEventListener('error', () => reject(new Error('the inspector does not answer')));
  });
}
