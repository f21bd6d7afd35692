/**
 * The harness of a Node cell: says that it is there, learns what to do, loads the skill, runs it once, answers. It holds no
 * authority: a skill that takes it apart gains nothing.
 *
 * @module
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Closed, receive, send, waitForTheEnd } from './channel.ts';
import { Reporter, watchPermissions, type View } from './denials.ts';
import { callSkill, type SkillModule } from './entry-point.ts';
import { watchEnv } from './env-watch.ts';
import { describeFailure, type Failure } from './failure.ts';
import { guardNetwork } from './network.ts';
import { hookBundle } from './resolve.ts';
import { printAtOnce } from './streams.ts';

interface Init {
  entry: string;
  view: View;
  env: Record<string, string>;
  proxy_port: number;
  preload: boolean;
}

const NEVER_SETTLED =
  'The promise of the skill can never settle: nothing is left to run, and no timer, request or file is waited for';

/** Loads the skill's module once; a failure is kept for the call that needs it. */
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

  /** What went wrong outside of any promise while it was loaded. */
  note(error: unknown): void {
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
  const init = receive() as unknown as Init;
  const reporter = prepare(init);
  const loader = new Loader(init.entry);
  if (!init.preload) return serve(loader, { init, reporter });
  const noteEarly = (error: unknown): void => loader.note(error);
  process.on('uncaughtException', noteEarly);
  const go = (): void => {
    process.off('uncaughtException', noteEarly);
    send({ t: 'loaded' });
    serve(loader, { init, reporter });
  };
  loader.load().then(go, go);
}

/** Everything that has to be in place before skill code runs. */
function prepare({ view, env, proxy_port: proxyPort }: Init): Reporter {
  const reporter = new Reporter(view);
  printAtOnce();
  Object.assign(process.env, env);
  // Node's own threads, while there is room for them: who starts processes may use it up.
  if (view.processes) fs.stat('/skill', () => undefined);
  watchPermissions(reporter);
  guardNetwork({ proxyPort, forChildren: view.processes, reporter });
  watchEnv(view.env, reporter);
  answerExists();
  syncBuiltinESMExports();
  hookBundle('/skill');
  return reporter;
}

/** A path that may not be looked at does not exist, as far as this function can say. */
function answerExists(): void {
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
  const { params } = receive();
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

function reply(failure: Failure): never {
  send({ t: 'error', ...failure });
  return waitForTheEnd();
}

function plain(type: string, message: string): Failure {
  return { type, message, trace: '', explained: 'wholly' };
}

try {
  main();
} catch (error) {
  if (!(error instanceof Closed)) throw error;
}
