/**
 * The environment of cells, the directory of commands, and the variables that send native programs to the gateway.
 *
 * @module
 */
import { GUEST_WORKSPACE } from '../policy/guest-paths.ts';
import type { Grant } from '../policy/grant.ts';
import type { LaunchSpec } from './contract.ts';

/** The minimal environment of every cell; granted variables are added to it. */
export const BASE_ENV: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
};

/** Where a cell sees the packages of a skill. */
export const GUEST_PACKAGES = '/deps';

/** The workspace, so that relative paths mean what they mean to the caller; without one, scratch space. */
export function workingFolder({ filesystem }: Grant): string {
  return filesystem.some(({ guest, isFile }) => guest === GUEST_WORKSPACE && !isFile)
    ? GUEST_WORKSPACE
    : '/tmp';
}

/** What an ordinary script needs; nothing of the host. */
export function commandEnv(grant: Grant, packages: string | undefined): Record<string, string> {
  return {
    PATH: `${BASE_ENV['PATH']}:/node`,
    PWD: workingFolder(grant),
    // For interpreters that a script starts itself.
    PYTHONUTF8: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    ...(packages === undefined ? {} : { PYTHONPATH: GUEST_PACKAGES }),
  };
}

/** Where a cell sees the folder of its gateway. */
const GUEST_FOLDER = '/run/gateway';
/** On the loopback of the cell's own network namespace, so it is free in each cell. */
export const PROXY_PORT = 3128;
const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const ROOTS = `${GUEST_FOLDER}/roots.pem`;

/** Sends ordinary clients to the proxy. curl reads only the lower-case `http_proxy`, others only upper case. */
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

/** Adds the gateway's folder and variables to a program. */
export function withGateway(spec: LaunchSpec, folder: string): LaunchSpec {
  return {
    ...spec,
    env: { ...spec.env, ...GATEWAY_ENV },
    gateway: true,
    mounts: [...spec.mounts, { host: folder, guest: GUEST_FOLDER }],
  };
}
