/**
 * Attacks on how a request is read, and on how much of everything there is.
 *
 * @module
 */
import { group, type NetworkAttack, type Ports } from './attack.ts';

const MIB = 1024 * 1024;
const NATIVE = { modes: ['subprocess'] } as const;
const ONLY_TUNNELS: Partial<NetworkAttack> = { ...NATIVE, control: 'proxy' };

/** Bytes to the granted server; each line ends as it should, unless it says otherwise. */
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
/** How the engines refuse it differs: the proxy answers with an error, the harness of Wasm knows no such bytes. */
const REFUSED = ['ok', 'skill_error', 'capability_denied'] as const;

const smuggling = group(
  { codes: REFUSED },
  {
    injected_line: [
      'Smuggles a header into the value of another.',
      sends([HOST, 'X-A: b\nX-Injected: yes', CLOSE]),
    ],
    injected_return: [
      'Smuggles a header behind a bare carriage return.',
      sends([HOST, 'X-A: b\rX-Injected: yes', CLOSE]),
      { control: { none: 'The server of the control reads it as one line.' } },
    ],
    folded_header: ['Folds a line into another header.', sends(['X-A: b', ' c', 'Host: evil.test', CLOSE])],
    other_host_header: ['Names another host in the header.', sends(['Host: evil.test', CLOSE])],
    two_host_headers: ['Names two hosts.', sends([HOST, 'Host: evil.test', CLOSE])],
    second_request: ['Sends a second request behind the first.', sends([HOST], { body: SECOND })],
    request_in_body: [
      'Sends a request where a server may see a body or not.',
      sends([HOST, 'Content-Length: 0', 'Content-Length: 66'], { body: SECOND }),
    ],
    length_and_chunks: [
      'Says in two ways where the request ends.',
      sends([HOST, 'Content-Length: 4', 'Transfer-Encoding: chunked'], { body: `0\r\n\r\n${SECOND}` }),
    ],
    odd_chunks: [
      'Spells the encoding in a way that some do not read.',
      sends([HOST, 'Content-Length: 5', 'Transfer-Encoding:\tchunked'], { body: `0\r\n\r\n${SECOND}` }),
    ],
    upgrade: [
      'Asks for a WebSocket that nobody declared.',
      sends([
        HOST,
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: YWJjZGVmZ2hpamtsbW5vcA==',
      ]),
    ],
    hop_header: [
      'Has the proxy take away a header that matters.',
      sends(['Host: evil.test', 'Connection: close, host']),
    ],
    method_override: [
      'Speaks to the server in words of no method.',
      sends([HOST, CLOSE], { line: 'PUT /open/harmless HTTP/1.1' }),
    ],
  },
);

const tunnels = group(
  { codes: REFUSED, ...ONLY_TUNNELS },
  {
    tunnel_elsewhere: [
      'Asks for a tunnel to another server, for the sake of the granted one.',
      tunnel(({ forbidden }) => `127.0.0.1:${forbidden}`, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    ],
    tunnel_spelled: [
      'The same in another spelling.',
      tunnel(({ forbidden }) => `2130706433:${forbidden}`, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    ],
    tunnel_closed_path: [
      'Asks for another path where the proxy no longer looks.',
      tunnel(({ web }) => `127.0.0.1:${web}`, SECOND),
    ],
    tunnel_in_tunnel: [
      'Asks for a tunnel inside of a tunnel.',
      tunnel(({ web }) => `127.0.0.1:${web}`, 'CONNECT 127.0.0.1:FORBIDDEN HTTP/1.1\r\nHost: a\r\n\r\n'),
      { control: { none: 'It takes a second careless proxy behind the first.' } },
    ],
    whole_address_elsewhere: [
      'Names the granted server in the header and another one in the address.',
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
      'Fetches a response that does not end.',
      (ports) => ({ op: 'large', url: url(ports, '/open/endless'), bytes: 32 * MIB }),
    ],
    many_bytes: [
      'Moves more bytes in many responses than in one.',
      (ports) => ({ op: 'large', url: url(ports, '/open/mebibyte'), times: 20, bytes: 20 * MIB }),
    ],
    large_request: [
      'Sends more than a request may hold.',
      (ports) => ({ op: 'post_large', url: url(ports, '/post/x'), bytes: 3 * MIB }),
    ],
    many_requests: [
      'Sends requests without end.',
      (ports) => ({ op: 'many', url: url(ports, '/open/harmless'), times: 200 }),
      { codes: ['ok'] },
    ],
    many_names: [
      'Has the host resolve names that carry a message.',
      () => ({ op: 'many', url: 'http://name-NUMBER.many.test/', times: 40 }),
      {
        codes: ['ok'],
        control: { none: 'Whether names are resolved is counted by the resolver of the runtime.' },
      },
    ],
    silent_server: [
      'Waits for a server that says nothing.',
      (ports) => ({ op: 'silent', url: url(ports, '/open/silent') }),
      { codes: ['ok'] },
    ],
    slow_headers: [
      'Holds the proxy with headers that never end.',
      dawdles('X-A: b\r\n'),
      { codes: ['ok'], ...ONLY_TUNNELS },
    ],
    slow_body: [
      'Holds the proxy with a body that never ends.',
      dawdles('x', 'Content-Length: 1000\r\n\r\n'),
      { codes: ['ok'], ...ONLY_TUNNELS },
    ],
    packed_bomb: [
      'Fetches what unpacks to two hundred megabytes.',
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
