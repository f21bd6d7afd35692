/**
 * What the image of Skillcell must do in a container, and what it cannot do without the flags that the documents name.
 *
 * @module
 */
const SUBPROCESS_SKILL = [
  'run',
  'optimization/prompt_rewriter',
  '--json',
  '--params',
  '{"raw_text":"Please help"}',
];
const WASM_SKILL = ['run', 'text/word_stats_c', '--json', '--params', '{"text":"To be or not to be"}'];
/** `skill_unavailable`. */
const UNAVAILABLE = 6;
const STOPPED = 0;

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Container {
  /** Runs the engine's command. */
  call: (args: readonly string[]) => Ended;
  flags: { run: readonly string[]; profile: readonly string[]; unmask: readonly string[] };
  image: string;
}

export interface Check {
  title: string;
  /** What went wrong, or undefined. */
  check: (container: Container) => string | undefined;
}

interface Pair {
  mode: string;
  wall: string;
  engine: string;
  available: boolean;
}

type Flags = readonly (keyof Container['flags'])[];
const ALL: Flags = ['run', 'profile', 'unmask'];

export const CHECKS: readonly Check[] = [
  { title: 'doctor finds a jail for subprocess and wasm', check: (container) => jails(container, ALL, true) },
  {
    title: 'a skill runs in subprocess mode, in a jail',
    check: (container) => runs(container, SUBPROCESS_SKILL, { flags: ALL, where: 'subprocess in jail' }),
  },
  {
    title: 'a skill runs in wasm mode, in a jail',
    check: (container) => runs(container, WASM_SKILL, { flags: ALL, where: 'wasm in jail' }),
  },
  {
    title: "control: the engine's own seccomp profile allows no jail",
    check: (container) => jails(container, ['run', 'unmask'], false),
  },
  {
    title: 'control: a masked /proc allows no jail',
    check: (container) => jails(container, ['run', 'profile'], false),
  },
  {
    title: 'without any flag, wasm runs in a process and subprocess is refused',
    check: (container) =>
      runs(container, WASM_SKILL, { flags: ['run'], where: 'wasm in process' }) ??
      refuses(container, [...SUBPROCESS_SKILL, '--execution', 'subprocess']),
  },
  { title: 'the service answers, its health check passes, and SIGTERM stops it', check: serves },
];

function start(container: Container, flags: Flags, args: readonly string[]): Ended {
  const chosen = flags.flatMap((name) => container.flags[name]);
  return container.call(['run', '--rm', ...chosen, container.image, ...args]);
}

function jails(container: Container, flags: Flags, expected: boolean): string | undefined {
  const ended = start(container, flags, ['doctor', '--json']);
  if (ended.status !== 0) return told(ended);
  const { pairs } = JSON.parse(ended.stdout) as { pairs: Pair[] };
  const found = pairs.filter(({ wall, available }) => wall === 'jail' && available);
  const modes = new Set(found.map(({ mode }) => mode));
  const fits = expected ? modes.has('subprocess') && modes.has('wasm') : found.length === 0;
  return fits
    ? undefined
    : `Available in a jail: ${JSON.stringify(found.map(({ mode, engine }) => [mode, engine]))}`;
}

function runs(
  container: Container,
  args: readonly string[],
  { flags, where }: { flags: Flags; where: string },
): string | undefined {
  const ended = start(container, flags, args);
  if (ended.status !== 0) return told(ended);
  const { execution } = JSON.parse(ended.stdout) as { execution: { mode: string; wall: string } };
  const actual = `${execution.mode} in ${execution.wall}`;
  return actual === where ? undefined : `It ran as ${actual}, not as ${where}`;
}

function refuses(container: Container, args: readonly string[]): string | undefined {
  const ended = start(container, ['run'], args);
  return ended.status === UNAVAILABLE ? undefined : told(ended);
}

/** Health checks of an engine need systemd, so this runs the command of the health check itself. */
function serves(container: Container): string | undefined {
  const { call, image } = container;
  const name = `skillcell-try-${process.pid}`;
  const chosen = ALL.flatMap((flag) => container.flags[flag]);
  const service = ['serve', '--drain', '2s'];
  const started = call(['run', '--detach', `--name=${name}`, ...chosen, image, ...service]);
  if (started.status !== 0) return told(started);
  try {
    const asked = call([
      'exec',
      name,
      'node',
      '-e',
      `(${poll.toString()})().then((ok) => process.exit(ok ? 0 : 1))`,
    ]);
    if (asked.status !== 0) return `It is not ready: ${told(asked)}\n${told(call(['logs', name]))}`;
    const probe = healthCommand(container);
    const healthy = call(['exec', name, ...probe]);
    if (healthy.status !== 0) return `Its health check ${JSON.stringify(probe)} fails: ${told(healthy)}`;
    call(['stop', '--time=30', name]);
    const state = call(['inspect', '--format={{.State.ExitCode}}', name]).stdout.trim();
    return state === String(STOPPED) ? undefined : `After SIGTERM it ended with ${state}`;
  } finally {
    call(['rm', '--force', name]);
  }
}

interface Described {
  /** Of podman. */
  Healthcheck?: { Test?: string[] };
  /** Of docker. */
  Config?: { Healthcheck?: { Test?: string[] } };
}

function healthCommand({ call, image }: Container): string[] {
  const [described] = JSON.parse(call(['inspect', '--type=image', image]).stdout) as Described[];
  const test = described?.Config?.Healthcheck?.Test ?? described?.Healthcheck?.Test ?? [];
  return test.slice(1);
}

/** Sent to the Node in the container as source. */
async function poll(): Promise<boolean> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const answer = await fetch('http://127.0.0.1:7399/readyz').catch(() => undefined);
    if (answer?.ok) return true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return false;
}

function told({ status, stdout, stderr }: Ended): string {
  return `exit ${status}\n${stdout.slice(-2000)}\n${stderr.slice(-2000)}`;
}
