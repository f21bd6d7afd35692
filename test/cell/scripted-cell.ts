/**
 * Cells whose program is a script of the test, which speaks the protocol of a warm cell correctly or not.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Artifact, BrokerReply, CallBroker, Engine, Wall } from '../../src/cell/contract.ts';
import { findNode } from '../../src/cell/engines/node-process/node-binary.ts';
import { nodeSpec } from '../../src/cell/engines/node-process/spec.ts';
import type { WarmPlace } from '../../src/cell/protocol/start-warm.ts';
import type { Bundle } from '../../src/load/bundle.ts';
import { DEFAULT_LIMITS } from '../../src/vocabulary/limits.ts';
import type { Grant, GrantedLimits } from '../../src/policy/grant.ts';
import { dedent } from '../write-skill.ts';

/** `send(body, payload)` and `raw(bytes)` write; `onCall(params, number)` is called for each call. */
const PROTOCOL = `
import { Socket } from 'node:net';
const socket = new Socket({ fd: 3, readable: true, writable: true });
let onCall = () => undefined, onReply = () => undefined, onInit = () => send({ t: 'loaded' });
const raw = (bytes, done) => socket.write(bytes, done);
const frame = (body, payload) => {
  const text = Buffer.from(JSON.stringify(payload ? { ...body, payload_bytes: payload.length } : body));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(text.length, 0);
  return Buffer.concat([head, text, payload ?? Buffer.alloc(0)]);
};
const send = (body, payload) => raw(frame(body, payload));
const answer = (value, call) => frame({ t: 'result', call }, Buffer.from(JSON.stringify(value)));
let held = Buffer.alloc(0);
socket.on('data', (chunk) => {
  held = Buffer.concat([held, chunk]);
  while (held.length >= 4 && held.length >= 4 + held.readUInt32LE(0)) {
    const end = 4 + held.readUInt32LE(0);
    const body = JSON.parse(held.subarray(4, end).toString());
    const total = end + (body.payload_bytes ?? 0);
    if (held.length < total) return;
    const payload = held.subarray(end, total);
    held = held.subarray(total);
    if (body.t === 'init') onInit(body);
    if (body.t === 'call') onCall(JSON.parse(payload.toString()), body.call);
    if (body.t === 'reply') onReply(body, payload);
  }
});
socket.on('close', () => process.exit(0));
`;

/** The parts of a cell that runs this script. */
export function scriptedPlace(
  folder: string,
  wall: Wall,
  script: { name: string; body: string; limits?: Partial<GrantedLimits>; broker?: CallBroker },
): WarmPlace {
  const code = join(folder, script.name);
  mkdirSync(code, { recursive: true, mode: 0o755 });
  writeFileSync(join(code, 'package.json'), '{"type":"module"}');
  writeFileSync(join(code, 'main.js'), `${PROTOCOL}\n${dedent(script.body)}\n`);
  const node = findNode(folder);
  const grant: Grant = {
    filesystem: [],
    network: [],
    env: {},
    syscalls: 'default',
    limits: { ...DEFAULT_LIMITS, timeout: 10_000, ...script.limits },
    withheld: [],
  };
  const artifact: Artifact = {
    engine: 'component',
    bundle: {} as Bundle,
    spec: () => nodeSpec({ node, code, entry: 'main.js', mounts: [] }),
    init: () => ({}),
  };
  const openBroker = (): CallBroker => script.broker ?? new AnsweringBroker();
  return { wall, engine: { reusable: true } as Engine, artifact, grant, openBroker };
}

/** Replies to every request with its arguments, or with the requested number of bytes. */
export class AnsweringBroker implements CallBroker {
  readonly used: CallBroker['used'] = [];
  readonly denied: CallBroker['denied'] = [];
  requests = 0;
  isClosed = false;

  async handle({ op, args }: { op: string; args: Record<string, unknown> }): Promise<BrokerReply> {
    this.requests++;
    if (op === 'bytes') return { value: {}, payload: Buffer.alloc(Number(args['length'])) };
    if (op === 'deny') {
      this.denied.push({ capability: 'network', asked: 'connect x', declared: 'nothing' });
      throw new Error('denied');
    }
    return { value: args };
  }

  close(): void {
    this.isClosed = true;
  }
}

/** A well-behaved cell. */
export const POLITE = `
  onCall = (params, call) => {
    if (params.sleep) setTimeout(() => raw(answer(params, call)), params.sleep);
    else if (params.crash) process.exit(7);
    else raw(answer({ ...params, pid: process.pid }, call));
  };
  send({ t: 'ready' });
`;
