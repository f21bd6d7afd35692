/**
 * The container engines of this machine, which store and build images. Only `build` and `install` use them; a call
 * never does.
 *
 * @module
 */

export interface BuildRequest {
  /** Folder to send to the engine. */
  context: string;
  /** Path of the Dockerfile inside the folder. */
  dockerfile: string;
  /** Name of the result in the engine. */
  tag: string;
  network: boolean;
}

export interface ImageEngine {
  readonly name: 'podman' | 'docker';
  has(reference: string): Promise<boolean>;
  /** Fetches the image from the registry in the reference. */
  pull(reference: string): Promise<void>;
  /** Writes the image to an archive file. */
  save(reference: string, file: string): Promise<void>;
  load(archive: string): Promise<void>;
  tag(source: string, name: string): Promise<void>;
  build(request: BuildRequest): Promise<void>;
  remove(reference: string): Promise<void>;
}
