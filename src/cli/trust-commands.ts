/**
 * Commands for trust: approve, sign, verify, policy.
 *
 * @module
 */
import type { Command } from 'commander';
import { example, withGrantOptions, withPlanOptions, type Done } from './shared-options.ts';

export function addTrust(program: Command, done: Done): void {
  program
    .command('approve')
    .argument('<skill>')
    .description('show what a skill requests, in plain words, and approve exactly that')
    .option('--yes', 'approve without asking')
    .option('--renew', 'bind the overlay of earlier files of an Agent Skills folder to the present ones')
    .option('--revoke', 'revoke all approvals of this skill')
    .option(
      '--tenant <name>',
      'only for calls of this tenant of the HTTP service, also of a skill that it uploaded',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('approve ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { approve } = await import('./commands/approve.ts');
      done(await approve(skill, options));
    });
  program
    .command('sign')
    .argument('<skill>')
    .description('sign the lock of a skill with an Ed25519 key, or attach a Sigstore bundle')
    .option('--key <file>', 'private key (PEM)')
    .option('--new-key <file>', 'create a new key in this file and sign with it')
    .option('--payload <file>', 'only write the payload to sign with Sigstore tools')
    .option('--attach <file>', 'attach the Sigstore bundle created for the --payload file')
    .option('--json', 'print JSON')
    .addHelpText('after', example('sign ./my_skill --new-key publisher.pem'))
    .action(async (skill: string, options: object) => {
      const { sign } = await import('./commands/sign.ts');
      done(await sign(skill, options));
    });
  program
    .command('verify')
    .argument('<skill>', 'folder or id of a skill, or a source such as oci://HOST/NAME:VERSION')
    .description(
      'verify the signatures of a skill against the publishers in the policy; of a source, also digests and attestations',
    )
    .option('--policy <file>', 'operator policy')
    .option('--json', 'print JSON')
    .addHelpText('after', example('verify ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { verify } = await import('./commands/sign.ts');
      done(await verify(skill, options));
    });
  addPolicy(program, done);
}

function addPolicy(program: Command, done: Done): void {
  const policy = program.command('policy').description('show, explain and trust operator policies');
  policy
    .command('show', { isDefault: true })
    .description(
      'list the policy files in force here, outermost first; for each setting the strictest applies',
    )
    .option('--policy <file>', 'operator policy')
    .option('--json', 'print JSON')
    .addHelpText('after', example('policy show'))
    .action(async (options: object) => {
      const { policyShow } = await import('./commands/policy.ts');
      done(await policyShow(options));
    });
  withGrantOptions(withPlanOptions(policy.command('explain').argument('<skill>')))
    .description(
      'show for each capability of a skill what was declared, allowed by policy, approved and granted',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('policy explain optimization/prompt_rewriter'))
    .action(async (skill: string, options: object) => {
      const { policyExplain } = await import('./commands/policy.ts');
      done(await policyExplain(skill, options));
    });
  policy
    .command('trust')
    .argument('[file]', 'policy file (default: the nearest skillcell.policy.yaml here or above)')
    .description(
      'trust the current content of a policy file, so that it may also widen what skills are granted',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('policy trust'))
    .action(async (file: string | undefined, options: object) => {
      const { policyTrust } = await import('./commands/policy.ts');
      done(policyTrust(file, options));
    });
}
