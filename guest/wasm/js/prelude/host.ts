/**
 * The host functions, as the cell passes them. The prelude is JavaScript that runs inside the sandbox, before the skill:
 * it turns them into the APIs that programs expect. It has no more rights than the skill itself.
 *
 * @module
 */

export interface HostFunctions {
  log: (text: string) => void;
  random: (length: number) => Uint8Array;
  encode: (text: string) => Uint8Array;
  decode: (bytes: Uint8Array, flags: number) => string | undefined;
  note: (text: string) => void;
  // oxlint-disable-next-line max-params -- as defined by the host
  start: (id: number, name: string, args: string, bytes?: Uint8Array) => void;
  cancel: (id: number) => void;
  reply: (kind: string, text: string) => void;
}

/** Functions that the host calls. */
export interface EntryPoints {
  load: () => void;
  serve: (params: string) => void;
  settle: (id: number, text: string, bytes?: Uint8Array) => void;
  rejected: (reason: unknown) => void;
}

export interface Init {
  /** Full name of the skill's module. */
  entry: string;
  env: Record<string, string>;
  declaredEnv: string[];
  observe: boolean;
  skills?: true;
}

type Exchange = HostFunctions & Partial<EntryPoints> & { init: string };

/** Where the cell stores it. */
const NAME = '__skillcell';
const place = globalThis as unknown as Record<string, Exchange>;
const exchange = place[NAME] as Exchange;
delete place[NAME];

export const host: HostFunctions = { ...exchange };
export const init: Init = JSON.parse(exchange.init) as Init;

export function enterAt(entries: EntryPoints): void {
  Object.assign(exchange, entries);
}
