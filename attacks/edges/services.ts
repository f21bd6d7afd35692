/**
 * Attacks on the services and their users: floods of sessions, requests that never end, and responses that reveal too
 * much. Everything runs on loopback.
 *
 * @module
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  createRuntime,
  makeToken,
  type Outcome,
  type Runtime,
  serveOverHttp,
  SkillServer,
  startService,
  toToolResult,
} from '../../src/for-attacks.ts';
import { runAlone } from '../runner/alone.ts';
import { ATTACKS_DIR } from '../runner/places.ts';
import { group, type Careless, type TrustAttack } from '../trust/attack.ts';
import { asOutcome, type BundleText, type TrustStage } from '../trust/stage.ts';
import { didNotRun, harmIn, HOSTILE, judgeWords } from './words.ts';

const TOKEN = 'an-invented-token-of-the-attacks';
const FLOOD = 300;
const HALF_SENT = 1010;
const PATIENCE_MS = 120_000;
const WORDS = JSON.stringify(HOSTILE);

const runtimeOf = (stage: TrustStage): Runtime =>
  createRuntime({ home: stage.home, cwd: stage.project, audit: false, pool: { size: 0 } });

type Ask = (path: string, body?: unknown) => Promise<string>;

/** The service of an operator, with a caller who may only call and read. */
async function withService<T>(stage: TrustStage, act: (ask: Ask, url: string) => Promise<T>): Promise<T> {
  await using runtime = runtimeOf(stage);
  const { entry, secret } = makeToken({ name: 'caller', tenant: 'stranger', scopes: ['call', 'read'] });
  const workspace = join(stage.dir, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const accessFile = join(stage.dir, 'access.json');
  const service = await startService({ runtime, accessFile, extraTokens: [entry], workspace, drainMs: 1000 });
  const ask: Ask = async (path, body) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    return (await fetch(`${service.url}${path}`, { ...sent, headers, signal })).text();
  };
  try {
    return await act(ask, service.url);
  } finally {
    await service.close();
  }
}

const ofProject = (stage: TrustStage, text: BundleText): string =>
  stage.write(join(stage.project, 'skills', stage.skill), text);

const call = (stage: TrustStage): string => `/v1/skills/${stage.skill}/execute`;

/** Skills that fail in a way that involves a folder. */
const NEEDS_FOLDER: BundleText = {
  manifest: { capabilities: { filesystem: [{ path: '${workspace}/absent', access: 'read' }] } },
};

async function asksForFolder(stage: TrustStage): Promise<Outcome> {
  ofProject(stage, NEEDS_FOLDER);
  return withService(stage, async (ask) => {
    const answers = [await ask(call(stage), { params: {} }), await ask(`/v1/skills/${stage.skill}`)];
    return asOutcome(() => judgeFolders(stage, answers.join('\n')));
  });
}

async function asksForFolderByTool(stage: TrustStage): Promise<Outcome> {
  ofProject(stage, NEEDS_FOLDER);
  mkdirSync(join(stage.dir, 'workspace'), { recursive: true });
  const answer = await withSession(stage, { execute: { workspace: join(stage.dir, 'workspace') } }, (ask) => {
    const params = { name: stage.skill.replace('/', '__'), arguments: {} };
    return ask({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
  });
  return asOutcome(() => judgeFolders(stage, answer));
}

function judgeFolders(stage: TrustStage, said: string): object {
  if (!said.includes('absent')) throw didNotRun(`the folder is not mentioned: ${said.slice(0, 500)}`);
  return { succeeded: said.includes(stage.dir), evidence: said.slice(0, 200) };
}

/** What the library reports to the program that calls it. */
const saysFolder: Careless = async (stage) => {
  const workspace = join(stage.dir, 'workspace');
  const outcome = await stage.call(stage.skill, { workspace, isolated: true });
  const said = outcome.ok ? '' : outcome.error.message;
  return said.includes(stage.dir) ? `the error itself contains ${said.slice(0, 160)}` : undefined;
};

/** More than the event loop's thread parses: its text is sent to the client unchanged. */
const LARGE = `export function execute() { return { words: ${WORDS}, filler: 'x'.repeat(100000) }; }`;

async function returnsMuch(stage: TrustStage): Promise<Outcome> {
  ofProject(stage, { code: LARGE });
  return judgeWords(await withService(stage, (ask) => ask(call(stage), { params: {} })));
}

async function forgesReceipt(stage: TrustStage): Promise<Outcome> {
  ofProject(stage, { code: `export function execute() { throw new Error(${WORDS}); }` });
  const { content } = toToolResult(await stage.call(stage.skill, { isolated: true }));
  return judgeWords(content.map((part) => (part.type === 'text' ? part.text : '')).join('\n'));
}

type AskMcp = (message: object, from?: McpClient) => Promise<string>;
interface McpClient {
  /** Undefined for a request that opens a session. */
  session?: string;
  agent?: string;
}
interface Opened {
  url: string;
  session: string;
}

const opening = (name: string): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } },
});

function sendMcp(url: string, message: object, { session, agent = 'victim' }: McpClient): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'user-agent': agent,
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify(message),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}

/** The victim, with its own session over HTTP. */
async function withSession<T>(
  stage: TrustStage,
  options: { execute?: { workspace: string } },
  act: (ask: AskMcp, opened: Opened) => Promise<T>,
): Promise<T> {
  await using runtime = runtimeOf(stage);
  await using skills = new SkillServer({ runtime, searchOver: 10_000, ...options });
  await using service = await serveOverHttp(skills, { port: 0, token: TOKEN, onNote: () => undefined });
  const { url } = service;
  const response = await sendMcp(url, opening('victim'), {});
  await response.text();
  const session = response.headers.get('mcp-session-id') ?? '';
  await sendMcp(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, { session });
  return await act(async (message, from = { session }) => (await sendMcp(url, message, from)).text(), {
    url,
    session,
  });
}

