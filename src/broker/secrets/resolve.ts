/**
 * Looks up the secrets of a call before anything of it runs.
 *
 * @module
 */
import { shapeOf } from '../../cell/placeholders.ts';
import { SkillError } from '../../errors.ts';
import type { Grant, GrantedSecret } from '../../policy/grant.ts';
import type { SecretContext, SecretProvider } from './providers.ts';

/** A shorter text is found by chance in results, and covering it there would damage them. */
const SHORTEST_VALUE = 8;
const LONGEST_VALUE = 16 * 1024;

export interface ResolvedSecrets {
  /** With those secrets alone that have a value. */
  grant: Grant;
  values: ReadonlyMap<string, string>;
}

/** Throws when a required secret has no value, or a value cannot be kept. The first provider that has one is taken. */
export async function resolveSecrets(
  grant: Grant,
  providers: readonly SecretProvider[],
  context: SecretContext,
): Promise<ResolvedSecrets> {
  const values = new Map<string, string>();
  const found: GrantedSecret[] = [];
  for (const secret of grant.secrets ?? []) {
    const value = await firstValue(secret.name, providers, context);
    if (value === undefined) requireOptional(secret, providers);
    else {
      assertKeepable(secret.name, value);
      values.set(secret.name, value);
      found.push({ ...secret, shape: shapeOf(value) });
    }
  }
  return { grant: grant.secrets ? { ...grant, secrets: found } : grant, values };
}

async function firstValue(
  name: string,
  providers: readonly SecretProvider[],
  context: SecretContext,
): Promise<string | undefined> {
  for (const provider of providers) {
    const value = await provider.get(name, context);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

function requireOptional({ name, required }: GrantedSecret, providers: readonly SecretProvider[]): void {
  if (!required) return;
  const places = providers.map((provider) => provider.name).join(' and ') || 'nobody';
  throw new SkillError(
    'usage',
    `The skill requires the secret "${name}", but ${places} has no value for it`,
    {
      fix: `Set it: export ${name}=…, or name where it is under "secrets" in the operator policy.`,
      detail: { variable: name },
    },
  );
}

function assertKeepable(name: string, value: string): void {
  if (value.length >= SHORTEST_VALUE && value.length <= LONGEST_VALUE && value.isWellFormed()) return;
  const problem =
    value.length < SHORTEST_VALUE ? `is shorter than ${SHORTEST_VALUE}` : 'is longer than 16384';
  const message = value.isWellFormed()
    ? `The value of the secret "${name}" ${problem} characters, so it cannot be kept out of results`
    : `The value of the secret "${name}" is no valid text`;
  throw new SkillError('usage', message, {
    fix: 'Use the key as the service gave it; what is no key can be declared without "secret: true".',
    detail: { variable: name },
  });
}
