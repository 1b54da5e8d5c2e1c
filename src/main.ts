/** The process of the command: its console, its signals, and how it ends. */

import { spawnSync } from 'node:child_process'
import { enableCompileCache } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

import { consoleToLog, systemEnv } from '../cluster/index.ts'
import type { Env } from '../cluster/index.ts'
import { bannerText, readyLine } from './cli/announcement.ts'
import { callingScript, exitCodes, folderOfCaller, runHeddle } from './cli/heddle.ts'
import type { HeddleCaller } from './cli/heddle.ts'
import { CodedError } from './errors.ts'
import type { Server } from './server/server.ts'
import { v8Flags } from './settings/index.ts'
import type { Settings } from './settings/index.ts'

/** The folder of Heddle, with its packages and scripts. */
const house = new URL('../', import.meta.url)

/** Time within which two signals count as one: a terminal and npm both pass it on. */
const sameSignalMs = 300

/** Time between looks of a server started by npm for whether npm is still there. */
const orphanLookMs = 500

if (Number.parseInt(process.versions.node) < 24) runOnNode24()
prepareForThreads()
const caller = callerOfProcess()
const exitCode = await runHeddle(process.argv.slice(2), caller)
// A server goes on until a signal ends it.
if (exitCode !== exitCodes.done) process.exit(exitCode)

async function serve(settings: Settings): Promise<void> {
  // By default, Node starts a debugger then, which any program of this machine could use.
  process.on('SIGUSR1', () => {})
  const env = systemEnv({ level: settings.logLevel })
  consoleToLog(env.log)
  try {
    const { openServer } = await import('./server/server.ts')
    const server = await openServer(settings, env, (reason) => {
      env.log.error('This member cannot go on and ends.', { reason })
      process.exit(exitCodes.failed)
    })
    endOnSignal(server, settings, env)
    announce(server, settings, env)
  } catch (error) {
    if (error instanceof CodedError) throw error
    env.log.error('Heddle could not start.', { error })
    process.exit(exitCodes.failed)
  }
}

/** Caller of a command: a person at a terminal, or a program. */
function callerOfProcess(): HeddleCaller {
  const note = (text: string) => void process.stderr.write(text)
  return {
    environment: process.env,
    workingFolder: process.cwd(),
    serve,
    print: (text) => void process.stdout.write(text),
    note,
    isTerminal: process.stderr.isTTY === true,
    readSecret: async (prompt) => {
      const { readSecret } = await import('./cli/control/secret-input.ts')
      return await readSecret({ input: process.stdin, ask: note }, prompt)
    },
    readLine: async (prompt) => {
      const { createInterface } = await import('node:readline/promises')
      const lines = createInterface({ input: process.stdin, output: process.stderr })
      const ended = new Promise<string>((done) => lines.once('close', () => done('')))
      try {
        return await Promise.race([lines.question(prompt), ended])
      } finally {
        lines.close()
      }
    },
    interrupted: (callback) => {
      process.on('SIGINT', callback)
      return () => process.off('SIGINT', callback)
    },
  }
}

function announce(server: Server, settings: Settings, env: Env): void {
  // A closed output is no reason to end.
  process.stdout.on('error', () => {})
  process.stdout.write(process.stdout.isTTY
    ? bannerText(server, { settings, nearby })
    : readyLine(server, { settings, nowMs: env.nowMs() }))
}

/** Sets what holds for all threads of the process. Call before the first thread starts. */
function prepareForThreads(): void {
  for (const flag of v8Flags) setFlagsFromString(flag)
  // With a compile cache, the next start is a quarter faster. Workers find it in the environment.
  process.env.NODE_COMPILE_CACHE ??= pathInHouse('node_modules/.cache/heddle-compile')
  enableCompileCache(process.env.NODE_COMPILE_CACHE)
}

/**
 * Ends the server on the first signal in order, within the time set for it. Another signal ends it
 * at once.
 */
function endOnSignal(server: Server, { drainMs }: Settings, env: Env): void {
  let firstMs: number | undefined
  const end = async () => {
    const nowMs = env.monotonicMs()
    if (firstMs !== undefined && nowMs - firstMs < sameSignalMs) return
    if (firstMs !== undefined) process.exit(exitCodes.interrupted)
    firstMs = nowMs
    env.log.info('Ending; a second signal ends at once.')
    env.after(drainMs, () => {
      env.log.warn('Ending took too long; what is not done resumes at the next start.')
      process.exit(exitCodes.done)
    })
    await server.close()
    process.exit(exitCodes.done)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end())
  const npm = process.ppid
  if (callingScript(process.env) !== undefined) {
    // An npm that is killed outright passes no signal on, and the server would be left over.
    const stopLooking = env.every(orphanLookMs, () => {
      if (process.ppid === npm) return
      stopLooking()
      void end()
    })
  }
}

/**
 * Starts again with Node 24. Node 22 and 23 can read this file too, but lack what the rest needs.
 */
function runOnNode24(): never {
  const args = [pathInHouse('scripts/run.mjs'), ...process.argv.slice(1)]
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? exitCodes.failed)
}

function pathInHouse(path: string): string {
  return fileURLToPath(new URL(path, house))
}

function nearby(path: string): string {
  const fromHere = relative(folderOfCaller(caller), path)
  return fromHere.startsWith('..') ? path : fromHere
}
