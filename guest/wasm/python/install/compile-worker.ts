/**
 * Entry of the thread that compiles a part of the library.
 *
 * @module
 */
import { workerData } from 'node:worker_threads';
import { compileInThread, type WorkerInput } from './compile-library.ts';

compileInThread(workerData as WorkerInput);
