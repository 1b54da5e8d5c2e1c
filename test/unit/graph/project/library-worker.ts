/** The worker of `open-library.ts`: opens a library and answers questions about it. */

import { parentPort, workerData } from 'node:worker_threads'

import { GraphLibrary } from '../../../../src/graph/project/library.ts'
import type { CompiledProject } from '../../../../src/graph/project/project-compiler.ts'

const library = await GraphLibrary.open(workerData as CompiledProject)

parentPort?.on('message', async ({ id, question, details }) => {
  try {
    const ask = new Function(`return ${question}`)()
    parentPort?.postMessage({ id, answer: await ask(library, ...details) })
  } catch (error) {
    const { name, message, stack, code } = error as Error & { code?: string }
    parentPort?.postMessage({ id, error: { name, message, stack, code } })
  }
})
