/**
 * Every source as a person's commands use them: with the credentials and settings of this person.
 *
 * @module
 */
import type { OpenSource } from './contract.ts';
import { GitSource } from './git/source.ts';
import { HttpClient } from './http/client.ts';
import { dockerCredentials } from './oci/docker-config.ts';
import { OciSource } from './oci/source.ts';
import { FileSource } from './sources/file.ts';
import { GithubSource } from './sources/github.ts';
import { HttpsSource } from './sources/https.ts';
import { npmRegistries } from './sources/npm-registry.ts';
import { NpmSource } from './sources/npm.ts';
import { openSources as openFrom } from './sources/open-source.ts';

export interface OpenOptions {
  /** What relative paths are relative to. */
  cwd: string;
}

export function openSources({ cwd }: OpenOptions): OpenSource {
  const client = new HttpClient();
  return openFrom({
    oci: () => new OciSource({ http: client, credentials: dockerCredentials() }),
    github: () => new GithubSource({ client }),
    git: () => new GitSource({ client }),
    npm: () => new NpmSource({ client, findRegistry: npmRegistries() }),
    file: () => new FileSource({ folder: cwd }),
    https: () => new HttpsSource({ client }),
  });
}
