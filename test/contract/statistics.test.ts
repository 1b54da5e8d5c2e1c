/** Statistics over the embedded store, and over the one in memory. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { traceStore } from '../../src/store/embedded/platform/span-store.ts'
import { virtualEnv } from '../support/env.ts'
import { memorySpans } from '../support/memory-spans.ts'
import type { OpenSpans } from './span-port-contract.ts'
import { describeStatistics, statisticsBeganMs } from './statistics-contract.ts'

const env = virtualEnv(statisticsBeganMs)
const clock = { env, pass: (ms: number) => env.advance(ms) }

async function embedded(): Promise<OpenSpans> {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-statistics-'))
  const options = { directory, diskBytes: 2 ** 40, env }
  const writer = traceStore({ ...options, access: 'write' })
  const reader = traceStore({ ...options, access: 'read' })
  return { writer, reader, remove: async () => {
    await Promise.all([writer.close(), reader.close()])
    rmSync(directory, { recursive: true, force: true })
  } }
}

async function inMemory(): Promise<OpenSpans> {
  const store = memorySpans(() => env.nowMs() * 1000)
  return { writer: store, reader: store, remove: () => store.close() }
}

describeStatistics('embedded', embedded, clock)
describeStatistics('memory', inMemory, clock)
