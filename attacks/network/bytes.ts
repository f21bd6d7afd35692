/**
 * Attacks on how a request is parsed, and on the amount of everything.
 *
 * @module
 */
import { group, type NetworkAttack, type Ports } from './attack.ts';

const MIB = 1024 * 1024;
const NATIVE = { modes: ['subprocess'] } as const;
const ONLY_TUNNELS: Partial<NetworkAttack> = { ...NATIVE, control: 'proxy' };

/** Bytes to the granted server; each line ends correctly unless stated otherwise. */
function sends(
  lines: readonly string[],
  { line = 'GET /open/harmless HTTP/1.1', body = '' } = {},
): NetworkAttack['params'] {
  return ({ web }) => ({
    op: 'raw',
    address: ['127.0.0.1', web],
    pieces: [`${[line, ...lines].join('\r\n')}\r\n\r\n${body}`.replaceAll('WEB', `127.0.0.1:${web}`)],
  });
}

const HOST = 'Host: WEB';
const CLOSE = 'Connection: close';
const SECOND = 'GET /closed/secret HTTP/1.1\r\nHost: WEB\r\nConnection: close\r\n\r\n';
/** Engines refuse it in different ways: the proxy answers with an error, the Wasm harness does not accept such bytes. */
const REFUSED = ['ok', 'skill_error', 'capability_denied'] as const;

const smuggling = group(
  { codes: REFUSED },
  {
    injected_line: [
      'Smuggles a header into the value of another.',
      sends([HOST, 'X-A: b\nX-Injected: yes', CLOSE]),
    ],
    injected_return: [
      'Smuggles a header after a bare carriage return.',
      sends([HOST, 'X-A: b\rX-Injected: yes', CLOSE]),
      { control: { none: "The control's server reads it as one line." } },
    ],
    folded_header: ['Folds a line into another header.', sends(['X-A: b', ' c', 'Host: evil.test', CLOSE])],
    other_host_header: ['Names another host in the header.', sends(['Host: evil.test', CLOSE])],
    two_host_headers: ['Names two hosts.', sends([HOST, 'Host: evil.test', CLOSE])],
    second_request: ['Sends a second request after the first.', sends([HOST], { body: SECOND })],
    request_in_body: [
      'Sends a second request where a server may or may not expect a body.',
      sends([HOST, 'Content-Length: 0', 'Content-Length: 66'], { body: SECOND }),
    ],
    length_and_chunks: [
      'Declares the end of the request in two ways.',
      sends([HOST, 'Content-Length: 4', 'Transfer-Encoding: chunked'], { body: `0\r\n\r\n${SECOND}` }),
    ],
    odd_chunks: [
      'Spells the encoding in a way that some servers ignore.',
      sends([HOST, 'Content-Length: 5', 'Transfer-Encoding:\tchunked'], { body: `0\r\n\r\n${SECOND}` }),
    ],
    upgrade: [
      'Requests an undeclared WebSocket.',
      sends([
        HOST,
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: YWJjZGVmZ2hpamtsbW5vcA==',
      ]),
    ],
    hop_header: [
      'Has the proxy remove a header that matters.',
      sends(['Host: evil.test', 'Connection: close, host']),
    ],
    method_override: [
      'Uses a method that the rule does not allow.',
      sends([HOST, CLOSE], { line: 'PUT /open/harmless HTTP/1.1' }),
    ],
  },
);

const tunnels = group(
  { codes: REFUSED, ...ONLY_TUNNELS },
  {
    tunnel_elsewhere: [
      'Requests a tunnel to another server while naming the granted one.',
      tunnel(({ forbidden }) => `127.0.0.1:${forbidden}`, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    ],
    tunnel_spelled: [
      'The same in another spelling.',
      tunnel(({ forbidden }) => `2130706433:${forbidden}`, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    ],
    tunnel_closed_path: [
      'Requests another path inside a tunnel, where the proxy no longer looks.',
      tunnel(({ web }) => `127.0.0.1:${web}`, SECOND),
    ],
    tunnel_in_tunnel: [
      'Requests a tunnel inside a tunnel.',
      tunnel(({ web }) => `127.0.0.1:${web}`, 'CONNECT 127.0.0.1:FORBIDDEN HTTP/1.1\r\nHost: a\r\n\r\n'),
      { control: { none: 'It needs a second careless proxy behind the first.' } },
    ],
    whole_address_elsewhere: [
      'Names the granted server in the header and another one in the URL.',
      ({ web, forbidden }) => ({
        op: 'proxy',
        pieces: [
          `GET http://127.0.0.1:${forbidden}/ HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\nConnection: close\r\n\r\n`,
        ],
      }),
    ],
  },
);

function tunnel(to: (ports: Ports) => string, then: string): NetworkAttack['params'] {
  return (ports) => {
    const inside = then
      .replaceAll('WEB', `127.0.0.1:${ports.web}`)
      .replaceAll('FORBIDDEN', `${ports.forbidden}`);
    const head = `CONNECT ${to(ports)} HTTP/1.1\r\nHost: 127.0.0.1:${ports.web}\r\n\r\n`;
    return { op: 'proxy', pieces: [head, inside] };
  };
}

const url = ({ web }: Ports, path: string): string => `http://127.0.0.1:${web}${path}`;

const amounts = group(
  { codes: ['skill_error'] },
  {
    endless_response: [
      'Fetches an endless response.',
      (ports) => ({ op: 'large', url: url(ports, '/open/endless'), bytes: 32 * MIB }),
    ],
    many_bytes: [
      'Transfers more bytes in many responses than one may have.',
      (ports) => ({ op: 'large', url: url(ports, '/open/mebibyte'), times: 20, bytes: 20 * MIB }),
    ],
    large_request: [
      'Sends more than a request may contain.',
      (ports) => ({ op: 'post_large', url: url(ports, '/post/x'), bytes: 3 * MIB }),
    ],
    many_requests: [
      'Sends requests endlessly.',
      (ports) => ({ op: 'many', url: url(ports, '/open/harmless'), times: 200 }),
      { codes: ['ok'] },
    ],
    many_names: [
      'Has the host resolve names that carry a message.',
      () => ({ op: 'many', url: 'http://name-NUMBER.many.test/', times: 40 }),
      {
        codes: ['ok'],
        control: { none: "Only the runtime's resolver counts resolved names." },
      },
    ],
    silent_server: [
      'Waits for a server that never answers.',
      (ports) => ({ op: 'silent', url: url(ports, '/open/silent') }),
      { codes: ['ok'] },
    ],
    slow_headers: [
      'Occupies the proxy with endless headers.',
      dawdles('X-A: b\r\n'),
      { codes: ['ok'], ...ONLY_TUNNELS },
    ],
    slow_body: [
      'Occupies the proxy with an endless body.',
      dawdles('x', 'Content-Length: 1000\r\n\r\n'),
      { codes: ['ok'], ...ONLY_TUNNELS },
    ],
    packed_bomb: [
      'Fetches a response that unpacks to two hundred megabytes.',
      (ports) => ({ op: 'bomb', url: url(ports, '/open/bomb'), bytes: 200 * MIB }),
      { codes: ['resource_exceeded'], limits: ['memory'] },
    ],
  },
);

function dawdles(drip: string, head = ''): NetworkAttack['params'] {
  return ({ web }) => ({
    op: 'dawdle',
    piece: `POST http://127.0.0.1:${web}/post/x HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\n${head}`,
    drip,
  });
}

export const BYTE_ATTACKS: readonly NetworkAttack[] = [...smuggling, ...tunnels, ...amounts];
