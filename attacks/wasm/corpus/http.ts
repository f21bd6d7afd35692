/**
 * Attacks through HTTP. Every server is on this machine's loopback and was started for the attack.
 *
 * @module
 */
import { group, type Draft, type Scene, type WasmAttack } from '../attack.ts';
import { FETCH } from '../interfaces.ts';

/** The only granted part of the only granted server. */
const granted = ({ webPort }: Scene) => ({
  capabilities: {
    network: [{ host: '127.0.0.1', port: webPort, scheme: 'http', methods: ['GET'], paths: ['/open/*'] }],
  },
  limits: { output: '1MiB', memory: '256MiB' },
});

/** A rule for a name that resolves to the host itself. */
const named = ({ setting }: Scene) => ({
  capabilities: { network: [{ host: 'localhost', port: setting.params.tcp_port, scheme: 'http' }] },
});

const page = (path: string): Draft => ({
  params: ({ webPort }) => ({ url: `http://127.0.0.1:${webPort}${path}` }),
});
/** The neighbour, whose port no rule covers, by various spellings of its address. */
const neighbour = (host: string): Draft => ({
  params: ({ setting }) => ({ url: `http://${host}:${setting.params.tcp_port}/` }),
});

const SHARED: Draft = { program: 'fetch_url', component: { imports: [FETCH] }, web: true, manifest: granted };

const denied = group(
  { ...SHARED, codes: ['capability_denied'] },
  {
    fetch_other_port: ['Sends a request to another port of the granted host.', neighbour('127.0.0.1')],
    fetch_other_path: ['Fetches a path that no rule covers.', page('/closed/secret')],
    fetch_path_with_dots: ['Leaves the granted path with dots.', page('/open/../closed/secret')],
    fetch_path_with_coded_dots: [
      'Leaves the granted path with encoded dots.',
      page('/open/%2e%2e/closed/secret'),
    ],
    fetch_other_method: ['Uses another method.', { ...page('/open/harmless'), program: 'post_url' }],
    fetch_other_scheme: [
      'Uses another scheme.',
      {
        params: ({ webPort }) => ({ url: `https://127.0.0.1:${webPort}/open/harmless` }),
        control: { none: 'The server does not speak TLS.' },
      },
    ],
    fetch_undeclared_host: [
      'Sends a request to a host that no rule names.',
      {
        ...neighbour('127.0.0.1'),
        manifest: () => ({ capabilities: { network: [{ host: 'api.example' }] } }),
      },
    ],
    fetch_without_network: [
      'Sends a request without any rule.',
      { ...neighbour('127.0.0.1'), manifest: () => ({}), codes: ['manifest_drift'] },
    ],
    fetch_private_name: [
      'Sends a request to a granted name that resolves to a private address.',
      { ...neighbour('localhost'), manifest: named },
    ],
  },
);

/** Some are denied by a rule, others are not valid addresses. */
const spelled = group(
  { ...SHARED, codes: ['capability_denied', 'skill_error'] },
  {
    fetch_decimal_address: ['Spells an address as one number.', neighbour('2130706433')],
    fetch_hex_address: ['Spells an address in hexadecimal.', neighbour('0x7f000001')],
    fetch_octal_address: ['Spells an address in octal.', neighbour('0177.0.0.1')],
    fetch_short_address: ['Spells an address with two numbers.', neighbour('127.1')],
    fetch_mapped_address: ['Spells an address as an IPv6 address.', neighbour('[::ffff:127.0.0.1]')],
    fetch_zero_address: ['Uses the unspecified address.', neighbour('0.0.0.0')],
    fetch_wide_address: ['Spells an address in full-width digits.', neighbour('１２７.0.0.1')],
    fetch_with_userinfo: [
      'Puts the granted host in front of another one.',
      {
        params: ({ setting, webPort }) => ({
          url: `http://127.0.0.1:${webPort}@127.0.0.1:${setting.params.tcp_port}/`,
        }),
      },
    ],
    fetch_with_host_header: [
      'Names another host in a header.',
      { ...page('/open/headers'), program: 'fetch_with_host_header' },
    ],
    fetch_with_injected_header: [
      'Smuggles a header into the value of another.',
      { ...page('/open/headers'), program: 'fetch_with_injected_header' },
    ],
    fetch_with_length_header: [
      'Sets the length of the request.',
      { ...page('/open/headers'), program: 'fetch_with_length_header' },
    ],
    fetch_with_odd_method: [
      'Smuggles a request into the method.',
      {
        ...page('/open/harmless'),
        program: 'fetch_with_odd_method',
        control: { none: 'The server refuses it.' },
      },
    ],
  },
);

const flows = group(
  { ...SHARED, codes: ['resource_exceeded'] },
  {
    fetch_redirect: [
      'Is redirected to a host that no rule covers.',
      { ...page('/open/redirect'), codes: ['ok'] },
    ],
    fetch_huge: [
      'Fetches a response of 64 MB.',
      { ...page('/open/huge'), codes: ['skill_error'], control: { judge: 'chokes-reader' } },
    ],
    fetch_slow: [
      'Fetches a response that never ends.',
      { ...page('/open/slow'), limits: ['timeout'], timeout: 1000, control: { judge: 'hangs' } },
    ],
  },
);

export const HTTP_ATTACKS: readonly WasmAttack[] = [...denied, ...spelled, ...flows];
