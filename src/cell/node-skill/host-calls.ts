/**
 * Calls that run in the host, without a cell. The verified copy is imported, once for all calls: nothing is fresh here.
 *
 * @module
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bundle } from '../../load/bundle.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellReport, GuestReply, Job } from '../contract.ts';
import { parseGuestJson } from '../guest-json.ts';
import { JsonText, MAX_JSON_HERE } from '../../json-text.ts';
import { asError } from '../guest-frames.ts';
import { stageGuestCode } from '../node/guest-code.ts';

import { HostLog, HostLogs } from './host-logs.ts';

/** Of `guest/node`, which defines what a skill is wherever it runs. */
interface EntryPoint {
  callSkill: (skill: Record<string, unknown>, entry: string, params: unknown) => Promise<string>;
  describeFailure: (error: unknown) => Record<string, unknown>;
  hookBundle: (folder: string) => () => void;
}

export class HostCalls {
  readonly #home: string;
  readonly #logs = new HostLogs();
  /** By folder of the bundle: how to undo what its imports needed. */
  readonly #hooked = new Map<string, () => void>();

  constructor({ home }: { home: string }) {
    this.#home = home;
  }

  async call(bundle: Bundle, grant: Grant, { params, signal, onLog }: Job): Promise<CellReport> {
    const entryPoint = await this.#entryPoint();
    this.#hook(bundle, entryPoint);
    const log = new HostLog(grant.limits.output, onLog);
    const began = performance.now();
    const running = this.#logs.capture(log, () => run(bundle, entryPoint, ownCopy(params)));
    const ended = await Promise.race([running, aborted(signal)]);
    return {
      start: 'cold',
      started: true,
      reply: ended?.reply,
      exit: undefined,
      killReason: ended ? undefined : 'aborted',
      denied: [],
      used: [],
      logs: log.text,
      logBytes: log.totalBytes,
      resultBytes: ended?.resultBytes ?? 0,
      wallMs: performance.now() - began,
      usage: { cpuMs: 0, memoryPeakBytes: 0 },
      fuel: 0,
      hostCalls: 0,
    };
  }

  close(): void {
    for (const undo of this.#hooked.values()) undo();
    this.#hooked.clear();
    this.#logs.close();
  }

  /** Staged like for a cell: an installed package cannot load its own TypeScript. */
  async #entryPoint(): Promise<EntryPoint> {
    const code = stageGuestCode(this.#home, 'node');
    const names = ['entry-point.js', 'failure.js', 'resolve.js'];
    const modules = await Promise.all(
      names.map((name) => import(pathToFileURL(join(code, 'node', name)).href)),
    );
    return Object.assign({}, ...modules) as EntryPoint;
  }

  #hook({ stagedDir }: Bundle, { hookBundle }: EntryPoint): void {
    if (!this.#hooked.has(stagedDir)) this.#hooked.set(stagedDir, hookBundle(stagedDir));
  }
}

interface Ended {
  reply: GuestReply;
  resultBytes: number;
}

async function run(bundle: Bundle, entryPoint: EntryPoint, params: unknown): Promise<Ended> {
  const path = join(bundle.stagedDir, bundle.entry);
  try {
    const skill = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    const bytes = Buffer.from(await entryPoint.callSkill(skill, bundle.entry, params), 'utf8');
    return { reply: asReply(bytes), resultBytes: bytes.length };
  } catch (error) {
    return { reply: asError(entryPoint.describeFailure(error)), resultBytes: 0 };
  }
}

/** The skill may change it. It shares this thread with the host, so large text is parsed here as well. */
function ownCopy(params: unknown): unknown {
  return params instanceof JsonText ? JSON.parse(params.toString()) : structuredClone(params);
}

/** Through the same checks as JSON of a cell. */
function asReply(bytes: Uint8Array): GuestReply {
  if (bytes.length > MAX_JSON_HERE) return { kind: 'unread', form: 'value', bytes };
  try {
    return { kind: 'result', ...parseGuestJson(bytes) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'error', type: 'NotJson', message, trace: '', explained: 'wholly' };
  }
}

/** The caller no longer waits; nobody can stop the code itself. */
function aborted(signal: AbortSignal | undefined): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal?.aborted) resolve(undefined);
  signal?.addEventListener('abort', () => resolve(undefined), { once: true });
  return promise;
}
