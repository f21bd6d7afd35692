import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  callbackSecrets,
  commandSecrets,
  environmentSecrets,
  fileSecrets,
  type SecretProvider,
} from '../../../src/broker/secrets/providers.ts';
import { resolveSecrets } from '../../../src/broker/secrets/resolve.ts';
import type { SkillError } from '../../../src/errors.ts';
import type { Grant } from '../../../src/policy/grant.ts';

const VALUE = 'sk-invented0123456789';
const context = { skill: 'finance/prices' };

const grant = (required = true): Grant =>
  ({ env: {}, secrets: [{ name: 'KEY', hosts: ['api.test'], required }] }) as unknown as Grant;

const valueFrom = async (...providers: SecretProvider[]): Promise<string | undefined> =>
  (await resolveSecrets(grant(false), providers, context)).values.get('KEY');

async function refusal(providers: SecretProvider[]): Promise<SkillError> {
  return resolveSecrets(grant(), providers, context).then(
    () => expect.fail('nothing was refused'),
    (error: unknown) => error as SkillError,
  );
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a secret comes from', () => {
  it('the environment', async () => {
    expect(await valueFrom(environmentSecrets({ KEY: VALUE }))).toBe(VALUE);
    expect(await valueFrom(environmentSecrets({}))).toBeUndefined();
  });

  it('a folder with one file per secret, without the trailing line break', async () => {
    writeFileSync(join(folder, 'KEY'), `${VALUE}\n`);
    expect(await valueFrom(fileSecrets(folder))).toBe(VALUE);
    rmSync(join(folder, 'KEY'));
    expect(await valueFrom(fileSecrets(folder))).toBeUndefined();
  });

  it('a file with one line per secret', async () => {
    const file = join(folder, 'secrets.env');
    writeFileSync(file, `# keys\nOTHER=other-value\nKEY="${VALUE}"\n`);
    expect(await valueFrom(fileSecrets(file))).toBe(VALUE);
  });

  it('a command, which gets the name and runs without a shell', async () => {
    const script = join(folder, 'print key');
    writeFileSync(script, `#!/bin/sh\nprintf '%s-%s\\n' "$1" invented-by-command\n`);
    chmodSync(script, 0o755);
    expect(await valueFrom(commandSecrets([script, '{name}; $(exit 1)']))).toBe(
      'KEY; $(exit 1)-invented-by-command',
    );
  });

  it('a function, which gets the name of the skill', async () => {
    const asked: string[] = [];
    const provider = callbackSecrets((name, { skill }) => {
      asked.push(`${skill} ${name}`);
      return VALUE;
    });
    expect(await valueFrom(provider)).toBe(VALUE);
    expect(asked).toEqual(['finance/prices KEY']);
  });

  it('the first source that has it, and an empty value does not count', async () => {
    const empty = environmentSecrets({ KEY: '' });
    expect(await valueFrom(empty, environmentSecrets({ KEY: VALUE }), fileSecrets(folder))).toBe(VALUE);
  });
});

describe('the grant', () => {
  it('lists the secrets that have a value, but never the value', async () => {
    const resolved = await resolveSecrets(grant(), [environmentSecrets({ KEY: VALUE })], context);
    expect(resolved.grant.secrets).toMatchObject([{ name: 'KEY', shape: { prefix: 'sk-' } }]);
    expect(JSON.stringify(resolved.grant)).not.toContain('invented');
  });

  it('omits an optional secret without a value', async () => {
    const resolved = await resolveSecrets(grant(false), [environmentSecrets({})], context);
    expect(resolved.grant.secrets).toEqual([]);
  });
});

describe('the call is refused', () => {
  it('if a required secret has no value', async () => {
    const error = await refusal([environmentSecrets({}), fileSecrets(folder)]);
    expect(error.code).toBe('usage');
    expect(error.message).toContain('"KEY"');
    expect(error.message).toContain('the environment');
    expect(error.fix).toContain('export KEY=');
    expect(error.detail).toEqual({ variable: 'KEY' });
  });

  it.each(['pin1234', 'x'.repeat(20_000), 'invented \ud800 value'])(
    'if a value cannot be protected: %.12s',
    async (value) => {
      const error = await refusal([environmentSecrets({ KEY: value })]);
      expect(error.code).toBe('usage');
      expect(error.message).not.toContain(value);
    },
  );

  it('if a command fails, and its output is not shown', async () => {
    const error = await refusal([
      commandSecrets(['/bin/sh', '-c', `echo ${VALUE}; echo ${VALUE} >&2; exit 3`]),
    ]);
    expect(error.code).toBe('usage');
    expect(error.message).toContain('3');
    expect(JSON.stringify(error.toBody()) + String(error.cause)).not.toContain(VALUE);
  });

  it('if the file of secrets is missing', async () => {
    expect((await refusal([fileSecrets(join(folder, 'none'))])).message).toContain('none');
  });

  it('if the file of one secret cannot be read', async () => {
    mkdirSync(join(folder, 'KEY'));
    expect((await refusal([fileSecrets(folder)])).message).toContain('"KEY"');
  });
});
