import { describe, expect, it } from 'vitest';
import { TestServer } from './http-server.ts';
import { NativeClient } from './native-client.ts';

describe('connections with a loopback source address', () => {
  const options = { localAddress: '127.0.0.3' };

  it('reach the machine itself from that address', async () => {
    const seen: (string | undefined)[] = [];
    await using server = await TestServer.start((request, response) => {
      seen.push(request.socket.remoteAddress?.replace('::ffff:', ''));
      response.end('fine');
    });
    using client = new NativeClient([{ host: '127.0.0.1', port: server.port, scheme: 'http' }], options);
    expect((await client.ask(`http://${server.authority}/`)).body).toBe('fine');
    expect(seen).toEqual(['127.0.0.3']);
  });
});
