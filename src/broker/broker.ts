/**
 * The broker, the only holder of authority. A cell asks, and the broker acts within the grant of the call.
 *
 * @module
 */
import {
  BrokerRefusal,
  type BrokerReply,
  type BrokerRequest,
  type CallBroker,
  type CallSecrets,
  type InnerCalls,
} from '../cell/contract.ts';
import type { Bundle } from '../load/bundle.ts';
import type { Grant } from '../policy/grant.ts';
import { FileBroker } from './files.ts';
import { HttpBroker, type HttpOptions } from './gateway/frames.ts';
import { Recorded, Records } from './records.ts';
import { SkillBroker } from './skills.ts';
import { openSecrets } from './secrets/cell-secrets.ts';
import type { CellSecrets } from './secrets/contract.ts';

export interface BrokerOptions extends Omit<HttpOptions, 'secrets'> {
  secrets?: CallSecrets;
  /** Makes calls of other skills; absent: the call may make none. */
  inner?: InnerCalls | undefined;
}

/** Opens the broker of one call. */
export function openBroker(grant: Grant, bundle: Bundle, options: BrokerOptions = {}): CallBroker {
  return new Broker(grant, bundle, options);
}

class Broker extends Recorded implements CallBroker {
  readonly #files: FileBroker;
  readonly #http: HttpBroker;
  readonly #skills: SkillBroker;

  constructor(grant: Grant, bundle: Bundle, options: BrokerOptions) {
    super(new Records(grant));
    this.#files = new FileBroker(grant, bundle, this.records);
    const secrets = armedSecrets(grant, this.records, options.secrets);
    this.#http = new HttpBroker(grant, this.records, { ...options, secrets });
    this.#skills = new SkillBroker(options.inner, this.records);
  }

  async handle(request: BrokerRequest): Promise<BrokerReply> {
    const reply =
      (await this.#files.handle(request)) ??
      (await this.#http.handle(request)) ??
      (await this.#skills.handle(request));
    if (reply) return reply;
    throw new BrokerRefusal('nosys', `Unknown broker request "${request.op.slice(0, 40)}"`);
  }

  close(): void {
    this.#files.close();
    this.#http.close();
    this.#skills.close();
  }
}

function armedSecrets(
  grant: Grant,
  records: Records,
  { placeholders, values }: CallSecrets = { placeholders: {}, values: new Map() },
): CellSecrets {
  const secrets = openSecrets({
    granted: grant.secrets ?? [],
    network: grant.network,
    placeholders,
    records,
  });
  secrets.arm(values);
  return secrets;
}
