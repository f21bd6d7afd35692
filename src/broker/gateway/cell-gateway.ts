/**
 * The gateway of one native cell: a proxy on a unix socket in its own folder, with the same checks as for every other
 * request, and the certificates that the cell must trust.
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
import type { CellGateway, GatewayRequest, OpenGateway } from '../../cell/contract.ts';
import { makeRunFolder, type RunFolder } from '../../cell/linux/run-folder.ts';
import { nodeTls } from '../../node-network.ts';
import { Recorded, Records } from '../records.ts';
import { openSecrets } from '../secrets/cell-secrets.ts';
import type { CellSecrets } from '../secrets/contract.ts';
import { Egress, type EgressOptions } from './egress.ts';
import { Proxy } from './proxy/server.ts';
import { createAuthority } from './tls/authority.ts';

export interface GatewayOptions extends EgressOptions {
  /** Folder of the runtime, which contains the sockets. */
  home: string;
}

/** Creates the function that opens gateways of this runtime. */
export function gatewayOpener(options: GatewayOptions): OpenGateway {
  let roots: string | undefined;
  const trusted = (): string => (roots ??= (options.ca ?? nodeTls().getCACertificates('default')).join('\n'));
  return (request) => new Gateway(request, { ...options, trusted });
}

interface OpenOptions extends GatewayOptions {
  /** The CA certificates for cells whose TLS is not inspected. */
  trusted: () => string;
}

class Gateway extends Recorded implements CellGateway {
  readonly folder: string;
  readonly #own: RunFolder | undefined;
  readonly #secrets: CellSecrets;
  readonly #egress: Egress;
  readonly #proxy: Proxy;
  /** The open folder; undefined after `close`. */
  #handle: number | undefined;

  constructor(
    { grant, placeholders, uid, folder }: GatewayRequest,
    { home, trusted, ...options }: OpenOptions,
  ) {
    const records = new Records(grant);
    super(records);
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
      // A cell whose TLS ends here sees no other certificate, so it needs to trust no other.
      this.#setUp(authority?.certificate ?? trusted(), uid);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #setUp(roots: string, uid: number | undefined): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o711 });
    this.#handle = openSync(this.folder, constants.O_DIRECTORY | constants.O_RDONLY);
    writeFileSync(join(this.folder, 'roots.pem'), roots, { mode: 0o644 });
    // Through the open folder, because the path of a socket is limited to 107 bytes.
    this.#proxy.listen(`/proc/self/fd/${this.#handle}/socket`);
    restrictTo(uid, join(this.folder, 'socket'));
  }

  arm(values: ReadonlyMap<string, string>, headers?: Readonly<Record<string, string>>): void {
    this.#secrets.arm(values);
    this.#egress.addHeaders(headers);
  }

  close(): void {
    if (this.#handle === undefined) return;
    this.#egress.close();
    this.#proxy.close();
    // Close it last: the server removes its socket through this descriptor, whose number could be reused otherwise.
    closeSync(this.#handle);
    this.#handle = undefined;
    rmSync(this.folder, { recursive: true, force: true });
    this.#own?.remove();
  }
}

/** Only the cell may connect: other users of the host can find the path in /proc/net/unix. */
function restrictTo(uid: number | undefined, socket: string): void {
  chmodSync(socket, 0o600);
  // The group too: gVisor's gofer may only open files whose uid and gid are both mapped.
  if (uid !== undefined) chownSync(socket, uid, uid);
}
