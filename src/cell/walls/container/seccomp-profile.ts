/**
 * The seccomp policy of a cell as an OCI profile: the same rules as in a jail, in libseccomp's format.
 *
 * libseccomp may be older than the kernel and skips unknown names. The profile therefore lists the allowed calls, and
 * unknown calls get ENOSYS, as on an older kernel.
 *
 * @module
 */
import { allSyscallNames, syscallNumber, type SeccompArch } from '../../linux/seccomp/syscalls.ts';
import type { ArgumentTest, FilterRule } from '../../linux/seccomp/assembler.ts';

const ENOSYS = 38;
const WORD_BITS = 32;
const WORD = 0xffffffff;
const ARCHITECTURES: Record<SeccompArch, string> = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' };

/** A libseccomp condition on one argument: the bits in the mask `value` must equal `valueTwo`. */
interface MaskedTest {
  index: number;
  value: number;
  valueTwo: number;
  op: 'SCMP_CMP_MASKED_EQ';
}

interface ProfileRule {
  names: string[];
  action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO' | 'SCMP_ACT_TRACE';
  errnoRet?: number;
  args?: MaskedTest[];
}

export interface SeccompProfile {
  defaultAction: 'SCMP_ACT_ERRNO' | 'SCMP_ACT_TRACE';
  defaultErrnoRet?: number;
  architectures: string[];
  syscalls: ProfileRule[];
}

/** A mask of bits and their required value. */
interface Pattern {
  mask: number;
  value: number;
}

export function seccompProfile(rules: readonly FilterRule[], arch: SeccompArch): SeccompProfile {
  const known = allSyscallNames().filter(
    (name) => syscallNumber(arch, name as FilterRule['syscall']) !== undefined,
  );
  const decided = new Map<string, FilterRule[]>();
  for (const rule of rules) decided.set(rule.syscall, [...(decided.get(rule.syscall) ?? []), rule]);
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: ENOSYS,
    architectures: [ARCHITECTURES[arch]],
    syscalls: [
      { names: known.filter((name) => !decided.has(name)), action: 'SCMP_ACT_ALLOW' },
      ...known.flatMap((name) => rulesFor(name, decided.get(name) ?? [])),
    ],
  };
}

/** The rules for one call; empty if it is simply allowed. */
function rulesFor(name: string, rules: readonly FilterRule[]): ProfileRule[] {
  const flat = rules.find((rule) => rule.when === undefined);
  if (flat) return [refusal(name, flat)];
  // Where tests overlap, libseccomp applies only one action per call, so these rules list what is allowed.
  return allowed(rules).map((fitting) => ({
    names: [name],
    action: 'SCMP_ACT_ALLOW',
    args: fitting.map(({ index, pattern }) => ({
      index,
      value: pattern.mask,
      valueTwo: pattern.value,
      op: 'SCMP_CMP_MASKED_EQ',
    })),
  }));
}

function refusal(name: string, { action }: FilterRule): ProfileRule {
  const errno = typeof action === 'object' ? action.errno : ENOSYS;
  return { names: [name], action: 'SCMP_ACT_ERRNO', errnoRet: errno };
}

interface Passing {
  index: number;
  pattern: Pattern;
}

/** Sets of patterns: a call is allowed if it matches all patterns of one set. */
function allowed(rules: readonly FilterRule[]): Passing[][] {
  const [first, ...others] = rules;
  // The rule refuses calls that match both tests, so a call that fails either test is allowed.
  if (first?.when && first.and && others.length === 0)
    return [first.when, first.and].flatMap((test) => passingAt(test.argument, [test]).map((one) => [one]));
  if (rules.some((rule) => rule.and))
    throw new Error('A rule with two tests must be the only rule of its call');
  const tests = rules.flatMap((rule) => (rule.when ? [rule.when] : []));
  const byArgument = Map.groupBy(tests, ({ argument }) => argument);
  return [...byArgument].reduce<Passing[][]>(
    (sets, [index, group]) => sets.flatMap((set) => passingAt(index, group).map((one) => set.concat(one))),
    [[]],
  );
}

function passingAt(index: number, tests: readonly ArgumentTest[]): Passing[] {
  return passing(tests).map((pattern) => ({ index, pattern }));
}

function passing(tests: readonly ArgumentTest[]): Pattern[] {
  const refused = tests.flatMap((test) => (test.op === 'eq' ? [test.value] : []));
  const rest = tests.filter((test) => test.op !== 'eq').map(passingOne);
  const parts = refused.length > 0 ? [...rest, allBut(refused)] : rest;
  return parts.reduce((left, right) => left.flatMap((one) => right.flatMap((other) => both(one, other))));
}

/** The patterns that are allowed by a test that refuses what it matches. */
function passingOne(test: ArgumentTest): Pattern[] {
  switch (test.op) {
    case 'any-bit':
      return [{ mask: test.mask, value: 0 }];
    case 'all-bits-missing':
      return bitsOf(test.mask).map((bit) => ({ mask: bit, value: bit }));
    case 'not-in':
      return test.values.map(exactly);
    case 'eq':
      return allBut([test.value]);
    default:
      return [exactly(test.value)];
  }
}

function exactly(value: number): Pattern {
  return { mask: WORD, value: value >>> 0 };
}

/** Matches every word except these, by the bit prefixes that none of them has. */
function allBut(values: readonly number[], depth = 0, prefix = 0): Pattern[] {
  const mask = depth === 0 ? 0 : (WORD << (WORD_BITS - depth)) >>> 0;
  const below = values.filter((value) => (value & mask) >>> 0 === prefix);
  if (below.length === 0) return [{ mask, value: prefix }];
  if (depth === WORD_BITS) return [];
  const bit = (1 << (WORD_BITS - 1 - depth)) >>> 0;
  return [...allBut(below, depth + 1, prefix), ...allBut(below, depth + 1, (prefix | bit) >>> 0)];
}

/** The intersection of two patterns; empty if they contradict each other. */
function both(one: Pattern, other: Pattern): Pattern[] {
  const shared = one.mask & other.mask;
  if ((one.value & shared) !== (other.value & shared)) return [];
  return [{ mask: (one.mask | other.mask) >>> 0, value: (one.value | other.value) >>> 0 }];
}

function bitsOf(mask: number): number[] {
  return Array.from({ length: WORD_BITS }, (_, at) => (1 << at) >>> 0).filter((bit) => (mask & bit) !== 0);
}

/** What gVisor calls them. It skips names that it does not know. */
const GVISOR_NAMES: Readonly<Record<string, string>> = { pselect6: 'pselect' };

/**
 * The same for gVisor, which ignores `errnoRet` and always returns EPERM. A traced call without a tracer gets ENOSYS, as on
 * Linux, and there is never a tracer, because the policy refuses ptrace.
 */
export function gvisorProfile({ syscalls, architectures }: SeccompProfile): SeccompProfile {
  const asMissing = (rule: ProfileRule): ProfileRule =>
    rule.errnoRet === ENOSYS ? { names: rule.names, action: 'SCMP_ACT_TRACE' } : rule;
  const named = ({ names, ...rule }: ProfileRule): ProfileRule => ({
    ...rule,
    names: names.flatMap((name) => [name, ...(GVISOR_NAMES[name] === undefined ? [] : [GVISOR_NAMES[name]])]),
  });
  return {
    defaultAction: 'SCMP_ACT_TRACE',
    architectures,
    syscalls: syscalls.map(asMissing).map(named),
  };
}
