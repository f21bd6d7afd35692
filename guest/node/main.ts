/**
 * The harness of a Node cell: reports ready, receives the task, loads the skill, runs it once, replies. It holds no
 * authority: a skill that tampers with it gains nothing.
 *
 * @module
 */
import { Closed, receive, send, waitForTheEnd } from './channel.ts';
import type { Reporter } from './denials.ts';
import { callSkill, type SkillModule } from './entry-point.ts';
import { describeFailure } from './failure.ts';
import { prepareCell } from './prepare.ts';
import { replaceSource, hookBundle } from './resolve.ts';
import { defineSkills } from './skills.ts';
import { moduleOf } from '../wasm/js/cell/program.ts';
import type { FailureFields, NodeInit, ProgramParams, StartFields, ToSingleUse } from '../protocol.ts';

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

function prepare(init: Init): Reporter {
  const reporter = prepareCell(init);
  hookBundle('/skill');
  if (init.skills) defineSkills();
  return reporter;
}

function serve(loader: Loader, { init, reporter }: { init: Init; reporter: Reporter }): void {
  const { params } = receive() as ToSingleUse['call'];
  const fail = (error: unknown): never => reply({ ...describeFailure(error, reporter) });
  process.on('uncaughtException', fail);
  process.on('beforeExit', () => reply(plain('NeverSettled', NEVER_SETTLED)));
  process.on('exit', (code) => reply(plain('Exit', `the skill called exit(${code})`)));
  run(loader, init.entry, init.program ? inputOf(init.entry, params) : params).then(answer, fail);
}

/** A program comes with its call; what is left of the parameters is its input. */
function inputOf(entry: string, params: unknown): unknown {
  const { source, input = null } = params as ProgramParams;
  replaceSource(`file:///skill/${entry}`, moduleOf(source));
  return input;
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
