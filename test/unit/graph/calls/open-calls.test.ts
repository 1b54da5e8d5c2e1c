/** The doors of a worker are opened only for somebody. */

import { Agent } from 'node:http'

import { beforeAll, expect, it } from 'vitest'

import { followCalls, openCalls } from '../../../../src/graph/calls/open-calls.ts'
import { nodeDispatcher } from '../../../../src/graph/calls/undici-copies.ts'
import { virtualEnv } from '../../../support/env.ts'

const agents = Agent.prototype as unknown as { addRequest: unknown }
const { addRequest } = agents
const { dispatch } = nodeDispatcher()

// The first load takes longer than the check.
beforeAll(() => import('../../../../src/graph/calls/doors.ts'))

it('Without a gate nothing is replaced.', async () => {
  const opened = await openCalls(virtualEnv(), [], () => false)
  expect(await followCalls(opened)).toEqual({ openGates: [] })
  expect(nodeDispatcher().dispatch).toBe(dispatch)
  expect(agents.addRequest).toBe(addRequest)
})

it('A client that does not fit switches the gates off, and nothing stays replaced.', async () => {
  // A version of Node in which requests do not ask their agents.
  Object.defineProperty(agents, 'addRequest', { configurable: true, get: () => addRequest,
    set: () => {} })
  const opened = await openCalls(virtualEnv(), [() => undefined], () => false)
  Object.defineProperty(agents, 'addRequest', { configurable: true, writable: true,
    value: addRequest })
  expect(opened).toEqual({ openGates: [], fault: 'calls of node:http are not seen' })
  expect(nodeDispatcher().dispatch).toBe(dispatch)
})

it('The gates stay where all clients fit.', async () => {
  const openGates = [() => undefined]
  expect(await openCalls(virtualEnv(), openGates, () => false)).toEqual({ openGates })
})
