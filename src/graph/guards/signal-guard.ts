/**
 * Loaded in each thread of a graph process, which can signal only itself and set only its own
 * priority. `SIGUSR1` makes a Node process accept commands of a debugger, so that a graph process
 * could take over any other Node process of its user.
 */

import { syncBuiltinESMExports } from 'node:module'
import os, { constants } from 'node:os'

import { accessDenied, replaceForGood } from './refusal.ts'

/** The functions of Node below `process.kill`. */
interface SystemSignals {
  _kill(pid: unknown, signal: unknown): number
}

const { pid: own } = process
const system = process as unknown as SystemSignals
const { _kill: kill } = system
const { setPriority } = os
const denied = -constants.errno.EPERM

replaceForGood(system, '_kill',
  (pid: unknown, signal: unknown) => pid === own ? kill(own, signal) : denied)
replaceForGood(system, '_debugProcess', () => {
  throw accessDenied('A deployment cannot start a debugger.')
})
replaceForGood(os, 'setPriority', (pid: number, priority?: number) => {
  if (priority === undefined) return setPriority(pid)
  if (pid === 0 || pid === own) return setPriority(own, priority)
  throw accessDenied('A deployment cannot set the priority of another process.')
})
syncBuiltinESMExports()
