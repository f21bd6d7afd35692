/**
 * Ways to run in the host process, with all its rights, without anyone having allowed it.
 *
 * @module
 */
import type { Outcome } from '../../src/for-attacks.ts';
import { group, type Careless, type TrustAttack } from './attack.ts';
import { importsCode } from './careless.ts';
import { runCommand } from './command.ts';
import { asOutcome, HARMLESS, type TrustCall, type TrustStage } from './stage.ts';

/** A loader that does what the manifest or the caller says. */
const IMPORTS: Careless = (stage) => importsCode(stage);
const IN_PROCESS = { execution: 'in_process' };
const MINIMUM = 'minimum: { external: subprocess, project: subprocess }';

/** The attacker's code may run in a cell, where it reports what it has. */
const sandboxed =
  (execution: unknown, call: TrustCall = {}): TrustAttack['attempt'] =>
  (stage) =>
    stage.call(stage.write(stage.stranger, { manifest: { execution }, code: HARMLESS }), call);

const unasked =
  (execution: unknown, call: TrustCall = {}): TrustAttack['attempt'] =>
  (stage) =>
    stage.call(stage.write(stage.stranger, { manifest: { execution } }), call);

async function approved(stage: TrustStage): Promise<Outcome> {
  stage.write(stage.stranger, { manifest: IN_PROCESS });
  await stage.with({}, async (runtime) => {
    runtime.approvals.add((await runtime.load(stage.stranger)).bundle, 'somebody');
  });
  return stage.call(stage.stranger, { policy: 'skills: [{ match: trust/*, decision: ask }]' });
}

function recorded(stage: TrustStage): Promise<Outcome> {
  stage.write(stage.stranger, { manifest: IN_PROCESS });
  return asOutcome(() =>
    stage.with({}, async (runtime) => {
      const { outcome } = await runtime.record(stage.stranger, {}, { trustRemoteCode: true });
      return outcome.ok ? outcome.result : Promise.reject(new Error(outcome.error.code));
    }),
  );
}

export const MODE_ATTACKS: readonly TrustAttack[] = [
  ...group(['untrusted'], {
    in_process_by_manifest: {
      description: 'Declares that it runs in the host process.',
      attempt: unasked('in_process'),
      control: IMPORTS,
    },
    in_process_by_list: {
      description: 'Declares a list of modes that contains only the host process.',
      attempt: unasked(['in_process', 'in_process']),
      control: IMPORTS,
    },
    in_process_by_option: {
      description: 'Declares no mode, and has its caller request the host process.',
      attempt: unasked(undefined, { execution: 'in_process' }),
      control: IMPORTS,
    },
    in_process_in_project: {
      description: 'Is in the project and declares that it runs in the host process.',
      attempt: (stage) => {
        stage.write(`${stage.project}/skills/${stage.skill}`, { manifest: IN_PROCESS });
        return stage.call(stage.skill);
      },
      control: (stage) => importsCode(stage, `${stage.project}/skills/${stage.skill}`),
    },
    in_process_against_policy: {
      description: 'Has its caller vouch for it although the operator requires a cell.',
      attempt: unasked('in_process', { trustRemoteCode: true, policy: MINIMUM }),
      control: IMPORTS,
    },
    in_process_by_variable: {
      description: 'Has an environment variable vouch for it although the operator requires a cell.',
      attempt: (stage) => {
        stage.write(stage.stranger, { manifest: IN_PROCESS });
        const env = { SKILLCELL_TRUST_REMOTE_CODE: '1' };
        return runCommand(stage, { args: ['run'], policy: MINIMUM, env });
      },
      control: IMPORTS,
    },
    in_process_isolated: {
      description: 'Declares the host process in a call that must be isolated.',
      attempt: unasked('in_process', { isolated: true }),
      control: IMPORTS,
    },
    in_process_approved: {
      description: 'Was approved, and treats that as permission to run in the host process.',
      attempt: approved,
      control: IMPORTS,
    },
    in_process_by_low_policy: {
      description:
        'Runs under a policy that allows the host process, with a caller who did not vouch for it.',
      attempt: unasked('in_process', { policy: 'minimum: { external: in_process }' }),
      control: IMPORTS,
    },
  }),
  ...group(['usage'], {
    in_process_and_isolated: {
      description: 'Has its caller both vouch for it and isolate it.',
      attempt: unasked('in_process', { isolated: true, trustRemoteCode: true }),
      control: IMPORTS,
    },
    in_process_recorded: {
      description: 'Is recorded in the host process, with its caller vouching for it.',
      attempt: recorded,
      control: IMPORTS,
    },
  }),
  ...group(['ok'], {
    in_process_first: {
      description: 'Lists the host process before Wasm.',
      attempt: sandboxed(['in_process', 'wasm']),
      control: IMPORTS,
    },
    in_process_undeclared: {
      description: 'Declares no mode, and its caller vouches for it without requesting the host process.',
      attempt: sandboxed(undefined, { trustRemoteCode: true }),
      control: IMPORTS,
    },
  }),
];
