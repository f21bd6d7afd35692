/**
 * The commands that put skills into registries and find them there: publish, mirror, search.
 *
 * @module
 */
import { define, type CliCommand } from './shared-options.ts';

export function addRegistries(program: CliCommand): void {
  define(program, 'publish', 'publish a locked skill in a registry, with its lock, signatures and SBOM')
    .argument('<skill>', 'folder or id of a skill')
    .argument('<reference>', 'oci://HOST/NAME[:TAG]; the default tag is the version of the skill')
    .option('--key <file>', 'private key (PEM): sign the lock and the documents with it')
    .option('--study <file>', 'study.json of skillcell study: publish what it found, signed')
    .repeatable('--attach <file>', 'Sigstore bundle with an attestation about skill.lock')
    .option('--wasm', 'also publish the component by itself as TAG-wasm, for other WebAssembly runtimes')
    .option('--catalog <reference>', 'also list it in this catalog, oci://HOST/NAME, for `search`')
    .option('--force', 'replace a version that exists with other content')
    .json()
    .example('publish ./my_skill oci://localhost:5000/skills/my_skill')
    .runs(async () => (await import('./commands/publish.ts')).publish);
  define(
    program,
    'mirror',
    'copy a published skill and all documents about it to another registry, byte for byte',
  )
    .argument('<from>', 'oci://HOST/NAME:VERSION')
    .argument('<to>', 'oci://HOST/NAME[:VERSION]')
    .option('--catalog <reference>', 'also list the copy in this catalog, oci://HOST/NAME, for `search`')
    .option('--force', 'replace a version that exists with other content')
    .json()
    .example('mirror oci://localhost:5000/skills/my_skill:1.0.0 oci://localhost:5001/mirror/my_skill')
    .runs(async () => (await import('./commands/publish.ts')).mirror);
  define(
    program,
    'search',
    'look for skills in your catalogs, and show what each asks for and who vouches for it',
  )
    .argument('[word...]', 'words of the name or description; absent: everything')
    .repeatable('--in <catalog>', 'oci://HOST/NAME or https://HOST/ instead of your catalogs')
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .json()
    .example('search pdf forms --in oci://localhost:5000/catalog')
    .runs(async () => (await import('./commands/search.ts')).search);
}
