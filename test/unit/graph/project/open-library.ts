/** A graph library as in production: in a worker thread of its own, asked from outside. */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import { afterAll, onTestFinished } from 'vitest'

import type { GraphLibrary } from '../../../../src/graph/project/library.ts'
import { compileProject } from '../../../../src/graph/project/project-compiler.ts'
import { readProject } from '../../../../src/graph/project/project.ts'
import type { WhenOver } from './project-files.ts'

/**
 * Runs the function in the worker and returns a structured clone of its result. Only its text is
 * sent: it sees its arguments, no variables around it. What it throws has a `code`.
 */
export type Ask = <Details extends unknown[], Answer>(
  question: (library: GraphLibrary, ...details: Details) => Answer,
  ...details: Details
) => Promise<Awaited<Answer>>

interface Reply {
  readonly id: number
  readonly answer?: unknown
  readonly error?: object
}

/**
 * By default the worker ends with the test. `env` is the process environment as the worker sees it.
 */
export async function openLibrary(path: string, env: Record<string, string> = {},
  whenOver: WhenOver = onTestFinished): Promise<Ask> {
  const project = await compileProject(await readProject(path))
  const { NODE_COMPILE_CACHE } = process.env
  const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  const worker = new Worker(new URL('./library-worker.ts', import.meta.url), {
    workerData: project,
    env: { PATH: process.env.PATH, ...compiled, ...env },
    execArgv: [],
  })
  whenOver(async () => void await worker.terminate())
  const waiting = new Map<number, (reply: Reply) => void>()
  worker.on('message', (reply: Reply) => waiting.get(reply.id)?.(reply))
  worker.on('error', (error: Error) => waiting.forEach((reply, id) => reply({ id, error })))
  await once(worker, 'online')
  let asked = 0
  return async (question, ...details) => {
    const id = ++asked
    const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve))
    worker.postMessage({ id, question: question.toString(), details })
    const { answer, error } = await replied
    if (error !== undefined) throw Object.assign(new Error(), error)
    return answer as never
  }
}

/** A library for all tests of a suite: opened before the first that asks, ended after the last. */
export function sharedLibrary(path: string): Ask {
  const ends: (() => Promise<void>)[] = []
  let opened: Promise<Ask> | undefined
  afterAll(async () => void await Promise.all(ends.map((end) => end())))
  return async (question, ...details) => {
    opened ??= openLibrary(path, {}, (end) => void ends.push(end))
    return await (await opened)(question, ...details) as never
  }
}
