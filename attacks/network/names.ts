/**
 * A program for its own network namespace, `names.ts subprocess|wasm`: attacks with names that resolve to a public address.
 * The namespace has only its loopback, which has that address, so no packet leaves it. The requests of a cell are sent to
 * the gateway as a cell does it, and to a careless one that compares strings and resolves names twice.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type CapabilityEvent,
  type EgressOptions,
  gatewayOpener,
  type Grant,
  HttpBroker,
  Records,
} from '../../src/for-attacks.ts';
import type { NetworkMode } from './attack.ts';
import { NAME_ATTACKS, type NameAttack, type NameRow } from './name-attacks.ts';

const PUBLIC = '93.184.215.14';
const LOOPBACK = '127.0.0.1';
/** SIOCSIFFLAGS and SIOCSIFADDR on `lo`: not every machine has the tools for this, but Python. */
const BRING_UP = `
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))
address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("${PUBLIC}"))
fcntl.ioctl(s, 0x8916, struct.pack("16s16s", b"lo:1", address))
`;

/** Sends one request and returns the body of the response. */
type Ask = (host: string) => Promise<string>;

interface Way {
  ask: Ask;
  denied: () => CapabilityEvent[];
  close: () => void;
}

/** Resolves to the public address when it is checked, and to the host when it is used. */
function flipping(): (name: string) => Promise<string[]> {
  let asked = 0;
  return async (name) => [name.startsWith('rebind') && asked++ > 0 ? LOOPBACK : PUBLIC];
}

function grantFor(host: string): Grant {
  const limits = { timeout: 1, cpu: 1, memory: 1, output: 1, processes: 0, scratch: 1 };
  const network = [{ host, scheme: 'http' as const }];
  return { filesystem: [], network, env: {}, syscalls: 'default', limits, withheld: [] };
}

/** The servers are in the same namespace as the gateway; most attacks are about servers elsewhere. */
function optionsFor({ isElsewhere = true }: NameAttack): EgressOptions {
  return { lookup: flipping(), timeoutMs: 2000, ...(isElsewhere ? { own: () => [] } : {}) };
}

function throughFrames(attack: NameAttack): Way {
  const grant = grantFor(attack.rule);
  const records = new Records(grant);
  const broker = new HttpBroker(grant, records, optionsFor(attack));
  const ask: Ask = async (authority) => {
    const args = { method: 'GET', scheme: 'http', authority, path: '/', headers: [] };
    const reply = await broker.handle({ op: 'http', args });
    const read = { op: 'httpRead', args: { body: reply?.value['body'], length: 1000 } };
    return Buffer.from((await broker.handle(read))?.payload ?? []).toString();
  };
  return { ask, denied: () => records.denied, close: () => broker.close() };
}

function throughProxy(attack: NameAttack): Way {
  const home = mkdtempSync(join(tmpdir(), 'skillcell-names-'));
  const open = gatewayOpener({ home, ca: [], ...optionsFor(attack) });
  const gateway = open({ grant: grantFor(attack.rule), placeholders: {}, uid: undefined });
  const ask: Ask = async (authority) => {
    const socket = connect(join(gateway.folder, 'socket'));
    socket.write(`GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`);
    return text(socket);
  };
  const close = (): void => {
    gateway.close();
    rmSync(home, { recursive: true, force: true });
  };
  return { ask, denied: () => gateway.denied, close };
}

/** Compares strings, resolves to check the address, and resolves again to connect. */
function careless(host: string): Ask {
  const lookup = flipping();
  const bare = host.replace('*', '');
  return async (authority) => {
    const name = decodeURIComponent(authority).normalize('NFKC').toLowerCase();
    if (!name.includes(bare)) return 'refused';
    if ((await lookup(name))[0] === LOOPBACK) return 'refused';
    const [address] = await lookup(name);
    const outgoing = request({ host: address, headers: { host: 'careless' }, agent: false });
    outgoing.end();
    const [message] = await once(outgoing, 'response');
    return text(message);
  };
}

let reached: string[] = [];

async function judge(attack: NameAttack, mode: NetworkMode): Promise<NameRow> {
  const { name, rule, hosts, description } = attack;
  const naive = careless(rule);
  reached = [];
  for (const host of hosts) await naive(host);
  const works = reached.some((place) => attack.isHarm(place));
  const way = mode === 'wasm' ? throughFrames(attack) : throughProxy(attack);
  reached = [];
  const answers: string[] = [];
  for (const host of hosts) answers.push(await way.ask(host).catch((error: Error) => error.message));
  const harm = reached.filter((place) => attack.isHarm(place));
  const denied = way.denied().map(({ asked }) => asked);
  way.close();
  const evidence = answers.at(-1)?.split('\r\n').at(-1)?.trim().slice(0, 100) ?? '';
  return { name, description, works, harm, denied, evidence };
}

async function serve(address: string): Promise<{ close: () => void }> {
  const server = createServer((_, response) => {
    reached.push(address === LOOPBACK ? 'home' : 'public');
    response.end('answered');
  });
  server.listen(80, address);
  await once(server, 'listening');
  return { close: () => server.close().closeAllConnections() };
}

execFileSync('/usr/bin/python3', ['-c', BRING_UP]);
const servers = [await serve(PUBLIC), await serve(LOOPBACK)];
const rows: NameRow[] = [];
for (const attack of NAME_ATTACKS) rows.push(await judge(attack, process.argv[2] as NetworkMode));
for (const server of servers) server.close();
process.stdout.write(JSON.stringify(rows));
