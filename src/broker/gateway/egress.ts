/**
 * The way out of one call: requests and tunnels that passed the checks, within the budget of the call, over
 * connections that no other call shares.
 *
 * @module
 */
import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { connect, type Socket } from 'node:net';
import { BrokerRefusal } from '../../cell/contract.ts';
import type { Grant } from '../../policy/grant.ts';
import type { Records } from '../records.ts';
import type { Target } from '../secrets/audience.ts';
import type { ByteFilter, CellSecrets } from '../secrets/contract.ts';
import { Checks, type Lookup } from './checks.ts';
import {
  fillRequest,
  leavingFrom,
  pinnedTo,
  sendRequest,
  targetOf,
  withHeaders,
  type Answer,
  type SendOptions,
} from './exchange.ts';
import { asRefusal } from './failures.ts';
import { Budget, type GatewayLimits } from './limits.ts';
import { shown, type HttpRequest } from './request.ts';
import { assertWellFormed, headerPairs } from './response-head.ts';

export interface EgressOptions {
  /** All addresses of a name. */
  lookup?: Lookup | undefined;
  /** Addresses of the machine itself; those of its interfaces when absent. */
  own?: (() => string[]) | undefined;
  /** How long a server may be silent; in milliseconds. */
  timeoutMs?: number | undefined;
  /** Certificates (PEM) of those who vouch for servers; absent: whom Node trusts. */
  ca?: string[] | undefined;
  limits?: Partial<GatewayLimits> | undefined;
  /** Added to every request, instead of what the skill says under these names. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The host's own address that connections leave from. From a loopback address none leaves the machine. */
  localAddress?: string | undefined;
}

export interface HttpResponse {
  status: number;
  statusText: string;
  headers: [string, string][];
  message: IncomingMessage;
  upgraded?: Answer['upgraded'];
  /** Counts bytes of the body, and covers secrets in them. Throws when it is too much. */
  take(chunk: Uint8Array): Uint8Array;
  /** What was held back, at the end of the body. */
  rest(): Uint8Array;
  close(): void;
}

export class Egress {
  readonly checks: Checks;
  readonly budget: Budget;
  readonly timeoutMs: number;
  readonly #options: EgressOptions;
  readonly #secrets: CellSecrets | undefined;
  /** Made with the first request: most calls have none. */
  #means: Pick<SendOptions, 'agents' | 'signal'> | undefined;
  /** Made when there is something to end: most calls ask for nothing. */
  #ended: AbortController | undefined;
  #headers: EgressOptions['headers'];
  #isClosed = false;

  constructor(
    { grant, records, secrets }: { grant: Grant; records: Records; secrets?: CellSecrets | undefined },
    options: EgressOptions = {},
  ) {
    this.#options = options;
    this.#secrets = secrets;
    this.#headers = options.headers;
    this.budget = new Budget(options.limits);
    this.timeoutMs = options.timeoutMs ?? 30_000;
    const maxNames = this.budget.limits.names;
    const { lookup, own } = options;
    this.checks = new Checks({ grant, records, lookup, own, maxNames });
  }

  /**
   * Checks the request, sends it, and waits for the head of the response. The body is asked for when the request has
   * passed: nobody waits for the bytes of one that is denied.
   */
  async send(request: HttpRequest, readBody: () => Promise<Uint8Array>): Promise<HttpResponse> {
    const addresses = await this.checks.request(request);
    const leave = this.budget.enter();
    try {
      const body = await readBody();
      this.#assertOpen();
      if (body.length > this.budget.limits.requestBytes)
        throw new BrokerRefusal('toobig', 'the request is too large');
      this.budget.spend(body.length);
      const filled = withHeaders(await fillRequest(request, body, this.#secrets), this.#headers);
      this.#assertOpen();
      this.checks.noteUse(shown(request));
      const { ca, localAddress } = this.#options;
      const { timeoutMs } = this;
      const sent = await sendRequest(filled, { addresses, timeoutMs, ca, localAddress, ...this.#open() });
      return this.#checked(sent, targetOf(request.url), leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** For a gateway that is there before its call is. */
  addHeaders(headers: EgressOptions['headers']): void {
    this.#headers = headers;
  }

  /** A connection to one of the addresses. The caller has had them checked. */
  async dial(port: number, addresses: string[]): Promise<Socket> {
    this.#assertOpen();
    const [host = ''] = addresses;
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const socket = connect({
      host: addresses.length === 1 ? host : 'pinned',
      port,
      lookup: pinnedTo(addresses),
      ...leavingFrom(this.#options.localAddress),
      noDelay: true,
    });
    const signal = this.#signal();
    const abort = (): void => {
      socket.destroy(new BrokerRefusal('badf', 'the call is over'));
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.setTimeout(this.timeoutMs, () =>
      socket.destroy(new BrokerRefusal('timedout', 'no answer in time')),
    );
    socket.once('connect', () => resolve(socket));
    socket.on('error', (error) => reject(asRefusal(error)));
    socket.once('close', () => signal.removeEventListener('abort', abort));
    return promise;
  }

  /** Ends what is under way: nothing of it reaches anybody any more. */
  close(): void {
    this.#isClosed = true;
    this.#ended?.abort();
    this.#means?.agents.http.destroy();
    this.#means?.agents.https.destroy();
  }

  #open(): Pick<SendOptions, 'agents' | 'signal'> {
    this.#means ??= {
      signal: this.#signal(),
      agents: { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) },
    };
    return this.#means;
  }

  #signal(): AbortSignal {
    this.#ended ??= new AbortController();
    return this.#ended.signal;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new BrokerRefusal('badf', 'the call is over');
  }

  /** What no client may be told is not passed on, and the connection is of no use either. */
  #checked(answer: Answer, from: Target, leave: () => void): HttpResponse {
    try {
      assertWellFormed(answer.message, answer.upgraded !== undefined);
      return this.#describe(answer, from, leave);
    } catch (error) {
      drop(answer);
      throw error;
    }
  }

  #describe({ message, outgoing, upgraded }: Answer, from: Target, leave: () => void): HttpResponse {
    const secrets = this.#secrets;
    const cover = (text: string): string => secrets?.coverText(text, from) ?? text;
    const filter = secrets?.responseFilter(from);
    return {
      status: message.statusCode ?? 0,
      statusText: cover(message.statusMessage ?? ''),
      headers: headerPairs(message).map(([name, value]) => [cover(name), cover(value)]),
      message,
      ...(upgraded ? { upgraded } : {}),
      ...this.#bodyOf(filter),
      close: () => {
        leave();
        // A body that was read to its end leaves its connection for the next request.
        if (!message.readableEnded) drop({ message, outgoing, upgraded });
      },
    };
  }

  #bodyOf(filter: ByteFilter | undefined): Pick<HttpResponse, 'take' | 'rest'> {
    const { limits } = this.budget;
    let received = 0;
    return {
      take: (chunk) => {
        received += chunk.length;
        this.budget.spend(chunk.length);
        if (received > limits.responseBytes) throw new BrokerRefusal('toobig', 'the response is too large');
        return filter?.push(chunk) ?? chunk;
      },
      rest: () => filter?.end() ?? new Uint8Array(),
    };
  }
}

function drop({ message, outgoing, upgraded }: Answer): void {
  upgraded?.socket.destroy();
  message.destroy();
  outgoing.destroy();
}
