/**
 * Reads podman's version and capabilities from `podman info`.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);

const schema = z.object({
  host: z.object({
    cgroupVersion: z.string(),
    cgroupControllers: z.array(z.string()).nullish(),
    security: z.object({ rootless: z.boolean() }),
  }),
  version: z.object({ Version: z.string() }),
});

export interface PodmanInfo {
  version: string;
  isRootless: boolean;
  cgroupVersion: string;
  /** The cgroup limits that podman enforces; rootless podman on v1 accepts limits and ignores them. */
  limits: { memory: boolean; pids: boolean };
}

/** Rejects if `podman info` fails. */
export async function podmanInfo(command: PodmanCommand): Promise<PodmanInfo> {
  const { stdout } = await runPodman(command, ['info', '--format', 'json']);
  const { host, version } = schema.parse(JSON.parse(stdout));
  const isRootless = host.security.rootless;
  const has = (controller: string): boolean =>
    !isRootless || (host.cgroupVersion === 'v2' && (host.cgroupControllers ?? []).includes(controller));
  return {
    version: version.Version,
    isRootless,
    cgroupVersion: host.cgroupVersion,
    limits: { memory: has('memory'), pids: has('pids') },
  };
}

export interface PodmanCommand {
  program: string;
  /** Global options, before the command. */
  options: readonly string[];
}

export function runPodman(
  { program, options }: PodmanCommand,
  args: readonly string[],
): Promise<{ stdout: string; stderr: string }> {
  return run(program, [...options, ...args], { env: podmanEnv(), cwd: '/', encoding: 'utf8' });
}

/** Only the variables that podman needs to find its programs and files. */
export function podmanEnv(): Record<string, string> {
  const names = ['PATH', 'HOME', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'];
  const known = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return Object.fromEntries(known) as Record<string, string>;
}
