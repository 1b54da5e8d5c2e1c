/** Setup of every test file of the day: measures each case, and fails one that costs too much. */

import { relative } from 'node:path'

import { afterEach, beforeEach } from 'vitest'

import { slownessNow } from './calibration.ts'
import { judgeCase } from './case-budget.ts'

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
  const verdict = judgeCase({ file: relative(root, task.file.filepath), title: task.name,
    cpuMs: (user + system) / 1000, wallMs: now() - at, searchMs: task.meta.searchMs ?? 0 },
    slownessNow)
  if (verdict.kind === 'too busy to judge') console.warn(`On a busy machine: ${verdict.message}`)
  if (verdict.kind === 'too dear') throw new Error(verdict.message)
})
