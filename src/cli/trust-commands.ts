/**
 * The commands about trust: approve, sign, verify, policy.
 *
 * @module
 */
import type { Command } from 'commander';
import { example, withPlanOptions, type Done } from './shared-options.ts';

export function addTrust(program: Command, done: Done): void {
  program
    .command('approve')
    .argument('<skill>')
    .description('show in plain words what a skill asks for, and approve exactly that')
    .option('--yes', 'approve without asking')
    .option('--revoke', 'take every approval of this skill back')
    .addHelpText('after', example('approve ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { approve } = await import('./commands/approve.ts');
      done(await approve(skill, options));
    });
  program
    .command('sign')
    .argument('<skill>')
    .description('sign the lock of a skill with an Ed25519 key, or attach a Sigstore bundle')
    .option('--key <file>', 'private key in PEM')
    .option('--new-key <file>', 'make a new key, keep it in this file and sign with it')
    .option('--payload <file>', 'only write what is to be signed, for the tools of Sigstore')
    .option('--attach <file>', 'add the Sigstore bundle that was made for --payload')
    .addHelpText('after', example('sign ./my_skill --new-key publisher.pem'))
    .action(async (skill: string, options: object) => {
      const { sign } = await import('./commands/sign.ts');
      done(await sign(skill, options));
    });
  program
    .command('verify')
    .argument('<skill>')
    .description('check the signatures of a skill against the publishers of the policy')
    .option('--policy <file>', 'operator policy')
    .addHelpText('after', example('verify ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { verify } = await import('./commands/sign.ts');
      done(await verify(skill, options));
    });
  addPolicy(program, done);
}

function addPolicy(program: Command, done: Done): void {
  const policy = program.command('policy').description('what the operator allows');
  policy
    .command('show', { isDefault: true })
    .description('which policy files are in force here, outermost first; the strictest of them counts')
    .option('--policy <file>', 'operator policy')
    .option('--json', 'print JSON')
    .addHelpText('after', example('policy show'))
    .action(async (options: object) => {
      const { policyShow } = await import('./commands/policy.ts');
      done(await policyShow(options));
    });
  withPlanOptions(policy.command('explain').argument('<skill>'))
    .description('for every capability of a skill: declared, policy, approval, granted')
    .option('--json', 'print JSON')
    .addHelpText('after', example('policy explain optimization/prompt_rewriter'))
    .action(async (skill: string, options: object) => {
      const { policyExplain } = await import('./commands/policy.ts');
      done(await policyExplain(skill, options));
    });
  policy
    .command('trust')
    .argument('[file]', 'policy file (default: the nearest skillcell.policy.yaml upwards)')
    .description('let a policy that is found here give skills more than without it, as it is now')
    .addHelpText('after', example('policy trust'))
    .action(async (file: string | undefined) => {
      const { policyTrust } = await import('./commands/policy.ts');
      done(policyTrust(file));
    });
}
