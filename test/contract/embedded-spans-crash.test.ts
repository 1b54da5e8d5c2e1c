/** A process that writes traces is killed: what it acknowledged is there, and nothing is half. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { termOf } from '../../src/platform/index.ts'
import { openSpanStore } from '../../src/store/embedded/platform/open.ts'
import { isNight } from '../support/repeats.ts'
import { crashPlaces } from './crash-request.ts'
import { scanned, wholePlan } from './span-histories.ts'

const program = fileURLToPath(new URL('./span-writer-process.ts', import.meta.url))

it('keeps what was acknowledged before a kill, and nothing by halves', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-spans-crash-'))
  const acknowledged = new Set<number>()
  // The second process begins with what the first has left.
  for (const [life, traces] of (isNight ? [40, 90] : [40]).entries()) {
    const child = spawn(process.execPath, [program, directory, String(life * 1_000)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    for await (const line of createInterface(child.stdout)) {
      acknowledged.add(Number(line))
      if (acknowledged.size >= traces) child.kill('SIGKILL')
    }
    await exited
  }
  const options = { directory, diskBytes: 2 ** 40 }
  const store = await openSpanStore(options, 'write')
  const heads = await scanned(store, wholePlan('acme'))
  const traces = Map.groupBy(heads, ({ trace }) => trace)
  for (const trace of acknowledged) expect(traces.has(crashPlaces(trace)[0]!.trace)).toBe(true)
  const tagged = await scanned(store, { ...wholePlan('acme'), terms: [termOf.tag('a')] })
  expect(tagged.length).toBe(heads.length)
  for (const of of traces.values()) {
    expect(of.length).toBe(6)
    const blocks = of.flatMap((head) => head.blocks)
    expect((await store.blocks(of[0]!, blocks)).size).toBe(6)
  }
  await store.close()
  await rm(directory, { recursive: true, force: true })
})
