/**
 * Looks up the secrets of a call before it runs.
 *
 * @module
 */
import { shapeOf } from '../../cell/protocol/placeholders.ts';
import { SkillError } from '../../errors.ts';
import type { Grant, GrantedSecret } from '../../policy/grant.ts';
import type { SecretContext, SecretProvider } from './providers.ts';

/** A shorter text occurs in results by chance, and masking it would damage them. */
const MIN_LENGTH = 8;
const MAX_LENGTH = 16 * 1024;

export interface ResolvedSecrets {
  /** Contains only the secrets that have a value. */
  grant: Grant;
  values: ReadonlyMap<string, string>;
}

/** Throws if a required secret has no value, or if a value cannot be protected. The first provider with a value wins. */
export async function resolveSecrets(
  grant: Grant,
  providers: readonly SecretProvider[],
  context: SecretContext,
): Promise<ResolvedSecrets> {
  const values = new Map<string, string>();
  const found: GrantedSecret[] = [];
  for (const secret of grant.secrets ?? []) {
    const value = await firstValue(secret.name, providers, context);
    if (value === undefined) assertOptional(secret, providers);
    else {
      assertProtectable(secret.name, value);
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

function assertOptional({ name, required }: GrantedSecret, providers: readonly SecretProvider[]): void {
  if (!required) return;
  const places = providers.map((provider) => provider.name).join(' or ') || 'any source';
  throw new SkillError('usage', `The skill requires the secret "${name}", which was not found in ${places}`, {
    fix: `Set it with export ${name}=…, or add its source under "secrets" in the operator policy.`,
    detail: { variable: name },
  });
}

function assertProtectable(name: string, value: string): void {
  if (value.length >= MIN_LENGTH && value.length <= MAX_LENGTH && value.isWellFormed()) return;
  const problem = value.length < MIN_LENGTH ? `is shorter than ${MIN_LENGTH}` : 'is longer than 16384';
  const message = value.isWellFormed()
    ? `The value of the secret "${name}" ${problem} characters, so it cannot be kept out of results`
    : `The value of the secret "${name}" is not valid Unicode text`;
  throw new SkillError('usage', message, {
    fix: 'Use the key exactly as the service issued it. If the value is not a key, declare it without "secret: true".',
    detail: { variable: name },
  });
}
