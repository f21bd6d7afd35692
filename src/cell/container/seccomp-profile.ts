/**
 * The seccomp policy of a cell as an OCI profile: the same rules that a jail assembles, in the words of libseccomp.
 *
 * libseccomp may be older than the kernel and skips names that it does not know. So the profile lists what is allowed,
 * and what nobody has judged gets the answer of an older kernel.
 *
 * @module
 */
import { allSyscallNames, syscallNumber, type SeccompArch } from '../jail/seccomp/syscalls.ts';
import type { ArgumentTest, FilterRule } from '../jail/seccomp/assembler.ts';

const ENOSYS = 38;
const WORD_BITS = 32;
const WORD = 0xffffffff;
const ARCHITECTURES: Record<SeccompArch, string> = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' };

/** A condition of libseccomp on one argument: the bits of `value` must read `valueTwo`. */
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

/** Bits of a word and what they must read. */
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

/** What the policy says about one call; nothing where it is simply allowed. */
function rulesFor(name: string, rules: readonly FilterRule[]): ProfileRule[] {
  const flat = rules.find((rule) => rule.when === undefined);
  if (flat) return [refusal(name, flat)];
  // libseccomp decides a call by one action alone where tests overlap: so these list what may pass.
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

/** Sets of patterns: a call passes every test when all patterns of one set fit. */
function allowed(rules: readonly FilterRule[]): Passing[][] {
  const [first, ...others] = rules;
  // It refuses what fits both of its tests: what misses one of them passes.
  if (first?.when && first.and && others.length === 0)
    return [first.when, first.and].flatMap((test) => passingAt(test.argument, [test]).map((one) => [one]));
  if (rules.some((rule) => rule.and))
    throw new Error('A rule with two tests has to be the only one of its call');
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

/** What passes a test that refuses what it fits. */
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

/** Every word but these: by beginnings that none of them has. */
function allBut(values: readonly number[], depth = 0, prefix = 0): Pattern[] {
  const mask = depth === 0 ? 0 : (WORD << (WORD_BITS - depth)) >>> 0;
  const below = values.filter((value) => (value & mask) >>> 0 === prefix);
  if (below.length === 0) return [{ mask, value: prefix }];
  if (depth === WORD_BITS) return [];
  const bit = (1 << (WORD_BITS - 1 - depth)) >>> 0;
  return [...allBut(below, depth + 1, prefix), ...allBut(below, depth + 1, (prefix | bit) >>> 0)];
}

/** What fits both; nothing where they contradict each other. */
function both(one: Pattern, other: Pattern): Pattern[] {
  const shared = one.mask & other.mask;
  if ((one.value & shared) !== (other.value & shared)) return [];
  return [{ mask: (one.mask | other.mask) >>> 0, value: (one.value | other.value) >>> 0 }];
}

function bitsOf(mask: number): number[] {
  return Array.from({ length: WORD_BITS }, (_, at) => (1 << at) >>> 0).filter((bit) => (mask & bit) !== 0);
}

/**
 * The same for gVisor, which answers EPERM whatever `errnoRet` says. A call to be traced where nobody traces gets ENOSYS, there as
 * on Linux, and nobody can: the policy refuses ptrace.
 */
export function gvisorProfile({ syscalls, architectures }: SeccompProfile): SeccompProfile {
  const asMissing = (rule: ProfileRule): ProfileRule =>
    rule.errnoRet === ENOSYS ? { names: rule.names, action: 'SCMP_ACT_TRACE' } : rule;
  return { defaultAction: 'SCMP_ACT_TRACE', architectures, syscalls: syscalls.map(asMissing) };
}
