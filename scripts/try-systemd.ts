/**
 * Tries the system unit under a real systemd, which runs in a privileged container made from the image of Skillcell:
 *
 *     node scripts/with-node.js scripts/try-image.ts --keep
 *     node scripts/with-node.js scripts/try-systemd.ts
 *
 * Needs root and podman. Run by hand; docs/deploy.md says what it showed.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './steps.ts';

const IMAGE = 'localhost/skillcell-try';
const WITH_SYSTEMD = 'localhost/skillcell-try-systemd';
const CONTAINER = `skillcell-try-systemd-${process.pid}`;
const PODMAN = existsSync('/sys/fs/cgroup/unified') ? ['--runtime', 'runc'] : [];
const LIMITS = ['--ulimit', 'nofile=1024:4096', '--ulimit', 'nproc=4096:4096'];
const BOOT_TRIES = 60;

const RECIPE = `FROM ${IMAGE}
USER 0
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends systemd >/dev/null
ENTRYPOINT []
CMD ["/lib/systemd/systemd"]
STOPSIGNAL SIGRTMIN+3
`;

/** The policy to start from asks a person about every skill; here nobody can be asked. */
const INSTALL = `set -e
install -d /etc/skillcell /srv/skillcell
sed '/^skills:/,$d' /units/policy.yaml > /etc/skillcell/policy.yaml
cp /units/skillcell.service /etc/systemd/system/
systemctl daemon-reload`;

const CALLS = `
const token = process.argv[1];
const headers = { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' };
const calls = { 'optimization/prompt_rewriter': { raw_text: 'Please help' }, 'text/word_stats_c': { text: 'To be' } };
for (const [skill, params] of Object.entries(calls)) {
  const url = 'http://127.0.0.1:7399/v1/skills/' + skill + '/execute';
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ params }) });
  const { execution } = await answer.json();
  console.log(execution?.mode + ' in ' + execution?.wall);
}`;

const NEW_TOKEN =
  'setpriv --reuid skillcell --regid skillcell --clear-groups ' +
  'env SKILLCELL_HOME=/var/lib/skillcell skillcell serve --new-token try 2>/dev/null';

const STEPS: readonly { title: string; script: string; expected: RegExp }[] = [
  { title: 'the unit is installed', script: INSTALL, expected: /^$/ },
  {
    title: 'the service starts',
    script: `systemctl start skillcell && ${waitFor('readyz')} && systemctl is-active skillcell`,
    expected: /^active$/,
  },
  {
    title: 'skills run in a jail, in both modes',
    script: `node --input-type=module -e "$CALLS" "$(${NEW_TOKEN})"`,
    expected: /^subprocess in jail\nwasm in jail$/,
  },
  {
    title: 'a reload keeps it running',
    script: 'systemctl reload skillcell; sleep 2; systemctl is-active skillcell',
    expected: /^active$/,
  },
  {
    title: 'a stop ends it without an error',
    script: 'systemctl stop skillcell; systemctl show skillcell --property=Result --value',
    expected: /^success$/,
  },
];

function waitFor(route: string): string {
  const ask = `fetch('http://127.0.0.1:7399/${route}').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;
  return `for n in $(seq 60); do node -e "${ask}" && break; sleep 0.5; done`;
}

function podman(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('podman', [...PODMAN, ...args], { encoding: 'utf8' });
}

async function boot(folder: string): Promise<boolean> {
  writeFileSync(join(folder, 'Dockerfile'), RECIPE);
  const built = podman('build', '--layers=false', '--quiet', '--network=host', '-t', WITH_SYSTEMD, folder);
  const units = `${join(ROOT, 'deploy/systemd')}:/units:ro`;
  const flags = ['--privileged', '--systemd=always', '--network=none', '--no-healthcheck', ...LIMITS];
  const started = podman('run', '--detach', `--name=${CONTAINER}`, ...flags, '-v', units, WITH_SYSTEMD);
  for (let tried = 0; tried < BOOT_TRIES && started.status === 0; tried += 1) {
    if (/running|degraded/.test(podman('exec', CONTAINER, 'systemctl', 'is-system-running').stdout))
      return true;
    await sleep(500);
  }
  console.log(`systemd does not start: ${built.stderr}${started.stderr}`);
  return false;
}

async function main(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-systemd-'));
  try {
    if (!(await boot(folder))) return false;
    return STEPS.map(({ title, script, expected }) => {
      const ended = podman('exec', '--env', `CALLS=${CALLS}`, CONTAINER, 'bash', '-c', script);
      const fits = expected.test(ended.stdout.trim());
      console.log(`${fits ? 'ok    ' : 'FAILED'} ${title}`);
      if (!fits) console.log(`${ended.stdout}${ended.stderr}`.replaceAll(/^/gm, '       '));
      return fits;
    }).every(Boolean);
  } finally {
    podman('rm', '--force', CONTAINER);
    podman('rmi', '--ignore', WITH_SYSTEMD);
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) process.exitCode = (await main()) ? 0 : 1;
