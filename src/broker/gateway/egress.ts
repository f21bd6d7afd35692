/**
 * Outgoing traffic of one call: requests and tunnels that passed the checks, within the budget of the call, over connections
 * that no other call shares.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { BrokerRefusal } from '../../cell/contract.ts';
import { nodeHttp, nodeHttps } from '../../node-network.ts';
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
import { toRefusal } from './failures.ts';
import { Budget, type GatewayLimits } from './limits.ts';
import { describeRequest, type HttpRequest } from './request.ts';
import { assertWellFormed, headerPairs } from './response-head.ts';

/** What the gateway of one call may reach, and on whose behalf. */
export interface EgressOptions {
  /** Resolves a name to all its addresses. */
  lookup?: Lookup | undefined;
  /** Addresses of the machine itself; absent: those of its interfaces. */
  own?: (() => string[]) | undefined;
  /** How long a server may be silent, in milliseconds. */
  timeoutMs?: number | undefined;
  /** CA certificates (PEM) for servers; absent: those that Node trusts. */
  ca?: string[] | undefined;
  limits?: Partial<GatewayLimits> | undefined;
  /** Added to every request; they replace headers of the skill with the same names. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The local address for connections. With a loopback address, no connection can leave the machine. */
  localAddress?: string | undefined;
}

export interface HttpResponse {
  status: number;
  statusText: string;
  headers: [string, string][];
  message: IncomingMessage;
  upgraded?: Answer['upgraded'];
  /** Counts bytes of the body and masks secrets in them. Throws when a limit is exceeded. */
  take(chunk: Uint8Array): Uint8Array;
  /** The bytes that were held back, at the end of the body. */
  rest(): Uint8Array;
  close(): void;
}

export class Egress {
  readonly checks: Checks;
  readonly budget: Budget;
  readonly timeoutMs: number;
  readonly #options: EgressOptions;
  readonly #secrets: CellSecrets | undefined;
  /** Created with the first request, because most calls make none. */
  #transport: Pick<SendOptions, 'agents' | 'signal'> | undefined;
  /** Created with the first connection, because most calls open none. */
  #controller: AbortController | undefined;
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
   * Checks the request, sends it, and waits for the head of the response. The body is read only after the checks, so that a
   * denied request does not wait for it.
   */
  async send(request: HttpRequest, readBody: () => Promise<Uint8Array>): Promise<HttpResponse> {
    this.budget.ask();
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
      this.checks.recordUse(describeRequest(request));
      const { ca, localAddress } = this.#options;
      const { timeoutMs } = this;
      const sent = await sendRequest(filled, {
        addresses,
        timeoutMs,
        ca,
        localAddress,
        ...this.#openTransport(),
      });
      return this.#checked(sent, targetOf(request.url), leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** For a gateway that is opened before its call. */
  addHeaders(headers: EgressOptions['headers']): void {
    this.#headers = headers;
  }

  /** Connects to one of the addresses, which the caller has checked. */
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
    socket.on('error', (error) => reject(toRefusal(error)));
    socket.once('close', () => signal.removeEventListener('abort', abort));
    return promise;
  }

  /** Aborts all requests and connections. */
  close(): void {
    this.#isClosed = true;
    this.#controller?.abort();
    this.#transport?.agents.http.destroy();
    this.#transport?.agents.https.destroy();
  }

  #openTransport(): Pick<SendOptions, 'agents' | 'signal'> {
    if (this.#transport) return this.#transport;
    const http = new (nodeHttp().Agent)({ keepAlive: true });
    const https = new (nodeHttps().Agent)({ keepAlive: true });
    this.#transport = { signal: this.#signal(), agents: { http, https } };
    return this.#transport;
  }

  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new BrokerRefusal('badf', 'the call is over');
  }

  /** Drops a malformed response together with its connection. */
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
        // After a complete body, the connection stays open for the next request.
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
