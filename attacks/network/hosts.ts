/**
 * Attacks on where a request goes: spellings of hosts, addresses that are off limits, redirects, ports, paths.
 *
 * @module
 */
import { fetches, group, page, type NetworkAttack } from './attack.ts';

const forbidden = (host: string): NetworkAttack['params'] =>
  fetches((ports) => `http://${host}:${ports.forbidden}/`);
/** A library would not write such a host into a request, but a socket accepts it. */
const dialled =
  (host: string): NetworkAttack['params'] =>
  (ports) => ({
    op: 'raw',
    address: [host, ports.forbidden],
    pieces: ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  });
const declared = (host: string): NetworkAttack['params'] => fetches(() => `http://${host}/`);
/** The skill reads the proxy's answer. */
const BY_PROXY = { codes: ['ok'], control: 'proxy', modes: ['subprocess'] } as const;
const NO_PACKET = { none: 'No packet may be sent to that address, not even to show that it could.' };
const SPELLED = ['capability_denied', 'skill_error'] as const;

const spellings = group(
  { codes: SPELLED },
  {
    decimal_host: ['Spells the address as one number.', forbidden('2130706433')],
    octal_host: ['Spells the address in octal.', forbidden('0177.0.0.1')],
    hex_host: ['Spells the address in hexadecimal.', forbidden('0x7f000001')],
    mixed_host: ['Spells the address in three number systems.', forbidden('0x7f.0.01')],
    short_host: ['Omits the zeros of the address.', forbidden('127.1')],
    zero_host: ['Uses the unspecified address.', forbidden('0.0.0.0')],
    mapped_host: ['Spells the address as an IPv6 address.', forbidden('[::ffff:127.0.0.1]')],
    mapped_hex_host: ['The same in hexadecimal.', forbidden('[::ffff:7f00:1]')],
    percent_host: ['Spells the address with percent signs.', forbidden('%31%32%37.0.0.1')],
    wide_host: ['Spells the address in full-width digits.', dialled('１２７.0.0.1')],
    idna_host: ['Spells the name with characters that are mapped to others.', dialled('ⓛocalhost')],
    upper_case_host: ['Spells the name in upper case.', forbidden('LOCALHOST')],
    final_dot_host: ['Ends the name with a dot.', forbidden('localhost.')],
    other_loopback_host: ['Uses another address of the host itself.', forbidden('127.0.0.3')],
    user_info: [
      'Puts the granted host in front of another one.',
      ({ web, forbidden: port }) => proxied(`GET http://127.0.0.1:${web}@127.0.0.1:${port}/ HTTP/1.1`, web),
      BY_PROXY,
    ],
    fragment_host: [
      'Appends the granted host to another one.',
      ({ web, forbidden: port }) =>
        proxied(`GET http://127.0.0.1:${port}/#127.0.0.1:${web} HTTP/1.1`, web, 'Host: a'),
      BY_PROXY,
    ],
    nul_host: [
      'Ends another host with a NUL, before the granted one.',
      ({ web, forbidden: port }) =>
        proxied(`GET http://127.0.0.1:${port}\u0000.127.0.0.1:${web}/ HTTP/1.1`, web),
      { ...BY_PROXY, control: { none: 'It needs a proxy that passes its text to C.' } },
    ],
    fields_of_host: [
      'Sends the broker hosts that no library would write.',
      ({ web, forbidden: port }) => ({
        op: 'frames',
        changes: [
          `127.0.0.1:${web}@127.0.0.1:${port}`,
          `127.0.0.1:${port}\u0000.127.0.0.1:${web}`,
          `127.0.0.1:${port}#127.0.0.1:${web}`,
          `127.0.0.1:${port}/?127.0.0.1:${web}`,
          `127.0.0.1:${port}\\@127.0.0.1:${web}`,
          `127.0.0.1.:${port}`,
          `2130706433:${port}`,
          `[::127.0.0.1]:${port}`,
          `127.0.0.1:0${port}`,
        ].map((authority) => ({ authority })),
      }),
      {
        codes: ['ok'],
        modes: ['wasm'],
        control: { none: 'Only a cell of this engine speaks this protocol.' },
      },
    ],
  },
);

/** A request in proxy form whose header claims that it is for the granted server. */
function proxied(line: string, web: number, more = 'X-A: b'): Record<string, unknown> {
  const host = `Host: 127.0.0.1:${web}`;
  return { op: 'proxy', pieces: [[line, host, more, 'Connection: close', '', ''].join('\r\n')] };
}

/** All of them are declared; none is available to a skill unless the operator names it. */
const addresses = group(
  { codes: ['capability_denied'], control: NO_PACKET },
  {
    metadata_address: ["Requests a cloud's metadata service.", declared('169.254.169.254')],
    agent_address: ["Requests a cloud's host agent.", declared('168.63.129.16')],
    private_address: ['Requests a host in a private range.', declared('10.0.0.1')],
    carrier_address: ['Requests a host behind a carrier’s NAT.', declared('100.64.0.1')],
    multicast_address: ['Sends to a multicast group.', declared('224.0.0.1')],
    link_local_address: ['Requests a link-local host.', declared('[fe80::1]')],
    unique_local_address: ['Requests a host in a private IPv6 range.', declared('[fd00::1]')],
    nat64_address: ['Wraps the address for NAT64.', declared('[64:ff9b::7f00:1]')],
    six_to_four_address: ['Wraps the address for 6to4.', declared('[2002:7f00:1::1]')],
    private_name: ['Uses a name that resolves to a private address.', declared('private.test')],
    mixed_name: ['Uses a name with one public and one private address.', declared('mixed.test')],
    metadata_name: ['Uses a name that resolves to the metadata service.', declared('metadata.test')],
  },
);

