/** Faults of the machine: which errors count, and what a start of a process makes of them. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'

import { expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { isMachineFault } from '../../../src/graph/machine-fault.ts'
import { startChild } from '../../../src/graph/start-child.ts'

const withCode = (code: string, cause?: unknown) =>
  Object.assign(new Error('x', { cause }), { code })

it.each(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'ERR_WORKER_OUT_OF_MEMORY'])(
  'finds %s, also as a cause',
  (code) => {
    expect(isMachineFault(withCode(code))).toBe(true)
    const wrapped = new HeddleError('graph_failed', 'no', {}, { cause: withCode(code) })
    expect(isMachineFault(wrapped)).toBe(true)
  },
)

it.each([new Error('no key'), withCode('ENOENT'), withCode('ERR_MODULE_NOT_FOUND'), 'text', null,
  undefined])('takes %s for a fault of the code', (error) => {
    expect(isMachineFault(error)).toBe(false)
  })

it('does not follow a circle of causes for ever', () => {
  const error = new Error('x')
  error.cause = error
  expect(isMachineFault(error)).toBe(false)
})

it('throws "unavailable" if the system refuses to start a process', () => {
  const start = () => {
    throw withCode('ENOMEM')
  }
  expect(() => startChild(start)).toThrow(expect.objectContaining({ code: 'unavailable' }))
})

it('throws "unavailable" without file descriptors, and handles the error that follows', () => {
  const child = new EventEmitter()
  expect(() => startChild(() => child as ChildProcess)).toThrow(
    expect.objectContaining({ code: 'unavailable' }),
  )
  expect(child.emit('error', withCode('EMFILE'))).toBe(true)
})

it('returns a process that has started', async () => {
  const child = startChild(() => spawn(process.execPath, ['--version']))
  expect(child.pid).toBeGreaterThan(0)
  await new Promise((resolve) => child.on('close', resolve))
})
