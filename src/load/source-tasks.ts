/**
 * The worker-thread task that reads a large bundle.
 *
 * @module
 */
import { besideThis, type Task, type Tasks } from '../offload/task.ts';
import { readSourceHere, type SourceFacts, type SourceLocation } from './source.ts';
import { createStore, type StoreOptions } from './store.ts';

interface SourceInput {
  location: SourceLocation;
  store: StoreOptions;
  ignoresLock: boolean;
}

export const READ_SOURCE: Task<SourceInput, SourceFacts> = {
  module: besideThis(import.meta.url, './source-tasks'),
  name: 'readSource',
};

export const tasks: Tasks = {
  readSource: ({ location, store, ignoresLock }: SourceInput): SourceFacts =>
    readSourceHere(location, { store: createStore(store), ignoresLock }),
};
