/**
 * The harness of a Node cell: reports ready, receives the task, loads the skill, runs it once, replies. It holds no
 * authority: a skill that tampers with it gains nothing.
 *
 * @module
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Closed, receive, send, waitForTheEnd } from './channel.ts';
import { Reporter, watchPermissions } from './denials.ts';
import { callSkill, type SkillModule } from './entry-point.ts';
import { watchEnv } from './env-watch.ts';
import { describeFailure } from './failure.ts';
import { guardNetwork } from './network.ts';
import { hookBundle } from './resolve.ts';
import { useSynchronousStreams } from './streams.ts';
import type { FailureFields, NodeInit, StartFields, ToSingleUse } from '../protocol.ts';

type Init = NodeInit & StartFields;

const NEVER_SETTLED =
  'The promise of the skill can never settle: nothing is left to run, and no timer, request or file is waited for';

/** Loads the skill's module once; a failure is stored and thrown in the call. */
class Loader {
  readonly #entry: string;
  #loaded: Promise<SkillModule> | undefined;
  #failure: { error: unknown } | undefined;

  constructor(entry: string) {
    this.#entry = entry;
  }

  load(): Promise<SkillModule> {
    this.#loaded ??= import(`file:///skill/${encodeURI(this.#entry)}`) as Promise<SkillModule>;
    return this.#loaded;
  }

  /** Stores an error that was thrown outside of any promise during loading. */
  recordFailure(error: unknown): void {
    this.#failure ??= { error };
  }

  async skill(): Promise<SkillModule> {
    const loaded = await this.load();
    if (this.#failure) throw this.#failure.error;
    return loaded;
  }
}

function main(): void {
  send({ t: 'ready' });
  const init = receive() as Init;
  const reporter = prepare(init);
  const loader = new Loader(init.entry);
  if (!init.preload) return serve(loader, { init, reporter });
  const recordEarly = (error: unknown): void => loader.recordFailure(error);
  process.on('uncaughtException', recordEarly);
  const go = (): void => {
    process.off('uncaughtException', recordEarly);
    send({ t: 'loaded' });
    serve(loader, { init, reporter });
  };
  loader.load().then(go, go);
}

/** Everything that has to be in place before skill code runs. */
function prepare({ view, env, proxy_port: proxyPort }: Init): Reporter {
  const reporter = new Reporter(view);
  useSynchronousStreams();
  Object.assign(process.env, env);
  // Starts Node's own threads now, before processes of the skill can use up the limit.
  if (view.processes) fs.stat('/skill', () => undefined);
  watchPermissions(reporter);
  guardNetwork({ proxyPort, forChildren: view.processes, reporter });
  watchEnv(view.env, reporter);
  patchExistsSync();
  syncBuiltinESMExports();
  hookBundle('/skill');
  return reporter;
}

/** existsSync returns false for paths that are not readable, instead of throwing. */
function patchExistsSync(): void {
  const { existsSync } = fs;
  fs.existsSync = (path) => {
    try {
      return existsSync(path);
    } catch {
      return false;
    }
  };
}

function serve(loader: Loader, { init, reporter }: { init: Init; reporter: Reporter }): void {
  const { params } = receive() as ToSingleUse['call'];
  const fail = (error: unknown): never => reply({ ...describeFailure(error, reporter) });
  process.on('uncaughtException', fail);
  process.on('beforeExit', () => reply(plain('NeverSettled', NEVER_SETTLED)));
  process.on('exit', (code) => reply(plain('Exit', `the skill called exit(${code})`)));
  run(loader, init.entry, params).then(answer, fail);
}

async function run(loader: Loader, entry: string, params: unknown): Promise<string> {
  return callSkill(await loader.skill(), `/skill/${entry}`, params);
}

function answer(value: string): never {
  send({ t: 'result' }, value);
  return waitForTheEnd();
}

function reply(failure: FailureFields): never {
  send({ t: 'error', ...failure });
  return waitForTheEnd();
}

function plain(type: string, message: string): FailureFields {
  return { type, message, trace: '', explained: 'wholly' };
}

try {
  main();
} catch (error) {
  if (!(error instanceof Closed)) throw error;
}
