/**
 * Returns a request whose body is a stream of bytes as the platform has it. The stream that Node
 * makes of a text ends with an error when a reader requests more bytes than are left.
 */
export function streamedRequest(url: string, init: RequestInit = {}): Request {
  const { body } = init;
  if (typeof body !== 'string') return new Request(url, init);
  let isSent = false;
  const stream = new ReadableStream({
    type: 'bytes',
    pull: (controller) => {
      if (!isSent) {
        isSent = true;
        controller.enqueue(new TextEncoder().encode(body));
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
  return new Request(url, { ...init, body: stream, duplex: 'half' } as RequestInit);
}
