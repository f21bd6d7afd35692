/**
 * The gateway of one native cell: a proxy on a unix socket in a folder of its own, over the same checks as every other
 * request, and the certificates that the cell is to trust.
 *
 * @module
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import type { CellGateway, GatewayRequest, OpenGateway } from '../../cell/contract.ts';
import { makeRunFolder, type RunFolder } from '../../cell/run-folder.ts';
import type { CapabilityEvent, EventsCut } from '../../outcome.ts';
import { Records } from '../records.ts';
import { openSecrets } from '../secrets/cell-secrets.ts';
import type { CellSecrets } from '../secrets/contract.ts';
import { Egress, type EgressOptions } from './egress.ts';
import { Proxy } from './proxy/server.ts';
import { createAuthority } from './tls/authority.ts';

export interface GatewayOptions extends EgressOptions {
  /** Folder of the runtime; sockets live below it. */
  home: string;
}

/** How gateways of this runtime are opened. */
export function gatewayOpener(options: GatewayOptions): OpenGateway {
  let roots: string | undefined;
  const trusted = (): string => (roots ??= (options.ca ?? getCACertificates('default')).join('\n'));
  return (request) => new Gateway(request, { ...options, trusted });
}

interface OpenOptions extends GatewayOptions {
  /** The certificates of those who vouch for servers, when TLS passes unread. */
  trusted: () => string;
}

class Gateway implements CellGateway {
  readonly folder: string;
  readonly #own: RunFolder | undefined;
  readonly #records: Records;
  readonly #secrets: CellSecrets;
  readonly #egress: Egress;
  readonly #proxy: Proxy;
  /** The open folder; undefined when all is closed. */
  #handle: number | undefined;

  constructor(
    { grant, placeholders, uid, folder }: GatewayRequest,
    { home, trusted, ...options }: OpenOptions,
  ) {
    const records = new Records(grant);
    this.#records = records;
    this.#secrets = openSecrets({
      granted: grant.secrets ?? [],
      network: grant.network,
      placeholders,
      records,
    });
    this.#egress = new Egress({ grant, records, secrets: this.#secrets }, options);
    const authority = grant.inspectTls === true ? createAuthority() : undefined;
    this.#proxy = new Proxy({ egress: this.#egress, authority });
    this.#own = folder === undefined ? makeRunFolder(home) : undefined;
    this.folder = folder ?? this.#own?.path ?? '';
    try {
      // A cell whose TLS ends here meets no other certificate, so it has to trust no other.
      this.#furnish(authority?.certificate ?? trusted(), uid);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #furnish(roots: string, uid: number | undefined): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o711 });
    this.#handle = openSync(this.folder, constants.O_DIRECTORY | constants.O_RDONLY);
    writeFileSync(join(this.folder, 'roots.pem'), roots, { mode: 0o644 });
    // By way of the open folder: a socket's path may have no more than 107 bytes.
    this.#proxy.listen(`/proc/self/fd/${this.#handle}/socket`);
    giveTo(uid, join(this.folder, 'socket'));
  }

  get used(): CapabilityEvent[] {
    return this.#records.used;
  }

  get denied(): CapabilityEvent[] {
    return this.#records.denied;
  }

  get cut(): EventsCut {
    return this.#records.cut;
  }

  arm(values: ReadonlyMap<string, string>, headers?: Readonly<Record<string, string>>): void {
    this.#secrets.arm(values);
    this.#egress.addHeaders(headers);
  }

  close(): void {
    if (this.#handle === undefined) return;
    this.#egress.close();
    this.#proxy.close();
    // Not earlier: a server removes the path it listens on, and by then the number could be another folder's.
    closeSync(this.#handle);
    this.#handle = undefined;
    rmSync(this.folder, { recursive: true, force: true });
    this.#own?.remove();
  }
}

/** The socket is the cell's alone: other users of the host can find its path in /proc/net/unix. */
function giveTo(uid: number | undefined, socket: string): void {
  chmodSync(socket, 0o600);
  // Its group, too: what opens files for gVisor may only open what both of its ids are known for.
  if (uid !== undefined) chownSync(socket, uid, uid);
}
