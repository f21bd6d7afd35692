/**
 * `skillcell policy show`, `skillcell policy explain` and `skillcell policy trust`
 *
 * @module
 */
import { filesOf, printableLine } from '../../inside.ts';
import { callOptions, openRuntime, type ShowFlags } from '../open-runtime.ts';
import { describePolicies } from '../explain.ts';
import { printAnswer, printLine, printResult, table } from '../output.ts';
import { trustPolicy } from '../policy-in-force.ts';

/** Lists the files in force; `policy explain` shows their combined effect on a skill. */
export async function policyShow(flags: { policy?: string; json?: boolean }): Promise<number> {
  await using runtime = openRuntime(flags);
  if (flags.json) printResult({ policies: filesOf(runtime.policy) });
  else printLine(describePolicies(runtime));
  return 0;
}

export async function policyExplain(ref: string, flags: ShowFlags): Promise<number> {
  await using runtime = openRuntime(flags);
  const skill = await runtime.load(ref);
  const rows = await runtime.explain(skill, callOptions(flags));
  const { summary, rule } = await runtime.standing(skill);
  if (flags.json) {
    printResult({ policies: filesOf(runtime.policy), summary, rule, capabilities: rows });
    return 0;
  }
  printLine(describePolicies(runtime));
  printLine(`status    ${summary}${rule.rule ? ` (rule "${rule.rule.match}": ${rule.rule.decision})` : ''}`);
  printLine();
  const cells = rows.map((row) => [row.capability, row.declared, row.policy, row.approval, row.granted]);
  printLine(table([['CAPABILITY', 'DECLARED', 'POLICY', 'APPROVAL', 'GRANTED'], ...cells]));
  return 0;
}

export function policyTrust(file: string | undefined, flags: { json?: boolean } = {}): number {
  const { file: trusted, keys } = trustPolicy(file);
  const more = keys.length > 0 ? `It widens the policy in force: ${keys.join(', ')}.` : 'It only restricts.';
  const text = `Trusted the current content of ${printableLine(trusted)}. ${more}`;
  printAnswer(flags.json, { file: trusted, widens: keys }, text);
  return 0;
}
