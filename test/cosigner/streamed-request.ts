/**
 * Returns a request whose body is a stream of bytes as the platform has it. The stream that Node
 * makes of a text or of bytes ends with an error when a reader requests more bytes than are left.
 */
export function streamedRequest(url: string, init: RequestInit = {}): Request {
  const { body } = init;
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return new Request(url, init);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body);
  let isSent = false;
  const stream = new ReadableStream({
    type: 'bytes',
    pull: (controller) => {
      if (!isSent) {
        isSent = true;
        controller.enqueue(bytes);
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
  return new Request(url, { ...init, body: stream, duplex: 'half' } as RequestInit);
}