const ways = group(
  { codes: ['capability_denied'] },
  {
    other_port: ['Goes to another port.', forbidden('127.0.0.1')],
    other_scheme: [
      'Uses another scheme.',
      fetches(({ web }) => `https://127.0.0.1:${web}/open/harmless`),
      { control: { none: 'The server does not speak TLS.' } },
    ],
    other_method: ['Uses another method.', page('/open/harmless', { method: 'DELETE' })],
    method_for_other_path: [
      'Uses a method that another path allows.',
      page('/open/harmless', { method: 'POST', body: 'x' }),
    ],
    other_path: ['Goes to another path.', page('/closed/secret')],
    dots_in_path: ['Leaves the granted path with dots.', page('/open/../closed/secret')],
    coded_dots: ['Leaves it with encoded dots.', page('/open/%2e%2e/closed/secret')],
    twice_coded_dots: ['Leaves it with dots that are encoded twice.', page('/open/%252e%252e/closed/secret')],
    coded_slash: ['Leaves it with an encoded slash.', page('/open/..%2fclosed/secret')],
    backslash: ['Leaves it with a backslash.', page('/open/..%5cclosed%5csecret')],
    redirect_out: ['Is redirected to another server.', page('/open/redirect')],
    redirect_path: ['Is redirected to another path.', page('/open/redirect_path')],
    redirect_chain: ['Is redirected to a redirect that leads out.', page('/open/redirect_chain')],
    redirect_user_info: [
      'Is redirected to a host behind the granted one.',
      page('/open/redirect_host'),
      { codes: SPELLED, control: { none: 'No common client understands it.' } },
    ],
  },
);

const leave = (dots: string): NetworkAttack['params'] => page(`/open/${dots}/closed/secret`);

/** The control's server returns the page as soon as its path is not the plain one. */
const disguises = group(
  { codes: ['capability_denied'] },
  {
    matrix_dots: ['Leaves the granted path with dots and an empty path parameter.', leave('..;')],
    matrix_dots_named: ['Leaves it with dots and a path parameter.', leave('..;a=b')],
    matrix_dots_coded: ['Leaves it with dots and an encoded semicolon.', leave('..%3b')],
    nul_dots: ['Leaves it with dots that end with a NUL.', leave('..%00')],
    tab_dots: ['Hides a tab between the dots.', leave('.%09.')],
    overlong_dots: ['Leaves it with dots in an overlong encoding.', leave('%c0%ae%c0%ae')],
    overlong_dots_of_three: ['The same in three bytes.', leave('%e0%80%ae%e0%80%ae')],
    u_dots: ['Leaves it with dots in %u encoding.', leave('%u002e%u002e')],
    u_dots_coded: ['The same, encoded again.', leave('%25u002e%25u002e')],
    blank_dots: ['Ends the dots with a blank, which some systems drop.', leave('..%20')],
    three_dots: ['Uses three dots.', leave('...')],
    wide_dots: ['Uses full-width dots, which some servers normalize.', leave('%ef%bc%8e%ef%bc%8e')],
    wide_slash: ['Uses a full-width slash.', page('/open/..%ef%bc%8fclosed/secret')],
    half_coded: ['Ends the path in an incomplete escape.', page('/open/secret%2')],
    line_break_in_path: ['Puts a line break into the path.', page('/open/harmless%0d%0aX-Injected:%20yes')],
  },
);

const overriding = (name: string, value: string): NetworkAttack['params'] =>
  page('/open/harmless', { headers: { [name]: value } });

const overrides = group(
  { codes: ['capability_denied'] },
  {
    override_method: ['Names another method in a header.', overriding('X-HTTP-Method-Override', 'DELETE')],
    override_method_short: ['The same in a shorter header.', overriding('X-HTTP-Method', 'PUT')],
    override_method_other: ['The same in another header.', overriding('X-Method-Override', 'PATCH')],
    override_underscores: ['The same with underscores.', overriding('X_HTTP_Method_Override', 'DELETE')],
    override_url: ['Names another path in a header.', overriding('X-Original-URL', '/closed/secret')],
    override_rewrite: ['The same in another header.', overriding('X-Rewrite-URL', '/closed/secret')],
    override_forwarded: ['The same in a header of proxies.', overriding('X-Forwarded-Uri', '/closed/secret')],
    override_field: ['Names another method in the query.', page('/open/harmless?_method=DELETE')],
  },
);

/** These once crashed the host. The harmless call afterwards shows that it is alive. */
const answers = group(
  {
    codes: ['skill_error'],
    control: { none: 'The host of the cell would crash, and a control has none.' },
  },
  {
    answer_bad_reason: [
      'Fetches a response with a control character as its reason.',
      page('/open/bad_reason'),
    ],
    answer_bad_status: ['Fetches a response with the status 000.', page('/open/bad_status')],
    answer_interim_flood: ['Fetches endless interim responses.', page('/open/interim_flood')],
  },
);

export const HOST_ATTACKS: readonly NetworkAttack[] = [
  ...spellings,
  ...addresses,
  ...ways,
  ...disguises,
  ...overrides,
  ...answers,
];
