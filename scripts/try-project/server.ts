/** A server of Heddle that serves a project, on data that is removed with it. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, closeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { serverProgram } from '../server-program.ts'
import { endGroup, leads } from './program.ts'
import type { Ended } from './program.ts'

/** The program, as a command that further words follow. */
export const heddle = [process.execPath, serverProgram]

/** One that serves. */
export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** Between two looks for the address in what a starting server printed. */
const lookMs = 100

/** Starts it. Resolves with how it ended if it does not serve in time. */
export async function startServer(config: string, more: readonly string[],
  variables: Readonly<Record<string, string>>, seconds: number): Promise<Server | Ended> {
  const data = mkdtempSync(join(tmpdir(), 'heddle-try-'))
  const log = `${data}.log`
  const file = openSync(log, 'w')
  const child = spawn(heddle[0]!, [heddle[1]!, 'dev', '--config', config, '--data', data, '--port',
    '0', '--workers', '1', ...more], { cwd: data, env: { ...process.env, ...variables },
    stdio: ['ignore', file, file], detached: true })
  leads(child)
  closeSync(file)
  const exited = once(child, 'exit')
  const close = async () => {
    endGroup(child.pid)
    await exited
    await Promise.all([data, log].map((path) => rm(path, { recursive: true, force: true })))
  }
  const until = Date.now() + seconds * 1_000
  while (child.exitCode === null && child.signalCode === null && Date.now() < until) {
    const url = /http:\/\/[\w.[\]:-]+:[1-9]\d*/.exec(readFileSync(log, 'utf8'))?.[0]
    if (url !== undefined && (await fetch(`${url}/ok`).catch(() => undefined))?.ok) {
      return { url, close }
    }
    await pause(lookMs)
  }
  const ended = { code: child.exitCode, isLate: child.exitCode === null,
    output: readFileSync(log, 'utf8') }
  await close()
  return ended
}