async function floodsSessions(stage: TrustStage): Promise<Outcome> {
  return withSession(stage, {}, async (ask) => {
    for (let n = 0; n < FLOOD; n++) await ask(opening(`flood ${n}`), { agent: 'flood' });
    const answer = await ask({ jsonrpc: '2.0', id: 9, method: 'ping' });
    return asOutcome(() => ({ succeeded: !answer.includes('"result"'), evidence: answer.slice(0, 200) }));
  });
}

/** Each session under another name, so that no name has many. */
async function floodsByNames(stage: TrustStage): Promise<Outcome> {
  return withSession(stage, {}, async (ask) => {
    for (let n = 0; n < FLOOD; n++) await ask(opening(`flood ${n}`), { agent: `flood ${n}` });
    const answer = await ask({ jsonrpc: '2.0', id: 9, method: 'ping' });
    return asOutcome(() => ({ succeeded: !answer.includes('"result"'), evidence: answer.slice(0, 200) }));
  });
}

/** A table that evicts its oldest entry when it is full. */
const forgetsOldest: Careless = () => {
  const table = new Map([['victim', true]]);
  for (let n = 0; n < FLOOD; n++) {
    const oldest = table.keys().next().value;
    if (table.size >= 256 && oldest !== undefined) table.delete(oldest);
    table.set(`flood ${n}`, true);
  }
  return table.has('victim') ? undefined : `after ${FLOOD} openings the session of the victim is gone`;
};

/** Cancels a call and waits for its event stream, which would hold a slot forever. */
async function leavesStream(stage: TrustStage): Promise<Outcome> {
  ofProject(stage, {
    code: 'export function execute() { for (;;); }',
    manifest: { limits: { timeout: '60s' } },
  });
  return withSession(stage, {}, async (ask, { url, session }) => {
    const params = { name: stage.skill.replace('/', '__'), arguments: {} };
    const answer = await sendMcp(url, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, { session });
    await ask({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    const ended = await answer.text().catch((error: unknown) => error);
    return asOutcome(() => ({ succeeded: typeof ended !== 'string', evidence: 'the stream ended' }));
  });
}

const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\n';
const HALF_BODY = `${HEAD}Content-Type: application/json\r\nContent-Length: 10\r\n\r\nhalf`;

async function sendHalf(url: string, half: string): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let n = 0; n < HALF_SENT; n++) {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    sockets.push(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    if (!socket.destroyed) socket.write(half);
  }
  return sockets;
}

const sendsHalf =
  (half: string) =>
  (stage: TrustStage): Promise<Outcome> =>
    withService(stage, async (ask, url) => {
      const sockets = await sendHalf(url, half);
      const answer = await ask('/healthz').catch((error: unknown) => String(error));
      for (const socket of sockets) socket.destroy();
      return asOutcome(() => ({ succeeded: !answer.includes('"ok"'), evidence: answer.slice(0, 200) }));
    });

/** A server with limited slots that never frees them, on its own loopback. */
const keepsHalf =
  (half: string): Careless =>
  async () => {
    const program = join(ATTACKS_DIR, 'runner', 'room', 'half_sent.mjs');
    const said = await runAlone(process.execPath, [program, half, String(HALF_SENT)]);
    return said === '{"served":false}'
      ? `${HALF_SENT} half-sent requests lock out the next client`
      : undefined;
  };

export const SERVICE_ATTACKS: readonly TrustAttack[] = group(['ok'], {
  http_error_with_folders: {
    description: 'Fails so that the response of the HTTP service contains host folders.',
    attempt: asksForFolder,
    control: saysFolder,
  },
  mcp_error_with_folders: {
    description: 'Fails so that the response of an MCP tool contains host folders.',
    attempt: asksForFolderByTool,
    control: saysFolder,
  },
  http_large_result_with_escapes: {
    description:
      "Returns a result too large to be parsed on the way, with control codes for the client's terminal.",
    attempt: returnsMuch,
    control: () => harmIn(JSON.stringify({ words: HOSTILE })),
  },
  mcp_error_with_forged_receipt: {
    description: 'Throws an error whose later lines look like a receipt to the model that reads it.',
    attempt: forgesReceipt,
    control: () => harmIn(`skill_error: ${HOSTILE}`),
  },
  mcp_session_flood: {
    description: `Opens ${FLOOD} MCP sessions, so that another client loses its own.`,
    attempt: floodsSessions,
    control: forgetsOldest,
  },
  mcp_session_flood_by_names: {
    description: `Opens ${FLOOD} MCP sessions, each under another name.`,
    attempt: floodsByNames,
    control: forgetsOldest,
  },
  mcp_stream_left_open: {
    description: 'Cancels calls and leaves their event streams open.',
    attempt: leavesStream,
    control: { none: 'An open stream does not show that it would never end.' },
  },
  half_sent_heads: {
    description: `Starts ${HALF_SENT} requests and never finishes their headers.`,
    attempt: sendsHalf(HEAD),
    control: keepsHalf(HEAD),
  },
  half_sent_bodies: {
    description: `Sends ${HALF_SENT} requests and never finishes their bodies.`,
    attempt: sendsHalf(HALF_BODY),
    control: keepsHalf(HALF_BODY),
  },
});
