import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { describeCapabilities } from '../../src/trust/plain-words.ts';
import { profileOf } from '../../src/trust/profile.ts';
import { capableManifest, exampleManifest } from '../policy/example-manifest.ts';

const secret = { required: true, secret: true, hosts: ['api.example.org'] };
const texts = (manifest: Manifest): string[] => describeCapabilities(manifest).map(({ text }) => text);

describe('the description of what a skill asks for', () => {
  it('says so if it asks for nothing', () => {
    expect(texts(exampleManifest())).toContain('It cannot access your files, the network or your variables.');
  });

  it('shows a host in full, because its end says who owns it', () => {
    const host = `api.bank.example.${'a'.repeat(60)}.${'b'.repeat(60)}.evil.example`;
    const env = { API_KEY: { ...secret, hosts: [host] } };
    const manifest = { ...capableManifest({ network: [{ host }] }), env };
    expect(texts(manifest).filter((text) => text.includes('.evil.example"'))).toHaveLength(2);
  });

  it('puts the most dangerous capability first', () => {
    const manifest = exampleManifest({
      execution: ['in_process'],
      env: { API_KEY: secret, LANGUAGE: { required: false, secret: false, hosts: [] } },
      capabilities: {
        filesystem: [
          { path: 'data', access: 'read' },
          { path: '${workspace}/in', access: 'read' },
          { path: '${workspace}/out', access: 'read-write', maxBytes: 1024 ** 2 },
        ],
        network: [{ host: 'api.example.org', methods: ['GET'] }, { host: '*.example.net' }],
        syscalls: 'default',
      },
      limits: { processes: 4, timeout: 30_000 },
    });
    const sentences = describeCapabilities(manifest);
    expect(sentences.map(({ risk }) => risk).join(' ')).toMatch(/^(high ){4}(medium ){4}low low$/);
    expect(sentences[0]?.text).toContain('without any isolation');
    const whole = texts(manifest).join('\n');
    for (const part of [
      'API_KEY',
      'api.example.org',
      '*.example.net',
      '${workspace}/out',
      '1MiB',
      '"LANGUAGE"',
      '30s',
    ])
      expect(whole).toContain(part);
  });

  it('ranks sending with any method as more dangerous than reading', () => {
    const risk = (methods?: string[]): string | undefined =>
      describeCapabilities(
        capableManifest({ network: [{ host: 'example.org', ...(methods ? { methods } : {}) }] }),
      ).find(({ text }) => text.includes('example.org'))?.risk;
    expect([risk(['GET']), risk(['GET', 'POST']), risk()]).toEqual(['medium', 'high', 'high']);
  });

  it('shows no invisible or control characters from a manifest', () => {
    const manifest = capableManifest({ filesystem: [{ path: '/data/\u202E\u001B[2J', access: 'read' }] });
    expect(texts(manifest).join('')).toMatch(/^[ -~]*$/);
  });
});

describe('the profile', () => {
  it.each<[string, Partial<Manifest>, string]>([
    ['no network', {}, 'local'],
    [
      'a network',
      { capabilities: capableManifest({ network: [{ host: 'a.example' }] }).capabilities },
      'networked',
    ],
    [
      'a network and a required secret',
      {
        capabilities: capableManifest({ network: [{ host: 'a.example' }] }).capabilities,
        env: { KEY: secret },
      },
      'cloud_only',
    ],
    ['a secret without a network', { env: { KEY: secret } }, 'local'],
  ])('is correct for a skill with %s', (_, over, expected) => {
    expect(profileOf(exampleManifest(over))).toBe(expected);
  });
});
