/**
 * Runs a hostile script without Skillcell, to see whether it acts at all: in bubblewrap, as a user who owns nothing, with
 * an empty network namespace, a read-only system, and a proxy on the loopback of that namespace that records requests.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { THROWAWAY_ID } from './world.ts';

export interface ControlResult {
  /** First lines of requests that reached the recording proxy. */
  requests: string[];
  output: string;
}

const LIMIT_SECONDS = 10;
const OUTER_LIMIT_MS = 60_000;

/** Starts the proxy, runs the script, prints both as JSON. It is our own code and runs inside the sandbox as well. */
const SUPERVISOR = `
import json, socket, subprocess, sys, threading
requests = []
server = socket.create_server(("127.0.0.1", 8080))
def serve():
    while True:
        peer, _ = server.accept()
        try:
            peer.settimeout(3)
            line = peer.recv(65536).split(b"\\r\\n")[0].decode("latin-1")
            if len(requests) < 100: requests.append(line)
            body = b"echo ran > .patch_ran\\n"
            peer.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
        except OSError: pass
        finally: peer.close()
threading.Thread(target=serve, daemon=True).start()
try:
    done = subprocess.run(sys.argv[1:], capture_output=True, timeout=${LIMIT_SECONDS}, stdin=subprocess.DEVNULL)
    output = done.stdout + done.stderr
except subprocess.TimeoutExpired as late: output = (late.stdout or b"") + (late.stderr or b"")
print(json.dumps({"requests": requests, "output": output[:100000].decode("utf-8", "replace")}))
`;

export interface ControlPlace {
  home: string;
  scripts: string;
  /** Folders with Python packages, so that a script does not fail for lack of them. */
  packages: readonly string[];
}

export async function runControl(
  { home, scripts, packages }: ControlPlace,
  command: readonly string[],
): Promise<ControlResult> {
  const proxy = 'http://127.0.0.1:8080';
  const env = {
    ...{
      HOME: '/home/person',
      PATH: '/usr/bin:/bin',
      http_proxy: proxy,
      https_proxy: proxy,
      HTTPS_PROXY: proxy,
    },
    PYTHONPATH: packages.map((_, index) => `/packages/${index}`).join(':'),
  };
  const sandbox = [
    ...['bwrap', '--unshare-all', '--die-with-parent', '--new-session', '--clearenv'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--ro-bind', scripts, '/scripts', '--bind', home, '/home/person', '--chdir', '/home/person/project'],
    ...packages.flatMap((folder, index) => ['--ro-bind', folder, `/packages/${index}`]),
    ...['/usr/bin/python3', '-I', '-c', SUPERVISOR, ...command],
  ];
  return parse(await run([...asThrowaway(), ...sandbox]));
}

/** As root, bubblewrap would map the user inside to root outside. */
function asThrowaway(): string[] {
  if (process.getuid?.() !== 0) return [];
  return [
    'setpriv',
    `--reuid=${THROWAWAY_ID}`,
    `--regid=${THROWAWAY_ID}`,
    '--clear-groups',
    '--no-new-privs',
  ];
}

async function run([program = '', ...args]: string[]): Promise<string> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin' },
    timeout: OUTER_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (stdout === '') throw new Error(`The control did not run: ${stderr.slice(0, 500)}`);
  return stdout;
}

function parse(printed: string): ControlResult {
  const { requests, output } = JSON.parse(printed) as Partial<ControlResult>;
  return { requests: requests ?? [], output: output ?? '' };
}
