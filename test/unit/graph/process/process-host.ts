/** Graph processes of the test project. */

import { onTestFinished } from 'vitest'

import { startGraphProcess } from '../../../../src/graph/index.ts'
import type { GraphProcess, GraphProcessOptions } from '../../../../src/graph/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { hostFolder, TestHost } from '../project/host-project.ts'

/** What a test may choose, besides the code of its graphs. */
export interface ProcessOptions extends Partial<GraphProcessOptions> {
  /** Appended to the source of the test project. */
  readonly extra?: string
}

/** Options for the process of a project in a folder. */
export function processOf(folder: string, request: Partial<GraphProcessOptions> = {}):
  & GraphProcessOptions
  & { readonly env: ReturnType<typeof virtualEnv> } {
  return { configFile: `${folder}/langgraph.json`, folder, variables: {}, workers: 1,
    memoryMb: 1024, allowsAddons: false, ...request, env: virtualEnv() }
}

/** A graph process of one test. */
export async function startProcess(
  { extra = '', ...request }: ProcessOptions = {},
): Promise<TestHost<GraphProcess>> {
  const options = processOf(await hostFolder(extra), request)
  const host = await startGraphProcess(options)
  onTestFinished(() => host.close())
  return new TestHost(options.env, host)
}
