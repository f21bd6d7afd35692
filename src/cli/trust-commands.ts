/**
 * Commands for trust: approve, sign, verify, policy.
 *
 * @module
 */
import {
  define,
  defineDefault,
  withGrantOptions,
  withPlanOptions,
  type CliCommand,
} from './shared-options.ts';

export function addTrust(program: CliCommand): void {
  define(program, 'approve <skill>', 'show what a skill requests, in plain words, and approve exactly that')
    .option('--yes', 'approve without asking')
    .option('--renew', 'bind the overlay of earlier files of an Agent Skills folder to the present ones')
    .option('--revoke', 'revoke all approvals of this skill')
    .option(
      '--tenant <name>',
      'only for calls of this tenant of the HTTP service, also of a skill that it uploaded',
    )
    .json()
    .example('approve ./my_skill')
    .runs(async () => (await import('./commands/approve.ts')).approve);
  define(program, 'sign <skill>', 'sign the lock of a skill with an Ed25519 key, or attach a Sigstore bundle')
    .option('--key <file>', 'private key (PEM)')
    .option('--new-key <file>', 'create a new key in this file and sign with it')
    .option('--payload <file>', 'only write the payload to sign with Sigstore tools')
    .option('--attach <file>', 'attach the Sigstore bundle created for the --payload file')
    .json()
    .example('sign ./my_skill --new-key publisher.pem')
    .runs(async () => (await import('./commands/sign.ts')).sign);
  define(
    program,
    'verify',
    'verify the signatures of a skill against the publishers in the policy; of a source, also digests and attestations',
  )
    .argument('<skill>', 'folder or id of a skill, or a source such as oci://HOST/NAME:VERSION')
    .option('--policy <file>', 'operator policy')
    .json()
    .example('verify ./my_skill')
    .runs(async () => (await import('./commands/sign.ts')).verify);
  addPolicy(program);
}

function addPolicy(program: CliCommand): void {
  const policy = define(program, 'policy', 'show, explain and trust operator policies');
  defineDefault(
    policy,
    'show',
    'list the policy files in force here, outermost first; for each setting the strictest applies',
  )
    .option('--policy <file>', 'operator policy')
    .json()
    .example('policy show')
    .runs(async () => (await import('./commands/policy.ts')).policyShow);
  define(
    policy,
    'explain <skill>',
    'show for each capability of a skill what was declared, allowed by policy, approved and granted',
  )
    .use(withPlanOptions, withGrantOptions)
    .json()
    .example('policy explain optimization/prompt_rewriter')
    .runs(async () => (await import('./commands/policy.ts')).policyExplain);
  define(
    policy,
    'trust',
    'trust the current content of a policy file, so that it may also widen what skills are granted',
  )
    .argument('[file]', 'policy file (default: the nearest skillcell.policy.yaml here or above)')
    .json()
    .example('policy trust')
    .runs(async () => (await import('./commands/policy.ts')).policyTrust);
}
