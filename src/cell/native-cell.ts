/**
 * What a native cell needs beside its process: the gateway if it may reach hosts, and placeholders for its secrets. All
 * of it is made before the process is, because a cell is started ahead of its call.
 *
 * @module
 */
import { owningItself, owningItselfSoon } from '../fault-owner.ts';
import type { StartKind } from '../outcome.ts';
import { hasGateway } from '../policy/grant.ts';
import type { CellGateway, LaunchSpec, OpenGateway, Zygote } from './contract.ts';
import { makePlaceholders } from './placeholders.ts';
import type { Place } from './pool.ts';
import { Session } from './session.ts';

/** Where a cell sees the folder of its gateway. */
const GUEST_FOLDER = '/run/gateway';
/** On the loopback of the cell's own network namespace, so it is free in every cell. */
export const PROXY_PORT = 3128;
const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const ROOTS = `${GUEST_FOLDER}/roots.pem`;

/** What sends ordinary clients to the proxy. curl reads `http_proxy` in lower case alone, others in upper case alone. */
export const GATEWAY_ENV: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  ALL_PROXY: PROXY,
  http_proxy: PROXY,
  https_proxy: PROXY,
  all_proxy: PROXY,
  NODE_USE_ENV_PROXY: '1',
  SSL_CERT_FILE: ROOTS,
  REQUESTS_CA_BUNDLE: ROOTS,
  CURL_CA_BUNDLE: ROOTS,
  NODE_EXTRA_CA_CERTS: ROOTS,
};

export interface NativePlace extends Place {
  openGateway: OpenGateway;
}

/** The program with the way to its gateway. */
export function withGateway(spec: LaunchSpec, folder: string): LaunchSpec {
  return {
    ...spec,
    env: { ...spec.env, ...GATEWAY_ENV },
    gateway: true,
    mounts: [...spec.mounts, { host: folder, guest: GUEST_FOLDER }],
  };
}

interface StartOptions {
  start: StartKind;
  preload: boolean;
}

/** A process of its own. */
export function startNative(place: NativePlace, options: StartOptions): Session {
  return owningItself(() => launchNative(place, options));
}

function launchNative(place: NativePlace, { start, preload }: StartOptions): Session {
  const { wall, artifact, grant } = place;
  const placeholders = makePlaceholders(grant);
  const gateway = gatewayFor(place, placeholders);
  try {
    const spec = artifact.spec(grant);
    const process = wall.launch(gateway ? withGateway(spec, gateway.folder) : spec, grant);
    return new Session({ process, artifact, grant, start, preload, gateway, placeholders });
  } catch (error) {
    gateway?.close();
    throw error;
  }
}

/** A fork of a zygote. */
export function forkNative(place: NativePlace, zygote: Zygote): Promise<Session> {
  return owningItselfSoon(() => fork(place, zygote));
}

async function fork(place: NativePlace, zygote: Zygote): Promise<Session> {
  const { artifact, grant } = place;
  const placeholders = makePlaceholders(grant);
  const gateway = gatewayFor(place, placeholders, zygote.gatewayFolder());
  try {
    const process = await zygote.fork(gateway?.folder);
    return new Session({ process, artifact, grant, start: 'zygote', preload: false, gateway, placeholders });
  } catch (error) {
    gateway?.close();
    throw error;
  }
}

function gatewayFor(
  { wall, grant, artifact, openGateway }: NativePlace,
  placeholders: Readonly<Record<string, string>>,
  folder?: string,
): CellGateway | undefined {
  // Programs without a harness have nobody to carry their connections to a gateway.
  if (!hasGateway(grant) || artifact.engine === 'exec') return undefined;
  return openGateway({ grant, placeholders, uid: wall.identity(grant)?.uid, folder });
}
