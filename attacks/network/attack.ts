/**
 * What an attack through the gateway is: what the skill is told, and what must come of it.
 *
 * @module
 */
import type { Attack } from '../runner/attack.ts';

export type NetworkMode = 'subprocess' | 'wasm';

/** Ports of the servers around the cell, all on loopback. */
export interface Ports {
  /** Partly granted; the same port of 127.0.0.2 is fully granted, but the key is not for it. */
  web: number;
  forbidden: number;
  /** Speaks TLS. */
  tls: number;
}

/**
 * The skill's grant: for plain HTTP; for inspected TLS; for TLS that passes unread, which only
 * native cells have.
 */
export type GrantName = 'plain' | 'seen' | 'unread';

/** Shown to work with an unchecked client, or behind a careless proxy. */
export interface NetworkAttack extends Attack<'client' | 'proxy'> {
  description: string;
  modes: readonly NetworkMode[];
  grant: GrantName;
  params: (ports: Ports) => Record<string, unknown>;
  /** What a denial must be about. */
  capability: 'network' | 'secret';
  timeout: number;
}

type Shared = Partial<Omit<NetworkAttack, 'name' | 'description' | 'params'>> & Pick<NetworkAttack, 'codes'>;
type Entry = readonly [description: string, params: NetworkAttack['params'], own?: Partial<Shared>];

const DEFAULTS = {
  modes: ['subprocess', 'wasm'],
  grant: 'plain',
  limits: [],
  capability: 'network',
  timeout: 20_000,
  control: 'client',
} as const;

/** Attacks that have most in common, by name. */
export function group(shared: Shared, entries: Readonly<Record<string, Entry>>): NetworkAttack[] {
  return Object.entries(entries).map(([name, [description, params, own]]) =>
    Object.assign({}, DEFAULTS, shared, own, { name: `net_${name}`, description, params }),
  );
}

/** A request as a library makes it. */
export function fetches(url: (ports: Ports) => string, more: object = {}): NetworkAttack['params'] {
  return (ports) => ({ op: 'fetch', url: url(ports), ...more });
}

/** A page of the server that is partly granted. */
export function page(path: string, more: object = {}): NetworkAttack['params'] {
  return fetches(({ web }) => `http://127.0.0.1:${web}${path}`, more);
}
