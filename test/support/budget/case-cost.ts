/** Setup of every test file of the day: measures each case, and fails one that costs too much. */

import { relative } from 'node:path'

import { afterEach, beforeEach } from 'vitest'

import { slownessNow } from './calibration.ts'
import { listedCases } from './listed-cases.ts'

/** What a case took, in milliseconds. */
interface CaseCost {
  /** Processor time of the thread that it runs in, without searches. */
  readonly cpuMs: number
  readonly wallMs: number
  /** Processor time of its searches. */
  readonly searchMs: number
}

/** A case of a unit may take so much processor time, and another so much time. */
const limits = { unitCpuMs: 500, wallMs: 5_000 }

/** A machine as slow as this is too busy to judge by: its dear cases are named, but do not fail. */
const busy = 2

const root = `${import.meta.dirname}/../../..`
/** Fake timers replace it later. */
const now = performance.now.bind(performance)
const begun = new WeakMap<object, { readonly cpu: NodeJS.CpuUsage; readonly at: number }>()

beforeEach(({ task }) => {
  begun.set(task, { cpu: process.threadCpuUsage(), at: now() })
})

afterEach(({ task }) => {
  const { cpu, at } = begun.get(task)!
  const { user, system } = process.threadCpuUsage(cpu)
  const searchMs = task.meta.searchMs ?? 0
  const cost: CaseCost = { cpuMs: Math.max(0, (user + system) / 1000 - searchMs),
    wallMs: now() - at, searchMs }
  const file = relative(root, task.file.filepath)
  const excess = excessOf(file, cost)
  if (excess === undefined || listedCases[file]?.[task.name] !== undefined) return
  const message =
    `${task.name} costs ${excess}. Make it cheaper, move it to a *.night.ts file, or ` +
    'list it with its reason in test/support/budget/listed-cases.ts.'
  if (slownessNow().wall >= busy) console.warn(`On a busy machine: ${message}`)
  else throw new Error(message)
})

function excessOf(file: string, { cpuMs, wallMs, searchMs }: CaseCost): string | undefined {
  const slowness = slownessIfNeeded(cpuMs, wallMs)
  if (file.startsWith('test/unit/')) {
    return cpuMs > limits.unitCpuMs * slowness.cpu
      ? `${Math.round(cpuMs)} ms of processor; a unit may take ${limits.unitCpuMs}`
      : undefined
  }
  return wallMs - searchMs > limits.wallMs * slowness.wall
    ? `${Math.round(wallMs)} ms; a case may take ${limits.wallMs}`
    : undefined
}

/** Calibrates only where a case could be too dear, as that takes time as well. */
function slownessIfNeeded(cpuMs: number, wallMs: number) {
  return cpuMs > limits.unitCpuMs || wallMs > limits.wallMs ? slownessNow() : { cpu: 1, wall: 1 }
}
